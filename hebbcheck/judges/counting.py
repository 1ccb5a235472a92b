"""Counting failures: exact binomial intervals, and how many draws a stated power needs.

Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial" (1934):
the lower limit of the failure rate exceeds `allowed` exactly where so many failures, or more, have a probability
below the level at that rate.
"""

from __future__ import annotations

import math
from functools import cache

from scipy import stats

POWER = 0.95
DRAWS_OF_NONE = 1000
"""Draws where no failure is allowed at all: each one refutes, and a rate of 0.3% shows with the stated power."""


def limits(failures: int, trials: int, level: float) -> tuple[float, float]:
    """The Clopper-Pearson limits of a failure rate, each at this level; (0, 1) without trials."""
    if trials == 0:
        return 0.0, 1.0
    exact = stats.binomtest(failures, trials).proportion_ci(1 - 2 * level, method="exact")
    return float(exact.low), float(exact.high)


def fewest_refuting(draws: int, allowed: float, level: float) -> int:
    """The fewest failures in so many draws whose lower limit exceeds what is allowed."""
    return int(stats.binom.isf(level, draws, allowed)) + 1


def twice(allowed: float) -> float:
    """The failure rate that must be seen: twice the allowed one (halfway to 1 where twice is beyond it)."""
    return min(2 * allowed, (1 + allowed) / 2)


def power(draws: int, allowed: float, level: float) -> float:
    """The probability that this many draws refute, where the failure rate is twice the allowed one."""
    return float(stats.binom.sf(fewest_refuting(draws, allowed, level) - 1, draws, twice(allowed)))


@cache
def draws_needed(allowed: float, level: float) -> int:
    """A number of draws with which twice the allowed rate is refuted with 95% power, within 5% of the fewest."""
    if allowed <= 0:
        return DRAWS_OF_NONE
    draws = 8
    while power(draws, allowed, level) < POWER:
        draws = math.ceil(draws * 1.05)
    return draws
