"""What the margins say of capacity (Section 4.3)."""

import math

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .noise import isotropic
from .penalties import embeddings, enough, penalties, positive, sharpest


@hc.claim(
    "4.4",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=[36, 48, 64], d=[34, 48], m=8, delta=0.1),
    title="Capacity, isotropic embeddings, one permutation",
    source="Corollary 4.4 for one permutation, fixed before the embeddings are drawn; its constants were measured",
    given={
        "d <= F": lambda x: x.d <= x.F,
        "100 F log F^2 <= d^3": lambda x: 100 * x.F * log(x.F**2) <= x.d**3,
    },
    fails_at_most="delta",
    needs=["4.1"],
)
def permutation_is_stored(x):
    r"3md = W \ge 120\, F \log F \ \Rightarrow\ \gamma_{\min} > 0 \quad \text{with probability } 0.9"
    width = math.ceil(120 * x.F * math.log(x.F) / (3 * x.d))
    return hc.at_least(x.replace(m=width).gamma_min, 0)


six_keys = [[1, 0], [0, 1], [3 / 5, 4 / 5], [-4 / 5, 3 / 5], [4 / 5, 3 / 5], [-3 / 5, 4 / 5]]
"""Three orthonormal bases of the plane: a tight frame, sum_t <k_t, k_i>^2 = 3."""


@hc.claim(
    "4.4.printed",
    over=geo.instance(keys=six_keys, values=np.eye(2), map=[0, 1, 1, 1, 1, 1]),
    title="Capacity, isotropic embeddings, as defined: every map",
    source="Corollary 4.4 with Definition 2.3; the kernel at unlimited width",
    expect="refuted",
    erratum="Capacity (Definition 2.3) is over all maps; the theory is of one permutation. Where all keys but one "
    "share a value, the odd one has margin (1 - rho)(2 - F/d) in a tight frame, so no width stores all for F > 2d. "
    "Also, W >= 3d: no rate F log F holds for F log F below d.",
    needs=["4.4.one_vs_rest"],
)
def every_map_is_stored(x):
    r"\gamma_{\min} \ge 0 \quad \text{for every map } f \text{ and } m \to \infty"
    return hc.at_least(x.gamma_min, 0)


@hc.claim(
    "4.4.one_vs_rest",
    over=geo.facts(keys=geo.anything, values=geo.sphere, F=(2, 32), d=(1, 32), m=(1, 32)),
    title="All keys but one share a value: the odd one's margin",
    source="Corollary 4.4, the map f(1) = 1, f(t) = 2 for t > 1, unit values",
    needs=["eq6"],
)
def odd_one_out(x):
    r"""\gamma_{12} = (1 - \langle v_1, v_2 \rangle)
    \left( \hat K_{11} - \sum_{t \ge 2} \hat K_{t1} \right), \quad f(1) = 1,\ f(t) = 2"""
    column, (one, rest) = x.K[:, 0], (x.values[0], x.values[1])
    output = column[0] * one + hc.sum(column[1:]) * rest
    margin = hc.sum((one - rest) * output)
    return hc.equal(margin, (1 - hc.sum(one * rest)) * (column[0] - hc.sum(column[1:])))


@hc.claim(
    "4.4.permutations",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, memory="quadratic", mapping="worst", F=160, d=32),
    title="Capacity, isotropic embeddings, every permutation",
    source="Corollary 4.4 for all permutations, in half of all draws; the kernel at unlimited width",
    fails_at_most=0.5,
    expect="refuted",
    erratum="A permutation that sorts the values against one column of the kernel has a margin near 1 - 1.6 F/d^(3/2): "
    "whatever the width, all permutations are stored for F up to about d^(3/2) only.",
    needs=["4.4"],
)
def every_permutation_is_stored(x):
    r"\gamma_{\min} \ge 0 \quad \text{for every permutation } f \text{ and } m \to \infty"
    return hc.at_least(x.gamma_min, 0)


@hc.claim(
    "4.4.width",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, memory="quadratic", F=432, d=24),
    title="Capacity, isotropic embeddings, where F is of the order d^2",
    source="Corollary 4.4 at F = 3 d^2 / 4, where Figure 2 measures it, in half of all draws; unlimited width",
    fails_at_most=0.5,
    expect="refuted",
    erratum="The exact quadratic kernel, the limit of unlimited width, stores one permutation for F log F below about "
    "d^3/20 only: at F = 3 d^2 / 4 no width suffices for the construction without whitening.",
    needs=["4.4"],
)
def enough_width_stores(x):
    r"\gamma_{\min} \ge 0 \quad \text{for } F = \tfrac34 d^2 \text{ and } m \to \infty"
    return hc.at_least(x.gamma_min, 0)


