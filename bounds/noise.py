"""Margins of noisy queries (Appendix B.10)."""

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import sqrt

noisy = geo.facts(keys=geo.sphere, values=geo.sphere, F=(3, 64), d=(2, 32), m=(4, 64), noise=(0.01, 2.0))
"""Keys, features and noise independent of the isotropic values; queries at distance eps from their keys."""


def drop(x):
    """gamma_ij(k_i) - gamma_ij(q_i), the largest over the pairs."""
    return hc.max(x.margins - x.margins_noisy)


@hc.claim(
    "B.62",
    over=noisy,
    title="Noisy margin with Lipschitz stability",
    source="Theorem B.62, equation 70, with independence",
    fails_at_most="delta",
)
def noisy_margin(x):
    r"""\gamma_{ij}(\tilde k_i) \ge \gamma_{ij}(k_i) - 2(1 + \mu_v) L_K \epsilon
    - 2\sqrt2\, L_K\, \epsilon \sqrt{\frac{FL}{d}} \quad \text{for all } i, j"""
    coherence = hc.max(1 - x.V_min, x.V_max - 1)
    shift = x.L_K * x.eps
    return hc.at_most(drop(x), 2 * (1 + coherence) * shift + sqrt(8 * x.F * x.L / x.d) * shift)


@hc.claim(
    "B.62.72",
    over=noisy,
    title="Noisy margin, simple form",
    source="Theorem B.62, equation 72; Corollary B.63; with the constant that equation 70 gives",
    given={"F L >= d": lambda x: x.F * x.L >= x.d},
    fails_at_most="delta",
    needs=["B.62"],
)
def noisy_margin_simple(x):
    r"""\gamma_{ij}(\tilde k_i) \ge \gamma_{ij}(k_i) - (4 + 2\sqrt2)\, L_K\, \epsilon \sqrt{\frac{FL}{d}}
    \quad \text{for all } i, j"""
    return hc.at_most(drop(x), (4 + sqrt(8)) * x.L_K * x.eps * sqrt(x.F * x.L / x.d))
