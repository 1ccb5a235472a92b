"""What no kernel of rank m can beat: Welch's bound (Appendix B.8.6)."""

import math

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, max, sqrt
from hebbcheck.geometry.shapes import harmonic_frame, sphere_span, unit_rows

kernels = geo.kernels()


def diagonal_deviation(k):
    """The smallest eps_diag with K_ii in [1 - eps_diag, 1 + eps_diag]."""
    return max(1 - k.K_diag_min, k.K_diag_max - 1)


def from_the_diagonal(k):
    eps = diagonal_deviation(k)
    return hc.at_least(k.E_K, k.F * (1 - eps) ** 2 / k.m - (1 + eps) ** 2)


def rebuilt(K, m):
    """Phi Phi^T with the F x m features of the m largest eigenvalues of K."""
    values, vectors = np.linalg.eigh(K)
    Phi = vectors[:, -m:] * np.sqrt(np.maximum(values[-m:], 0))
    return Phi @ Phi.T


@hc.claim(
    "B.33",
    over=geo.kernels(F=(1, 48), m=(1, 64)),
    title="Positive semidefinite matrices of rank m are kernels of m features",
    source="Definition B.33, for distinct keys",
)
def rank_m_kernel(k):
    r"""\hat K \succeq 0, \ \mathrm{rank}\, \hat K \le m \quad \Leftrightarrow \quad
    \hat K = \Phi \Phi^\top, \ \Phi \in \mathbb R^{F \times m}"""
    K = k.backend.to_numpy(k.K)
    return hc.equal(rebuilt(K, int(k.m)), K)


@hc.claim(
    "B.33.printed",
    over=geo.instance(keys=[[1, 0], [1, 0]], values=np.eye(2), K=np.eye(2)),
    title="Every positive semidefinite matrix of rank m is a kernel of the keys",
    source="Definition B.33, 'equivalently'",
    expect="refuted",
    erratum="A feature map gives equal keys equal rows: for repeated keys not every such matrix is a kernel.",
)
def rank_m_kernel_printed(x):
    r"\hat K_{it} = \langle \phi(k_i), \phi(k_t) \rangle, \ k_1 = k_2 \ \Rightarrow\ \hat K_{1t} = \hat K_{2t}"
    return hc.equal(x.K[0, :], x.K[1, :])


def tight_kernel(rng, F, m):
    """The Gram matrix of a harmonic tight frame of F unit vectors in R^m."""
    frame = harmonic_frame(F, m)
    return {"K": frame @ frame.T}


@hc.claim(
    "B.34.attained",
    over=geo.family(tight_kernel, F=(33, 257), m=(2, 32)),
    title="Tight frames attain Welch's bound",
    source="Lemma B.34, second and third display",
    needs=["B.34"],
)
def welch_attained(k):
    r"\hat K_{ii} = 1: \quad E_{\mathrm{col}} = \frac Fm - 1"
    squares = np.asarray(k.K) ** 2
    return hc.equal(np.max(squares.sum(axis=0) - squares.diagonal()), k.F / k.m - 1)


@hc.claim(
    "B.34.norm",
    over=kernels,
    title="Frobenius norm of a kernel of rank m",
    source="Lemma B.34, first display",
    needs=["B.33"],
)
def frobenius(k):
    r"\|K\|_F^2 \ge \frac{(\operatorname{tr} K)^2}{m}"
    return hc.at_least(hc.sum(k.K**2), k.trace**2 / k.m)


@hc.claim(
    "B.34",
    over=kernels,
    title="Welch lower bound for kernels of rank m",
    source="Lemma B.34, second display",
    needs=["B.34.norm"],
)
def welch(k):
    r"E_K \ge \frac1F \left( \frac{(\operatorname{tr} K)^2}{m} - \sum_i K_{ii}^2 \right)"
    return hc.at_least(k.E_K, (k.trace**2 / k.m - k.diag_sq_sum) / k.F)


@hc.claim(
    "B.34.diagonal",
    over=kernels,
    title="Welch lower bound from the diagonal's deviation",
    source="Lemma B.34, third display, corrected",
    given={"eps_diag <= 1": lambda k: diagonal_deviation(k) <= 1},
    needs=["B.34"],
)
def welch_from_diagonal(k):
    r"""E_{\mathrm{col}} \ge \frac{F (1 - \varepsilon)^2}{m} - (1 + \varepsilon)^2,
    \quad \varepsilon = \max_i |K_{ii} - 1| \le 1"""
    return from_the_diagonal(k)


