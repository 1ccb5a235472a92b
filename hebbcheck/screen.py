"""The hot path: what the best pair of each row of facts can reach, for a map that is a bijection.

A competitor is then itself a fact t, so the rows (k x F) of all pairwise quantities come from the kernel's rows
and three products with the codes, tile by tile, and nothing is gathered.  Most statistics of a row come out
exactly; those whose kernel norm depends on the pair as a bound on the safe side, which
``statistics.summary`` settles on the few rows that can matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import array_api_extra as xpx
import numpy as np

from . import threads
from .pairs import SENSES, Problem, spans

TILE_COLUMNS = 1024
# The C library's allocator keeps what is freed only below the largest block that it has seen freed; without one,
# every tile is returned to the system and faulted in again, which takes half as long again at 500 facts.
ALLOCATOR_HINT = 1 << 24


@dataclass(frozen=True)
class Columns:
    """Every fact as a competitor: codes [c, 1], factors [x, 1, |x|^2], |c|^2 and mu <c, sum of the other codes>."""

    codes: Any
    factors: Any
    norms: Any
    shifts: Any

    @classmethod
    def of(cls, p: Problem) -> Columns:
        xp = p.xp
        factors, squares = p.of_facts(p.factors), p.of_facts(p.factor_norms)[:, None]
        ones = xp.ones_like(squares)
        return cls(
            codes=xp.concat([p.codes, ones], axis=1),
            factors=xp.concat([factors, ones, squares], axis=1),
            norms=p.of_facts(p.norms),
            shifts=p.mu * p.of_facts(p.projections),
        )


@dataclass(frozen=True)
class Block:
    """Some facts as rows, with what the products with Columns need of them.

    ``codes`` @ columns.codes^T holds <c_i, c_t> and below it the cross-talk; ``factors`` @ columns.factors^T
    holds sum_s <w, c_s>^2 over all s.
    """

    facts: slice
    K: Any  # without its diagonal
    diagonal: Any
    codes: Any
    factors: Any

    @classmethod
    def of(cls, p: Problem, kernel: Any, diagonal: Any, columns: Columns, facts: slice) -> Block:
        xp = p.xp
        K = kernel.rows(facts.start, facts.stop)
        own = xp.eye(K.shape[0], dtype=xp.bool, device=p.device)
        K = xpx.at(K, (slice(None), facts)).set(xp.where(own, 0.0, K[:, facts]))
        codes, column = p.codes[facts, :], K @ p.codes
        zeros = xp.zeros_like(diagonal[facts])
        left = xp.concat([codes, -column], axis=0)
        left = xp.concat([left, xp.concat([zeros, xp.vecdot(column, codes)])[:, None]], axis=1)
        factors, squares = columns.factors[facts, :-2], columns.factors[facts, -1:]
        factors = xp.concat([-2 * factors, squares, xp.ones_like(squares)], axis=1)
        return cls(facts, K, diagonal[facts], left, factors)


def optimistic(p: Problem, kernel: Any, diagonal: Any, block: int, at_once: int = 1) -> dict[str, Any]:
    """Of each statistic an array (F,): no pair of row i is better than entry i, up to rounding.

    Rows where rounding may hide more than half of the digits get an infinite entry.  ``at_once`` blocks of rows
    are worked on at a time.
    """
    np.empty(ALLOCATOR_HINT, dtype=np.uint8)
    columns = Columns.of(p)
    work = partial(_reach_of_block, p, kernel, diagonal, columns)
    parts = threads.share_out(work, list(spans(0, p.F, block)), at_once)
    return {name: p.xp.concat([part[name] for part in parts]) for name in parts[0]}


def _reach_of_block(p: Problem, kernel: Any, diagonal: Any, columns: Columns, facts: slice) -> dict[str, Any]:
    rows = Block.of(p, kernel, diagonal, columns, facts)
    with np.errstate(divide="ignore", invalid="ignore"):  # bounds that are not finite are never trusted
        tiles = [_tile(p, columns, rows, tile) for tile in spans(0, p.F, TILE_COLUMNS)]
        lowest = reduce(partial(_merge, p.xp.minimum), [low for low, _ in tiles])
        highest = reduce(partial(_merge, p.xp.maximum), [high for _, high in tiles])
        return _bounds(p, rows, lowest | highest)


def _merge(better: Callable[[Any, Any], Any], left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {name: better(left[name], right[name]) for name in left}


def _tile(p: Problem, columns: Columns, rows: Block, tile: slice) -> tuple[dict[str, Any], dict[str, Any]]:
    """Row by row, minima and maxima over the competitors of one tile; in place, as every pass over it counts."""
    xp, facts = p.xp, rows.facts
    products = rows.codes @ columns.codes[tile, :].T
    count = rows.K.shape[0]
    U, crosstalk = products[:count, :], products[count:, :]
    V = columns.norms[facts][:, None] - U
    U -= columns.norms[tile][None, :]
    signal = rows.diagonal[:, None] * V
    own = _own(p, facts, tile)
    if own is not None:
        signal = xp.where(own, math.inf, signal)
    lowest = {"V": xp.min(V if own is None else xp.where(own, math.inf, V), axis=1)}
    lowest["margin"] = xp.min(signal + crosstalk, axis=1)
    V *= V
    energy = rows.factors @ columns.factors[tile, :].T
    energy -= V
    del V
    competitor = rows.K[:, tile] * U
    signal += competitor
    lowest["signal"] = xp.min(signal, axis=1)
    del signal
    absorbed = crosstalk - competitor
    U *= U
    highest = {"U_square": xp.max(U, axis=1), "energy": xp.max(energy, axis=1)}
    energy_absorbed = energy - U
    highest["energy_absorbed"] = xp.max(energy_absorbed, axis=1)
    if own is not None:
        energy, energy_absorbed = (xp.where(own, math.inf, e) for e in (energy, energy_absorbed))
    lowest["least_energy"] = xp.min(energy_absorbed, axis=1)
    crosstalk *= crosstalk
    crosstalk /= energy
    highest["ratio"] = xp.max(crosstalk, axis=1)
    centered = columns.shifts[tile][None, :] - columns.shifts[facts][:, None]
    centered += absorbed
    centered *= centered
    centered /= energy_absorbed
    highest["ratio_centered"] = xp.max(centered, axis=1)
    absorbed *= absorbed
    highest["absorbed_square"] = xp.max(absorbed, axis=1)
    absorbed /= energy_absorbed
    highest["ratio_absorbed"] = xp.max(absorbed, axis=1)
    return lowest, highest


def _own(p: Problem, facts: slice, tile: slice) -> Any:
    """Where competitor and fact are one, or None where they cannot be."""
    if facts.stop <= tile.start or tile.stop <= facts.start:
        return None
    rows, columns = (p.xp.arange(part.start, part.stop, device=p.device) for part in (facts, tile))
    return rows[:, None] == columns[None, :]


def _bounds(p: Problem, rows: Block, reach: dict[str, Any]) -> dict[str, Any]:
    xp, K = p.xp, rows.K
    high, low = xp.max(K, axis=1), xp.min(K, axis=1)
    off, off_centered = xp.maximum(high, -low), xp.maximum(p.mu - low, high - p.mu)
    energy = xp.vecdot(K, K)
    offset = (p.F - 1) * p.mu**2
    energy_centered = energy - 2 * p.mu * xp.sum(K, axis=1) + offset
    rest, rest_centered = energy - off**2, energy_centered - off_centered**2
    totals = p.of_facts(p.projections)
    own_totals = totals[rows.facts]
    bounds = {
        "gamma_min": reach["margin"],
        "s_min": reach["signal"],
        "z_max": xp.sqrt(reach["absorbed_square"]),
        "V_min": reach["V"],
        "V_max": xp.sqrt(reach["U_square"]),
        "K_off_max": off,
        "E_K": energy,
        "E_K_tilde": energy,
        "E_K_centered": energy_centered,
        "E_v": reach["energy"],
        "E_v_tilde": reach["energy_absorbed"],
        "kappa": xp.sqrt(reach["ratio"] / energy),
        "kappa_tilde": xp.sqrt(reach["ratio_absorbed"] / rest),
        "kappa_centered": xp.sqrt(reach["ratio_centered"] / rest_centered),
        "kappa_eff": xp.sqrt(reach["ratio_centered"]),
        "B_Y": xp.maximum(own_totals - xp.min(totals), xp.max(totals) - own_totals),
    }
    thresholds = p.of_facts(p.thresholds)
    root = math.sqrt(p.eps)
    unsure = reach["least_energy"] <= thresholds[rows.facts] + xp.max(thresholds)
    unsure = unsure | (rest <= root * energy) | (rest_centered <= root * (energy + offset))
    optimum = {name: SENSES.get(name, (1, 0))[0] * math.inf for name in bounds}
    return {name: xp.where(unsure, optimum[name], bound) for name, bound in bounds.items()}
