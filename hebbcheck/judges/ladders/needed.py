"""The constant that one draw needs: the smallest common constant with which all of a claim's relations hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ... import functions
from ...arrays import to_host
from ...claim import Claim, Relation
from ...errors import HebbcheckError

SMALLEST, LARGEST = 2.0**-40, 2.0**70
"""Constants outside this range count as 0 (nothing is needed) and as infinite (nothing suffices)."""
ROUNDING = 64
"""A relation that is broken by less than this many units in the last place of its sides holds."""
CLOSE = 1e-6
"""The relative accuracy of a needed constant."""
TRIED = tuple(2.0**k for k in range(-6, 7))
GRID = tuple(2.0 ** (k / 2) for k in range(-40, 81))
"""Where a form that is monotone in neither direction of its constants is searched."""
BETWEEN, STRAIGHT = (1.0, *GRID[30:70:13]), 1e-9
"""Where such a form is compared with the straight line between the ends of the grid, and how well they must agree."""


@dataclass(frozen=True)
class Directions:
    """How each constant weakens the bound: 1 when raised, -1 when lowered, 0 in neither way.

    One number s stands for all of them: constants that weaken the bound when raised are s, those that weaken it when
    lowered 1/s.  So s is bounded if and only if all of them can be absolute.
    """

    signs: dict[str, int]

    @property
    def monotone(self) -> bool:
        return 0 not in self.signs.values()

    def at(self, s: float) -> dict[str, float]:
        return {name: 1 / s if sign < 0 else s for name, sign in self.signs.items()}


@dataclass(frozen=True)
class Need:
    """What a draw needs.  `value`: 0 if any constant does, inf if none does, NaN if the draw is no evidence.

    `again`: for a form that is not monotone, the next larger constant at which the draw fails again.
    `trivial_from`: the constant from which on the bound lies beyond what the measured side can reach anyway.
    """

    value: float
    met: dict[str, bool]
    defined: bool = True
    again: float = math.inf
    trivial_from: float = math.inf


class Draw:
    """A claim on one instance, as a function of the common constant s."""

    def __init__(self, claim: Claim, instance: Any, directions: Directions) -> None:
        self.claim, self.instance, self.directions = claim, instance, directions
        self.moving = {k: test for k, test in claim.given.items() if claim.constants_in(test)}
        self.fixed = {k: test for k, test in claim.given.items() if k not in self.moving}
        self.eps = ROUNDING * instance.backend.eps
        self.limited = False

    def slacks(self, constants: dict[str, float]) -> list[float]:
        """The slack of each relation; inf where an assumption on the constants fails, so that nothing is claimed."""
        if not all(self.claim.call(test, self.instance, constants) for test in self.moving.values()):
            return [math.inf]
        relations = self.claim.relations(self.instance, **constants)
        self.limited = all(r.trivial is not None for r in relations)
        return [slack_of(r, self.eps) for r in relations]

    def lacks(self, s: float) -> list[float]:
        """The slacks at s, where undefined sides claim nothing."""
        try:
            return [math.inf if math.isnan(v) else v for v in self.slacks(self.directions.at(s))]
        except ZeroDivisionError:
            return [math.inf]

    def beyond(self, s: float) -> list[float]:
        """How far each bound lies beyond what its measured side can reach: -inf for those without a limit."""
        relations = self.claim.relations(self.instance, **self.directions.at(s))
        return [_beyond_trivial(r) for r in relations]

    def need(self) -> Need:
        """The constant that this draw needs."""
        try:
            met = {k: bool(self.claim.call(t, self.instance)) for k, t in self.fixed.items()}
            if not all(met.values()):
                return Need(math.nan, met)
            at_one = self.slacks(self.directions.at(1.0))
            if any(math.isnan(v) for v in at_one):
                return Need(math.nan, met, defined=False)
        except ZeroDivisionError:
            return Need(math.nan, {}, defined=False)
        limit = smallest(self.beyond, self.beyond(1.0)) if self.limited else math.inf
        if self.directions.monotone:
            return Need(smallest(self.lacks, at_one), met, trivial_from=limit)
        value, again = first_on_grid(_straight(self.lacks) or (lambda s: min(self.lacks(s))))
        return Need(value, met, again=again, trivial_from=limit)


def slack_of(relation: Relation, eps: float) -> float:
    """The smallest slack of a relation's entries, forgiving a rounding error of eps times its sides."""
    if relation.kind not in ("at_least", "at_most") or relation.in_expectation:
        raise HebbcheckError(
            f"a claim with absolute constants has a relation of kind {relation.kind!r}"
            f"{' in expectation' if relation.in_expectation else ''}; constants are judged in inequalities between "
            "measured numbers; try hc.at_most or hc.at_least, two of them for a two-sided bound"
        )
    measured, bound = relation.measured, relation.bound
    if measured is bound or (_is_number(measured) and _is_number(bound) and measured == bound):
        return 0.0
    slack = relation.slack()
    if _is_number(slack):
        scale = max(abs(float(measured)), abs(float(bound)))
        return float(slack) + (eps * scale if math.isfinite(scale) else 0.0)
    return _least_of_entries(relation, eps)


