"""Isotropic values (Appendix B.9.1 and B.9.3): inner products with a uniform unit vector and what they imply."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import sympy
from scipy import special

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .laws import LEVELS, nothing, tail_at_most

DIMENSIONS = [2, 3, 4, 5, 8, 16, 64, 256, 4096, 2**20]


def moment(k, d):
    """E <w, v>^2k for a unit vector w and v uniform on the sphere of R^d, exactly."""
    return math.prod(Fraction(2 * i + 1, d + 2 * i) for i in range(k))


def square_mgf(slope, d, terms=400):
    """E exp(slope <w, v>^2) by its power series, whose terms are positive."""
    k = np.arange(terms)
    return 1 + float(np.cumprod(slope * (k + 0.5) / ((k + d / 2) * (k + 1))).sum())


@cache
def _half_circle(d, nodes=200):
    """Nodes of <w, v>^2 and weights that integrate its law, split where it passes its mean 1/d."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    mean, end = math.asin(1 / math.sqrt(d)), min(math.pi / 2, 40 / math.sqrt(d))
    angles, masses = [], []
    for low, high in ((0, mean), (mean, end)):
        angles.append(low + (high - low) * (points + 1) / 2)
        masses.append(weights * (high - low) * np.cos(angles[-1]) ** (d - 2))
    angles, masses = np.concatenate(angles), np.concatenate(masses)
    return np.sin(angles) ** 2, masses / masses.sum()


def centred_square_mgf(slope, d):
    """E exp(slope |<w, v>^2 - 1/d|) by Gauss quadrature."""
    squares, masses = _half_circle(d)
    return float(masses @ np.exp(slope * np.abs(squares - 1 / d)))


def cap(t, d):
    """P(|<w, v>| >= t) for a unit vector w: <w, v>^2 is Beta(1/2, (d - 1)/2)."""
    return special.betaincc(0.5, (d - 1) / 2, np.minimum(np.square(t), 1))


@hc.claim(
    "B.36",
    over=geo.family(nothing, d=DIMENSIONS),
    title="Inner product with an isotropic vector: Orlicz norms",
    source="Lemma B.36, with the best constants, at unit w",
    given={"d >= 2": lambda x: x.d >= 2},
)
def isotropic_inner_product(x):
    r"""\| \langle w, v \rangle \|_{\psi_2} \le \sqrt{\tfrac83}\, \frac{\|w\|_2}{\sqrt d}, \quad
    \| \langle w, v \rangle^2 - \mathbb E \langle w, v \rangle^2 \|_{\psi_1} \le 2.4174\, \frac{\|w\|_2^2}{d}"""
    return [
        hc.at_most(square_mgf(3 * x.d / 8, x.d), 2),
        hc.at_most(centred_square_mgf(x.d / 2.4174, x.d), 2),
    ]


def _sphere_moments():
    """From the Beta law of <w, v>^2: the moments, and those of N(0, 1/d) divided by factors 1 + 2 i / d."""
    d, steps = sympy.Symbol("d", positive=True), []
    for k in range(1, 7):
        beta = sympy.gamma(k + sympy.Rational(1, 2)) * sympy.gamma(d / 2)
        beta /= sympy.sqrt(sympy.pi) * sympy.gamma(d / 2 + k)
        gaussian = sympy.factorial2(2 * k - 1) / d**k
        factors = sympy.Mul(*[1 + 2 * sympy.Integer(i) / d for i in range(k)])
        steps.append((f"E <w, v>^{2 * k}", sympy.gammasimp(beta - gaussian / factors)))
    return steps


@hc.claim(
    "B.36.moments",
    over=geo.family(nothing, d=[1, *DIMENSIONS], k=(1, 40)),
    title="Moments of an isotropic inner product are below those of N(0, 1/d)",
    source="Lemma B.36, sharper: the variance proxy is exactly 1/d, so that E exp(l <w, v>) <= exp(l^2 / 2d)",
    proof=_sphere_moments,
)
def moments_below_gaussian(x):
    r"\mathbb E \langle w, v \rangle^{2k} \le \frac{(2k-1)!!}{d^k} \quad (\|w\|_2 = 1)"
    odd = math.prod(range(1, 2 * x.k, 2))
    return hc.at_most(moment(x.k, x.d) * x.d**x.k / odd, 1)


@hc.claim(
    "B.36.tail",
    over=geo.family(nothing, d=DIMENSIONS),
    title="The cap bound",
    source="Lemma B.36 as the proofs use it, with the exponent that the variance proxy 1/d gives",
    given={"d >= 2": lambda x: x.d >= 2},
    needs=["B.36.moments"],
)
def cap_bound(x):
    r"\Pr( |\langle w, v \rangle| \ge t \|w\|_2 ) \le e^{-d t^2 / 2} \quad (t \ge 0)"
    t = np.minimum(np.sqrt(2 * LEVELS / x.d), 1.0)
    return tail_at_most(cap(t, x.d), np.exp(-x.d * t**2 / 2))


def coherence(x):
    """max |<v_i, v_j>| over i != j."""
    return hc.max(1 - x.V_min, x.V_max - 1)


