"""Tails of chi-squares and of products of Gaussians (Appendix B.9.5)."""

from functools import cache

import numpy as np
import sympy
from scipy import stats

import hebbcheck as hc
from hebbcheck import geometry as geo

from .laws import LEVELS, SEEN, nothing, tail_at_most, two_level_tail


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
    """log E exp(+-s (Y^2 - 1)) = -+s - log(1 -+ 2 s)/2 against s^2/(1 - 2 s) and s^2, for 0 <= s < 1/2."""
    s, y = sympy.symbols("s y", positive=True)
    upper = s**2 / (1 - 2 * s) + s + sympy.log(1 - 2 * s) / 2
    lower = s**2 - s + sympy.log(1 + 2 * s) / 2
    gaussian = sympy.exp(-s * y**2 - y**2 / 2) / sympy.sqrt(2 * sympy.pi)
    integral = sympy.integrate(gaussian, (y, -sympy.oo, sympy.oo))
    x, a = sympy.symbols("x a", positive=True)
    slope = sympy.sqrt(x) / a
    return [
        ("E exp(-s Y^2)", integral - 1 / sympy.sqrt(1 + 2 * s)),
        *_rises("upper tail", upper, 2 * s**2 / (1 - 2 * s) ** 2, s),
        *sub_gamma(),
        *_rises("lower tail", lower, 4 * s**2 / (1 + 2 * s), s),
        (
            "lower tail: Chernoff's exponent at the best slope is x",
            2 * a * sympy.sqrt(x) * slope - a**2 * slope**2 - x,
        ),
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
    return [tail_at_most(above, np.exp(-SEEN)), tail_at_most(below, np.exp(-SEEN))]


@cache
def _two_weights(D, b, E):
    """(P(Z >= 2 |a|_2 sqrt x + 2 |a|_inf x), P(Z <= -2 |a|_2 sqrt x)); rounding errors of the latter are cut."""
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
        hc.at_most(np.exp(stats.chi2.logsf(x.D + spread + 2 * LEVELS, x.D) + LEVELS), 1),
        hc.at_most(np.exp(stats.chi2.logcdf(x.D - spread, x.D) + LEVELS), 1),
    ]


def _product_moments():
    """log E exp(s a g h) = -log(1 - s^2 a^2)/2 against (s a)^2 / (2 (1 - s a)), for 0 <= s a < 1."""
    s, y = sympy.symbols("s y", positive=True)
    gap = s**2 / (2 * (1 - s)) + sympy.log(1 - s**2) / 2
    w = sympy.Symbol("w", positive=True)
    gaussian = sympy.exp(-w * y**2 / 2) / sympy.sqrt(2 * sympy.pi)
    return [
        (
            "E exp((1 - w) g^2 / 2), w = 1 - s^2",
            sympy.integrate(gaussian, (y, -sympy.oo, sympy.oo)) - 1 / sympy.sqrt(w),
        ),
        *_rises("product", gap, s**2 * (3 - s) / (2 * (1 - s) ** 2 * (1 + s)), s),
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
    return tail_at_most(_product_tail(x.m), np.exp(-SEEN))


@cache
def _product_tail(m):
    """P(sum g h > sqrt(2 m t) + t): g h is half the difference of two independent squared Gaussians."""
    return two_level_tail(2 * (np.sqrt(2 * m * SEEN) + SEEN), 1, m, -1, m)
