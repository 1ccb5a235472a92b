"""Margins of noisy queries that were fixed before the values (Appendix B.10)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import sqrt

SIMPLE = 4 + sqrt(8)
"""The constant of equation 72 that equation 70 gives: 1 + mu_v is at most 2, and F L at least d."""

noisy = geo.facts(
    keys=geo.sphere, values=geo.sphere, F=(3, 64), d=(2, 32), m=(4, 64), noise=(0.01, 2.0), delta=[0.5, 0.1]
)
"""Keys, features and noise independent of the isotropic values; queries at distance eps from their keys."""

common = {"F L >= d": lambda x: x.F * x.L >= x.d}


def drop(x):
    """gamma_ij(k_i) - gamma_ij(q_i), the largest over the pairs."""
    return hc.max(x.margins - x.margins_noisy)


def coherence(x):
    """mu_v = max |<v_i, v_j>| of unit values."""
    return hc.max(1 - x.V_min, x.V_max - 1)


@hc.claim(
    "B.62",
    over=noisy,
    title="Noisy margin with Lipschitz stability",
    source="Theorem B.62, equation 70, with independence",
    fails_at_most="delta",
    needs=["B.36.moments"],
)
def noisy_margin(x):
    r"""\gamma_{ij}(\tilde k_i) \ge \gamma_{ij}(k_i) - 2(1 + \mu_v) L_K \epsilon
    - 2\sqrt2\, L_K\, \epsilon \sqrt{\frac{FL}{d}} \quad \text{for all } i, j"""
    shift = x.L_K * x.eps
    return hc.at_most(drop(x), 2 * (1 + coherence(x)) * shift + sqrt(8 * x.F * x.L / x.d) * shift)


def isotropic(rng, count, d):
    """count x d: independent uniform unit vectors."""
    rows = rng.standard_normal((count, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def mutual_coherence(values):
    """mu_v of unit rows."""
    return np.abs(values @ values.T - np.eye(len(values))).max()


def values_alone(rng, F, d, delta):
    """Isotropic values, all that a statement about given changes of the kernel draws."""
    return {"values": isotropic(rng, F, d)}


@hc.claim(
    "B.62.worst",
    over=geo.family(values_alone, F=(3, 256), d=(2, 64), delta=[0.9, 0.5, 0.1]),
    title="Noisy margin where every kernel value falls as far as it may",
    source="Theorem B.62, equation 70, for K(k_t, q) = L_K <c, q> and noise against c",
    fails_at_most="delta",
    needs=["B.62"],
)
def noisy_margin_worst_kernel(x):
    r"""K(k_t, \tilde k_i) = K(k_t, k_i) - L_K \epsilon \ \Rightarrow\ \gamma_{ij}(k_i) - \gamma_{ij}(\tilde k_i)
    \le L_K \epsilon \left( 2(1 + \mu_v) + 2\sqrt2 \sqrt{\frac{FL}{d}} \right) \quad \text{for all } i, j"""
    values = np.asarray(x.values)
    heights = values @ values.sum(axis=0)
    allowed = 2 * (1 + mutual_coherence(values)) + sqrt(8 * x.F * x.L / x.d)
    return hc.at_most(heights.max() - heights.min(), allowed)


@hc.claim(
    "B.62.coherence",
    over=noisy,
    title="Noisy margin without the coherence",
    source="Theorem B.62, equation 71, with a constant that is proved",
    given={"d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.62", "B.37"],
)
def noisy_margin_without_coherence(x):
    r"""\gamma_{ij}(\tilde k_i) \ge \gamma_{ij}(k_i) - 2 L_K \epsilon
    - 4\sqrt2\, L_K\, \epsilon \sqrt{\frac{FL}{d}} \quad \text{for all } i, j"""
    return hc.at_most(drop(x), x.L_K * x.eps * (2 + sqrt(32 * x.F * x.L / x.d)))


@hc.claim(
    "B.62.simple",
    over=noisy,
    title="Noisy margin, simple form",
    source="Theorem B.62, equation 72, with the constant that equation 70 gives",
    given=common,
    fails_at_most="delta",
    needs=["B.62"],
)
def noisy_margin_simple(x):
    r"""\gamma_{ij}(\tilde k_i) \ge \gamma_{ij}(k_i) - (4 + 2\sqrt2)\, L_K\, \epsilon \sqrt{\frac{FL}{d}}
    \quad \text{for all } i, j"""
    return hc.at_most(drop(x), SIMPLE * x.L_K * x.eps * sqrt(x.F * x.L / x.d))


@hc.claim(
    "B.63",
    over=noisy,
    title="Noisy least margin",
    source="Corollary B.63, with C_0 = 2 and C_2 = 4 + 2 sqrt 2",
    given=common,
    fails_at_most="delta",
    needs=["B.62.simple"],
)
def noisy_least_margin(x):
    r"""\gamma_{\min}(\tilde k) \ge \gamma_{\min}(k)
    - (4 + 2\sqrt2)\, L_{\mathrm{bil}}\, \epsilon \sqrt{\frac{FL}{d}}"""
    loss = SIMPLE * x.L_K * x.eps * sqrt(x.F * x.L / x.d)
    return hc.at_least(hc.min(x.margins_noisy), x.gamma_min - loss)
