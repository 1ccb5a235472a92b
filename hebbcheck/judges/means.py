"""Means on geometries: by how much an interval misses what is claimed, and which bias would have been seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from scipy import stats

from ..settings import LEVEL
from .counting import POWER, limits
from .moments import Moments

PRECISE = 0.05
"""The relative bias that a supported claim has not."""
DOMINATED = 0.3
"""Skewness over sqrt n from which on a few samples make the variance; Hall's interval was measured up to 0.2."""


@dataclass(frozen=True)
class Estimate:
    """One mean on one geometry: the moments of measured - bound, and the means of both sides."""

    cell: int
    numbers: dict
    choice: str
    relation: int
    kind: str
    beyond: bool
    moments: Moments
    left: float
    right: float
    named: float
    event: str
    rounding: float
    suspected: bool = False
    confirmed: bool = False

    def miss(self, level: float) -> float:
        """By how much the interval misses the claim: 0 where it does not, and where it is none."""
        if self.blind:
            return 0.0
        low, high = self.interval(level)
        sides = {"equal": (low, -high), "at_least": (-high,), "at_most": (low,)}[self.kind]
        return max(max(sides) - self.rounding * max(abs(self.left), abs(self.right)), 0.0)

    def visible(self, level: float) -> float:
        """The bias that as many samples, twice over, would have shown with 95% power."""
        if self.blind:
            return math.inf
        return self.half_width(level) + float(stats.norm.ppf(math.sqrt(POWER))) * self.error

    @property
    def blind(self) -> bool:
        """Whether rare samples may make the mean: all are equal though the sides differ, or a few make the variance."""
        if self.event:
            return False
        rounding = self.rounding * max(abs(self.left), abs(self.right))
        if self.deviation <= rounding:
            return abs(self.gap) > rounding
        return self.moments.dominance > DOMINATED

    def half_width(self, level: float) -> float:
        """The longer side of the interval."""
        low, high = self.interval(level)
        return max(high - self.gap, self.gap - low)

    def interval(self, level: float) -> tuple[float, float]:
        """Of the gap: Hall's, or for an event's frequency against a number the exact one."""
        if not self.event:
            low, high = self.moments.interval(level)
            return float(low), float(high)
        frequency, number = (self.left, self.right) if self.event == "left" else (self.right, self.left)
        count = self.moments.count
        least, most = limits(round(frequency * count), count, level / 2)
        return (least - number, most - number) if self.event == "left" else (number - most, number - least)

    @property
    def gap(self) -> float:
        """The mean of measured - bound."""
        return float(self.moments.mean)

    @property
    def error(self) -> float:
        """The standard error of the gap."""
        return float(self.moments.error)

    @property
    def mean(self) -> float:
        """The larger side; where that cannot be told from 0 the number that the claim names."""
        larger = max(abs(self.left), abs(self.right))
        return larger if larger > 6 * self.error else self.named

    @property
    def deviation(self) -> float:
        """The standard deviation of the samples."""
        return self.error * self.moments.count**0.5

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={value:.4g}" for name, value in self.numbers.items())
        return f"{self.choice} geometry, {sizes}" if self.choice else sizes


def level_of(entries: list[Estimate]) -> float:
    """The level of each interval, where all share the verdict's."""
    return LEVEL / max(len(entries), 1)


def missing(entries: list[Estimate], most: int) -> dict[int, int]:
    """{cell: samples to add} where a bias of 5% would not have been seen yet."""
    level, scales = level_of(entries), scales_of(entries)
    more: dict[int, int] = {}
    for e in entries:
        excess = e.visible(level) / (PRECISE * scales[e.relation]) if scales[e.relation] else 0.0
        if excess > 1:
            wanted = int(min(1.2 * excess**2 * e.moments.count, most)) - e.moments.count
            more[e.cell] = max(more.get(e.cell, 0), wanted)
    return {cell: count for cell, count in more.items() if count > 0}


def visible_bias(entries: list[Estimate]) -> tuple[float, str]:
    """(the relative bias that would have been seen everywhere, what it is relative to)."""
    level, scales = level_of(entries), scales_of(entries)
    bias = max((e.visible(level) / scales[e.relation] if scales[e.relation] else 0.0) for e in entries)
    return bias, "the largest mean" if any(e.mean for e in entries) else "the standard deviation"


def scales_of(entries: list[Estimate]) -> dict[int, float]:
    """{relation: its largest mean over all geometries, or where that is 0 its largest standard deviation}."""
    relations = {e.relation for e in entries}
    means = {r: max(e.mean for e in entries if e.relation == r) for r in relations}
    return {r: means[r] or max(e.deviation for e in entries if e.relation == r) for r in relations}


def merged(entries: list[Estimate], more: list[Estimate]) -> list[Estimate]:
    """Entries with the samples of the same cell and place added."""
    added = _by_place(more)
    return [_sum(e, added[place]) if place in added else e for place, e in _by_place(entries).items()]


def _by_place(entries: list[Estimate]) -> dict[tuple[int, int], Estimate]:
    """{(cell, place in the cell): entry}."""
    places: dict[tuple[int, int], Estimate] = {}
    counts: dict[int, int] = {}
    for e in entries:
        places[e.cell, counts.get(e.cell, 0)] = e
        counts[e.cell] = counts.get(e.cell, 0) + 1
    return places


def _sum(a: Estimate, b: Estimate) -> Estimate:
    share = b.moments.count / (a.moments.count + b.moments.count)
    left, right = a.left + share * (b.left - a.left), a.right + share * (b.right - a.right)
    return replace(a, moments=a.moments.merged(b.moments), left=left, right=right)


def confirmed(entries: list[Estimate], fresh: list[Estimate], level: float) -> list[Estimate]:
    """Suspicions that fresh samples share are confirmed, and quoted by those; the others stay suspicions."""
    again = _by_place(fresh)
    judged = []
    for place, e in _by_place(entries).items():
        if place in again and e.miss(level):
            shared = again[place].miss(level) and _same_side(e, again[place])
            e = replace(again[place], confirmed=True) if shared else replace(e, suspected=True)
        judged.append(e)
    return judged


def _same_side(a: Estimate, b: Estimate) -> bool:
    return (a.gap > 0) == (b.gap > 0)
