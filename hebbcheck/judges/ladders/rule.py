"""The rule: when a growing constant refutes, when flat ones support."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ...settings import LEVEL
from ..counting import limits
from .build import Ladder
from .centres import Centres, centres_of, tail_centres
from .climb import Climb
from .growth import Growth, growth_of
from .region import POWERS

RISING = {"d": 0.03, "m": 0.03, "diagonal": 0.03, "parameter": 0.25, "F": 0.5, "joint": 1.0, "tail": 1.5}
"""A local exponent above this, at the level, is growth (in log size; for F, joint and tail in log L)."""
RISING_SHORT = 0.2
"""The same on a ladder in powers that ends below `SPANS`, where true constants drift (as d^0.13 up to d = 256)."""
FLAT = {"d": 0.06, "m": 0.08, "diagonal": 0.12, "parameter": 0.3, "F": 0.6, "joint": 1.2, "tail": 1.5}
"""A local exponent whose upper 95% limit lies under this is none."""
CONVERGING = {"d": 0.2, "m": 0.3, "diagonal": 0.3, "parameter": 0.3, "F": 0.5, "joint": 0.5, "tail": 0.25}
"""A ladder whose remaining growth of log C has its upper limit under this has levelled off."""
DECAYING = {"d": 0.7, "m": 0.7, "diagonal": 0.7, "parameter": 0.7, "F": 0.5, "joint": 0.5, "tail": 0.5}
"""Growth goes on if the lower limit of what remains of it exceeds this."""
REMAINING_TAILS = (0.01, 0.05)
FLAT_LEVEL = 0.05
PLATEAU, JOINT_PLATEAU = 0.9, 1.15
"""A rising ladder's top must exceed this share of the constant that smaller sizes need anyway."""
ROUNDED = 1e-5
"""A ladder whose top needs less than this share of the largest constant grows by rounding, where sides cancel."""
LOOKS = 3
"""Ladders are judged at half of the draws, where that settles nothing at the end, and once more where it is open."""
SPANS = {"d": 2**10, "m": 2**5, "F": 2**4, "n": 2**4, "count": 2**4}
"""Sizes must get this large, where the family lets them."""
MARGIN = 1.4
"""The constant calibrated on the lower half of the ladders, times this, must cover the upper half."""
HELD_OUT_LEVEL = 0.01


class State(StrEnum):
    RISING = "rising"
    RISING_OR_NOT = "rising, perhaps levelling off"
    FLAT = "flat"
    CONVERGING = "converging"
    OPEN = "open"
    SLACK = "slack"
    THIN = "too few draws"


@dataclass
class Standing:
    """A ladder, what was measured on it, and what follows.

    `plateau`: the largest centre (of log C) elsewhere that growth along this ladder does not explain.
    """

    climb: Climb
    centres: Centres
    growth: Growth | None
    state: State
    plateau: float = -math.inf
    contradicts: bool = False
    passes: bool = False

    @property
    def ladder(self) -> Ladder:
        return self.climb.ladder

    @property
    def settled(self) -> bool:
        return self.state in (State.FLAT, State.CONVERGING, State.SLACK, State.THIN)

    @property
    def open(self) -> bool:
        """Whether the ladder leaves the verdict open: it may pass what is needed anyway if it goes on."""
        return not self.settled and self.passes and not self.contradicts


def level_of(climbs: list[Climb]) -> float:
    """The level of one ladder's test at one look; the other half of the level is that of `unbounded_cell`."""
    return LEVEL / (2 * LOOKS * max(len(climbs), 1))


def stand(climbs: list[Climb]) -> list[Standing]:
    """The state of each ladder, and what its growth means beside the others."""
    level = level_of(climbs)
    standings = [_standing(climb, level) for climb in climbs]
    sized = [s.centres.y for s in standings if not s.climb.is_tail and len(s.centres.y)]
    highest = max((float(np.max(y)) for y in sized), default=-math.inf)
    for s in standings:
        if s.growth is None:
            continue
        s.plateau = max(plateau_of(s, standings), highest if s.climb.is_tail else -math.inf)
        least = s.plateau + math.log(JOINT_PLATEAU if s.ladder.kind == "joint" else PLATEAU)
        value, error = s.growth.top
        s.contradicts = s.state is State.RISING and value - 2 * error > least
        s.passes = s.growth.ahead > highest and value > highest + math.log(ROUNDED)
    return standings


def _standing(climb: Climb, level: float) -> Standing:
    centres = tail_centres(climb.needed, climb.ladder.allowed) if climb.is_tail else centres_of(climb.needed)
    growth = growth_of(climb.ladder, centres, REMAINING_TAILS)
    return Standing(climb, centres, growth, state_of(climb.ladder, centres, growth, level))


