"""The smallest width at which a memory stores all its facts.

Of one set of facts with one map; weights are nested in the width, so that widths can be compared.  An exception is an
error wherever it is raised (out of memory, a solve that did not converge): it is never taken for "not stored".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from . import forecast, memories
from .arrays import to_host
from .checks import whole_number
from .errors import HebbcheckError
from .memories.construction import LARGEST_WIDTH, Construction, fact_table, room_for
from .memories.first_width import first_storing

WIDEST = 2**17
MOST_ENTRIES = 2**27
"""The largest F x m of a feature matrix that is tried: a gigabyte in float64."""
NEXT = 16
"""Further widths that are judged where units are the same at every width: each costs little."""


@dataclass(frozen=True)
class Found:
    """The answer of a search.

    `width`: the smallest width that stores all facts, None where none was found up to `widest`.  `exact`: every smaller
    width was ruled out (without an answer: every one up to `widest`); otherwise only the one before it and those in
    `tried` (width -> stored) were.  `units`: how many hidden units were computed in all.  `reason`: why no width stores
    the facts, where this is known.  `monotone`: of the widths tried, those that store are the wider ones.
    """

    width: int | None
    widest: int
    exact: bool
    units: int
    tried: dict[int, bool] = field(default_factory=dict)
    reason: str = ""

    @property
    def monotone(self) -> bool:
        in_order = [stored for _, stored in sorted(self.tried.items())]
        return in_order == sorted(in_order)


def of(
    name: str,
    keys: Any,
    values: Any,
    map: Any = None,
    *,
    seed: int = 0,
    start: int | None = None,
    widest: int | None = None,
    around: tuple[int, int] | None = None,
    **options: Any,
) -> Found:
    """The smallest width at which `memories.build(name, keys, values, map, seed=seed, **options)` stores every fact.

    Where hidden units are the same at every width (bilinear, ntk) the answer is exact, no start is needed, and a memory
    is built only at the answer, to confirm it in its own dtype.  Elsewhere widths are tried by `search`: from the exact
    answer without the ridge (diagonal, whitened), where there is one, else from `start` (what `forecast.start` expects
    of these keys and values) with the construction's cheaper options and then from what these find.  Where no step
    upwards from the start stores, widths between the steps are tried.  Facts that no memory can tell apart are not
    searched, nor are data-dependent memories beyond widths from which on they answer alike.
    `around`: how many widths below and above the answer are tried as well, to see whether wider memories keep it.
    Stored means positive margins, whatever `margin` a trained memory is asked for.
    """
    facts = fact_table(keys, values, map)
    construction = memories.construction_named(name)
    if not construction.free_width:
        raise HebbcheckError(
            f"{name!r} has one width for each d; a search needs widths that vary; try memories.build({name!r}, ...)"
        )
    construction.check_options(options)
    seed = whole_number("seed", seed, least=0)
    start = None if start is None else whole_number("start", start)
    widest = whole_number("widest", widest_within(facts.F) if widest is None else widest)
    if widest > LARGEST_WIDTH:
        raise HebbcheckError(
            f"widest={widest} is out of range; at most {LARGEST_WIDTH} fits an array; try a smaller one"
        )
    around = None if around is None else _pair(around)
    reason = facts.indistinct(construction.even(**options))
    if reason:
        return Found(None, widest, True, 0, reason=reason)

    def built(m: int, **cheap: Any) -> memories.GatedMLP:
        return memories.build(name, keys, values, map, width=m, seed=seed, **(options | cheap))

    def stores(m: int, **cheap: Any) -> bool:
        return built(m, **cheap).stores(keys, values, map)

    def answer(m: int, **cheap: Any) -> np.ndarray:
        return np.asarray(to_host(built(m, **cheap)(keys)))

    with room_for(f"the search for the width of {name!r} for {facts.F} facts", "a smaller widest="):
        units = construction.units(facts, seed, **options)
        if units is not None and units.exact:
            further = around[1] if around else NEXT
            first = first_storing(units, facts, widest, further=further, confirmed=stores)
            return Found(first.width, widest, True, first.units, first.judged)
        near = start or forecast.start(name, facts)
        beside = around or (int(not construction.stops_early), 1)
        if units is None:
            saturated = construction.saturated(facts, **options)
            return _by_building(construction, stores, answer, near, widest, beside, saturated)
        first = first_storing(units, facts, widest)
        step = None if first.width is None else 1
        found = search(stores, start=first.width or near, widest=widest, step=step, around=beside)
        if found.width is None:
            found = _between(stores, found, beside)
        return _after(first.units, found)


def _by_building(
    construction: Construction,
    stores: Callable[..., bool],
    answer: Callable[..., np.ndarray],
    near: int,
    widest: int,
    around: tuple[int, int],
    saturated: int | None,
) -> Found:
    """The search where every width has its own units: with the cheaper options first, if there are any."""
    step = 1 if construction.stops_early else None
    if not construction.cheaper:
        return search(stores, start=near, widest=widest, step=step, around=around)
    rough_stores = partial(stores, **construction.cheaper)
    twice = widest if saturated is None else min(widest, 2 * saturated)
    rough = search(rough_stores, start=near, widest=twice, step=step)
    if rough.width is None and saturated is not None and twice == 2 * saturated:
        if _alike(*(answer(m, **construction.cheaper) for m in (saturated, twice))):
            said = f"from width {saturated} on all memories answer alike, and they do not store the facts"
            return replace(rough, reason=said)
        if twice < widest:
            rough = _after(rough.units, search(rough_stores, start=twice, widest=widest, step=step))
    start, step = (rough.width, 1) if rough.width is not None else (widest, None)
    return _after(rough.units, search(stores, start=start, widest=widest, step=step, around=around))


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether outputs agree to a thousandth of the largest: so far the cheaper options go."""
    return bool(np.max(np.abs(one - other)) <= 1e-3 * np.max(np.abs(other)))


