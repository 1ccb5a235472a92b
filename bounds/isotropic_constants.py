"""Isotropic keys and bilinear features: the same bounds with their constants left open, as the paper states them."""

import math

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .isotropic import (
    column_mean,
    columns,
    entries,
    eps_k,
    eps_v,
    isotropic_crosstalk,
    isotropic_penalty,
    narrow,
    region,
    separated,
    spread,
)

isotropic = geo.facts(keys=geo.sphere, values=geo.sphere)
given_values = geo.facts(keys=geo.sphere, values=geo.anything, F=(10, 256))
"""Values that an adversary fixes before keys and features are drawn."""

frames = geo.facts(keys=geo.sphere, values=geo.tight_frame, F=(3, 64))
"""Isotropic keys, and values that are orthonormal for F <= d: they stress the signal most."""

some_energy = {"Y != 0": lambda x: x.E_v_tilde > 0}


@hc.claim(
    "B.19.constants",
    over=given_values,
    title="Cross-talk, isotropic keys, arbitrary values: the constant",
    source="Theorem B.19, equation 36",
    given={**narrow, **some_energy},
    fails_at_most="delta",
    needs=["B.18.effective", "B.48"],
)
def crosstalk_isotropic_keys(x, *, C):
    r"""\tilde z_{\max} \le \frac1d B_Y + C \sqrt{\tilde E_v}
    \left( \sigma \sqrt L + \frac{L^2}{m} \right) \sqrt{L_v}"""
    return hc.at_most(x.z_max, x.B_Y / x.d + C * sqrt(x.E_v_tilde) * entries(x) * sqrt(x.L_v))


@hc.claim(
    "B.19.sharp.constants",
    over=isotropic,
    title="Cross-talk, isotropic keys, without the value sparsity: the constant, on isotropic values",
    source="Theorem B.19 with the factor sqrt(L_v) deleted: Lemma B.56 given the features and one key, whose forms' "
    "means Lemma B.61 bounds; with one constant",
    given=region,
    fails_at_most="delta",
    needs=["B.56", "B.61"],
)
def crosstalk_isotropic_keys_sharp(x, *, C):
    r"""\tilde z_{\max} \le \left( \frac1d + C \sqrt{\frac{L}{dm}} \right) B_Y
    + C \sigma \sqrt L \sqrt{\tilde E_v}"""
    return hc.at_most(x.z_max, column_mean(x, C) * x.B_Y + C * spread(x) * sqrt(x.E_v_tilde))


@hc.claim(
    "B.20.constants",
    over=isotropic,
    title="Cross-talk, isotropic keys and values: the constant",
    source="Theorem B.20, last display, with c_0 = 1 and one constant for both terms",
    given={**columns, "F - 2 >= L": lambda x: x.F - 2 >= x.L},
    fails_at_most="delta",
    needs=["B.18", "B.20"],
)
def crosstalk_isotropic(x, *, C):
    r"\tilde z_{\max} \le C \sqrt L \left( \sqrt{\frac{F}{d^3}} + \sqrt{\frac{F}{md}} \right)"
    return hc.at_most(x.z_max, C * isotropic_crosstalk(x))


@hc.claim(
    "B.23.constants",
    over=given_values,
    title="Signal, isotropic keys, arbitrary values: the constants",
    source="Theorem B.23, first display, with the assumption of Lemma B.38",
    given={**narrow, **separated},
    fails_at_most="delta",
    needs=["B.21", "B.38", "B.39"],
)
def signal_isotropic_keys(x, *, C1, C2):
    r"""\tilde s_{\min} \ge \left( 1 - C_1 \sqrt{\frac Lm} \right) V_{\min}
    - \left( \frac1d + C_2 \left( \sigma \sqrt L + \frac{L^2}{m} \right) \right) V_{\max}"""
    return hc.at_least(x.s_min, (1 - C1 * eps_k(x)) * x.V_min - (1 / x.d + C2 * entries(x)) * x.V_max)


@hc.claim(
    "B.23.simple.constants",
    over=frames,
    title="Signal, isotropic keys, simple form: the constants, on tight frames",
    source="Theorem B.23, second display, with the assumption of Lemma B.38",
    given=region,
    fails_at_most="delta",
    needs=["B.23.constants"],
)
def signal_isotropic_keys_simple(x, *, C1, C3):
    r"""\tilde s_{\min} \ge \left( 1 - C_1 \sqrt{\frac Lm} \right) V_{\min} - C_3 \sigma \sqrt L\, V_{\max}"""
    return hc.at_least(x.s_min, (1 - C1 * eps_k(x)) * x.V_min - C3 * spread(x) * x.V_max)


@hc.claim(
    "B.24.constants",
    over=isotropic,
    title="Signal, isotropic keys and values: the constant",
    source="Theorem B.24, first display, with one constant for all terms",
    given=narrow,
    fails_at_most="delta",
    needs=["B.21", "B.37", "B.38", "B.39"],
)
def signal_isotropic(x, *, C):
    r"""\tilde s_{\min} \ge \left( 1 - C \sqrt{\frac Lm} \right) (1 - \varepsilon_v)
    - \left( \frac1d + C \left( \sigma \sqrt L + \frac{L^2}{m} \right) \right) (1 + \varepsilon_v), \quad
    \varepsilon_v = C \sqrt{\frac{L}{d-1}}"""
    eps = C * eps_v(x)
    return hc.at_least(x.s_min, (1 - C * eps_k(x)) * (1 - eps) - (1 / x.d + C * entries(x)) * (1 + eps))