def state_of(ladder: Ladder, centres: Centres, growth: Growth | None, level: float) -> State:
    """Whether a ladder rises, is flat, levels off, or cannot be told."""
    if growth is None:
        return State.SLACK if len(ladder.rungs) - 1 in centres.slack else State.THIN
    levels_off = growth.remaining[2] < CONVERGING[ladder.kind]
    if growth.slope.low(level) > RISING[ladder.kind]:
        lasting = RISING_SHORT if ends_early(ladder) else RISING[ladder.kind]
        if growth.remaining[0] > DECAYING[ladder.kind] and growth.slope.low(level) > lasting:
            return State.RISING
        return State.CONVERGING if levels_off else State.RISING_OR_NOT
    if growth.slope.high(FLAT_LEVEL) < FLAT[ladder.kind]:
        return State.FLAT
    return State.CONVERGING if levels_off else State.OPEN


def ends_early(ladder: Ladder) -> bool:
    """Whether a ladder in powers ends before its sizes get large."""
    top = ladder.rungs[-1]
    return not ladder.by_logarithm and any(top[n] < SPANS[n] for n in ladder.moves if n in POWERS)


def rising_most(standings: list[Standing]) -> Ladder | None:
    """Of the ladders that seem to rise the one on which growth is the least likely to decay."""
    rising = [
        (s.growth.remaining, s.ladder)
        for s in standings
        if s.growth and s.growth.slope.low(FLAT_LEVEL) > RISING[s.ladder.kind]
    ]
    return max(rising, key=lambda pair: pair[0][:2])[1] if rising else None


def plateau_of(s: Standing, standings: list[Standing]) -> float:
    """The largest centre on any ladder where not all of this one's sizes are large; -inf if there is none.

    Large means in the upper half of the ladder: what is needed there may be the same growth.
    """
    if s.climb.is_tail:
        return float(np.max(s.centres.y[: max(len(s.centres.y) // 2, 1)]))
    low, high = s.ladder.rungs[0], s.ladder.rungs[-1]
    middle = {n: math.sqrt(low[n] * high[n]) for n in s.ladder.moves}
    smaller = [
        float(other.centres.y[k])
        for other in standings
        if not other.climb.is_tail
        for k, rung in enumerate(other.centres.rungs)
        if any(other.ladder.rungs[rung].get(n, 0) < middle[n] for n in middle)
    ]
    return max(smaller, default=-math.inf)


Allowed = list[list[float]]
"""The failure probability allowed on each rung of each ladder, at the strict delta."""


@dataclass
class HeldOut:
    """The test on the larger sizes of a constant calibrated on the smaller ones: the ladder that does worst."""

    constant: float = math.nan
    worst: Climb | None = None
    failures: int = 0
    trials: int = 0
    allowed: float = 0.0
    fails: bool = False


def quantile_of(needed: np.ndarray, allowed: float) -> float:
    """log of the smallest constant with which at most a share `allowed` of the draws fails."""
    valid = np.sort(needed[~np.isnan(needed)])
    if not len(valid):
        return math.nan
    return float(valid[max(len(valid) - 1 - math.floor(allowed * len(valid)), 0)])


def held_out(climbs: list[Climb], allowed: Allowed) -> HeldOut:
    """Calibrate on the lower half of every ladder, test on the upper half."""
    lower = [
        quantile_of(climb.strict[r], allowed[k][r])
        for k, climb in enumerate(climbs)
        for r in _half(climb.ladder, upper=False)
    ]
    lower = [v for v in lower if math.isfinite(v)]
    if not lower:
        return HeldOut()
    result = HeldOut(constant=math.exp(max(lower)))
    worst = -math.inf
    for k, climb in enumerate(climbs):
        if climb.is_tail:
            continue
        rungs = _half(climb.ladder, upper=True)
        counts = [climb.failures(r, max(lower) + math.log(MARGIN)) for r in rungs]
        failures, trials = (sum(c) for c in zip(*counts, strict=True))
        if not trials:
            continue
        share = float(np.mean([allowed[k][r] for r in rungs]))
        low = limits(failures, trials, HELD_OUT_LEVEL)[0]
        if low - share > worst:
            worst = low - share
            result = HeldOut(result.constant, climb, failures, trials, share, low > share)
    return result


def _half(ladder: Ladder, upper: bool) -> list[int]:
    logs = ladder.log_sizes
    middle = (logs[0] + logs[-1]) / 2
    return [k for k, x in enumerate(logs) if (x > middle) == upper]


@dataclass(frozen=True)
class Unbounded:
    """A cell where no constant suffices more often than is allowed."""

    point: dict
    failures: int
    trials: int


def unbounded_cell(climbs: list[Climb], allowed: Allowed) -> Unbounded | None:
    """The first such cell, at the level."""
    level = LEVEL / (2 * LOOKS * max(sum(len(climb.strict) for climb in climbs), 1))
    for k, climb in enumerate(climbs):
        for r, strict in enumerate(climb.strict):
            valid = strict[~np.isnan(strict)]
            failures = int(np.sum(np.isposinf(valid)))
            if failures and limits(failures, len(valid), level)[0] > allowed[k][r]:
                return Unbounded(climb.ladder.rungs[r], failures, len(valid))
    return None
