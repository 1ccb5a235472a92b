"""Isotropic keys and bilinear features: cross-talk, signal and margin, inside the region where they are stated.

Constants that the paper leaves open are the smallest round numbers above what draws inside the region need.
"""

import numpy as np
from scipy import stats

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

inside = geo.facts(
    keys=geo.sphere, values=geo.sphere, F=(10, 1024), d=(36, 512), m=(216, 8192), delta=[0.5, 0.2]
)
"""Isotropic keys and values, of sizes among which the region begins."""

given_values = geo.facts(
    keys=geo.sphere, values=geo.anything, F=(10, 64), d=(36, 512), m=(216, 4096), delta=0.5
)
"""Values that an adversary fixes before keys and features are drawn."""

narrow = {"m <= d^2/L": lambda x: x.m <= x.d**2 / x.L}
columns = {"m <= d^2/L, L^3 <= sigma^2 m^2": lambda x: x.m <= x.d**2 / x.L and x.L**3 <= x.sigma2 * x.m**2}
region = {"L^3 <= m <= d^2/L": lambda x: x.L**3 <= x.m <= x.d**2 / x.L}
nonzero_values = {"F >= 3, Y != 0": lambda x: x.F >= 3 and x.E_v_tilde > 0}
separated = {"V_ij >= 0": lambda x: x.V_min >= 0}


def spread(x):
    """sigma sqrt L, the size of the largest fluctuation of the kernel."""
    return sqrt(x.sigma2 * x.L)


def entries(x):
    """sigma sqrt L + L^2 / m, the same where m may be below L^3."""
    return spread(x) + x.L**2 / x.m


def column_mean(x, C=1):
    """1/d + C sqrt(L / (d m)), the size of the largest mean of a column's entries, given its key and the features."""
    return 1 / x.d + C * sqrt(x.L / (x.d * x.m))


def eps_k(x):
    return sqrt(x.L / x.m)


def eps_v(x):
    return sqrt(x.L / (x.d - 1))


@hc.claim(
    "B.19",
    over=geo.facts(keys=geo.sphere, values=geo.anything, F=(3, 64), d=(8, 256), m=(8, 1024), delta=0.5),
    title="Cross-talk, isotropic keys, arbitrary values",
    source="Theorem B.19, equation 36, with C = 1",
    given={**narrow, **nonzero_values},
    fails_at_most="delta",
    needs=["B.18.effective", "B.48"],
)
def crosstalk_isotropic_keys(x):
    r"""\tilde z_{\max} \le \frac1d B_Y + \sqrt{\tilde E_v}
    \left( \sigma \sqrt L + \frac{L^2}{m} \right) \sqrt{L_v}"""
    return hc.at_most(x.z_max, x.B_Y / x.d + sqrt(x.E_v_tilde) * entries(x) * sqrt(x.L_v))


@hc.claim(
    "B.19.simple",
    over=geo.facts(keys=geo.sphere, values=geo.anything, F=[3, 4, 8], d=(16, 256), m=(64, 1024), delta=0.2),
    title="Cross-talk, isotropic keys, arbitrary values: without sigma",
    source="Theorem B.19, second display, with C = 3/4",
    given={**narrow, **nonzero_values},
    fails_at_most="delta",
    needs=["B.19", "B.19.sigma"],
)
def crosstalk_isotropic_keys_simple(x):
    r"""\tilde z_{\max} \le \frac1d B_Y + \frac34 \sqrt{\tilde E_v}
    \left( \sqrt{\frac Lm} + \frac{L^2}{m} \right) \sqrt{L_v}"""
    spread_of_entries = eps_k(x) + x.L**2 / x.m
    return hc.at_most(x.z_max, x.B_Y / x.d + 0.75 * sqrt(x.E_v_tilde) * spread_of_entries * sqrt(x.L_v))


