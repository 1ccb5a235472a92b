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
LOOKS = 3
"""A cell is judged at most so often, after more and more draws; each time may refute, at a third of its level."""
ACCEPTED = 0.005
"""The probability with which an early look may accept twice the allowed rate."""
FIRST_LOOK = 32
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
def draws_needed(allowed: float, level: float, power_needed: float = POWER) -> int:
    """A number of draws with which twice the allowed rate is refuted with this power, within 5% of the fewest."""
    if allowed <= 0:
        return DRAWS_OF_NONE
    draws = 8
    while power(draws, allowed, level) < power_needed:
        draws = math.ceil(draws * 1.05)
    return draws


@cache
def looks(allowed: float, level: float) -> tuple[int, ...]:
    """After how many draws a cell is judged, each time at this level: at the last look there are enough of them.

    At an early look a rate that is clearly below twice the allowed one is accepted.  Over all looks twice the allowed
    rate is refuted with 95% power: the last one has the power that early acceptance may cost.  The first is where no
    failure at all is enough to be accepted.
    """
    last = draws_needed(allowed, level, POWER + (LOOKS - 1) * ACCEPTED)
    first = FIRST_LOOK
    if allowed > 0:
        first = max(first, math.ceil(math.log(ACCEPTED) / math.log1p(-twice(allowed))))
    if first >= last:
        return (last,)
    return first, max(first, round(math.sqrt(first * last))), last


def acceptable(failures: int, trials: int, allowed: float) -> bool:
    """Whether twice the allowed rate is ruled out, by the upper Clopper-Pearson limit."""
    return limits(failures, trials, ACCEPTED)[1] <= twice(allowed)
