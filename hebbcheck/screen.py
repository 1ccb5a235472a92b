"""The hot path: what the best pair of each row of facts can reach, for a map that is a bijection.

A competitor is then itself a fact t, so the rows (k x F) of all pairwise quantities come from the kernel's rows
and three products with the codes, tile by tile, and nothing is gathered.  The kernel's rows are computed in full
precision, the tiles in float32, which is half the bytes and twice the speed: every bound is widened by what
rounding can hide in them (the errors of products of d terms, to first order), and a block of rows that float32
cannot vouch for is done again in full precision.  What is widened or only bounded, ``statistics.summary`` settles
on the few rows that can matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Any

import array_api_extra as xpx
import numpy as np

from . import threads
from .pairs import SENSES, Problem, spans, unit_scale

TILE_COLUMNS = 1024
# The C library's allocator keeps what is freed only below the largest block that it has seen freed; without one,
# every tile is returned to the system and faulted in again, which takes half as long again at 500 facts.
ALLOCATOR_HINT = 1 << 24
SURE = 8  # how many times its rounding error the least energy of a row must be
MOST_UNSURE = 1 / 16  # of a block's rows, before it is done again in full precision
IN_THE_KERNEL = {
    "gamma_min": 1,
    "s_min": 1,
    "z_max": 1,
    "kappa_eff": 1,
    "K_off_max": 1,
    "E_K": 2,
    "E_K_tilde": 2,
    "E_K_centered": 2,
}
"""The degree of each statistic in the kernel, where it is not 0."""


@dataclass(frozen=True)
class Screen:
    """A problem with its kernel, both scaled to about one by powers of two, so that float32 holds all products."""

    p: Problem
    kernel: Any
    scale: float
    diagonal: Any
    mu: float

    @classmethod
    def of(cls, p: Problem, kernel: Any, diagonal: Any) -> Screen:
        scale = unit_scale(max(float(p.xp.max(diagonal)), abs(p.mu)))
        return cls(p, kernel, scale, diagonal * scale, p.mu * scale)

    def dtypes(self) -> list[Any]:
        """Of the tiles, the fastest first."""
        full = self.p.codes.dtype
        return [full] if full == self.p.xp.float32 else [self.p.xp.float32, full]


@dataclass(frozen=True)
class Columns:
    """Every fact as a competitor: codes [c, 1], factors [x, 1, |x|^2], |c|^2 and mu <c, sum of the other codes>.

    ``largest``: |c|^2, |x|^2 and |mu <c, sum>| at most.  ``rounding``: the relative error of a product of d terms.
    """

    codes: Any
    factors: Any
    norms: Any
    shifts: Any
    largest: tuple[float, float, float]
    rounding: float

    @classmethod
    def of(cls, screen: Screen, dtype: Any) -> Columns:
        p, xp = screen.p, screen.p.xp
        factors, squares = p.of_facts(p.factors), p.of_facts(p.factor_norms)[:, None]
        ones = xp.ones_like(squares)
        norms, shifts = p.of_facts(p.norms), screen.mu * p.of_facts(p.projections)
        return cls(
            codes=xp.astype(xp.concat([p.codes, ones], axis=1), dtype),
            factors=xp.astype(xp.concat([factors, ones, squares], axis=1), dtype),
            norms=xp.astype(norms, dtype),
            shifts=xp.astype(shifts, dtype),
            largest=(float(xp.max(norms)), float(xp.max(squares)), float(xp.max(xp.abs(shifts)))),
            rounding=(p.codes.shape[1] + 8) * float(xp.finfo(dtype).eps),
        )


@dataclass(frozen=True)
class KernelRows:
    """Some facts' rows of the kernel (without their diagonal, which is apart) and ``column``, K @ codes."""

    facts: slice
    K: Any
    diagonal: Any
    column: Any

    @classmethod
    def of(cls, screen: Screen, facts: slice) -> KernelRows:
        xp = screen.p.xp
        K = screen.kernel.rows(facts.start, facts.stop)
        K *= screen.scale
        own = xp.eye(K.shape[0], dtype=xp.bool, device=screen.p.device)
        K = xpx.at(K, (slice(None), facts)).set(xp.where(own, 0.0, K[:, facts]))
        return cls(facts, K, screen.diagonal[facts], K @ screen.p.codes)


@dataclass(frozen=True)
class Block:
    """Those facts as rows, but for K in the tiles' dtype, with what the products with Columns need of them.

    ``codes`` @ columns.codes^T holds <c_i, c_t> and below it the cross-talk; ``factors`` @ columns.factors^T
    holds sum_s <w, c_s>^2 over all s.
    """

    facts: slice
    K: Any
    diagonal: Any
    codes: Any
    factors: Any

    @classmethod
    def of(cls, p: Problem, columns: Columns, kernel: KernelRows) -> Block:
        xp, dtype, facts = p.xp, columns.codes.dtype, kernel.facts
        codes, column = p.codes[facts, :], kernel.column
        left = xp.concat([codes, -column], axis=0)
        own = xp.concat([xp.zeros_like(kernel.diagonal), xp.vecdot(column, codes)])
        left = xp.astype(xp.concat([left, own[:, None]], axis=1), dtype)
        factors, squares = columns.factors[facts, :-2], columns.factors[facts, -1:]
        factors = xp.concat([-2 * factors, squares, xp.ones_like(squares)], axis=1)
        return cls(facts, kernel.K, xp.astype(kernel.diagonal, dtype), left, factors)


