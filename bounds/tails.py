"""Tails of sums of independent variables (Appendix B.9.5): chi-squares, products of Gaussians, sub-Weibull variables."""

import math
from functools import cache

import numpy as np
import sympy
from scipy import special, stats

import hebbcheck as hc
from hebbcheck import geometry as geo

from .laws import LEVELS, Lattice, nothing, two_level_tail

SEEN = LEVELS[LEVELS < 25]
"""Exponents at which a tail by Fourier transforms is still exact."""
FROM_ONE = SEEN[SEEN >= 1]


def sub_gamma():
    """From log E exp(l S) <= v l^2 / (2 (1 - c l)), Chernoff at the best l: P(S >= sqrt(2 v x) + c x) <= exp(-x)."""
    v, c, x = sympy.symbols("v c x", positive=True)
    s = sympy.sqrt(2 * x / v)
    slope = s / (1 + c * s)
    exponent = slope * (sympy.sqrt(2 * v * x) + c * x) - v * slope**2 / (2 * (1 - c * slope))
    return [("Chernoff's exponent at the best slope is x", exponent - x)]


def _rises(name, gap, derivative, symbol):
    """The gap is 0 at 0 and its derivative is as written, which is not negative: so the gap is not negative."""
    return [(f"{name}: at 0", gap.subs(symbol, 0)), (f"{name}: slope", sympy.diff(gap, symbol) - derivative)]


def _chi_square_moments():
    """log E exp(+-l (Y^2 - 1)) = -+l - log(1 -+ 2 l)/2 against l^2/(1 - 2 l) and l^2, for 0 <= l < 1/2."""
    l, y = sympy.symbols("l y", positive=True)
    upper = l**2 / (1 - 2 * l) + l + sympy.log(1 - 2 * l) / 2
    lower = l**2 - l + sympy.log(1 + 2 * l) / 2
    gaussian = sympy.exp(-l * y**2 - y**2 / 2) / sympy.sqrt(2 * sympy.pi)
    integral = sympy.integrate(gaussian, (y, -sympy.oo, sympy.oo))
    x, a = sympy.symbols("x a", positive=True)
    slope = sympy.sqrt(x) / a
    return [
        ("E exp(-l Y^2)", integral - 1 / sympy.sqrt(1 + 2 * l)),
        *_rises("upper tail", upper, 2 * l**2 / (1 - 2 * l) ** 2, l),
        *sub_gamma(),
        *_rises("lower tail", lower, 4 * l**2 / (1 + 2 * l), l),
        ("lower tail: Chernoff's exponent at the best slope is x", 2 * a * sympy.sqrt(x) * slope - a**2 * slope**2 - x),
    ]


DEGREES = [1, 2, 3, 10, 100, 10**4]


@hc.claim(
    "B.53",
    over=geo.family(nothing, D=DEGREES, E=[1, 2, 30], b=[0.02, 0.3, 1.0]),
    title="Weighted sums of squared Gaussians",
    source="Theorem B.53 (Laurent and Massart), two weights: 1 for D squares, b for E",
    proof=_chi_square_moments,
)
def weighted_chi_square(x):
    r"""\Pr( Z \ge 2 \|a\|_2 \sqrt x + 2 \|a\|_\infty x ) \le e^{-x}, \quad
    \Pr( Z \le -2 \|a\|_2 \sqrt x ) \le e^{-x}, \quad Z = \sum_i a_i (Y_i^2 - 1)"""
    above, below = _two_weights(x.D, x.b, x.E)
    return [hc.at_most(above, np.exp(-SEEN)), hc.at_most(below, np.exp(-SEEN))]


@cache
def _two_weights(D, b, E):
    """(P(Z >= 2 |a|_2 sqrt x + 2 |a|_inf x), P(Z <= -2 |a|_2 sqrt x)); of the latter what is above quadrature errors."""
    mean, spread = D + b * E, 2 * np.sqrt((D + b**2 * E) * SEEN)
    above = two_level_tail(mean + spread + 2 * SEEN, 1, D, b, E)
    below = 1 - two_level_tail(mean - spread, 1, D, b, E)
    return above, np.where(below > 1e-9, below, 0)


