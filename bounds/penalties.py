"""Margins of arbitrary embeddings, in penalties (Theorem 4.3, Section 4.2.2)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, min, sqrt

embeddings = geo.facts(keys=geo.anything, values=geo.anything)
"""Any keys and values, one value a key, and any features."""
positive = {"V_ij >= 0": lambda x: x.V_min >= 0}
enough = {"F >= 2": lambda x: x.F >= 2, "d > log F": lambda x: x.d > log(x.F)}


def penalties(x):
    return x.P_key * x.P_val * x.P_align


def crosstalk(x):
    """The cross-talk of equation 10."""
    return sqrt(x.F * log(x.F) / (x.m * x.d)) * penalties(x)


def sharpest(x):
    """1 - sqrt(log F / d): the largest C of equation 10."""
    return 1 - sqrt(log(x.F) / x.d)


@hc.claim(
    "4.3",
    over=embeddings,
    title="Margin, arbitrary embeddings, in penalties",
    source="Theorem 4.3, equation 10, for values with V_ij >= 0, where d >= 4 log F allows C = 1/2",
    given={
        **positive,
        "F >= 2": lambda x: x.F >= 2,
        "d >= 4 log F": lambda x: x.d >= 4 * log(x.F),
    },
    needs=["eq10", "B.26"],
)
def margin_in_penalties(x):
    r"""\gamma_{\min} \ge \tfrac12 S_{\mathrm{sig}}
    - \sqrt{\frac{F \log F}{md}}\, P_{\mathrm{key}} P_{\mathrm{val}} P_{\mathrm{align}}"""
    return hc.at_least(x.gamma_min, x.S_sig / 2 - crosstalk(x))


@hc.claim(
    "4.3.printed",
    over=geo.instance(keys=np.diag([10.0, 1.0]) @ np.eye(2, 16), values=np.outer([1.0, 2.0], np.eye(16)[0])),
    title="Margin, arbitrary embeddings, as printed",
    source="Theorem 4.3 for arbitrary embeddings, with C = 1/2 at d >= 4 log F",
    expect="refuted",
    erratum="The theorem needs <v_i - v_j, v_i> >= 0 for all pairs (equation 40): where one is negative, the margin "
    "falls with the largest diagonal entry of the kernel, the bound only with the smallest.",
    needs=["4.3"],
)
def margin_as_printed(x):
    r"""\gamma_{\min} \ge \tfrac12 S_{\mathrm{sig}}
    - \sqrt{\frac{F \log F}{md}}\, P_{\mathrm{key}} P_{\mathrm{val}} P_{\mathrm{align}}"""
    return hc.at_least(x.gamma_min, x.S_sig / 2 - crosstalk(x))


@hc.claim(
    "4.3.signed",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="kernel"),
    title="Margin, arbitrary embeddings, values of any sign",
    source="Theorem 4.3 without positivity: the signal is the smaller of two products",
    needs=["eq6"],
)
def margin_of_any_sign(x):
    r"""\gamma_{\min} \ge \min \left( K_{\min}^{\mathrm{diag}} V_{\min},\ K_{\max}^{\mathrm{diag}} V_{\min} \right)
    - \sqrt{E_K} \sqrt{E_v}\, \kappa"""
    signal = min(x.K_diag_min * x.V_min, x.K_diag_max * x.V_min)
    return hc.at_least(x.gamma_min, signal - sqrt(x.E_K * x.E_v) * x.kappa)


@hc.claim(
    "eq10",
    over=embeddings,
    title="Margin, arbitrary embeddings, in penalties, with the largest constant",
    source="Equation 10 with C = 1 - sqrt(log F / d), for values with V_ij >= 0",
    given={**positive, **enough},
    needs=["B.25", "eq10.cancels"],
)
def margin_in_penalties_sharp(x):
    r"""\gamma_{\min} \ge \left( 1 - \sqrt{\tfrac{\log F}{d}} \right) S_{\mathrm{sig}}
    - \sqrt{\frac{F \log F}{md}}\, P_{\mathrm{key}} P_{\mathrm{val}} P_{\mathrm{align}}"""
    return hc.at_least(x.gamma_min, sharpest(x) * x.S_sig - crosstalk(x))


@hc.claim(
    "eq10.cancels",
    over=embeddings,
    title="In equation 10 the sizes cancel",
    source="Section 4.2.2: the penalties are the statistics in other units",
    given=enough,
)
def sizes_cancel(x):
    r"""\sqrt{\frac{F \log F}{md}}\, P_{\mathrm{key}} P_{\mathrm{val}} P_{\mathrm{align}}
    = \sqrt{E_K} \sqrt{E_v}\, \kappa, \quad
    \left( 1 - \sqrt{\tfrac{\log F}{d}} \right) S_{\mathrm{sig}} = K_{\min}^{\mathrm{diag}} V_{\min}"""
    return [
        hc.equal(crosstalk(x), sqrt(x.E_K) * sqrt(x.E_v) * x.kappa),
        hc.equal(sharpest(x) * x.S_sig, x.K_diag_min * x.V_min),
    ]
