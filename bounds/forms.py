"""Operator norms from nets, and quadratic forms on the sphere (Appendix B.9.5)."""

import math
from functools import cache

import numpy as np
import sympy
from scipy import special
from scipy.spatial import SphericalVoronoi

import hebbcheck as hc
from hebbcheck import geometry as geo

from .laws import FROM_ONE, LEVELS, Lattice, nothing, tail_at_most


@cache
def net(dimension, count):
    """(points of the unit circle or of the sphere in R^3, their covering radius)."""
    if dimension == 2:
        angles = 2 * np.pi * np.arange(count) / count
        return np.stack([np.cos(angles), np.sin(angles)], axis=1), 2 * math.sin(math.pi / (2 * count))
    heights = 1 - (2 * np.arange(count) + 1) / count
    turns = np.pi * (1 + math.sqrt(5)) * np.arange(count)
    rings = np.sqrt(1 - heights**2)
    points = np.stack([rings * np.cos(turns), rings * np.sin(turns), heights], axis=1)
    corners = SphericalVoronoi(points).vertices
    farthest = np.linalg.norm(corners[:, None] - points, axis=2).min(axis=1)
    return points, float(farthest.max())


def matrix(rng, n, m, **sizes):
    """A Gaussian, rank-one or orthogonal matrix."""
    A = rng.standard_normal((n, m))
    kind = rng.integers(3)
    if kind == 1:
        A = np.outer(rng.standard_normal(n), rng.standard_normal(m))
    elif kind == 2:
        left, _, right = np.linalg.svd(A, full_matrices=False)
        A = left @ right
    return {"A": A}


COUNTS = {2: {"coarse": 7, "fine": 13}, 3: {"coarse": 60, "fine": 150}}


@hc.claim(
    "B.52",
    over=geo.family(matrix, n=[2, 3], m=[2, 3], fine=[0, 1]),
    title="The operator norm from nets",
    source="Theorem B.52, on regular polygons and spirals of points whose covering radius is computed",
)
def operator_norm_from_nets(x):
    r"""\max_{x \in N, y \in M} |x^\top A y| \le \|A\|_{\mathrm{op}}
    \le \frac1{1 - 2 \varepsilon} \max_{x \in N, y \in M} |x^\top A y|"""
    kind = "fine" if x.fine else "coarse"
    (left, one), (right, other) = (net(k, COUNTS[k][kind]) for k in (x.n, x.m))
    A = np.asarray(x.A)
    norm, largest = float(np.linalg.norm(A, 2)), float(np.max(np.abs(left @ A @ right.T)))
    return [hc.at_most(largest, norm), hc.at_most(norm * (1 - 2 * max(one, other)), largest)]


