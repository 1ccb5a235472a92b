"""Bilinear features sketch the quadratic kernel (Appendix B.2.2, Lemma B.44)."""

import math

import sympy
from scipy import integrate, special

import hebbcheck as hc
from hebbcheck import exp, sqrt
from hebbcheck import geometry as geo

p, q, r = sympy.symbols("p q r")
"""|x|^2, |z|^2, <x, z>."""


def isserlis(i, j, p=p, q=q, r=r):
    """E X^i Z^j for centred Gaussians with Var X = p, Var Z = q, Cov = r (Isserlis, 1918), as a polynomial."""
    if i < 0 or j < 0:
        return sympy.Integer(0)
    if i == 0:
        return sympy.Integer(1) if j == 0 else (j - 1) * q * isserlis(0, j - 2, p, q, r)
    same = (i - 1) * p * isserlis(i - 2, j, p, q, r)
    return same + j * r * isserlis(i - 1, j - 1, p, q, r)


def _mean():
    return [("(E <a,x><a,z>)^2 = <x,z>^2", isserlis(1, 1) ** 2 - r**2)]


def _variance():
    second = isserlis(2, 2) ** 2
    return [
        ("m Var = (pq + r^2)(pq + 3 r^2)", sympy.expand(second - r**4 - (p * q + r**2) * (p * q + 3 * r**2)))
    ]


def _isotropic_moments():
    """With unit vectors, E rho^2 = 1/d and E rho^4 = 3/(d(d+2)); the variance given rho is 1 + 4 rho^2 + 3 rho^4."""
    d, m, rho = sympy.symbols("d m rho", positive=True)
    fourth, second = 3 / (d * (d + 2)), 1 / d
    conditional = sympy.Poly(isserlis(2, 2, 1, 1, rho) ** 2 - rho**4, rho)
    moments = {(0,): 1, (2,): second, (4,): fourth}
    averaged = sum(c * moments[power] for power, c in conditional.terms()) / m + fourth - second**2
    sigma2 = (d**2 + 6 * d + 17) / (d * (d + 2) * m) + 2 * (d - 1) / (d**2 * (d + 2))
    moment = sympy.gamma(d / 2) / sympy.sqrt(sympy.pi) / sympy.gamma((d - 1) / 2)
    beta = [moment * sympy.gamma(k + sympy.Rational(1, 2)) * sympy.gamma((d - 1) / 2) for k in (1, 2)]
    return [
        ("E rho^2 = 1/d", sympy.gammasimp(beta[0] / sympy.gamma(d / 2 + 1)) - second),
        ("E rho^4 = 3/(d(d+2))", sympy.gammasimp(beta[1] / sympy.gamma(d / 2 + 2)) - fourth),
        ("E Var(K | rho) + Var(rho^2) = sigma^2", averaged - sigma2),
    ]


@hc.claim(
    "B.2",
    over=geo.vectors(count=2),
    title="The sketched kernel is unbiased",
    source="Lemma B.2",
    proof=_mean,
)
def unbiased(v):
    r"\mathbb E\, \hat K(x, z) = \langle x, z \rangle^2"
    return hc.equal(hc.mean(v.sketched_kernel(samples=20_000)), (v[0] @ v[1]) ** 2)


@hc.claim(
    "B.2.variance",
    over=geo.vectors(count=2, m=4),
    title="The sketched kernel's variance",
    source="Lemma B.2 (fluctuations), exact form",
    proof=_variance,
    needs=["B.2"],
)
def variance(v):
    r"m\, \mathrm{Var}\, \hat K(x, z) = (|x|^2 |z|^2 + \langle x, z \rangle^2)(|x|^2 |z|^2 + 3 \langle x, z \rangle^2)"
    norms, inner = (v[0] @ v[0]) * (v[1] @ v[1]), (v[0] @ v[1]) ** 2
    deviations = v.sketched_kernel(samples=20_000, m=4) - inner
    return hc.equal(hc.mean(v.m * deviations**2), (norms + inner) * (norms + 3 * inner))


nonzero = {"x and z are not 0": lambda v: (v[0] @ v[0]) * (v[1] @ v[1]) > 0}


def deviation(v):
    """The standard deviation of the kernel of x and z (Lemma B.2)."""
    norms, inner = (v[0] @ v[0]) * (v[1] @ v[1]), (v[0] @ v[1]) ** 2
    return sqrt((norms + inner) * (norms + 3 * inner) / v.m)


@hc.claim(
    "B.2.tail",
    over=geo.vectors(count=2, m=[1, 4, 16], s=(math.e**2, 30.0)),
    title="The sketched kernel's tail",
    source="Text after Lemma B.2, explicit: hypercontractivity of Gaussian polynomials of degree 4",
    given=nonzero,
    needs=["B.2.variance", "B.50"],
)
def tail(v):
    r"""\Pr\left( |\hat K(x, z) - \langle x, z \rangle^2| \ge s\, \mathrm{sd} \right)
    \le e^{-2 - 2 \sqrt s / e} \quad \text{for } s \ge e^2, \quad
    \mathrm{sd}^2 = \tfrac1m (|x|^2 |z|^2 + \langle x, z \rangle^2)(|x|^2 |z|^2 + 3 \langle x, z \rangle^2)"""
    error = abs(v.sketched_kernel(samples=20_000, m=v.m) - (v[0] @ v[1]) ** 2)
    return hc.at_most(hc.mean(error >= v.s * deviation(v)), exp(-2 - 2 * sqrt(v.s) / math.e))