@hc.claim(
    "B.53.chi2",
    over=geo.family(nothing, D=[*DEGREES, 10**6]),
    title="Chi-square tails",
    source="Theorem B.53, last two displays, by the exact law in logarithms",
    needs=["B.53"],
)
def chi_square(x):
    r"""\Pr( Q - D \ge 2 \sqrt{Dx} + 2x ) \le e^{-x}, \quad \Pr( D - Q \ge 2 \sqrt{Dx} ) \le e^{-x},
    \quad Q \sim \chi^2_D"""
    spread = 2 * np.sqrt(x.D * LEVELS)
    return [
        hc.at_most(stats.chi2.logsf(x.D + spread + 2 * LEVELS, x.D), -LEVELS),
        hc.at_most(stats.chi2.logcdf(x.D - spread, x.D), -LEVELS),
    ]


def _product_moments():
    """log E exp(l a g h) = -log(1 - l^2 a^2)/2 against (l a)^2 / (2 (1 - l a)), for 0 <= l a < 1."""
    l, y = sympy.symbols("l y", positive=True)
    gap = l**2 / (2 * (1 - l)) + sympy.log(1 - l**2) / 2
    w = sympy.Symbol("w", positive=True)
    gaussian = sympy.exp(-w * y**2 / 2) / sympy.sqrt(2 * sympy.pi)
    return [
        ("E exp((1 - w) g^2 / 2), w = 1 - l^2", sympy.integrate(gaussian, (y, -sympy.oo, sympy.oo)) - 1 / sympy.sqrt(w)),
        *_rises("product", gap, l**2 * (3 - l) / (2 * (1 - l) ** 2 * (1 + l)), l),
        *sub_gamma(),
    ]


@hc.claim(
    "B.54",
    over=geo.family(nothing, m=[1, 2, 3, 8, 32, 512, 10**4]),
    title="Weighted products of Gaussians",
    source="Lemma B.54, with the constants that its proof gives; equal weights",
    proof=_product_moments,
)
def product_chaos(x):
    r"""\Pr\Big( \Big| \sum_r a_r g_r h_r \Big| > \sqrt2 \|a\|_2 \sqrt t + \|a\|_\infty t \Big) \le 2 e^{-t}"""
    return hc.at_most(_product_tail(x.m), np.exp(-SEEN))


@cache
def _product_tail(m):
    """P(sum g h > sqrt(2 m t) + t): g h is half the difference of two independent squared Gaussians."""
    return two_level_tail(2 * (np.sqrt(2 * m * SEEN) + SEEN), 1, m, -1, m)


@cache
def _sub_weibull(kappa, step=0.2, radius=2**16):
    """The law +-(sqrt T + kappa T^2), P(T > u) = min(1, 2 exp(-u)): the heaviest that B.49 admits at sigma = C0 = 1."""
    u = np.linspace(math.log(2), 60, 200_000)
    return Lattice.of_tail(lambda x: 2 * np.exp(-np.interp(x, np.sqrt(u) + kappa * u**2, u)), step, radius)


@hc.claim(
    "B.49",
    over=geo.family(nothing, N=[1, 2, 4, 16, 64, 1024, 2**16], kappa=[1.0, 0.3, 0.1, 0.01]),
    title="Weighted Bernstein inequality for sub-Weibull variables",
    source="Lemma B.49, corrected: sigma m >= 1, on the heaviest law with equal weights, C0 = 1 and kappa = 1/(sigma m)",
    given={"sigma m >= 1": lambda x: x.kappa <= 1},
)
def weighted_bernstein(x):
    r"""\Pr\Big( \Big| \sum_r w_r Z_r \Big| \ge C \Big( \sigma \|w\|_2 \sqrt t + \tfrac{t^2}m \|w\|_\infty \Big) \Big)
    \le 2 e^{-t}, \quad C = 12, \ \sigma m \ge 1"""
    return hc.at_most(_sub_weibull_tail(x.N, x.kappa), np.exp(-SEEN))


@cache
def _sub_weibull_tail(N, kappa):
    return _sub_weibull(kappa).sum_tails(N, 12 * (np.sqrt(N * SEEN) + kappa * SEEN**2))[0]


@hc.claim(
    "B.49.printed",
    over=geo.family(nothing, log2_N=(0, 48), C=[1, 10, 100]),
    title="Weighted Bernstein inequality for sub-Weibull variables, as printed",
    source="Lemma B.49, on random signs Z_r = +-(log 2)^2 / m, which meet its hypothesis for sigma = 0 and C0 = 1",
    needs=["B.49"],
    expect="refuted",
    erratum="The hypothesis sigma m >= c is missing: with sigma near 0 it admits random signs of size (log 2)^2 / m, whose "
    "sum grows like the square root of their number while the bound does not.",
)
def weighted_bernstein_printed(x):
    r"""\Pr\Big( \Big| \sum_r w_r Z_r \Big| \ge C \Big( \sigma \|w\|_2 \sqrt t + \tfrac{t^2}m \|w\|_\infty \Big) \Big)
    \le 2 e^{-c t}, \quad c = 1/C"""
    t, N = x.C * math.log(4), 2**x.log2_N
    heads = math.ceil((N + x.C * (t / math.log(2)) ** 2) / 2)
    return hc.at_most(2 * stats.binom.sf(heads - 1, N, 0.5), 2 * math.exp(-t / x.C))


