"""Margin bounds (Appendix B.8)."""

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .crosstalk import kernel_first

arbitrary = geo.facts(keys=geo.anything, values=geo.anything, memory="kernel")


@hc.claim(
    "eq6",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any"),
    title="The margin is signal plus cross-talk",
    source="Equations 6 and 25",
)
def decomposition(x):
    r"""\gamma_{ij} = \hat K_{ii} \langle v_{f(i)} - v_j, v_{f(i)} \rangle
    + \sum_{t \ne i} \hat K_{ti} \langle v_{f(i)} - v_j, v_{f(t)} \rangle"""
    return hc.equal(x.margins, x.signal + x.crosstalk)


@hc.claim(
    "eq26",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any"),
    title="The competitor absorbed into the signal",
    source="Equations 26 and 27",
)
def absorbed_decomposition(x):
    r"\gamma_{ij} = \tilde s_{ij} + \tilde z_{ij}"
    return hc.equal(x.margins, x.signal_absorbed + x.crosstalk_absorbed)


@hc.claim(
    "B.25.43",
    over=arbitrary,
    title="Margin, arbitrary keys and values, competitor absorbed",
    source="Theorem B.25, equation 43",
    given={"V_ij >= 0": lambda x: x.V_min >= 0},
    needs=["B.16", "B.21"],
)
def margin_absorbed(x):
    r"""\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - K_{\max}^{\mathrm{off}} V_{\max}
    - \sqrt{\tilde E_K} \sqrt{\tilde E_v}\, \tilde\kappa"""
    signal = x.K_diag_min * x.V_min - x.K_off_max * x.V_max
    return hc.at_least(x.gamma_min, signal - sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde)


@hc.claim(
    "B.25.44",
    over=arbitrary,
    title="Margin, arbitrary keys and values",
    source="Theorem B.25, equation 44",
    given={"V_ij >= 0": lambda x: x.V_min >= 0},
    needs=["eq6"],
)
def margin(x):
    r"\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - \sqrt{E_K} \sqrt{E_v}\, \kappa"
    return hc.at_least(x.gamma_min, x.K_diag_min * x.V_min - sqrt(x.E_K) * sqrt(x.E_v) * x.kappa)


@hc.claim(
    "B.28.45",
    over=kernel_first,
    title="Margin, arbitrary keys, isotropic values",
    source="Theorem B.28, equation 45, with the constants that B.17 and B.22 prove",
    given={"F >= 3": lambda x: x.F >= 3, "d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.17.explicit", "B.22.explicit"],
)
def margin_isotropic_values(x):
    r"""\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} \left( 1 - \sqrt{\tfrac{2\ell}{d-1}} \right)
    - K_{\max}^{\mathrm{off}} - 3 \sqrt{\tfrac{2\ell E_K}{d-1}}, \quad \ell = \log(4F^2/\delta)"""
    spread = sqrt(2 * proved_L(x) / (x.d - 1))
    return hc.at_least(x.gamma_min, x.K_diag_min * (1 - spread) - x.K_off_max - 3 * sqrt(x.E_K) * spread)


@hc.claim(
    "B.28.46",
    over=kernel_first,
    title="Margin, arbitrary keys, isotropic values: simple form",
    source="Theorem B.28, equation 46, with the constants that B.17 and B.22 prove",
    given={"F - 2 >= L": lambda x: x.F - 2 >= x.L, "d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.28.45"],
)
def margin_isotropic_values_simple(x):
    r"""\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} \left( 1 - \sqrt{\tfrac{2\ell}{d-1}} \right)
    - K_{\max}^{\mathrm{off}} - 6 \sqrt{\tfrac{\ell E_K}{d}}, \quad \ell = \log(4F^2/\delta)"""
    signal = x.K_diag_min * (1 - sqrt(2 * proved_L(x) / (x.d - 1))) - x.K_off_max
    return hc.at_least(x.gamma_min, signal - 6 * sqrt(proved_L(x) * x.E_K / x.d))


def proved_L(x):
    """log(4 F^2 / delta): both events of the union bound, each with failure probability delta / 2."""
    return log(4 * x.F**2 / x.delta)
