"""Facts that survive noisy queries: the capacity of a transformer block (Section 5.1, Appendix B.10)."""

import itertools

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .noise import SIMPLE, common, isotropic
from .quadrics import critical_radius, forms, spectral_norm, stored

ROBUST = 0.25
"""The constant c_0 of Corollary B.65 that is used here."""


def sums_of_squares(rows):
    return [hc.sum(row * row) for row in rows]


def value_diameter(x):
    """D_V = max |v_a - v_b|."""
    return sqrt(hc.max([square for v in x.values for square in sums_of_squares(x.values - v)]))


@hc.claim(
    "5.2",
    over=geo.facts(keys=geo.anything, values=geo.anything, noise=(0.01, 1.0)),
    title="A margin outlasts the attention's noise",
    source="Theorem 5.2, corrected: with the MLP's Lipschitz constant there is no factor sqrt(F log F/d), "
    "and neither isotropy nor F L >= d is needed; that W of the order F log F suffices is Claim B.65.clean's part",
    given=stored,
    needs=["B.4.sharp"],
)
def margin_outlasts_noise(x):
    r"""\gamma_{\min}(\tilde k) \ge \gamma_{\min}(k) - D_V L_{\mathrm{MLP}}\, \epsilon, \quad
    L_{\mathrm{MLP}} = \max_i \frac{\|\mathrm{MLP}(\tilde k_i) - \mathrm{MLP}(k_i)\|}{\epsilon}, \quad
    D_V = \max_{a,b} \|v_a - v_b\|"""
    moved = sqrt(hc.max(sums_of_squares(x.mlp(x.queries) - x.mlp(x.keys))))
    return hc.at_least(hc.min(x.margins_noisy), x.gamma_min - value_diameter(x) * moved)


@hc.claim(
    "5.2.lipschitz",
    over=geo.mlps(gate="identity"),
    title="The Lipschitz constant of a bilinear MLP on a ball",
    source="Theorem 5.2, L_bil for the MLP where its queries are bounded: T(q - q', q + q') of a symmetric bilinear T",
    needs=["eq4"],
)
def lipschitz_on_a_ball(x):
    r"""\|\mathrm{MLP}(q) - \mathrm{MLP}(q')\| \le 2R\, \|A\|_F \|G\|_F \|B\|_F\, \|q - q'\|, \quad
    \|q\|, \|q'\| \le R"""
    radius = sqrt(hc.max(sums_of_squares(x.queries)))
    slope = 2 * radius * sqrt(hc.sum(x.A**2) * hc.sum(x.G**2) * hc.sum(x.B**2))
    moved, apart = (
        [hc.sum((p - q) ** 2) for p, q in itertools.combinations(rows, 2)]
        for rows in (x.mlp(x.queries), x.queries)
    )
    return [hc.at_most(sqrt(m), slope * sqrt(a)) for m, a in zip(moved, apart, strict=True)]


def far_query(rng, F, d, m, scale):
    """The steepest of a bilinear memory's changes between 0 and a query at distance `scale`."""
    keys, values = isotropic(rng, F, d), isotropic(rng, F, d)
    A, G = rng.standard_normal((2, m, d))
    queries = scale * keys
    stored, asked = ((points @ A.T) * (points @ G.T) / np.sqrt(m) for points in (keys, queries))
    outputs = asked @ stored.T @ values
    return {"slope": np.linalg.norm(outputs, axis=1).max() / scale}


@hc.claim(
    "5.2.lipschitz.printed",
    over=geo.family(far_query, F=8, d=8, m=32, scale=[1.0, 4.0, 16.0, 64.0, 256.0]),
    title="A bilinear MLP has a Lipschitz constant",
    source="Theorem 5.2, which calls L_bil the Lipschitz constant of the MLP",
    expect="refuted",
    erratum="MLP(s q) = s^2 MLP(q): a bilinear MLP has no Lipschitz constant but on bounded sets, so the L_bil of "
    "equation 11 depends on the noise that it is to bound (or stands for the kernel's, as in Corollary B.63).",
    needs=["5.2.lipschitz"],
)
def slope_is_bounded(x):
    r"\max_i \frac{\|\mathrm{MLP}(s k_i) - \mathrm{MLP}(0)\|}{\|s k_i - 0\|} = \Theta(1) \quad \text{in } s"
    return hc.scales_as(x.slope, 1)


def orthonormal_pair(rng, d):
    """Two orthonormal keys, their values and the exact kernel, in the plane that they span."""
    keys = np.eye(2)
    kernel_forms = keys[:, :, None] * keys[:, None, :]
    S = np.stack([kernel_forms[0] - kernel_forms[1], kernel_forms[1] - kernel_forms[0]])[:, None]
    lipschitz = 2 * spectral_norm(kernel_forms).max()
    return {"radius": critical_radius(S, keys).min(), "lipschitz": lipschitz, "gamma_min": 1.0, "F": 2}


