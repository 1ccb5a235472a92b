"""The smallest width at which a memory stores all its facts.

Of one set of facts with one map; weights are nested in the width, so that widths can be compared.  An exception is an
error wherever it is raised (out of memory, a solve that did not converge): it is never taken for "not stored".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from . import memories
from .checks import whole_number
from .errors import HebbcheckError
from .memories.construction import FactTable, fact_table
from .memories.first_width import first_storing

WIDEST = 2**17
MOST_ENTRIES = 2**27
"""The largest F x m of a feature matrix that is tried: a gigabyte in float64."""


@dataclass(frozen=True)
class Found:
    """The answer of a search.

    `width`: the smallest width that stores all facts, None where none up to `widest` does.  `exact`: every smaller
    width was ruled out; otherwise only the one before it and those in `tried` (width -> stored) were.  `units`: how
    many hidden units were computed in all.  `monotone`: of the widths tried, those that store are the wider ones.
    """

    width: int | None
    widest: int
    exact: bool
    units: int
    tried: dict[int, bool] = field(default_factory=dict)

    @property
    def monotone(self) -> bool:
        in_order = [stored for _, stored in sorted(self.tried.items())]
        return in_order == sorted(in_order)


def smallest_width(x: Any) -> int:
    """The smallest width m at which the instance's memory stores every fact (positive margins), features nested in m.

    Starts where W = 3 m d = 8 F log F, gallops to a bracket and bisects integers: the memory of that width stores all
    facts, that of the width before it does not.  Where storing is not monotone in m, smaller widths may store them by
    luck.  Raises HebbcheckError where no width within reach stores them.
    """
    widest = max(1, min(WIDEST, MOST_ENTRIES // int(x.F)))
    found = search(lambda m: x.replace(m=m).stores_all, start=_start(x), widest=widest)
    if found.width is None:
        raise HebbcheckError(
            f"no width up to {widest} stores all facts; a capacity needs one that does; try fewer facts or a larger d"
        )
    return found.width


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

    Where hidden units are the same at every width (bilinear, ntk) the answer is exact and no memory is built.
    Elsewhere widths are tried by `search`: from the exact answer without the ridge (diagonal, whitened), where there is
    one, else from `start` (the predicted width) with the construction's cheaper options and then from what these find.
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
    widest = (
        max(1, min(WIDEST, MOST_ENTRIES // facts.F)) if widest is None else whole_number("widest", widest)
    )
    around = around or (int(not construction.stops_early), 1)

    def stores(m: int, **cheap: Any) -> bool:
        memory = memories.build(name, keys, values, map, width=m, seed=seed, **(options | cheap))
        return memory.stores(keys, values, map)

    units = construction.units(facts, seed, **options)
    if units is not None:
        first = first_storing(units, facts, widest)
        if units.exact:
            judged = {m: m == first.width for m in first.judged}
            return Found(first.width, widest, True, first.units, judged)
        near, step = (predicted(name, facts), None) if first.width is None else (first.width, 1)
        found = search(stores, start=near, widest=widest, step=step, around=around)
        return replace(found, units=found.units + first.units)
    start = predicted(name, facts) if start is None else start
    if construction.cheaper:
        rough = search(partial(stores, **construction.cheaper), start=start, widest=widest)
        if rough.width is None:
            return rough
        found = search(stores, start=rough.width, widest=widest, step=1, around=around)
        return replace(found, units=found.units + rough.units)
    if construction.stops_early:
        return search(stores, start=start, widest=widest, step=1, around=around)
    return search(stores, start=start, widest=widest, around=around)


def predicted(name: str, facts: FactTable) -> int:
    """The width at which a search starts: about what random facts on the sphere need."""
    F, parameters = facts.F, 2 * facts.d + facts.d_v
    needed = 3.8 * F + 2.5 * parameters if name == "gd" else 6.2 * F * math.log(max(F, 2))
    return max(1, round(needed / parameters))


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


def _start(x: Any) -> int:
    F, d = int(x.F), int(x.d)
    return max(1, round(8 * F * math.log(max(F, 2)) / (3 * d)))