@hc.claim(
    "B.19.sharp",
    over=geo.facts(
        keys=geo.sphere, values=geo.anything, F=(3, 128), d=(16, 512), m=(32, 4096), delta=[0.5, 0.2]
    ),
    title="Cross-talk, isotropic keys, arbitrary values, without the value sparsity",
    source="Theorem B.19 with the factor sqrt(L_v) deleted: Lemma B.56 given the features and one key, whose forms' "
    "means Lemma B.61 bounds (the term in sqrt(L/(dm)), which constant values need); with constants 1 "
    "and 5/4 (antipodal values need 1.1)",
    given={**region, "F >= 3": lambda x: x.F >= 3},
    fails_at_most="delta",
    needs=["B.56", "B.61"],
)
def crosstalk_isotropic_keys_sharp(x):
    r"\tilde z_{\max} \le \left( \frac1d + \sqrt{\frac{L}{dm}} \right) B_Y + \tfrac54 \sigma \sqrt L \sqrt{\tilde E_v}"
    return hc.at_most(x.z_max, column_mean(x) * x.B_Y + 1.25 * spread(x) * sqrt(x.E_v_tilde))


@hc.claim(
    "B.20",
    over=inside,
    title="Statistics of the cross-talk, isotropic keys and values",
    source="Theorem B.20, first four displays, with c_0 = 1 and explicit constants",
    given={**columns, "F >= 3": lambda x: x.F >= 3},
    fails_at_most="delta",
    needs=["B.40", "B.41", "B.43", "B.47"],
)
def crosstalk_statistics_isotropic(x):
    r"""B_Y \le 2 \sqrt{\frac{FL}{d}}, \quad \tilde E_v \le 4 \frac{(F-2)+L}{d-1}, \quad
    \sqrt{E_K^\circ} \le \frac32 \sigma \sqrt{(F-2)+L}, \quad \kappa^\circ \le \frac32 \sqrt{\frac{L}{F-2}}"""
    return [
        hc.at_most(x.B_Y, 2 * sqrt(x.F * x.L / x.d)),
        hc.at_most(x.E_v_tilde, 4 * (x.F - 2 + x.L) / (x.d - 1)),
        hc.at_most(sqrt(x.E_K_centered), 1.5 * sqrt(x.sigma2 * (x.F - 2 + x.L))),
        hc.at_most(x.kappa_centered, 1.5 * sqrt(x.L / (x.F - 2)), trivial=1),
    ]


@hc.claim(
    "B.20.simple",
    over=inside,
    title="Cross-talk, isotropic keys and values",
    source="Theorem B.20, last display, with c_0 = 1 and an explicit constant",
    given={**columns, "F - 2 >= L": lambda x: x.F - 2 >= x.L},
    fails_at_most="delta",
    needs=["B.18", "B.20", "B.19.sigma"],
)
def crosstalk_isotropic(x):
    r"\tilde z_{\max} \le 2 \sqrt L \left( \sqrt{\frac{F}{d^3}} + \sqrt{\frac{F}{md}} \right)"
    return hc.at_most(x.z_max, 2 * isotropic_crosstalk(x))


def isotropic_crosstalk(x):
    """sqrt L (sqrt(F / d^3) + sqrt(F / (m d)))."""
    return sqrt(x.L) * (sqrt(x.F / x.d**3) + sqrt(x.F / (x.m * x.d)))


@hc.claim(
    "B.23",
    over=given_values,
    title="Signal, isotropic keys, arbitrary values",
    source="Theorem B.23, first display, with the assumption of Lemma B.38 and explicit constants",
    given={**narrow, **separated},
    fails_at_most="delta",
    needs=["B.21", "B.38", "B.39"],
)
def signal_isotropic_keys(x):
    r"""\tilde s_{\min} \ge \left( 1 - 3 \sqrt{\frac Lm} \right) V_{\min}
    - \left( \frac1d + \frac54 \left( \sigma \sqrt L + \frac{L^2}{m} \right) \right) V_{\max}"""
    return hc.at_least(x.s_min, (1 - 3 * eps_k(x)) * x.V_min - (1 / x.d + 1.25 * entries(x)) * x.V_max)


def simplified_signal(x):
    return hc.at_least(x.s_min, (1 - 3 * eps_k(x)) * x.V_min - 2 * spread(x) * x.V_max)


