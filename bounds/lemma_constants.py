"""The lemmas on isotropic keys and values with their constants left open, as the paper states them."""

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .entries import column_region, narrow_enough, off_diagonal_deviation, spread
from .sphere import coherence

isotropic = geo.facts(keys=geo.sphere, values=geo.sphere)
values_only = geo.facts(values=geo.sphere, memory="quadratic")
"""The keys do not matter."""


@hc.claim(
    "B.37.constants",
    over=values_only,
    title="Coherence of isotropic values: the constant",
    source="Lemma B.37, with L = log(F^2/delta) (C0 = 1), stronger than printed",
    fails_at_most="delta",
    needs=["B.36.tail"],
)
def coherence_of_values(x, *, C):
    r"\max_{i \ne j} |\langle v_i, v_j \rangle| \le C \sqrt{\frac{\log(F^2/\delta)}{d}}"
    return hc.at_most(coherence(x), C * sqrt(log(x.F**2 / x.delta) / x.d))


@hc.claim(
    "B.38.constants",
    over=isotropic,
    title="Off-diagonal entries, isotropic keys: the constant",
    source="Lemma B.38, with one constant for both terms",
    given=narrow_enough,
    fails_at_most="delta",
    needs=["B.44", "B.46"],
)
def off_diagonal(x, *, C):
    r"""\max_{i \ne j} | \hat K_{ij} - \tfrac1d | \le C \left( \sigma \sqrt L + \frac{L^2}m \right)
    \quad (m \le d^2/L)"""
    return hc.at_most(off_diagonal_deviation(x), C * spread(x))


@hc.claim(
    "B.39.constants",
    over=isotropic,
    title="Uniform lower bound on the diagonal: the constant",
    source="Lemma B.39, equation 63, with L = log(F/delta) (C0 = 1), stronger than printed",
    fails_at_most="delta",
    needs=["B.39"],
)
def uniform_diagonal(x, *, C):
    r"K_{\min}^{\mathrm{diag}} \ge 1 - C \sqrt{\frac{\log(F/\delta)}m}"
    return hc.at_least(x.K_diag_min, 1 - C * sqrt(log(x.F / x.delta) / x.m), trivial=0)


@hc.claim(
    "B.40.constants",
    over=values_only,
    title="Mean alignment with a competitor, isotropic values: the constant",
    source="Lemma B.40",
    fails_at_most="delta",
    needs=["B.36.moments"],
)
def mean_alignment(x, *, C):
    r"B_Y \le C \sqrt{\frac{F \log(F^2/\delta)}{d}}"
    return hc.at_most(x.B_Y, C * sqrt(x.F * log(x.F**2 / x.delta) / x.d))


@hc.claim(
    "B.41.constants",
    over=values_only,
    title="Energy of value differences, isotropic values: the constant",
    source="Lemma B.41",
    fails_at_most="delta",
    needs=["B.36.moments"],
)
def value_energy(x, *, C):
    r"\tilde E_v \le C\, \frac{(F-2) + \log(F^2/\delta)}{d-1}"
    return hc.at_most(x.E_v_tilde, C * (x.F - 2 + log(x.F**2 / x.delta)) / (x.d - 1))


def fluctuation(x):
    """sqrt(log(F^2 / delta) / (F - 2)), the order of a coupling with isotropic values."""
    return sqrt(log(x.F**2 / x.delta) / (x.F - 2))


@hc.claim(
    "B.42.constants",
    over=isotropic,
    title="Coupling of a kernel with isotropic values: the constant",
    source="Lemma B.42, on bilinear kernels of isotropic keys",
    fails_at_most="delta",
    needs=["B.36.tail", "B.53"],
)
def coupling(x, *, C):
    r"\tilde\kappa \le C \sqrt{\frac{\log(F^2/\delta)}{F-2}}"
    return hc.at_most(x.kappa_tilde, C * fluctuation(x))


@hc.claim(
    "B.43.constants",
    over=isotropic,
    title="Coupling of a centred kernel with isotropic values: the constant",
    source="Lemma B.43",
    fails_at_most="delta",
    needs=["B.42.constants"],
)
def centred_coupling(x, *, C):
    r"\kappa^\circ \le C \sqrt{\frac{\log(F^2/\delta)}{F-2}}"
    return hc.at_most(x.kappa_centered, C * fluctuation(x))


@hc.claim(
    "B.47.constants",
    over=isotropic,
    title="Energy of a centred column, isotropic keys: the constant",
    source="Lemma B.47, with c_0 = 1",
    given=column_region,
    fails_at_most="delta",
    needs=["B.44", "B.57", "B.61"],
)
def column_energy(x, *, C):
    r"E_K^\circ \le C \sigma^2 ((F - 2) + L) \quad (m \le d^2/L, \ L^3 \le \sigma^2 m^2)"
    return hc.at_most(x.E_K_centered, C * x.sigma2 * (x.F - 2 + x.L))


@hc.claim(
    "B.48.constants",
    over=geo.facts(keys=geo.sphere, values=geo.anything, F=(10, 256)),
    title="Effective coupling, isotropic keys: the constant",
    source="Lemma B.48",
    given=narrow_enough,
    fails_at_most="delta",
    needs=["B.48.holder", "B.38.constants"],
)
def effective_coupling(x, *, C):
    r"""\kappa_{\mathrm{eff}}^\circ \le C \left( \sigma \sqrt L + \frac{L^2}m \right) \sqrt{L_v}
    \quad (m \le d^2/L)"""
    return hc.at_most(x.kappa_eff, C * spread(x) * sqrt(x.L_v))
