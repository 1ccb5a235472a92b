"""Entries of the bilinear kernel, isotropic keys (Appendix B.9.2 and B.9.4)."""

import math
from functools import cache

import numpy as np
from scipy import special

import hebbcheck as hc
from hebbcheck import exp, log, sqrt
from hebbcheck import geometry as geo

from .laws import FROM_ONE, SEEN, Lattice, nothing, tail_at_most

WIDTHS = [1, 2, 4, 16, 64, 256, 2048]
BELOW = np.concatenate([np.geomspace(0.005, 0.1, 25), np.linspace(0.11, 0.99, 89)])
"""Values of t in (0, 1)."""
narrow_enough = {"m <= d^2/L": lambda x: x.m * x.L <= x.d**2}
column_region = {**narrow_enough, "L^3 <= sigma^2 m^2": lambda x: x.L**3 <= x.sigma2 * x.m**2}


def off_diagonal_deviation(x):
    """max |K_ij - 1/d| over i != j."""
    off = 1 - np.eye(int(x.F))
    return hc.max(abs(x.K - x.mu) * x.backend.asarray(off))


def spread(x):
    """sigma sqrt L + L^2 / m."""
    return sqrt(x.sigma2 * x.L) + x.L**2 / x.m


@hc.claim(
    "B.38",
    over=geo.facts(F=(3, 64), m=(4, 2048), d=(16, 256), delta=[0.1, 0.5]),
    title="Off-diagonal entries, isotropic keys",
    source="Lemma B.38, with constant sqrt 2, the limit of the needed one",
    given=narrow_enough,
    fails_at_most="delta",
    needs=["B.44", "B.46"],
)
def off_diagonal(x):
    r"""\max_{i \ne j} | \hat K_{ij} - \tfrac1d | \le \sqrt2 \left( \sigma \sqrt L + \frac{L^2}m \right)
    \quad (m \le d^2/L)"""
    return hc.at_most(off_diagonal_deviation(x), sqrt(2) * spread(x))


@hc.claim(
    "eq61",
    over=geo.facts(F=(3, 64), m=(4, 2048), d=(16, 256), delta=[0.1, 0.5]),
    title="The largest off-diagonal entry, isotropic keys",
    source="Lemma B.38, equation 61, with constant sqrt 2",
    given=narrow_enough,
    fails_at_most="delta",
    needs=["B.38"],
)
def largest_off_diagonal(x):
    r"""K_{\max}^{\mathrm{off}} \le \frac1d + \sqrt2 \left( \sigma \sqrt L + \frac{L^2}m \right)
    \quad (m \le d^2/L)"""
    return hc.at_most(x.K_off_max, x.mu + sqrt(2) * spread(x))


@cache
def _squared_product(step=0.05, radius=2**17):
    """The law of (g h)^2 - 1: |g h| has the density 2 K_0 / pi."""

    def cdf(y):
        root = np.sqrt(np.maximum(y + 1, 0))
        return np.where(root < 50, 2 / np.pi * special.iti0k0(np.minimum(root, 50))[1], 1)

    return Lattice.of_cdf(cdf, step, radius)


@cache
def diagonal_tail(m):
    """P(K_ii <= 1 - t) at BELOW: by inversion of the Laplace transform, by Fourier transforms for large m."""
    return inverted(m, BELOW) if m <= 256 else _squared_product().sum_tails(m, m * BELOW)[1]


def inverted(m, t, nodes=28):
    """P(K_ii <= 1 - t) by Talbot's inversion of the Laplace transform phi^m / s (Abate and Valko, 2004).

    phi(s) = E exp(-s (g h)^2) = exp(1/(8s)) K_0(1/(8s)) / sqrt(4 pi s); the error is below 1e-11 for m <= 256.
    """
    angle = np.pi * np.arange(1, nodes) / nodes
    cot = 1 / np.tan(angle)
    contour = 0.4 * nodes * np.concatenate([[1], angle * (cot + 1j)])
    slope = np.concatenate([[0.5], 1 + 1j * (angle * (1 + cot**2) - cot)])
    s = contour / (m * (1 - t)[:, None])
    phi = special.kve(0, 1 / (8 * s)) / np.sqrt(4 * np.pi * s)
    return 0.4 * np.real(slope * np.exp(contour) * phi**m / contour).sum(axis=1)


@hc.claim(
    "B.39",
    over=geo.family(nothing, m=[1, 2, 3, 4, 8, 16, 64, 256, 4096, 2**16]),
    title="The lower tail of a diagonal entry",
    source="Lemma B.39, the bound that its proof gives, by the exact law",
)
def diagonal_lower_tail(x):
    r"\Pr( \hat K_{ii} \le 1 - t ) \le e^{-m t^2 / (2 (8 + t/3))}, \quad 0 < t < 1"
    return tail_at_most(diagonal_tail(x.m), np.exp(-x.m * BELOW**2 / (2 * (8 + BELOW / 3))))


