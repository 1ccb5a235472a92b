"""How fast the outputs of bilinear MLPs move with their parameters (Appendix B.2.6, Lemma B.5, equation 20)."""

import math

import numpy as np
import sympy

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import sqrt
from hebbcheck.memories.quantised import outputs


def operator_norm(matrix):
    return float(np.linalg.norm(matrix, 2))


def largest_entry(theta):
    return float(np.max([np.abs(part).max() for part in theta.values()]))


def largest_norm(theta):
    return float(np.max([operator_norm(part) for part in theta.values()]))


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
    return with_twin(theta, other, rng.standard_normal(d))


def with_twin(theta, other, point):
    return {**theta, **{f"{name}2": part for name, part in other.items()}, "x": point}


def change_and_distance(x):
    """(theta, theta', |g(x) - g'(x)|, |theta - theta'|)."""
    theta = {name: np.asarray(getattr(x, name)) for name in "AGB"}
    other = {name: np.asarray(getattr(x, f"{name}2")) for name in "AGB"}
    point = np.asarray(x.x)
    change = np.linalg.norm(outputs(theta, point) - outputs(other, point))
    distance = math.sqrt(math.fsum(float(((theta[n] - other[n]) ** 2).sum()) for n in "AGB"))
    return theta, other, float(change), distance


def parameter_slope(x):
    """(|g(x) - g'(x)|, M^2 |x|^2 |theta - theta'|)."""
    theta, other, change, distance = change_and_distance(x)
    M = np.maximum(largest_norm(theta), largest_norm(other))
    return change, float(M) ** 2 * float(np.asarray(x.x) @ np.asarray(x.x)) * distance


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


def _ratio_of_shrunk_parameters():
    h = sympy.Symbol("h", positive=True)
    change, distance = sympy.expand(1 - (1 - h) ** 3), sympy.sqrt(3) * h
    ratio = sympy.sqrt(3) * (1 - h + h**2 / 3)
    return [
        ("change = ratio x distance", sympy.expand(change - ratio * distance)),
        ("the ratio tends to sqrt 3", sympy.limit(ratio, h, 0) - sympy.sqrt(3)),
    ]


@hc.claim(
    "B.5.attained",
    over=geo.family(lambda rng, h: {"point": 1.0}, h=(0.001, 1.0)),
    title="No constant below the square root of 3 serves",
    source="Lemma B.5, its best constant, at d = m = 1, theta = (1, 1, 1)",
    proof=_ratio_of_shrunk_parameters,
    needs=["B.5.sharp"],
)
def lipschitz_in_parameters_attained(x):
    r"""\theta' = (1 - h)\,\theta: \quad \frac{|g_\theta(1) - g_{\theta'}(1)|}{\|\theta - \theta'\|_2}
    = \sqrt3 \left( 1 - h + \tfrac{h^2}{3} \right) \to \sqrt3"""
    change = x.point - (1 - x.h) ** 3
    return hc.equal(change, sqrt(3) * (1 - x.h + x.h**2 / 3) * sqrt(3 * x.h**2))


def in_a_box(rng, d, m, C):
    """theta and theta' in [-C, C]^P: two of its points, or the steepest corner and a point just inside."""
    point, kind = rng.standard_normal(d), rng.integers(3)
    if kind == 0:
        theta, other = (
            {name: rng.uniform(-C, C, shape) for name, shape in (("A", (m, d)), ("G", (m, d)), ("B", (d, m)))}
            for _ in range(2)
        )
        return with_twin(theta, other, point)
    row = C * np.sign(point)[None, :]
    corner = {"A": np.repeat(row, m, 0), "G": np.repeat(row, m, 0), "B": np.full((d, m), C)}
    length = np.abs(point).sum()
    gradient = {
        "A": math.sqrt(d) * length * np.tile(point, (m, 1)),
        "B": np.full((d, m), length**2 / math.sqrt(d)),
    }
    step = C * 10.0 ** rng.uniform(-5, -2) / np.max([np.abs(part).max() for part in gradient.values()])
    inside = {n: corner[n] - step * gradient["B" if n == "B" else "A"] for n in "AGB"}
    return with_twin(corner, inside, point)


def slope_in_the_box(x):
    """C^2 sqrt(m |x|_1^4 + 2 d m |x|_1^2 |x|_2^2)."""
    taxicab, square = float(np.abs(np.asarray(x.x)).sum()), float((np.asarray(x.x) ** 2).sum())
    return x.C**2 * math.sqrt(x.m * taxicab**4 + 2 * x.d * x.m * taxicab**2 * square)


@hc.claim(
    "eq20",
    over=geo.family(in_a_box, d=(1, 8), m=(1, 12), C=(0.2, 3.0)),
    title="The Lipschitz constant of the box, exactly",
    source="Equation 20, assumption (iii) of Theorem B.6",
)
def lipschitz_in_the_box(x):
    r"""\|g_\theta(x) - g_{\theta'}(x)\|_2 \le L(x) \|\theta - \theta'\|_2 \ \text{ on } [-C, C]^P, \quad
    L(x) = C^2 \sqrt{m \|x\|_1^4 + 2 d m \|x\|_1^2 \|x\|_2^2} \le \sqrt3\, C^2 d \sqrt m\, \|x\|_2^2"""
    *_, change, distance = change_and_distance(x)
    square = float((np.asarray(x.x) ** 2).sum())
    slope = slope_in_the_box(x)
    return [
        hc.at_most(change, slope * distance),
        hc.at_most(slope, math.sqrt(3) * x.C**2 * x.d * math.sqrt(x.m) * square),
    ]