@hc.claim(
    "5.2.printed",
    over=geo.family(orthonormal_pair, d=(4, 2**30)),
    title="Facts stored under the noise of equation 11",
    source="Theorem 5.2, equation 11: two orthonormal keys and values, L_bil on the unit ball",
    expect="refuted",
    erratum="Without F log F >= d the permitted noise has no bound: two orthonormal facts change sign at distance "
    "1/sqrt 2, and equation 11 permits a multiple of sqrt d.",
    needs=["B.65"],
)
def noise_ceiling_printed(x, *, C):
    r"""\epsilon_{\mathrm{crit}} \ge \frac{c_0}{C\, L_{\mathrm{bil}}} \sqrt{\frac{d}{F \log F}}, \quad
    \epsilon_{\mathrm{crit}} = \min_{i,j} \min \left\{ \|q - k_i\| : \gamma_{ij}(q) \le 0 \right\}"""
    return hc.at_least(x.radius, x.gamma_min / (C * x.lipschitz) * sqrt(x.d / (x.F * log(x.F))))


def several_queries(rng, F, d, m, N, delta):
    """Isotropic facts in a bilinear memory; N queries a key on the sphere of the radius that equation 11 permits."""
    keys, values = isotropic(rng, F, d), isotropic(rng, F, d)
    A, G = rng.standard_normal((2, m, d))
    at_keys = (keys @ A.T) * (keys @ G.T) / np.sqrt(m)
    weights = np.einsum("tr,ra,rb->tab", at_keys, A, G, optimize=True) / np.sqrt(m)
    slope = 2 * spectral_norm((weights + weights.transpose(0, 2, 1)) / 2).max()

    def least_margin(points):
        outputs = values.T @ at_keys @ ((points @ A.T) * (points @ G.T)).T / np.sqrt(m)
        scores = values @ outputs
        return (np.diag(scores)[None, :] - scores + np.diag(np.full(F, np.inf))).min()

    clean, budget = least_margin(keys), np.log(2 * N * F**2 / delta)
    ratio = max(clean, 0) / (2 * SIMPLE * slope) * np.sqrt(d / (F * budget))
    eps = (np.sqrt(1 + 4 * ratio) - 1) / 2
    noisy = min(least_margin(keys + eps * isotropic(rng, F, d)) for _ in range(N))
    return {"clean": clean, "noisy": noisy}


@hc.claim(
    "eq11",
    over=geo.family(several_queries, F=8, d=[12, 16], m=[64, 128], N=[1, 8], delta=[0.5, 0.2]),
    title="Noise under which half of the margin is left",
    source="Equation 11, corrected: F L >= d, constants, and N queries a key that were fixed before the values",
    given={**common, "gamma_min > 0": lambda x: x.clean > 0},
    fails_at_most="delta",
    needs=["B.64", "B.65"],
)
def noise_ceiling(x):
    r"""\epsilon = \frac{\gamma_{\min}}{2 (4 + 2\sqrt2)\, L_{\mathrm{bil}}(\epsilon)} \sqrt{\frac{d}{F L_N}}
    \ \Rightarrow\ \gamma_{ij}(q) \ge \frac{\gamma_{\min}}2 \ \text{for the } N \text{ queries of each key}, \quad
    L_N = \log \frac{2 N F^2}{\delta}"""
    return hc.at_least(x.noisy, x.clean / 2)


@hc.claim(
    "B.65",
    over=geo.facts(mapping="identity", noise=1.0, F=(6, 10), d=(20, 32), m=(128, 256), delta=[0.5, 0.2]),
    title="Noise-robust storage",
    source="Corollary B.65, equation 78, with F L >= d, c_0 = 1/4 and the constants that are proved",
    given={**common, "gamma_min >= c_0": lambda x: x.gamma_min >= ROBUST},
    fails_at_most="delta",
    needs=["B.65.clean", "B.63"],
)
def robust_storage(x):
    r"""\gamma_{\min}(k) \ge c_0, \quad \epsilon = \frac{c_0}{2 C_2 L_{\mathrm{bil}}(\epsilon)}
    \sqrt{\frac{d}{FL}} \ \Rightarrow\ \gamma_{\min}(\tilde k) \ge \frac{c_0}2, \quad C_2 = 4 + 2\sqrt2"""
    ratio = ROBUST / (4 * SIMPLE * spectral_norm(forms(x)).max()) * sqrt(x.d / (x.F * x.L))
    eps = (sqrt(1 + 4 * ratio) - 1) / 2
    return hc.at_least(hc.min(x.margins_of(x.memory(x.keys + eps * x.noise))), ROBUST / 2)