@hc.claim(
    "B.39.sharp",
    over=geo.family(nothing, m=[1, 2, 3, 4, 8, 16, 64, 256, 4096, 2**16]),
    title="The lower tail of a diagonal entry, with the best exponent",
    source="Lemma B.39, equation 62 with c = 1/16, which no larger c can replace as m grows",
)
def diagonal_lower_tail_sharp(x):
    r"\Pr( \hat K_{ii} \le 1 - t ) \le e^{-m t^2 / 16}, \quad 0 < t < 1"
    return tail_at_most(diagonal_tail(x.m), np.exp(-x.m * BELOW**2 / 16))


@hc.claim(
    "B.39.63",
    over=geo.facts(F=(3, 8), d=(4, 32), m=(128, 256), delta=[0.1, 0.5, 0.9]),
    title="Uniform lower bound on the diagonal",
    source="Lemma B.39, equation 63 with C_1 = 4, keys independent of the features; L = log(F/delta) (C0 = 1), "
    "stronger than printed",
    fails_at_most="delta",
    needs=["B.39.sharp"],
)
def uniform_diagonal(x):
    r"K_{\min}^{\mathrm{diag}} \ge 1 - 4 \sqrt{\frac{\log(F/\delta)}m}"
    return hc.at_least(x.K_diag_min, 1 - 4 * sqrt(log(x.F / x.delta) / x.m), trivial=0)


@cache
def _diagonal_deviations(m, u):
    """P(m |K_ii - 1| >= 4 (sqrt(m u) + u^2)) at all u."""
    levels = np.array(u)
    return sum(_squared_product().sum_tails(m, 4 * (np.sqrt(m * levels) + levels**2)))


@hc.claim(
    "B.45.diagonal",
    over=geo.family(nothing, m=WIDTHS),
    title="Tail of an entry at equal keys",
    source="Lemma B.45 at rho = 1, by the exact law, with C = 4: the central limit theorem needs it for large m",
    needs=["B.51.chaos"],
)
def diagonal_entry(x):
    r"""\Pr\Big( |\hat K(x, x) - 1| \ge 4 \Big( \sqrt{\frac um} + \frac{u^2}m \Big) \Big) \le 2 e^{-u},
    \quad u \ge 0"""
    return tail_at_most(_diagonal_deviations(x.m, tuple(SEEN)), 2 * np.exp(-SEEN))


@hc.claim(
    "B.51.chaos",
    over=geo.family(nothing, m=WIDTHS),
    title="Averages of sub-Weibull variables: a Gaussian chaos of degree 4",
    source="Theorem B.51, second part with k = 4, on (g h)^2 - 1, C K_0 = 4",
    needs=["B.50"],
)
def chaos_average(x):
    r"""\Pr\Big( \Big| \frac1m \sum_r W_r \Big| > C_k K_0 \Big( \sqrt{\frac um} + \frac{u^{k/2}}m \Big) \Big)
    \le 2 e^{-u}, \quad u \ge 1"""
    return tail_at_most(_diagonal_deviations(x.m, tuple(FROM_ONE)), 2 * np.exp(-FROM_ONE))


def entry(rng, m, cosine, **sizes):
    """K(x, y) for unit vectors with <x, y> = cosine."""
    a, g = (rng.standard_normal((2, m)) for _ in range(2))
    left, right = (z[0] * (cosine * z[0] + math.sqrt(1 - cosine**2) * z[1]) for z in (a, g))
    return {"K": np.mean(left * right)}


@hc.claim(
    "B.45",
    over=geo.family(entry, m=(1, 512), cosine=(0.0, 1.0), u=(0.8, 4.0)),
    title="Tail of an entry, centred at its conditional mean",
    source="Lemma B.45, with C = 4",
    fails_at_most=lambda x: 2 * exp(-x.u),
    needs=["B.49", "B.50"],
)
def entry_tail(x):
    r"""\Pr\Big( |\hat K(x, y) - \rho^2| \ge 4 \Big( \sqrt{\frac um} + \frac{u^2}m \Big) \Big) \le 2 e^{-u},
    \quad \rho = \langle x, y \rangle"""
    return hc.at_most(abs(x.K - x.cosine**2), 4 * (sqrt(x.u / x.m) + x.u**2 / x.m))


