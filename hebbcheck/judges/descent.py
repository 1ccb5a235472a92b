"""Local search: the inputs of an instance that nearly breaks a claim are moved until it does.

A (1+1) evolution strategy with a success-based step size (Rechenberg, 1973): one random move, kept where the relative
slack does not grow; steps grow by half after a success and shrink by a tenth after a failure, which balances at one
success in five.  Now and then a vector becomes a copy, a multiple or the opposite of another one, because equality
and violation often lie at such places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..geometry.shapes import unit_rows
from ..inputs import Raw
from .search import Search, Seen

WIDTH = 0.3
"""The first step, as a multiple of an array's largest entry."""
SMALLEST = 1e-9
JUMPS = 0.15
"""The share of moves that copy a vector, reverse it, scale it or swap two entries of the map."""


def descend(search: Search, rng: np.random.Generator, steps: int) -> None:
    """Move each of the instances nearest to a violation, `steps` times in all; ends at the first violation.

    Those that attain equality by their slack, the others by that of the relations that they do not attain.
    """
    starts = [(0.0, raw, _slack) for raw in search.equal]
    starts += [(ratio, raw, _followed) for ratio, raw in search.closest()]
    movable = [s for s in starts if any(name in s[1].arrays for name in search.claim.family.free)]
    for ratio, raw, nearness in movable:
        if _climb(search, ratio, raw, nearness, rng, steps // len(movable)):
            return


def _slack(seen: Seen) -> float:
    return math.inf if seen.ratio is None else seen.ratio


def _followed(seen: Seen) -> float:
    return seen.followed


def _climb(
    search: Search,
    best: float,
    raw: Raw,
    nearness: Callable[[Seen], float],
    rng: np.random.Generator,
    steps: int,
) -> bool:
    width = WIDTH
    for _ in range(steps):
        if width < SMALLEST:
            break
        moved = _moved(raw, search.claim.family.free, rng, width)
        seen = search.see(moved)
        if seen.broken:
            return True
        ratio = nearness(seen)
        width *= 1.5 if ratio < best else 0.9
        if ratio <= best:
            best, raw = ratio, moved
    return False


def _moved(raw: Raw, free: tuple[str, ...], rng: np.random.Generator, width: float) -> Raw:
    names = [name for name in free if name in raw.arrays and raw.arrays[name].size]
    name = names[int(rng.integers(len(names)))]
    array = raw.arrays[name].copy()
    if array.dtype.kind in "iu":
        _swap(array, rng)
        return raw.with_array(name, array)
    if rng.random() < JUMPS:
        _jump(array, rng)
    else:
        _nudge(array, rng, width)
    return raw.with_array(name, unit_rows(array) if name in raw.unit else array)


def _swap(array: np.ndarray, rng: np.random.Generator) -> None:
    i, j = rng.integers(len(array), size=2)
    array[[i, j]] = array[[j, i]]


def _jump(rows: np.ndarray, rng: np.random.Generator) -> None:
    i, j = rng.integers(len(rows), size=2)
    rows[i] = rows[j] * _one_of(rng, (1.0, -1.0, 2.0, 0.5, 0.0))


def _nudge(rows: np.ndarray, rng: np.random.Generator, width: float) -> None:
    """Move one row, or all of them, by a Gaussian step."""
    where: Any = slice(None) if rng.random() < 0.3 else int(rng.integers(len(rows)))
    scale = float(np.max(np.abs(rows[where]), initial=0.0)) or 1.0
    rows[where] += width * scale * rng.standard_normal(rows[where].shape)


def _one_of(rng: np.random.Generator, values: tuple[float, ...]) -> float:
    return values[int(rng.integers(len(values)))]