def separated(rng, d):
    """How many of many random unit vectors are kept when each must lie farther than 1/4 from those kept before it."""
    rows = rng.standard_normal((400 if d > 1 else 20, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    kept = rows[:1]
    for row in rows[1:]:
        if np.min(np.sum((kept - row) ** 2, axis=1)) > 1 / 16:
            kept = np.vstack([kept, row])
    return {"count": len(kept)}


@hc.claim(
    "B.52.size",
    over=geo.family(separated, d=[1, 2, 3]),
    title="The size of a net",
    source="Theorem B.52, the volume argument behind 9^d: points farther than 1/4 from each other",
)
def size_of_a_net(x):
    r"|N| \le 9^d"
    return hc.at_most(x.count, 9**x.d)


def two_eigenvalues(d, p):
    """Of B with eigenvalue d - p in p directions and -p in the others: (|B|_F, |B|_op); then x^T B x = d s - p."""
    return math.sqrt(p * (d - p) * d), max(p, d - p)


def share_between(low, high, d, p):
    """P(low < s <= high) for the share s of |x|^2 in p of d directions, Beta(p/2, (d - p)/2)."""
    ends = (np.clip(end, 0, 1) for end in (low, high))
    lower, upper = (special.betainc(p / 2, (d - p) / 2, end) for end in ends)
    return upper - lower


@hc.claim(
    "B.56",
    over=geo.family(nothing, d=[2, 3, 8, 64, 1024, 10**5], p=[1, 2, 4, 32, 500]),
    title="Tail of a spherical quadratic form",
    source="Lemma B.56 for all u >= 0, with constant 2; B with two eigenvalues, by the exact Beta law",
    given={"p < d": lambda x: x.p < x.d},
    needs=["B.53"],
)
def spherical_quadratic_form(x):
    r"""\Pr\Big( |x^\top B x| > 2 \Big( \frac{\|B\|_F}d \sqrt u + \frac{\|B\|_{\mathrm{op}}}d u \Big) \Big)
    \le 2 e^{-u} \quad (\mathrm{tr} B = 0)"""
    frobenius, operator = two_eigenvalues(x.d, x.p)
    z = 2 * (frobenius * np.sqrt(LEVELS) + operator * LEVELS) / x.d
    shape = x.p / 2, (x.d - x.p) / 2
    above = special.betaincc(*shape, np.clip((x.p + z) / x.d, 0, 1))
    below = special.betainc(*shape, np.clip((x.p - z) / x.d, 0, 1))
    return tail_at_most(above + below, 2 * np.exp(-LEVELS))


def spherical_samples(rng, d, samples=4000):
    """A symmetric trace-free B (d x d), and x^T B x for uniform unit vectors x."""
    B = rng.standard_normal((d, d)) + np.diag(rng.standard_normal(d) * 5)
    B = (B + B.T) / 2
    B -= np.trace(B) / d * np.eye(d)
    x = rng.standard_normal((samples, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return {"forms": np.sum((x @ B) * x, axis=1) / np.linalg.norm(B)}


def gaussian_moment(powers):
    return math.prod(0 if k % 2 else int(sympy.factorial2(k - 1)) for k in powers)


def _fourth_moments():
    """E (g^T B g)^2 for g ~ N(0, I) and any symmetric B; x = g/|g| is independent of |g|, and E |g|^4 = d (d + 2)."""
    steps = []
    for d in (2, 3):
        B = sympy.Matrix(d, d, lambda i, j: sympy.Symbol(f"b{min(i, j)}{max(i, j)}"))
        g = sympy.symbols(f"g0:{d}")
        form = sympy.Poly(sympy.expand((sympy.Matrix([g]) * B * sympy.Matrix(g))[0] ** 2), *g)
        mean = sum(c * gaussian_moment(powers) for powers, c in form.terms())
        steps.append((f"E (g^T B g)^2, d = {d}", sympy.expand(mean - B.trace() ** 2 - 2 * (B * B).trace())))
    d = sympy.Symbol("d")
    return [*steps, ("E |g|^4", sympy.expand(3 * d + d * (d - 1) - d * (d + 2)))]


@hc.claim(
    "B.57.moment",
    over=geo.family(spherical_samples, d=(2, 12)),
    title="Second moment of a spherical quadratic form",
    source="Lemma B.57, the fourth-moment identity in its proof",
    proof=_fourth_moments,
)
def second_moment(x):
    r"\mathbb E (x^\top B x)^2 = \frac{2 \|B\|_F^2}{d (d + 2)} \quad (\mathrm{tr} B = 0)"
    return hc.equal(hc.mean(x.forms**2), 2 / (x.d * (x.d + 2)))


@cache
def _square_sum_tail(n, d, p, shift, step=0.1, radius=2**16):
    """P(sum X^2 > 4 (n v + v s + r^2 s^2)), X = x^T B x + beta, B as in `two_eigenvalues`, beta = shift |B|_F / d."""
    frobenius, operator = two_eigenvalues(d, p)
    beta = shift * frobenius / d
    v, r = 2 * frobenius**2 / (d * (d + 2)) + beta**2, operator / d + abs(beta)

    def cdf(y):
        root = np.sqrt(v * np.maximum(y + 1, 0))
        return share_between((p - beta - root) / d, (p - beta + root) / d, d, p)

    law = Lattice.of_cdf(cdf, step, radius)
    return law.sum_tails(n, 4 * (n + FROM_ONE + r**2 / v * FROM_ONE**2) - n)[0]


@hc.claim(
    "B.57",
    over=geo.family(nothing, n=[1, 4, 32], d=[2, 8, 1024], p=[1, 32], shift=[0.0, -0.3, 1.0]),
    title="Sums of squares of spherical quadratic forms",
    source="Lemma B.57, with constant 4, the limit of the needed one; B with two eigenvalues",
    given={"p < d": lambda x: x.p < x.d},
    needs=["B.55", "B.56", "B.57.moment"],
)
def spherical_square_sums(x):
    r"""\Pr\Big( \sum_\ell X_\ell^2 > 4 (n v + v s + r^2 s^2) \Big) \le e^{-s}, \quad s \ge 1, \quad
    X_\ell = x_\ell^\top B x_\ell + \beta"""
    return tail_at_most(_square_sum_tail(x.n, x.d, x.p, x.shift), np.exp(-FROM_ONE))
