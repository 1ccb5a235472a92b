"""The smallest width at which a memory stores all its facts."""

from __future__ import annotations

import math
from typing import Any

from .errors import HebbcheckError

WIDEST = 2**17


def smallest_width(x: Any) -> int:
    """The smallest m at which the instance's memory stores every fact (positive margins), features nested in m.

    Starts where W = 3 m d = 8 F log F, gallops to a bracket and bisects integers.  Raises HebbcheckError where no
    width up to 2^17 stores them.
    """
    stored: dict[int, bool] = {}

    def stores(m: int) -> bool:
        if m not in stored:
            stored[m] = x.replace(m=m).stores_all
        return stored[m]

    low, high = _bracket(stores, _start(x))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if stores(middle) else (middle, high)
    return high


def _start(x: Any) -> int:
    F, d = int(x.F), int(x.d)
    return max(1, round(8 * F * math.log(max(F, 2)) / (3 * d)))


def _bracket(stores: Any, start: int) -> tuple[int, int]:
    """(low, high) with low not storing (or 0) and high storing."""
    m = start
    if stores(m):
        while m > 1 and stores(m // 2):
            m //= 2
        return m // 2, m
    while m < WIDEST:
        low, m = m, 2 * m
        if stores(m):
            return low, m
    raise HebbcheckError(f"no width up to {WIDEST} stores all facts; fewer facts or a larger d are needed")
