"""Bit complexity of bilinear MLPs (Appendix B.2.6, Lemma B.4, Theorem B.6)."""

import math

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, max, min, sqrt, sum
from hebbcheck.memories.quantised import FloatingPoint, Grid, outputs, parameters

from .parameter_slopes import largest_entry

small_mlps = geo.facts(keys=geo.sphere, values=geo.sphere, F=(2, 12), d=(2, 16), m=(1, 48))
few = {"F": (1, 6), "d": (1, 6), "m": (1, 6)}
stored = {"every fact is stored": lambda x: x.gamma_min > 0}


def size(theta):
    return int(np.sum([part.size for part in theta.values()]))


def shapes(theta):
    return {name: part.shape for name, part in theta.items()}


def margin_of(x, theta):
    """gamma_min of the MLP with these parameters."""
    return min(x.margins_of(x.backend.asarray(outputs(theta, x.backend.to_numpy(x.keys)))))


def sum_of_squares(rows):
    return [sum(rows[i, :] ** 2) for i in range(rows.shape[0])]


@hc.claim(
    "eq19",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any"),
    title="The memory as a bilinear MLP of 3md parameters",
    source="Equation 19; Proposition B.7 (the factors m^(-1/4))",
)
def bilinear_form(x):
    r"g_\theta(z) = B ((A z) \odot (G z)) = \sum_t v_{f(t)} \hat K(k_t, z), \quad P = 3md"
    A, G = (part / sqrt(sqrt(x.m)) for part in (x.A, x.G))
    P = sum([part.shape[0] * part.shape[1] for part in (A, G, x.B)])
    return [
        hc.equal(((x.keys @ A.T) * (x.keys @ G.T)) @ x.B.T, x.memory(x.keys)),
        hc.equal(P, 3 * x.m * x.d),
    ]


@hc.claim(
    "B.4",
    over=geo.facts(keys=geo.anything, values=geo.anything, **few, noise=1.0),
    title="Margins survive small perturbations of the outputs",
    source="Lemma B.4",
    given={"gamma_0 > 0": lambda x: x.gamma_min > 0, "R_V > 0": lambda x: max(sum_of_squares(x.values)) > 0},
)
def robust_outputs(x):
    r"""\max_i \|\tilde g(k_i) - g(k_i)\|_2 \le \frac{\gamma_0}{4 R_V}
    \ \Rightarrow\ \gamma_{\min}(\tilde g) \ge \frac{\gamma_0}{2}"""
    radius = sqrt(max(sum_of_squares(x.values)))
    perturbed = x.mlp(x.keys) + x.noise * (x.gamma_min / (4 * radius))
    return hc.at_least(min(x.margins_of(perturbed)), x.gamma_min / 2)


def diameter(values):
    """D_V, the largest distance of two values."""
    return sqrt(max([max(sum_of_squares(values - values[a : a + 1, :])) for a in range(values.shape[0])]))


@hc.claim(
    "B.4.sharp",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any", **few, noise=1.0, eta=(0.0, 1.0)),
    title="Margins survive perturbations of the outputs, by the values' diameter",
    source="Lemma B.4, sharpened",
    given={
        "0 < gamma_0 < inf": lambda x: 0 < x.gamma_min < math.inf,
        "D_V > 0": lambda x: diameter(x.values) > 0,
    },
)
def robust_outputs_sharp(x):
    r"""\max_i \|\tilde g(k_i) - g(k_i)\|_2 \le (1 - \eta) \frac{\gamma_0}{D_V}
    \ \Rightarrow\ \gamma_{\min}(\tilde g) \ge \eta \gamma_0, \quad D_V = \max_{a,b} \|v_a - v_b\|_2"""
    gamma, spread = x.gamma_min, diameter(x.values)
    perturbed = x.mlp(x.keys) + x.noise * ((1 - x.eta) * gamma / spread)
    return hc.at_least(min(x.margins_of(perturbed)), x.eta * gamma)


@hc.claim(
    "B.4.attained",
    over=geo.instance(keys=[[1]], values=[[3], [-3]], map=[0]),
    title="Half of the margin can be lost, and at twice the radius all of it",
    source="Lemma B.4, equality case; the storing threshold gamma_0 / (2 R_V)",
    needs=["B.4"],
)
def robust_outputs_attained(x):
    r"""v = \pm 3: \quad \gamma_{\min}\left(g - \tfrac{\gamma_0}{4 R_V}\right) = \tfrac{\gamma_0}{2}, \quad
    \gamma_{\min}\left(g - \tfrac{\gamma_0}{2 R_V}\right) = 0"""
    outputs_moved = [x.memory(x.keys) - x.gamma_min / (share * 3) for share in (4, 2)]
    halved, lost = (min(x.margins_of(moved)) for moved in outputs_moved)
    return [hc.equal(halved, x.gamma_min / 2), hc.equal(lost, 0)]


def box_constant(x, C):
    """L_theta = sqrt 3 C^2 d sqrt m for unit keys."""
    return math.sqrt(3) * C**2 * x.d * math.sqrt(x.m)


