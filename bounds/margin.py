"""Margin bounds (Appendix B.8)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .crosstalk import kernel_first

arbitrary = geo.facts(keys=geo.anything, values=geo.anything, memory="kernel")


@hc.claim(
    "eq23",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any", F=(1, 32), d=(1, 16), m=(1, 32)),
    title="The bilinear MLP is an associative memory",
    source="Equation 23, with the normalisation 1/sqrt(m) of the features and a readout without 1/F",
)
def retrieval(x):
    r"B \phi(k_i) = \sum_{t=1}^F v_{f(t)} \hat K_{ti}, \quad \phi(k) = (Ak) \odot (Gk) / \sqrt m"
    return hc.equal(x.mlp(x.keys), x.memory(x.keys))


@hc.claim(
    "eq24",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any", F=(1, 32), d=(1, 16), m=(1, 32)),
    title="Margins are differences of retrieval scores",
    source="Equation 24",
    needs=["eq23"],
)
def margins_of_outputs(x):
    r"\gamma_{ij} = \langle v_{f(i)} - v_j, y_i \rangle"
    return [hc.equal(x.margins, x.margins_of(x.mlp(x.keys))), hc.equal(x.gamma_min, hc.min(x.margins))]


@hc.claim(
    "eq6",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any"),
    title="The margin is signal plus cross-talk",
    source="Equations 6 and 25",
    needs=["eq24"],
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
    needs=["eq6"],
)
def absorbed_decomposition(x):
    r"\gamma_{ij} = \tilde s_{ij} + \tilde z_{ij}"
    return hc.equal(x.margins, x.signal_absorbed + x.crosstalk_absorbed)


@hc.claim(
    "B.25.absorbed",
    over=arbitrary,
    title="Margin, arbitrary keys and values, competitor absorbed",
    source="Theorem B.25, equation 43",
    given={"V_ij >= 0": lambda x: x.V_min >= 0},
    needs=["eq26", "B.16", "B.21"],
)
def margin_absorbed(x):
    r"""\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - K_{\max}^{\mathrm{off}} V_{\max}
    - \sqrt{\tilde E_K} \sqrt{\tilde E_v}\, \tilde\kappa"""
    signal = x.K_diag_min * x.V_min - x.K_off_max * x.V_max
    return hc.at_least(x.gamma_min, signal - sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde)


@hc.claim(
    "B.25",
    over=arbitrary,
    title="Margin, arbitrary keys and values",
    source="Theorem B.25, equation 44",
    given={"V_ij >= 0": lambda x: x.V_min >= 0},
    needs=["eq6", "B.15"],
)
def margin(x):
    r"\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - \sqrt{E_K} \sqrt{E_v}\, \kappa"
    return hc.at_least(x.gamma_min, x.K_diag_min * x.V_min - sqrt(x.E_K) * sqrt(x.E_v) * x.kappa)


@hc.claim(
    "B.25.attained",
    over=geo.instance(keys=np.eye(3), values=np.eye(3), K=(np.eye(3) + np.ones((3, 3))) / 2),
    title="Orthonormal values and a constant kernel attain both margin bounds",
    source="Theorem B.25, equations 43 and 44, at K = (1 - c) I + c J with c = 1/2",
    needs=["B.25", "B.25.absorbed"],
)
def margin_attained(x):
    r"""\gamma_{\min} = 1 - c = K_{\min}^{\mathrm{diag}} V_{\min} - \sqrt{E_K} \sqrt{E_v}\, \kappa
    = K_{\min}^{\mathrm{diag}} V_{\min} - K_{\max}^{\mathrm{off}} V_{\max}
    - \sqrt{\tilde E_K} \sqrt{\tilde E_v}\, \tilde\kappa"""
    signal = x.K_diag_min * x.V_min
    absorbed = sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde
    return [
        hc.equal(x.gamma_min, 0.5),
        hc.equal(x.gamma_min, signal - sqrt(x.E_K) * sqrt(x.E_v) * x.kappa),
        hc.equal(x.gamma_min, signal - x.K_off_max * x.V_max - absorbed),
    ]


@hc.claim(
    "B.28",
    over=kernel_first,
    title="Margin, arbitrary keys, isotropic values",
    source="Theorem B.28, equation 45, with the constants that B.17 and B.22 prove; the printed form, with the factor "
    "sqrt(1 + L/(F - 2)), follows for C_0 = 4, C_1 = sqrt 2 and C_2 = 3 sqrt 2",
    given={"F >= 3": lambda x: x.F >= 3, "d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.17.explicit", "B.22.explicit", "B.10.range"],
)
def margin_isotropic_values(x):
    r"""\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} \left( 1 - \sqrt{\tfrac{2\ell}{d-1}} \right)
    - K_{\max}^{\mathrm{off}} - 3 \sqrt{\tfrac{2\ell E_K}{d-1}}, \quad \ell = \log(4F^2/\delta)"""
    spread = sqrt(2 * proved_L(x) / (x.d - 1))
    return hc.at_least(x.gamma_min, x.K_diag_min * (1 - spread) - x.K_off_max - 3 * sqrt(x.E_K) * spread)


@hc.claim(
    "B.28.simple",
    over=kernel_first,
    title="Margin, arbitrary keys, isotropic values: simple form",
    source="Theorem B.28, equation 46, with the constants that B.17 and B.22 prove",
    given={"F - 2 >= L": lambda x: x.F - 2 >= x.L, "d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.28"],
)
def margin_isotropic_values_simple(x):
    r"""\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} \left( 1 - \sqrt{\tfrac{2\ell}{d-1}} \right)
    - K_{\max}^{\mathrm{off}} - 6 \sqrt{\tfrac{\ell E_K}{d}}, \quad \ell = \log(4F^2/\delta)"""
    signal = x.K_diag_min * (1 - sqrt(2 * proved_L(x) / (x.d - 1))) - x.K_off_max
    return hc.at_least(x.gamma_min, signal - 6 * sqrt(proved_L(x) * x.E_K / x.d))


def proved_L(x):
    """log(4 F^2 / delta): both events of the union bound, each with failure probability delta / 2."""
    return log(4 * x.F**2 / x.delta)
