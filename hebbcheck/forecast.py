"""The width that a memory will need, from keys, values and map alone: no features are drawn.

Of the unwhitened memory it follows from moments.  Over random features the margin of a pair (i, j) at width m has the
mean gamma_ij, that of the exact quadratic kernel, and the variance sigma_ij^2 / m: it is a mean of m independent terms
(a.k_i)(g.k_i)(a^T M g) with the symmetric matrix M = sum_t <v_f(i) - v_j, v_t> k_t k_t^T, and Gaussian moments give,
exactly,

    gamma = k_i^T M k_i,    sigma^2 = |k_i|^4 |M|_F^2 + 4 |k_i|^2 |M k_i|^2 + 3 gamma^2.

By the normal law sum_ij P(margin_ij <= 0) pairs are expected to fail at width m.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from .arrays import to_host
from .checks import finite_number
from .memories.construction import FactTable, fact_table

FAILING = 5.0
"""Expected failing pairs at the smallest width that stores all facts, about, on spheres.

Pairs fail together, and the first of many widths that stores them is an early one: so it is more than log 2, the number
of independent pairs.
"""
WIDEST = 1e9


def moments(keys: np.ndarray, values: np.ndarray, mapping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """gamma_ij and sigma_ij^2 of each pair, F x |V| (0 where j = f(i)): O(F^2 d d_v) operations."""
    codes = values[mapping]
    squares = np.sum(keys**2, axis=1)
    form = codes.T @ ((keys @ keys.T) ** 2 @ codes)
    own, other = np.einsum("id,de,ie->i", codes, form, codes), np.einsum("jd,de,je->j", values, form, values)
    frobenius = np.maximum(own[:, None] + other[None, :] - 2 * codes @ form @ values.T, 0)
    gamma, image = np.empty_like(frobenius), np.empty_like(frobenius)
    for i, key in enumerate(keys):
        weighted = (keys * (keys @ key)[:, None]).T @ codes  # M k_i for every difference of values
        moved = (codes[i] - values) @ weighted.T
        gamma[i], image[i] = moved @ key, np.sum(moved**2, axis=1)
    squares = squares[:, None]
    return gamma, squares**2 * frobenius + 4 * squares * image + 3 * gamma**2


def unwhitened_width(keys: Any, values: Any, map: Any = None, failing: float = FAILING) -> float:
    """The width at which `failing` pairs are expected to fail: infinite where one fails at unlimited width.

    keys F x d, values |V| x d_v, map (F,), as `memories.build` takes them.
    """
    failing = finite_number("failing", failing, least=0)
    facts = fact_table(keys, values, map)
    gamma, variance = moments(to_host(facts.keys), to_host(facts.values), facts.map)
    competing = facts.map[:, None] != np.arange(gamma.shape[1])[None, :]
    gamma, deviation = gamma[competing], np.sqrt(variance[competing])
    if np.any(gamma <= 0):  # such as equal values
        return float("inf")
    varying = deviation > 0
    z = gamma[varying] / deviation[varying]

    def excess(log_width: float) -> float:
        return float(np.sum(ndtr(-np.exp(log_width / 2) * z))) - failing

    if excess(0.0) <= 0:
        return 1.0
    if excess(np.log(WIDEST)) > 0:
        return float("inf")
    return float(np.exp(brentq(excess, 0.0, np.log(WIDEST), xtol=1e-4)))


def start(name: str, facts: FactTable) -> int:
    """The width at which a search for a construction's smallest one starts, from keys, values and map alone.

    Of the unwhitened memory its forecast, where there is one.  Of the others what random facts on the sphere in 64
    dimensions need: m (2 d + d_v) is there near 3.8 F + 2.5 (2 d + d_v) for trained memories, and near
    5 F log F + 5 (2 d + d_v) for the data-dependent one: read off widths that searches found, and held against other
    geometries, which differ by a factor below two as a rule, in the figure capacity_forecast.  The rest, 6.2 F log F,
    is a guess for where no better start is known.
    """
    F, parameters = facts.F, 2 * facts.d + facts.d_v
    if name == "bilinear":
        width = unwhitened_width(facts.keys, facts.values, facts.map)
        if math.isfinite(width):
            return max(1, round(width))
    needed = 6.2 * F * math.log(max(F, 2))
    if name == "gd":
        needed = 3.8 * F + 2.5 * parameters
    elif name == "data_dependent":
        needed = 5 * F * math.log(max(F, 2)) + 5 * parameters
    return max(1, round(needed / parameters))