@hc.claim(
    "B.6",
    over=small_mlps,
    title="Bounded-bit implementation, with the Lipschitz constant of the box",
    source="Theorem B.6, corrected: a grid that stays in the box, no log log term; unit keys and values",
    given=stored,
    needs=["B.4", "eq20"],
)
def bits_from_the_box(x):
    r"""N = \left\lceil 2 C L_\theta R_V \sqrt P / \gamma_0 \right\rceil, \ L_\theta = \sqrt3\, C^2 d \sqrt m\, R_K^2
    \ \Rightarrow\ \gamma_{\min}(\tilde\theta) \ge \tfrac{\gamma_0}{2},
    \mathrm{Bits} \le P \lceil \log_2(2N+1) \rceil"""
    theta = parameters(x)
    C, P = largest_entry(theta), size(theta)
    grid = Grid(C, math.ceil(2 * C * box_constant(x, C) * math.sqrt(P) / x.gamma_min))
    code = grid.encode(theta)
    margin = margin_of(x, grid.decode(code, shapes(theta)))
    return [hc.at_least(margin, x.gamma_min / 2), hc.at_most(8 * len(code) - 7, P * grid.bits)]


@hc.claim(
    "eq21",
    over=small_mlps,
    title="Bounded-bit implementation in floating point",
    source="Equation 21, corrected: truncation, exponents relative to C, small parameters flushed to 0; unit keys and "
    "values",
    given=stored,
    needs=["B.4", "eq20"],
)
def bits_in_floating_point(x):
    r"""t = \left\lceil \log_2 \frac{4 C L_\theta R_V \sqrt P}{\gamma_0} \right\rceil
    \ \Rightarrow\ \gamma_{\min}(\tilde\theta) \ge \tfrac{\gamma_0}{2},
    \mathrm{Bits} \le P \left( 1 + t + \lceil \log_2(t + 2) \rceil \right)"""
    theta = parameters(x)
    C, P = largest_entry(theta), size(theta)
    t = math.ceil(math.log2(4 * C * box_constant(x, C) * math.sqrt(P) / x.gamma_min))
    written = FloatingPoint(C, t)
    codes = written.encode(theta)
    margin = margin_of(x, written.decode(codes, shapes(theta)))
    return [
        hc.at_least(margin, x.gamma_min / 2),
        hc.at_most(int(codes.max()), 2 ** (1 + t + math.ceil(math.log2(t + 2))) - 1),
    ]


@hc.claim(
    "B.6.printed",
    over=geo.facts(
        keys=geo.anything, values=geo.anything, F=(2, 6), d=(1, 3), m=(1, 4), room=(0.000001, 0.001)
    ),
    title="The bit bound with its log log term cannot be negative",
    source="Equation 21, as printed, with C_rng = max(1, largest parameter) + room",
    given={"0 < gamma_0 < inf": lambda x: 0 < x.gamma_min < math.inf},
    expect="refuted",
    erratum="log log C_rng tends to minus infinity as C_rng falls to 1, and is undefined below; the bound is negative.",
)
def bits_printed(x):
    r"""0 \le \mathrm{Bits}(\tilde\theta) \le P \cdot O\left( \log\log C_{\mathrm{rng}}
    + \log \frac{4 C_{\mathrm{rng}} L_\theta R_V \sqrt P}{\gamma_0} \right)"""
    largest = max([max(abs(x.A)), max(abs(x.G)), max(abs(x.B)) * sqrt(sqrt(x.m))]) / sqrt(sqrt(x.m))
    C = max(1, largest) + x.room
    R_K2, R_V = max(sum_of_squares(x.keys)), sqrt(max(sum_of_squares(x.values)))
    slope = sqrt(3) * C**2 * x.d * sqrt(x.m) * R_K2
    return hc.at_least(log(4 * C * slope * R_V * sqrt(3 * x.m * x.d) / x.gamma_min), -log(log(C)))


@hc.claim(
    "B.6.exponents",
    over=geo.family(lambda rng, depth: {"smallest": rng.uniform(1, 2) * 2.0**-depth}, depth=(4, 1000)),
    title="Exponents are of the order of the logarithm of the range",
    source="Theorem B.6, proof: |e| = O(log C_rng), with C_rng = 2",
    expect="refuted",
    erratum="Small parameters have large negative exponents, whatever C_rng is: without a floor nothing bounds them.",
)
def exponents_printed(x, *, C):
    r"|e| \le C \log_2 C_{\mathrm{rng}}"
    return hc.at_most(1 - math.frexp(x.smallest)[1], C * math.log2(2))


@hc.claim(
    "B.6.rounding",
    over=geo.family(lambda rng, t: {"theta": rng.uniform(1, 2)}, t=(1, 8)),
    title="Rounding to the nearest floating-point number stays in the box",
    source="Theorem B.6, where assumption (iii) is used at the rounded parameters, with C_rng = theta",
    expect="refuted",
    erratum="Rounding to nearest moves the largest parameters out of the box, where assumption (iii) says nothing.",
)
def rounding_printed(x):
    r"|\tilde\theta| \le C_{\mathrm{rng}}"
    return hc.at_most(math.ldexp(round(math.ldexp(x.theta, x.t)), -x.t), x.theta)