@hc.claim(
    "B.51",
    over=geo.family(nothing, m=[1, 2, 4, 16, 256, 10**4, 10**6]),
    title="Averages of sub-Weibull variables",
    source="Theorem B.51 with rho = 1, on centred exponentials (K = 1/2), C = 2 sqrt 2",
)
def sub_exponential_average(x):
    r"""\Pr\Big( \Big| \frac1m \sum_r W_r \Big| > C_\rho K \Big( \sqrt{\frac um} + \frac{u^\rho}m \Big) \Big)
    \le 2 e^{-u}, \quad \rho = 1, \ C_1 = 2\sqrt2, \ u \ge 1"""
    u = LEVELS[LEVELS >= 1]
    threshold = math.sqrt(2) * (np.sqrt(u * x.m) + u)
    below = special.gammainc(x.m, np.maximum(x.m - threshold, 0))
    return hc.at_most(special.gammaincc(x.m, x.m + threshold) + below, 2 * np.exp(-u))


@hc.claim(
    "B.51.moments",
    over=geo.family(nothing, p=(2, 60)),
    title="The moments of a centred exponential",
    source="Theorem B.51, hypothesis with rho = 1 and K = 1/2",
)
def exponential_moments(x):
    r"\| W \|_{L_p} \le \tfrac12 p \quad \text{for } W + 1 \sim \mathrm{Exp}(1), \ p \ge 2 \text{ even}"
    p = 2 * (int(x.p) // 2)
    central = [1, 0]
    for k in range(2, p + 1):  # derangements: E (X - 1)^k = k E (X - 1)^(k - 1) + (-1)^k
        central.append(k * central[-1] + (-1) ** k)
    return hc.at_most(central[p] ** (1 / p), p / 2)


@cache
def _two_level_squares(r, step=0.1, radius=2**16):
    """(the law of X^2 less its mean, the mean), X = sqrt T + r T, P(T > u) = 2 exp(-u) for u >= 1: the heaviest in B.55."""
    u = np.concatenate([[1.0], np.geomspace(1.0001, 80, 200_000)])
    squares = (np.sqrt(u) + r * u) ** 2
    mean = float(squares[0] + np.sum(np.diff(squares) * (2 * np.exp(-u[:-1]) + 2 * np.exp(-u[1:])) / 2))

    def cdf(y):
        inside = 1 - 2 * np.exp(-np.interp(y + mean, squares, u))
        return np.where(y + mean < squares[0], 0.0, inside)

    return Lattice.of_cdf(cdf, step, radius), mean


@hc.claim(
    "B.55",
    over=geo.family(nothing, n=[1, 2, 8, 64, 1024], r=[0.01, 0.1, 0.3, 1.0]),
    title="Sums of squares of variables with a two-level tail",
    source="Lemma B.55, on the heaviest law, C0 = 1 and v = 1, with C = 12; its hypothesis E X^2 <= v is not used",
    given={"r^2 <= v": lambda x: x.r <= 1},
    needs=["B.51"],
)
def square_sums(x):
    r"\Pr\Big( \sum_i X_i^2 > 12 (n v + v s + r^2 s^2) \Big) \le e^{-s}, \quad s \ge 1"
    return hc.at_most(_square_sum_tail(x.n, x.r), np.exp(-FROM_ONE))


@cache
def _square_sum_tail(n, r):
    law, mean = _two_level_squares(r)
    return law.sum_tails(n, 12 * (n + FROM_ONE + r**2 * FROM_ONE**2) - n * mean)[0]


@hc.claim(
    "B.58.product",
    over=geo.family(nothing, u=(0.0, 30.0)),
    title="The tail of a product of Gaussians",
    source="Lemma B.58, the tail in its proof, with constant 1",
)
def product_tail(x):
    r"\Pr( |\alpha \beta| > u ) \le e^{-u}"
    tail = 1 - 2 / math.pi * special.iti0k0(x.u)[1] if x.u < 15 else 2 / math.pi * math.sqrt(math.pi / 2 / x.u) * math.exp(-x.u)
    return hc.at_most(float(tail), math.exp(-x.u))
