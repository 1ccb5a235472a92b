"""Signal bounds (Appendix B.7)."""

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .crosstalk import kernel_first


@hc.claim(
    "B.21",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="kernel"),
    title="Signal, arbitrary keys and values",
    source="Theorem B.21",
    given={"V_ij >= 0": lambda x: x.V_min >= 0},
)
def signal(x):
    r"\tilde s_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - K_{\max}^{\mathrm{off}} V_{\max}"
    return hc.at_least(x.s_min, x.K_diag_min * x.V_min - x.K_off_max * x.V_max)


@hc.claim(
    "B.22",
    over=kernel_first,
    title="Signal, arbitrary keys, isotropic values",
    source="Theorem B.22",
    given={"d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.21", "B.37"],
)
def signal_isotropic_values(x, *, C1):
    r"""\tilde s_{\min} \ge K_{\min}^{\mathrm{diag}} (1 - \varepsilon_v) - K_{\max}^{\mathrm{off}} (1 + \varepsilon_v),
    \quad \varepsilon_v = C_1 \sqrt{L/(d-1)}"""
    eps_v = C1 * sqrt(x.L / (x.d - 1))
    return hc.at_least(x.s_min, x.K_diag_min * (1 - eps_v) - x.K_off_max * (1 + eps_v))


@hc.claim(
    "B.22.explicit",
    over=kernel_first,
    title="Signal, arbitrary keys, isotropic values, with the proved constant",
    source="Theorem B.22 with the cap bound exp(-d t^2 / 2)",
    fails_at_most="delta",
    needs=["B.21", "B.36"],
)
def signal_isotropic_values_explicit(x):
    r"""\tilde s_{\min} \ge K_{\min}^{\mathrm{diag}} (1 - \varepsilon_v) - K_{\max}^{\mathrm{off}} (1 + \varepsilon_v),
    \quad \varepsilon_v = \sqrt{2 \log(F^2/\delta) / d}"""
    eps_v = sqrt(2 * log(x.F**2 / x.delta) / x.d)
    return hc.at_least(x.s_min, x.K_diag_min * (1 - eps_v) - x.K_off_max * (1 + eps_v))