def _least_of_entries(relation: Relation, eps: float) -> float:
    """The same, entry by entry; equal entries (infinite ones too) have none."""
    measured, bound = (np.asarray(to_host(side), dtype=float) for side in (relation.measured, relation.bound))
    with np.errstate(invalid="ignore"):
        slack = bound - measured if relation.kind == "at_most" else measured - bound
        scale = np.maximum(np.abs(measured), np.abs(bound))
        forgiven = slack + np.where(np.isfinite(scale), eps * scale, 0.0)
    return float(np.min(np.where(measured == bound, 0.0, forgiven)))


def _is_number(side: Any) -> bool:
    return isinstance(side, int | float) or not getattr(side, "shape", (1,))


def _beyond_trivial(relation: Relation) -> float:
    """>= 0 where no entry of the bound says anything."""
    excess = relation.bound - relation.trivial
    if relation.kind == "at_least":
        excess = -excess
    return float(excess) if _is_number(excess) else float(functions.min(excess))


def smallest(slacks: Callable[[float], list[float]], one: list[float]) -> float:
    """The smallest s from which on all slacks are >= 0, slacks rising with s: 0 if all s do, inf if none does.

    `one`: the slacks at s = 1.
    Most forms are affine in s or in 1/s: their root is guessed from two values and checked; others are bracketed.
    """
    two = slacks(2.0)
    if min(one) >= 0 and min(slacks(SMALLEST)) >= 0:
        return 0.0
    for guess in (_affine_root(one, two), _harmonic_root(one, two)):
        if SMALLEST < guess < LARGEST and _is_root(slacks, guess):
            return guess
    return _bracketed(lambda s: min(slacks(s)), min(one))


def _is_root(slacks: Callable[[float], list[float]], guess: float) -> bool:
    return min(slacks(guess * (1 + CLOSE))) >= 0 > min(slacks(guess * (1 - CLOSE)))


def _affine_root(one: list[float], two: list[float]) -> float:
    roots = [1 - a / (b - a) for a, b in zip(one, two, strict=False) if b > a and math.isfinite(b - a)]
    return max(roots, default=0.0)


def _harmonic_root(one: list[float], two: list[float]) -> float:
    inverses = [1 + a / (b - a) / 2 for a, b in zip(one, two, strict=False) if b > a and math.isfinite(b - a)]
    positive = [1 / v for v in inverses if v > 0]
    return max(positive, default=0.0)


def _bracketed(f: Callable[[float], float], at_one: float) -> float:
    step, s, value = (0.5 if at_one >= 0 else 2.0), 1.0, at_one
    while (value >= 0) == (at_one >= 0):
        if s <= SMALLEST:
            return 0.0
        if s >= LARGEST:
            return math.inf
        other, step = s, step**1.5
        s = min(max(s * step, SMALLEST), LARGEST)
        value = f(s)
    return math.exp(_crossing(f, *sorted((math.log(s), math.log(other)))))


