"""The smallest width at which a memory stores all its facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .errors import HebbcheckError

WIDEST = 2**17
MOST_ENTRIES = 2**27
"""The largest F x m of a feature matrix that is tried: a gigabyte in float64."""


def smallest_width(x: Any) -> int:
    """The smallest width m at which the instance's memory stores every fact (positive margins), features nested in m.

    Starts where W = 3 m d = 8 F log F, gallops to a bracket and bisects integers: the memory of that width stores all
    facts, that of the width before it does not.  Where storing is not monotone in m, smaller widths may store them by
    luck.  Raises HebbcheckError where no width within reach stores them.
    """
    stored: dict[int, bool] = {}

    def stores(m: int) -> bool:
        if m not in stored:
            stored[m] = x.replace(m=m).stores_all
        return stored[m]

    widest = max(1, min(WIDEST, MOST_ENTRIES // int(x.F)))
    low, high = _bracket(stores, min(_start(x), widest), widest)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if stores(middle) else (middle, high)
    return high


def _start(x: Any) -> int:
    F, d = int(x.F), int(x.d)
    return max(1, round(8 * F * math.log(max(F, 2)) / (3 * d)))


def _bracket(stores: Callable[[int], bool], start: int, widest: int) -> tuple[int, int]:
    """(low, high) with low not storing (or 0) and high storing."""
    m = start
    if stores(m):
        while m > 1 and stores(m // 2):
            m //= 2
        return m // 2, m
    while m < widest:
        low, m = m, min(2 * m, widest)
        if stores(m):
            return low, m
    raise HebbcheckError(
        f"no width up to {widest} stores all facts; a capacity needs one that does; try fewer facts or a larger d"
    )