def scale_alone(rng, s):
    return {}


@hc.claim(
    "B.2.tail.law",
    over=geo.family(scale_alone, s=(math.e**2, 3e4)),
    title="The tail where it is heaviest: one feature, x = z",
    source="Text after Lemma B.2: the product of two normals has the density K_0(|u|) / pi",
)
def tail_of_one_feature(x):
    r"""\Pr\left( |a^2 g^2 - 1| \ge s \sqrt8 \right) = \frac2\pi \int_{\sqrt{1 + s \sqrt 8}}^\infty K_0(u)\, du
    \le e^{-2 - 2 \sqrt s / e}"""
    start = math.sqrt(1 + x.s * math.sqrt(8))
    scaled = integrate.quad(lambda u: special.k0e(start + u) * math.exp(-u), 0, 60)[0]
    return hc.at_most(math.log(2 / math.pi * scaled) - start, -2 - 2 * math.sqrt(x.s) / math.e)


@hc.claim(
    "text.sketch_error",
    over=geo.vectors(count=2, d=16, m=[16, 64, 256, 1024]),
    title="The sketching error falls like one over root m",
    source="Text after Lemma B.2",
    given=nonzero,
    needs=["B.2.tail"],
)
def sketching_error(v):
    r"""|\hat K(x, z) - \langle x, z \rangle^2| = \Theta(m^{-1/2}) \quad \text{in root mean square, for fixed } x, z"""
    errors = (v.sketched_kernel(samples=1000, m=v.m) - (v[0] @ v[1]) ** 2) / (deviation(v) * sqrt(v.m))
    return hc.scales_as(sqrt(hc.sum(errors**2) / 1000), 1 / sqrt(v.m))


@hc.claim(
    "B.44.mean",
    over=geo.vectors(count=1, d=(2, 64), m=8),
    title="Mean of an off-diagonal entry, isotropic keys",
    source="Lemma B.44, first item",
    proof=lambda: _isotropic_moments()[:1],
    needs=["B.2"],
)
def isotropic_mean(v):
    r"\mathbb E\, \hat K_{ti} = \frac1d"
    return hc.equal(hc.mean(v.isotropic_kernel(samples=20_000, m=8)), v.mu)


@hc.claim(
    "B.44.variance",
    over=geo.vectors(count=1, d=(2, 64), m=8),
    title="Variance of an off-diagonal entry, isotropic keys",
    source="Lemma B.44, second item, exact form",
    proof=_isotropic_moments,
    needs=["B.2.variance"],
)
def isotropic_variance(v):
    r"\sigma^2 = \frac{d^2 + 6d + 17}{d(d+2)m} + \frac{2(d-1)}{d^2(d+2)}"
    return hc.equal(hc.mean((v.isotropic_kernel(samples=20_000, m=8) - v.mu) ** 2), v.sigma2)


@hc.claim(
    "B.44",
    over=geo.vectors(count=1, d=(1, 10**6), m=(1, 10**6)),
    title="The order of the variance",
    source="Lemma B.44, third item, with the best constants (d = 2, m to infinity; d = 2, m = 1)",
    given={"d >= 2": lambda v: v.d >= 2},
    needs=["B.44.variance"],
)
def order_of_the_variance(v):
    r"""\tfrac12 \left( \tfrac1{d^2} + \tfrac1m \right) \le \sigma^2
    \le \tfrac{17}{5} \left( \tfrac1{d^2} + \tfrac1m \right)"""
    order = 1 / v.d**2 + 1 / v.m
    return [hc.at_least(2 * v.sigma2, order), hc.at_most(5 * v.sigma2, 17 * order)]


@hc.claim(
    "B.19.sigma",
    over=geo.vectors(count=1, d=(1, 10**6), m=(1, 10**6)),
    title="The order of the variance where m is at most d^2",
    source="Theorem B.19, between its displays, with the best constants (m = 1, d to infinity; d = 2, m = 4)",
    given={"d >= 2": lambda v: v.d >= 2, "m <= d^2": lambda v: v.m <= v.d**2},
    needs=["B.44.variance"],
)
def order_of_the_variance_at_small_width(v):
    r"\tfrac1m \le \sigma^2 \le \tfrac{37}{8} \tfrac1m \quad (m \le d^2)"
    return [hc.at_least(v.m * v.sigma2, 1), hc.at_most(8 * v.m * v.sigma2, 37)]


@hc.claim(
    "B.44.printed",
    over=geo.vectors(count=1, d=1, m=(1, 10**6)),
    title="The order of the variance, as printed, in one dimension",
    source="Lemma B.44, third item, without d >= 2",
    needs=["B.44.variance"],
    expect="refuted",
    erratum="For d = 1 every entry has variance 8/m, which is not of the order 1/d^2 + 1/m: the lemma needs d >= 2.",
)
def order_of_the_variance_printed(v):
    r"\sigma^2 = \Theta \left( \tfrac1{d^2} + \tfrac1m \right)"
    return hc.scales_as(v.sigma2, 1 / v.d**2 + 1 / v.m)
