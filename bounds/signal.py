"""Signal bounds (Appendix B.7)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .crosstalk import kernel_first
from .noise import isotropic


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


def minus_identity(rng, F, d):
    """Signal and separability of unit values under K = -I, where K_min^diag = -1 and K_max^off = 0."""
    values = isotropic(rng, F, d)
    separations = (1 - values @ values.T)[~np.eye(F, dtype=bool)]
    return {"s_min": -separations.max(), "V_min": separations.min()}


@hc.claim(
    "B.21.printed",
    over=geo.family(minus_identity, F=(3, 8), d=(2, 8)),
    title="Signal, arbitrary kernel matrix",
    source="Theorems B.21 and B.22, which call the kernel matrix arbitrary; here K = -I, unit values",
    needs=["B.21"],
    expect="refuted",
    erratum="The kernel must be a Gram matrix, or have a diagonal that is not negative: where K_ii < 0 the largest "
    "V_ij counts, not the smallest.",
)
def signal_printed(x):
    r"""\hat K = -I: \quad
    \tilde s_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - K_{\max}^{\mathrm{off}} V_{\max} = -V_{\min}"""
    return hc.at_least(x.s_min, -x.V_min)


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
    needs=["B.21", "B.36.tail"],
)
def signal_isotropic_values_explicit(x):
    r"""\tilde s_{\min} \ge K_{\min}^{\mathrm{diag}} (1 - \varepsilon_v) - K_{\max}^{\mathrm{off}} (1 + \varepsilon_v),
    \quad \varepsilon_v = \sqrt{2 \log(F^2/\delta) / d}"""
    eps_v = sqrt(2 * log(x.F**2 / x.delta) / x.d)
    return hc.at_least(x.s_min, x.K_diag_min * (1 - eps_v) - x.K_off_max * (1 + eps_v))