@hc.claim(
    "B.23.simple",
    over=given_values,
    title="Signal, isotropic keys, arbitrary values: simple form",
    source="Theorem B.23, second display, with the assumption of Lemma B.38 and explicit constants",
    given={**region, **separated},
    fails_at_most="delta",
    needs=["B.23", "B.19.sigma"],
)
def signal_isotropic_keys_simple(x):
    r"""\tilde s_{\min} \ge \left( 1 - 3 \sqrt{\frac Lm} \right) V_{\min} - 2 \sigma \sqrt L\, V_{\max}"""
    return simplified_signal(x)


@hc.claim(
    "B.24",
    over=inside,
    title="Signal, isotropic keys and values",
    source="Theorem B.24, first display, with the common constant 1.1",
    given=narrow,
    fails_at_most="delta",
    needs=["B.21", "B.37", "B.38", "B.39"],
)
def signal_isotropic(x):
    r"""\tilde s_{\min} \ge \left( 1 - C \sqrt{\frac Lm} \right) (1 - \varepsilon_v)
    - \left( \frac1d + C \left( \sigma \sqrt L + \frac{L^2}{m} \right) \right) (1 + \varepsilon_v), \quad
    \varepsilon_v = C \sqrt{\frac{L}{d-1}}, \ C = \tfrac{11}{10}"""
    eps = 1.1 * eps_v(x)
    return hc.at_least(x.s_min, (1 - 1.1 * eps_k(x)) * (1 - eps) - (1 / x.d + 1.1 * entries(x)) * (1 + eps))


@hc.claim(
    "B.24.simple",
    over=inside,
    title="Signal, isotropic keys and values: simple form",
    source="Theorem B.24, second display, with the common constant 1.1",
    given=region,
    fails_at_most="delta",
    needs=["B.24", "B.19.sigma"],
)
def signal_isotropic_simple(x):
    r"""\tilde s_{\min} \ge \left( 1 - C \sqrt{\frac Lm} \right) (1 - \varepsilon_v)
    - C \sigma \sqrt L\, (1 + \varepsilon_v), \quad \varepsilon_v = C \sqrt{\frac{L}{d-1}}, \ C = \tfrac{11}{10}"""
    eps = 1.1 * eps_v(x)
    return hc.at_least(x.s_min, (1 - 1.1 * eps_k(x)) * (1 - eps) - 1.1 * spread(x) * (1 + eps))


@hc.claim(
    "B.29",
    over=given_values,
    title="Margin, isotropic keys, arbitrary values",
    source="Theorem B.29, equation 51, with explicit constants",
    given={**region, **separated, "F - 2 >= L": lambda x: x.F - 2 >= x.L},
    fails_at_most="delta",
    needs=["B.19", "B.23", "B.11.range", "B.14.range"],
)
def margin_isotropic_keys(x):
    r"""\gamma_{\min} \ge \left( 1 - 3 \sqrt{\frac Lm} \right) V_{\min}
    - \frac54 \left( B_Y + \sqrt{E_v} \sqrt{L_v} \right) \sigma \sqrt L"""
    penalty = 1.25 * (x.B_Y + sqrt(x.E_v) * sqrt(x.L_v)) * spread(x)
    return hc.at_least(x.gamma_min, (1 - 3 * eps_k(x)) * x.V_min - penalty)


@hc.claim(
    "B.29.sharp",
    over=given_values,
    title="Margin, isotropic keys, arbitrary values, without the value sparsity",
    source="Theorem B.29 with the factor sqrt(L_v) and the assumption F - 2 >= L deleted, and "
    "1/d + sqrt(L/(dm)) in place of sigma sqrt(L) before B_Y",
    given={**region, **separated},
    fails_at_most="delta",
    needs=["B.19.sharp", "B.23", "B.11.range"],
)
def margin_isotropic_keys_sharp(x):
    r"""\gamma_{\min} \ge \left( 1 - 3 \sqrt{\frac Lm} \right) V_{\min}
    - \left( \frac1d + \sqrt{\frac{L}{dm}} \right) B_Y - \frac54 \sqrt{E_v}\, \sigma \sqrt L"""
    penalty = column_mean(x) * x.B_Y + 1.25 * sqrt(x.E_v) * spread(x)
    return hc.at_least(x.gamma_min, (1 - 3 * eps_k(x)) * x.V_min - penalty)