def optimistic(p: Problem, kernel: Any, diagonal: Any, block: int, at_once: int = 1) -> dict[str, Any]:
    """Of each statistic an array (F,): no pair of row i is better than entry i.

    Rows where rounding may hide too much get an infinite entry.  ``at_once`` blocks of rows are worked on at a time.
    """
    np.empty(ALLOCATOR_HINT, dtype=np.uint8)
    screen = Screen.of(p, kernel, diagonal)
    columns = cache(partial(Columns.of, screen))
    columns(screen.dtypes()[0])  # before there are threads, which would each make their own
    work = partial(_reach_of_block, screen, columns)
    parts = threads.share_out(work, list(spans(0, p.F, block)), at_once, p.codes)
    return {
        name: p.xp.concat([part[name] for part in parts]) / screen.scale ** IN_THE_KERNEL.get(name, 0)
        for name in parts[0]
    }


def _reach_of_block(screen: Screen, columns: Callable[[Any], Columns], facts: slice) -> dict[str, Any]:
    xp, kernel = screen.p.xp, KernelRows.of(screen, facts)
    with np.errstate(all="ignore"):  # bounds that are not finite are never trusted
        for dtype in screen.dtypes():
            some = columns(dtype)
            rows = Block.of(screen.p, some, kernel)
            tiles = [_tile(screen.p, some, rows, tile) for tile in spans(0, screen.p.F, TILE_COLUMNS)]
            lowest = reduce(partial(_merge, xp.minimum), [low for low, _ in tiles])
            highest = reduce(partial(_merge, xp.maximum), [high for _, high in tiles])
            reach = {name: xp.astype(part, kernel.K.dtype) for name, part in (lowest | highest).items()}
            bounds, unsure = _bounds(screen, some, kernel, reach)
            if int(xp.count_nonzero(unsure)) <= MOST_UNSURE * unsure.shape[0]:
                break
    return bounds


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
    competitor = xp.astype(rows.K[:, tile], U.dtype)
    competitor *= U
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


def _bounds(
    screen: Screen, columns: Columns, rows: KernelRows, reach: dict[str, Any]
) -> tuple[dict[str, Any], Any]:
    """The bounds of some rows, and for which of them there is none."""
    p, mu, xp, K = screen.p, screen.mu, screen.p.xp, rows.K
    high, low = xp.max(K, axis=1), xp.min(K, axis=1)
    off, off_centered = xp.maximum(high, -low), xp.maximum(mu - low, high - mu)
    energy = xp.vecdot(K, K)
    offset = (p.F - 1) * mu**2
    energy_centered = energy - 2 * mu * xp.sum(K, axis=1) + offset
    rest, rest_centered = energy - off**2, energy_centered - off_centered**2
    error = _errors(xp, columns, rows, off)
    least = reach["least_energy"]

    def coupling(ratio: str, of_product: Any) -> Any:
        """The root of the largest product^2 / energy, where both are computed with an error."""
        return (xp.sqrt(reach[ratio] * least) + of_product) / xp.sqrt(least - error["energy"])

    kappa_eff = coupling("ratio_centered", error["centered"])
    totals = p.of_facts(p.projections)
    own_totals = totals[rows.facts]
    bounds = {
        "gamma_min": reach["margin"] - error["signal"] - error["crosstalk"],
        "s_min": reach["signal"] - error["signal"] - error["competitor"],
        "z_max": xp.sqrt(reach["absorbed_square"]) + error["absorbed"],
        "V_min": reach["V"] - error["gram"],
        "V_max": xp.sqrt(reach["U_square"]) + error["gram"],
        "K_off_max": off,
        "E_K": energy,
        "E_K_tilde": energy,
        "E_K_centered": energy_centered,
        "E_v": reach["energy"] + error["energy"],
        "E_v_tilde": reach["energy_absorbed"] + error["energy"],
        "kappa": coupling("ratio", error["crosstalk"]) / xp.sqrt(energy),
        "kappa_tilde": coupling("ratio_absorbed", error["absorbed"]) / xp.sqrt(rest),
        "kappa_centered": kappa_eff / xp.sqrt(rest_centered),
        "kappa_eff": kappa_eff,
        "B_Y": xp.maximum(own_totals - xp.min(totals), xp.max(totals) - own_totals),
    }
    root = math.sqrt(p.eps)
    unsure = ~(SURE * error["energy"] <= least)
    unsure = unsure | (rest <= root * energy) | (rest_centered <= root * (energy + offset))
    for bound in bounds.values():
        unsure = unsure | ~xp.isfinite(bound)
    optimum = {name: SENSES.get(name, (1, 0))[0] * math.inf for name in bounds}
    return {name: xp.where(unsure, optimum[name], bound) for name, bound in bounds.items()}, unsure


def _errors(xp: Any, columns: Columns, rows: KernelRows, off: Any) -> dict[str, Any]:
    """What rounding in the tiles of some rows can amount to; squares lose what underflows."""
    code, factor, shift = columns.largest
    dtype, rounding = columns.codes.dtype, columns.rounding
    lost = math.sqrt(float(xp.finfo(dtype).smallest_normal))
    column = xp.sqrt(xp.vecdot(rows.column, rows.column))
    crosstalk = 4 * rounding * math.sqrt(code) * column + lost
    competitor = 4 * rounding * code * off
    absorbed = crosstalk + competitor
    return {
        "gram": 4 * rounding * code + lost,
        "signal": 4 * rounding * code * xp.abs(rows.diagonal),
        "crosstalk": crosstalk,
        "competitor": competitor,
        "absorbed": absorbed,
        "centered": absorbed + 4 * rounding * shift,
        "energy": rounding * (8 * factor + 24 * code**2),
    }
