"""One column of the bilinear kernel as a quadratic form (Appendix B.9.5)."""

import math

import numpy as np
import sympy
from scipy import special

import hebbcheck as hc
from hebbcheck import exp, sqrt
from hebbcheck import geometry as geo

from .entries import narrow_enough
from .laws import nothing, tail_at_most
from .sketch import isserlis


@hc.claim(
    "B.58.product",
    over=geo.family(nothing, u=(0.0, 25.0)),
    title="The tail of a product of Gaussians",
    source="Lemma B.58, the tail in its proof, with constant 1",
)
def product_tail(x):
    r"\Pr( |\alpha \beta| > u ) \le e^{-u}"
    tail = 1 - 2 / math.pi * float(special.iti0k0(x.u)[1])
    return tail_at_most(tail, math.exp(-x.u))


def scalar_weights(rng, level, ratio):
    """The weights of one column for m = ratio level^3 features."""
    alpha, beta = rng.standard_normal((2, math.ceil(ratio * level**3)))
    return {"alpha": alpha, "beta": beta}


@hc.claim(
    "B.58",
    over=geo.family(scalar_weights, level=(2.0, 5.0), ratio=(1.0, 4.0)),
    title="Regularity of the scalar weights of one column",
    source="Lemma B.58, with constants 3, 4, 12, 5 and m >= L^3",
    fails_at_most=lambda x: 5 * exp(-x.level),
    needs=["B.50", "B.51", "B.58.product"],
)
def scalar_regularity(x):
    r"""\Big| \tfrac1m \sum_r (\gamma_r^2 - 1) \Big| \le 3 \Big( \sqrt{\tfrac Lm} + \tfrac{L^2}m \Big), \quad
    \|\gamma\|_2^2 \le 4 m, \quad \|\eta\|_2^2, \|\zeta\|_2^2 \le 12 m, \quad \|\gamma\|_\infty^2 L \le 5 m"""
    m = len(x.alpha)
    gamma2, eta2 = (x.alpha * x.beta) ** 2, x.alpha**2 * x.beta**4
    zeta2 = x.alpha**4 * x.beta**2
    return [
        hc.at_most(abs(hc.sum(gamma2) / m - 1), 3 * (sqrt(x.level / m) + x.level**2 / m)),
        hc.at_most(hc.sum(gamma2), 4 * m),
        hc.at_most(hc.sum(eta2), 12 * m),
        hc.at_most(hc.sum(zeta2), 12 * m),
        hc.at_most(hc.max(gamma2) * x.level, 5 * m),
    ]


def weighted_product(rng, n, m, s, kind):
    """U diag(weights) V^T (n x n) and weights: equal, one, Gaussian, or products of Gaussians."""
    weights = (np.ones(m), np.eye(m)[0], rng.standard_normal(m), rng.standard_normal((2, m)).prod(axis=0))[
        kind
    ]
    U, V = rng.standard_normal((2, n, m))
    return {"product": (U * weights) @ V.T, "weights": weights}


@hc.claim(
    "B.59",
    over=geo.family(weighted_product, n=(1, 24), m=(1, 128), s=(1.5, 4.5), kind=[0, 1, 2, 3]),
    title="Operator norm and trace of a weighted product of Gaussian matrices",
    source="Lemma B.59, with constant 2 for the norm and sqrt 2 for the trace",
    fails_at_most=lambda x: 4 * exp(-x.s),
    needs=["B.52", "B.54"],
)
def weighted_product_bounds(x):
    r"""\|U \Gamma V^\top\|_{\mathrm{op}} \le 2 \left( \|\gamma\|_2 \sqrt{n + s} + \|\gamma\|_\infty (n + s) \right),
    \quad |\mathrm{tr}(U \Gamma V^\top)| \le \sqrt2 \left( \sqrt n \|\gamma\|_2 \sqrt s + \|\gamma\|_\infty s \right)"""
    norm, largest = sqrt(hc.sum(x.weights**2)), hc.max(abs(x.weights))
    operator = float(np.linalg.norm(np.asarray(x.product), 2))
    return [
        hc.at_most(operator, 2 * (norm * sqrt(x.n + x.s) + largest * (x.n + x.s))),
        hc.at_most(abs(hc.trace(x.product)), sqrt(2) * (norm * sqrt(x.n * x.s) + largest * x.s)),
    ]


def balanced_product(rng, n, m, s, kind):
    """A weighted product with |gamma|_2^2 <= m and |gamma|_inf^2 s <= m, the largest multiple that meets both."""
    drawn = weighted_product(rng, n, m, s, kind)
    weights = drawn["weights"]
    scale = math.sqrt(m / max(weights @ weights, s * np.max(weights**2)))
    return {"product": scale * drawn["product"]}


@hc.claim(
    "B.59.frobenius",
    over=geo.family(balanced_product, n=(2, 10), m=(2, 64), s=(1.8, 4.5), kind=[0, 1, 2, 3]),
    title="Frobenius norm of a weighted product of Gaussian matrices",
    source="Lemma B.59, last display, with constant 4 and C_0 = 1",
    given={"n >= s": lambda x: x.n >= x.s},
    fails_at_most=lambda x: 6 * exp(-x.s),
    needs=["B.53"],
)
def weighted_product_frobenius(x):
    r"\|U \Gamma V^\top\|_F^2 \le 4 n^2 m \quad (\|\gamma\|_2^2 \le m, \ \|\gamma\|_\infty^2 s \le m, \ n \ge s)"
    return hc.at_most(hc.sum(x.product**2), 4 * x.n**2 * x.m)