@hc.claim(
    "B.30",
    over=inside,
    title="Margin, isotropic keys and values",
    source="Theorem B.30, equation 56, with the common constant 5/4",
    given={**region, "F >= 2L": lambda x: x.F >= 2 * x.L},
    fails_at_most="delta",
    needs=["B.20.simple", "B.24.simple", "B.30.condition"],
)
def margin_isotropic(x):
    r"""\gamma_{\min} \ge 1 - \frac54 \left( \sqrt{\frac Lm} + \sqrt{\frac{L}{d-1}}
    + \sqrt L \sqrt{\frac{F}{d^3}} + \sqrt L \sqrt{\frac{F}{md}} \right)"""
    return hc.at_least(x.gamma_min, 1 - 1.25 * isotropic_penalty(x))


def isotropic_penalty(x):
    """The four terms of equation 56, with their constants 1."""
    return eps_k(x) + eps_v(x) + isotropic_crosstalk(x)


@hc.claim(
    "B.23.printed",
    over=geo.facts(
        keys=geo.sphere,
        values=geo.tight_frame,
        memory="quadratic",
        F=[64, 128],
        d=[64, 128],
        m=2**20,
        delta=0.5,
    ),
    title="Signal, isotropic keys, arbitrary values, at any width",
    source="Theorem B.23, second display, as printed; the exact quadratic kernel is the limit of infinite width",
    given={"m >= L^3": lambda x: x.m >= x.L**3, "F <= d": lambda x: x.F <= x.d},
    fails_at_most="delta",
    expect="refuted",
    erratum="The assumption m <= d^2/L of Lemma B.38, which the proof uses, is missing: beyond it the constant that "
    "is needed grows like the square root of log F.",
    needs=["B.23.growth"],
)
def signal_isotropic_keys_printed(x):
    r"""\tilde s_{\min} \ge \left( 1 - 3 \sqrt{\frac Lm} \right) V_{\min} - 2 \sigma \sqrt L\, V_{\max}"""
    return simplified_signal(x)


def needed_at_infinite_width(rng, n, delta):
    """A lower bound on the constant that the median draw needs with F = d = 2^n orthonormal values, m = infinity.

    s_min <= 1 - max_j rho_1j^2, and given k_1 the F - 1 squares are independent Beta(1/2, (d - 1)/2).
    """
    F = d = 2**n
    tail = -np.expm1(np.log1p(-delta) / (F - 1))
    square = stats.beta.isf(tail, 0.5, (d - 1) / 2)
    variance = 2 * (d - 1) / (d**2 * (d + 2))
    return {"needed": square / np.sqrt(variance * np.log(2 * F**2 / delta)), "F": float(F)}


@hc.claim(
    "B.23.growth",
    over=geo.family(needed_at_infinite_width, n=[6, 9, 12, 16, 20, 25, 30, 36], delta=0.5),
    title="At unlimited width no constant suffices",
    source="Theorem B.23 without m <= d^2/L, by the exact law of one column",
)
def needed_constant_grows(x):
    r"C_3(F) = \Theta\left( \sqrt{\log F} \right), \quad d = F, \ m = \infty, \ v_i = e_i"
    return hc.scales_as(x.needed, sqrt(log(x.F)))


@hc.claim(
    "B.23.unlimited",
    over=geo.family(needed_at_infinite_width, n=[6, 9, 12, 16, 20, 25, 30, 36], delta=0.5),
    title="One constant for all widths",
    source="Theorem B.23 as printed, for absolute constants, by the exact law of one column",
    expect="refuted",
    erratum="Without m <= d^2/L the constant that orthonormal values need grows like the square root of log F.",
    needs=["B.23.growth"],
)
def needed_constant_is_bounded(x):
    r"C_3(F) = \Theta(1), \quad d = F, \ m = \infty, \ v_i = e_i"
    return hc.scales_as(x.needed, 1)