values_only = geo.facts(
    values=geo.sphere, memory="quadratic", F=(3, 48), d=(2, 128), m=1, delta=[0.2, 0.5, 0.75]
)
"""Isotropic values; the keys do not matter."""


@hc.claim(
    "B.37",
    over=values_only,
    title="Coherence of isotropic values",
    source="Lemma B.37, with the constant that the cap bound proves",
    fails_at_most="delta",
    needs=["B.36.tail"],
)
def coherence_of_values(x):
    r"\max_{i \ne j} |\langle v_i, v_j \rangle| \le \sqrt2 \sqrt{\frac{\log(F^2/\delta)}{d}}"
    return hc.at_most(coherence(x), sqrt(2 * log(x.F**2 / x.delta) / x.d), trivial=1)


@hc.claim(
    "B.37.law",
    over=geo.family(nothing, d=DIMENSIONS, F=[2, 3, 10, 100, 10**4, 10**6], delta=[1e-8, 0.02, 0.5, 0.99]),
    title="Coherence of isotropic values: the union bound from the Beta law",
    source="Lemma B.37, by the exact law of one inner product",
    needs=["B.36.tail"],
)
def coherence_by_union_bound(x):
    r"""\binom F2 \Pr\Big( |\langle v_1, v_2 \rangle| > \sqrt2 \sqrt{\tfrac{\log(F^2/\delta)}{d}} \Big)
    \le \frac\delta2"""
    t = math.sqrt(2 * math.log(x.F**2 / x.delta) / x.d)
    return tail_at_most(math.comb(x.F, 2) * cap(t, x.d), x.delta / 2)


@hc.claim(
    "B.40",
    over=values_only,
    title="Mean alignment with a competitor, isotropic values",
    source="Lemma B.40, with the constant that the variance proxy proves",
    fails_at_most="delta",
    needs=["B.36.moments"],
)
def mean_alignment(x):
    r"B_Y \le 2\sqrt2 \sqrt{\frac{F \log(F^2/\delta)}{d}}"
    return hc.at_most(x.B_Y, sqrt(8 * x.F * log(x.F**2 / x.delta) / x.d))


@hc.claim(
    "B.41",
    over=values_only,
    title="Energy of value differences, isotropic values",
    source="Lemma B.41, with a constant that is proved",
    given={"d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.41.sharp"],
)
def value_energy(x):
    r"\tilde E_v \le 12\, \frac{(F-2) + \log(F^2/\delta)}{d-1}"
    return hc.at_most(x.E_v_tilde, 12 * (x.F - 2 + log(x.F**2 / x.delta)) / (x.d - 1))


@hc.claim(
    "B.41.sharp",
    over=values_only,
    title="Energy of value differences, isotropic values, by chi-square domination",
    source="Lemma B.41, sharper: each term is dominated by (4/d) times a squared Gaussian",
    fails_at_most="delta",
    needs=["B.36.moments", "B.53"],
)
def value_energy_sharp(x):
    r"\tilde E_v \le \frac4d \left( n + 2 \sqrt{n \ell} + 2 \ell \right), \quad n = F - 2, \ \ell = \log(F^2/\delta)"
    n, level = x.F - 2, log(x.F**2 / x.delta)
    return hc.at_most(x.E_v_tilde, 4 / x.d * (n + 2 * sqrt(n * level) + 2 * level))


def coupling_bound(x):
    """(sqrt 6 + sqrt 14)/2 sqrt(log(3 F^2 / 2 delta) / (F - 2)): numerator by B.36, denominator from below by B.53."""
    return (sqrt(6) + sqrt(14)) / 2 * sqrt(log(1.5 * x.F**2 / x.delta) / (x.F - 2))


many = {"F": (128, 144), "d": (2, 64), "m": (2, 32), "delta": 0.5}
"""As many facts as it takes for the bound on the coupling to say something."""


@hc.claim(
    "B.42",
    over=geo.facts(keys=geo.anything, values=geo.sphere, memory="kernel", **many),
    title="Coupling of an arbitrary kernel with isotropic values",
    source="Lemma B.42, with a constant that is proved",
    given={"F >= 3": lambda x: x.F >= 3},
    fails_at_most="delta",
    needs=["B.36.tail", "B.53"],
)
def coupling(x):
    r"\tilde\kappa \le \tfrac{\sqrt6 + \sqrt{14}}2 \sqrt{\frac{\log(1.5 F^2/\delta)}{F-2}}"
    return hc.at_most(x.kappa_tilde, coupling_bound(x), trivial=1)


@hc.claim(
    "B.43",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, **many),
    title="Coupling of a centred kernel with isotropic values",
    source="Lemma B.43, with a constant that is proved",
    given={"F >= 3": lambda x: x.F >= 3},
    fails_at_most="delta",
    needs=["B.42"],
)
def centred_coupling(x):
    r"\kappa^\circ \le \tfrac{\sqrt6 + \sqrt{14}}2 \sqrt{\frac{\log(1.5 F^2/\delta)}{F-2}}"
    return hc.at_most(x.kappa_centered, coupling_bound(x), trivial=1)