def _crossing(f: Callable[[float], float], low: float, high: float) -> float:
    """log s where f, negative at `low` and not at `high`, crosses 0."""

    def g(log_s: float) -> float:
        value = f(math.exp(log_s))
        return max(min(value, 1e300), -1e300)

    if g(high) == 0:
        return high
    return float(brentq(g, low, high, xtol=CLOSE, rtol=1e-12))


def first_on_grid(f: Callable[[float], float]) -> tuple[float, float]:
    """(the smallest s on the grid with f >= 0, refined, the next one where f < 0 again), for an f of any course."""
    holds = [f(s) >= 0 for s in GRID]
    if True not in holds:
        return math.inf, math.inf
    first = holds.index(True)
    again = next((s for s, good in zip(GRID[first:], holds[first:], strict=True) if not good), math.inf)
    if first == 0:
        return 0.0, again
    low, high = GRID[first - 1], GRID[first]
    while high / low > 1 + 1e-3:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if f(middle) >= 0 else (middle, high)
    return high, again


def _straight(slacks: Callable[[float], list[float]]) -> Callable[[float], float] | None:
    """The least slack as a function of s where all are affine in it: a grid's worth of evaluations is spared."""
    first, last = np.array(slacks(GRID[0])), np.array(slacks(GRID[-1]))
    if first.shape != last.shape or not np.all(np.isfinite([first, last])):
        return None
    rise = (last - first) / (GRID[-1] - GRID[0])
    for s in BETWEEN:
        seen, line = np.array(slacks(s)), first + rise * (s - GRID[0])
        scale = np.abs(first) + np.abs(rise) * s
        if seen.shape != line.shape or not np.all(np.abs(seen - line) <= STRAIGHT * scale):
            return None
    lines = list(zip(first.tolist(), rise.tolist(), strict=True))
    return lambda s: min(start + slope * (s - GRID[0]) for start, slope in lines)


def directions_of(claim: Claim, instances: list[Any], sizes: list[Any]) -> Directions:
    """The direction in which each constant weakens the claim, by evaluation on a few instances and sizes."""
    signs, found = {}, False
    for name in claim.constants:
        seen = {sign for x in instances for sign in _relation_signs(claim, x, name)}
        found = found or bool(seen)
        seen |= {sign for x in [*instances, *sizes] for sign in _probability_signs(claim, x, name)}
        signs[name] = 1 if not seen else (seen.pop() if len(seen) == 1 else 0)
    if not found and any(_probability_signs(claim, x, name) for x in sizes for name in claim.constants):
        raise HebbcheckError(
            f"the constants of claim {claim.id!r} stand in its failure probability alone, and no relation depends on "
            "them; a constant is judged by what draws need of it; state the probability with the constant's value"
        )
    return Directions(signs)


def _relation_signs(claim: Claim, instance: Any, name: str) -> set[int]:
    """In which directions the relations weaken as one constant moves and the others stay at 1."""
    draw = Draw(claim, instance, Directions(dict.fromkeys(claim.constants, 1)))
    courses = []
    for c in TRIED:
        try:
            courses.append(draw.slacks({**dict.fromkeys(claim.constants, 1.0), name: c}))
        except ZeroDivisionError:
            return set()
    count = max(map(len, courses))
    courses = [c if len(c) == count else [math.inf] * count for c in courses]
    steps = itertools.pairwise(courses)
    return {_sign(a, b) for before, after in steps for a, b in zip(before, after, strict=True)} - {0}


def _sign(before: float, after: float) -> int:
    if math.isnan(before) or math.isnan(after) or math.isclose(before, after, rel_tol=1e-12):
        return 0
    return 1 if after > before else -1


def _probability_signs(claim: Claim, sizes: Any, name: str) -> set[int]:
    """In which direction the allowed failure probability grows with the constant."""
    allowed = claim.fails_at_most
    if not callable(allowed) or name not in claim.constants_in(allowed):
        return set()
    others = dict.fromkeys(claim.constants, 1.0)
    values = [claim.allowed_failure(sizes, {**others, name: c}) for c in TRIED]
    return {_sign(a, b) for a, b in itertools.pairwise(values)} - {0}
