"""Margins for isotropic embeddings (Theorem 4.1, Section 4.2.1)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt


def pair_log(x):
    """log(2 F^2 / delta): one event a pair, two signs."""
    return log(2 * x.F**2 / x.delta)


def coherence(x):
    """sqrt(2 l / d): no inner product of two values is larger, at the same level."""
    return sqrt(2 * pair_log(x) / x.d)


@hc.claim(
    "4.1",
    over=geo.facts(
        keys=geo.sphere, values=geo.sphere, F=(48, 128), d=(24, 96), m=(32, 128), delta=[0.5, 0.1]
    ),
    title="Margin, isotropic embeddings, explicit",
    source="Theorem 4.1, corrected: with statistics of the kernel, whatever m, d and F are, and sub-Gaussian constants",
    fails_at_most="delta",
    needs=["4.1.pairs", "B.36.tail"],
)
def isotropic_margin(x):
    r"""\gamma_{\min} \ge (1 \mp \mu) \left( K_{\min}^{\mathrm{diag}} - K_{\max}^{\mathrm{off}} \right)
    - 2 \sqrt{1 + \mu}\, \sqrt{\frac{\ell E_K}{d}}, \quad \ell = \log \frac{2F^2}{\delta},
    \ \mu = \sqrt{\frac{2\ell}{d}}, \ \text{the smaller of both signs}"""
    mu, gap = coherence(x), x.K_diag_min - x.K_off_max
    crosstalk = 2 * sqrt(1 + mu) * sqrt(x.E_K * pair_log(x) / x.d)
    return hc.at_least(x.gamma_min, hc.min((1 - mu) * gap, (1 + mu) * gap) - crosstalk)


@hc.claim(
    "4.1.pairs",
    over=geo.facts(
        keys=geo.anything, values=geo.sphere, memory="kernel", mapping="identity", F=(3, 64), m=(8, 64)
    ),
    title="Margin, isotropic values, any kernel independent of them: pair by pair",
    source="Theorem 4.1, corrected; from E exp(s <w, v>) <= exp(s^2 |w|^2 / 2d) for v uniform on the sphere",
    fails_at_most="delta",
    needs=["eq26", "B.36.moments"],
)
def isotropic_margin_of_pairs(x):
    r"""\gamma_{ij} \ge (K_{ii} - K_{ji})(1 - \langle v_i, v_j \rangle)
    - \sqrt{ \frac{2\ell}{d} \sum_{t \ne i, j} K_{ti}^2 \cdot 2 (1 - \langle v_i, v_j \rangle) }
    \quad \text{for all } i \ne j"""
    K, inner = x.K, x.values @ x.values.T
    own, scores = np.diagonal(K), (K @ x.values) @ x.values.T
    apart = 1 - inner
    energy = column_sums(K**2) - own[:, None] ** 2 - K**2
    bound = (own[:, None] - K) * apart - sqrt(2 * pair_log(x) / x.d * abs(2 * apart * energy))
    pairs = ~np.eye(len(K), dtype=bool)
    return hc.at_least((np.diagonal(scores)[:, None] - scores)[pairs], bound[pairs])


def column_sums(squares):
    """The sums of the columns of a symmetric matrix, as a column."""
    return squares.sum(axis=1)[:, None]


@hc.claim(
    "4.1.printed",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=16, d=8),
    title="Margin, isotropic embeddings, as printed",
    source="Theorem 4.1, equation 9, with high probability; here at a few facts in a few dimensions",
    fails_at_most="delta",
    expect="refuted",
    erratum="Nothing ties m to d and F: as m grows the right side goes to 1, the margin to that of the exact quadratic "
    "kernel, which is below 1 (and may be negative). The theorem needs m, d <= F and m <= d^2/L, and high probability.",
    needs=["eq9"],
)
def isotropic_margin_as_printed(x, *, C):
    r"\gamma_{\min} \ge 1 - C \sqrt{\frac{F \log F}{md}}"
    return hc.at_least(x.gamma_min, 1 - C * sqrt(x.F * log(x.F) / (x.m * x.d)))


@hc.claim(
    "eq9",
    over=geo.facts(
        keys=geo.sphere, values=geo.sphere, F=(32, 256), d=(32, 128), m=(32, 128), delta=[0.5, 0.1]
    ),
    title="Margin, isotropic embeddings, where cross-talk dominates",
    source="Equation 9 with the assumptions of Corollary B.31 and a constant that was measured",
    given={
        "m, d <= F": lambda x: x.m <= x.F and x.d <= x.F,
        "m <= d^2/L": lambda x: x.m <= x.d**2 / x.L,
    },
    fails_at_most="delta",
    needs=["4.1", "B.31"],
)
def isotropic_margin_of_the_region(x):
    r"\gamma_{\min} \ge 1 - 5 \sqrt{\frac{FL}{md}}, \quad L = \log \frac{2F^2}{\delta}"
    return hc.at_least(x.gamma_min, 1 - 5 * sqrt(x.F * x.L / (x.m * x.d)))


def many_crosstalks(rng, F, d, m):
    """Squared cross-talk of the first pair, in independent draws of keys, values and features."""
    samples = 4000
    keys, values = (unit(rng.standard_normal((samples, F, d))) for _ in range(2))
    A, G = rng.standard_normal((2, samples, m, d))
    phi = np.matmul(keys, A.transpose(0, 2, 1)) * np.matmul(keys, G.transpose(0, 2, 1))
    column = np.matmul(phi[:, 2:], phi[:, 0, :, None])[..., 0] / m
    aligned = np.matmul(values[:, 2:], (values[:, 0] - values[:, 1])[..., None])[..., 0]
    return {"squares": np.sum(column * aligned, axis=1) ** 2}


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


@hc.claim(
    "eq9.moment",
    over=geo.family(many_crosstalks, F=[4, 8], d=[4, 12], m=[3, 12]),
    title="The cross-talk's second moment, isotropic embeddings",
    source="Behind the cross-talk of equation 9, exact",
    needs=["B.44.variance"],
)
def crosstalk_moment(x):
    r"""\mathbb E\, \tilde z_{ij}^2 = \frac{2(F-2)}{d} \left( \frac1m \left( 1 + \frac4d + \frac{9}{d(d+2)} \right)
    + \frac{3}{d(d+2)} \right)"""
    d, m = x.d, x.m
    kernel = (1 + 4 / d + 9 / (d * (d + 2))) / m + 3 / (d * (d + 2))
    return hc.equal(hc.mean(x.squares), 2 * (x.F - 2) / d * kernel)