def demanded(x):
    """The right side of Corollary 4.5, with the largest constant: F log F (P_key P_val P_align / (C S_sig))^2."""
    return x.F * log(x.F) * (penalties(x) / (sharpest(x) * x.S_sig)) ** 2


@hc.claim(
    "4.5",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="kernel"),
    title="Storage, arbitrary embeddings",
    source="Corollary 4.5 as what its proof shows: a condition on the statistics of the kernel, in which m stands too",
    given={
        **positive,
        "sqrt(E_K E_v) kappa < K_min^diag V_min": lambda x: (
            sqrt(x.E_K * x.E_v) * x.kappa < x.K_diag_min * x.V_min
        ),
    },
    needs=["B.25", "B.27"],
)
def stored_by_condition(x):
    r"""E_K E_v \kappa^2 < (K_{\min}^{\mathrm{diag}} V_{\min})^2,\ V_{ij} \ge 0
    \ \Rightarrow\ \text{every fact is stored}"""
    return hc.at_least(int(x.stores_all), 1)


@hc.claim(
    "4.5.circular",
    over=embeddings,
    title="In the capacity of arbitrary embeddings the width cancels",
    source="Corollary 4.5",
    given={**enough, "S_sig > 0": lambda x: x.S_sig > 0},
    needs=["eq10.cancels"],
)
def width_cancels(x):
    r"""\frac{F \log F}{C^2}
    \left( \frac{P_{\mathrm{key}} P_{\mathrm{val}} P_{\mathrm{align}}}{S_{\mathrm{sig}}} \right)^2
    = md\, \frac{E_K E_v \kappa^2}{(K_{\min}^{\mathrm{diag}} V_{\min})^2}, \quad C = 1 - \sqrt{\tfrac{\log F}{d}}"""
    ratio = x.E_K * x.E_v * x.kappa**2 / (x.K_diag_min * x.V_min) ** 2
    return hc.equal(demanded(x), x.m * x.d * ratio)


@hc.claim(
    "4.5.clustered",
    over=geo.facts(keys=geo.clustered(4), values=geo.sphere, F=48, d=16, m=[32, 256]),
    title="For crowded keys the demanded width runs away from the width",
    source="Corollary 4.5, keys around four centres, in 9 of 10 draws",
    fails_at_most=0.1,
    needs=["4.5.circular"],
)
def demand_runs_away(x):
    r"""\frac{F \log F}{C^2}
    \left( \frac{P_{\mathrm{key}} P_{\mathrm{val}} P_{\mathrm{align}}}{S_{\mathrm{sig}}} \right)^2
    \ge 10\, md, \quad \gamma_{\min} \le 0 \quad \text{at every width}"""
    return [hc.at_least(demanded(x), 10 * x.m * x.d), hc.at_most(x.gamma_min, 0)]


@hc.claim(
    "4.5.printed",
    over=geo.instance(
        keys=[[1, 0], [-1, 0]], values=np.eye(2), A=[[1, 2], [3, 1], [1, 1]], G=[[1, 1], [2, 1], [1, 3]]
    ),
    title="Capacity, arbitrary embeddings, as printed",
    source="Corollary 4.5: some width stores arbitrary keys; here two opposite ones",
    expect="refuted",
    erratum="P_key holds m and P_val holds d, so the condition on W = md is one on the kernel alone and sets no width; "
    "opposite keys have equal features at every width and are never told apart.",
    needs=["4.5.circular", "2.3.antipodal"],
)
def some_width_stores(x):
    r"""W = md = \Theta\left( F \log F
    \left( \frac{P_{\mathrm{key}} P_{\mathrm{val}} P_{\mathrm{align}}}{S_{\mathrm{sig}}} \right)^2 \right)
    \text{ stores every fact}"""
    return hc.at_least(int(x.stores_all), 1)


def readout_margin(x):
    """The margin per norm of the readout: what remains when the outputs' scale is taken out."""
    return x.gamma_min / sqrt(hc.sum(x.B * x.B))


