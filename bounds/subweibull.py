"""Sums of variables with heavier tails: polynomials of Gaussians, sub-Weibull variables, squares (Appendix B.9.5)."""

import math
from functools import cache

import numpy as np
from scipy import special, stats

import hebbcheck as hc
from hebbcheck import geometry as geo

from .laws import FROM_ONE, LEVELS, SEEN, Lattice, nothing, tail_at_most


def polynomial(rng, degree, q, variables):
    """A polynomial of one or two standard Gaussians, and its norms in L_q (q even) and L_2, by Gauss-Hermite nodes."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(degree * q // 2 + 1)
    weights = weights / weights.sum()
    grid = np.meshgrid(*[nodes] * variables)
    masses = np.prod(np.meshgrid(*[weights] * variables), axis=0)
    value = np.zeros_like(masses)
    for powers in np.ndindex(*[degree + 1] * variables):
        if sum(powers) <= degree:
            size = rng.standard_normal() * 10.0 ** rng.uniform(-3, 0)
            value += size * np.prod([g**k for g, k in zip(grid, powers, strict=True)], axis=0)
    return {"norm_q": np.sum(masses * value**q) ** (1 / q), "norm_2": math.sqrt(np.sum(masses * value**2))}


@hc.claim(
    "B.50",
    over=geo.family(polynomial, degree=[1, 2, 3, 4], q=[4, 6, 8, 10], variables=[1, 2]),
    title="Gaussian hypercontractivity",
    source="Theorem B.50 (Nelson, Gross), on polynomials of one and two Gaussians, q even",
)
def hypercontractivity(x):
    r"\| P(G) \|_{L_q} \le (q - 1)^{k/2} \| P(G) \|_{L_2}"
    return hc.at_most(x.norm_q, (x.q - 1) ** (x.degree / 2) * x.norm_2)


@cache
def _sub_weibull(kappa, step=0.2, radius=2**16):
    """The law +-(sqrt T + kappa T^2), P(T > u) = min(1, 2 exp(-u)): the heaviest that B.49 admits at sigma = C0 = 1."""
    u = np.linspace(math.log(2), 60, 200_000)
    return Lattice.of_tail(lambda x: 2 * np.exp(-np.interp(x, np.sqrt(u) + kappa * u**2, u)), step, radius)


@hc.claim(
    "B.49",
    over=geo.family(nothing, N=[1, 2, 4, 16, 64, 1024, 2**16], kappa=[1.0, 0.3, 0.1, 0.01]),
    title="Weighted Bernstein inequality for sub-Weibull variables",
    source="Lemma B.49, corrected: sigma m >= 1, on the heaviest law, equal weights, C0 = 1, "
    "kappa = 1/(sigma m)",
    given={"sigma m >= 1": lambda x: x.kappa <= 1},
)
def weighted_bernstein(x):
    r"""\Pr\Big( \Big| \sum_r w_r Z_r \Big| \ge C \Big( \sigma \|w\|_2 \sqrt t + \tfrac{t^2}m \|w\|_\infty \Big) \Big)
    \le 2 e^{-t}, \quad C = 12, \ \sigma m \ge 1"""
    return tail_at_most(_sub_weibull_tail(x.N, x.kappa), np.exp(-SEEN))


@cache
def _sub_weibull_tail(N, kappa):
    return _sub_weibull(kappa).sum_tails(N, 12 * (np.sqrt(N * SEEN) + kappa * SEEN**2))[0]


@hc.claim(
    "B.49.printed",
    over=geo.family(nothing, log2_N=(0, 48), C=[1, 10, 100]),
    title="Weighted Bernstein inequality for sub-Weibull variables, as printed",
    source="Lemma B.49, equal weights, on random signs Z_r = +-(log 2)^2 / m, which meet its hypothesis for sigma = 0 "
    "and C0 = 1",
    needs=["B.49"],
    expect="refuted",
    erratum="Without sigma m >= c the hypothesis admits, for sigma = 0, random signs of size (log 2)^2 / m, whose sum "
    "grows like the square root of their number while the bound does not.",
)
def weighted_bernstein_printed(x):
    r"""\Pr\Big( \Big| \sum_r w_r Z_r \Big| \ge C \Big( \sigma \|w\|_2 \sqrt t + \tfrac{t^2}m \|w\|_\infty \Big) \Big)
    \le 2 e^{-c t}, \quad c = 1/C"""
    t, N = x.C * math.log(4), 2**x.log2_N
    heads = math.ceil((N + x.C * (t / math.log(2)) ** 2) / 2)
    return tail_at_most(2 * stats.binom.sf(heads - 1, N, 0.5), 2 * math.exp(-t / x.C))


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
    return tail_at_most(special.gammaincc(x.m, x.m + threshold) + below, 2 * np.exp(-u))


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
    """(the law of X^2 less its mean, the mean): X = sqrt T + r T, P(T > u) = 2 exp(-u) for u >= 1, the heaviest."""
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
    return tail_at_most(_square_sum_tail(x.n, x.r), np.exp(-FROM_ONE))


@cache
def _square_sum_tail(n, r):
    law, mean = _two_level_squares(r)
    return law.sum_tails(n, 12 * (n + FROM_ONE + r**2 * FROM_ONE**2) - n * mean)[0]