@hc.claim(
    "B.34.diagonal.printed",
    over=kernels,
    title="Welch lower bound from the diagonal's deviation, as printed",
    source="Lemma B.34, third display",
    expect="refuted",
    erratum="For a deviation above 1 the trace bound tr K >= F (1 - eps) is negative and must not be squared.",
)
def welch_from_diagonal_printed(k):
    r"""E_{\mathrm{col}} \ge \frac{F (1 - \varepsilon)^2}{m} - (1 + \varepsilon)^2,
    \quad \varepsilon = \max_i |K_{ii} - 1|"""
    return from_the_diagonal(k)


value_independent = geo.facts(
    keys=geo.anything, values=geo.sphere, memory="kernel", F=(32, 512), d=(12, 256), m=(2, 32)
)
many_facts = {
    "diagonal within 1/2 of 1": lambda x: x.K_diag_min >= 0.5 and x.K_diag_max <= 1.5,
    "F >= 8 m": lambda x: x.F >= 8 * x.m,
    "4 log F <= d <= F": lambda x: 4 * log(x.F) <= x.d <= x.F,
}


@hc.claim(
    "B.35",
    over=value_independent,
    title="Kernels that do not know the values cannot beat their own cross-talk",
    source="Corollary B.35, first display, with constant 1 where the square root dominates",
    given=many_facts,
    fails_at_most="delta",
)
def unbeatable(x):
    r"\gamma_{\min} \le K_{\max}^{\mathrm{diag}} - \sqrt{\frac{E_{\mathrm{col}} \log F}{d}}"
    return hc.at_most(x.gamma_min, x.K_diag_max - sqrt(x.E_K * log(x.F) / x.d))


@hc.claim(
    "B.35.welch",
    over=value_independent,
    title="Kernels that do not know the values cannot beat Welch's cross-talk",
    source="Corollary B.35, second display, with constant 1, and 0 for a negative number under the root",
    given=many_facts,
    fails_at_most="delta",
    needs=["B.35", "B.34.diagonal"],
)
def unbeatable_by_welch(x):
    r"""\gamma_{\min} \le 1 + \varepsilon - \sqrt{\frac{\log F}{d}
    \left( \frac{F (1 - \varepsilon)^2}{m} - (1 + \varepsilon)^2 \right)_+}, \quad
    \varepsilon = \max_i |K_{ii} - 1|"""
    eps = diagonal_deviation(x)
    energy = max(x.F * (1 - eps) ** 2 / x.m - (1 + eps) ** 2, 0)
    return hc.at_most(x.gamma_min, 1 + eps - sqrt(energy * log(x.F) / x.d))


def smallest_margin(gram, K):
    """gamma_min of values with Gram matrix `gram` under the kernel K, both F x F."""
    scores = gram @ K
    own = np.diagonal(scores).copy()
    np.fill_diagonal(scores, -np.inf)
    return float(np.min(own - scores.max(axis=0)))