def isotropic_entry(rng, m, d, **sizes):
    """K(x, y) for independent isotropic x and y, whose squared inner product is Beta(1/2, (d - 1)/2)."""
    return entry(rng, m, math.sqrt(rng.beta(0.5, (d - 1) / 2)))


@hc.claim(
    "B.46",
    over=geo.family(isotropic_entry, m=(1, 512), d=(4, 256), delta=[0.9, 0.5, 0.1, 0.02]),
    title="Tail of an entry, isotropic keys",
    source="Lemma B.46, with C = sqrt 2, the limit of the needed one",
    given={"m <= d^2/L": lambda x: x.m * log(6 / x.delta) <= x.d**2},
    fails_at_most="delta",
    needs=["B.45", "B.53"],
)
def isotropic_entry_tail(x):
    r"""|\hat K(x, y) - \tfrac1d| \le \sqrt2 \left( \sqrt{\frac Lm} + \frac{L^2}m + \frac{\sqrt L}d \right),
    \quad L = \log(6/\delta), \ m \le d^2/L"""
    L = log(6 / x.delta)
    return hc.at_most(abs(x.K - 1 / x.d), sqrt(2) * (sqrt(L / x.m) + L**2 / x.m + sqrt(L) / x.d))


@hc.claim(
    "B.47",
    over=geo.facts(F=(3, 16), d=(16, 128), m=(64, 600), delta=[0.1, 0.5]),
    title="Energy of a centred column, isotropic keys",
    source="Lemma B.47, with constant 3; c_0 = 1",
    given=column_region,
    fails_at_most="delta",
    needs=["B.44", "B.57", "B.61"],
)
def column_energy(x):
    r"E_K^\circ \le 3 \sigma^2 ((F - 2) + L) \quad (m \le d^2/L, \ L^3 \le \sigma^2 m^2)"
    return hc.at_most(x.E_K_centered, 3 * x.sigma2 * (x.F - 2 + x.L))


@hc.claim(
    "B.47.simple",
    over=geo.facts(F=(10, 48), d=(48, 160), m=(300, 1600), delta=[0.1, 0.5]),
    title="Energy of a centred column, isotropic keys: simple form",
    source="Lemma B.47, last display, with constant 2; c_0 = 1",
    given={**column_region, "F - 2 >= L": lambda x: x.F - 2 >= x.L},
    fails_at_most="delta",
    needs=["B.47"],
)
def column_energy_simple(x):
    r"\sqrt{E_K^\circ} \le 2 \sigma \sqrt{F - 2} \quad (m \le d^2/L, \ L^3 \le \sigma^2 m^2, \ F - 2 \ge L)"
    return hc.at_most(sqrt(x.E_K_centered), 2 * sqrt(x.sigma2 * (x.F - 2)))


@hc.claim(
    "B.48.holder",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="kernel", F=(1, 24), d=(1, 64)),
    title="Effective coupling, deterministic",
    source="Lemma B.48, the inequality of Holder in its proof",
)
def effective_coupling_deterministic(x):
    r"\kappa_{\mathrm{eff}}^\circ \le \max_{p \ne q} | \hat K_{pq} - \mu | \sqrt{L_v}"
    return hc.at_most(x.kappa_eff, off_diagonal_deviation(x) * sqrt(x.L_v))


@hc.claim(
    "B.48",
    over=geo.facts(values=geo.anything, F=(3, 10), d=(12, 48), m=(4, 64), delta=[0.2, 0.5]),
    title="Effective coupling, isotropic keys",
    source="Lemma B.48, with the constant of B.38",
    given=narrow_enough,
    fails_at_most="delta",
    needs=["B.48.holder", "B.38"],
)
def effective_coupling(x):
    r"""\kappa_{\mathrm{eff}}^\circ \le \sqrt2 \left( \sigma \sqrt L + \frac{L^2}m \right) \sqrt{L_v}
    \quad (m \le d^2/L)"""
    return hc.at_most(x.kappa_eff, sqrt(2) * spread(x) * sqrt(x.L_v))


@hc.claim(
    "B.48.typical",
    over=geo.facts(F=(3, 8), d=(16, 128), m=(8, 128), delta=[0.2, 0.5]),
    title="Effective coupling, isotropic keys and values: without the sparsity factor",
    source="Lemma B.48, sharper for typical values, measured",
    given={**narrow_enough, "F L <= d": lambda x: x.F * x.L <= x.d},
    fails_at_most="delta",
    needs=["B.38"],
)
def effective_coupling_of_typical_values(x):
    r"""\kappa_{\mathrm{eff}}^\circ \le 2 \left( \sigma \sqrt L + \frac{L^2}m \right)
    \quad (m \le d^2/L, \ F L \le d)"""
    return hc.at_most(x.kappa_eff, 2 * spread(x))