def columns(x):
    """Of each key q, the form A(q) with x^T A(q) x = K(x, q) (F x d x d)."""
    keys, A, G = (x.backend.to_numpy(part) for part in (x.keys, x.A, x.G))
    weights = (keys @ A.T) * (keys @ G.T) / x.m
    forms = np.stack([A.T @ (row[:, None] * G) for row in weights])
    return (forms + forms.transpose(0, 2, 1)) / 2


def deviations(x):
    """N(q) = A(q) - q q^T for each key q."""
    keys = x.backend.to_numpy(x.keys)
    return columns(x) - keys[:, :, None] * keys[:, None, :]


def operator_norms(forms):
    return np.abs(np.linalg.eigvalsh(forms)).max(axis=1)


one_column = geo.facts(F=[2, 3, 4], d=(14, 40), m=(50, 256), delta=[0.5, 0.8])
wide_enough = {**narrow_enough, "m >= L^3": lambda x: x.m >= x.L**3}


@hc.claim(
    "B.60",
    over=one_column,
    title="Regularity of one column of the sketch",
    source="Lemma B.60, with constant 2 and C_* = 1",
    given=wide_enough,
    fails_at_most=lambda x: x.delta / 4,
    needs=["B.53", "B.58", "B.59"],
)
def column_regularity(x):
    r"""\|N\|_F^2 \le 2 \frac{d^2}m, \quad \|N\|_{\mathrm{op}} \le 2 \Big( \sqrt{\tfrac dm} + \tfrac d{\sqrt{mL}} \Big),
    \quad |\mathrm{tr} N| \le 2 \sqrt{\tfrac{dL}m}, \quad N = A(k_i) - k_i k_i^\top"""
    N = deviations(x)
    return [
        hc.at_most((N**2).sum(axis=(1, 2)), 2 * x.d**2 / x.m),
        hc.at_most(operator_norms(N), 2 * (sqrt(x.d / x.m) + x.d / sqrt(x.m * x.L))),
        hc.at_most(np.abs(np.trace(N, axis1=1, axis2=2)), 2 * sqrt(x.d * x.L / x.m)),
    ]


def column_samples(rng, d, samples=2000):
    """|A(q) - q q^T|_F^2 and its squared trace for q = e_1, with one feature."""
    a, g = rng.standard_normal((2, samples, d))
    weight, inner = a[:, 0] * g[:, 0], np.sum(a * g, axis=1)
    norms = (np.sum(a**2, axis=1) * np.sum(g**2, axis=1) + inner**2) * weight**2 / 2
    return {"norms": norms - 2 * weight**2 + 1, "traces": (weight * inner - 1) ** 2}


def _column_moments():
    """With alpha = a_1, beta = g_1: E alpha^2 |a|^2, E (alpha beta)^2 <a, g>^2, and the two moments for one feature."""
    d = sympy.Symbol("d", positive=True)
    fourth, second = isserlis(4, 0, 1, 1, 0), isserlis(2, 0, 1, 1, 0)
    lengths = (fourth + (d - 1) * second**2) ** 2
    inner = fourth**2 + (d - 1) * second**4
    mean = second**2
    return [
        ("m E |N|_F^2", sympy.expand((lengths + inner) / 2 - 2 * mean + 1 - (d**2 + 5 * d + 10) / 2)),
        ("m E (tr N)^2", sympy.expand(inner - mean**2 - (d + 7))),
    ]


@hc.claim(
    "B.60.moments",
    over=geo.family(column_samples, d=(1, 16)),
    title="Second moments of one column of the sketch",
    source="Lemma B.60, sharper: exact moments, for one feature (those of m features are 1/m of them)",
    proof=_column_moments,
)
def column_moments(x):
    r"m\, \mathbb E \|N\|_F^2 = \tfrac12 (d^2 + 5d + 10), \quad m\, \mathbb E (\mathrm{tr} N)^2 = d + 7"
    return [
        hc.equal(hc.mean(x.norms), (x.d**2 + 5 * x.d + 10) / 2),
        hc.equal(hc.mean(x.traces), x.d + 7),
    ]


@hc.claim(
    "B.61",
    over=one_column,
    title="Parameters of one column as a quadratic form",
    source="Lemma B.61, with constants 4 and 8; c_0 = 1",
    given={**wide_enough, "L^3 <= sigma^2 m^2": lambda x: x.L**3 <= x.sigma2 * x.m**2},
    fails_at_most=lambda x: x.delta / 4,
    needs=["B.44", "B.60"],
)
def column_parameters(x):
    r"v(k_i) \le 4 \sigma^2, \quad r(k_i)^2 L \le 8 \sigma^2"
    forms = columns(x)
    means = np.trace(forms, axis1=1, axis2=2) / x.d
    centred, shift = forms - means[:, None, None] * np.eye(int(x.d)), means - 1 / x.d
    v = 2 * (centred**2).sum(axis=(1, 2)) / (x.d * (x.d + 2)) + shift**2
    r = operator_norms(centred) / x.d + np.abs(shift)
    return [hc.at_most(v, 4 * x.sigma2), hc.at_most(r**2 * x.L, 8 * x.sigma2)]