@hc.claim(
    "text.least_squares",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=(3, 8), d=(2, 4), m=(2, 4)),
    title="Least squares maximises the margin",
    source="Section 4.3, on the data-dependent construction",
    expect="refuted",
    erratum="Least squares minimises the distance of the outputs from the values; the margin for the norm of the "
    "readout may be larger, and facts stored, with the Hebbian readout on the same features.",
)
def least_squares_maximises_the_margin(x):
    r"""\frac{\gamma_{\min}(B_{\mathrm{LS}})}{\|B_{\mathrm{LS}}\|_F} \ge \frac{\gamma_{\min}(B)}{\|B\|_F},
    \quad B = C_f^\top \Phi"""
    return hc.at_least(readout_margin(x.replace(memory="whitened")), readout_margin(x))


@hc.claim(
    "4.4.halves",
    over=geo.facts(keys=geo.anything, values=geo.sphere, F=(2, 32), d=(1, 32), m=(1, 32)),
    title="Half of the keys share one value, half another: their margins",
    source="Corollary 4.4, the map that sends every other key to the first value, the rest to the second; unit values",
    needs=["eq6"],
)
def two_halves(x):
    r"""\langle v_1 - v_2, \mathrm{MLP}(k_i) \rangle = (1 - \langle v_1, v_2 \rangle) \sum_t s_t \hat K_{ti}, \quad
    f(t) = 1, s_t = 1 \text{ for odd } t, \ f(t) = 2, s_t = -1 \text{ for even } t"""
    one, other = x.values[0], x.values[1]
    balance = [hc.sum(column[0::2]) - hc.sum(column[1::2]) for column in x.K.T]
    outputs = [hc.sum(column[0::2]) * one + hc.sum(column[1::2]) * other for column in x.K.T]
    margins = [hc.sum((one - other) * output) for output in outputs]
    return [
        hc.equal(margin, (1 - hc.sum(one * other)) * s) for margin, s in zip(margins, balance, strict=True)
    ]


def halves(rng, F, d):
    """The least margin against the other half's value, keys in two halves; the exact quadratic kernel."""
    keys, values = isotropic(rng, F, d), isotropic(rng, 2, d)
    signs = np.where(np.arange(F) % 2, -1, 1)
    balance = signs * ((keys @ keys.T) ** 2 @ signs)
    return {"margin": (1 - values[0] @ values[1]) * balance.min()}


@hc.claim(
    "4.4.halves.printed",
    over=geo.family(halves, F=[64, 128], d=16),
    title="Capacity, isotropic embeddings: a map onto two values",
    source="Corollary 4.4 with Definition 2.3, which counts maps that are not injective, in half of all draws; the "
    "kernel at unlimited width",
    fails_at_most=0.5,
    expect="refuted",
    erratum="Where half of the keys share one value and half another, margins are near 1 - 2 sqrt(F log F)/d: whatever "
    "the width, such maps are stored for F log F below about d^2/4 only.",
    needs=["4.4.halves"],
)
def map_onto_two_values_is_stored(x):
    r"\gamma_{\min} \ge 0 \quad \text{for } f(t) = 1 + (t \bmod 2) \text{ and } m \to \infty"
    return hc.at_least(x.margin, 0)


def least_parameters(rng, F, d, constant):
    """W = 3md at the least whole m >= 1 with 3md >= constant F log F."""
    return {"W": 3.0 * d * np.ceil(constant * F * np.log(F) / (3 * d))}


@hc.claim(
    "4.4.floor",
    over=geo.family(least_parameters, F=(2, 1000), d=(1, 1000), constant=(1.0, 120.0)),
    title="Widths are whole numbers: parameters up to 3d beyond the rate",
    source="Corollary 4.4, W = 3md, corrected for F log F below the order of d",
)
def parameters_of_whole_widths(x):
    r"3d \left\lceil \frac{c F \log F}{3d} \right\rceil = W \le c\, F \log F + 3d"
    return hc.at_most(x.W, x.constant * x.F * log(x.F) + 3 * x.d)


@hc.claim(
    "4.4.floor.printed",
    over=geo.family(least_parameters, F=(2, 2**10), d=(4, 2**30), constant=24.0),
    title="F log F parameters, for a few facts in many dimensions too",
    source="Corollary 4.4, W = Theta(F log F)",
    expect="refuted",
    erratum="A bilinear MLP has m (2d + d_v) = 3md parameters, 3d at least: W is of the order F log F only where "
    "F log F is of the order d or more.",
    needs=["4.4.floor", "eq19"],
)
def parameters_printed(x, *, C):
    r"3d \le W \le C\, F \log F"
    return hc.at_most(x.W, C * x.F * log(x.F))