@hc.claim(
    "B.65.clean",
    over=geo.facts(F=(3, 64), d=[128, 192, 256], m=[512, 1024, 2048], delta=[0.5, 0.1]),
    title="A constant margin under the conditions of the capacity corollary",
    source="Corollary B.65, equation 77, with C = 10 for d, C = 1 for m, c = 1/64 and c_0 = 1/4",
    given={
        "d >= 10 L": lambda x: x.d >= 10 * x.L,
        "m >= L^3": lambda x: x.m >= x.L**3,
        "F <= min(d^3, md)/(64 L)": lambda x: 64 * x.F * x.L <= hc.min(x.d**3, x.m * x.d),
    },
    fails_at_most="delta",
    needs=["B.30"],
)
def constant_margin(x):
    r"""d \ge 10 L, \quad m \ge L^3, \quad F \le \frac1{64} \min\left\{ \frac{d^3}{L}, \frac{md}{L} \right\}
    \ \Rightarrow\ \gamma_{\min}(k) \ge \frac14"""
    return hc.at_least(x.gamma_min, 0.25)


def isotropic_pair(rng, d):
    """Two independent uniform unit vectors of R^d, in the plane that they span."""
    first = rng.standard_normal()
    cosine = first / np.sqrt(first**2 + rng.chisquare(d - 1))
    return np.array([[1, 0], [cosine, np.sqrt(1 - cosine**2)]])


def two_facts(rng, F, d, m, delta):
    """Two isotropic facts: L_bil on the unit ball of the plane of the keys, where every query below lies."""
    keys, values = (isotropic_pair(rng, d) for _ in range(F))
    A, G = rng.standard_normal((2, m, 2))
    weights = (keys @ A.T) * (keys @ G.T)
    kernel_forms = np.einsum("tr,ra,rb->tab", weights, A, G) / m
    lipschitz = 2 * spectral_norm((kernel_forms + kernel_forms.transpose(0, 2, 1)) / 2).max()
    K = weights @ weights.T / m
    scores = values @ values.T @ K
    return {"lipschitz": lipschitz, "clean": (np.diag(scores) - scores[::-1].diagonal()).min()}


@hc.claim(
    "B.65.printed",
    over=geo.family(two_facts, F=2, d=(16, 2**30), m=1024, delta=0.5),
    title="Noise-robust storage as printed",
    source="Corollary B.65, equation 78, for the query 0, whose margins vanish",
    given={
        "d >= L": lambda x: x.d >= x.L,
        "m >= L^3": lambda x: x.m >= x.L**3,
        "gamma_min(k) >= 1/2": lambda x: x.clean >= 0.5,
    },
    fails_at_most="delta",
    needs=["B.30", "B.63"],
    expect="refuted",
    erratum="F L >= d is missing: with two facts the permitted noise grows like sqrt d, passes 1, and then covers the "
    "query 0, whose margin is 0.",
)
def robust_storage_printed(x, *, C):
    r"""\tilde k_i = 0 \ \Rightarrow\ \gamma_{\min}(\tilde k) = 0, \quad \text{so that} \quad
    \frac{1}{C\, L_{\mathrm{bil}}} \sqrt{\frac{d}{FL}} \le \|\tilde k_i - k_i\| = 1"""
    return hc.at_most(sqrt(x.d / (x.F * x.L)) / (C * x.lipschitz), 1)


def least_budget(rng, F, d, delta):
    """m d at the least width that equation 77 allows, with C = 1 and c = 1/64."""
    L = np.log(2 * F**2 / delta)
    return {"budget": float(d) * np.ceil(max(L**3, 64 * F * L / d))}


@hc.claim(
    "B.65.budget",
    over=geo.family(least_budget, F=(2, 10**6), d=(2, 10**4), delta=(1e-6, 0.9)),
    title="Where noise-robust storage takes F log F parameters",
    source="Corollary B.65, last sentence, corrected: F of the order md/L, which the least width of equation 77 meets "
    "for F >= d L^2/64 only",
    given={"64 F >= d L^2": lambda x: 64 * x.F >= x.d * x.L**2},
)
def budget_of_robust_storage(x):
    r"""m = \left\lceil \max\left\{ L^3, \frac{64 F L}{d} \right\} \right\rceil, \ 64 F \ge d L^2
    \ \Rightarrow\ md \le 64\, FL + d \le \left( 1 + L^{-3} \right) 64\, FL"""
    return hc.at_most(x.budget, 64 * x.F * x.L + x.d)


@hc.claim(
    "B.65.budget.printed",
    over=geo.family(least_budget, F=(2, 2**20), d=(16, 2**30), delta=0.5),
    title="Noise-robust storage takes F log F parameters",
    source="Corollary B.65, last sentence: where F is at most of the order md/L, md is of the order FL; at the least "
    "width of equation 77",
    expect="refuted",
    erratum="That F is at most a multiple of md/L leaves md as large as one likes; F of the order md/L is meant. As "
    "equation 77 asks for m >= L^3 too, md is of the order FL for F of the order d L^2 or more only.",
    needs=["B.65.budget"],
)
def budget_of_robust_storage_printed(x, *, C):
    r"F \le \frac{md}{64 L} \ \Rightarrow\ md \le C\, FL"
    return hc.at_most(x.budget, C * x.F * x.L)
