"""Bit complexity (Appendix B.2.6)."""

import math

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import max, min, sqrt, sum
from hebbcheck.memories.quantised import Grid, outputs, parameters

small_mlps = geo.facts(keys=geo.sphere, values=geo.sphere, F=(2, 12), d=(2, 16), m=(1, 48))
stored = {"every fact is stored": lambda x: x.gamma_min > 0}


def operator_norm(matrix):
    return float(np.linalg.norm(matrix, 2))


@hc.claim(
    "B.4",
    over=geo.facts(keys=geo.anything, values=geo.anything, noise=1.0),
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


def sum_of_squares(rows):
    return [sum(row * row) for row in rows]


def two_parameter_vectors(rng, d, m):
    """theta and theta' of three kinds: independent, close, and shrunk by a common factor (the extremal direction)."""
    theta = {
        name: rng.standard_normal(shape) for name, shape in (("A", (m, d)), ("G", (m, d)), ("B", (d, m)))
    }
    kind, size = rng.integers(3), 10.0 ** rng.uniform(-4, 0)
    other = {name: rng.standard_normal(part.shape) for name, part in theta.items()}
    if kind == 1:
        other = {name: part + size * other[name] for name, part in theta.items()}
    elif kind == 2:
        other = {name: (1 - size) * part for name, part in theta.items()}
    return {**theta, **{f"{name}2": part for name, part in other.items()}, "x": rng.standard_normal(d)}


def parameter_slope(x):
    """(|g(x) - g'(x)|, M^2 |x|^2 |theta - theta'|)."""
    theta = {name: np.asarray(getattr(x, name)) for name in "AGB"}
    other = {name: np.asarray(getattr(x, f"{name}2")) for name in "AGB"}
    point = np.asarray(x.x)
    change = np.linalg.norm(outputs(theta, point) - outputs(other, point))
    norms = [operator_norm(part) for part in (*theta.values(), *other.values())]
    distance = math.sqrt(math.fsum(float(((theta[n] - other[n]) ** 2).sum()) for n in "AGB"))
    return float(change), float(np.max(norms)) ** 2 * float(point @ point) * distance


@hc.claim(
    "B.5",
    over=geo.family(two_parameter_vectors, d=(1, 8), m=(1, 12)),
    title="Bilinear MLPs are Lipschitz in their parameters",
    source="Lemma B.5",
)
def lipschitz_in_parameters(x):
    r"\|g_\theta(x) - g_{\theta'}(x)\|_2 \le 3 M^2 \|x\|_2^2 \|\theta - \theta'\|_2"
    change, scale = parameter_slope(x)
    return hc.at_most(change, 3 * scale)


@hc.claim(
    "B.5.sharp",
    over=geo.family(two_parameter_vectors, d=(1, 8), m=(1, 12)),
    title="Bilinear MLPs are Lipschitz in their parameters, best constant",
    source="Lemma B.5 with Cauchy-Schwarz for the three parts",
)
def lipschitz_in_parameters_sharp(x):
    r"\|g_\theta(x) - g_{\theta'}(x)\|_2 \le \sqrt3\, M^2 \|x\|_2^2 \|\theta - \theta'\|_2"
    change, scale = parameter_slope(x)
    return hc.at_most(change, math.sqrt(3) * scale)


def quantised(x, levels):
    """Encode the parameters on the grid with N = ceil(levels(C, M, P)), decode them; (new margin, bits, P, grid)."""
    theta = parameters(x)
    C = float(np.max([np.abs(part).max() for part in theta.values()]))
    M = float(np.max([operator_norm(part) for part in theta.values()]))
    P = int(np.sum([part.size for part in theta.values()]))
    grid = Grid(C, math.ceil(levels(C, M, P)))
    code = grid.encode(theta)
    decoded = grid.decode(code, {name: part.shape for name, part in theta.items()})
    margins = x.margins_of(x.backend.asarray(outputs(decoded, x.backend.to_numpy(x.keys))))
    return min(margins), 8 * len(code), P, grid


@hc.claim(
    "B.6",
    over=small_mlps,
    title="Bounded-bit implementation, with the Lipschitz constant of the box",
    source="Theorem B.6, corrected: a grid that stays in the box, no log log term",
    given=stored,
    needs=["B.4"],
)
def bits_from_the_box(x):
    r"""N = \left\lceil 2 C L_\theta R_V \sqrt P / \gamma_0 \right\rceil, \ L_\theta = \sqrt3\, C^2 d \sqrt m\, R_K^2
    \ \Rightarrow\ \gamma_{\min}(\tilde\theta) \ge \tfrac{\gamma_0}{2}, \
    \mathrm{Bits} \le P \lceil \log_2(2N+1) \rceil"""
    lipschitz = math.sqrt(3) * x.d * math.sqrt(x.m)
    margin, bits, P, grid = quantised(x, lambda C, M, P: 2 * C**3 * lipschitz * math.sqrt(P) / x.gamma_min)
    return [hc.at_least(margin, x.gamma_min / 2), hc.at_most(bits - 7, P * grid.bits)]


@hc.claim(
    "B.7.bits",
    over=small_mlps,
    title="Bounded-bit implementation, with operator norms",
    source="Theorem B.6 with Proposition B.7, corrected: the printed Lipschitz constant, near theta",
    given=stored,
    needs=["B.4", "B.5.sharp"],
)
def bits_from_operator_norms(x):
    r"""N = \left\lceil 6 C M^2 R_K^2 R_V \sqrt P / \gamma_0 \right\rceil
    \ \Rightarrow\ \gamma_{\min}(\tilde\theta) \ge \tfrac{\gamma_0}{2}, \
    \mathrm{Bits} \le P \lceil \log_2(2N+1) \rceil"""
    margin, bits, P, grid = quantised(x, lambda C, M, P: 6 * C * M**2 * math.sqrt(P) / x.gamma_min)
    return [hc.at_least(margin, x.gamma_min / 2), hc.at_most(bits - 7, P * grid.bits)]