def scaled_tight_frame(rng, F, delta):
    """(1 + eps) times a tight frame's kernel, eps = 1 / log log F, m = eps F, isotropic values in d = 128 F."""
    eps = 1 / math.log(math.log(F))
    frequencies = rng.permutation(np.arange(1, F // 2))[: round(eps * F / 2)]
    angles = 2 * np.pi * np.outer(np.arange(F), frequencies) / F
    K = np.cos(angles) @ np.cos(angles).T + np.sin(angles) @ np.sin(angles).T
    values = sphere_span(rng, F, 128 * F)
    return {"gamma_min": smallest_margin(values @ values.T, (1 + eps) * K / len(frequencies))}


@hc.claim(
    "B.35.printed",
    over=geo.family(scaled_tight_frame, F=[128, 256], delta=0.5),
    title="Kernels with a diagonal near 1 have margins below 1",
    source="Corollary B.35, last display, where eps_diag = m / F = 1 / log log F",
    fails_at_most="delta",
    needs=["B.35"],
    expect="refuted",
    erratum="eps_diag = o(1) is not enough: it must vanish faster than the cross-talk sqrt(F log F / (m d)), else the "
    "margin exceeds 1; and the argument that the proof cites is nowhere in the text.",
)
def unbeatable_printed(x):
    r"\gamma_{\min} \le 1 - \Omega\left( \sqrt{\frac{(F/m) \log F}{d}} \right) < 1"
    return hc.at_most(x.gamma_min, 1)


def signs(rng, n):
    """The mean 1 - gamma_min of F = 2^n isotropic values of d = 1, signs, under K_it = 1 (phi = 1, m = 1).

    The value with the sign of the sum has the least margin against one with the other sign, or the reverse:
    <v_i - v_j, sum_t v_t> = -2 |sum_t v_t|.
    """
    F = 2**n
    sums = 2.0 * rng.binomial(F, 0.5, size=10_000) - F
    return {"deficit": np.mean(1 + 2 * np.abs(sums)), "F": float(F)}


many_signs = geo.family(signs, n=[10, 14, 20, 28, 40, 56])


@hc.claim(
    "B.35.few",
    over=many_signs,
    title="In one dimension a kernel of rank 1 loses less, by a root of log F",
    source="Corollary B.35, first display, corrected for d = 1: <v_i - v_j, sum_t v_t> takes three values only",
)
def rate_in_one_dimension(x):
    r"1 - \gamma_{\min} = \Theta\left( \sqrt{E_{\mathrm{col}}} \right), \quad K_{it} = 1, \ d = 1"
    return hc.scales_as(x.deficit, sqrt(x.F - 1))


@hc.claim(
    "B.35.few.printed",
    over=many_signs,
    title="Kernels that do not know the values cannot beat their own cross-talk, in one dimension",
    source="Corollary B.35, first display, which asks nothing of d; the exponent is one in log F, as F = 2^n",
    expect="refuted",
    erratum="The factor sqrt(log F) is that of a maximum over many directions: it needs d of the order log F or more.",
    needs=["B.35.few"],
)
def rate_in_one_dimension_printed(x):
    r"""1 - \gamma_{\min} = \Omega\left( \sqrt{\frac{E_{\mathrm{col}} \log F}{d}} \right), \quad
    K_{it} = 1, \ d = 1"""
    return hc.scales_as(x.deficit, sqrt((x.F - 1) * log(x.F)))


def crosstalk_floor(F, d, m):
    """sqrt((F / m) log F / d)."""
    return sqrt(F / m * log(F) / d)


def allowed_deviation(F, d, m):
    return hc.min(0.25, crosstalk_floor(F, d, m) / 2)


def nearly_unit_diagonal(rng, F, d, m, delta):
    """Isotropic values; a random kernel of rank m with K_ii = 1 + eps or 1 - eps, eps up to 3/2 of what is allowed."""
    eps = 1.5 * rng.random() * allowed_deviation(F, d, m)
    signs = np.where(rng.random(F) < rng.random(), -1, 1)
    Phi = unit_rows(rng.standard_normal((F, m))) * np.sqrt(np.maximum(1 + eps * signs, 0))[:, None]
    values = unit_rows(rng.standard_normal((F, d)))
    return {"gamma_min": smallest_margin(values @ values.T, Phi @ Phi.T), "deviation": eps}


@hc.claim(
    "B.35.rate",
    over=geo.family(nearly_unit_diagonal, F=(48, 384), d=(20, 256), m=(2, 32), delta=[0.5, 0.1, 0.02]),
    title="Kernels with a diagonal near enough to 1 have margins below 1, by the cross-talk's rate",
    source="Corollary B.35, last display, corrected: eps_diag is small against the cross-talk; with constant 3/2",
    given={
        "eps <= 1/4, sqrt((F/m) log F / d) / 2": lambda x: x.deviation <= allowed_deviation(x.F, x.d, x.m),
        "F >= 8 m": lambda x: x.F >= 8 * x.m,
        "4 log F <= d <= F": lambda x: 4 * log(x.F) <= x.d <= x.F,
    },
    fails_at_most="delta",
    needs=["B.35.welch"],
)
def unbeatable_rate(x):
    r"""\gamma_{\min} \le 1 - \frac32 \sqrt{\frac{(F/m) \log F}{d}}, \quad
    \max_i |K_{ii} - 1| = \varepsilon \le \min\left\{ \frac14, \frac12 \sqrt{\frac{(F/m) \log F}{d}} \right\}"""
    return hc.at_most(x.gamma_min, 1 - 1.5 * crosstalk_floor(x.F, x.d, x.m))


def features_of_the_values(rng, F, d, m, delta):
    """phi(k_i) = the first m coordinates of v_i, normalised: a kernel of rank m with K_ii = 1."""
    values = unit_rows(rng.standard_normal((F, d)))
    Phi = unit_rows(values[:, :m])
    K = Phi @ Phi.T
    E_K = float(np.max(np.sum(K**2, axis=0)) - 1)
    return {"gamma_min": smallest_margin(values @ values.T, K), "E_K": E_K}


@hc.claim(
    "B.35.dependent",
    over=geo.family(features_of_the_values, F=512, d=64, m=[32, 64], delta=0.5),
    title="No kernel of rank m beats the cross-talk, whatever it knows",
    source="Corollary B.35, last sentence, for kernels made from the values",
    fails_at_most="delta",
    needs=["B.35"],
    expect="refuted",
    erratum="It holds for kernels that are independent of the values only: features made from the values, as in the "
    "data-dependent construction, beat it.",
)
def unbeatable_dependent(x):
    r"\gamma_{\min} \le K_{\max}^{\mathrm{diag}} - \sqrt{\frac{E_{\mathrm{col}} \log F}{d}}, \quad K_{ii} = 1"
    return hc.at_most(x.gamma_min, 1 - sqrt(x.E_K * log(x.F) / x.d))