@hc.claim(
    "B.29.constants",
    over=isotropic,
    title="Margin, isotropic keys: the constants, on isotropic values",
    source="Theorem B.29, equation 51",
    given={**region, "F - 2 >= L": lambda x: x.F - 2 >= x.L},
    fails_at_most="delta",
    needs=["B.19.constants", "B.23.simple.constants", "B.11.range", "B.14.range"],
)
def margin_isotropic_keys(x, *, C1, C2):
    r"""\gamma_{\min} \ge \left( 1 - C_1 \sqrt{\frac Lm} \right) V_{\min}
    - C_2 \left( B_Y + \sqrt{E_v} \sqrt{L_v} \right) \sigma \sqrt L"""
    penalty = C2 * (x.B_Y + sqrt(x.E_v) * sqrt(x.L_v)) * spread(x)
    return hc.at_least(x.gamma_min, (1 - C1 * eps_k(x)) * x.V_min - penalty)


@hc.claim(
    "B.30.constants",
    over=isotropic,
    title="Margin, isotropic keys and values: the constant",
    source="Theorem B.30, equation 56, with one constant for all terms",
    given={**region, "F >= 2L": lambda x: x.F >= 2 * x.L},
    fails_at_most="delta",
    needs=["B.20.constants", "B.24.constants"],
)
def margin_isotropic(x, *, C):
    r"""\gamma_{\min} \ge 1 - C \left( \sqrt{\frac Lm} + \sqrt{\frac{L}{d-1}}
    + \sqrt L \sqrt{\frac{F}{d^3}} + \sqrt L \sqrt{\frac{F}{md}} \right)"""
    return hc.at_least(x.gamma_min, 1 - C * isotropic_penalty(x))


@hc.claim(
    "B.30.wide",
    over=isotropic,
    title="Margin, isotropic keys and values, at any large width: the constant",
    source="Theorem B.30 without m <= d^2/L, which its form does not need",
    given={"m >= L^3": lambda x: x.m >= x.L**3, "F >= 2L": lambda x: x.F >= 2 * x.L},
    fails_at_most="delta",
)
def margin_isotropic_wide(x, *, C):
    r"""\gamma_{\min} \ge 1 - C \left( \sqrt{\frac Lm} + \sqrt{\frac{L}{d-1}}
    + \sqrt L \sqrt{\frac{F}{d^3}} + \sqrt L \sqrt{\frac{F}{md}} \right)"""
    return hc.at_least(x.gamma_min, 1 - C * isotropic_penalty(x))


def least_width(F, delta, c0=1):
    """The least m with m >= L^3 / c_0."""
    return math.ceil(log(2 * F**2 / delta) ** 3 / c0)


def wide_enough_for_the_columns(rng, F, d, delta, c0):
    return {"m": least_width(F, delta, c0)}


def wide_enough_for_the_theorem(rng, F, d, delta, c0):
    return {"m": least_width(F, delta)}


def column_condition(x):
    """L^3 <= c_0 sigma^2 m^2, the assumption of Theorem B.20 and Lemma B.47; its right side grows with m."""
    return hc.at_most(x.L**3, x.c0 * x.sigma2 * x.m**2)


@hc.claim(
    "B.30.condition",
    over=geo.family(
        wide_enough_for_the_columns, F=(2, 10**6), d=(2, 10**9), delta=(1e-6, 0.9), c0=(0.01, 1.0)
    ),
    title="Wide sketches meet the assumption on column energies",
    source="Proof of Theorem B.30, corrected: the width that the c_0 of Theorem B.20 asks for",
    needs=["B.19.sigma"],
)
def wide_sketches(x):
    r"m = \left\lceil \frac{L^3}{c_0} \right\rceil \ \Rightarrow\ L^3 \le c_0 \sigma^2 m^2"
    return column_condition(x)


@hc.claim(
    "B.30.condition.printed",
    over=geo.family(
        wide_enough_for_the_theorem, F=(2, 10**6), d=(2, 10**9), delta=(1e-6, 0.9), c0=(0.01, 0.5)
    ),
    title="Wide sketches meet the assumption on column energies, as printed",
    source="Proof of Theorem B.30, which invokes Theorem B.20 and through it Lemma B.47, for c_0 sufficiently small",
    given=narrow,
    expect="refuted",
    erratum="The theorem assumes m >= L^3, and Theorem B.20, which its proof uses, L^3 <= c_0 sigma^2 m^2 for a small "
    "c_0: at m = L^3 that holds for c_0 near 1 only. The assumption should be m >= C L^3.",
    needs=["B.30.condition"],
)
def wide_sketches_printed(x):
    r"""m = \left\lceil L^3 \right\rceil \le \frac{d^2}{L}, \ c_0 \le \tfrac12
    \ \Rightarrow\ L^3 \le c_0 \sigma^2 m^2"""
    return column_condition(x)