def _between(stores: Callable[[int], bool], found: Found, around: tuple[int, int]) -> Found:
    """The search from the first width that stores all facts of three between each two that were tried, if one does."""
    tried = sorted(found.tried)
    for low, high in pairwise(tried):
        for m in np.unique(np.geomspace(low, high, 5).astype(int)[1:-1]).tolist():
            if m not in found.tried and stores(m):
                return _after(
                    found.units, search(stores, start=m, widest=found.widest, step=1, around=around)
                )
    return found


def widest_within(F: int) -> int:
    """The widest memory of F facts that is tried unless another is asked for."""
    return max(1, min(WIDEST, MOST_ENTRIES // F))


def _after(units: int, found: Found) -> Found:
    return replace(found, units=found.units + units)


def _pair(around: Any) -> tuple[int, int]:
    if not isinstance(around, tuple | list) or len(around) != 2:
        raise HebbcheckError(
            f"around={around!r} is no pair; how many widths below and above are needed; try around=(1, 1)"
        )
    below, above = (whole_number("around", count, least=0) for count in around)
    return below, above


def search(
    stores: Callable[[int], bool],
    *,
    start: int,
    widest: int,
    step: int | None = None,
    around: tuple[int, int] = (0, 0),
) -> Found:
    """Gallops from `start` to a bracket, bisects it, and tries `around` further widths below and above the answer.

    Steps grow from `step` (a sixteenth of the start without one) twofold: few widths are tried where the
    start is good, and a logarithmic number anyhow.  The answer stores all facts and the width before it does not; a
    smaller width that is found to store them takes its place.
    """
    tried: dict[int, bool] = {}

    def known(m: int) -> bool:
        if m not in tried:
            tried[m] = bool(stores(m))
        return tried[m]

    start = max(1, min(start, widest))
    bracket = _bracket(known, start, widest, step or max(1, start // 16))
    if bracket is None:
        return Found(None, widest, False, sum(tried), tried)
    low, high = bracket
    while True:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if known(middle) else (middle, high)
        for m in range(high + 1, min(high + around[1], widest) + 1):
            known(m)
        smaller = [m for m in range(max(1, low - around[0]), low) if known(m)]
        if not smaller:
            return Found(high, widest, high == 1, sum(tried), tried)
        high = smaller[0]
        low = max((m for m, stored in tried.items() if m < high and not stored), default=0)


def _bracket(stores: Callable[[int], bool], start: int, widest: int, step: int) -> tuple[int, int] | None:
    """(low, high) with low not storing (or 0) and high storing; None where no width that was tried stores."""
    m = start
    if stores(m):
        while m > 1:
            low = max(1, m - step)
            if not stores(low):
                return low, m
            m, step = low, 2 * step
        return 0, 1
    while m < widest:
        low, m, step = m, min(m + step, widest), 2 * step
        if stores(m):
            return low, m
    return None
