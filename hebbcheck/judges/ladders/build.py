"""Ladders of scale: sequences of sizes along which a constant that is not absolute would grow."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from .region import COUNTS, POWERS, LARGEST_DELTA, Region

SHORTEST, LEAST_RUNGS = 6.0, 4
"""A ladder spans at least this factor and has at least that many rungs."""
FAR_D = 2**20
SCOUTED = {"d": (1, 32, 256, 2**12, 2**20), "m": (1, 2**7, 2**10, 2**13)}
SCOUTED_COUNTS = (1, 4, 16)
"""The coarse grid on which a few draws tell where constants are needed: values of sizes, factors of counts."""
BASES = 2
CROSSED = 8
LARGER = (8, 4, 2)
STEP, COUNT_STEP = 4.0, 2.0
"""From rung to rung sizes grow by these factors: few rungs with many draws tell an exponent better than many with few."""


@dataclass(frozen=True)
class Ladder:
    """Sizes from small to large.  `moves`: the sizes that grow, the one that measures the scale first.

    `kind` is "d", "m", "diagonal", "F" (facts or another count), "joint", "parameter", or "tail": one cell, of which
    ever smaller failure probabilities are asked (`allowed`, one a rung).
    """

    kind: str
    moves: tuple[str, ...]
    rungs: tuple[dict[str, Any], ...]
    choice: str = ""
    allowed: tuple[float, ...] = ()

    @property
    def by_logarithm(self) -> bool:
        """Whether growth is measured against log L: facts enter through logarithms."""
        return self.kind in ("F", "joint", "tail")

    @property
    def log_sizes(self) -> list[float]:
        if self.allowed:
            return [-math.log(p) for p in self.allowed]
        return [math.log(rung[self.moves[0]]) for rung in self.rungs]

    @property
    def scale(self) -> list[float]:
        if not self.by_logarithm:
            return self.log_sizes
        allowed = self.allowed or (None,) * len(self.rungs)
        return [math.log(log_count(rung, p)) for rung, p in zip(self.rungs, allowed, strict=True)]

    @property
    def name(self) -> str:
        """As in "d from 4 to 2^30 at F = 4, m = 8"."""
        low, high = self.rungs[0], self.rungs[-1]
        path = " and ".join(f"{n} from {power_of_two(low[n])} to {power_of_two(high[n])}" for n in self.moves)
        held = [f"{n} = {power_of_two(v)}" for n, v in low.items() if n not in self.moves and n != "delta"]
        return (
            path + (f" at {', '.join(held)}" if held else "") + (f" ({self.choice})" if self.choice else "")
        )


def log_count(point: dict[str, Any], allowed: float | None = None) -> float:
    """L = log(2 N^2 / delta) with the number N of facts (or of whatever else is counted)."""
    count = next((point[n] for n in COUNTS if n in point), 1)
    return math.log(2 * count**2 / (allowed or point.get("delta", LARGEST_DELTA)))


def power_of_two(value: float) -> str:
    """Large powers of two as such, other numbers as they are."""
    if value >= 1024 and value == 2 ** round(math.log2(value)):
        return f"2^{round(math.log2(value))}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class Builder:
    """The ladders of a region.

    `relevant`: the sizes that the claim's relations depend on; `top`: the largest count; `needs`: for each size the
    points (see `demanding`) at which a ladder in it is needed most.
    """

    def __init__(self, region: Region, relevant: Iterable[str], top: int, needs: dict[str, list[dict[str, Any]]]) -> None:
        self.region, self.top, self.needs = region, top, needs
        free = [n for n, axis in region.axes.items() if not axis.fixed and n in relevant]
        self.powers = [n for n in POWERS if n in free]
        self.count = next((n for n in COUNTS if n in free), None)
        self.first = region.corner()
        self.larger = self._larger()

    def all(self) -> list[Ladder]:
        """Rays, diagonals and joint ladders, without repetition."""
        if self.first is None:
            return []
        found = [
            *self._power_rays(),
            *self._diagonals(),
            *self._count_rays(),
            *self._joint(),
            *self._parameters(),
        ]
        unique: dict[str, Ladder] = {}
        for ladder in found:
            unique.setdefault(repr([sorted(r.items()) for r in ladder.rungs]), ladder)
        return by_priority(list(unique.values()))

    # -- corners ------------------------------------------------------------------------------------------------------
    def _larger(self) -> dict[str, Any] | None:
        """The corner at 8 times as many facts (or 4 or 2 times, where that many cannot be afforded)."""
        if self.first is None or self.count is None:
            return None
        for factor in LARGER:
            count = factor * self.first[self.count]
            if self.region.axes[self.count].holds(count) and count <= max(
                self.top, 2 * self.first[self.count]
            ):
                return self.region.corner(**{self.count: count})
        return None

    def _corners(self) -> list[dict[str, Any]]:
        return [c for c in (self.first, self.larger) if c is not None]

    def _moved(self, point: dict[str, Any], name: str, value: int) -> dict[str, Any] | None:
        """The corner with one power at another value, as near to it as its axis and the assumptions allow."""
        axis = self.region.axes.get(name)
        if axis is None or axis.fixed:
            return None
        value = min(axis.grid(), key=lambda v: abs(math.log(v / value)))
        count = {self.count: point[self.count]} if self.count else {}
        return self.region.corner(**count, **{name: value})

    # -- rays ---------------------------------------------------------------------------------------------------------
    def _ray(
        self, kind: str, base: dict[str, Any] | None, moves: dict[str, float], ratio: float
    ) -> Iterable[Ladder]:
        """The ladder from a base along `moves` {size: rate}: one or none."""
        if base is None:
            return
        lead = next(iter(moves))
        axis = self.region.axes[lead]
        start = base[lead] if len(moves) > 1 else axis.low
        values = [v for v in replace(axis, low=start).grid(ratio) if v >= start]
        rungs = []
        for value in values:
            growth = value / start
            point = {**base, **{n: round(base[n] * growth**rate) for n, rate in moves.items()}, lead: value}
            if all(self.region.axes[n].holds(point[n]) for n in moves) and self.region.feasible(point):
                rungs.append(point)
        rungs = [r for r in rungs if lead != self.count or r[lead] <= self.top]
        if _long_enough(rungs, lead) and self.region.goes_on(rungs[-1], moves):
            yield Ladder(kind, tuple(moves), tuple(rungs))

    def _power_rays(self) -> Iterable[Ladder]:
        for name in self.powers:
            ratio = 16.0 if name == "d" and self.region.axes[name].high > 2**16 else STEP
            for base in self._power_bases(name):
                yield from self._ray(name, base, {name: 1.0}, ratio)

    def _power_bases(self, name: str) -> list[dict[str, Any] | None]:
        found = self.needs.get(name, [])
        if name == "d" or "d" not in self.powers:
            return [*self._corners(), *found[:1]]
        far = min(self.region.axes["d"].high, FAR_D)
        return [*(self._moved(c, "d", far) for c in self._corners()), *found]

    def _diagonals(self) -> Iterable[Ladder]:
        if len(self.powers) < 2 or self.first is None:
            return
        for moves in ({"d": 1.0, "m": 1.0}, {"m": 1.0, "d": 0.5}):
            yield from self._ray("diagonal", self.first, moves, STEP)
        yield from self._edge()

    def _edge(self) -> Iterable[Ladder]:
        """m upwards with the smallest d that the assumptions allow."""
        count = {self.count: self.first[self.count]} if self.count else {}
        points = [
            self.region.corner(m=m, **count) for m in self.region.axes["m"].grid(STEP) if m >= self.first["m"]
        ]
        rungs = [p for p in points if p is not None]
        if _long_enough(rungs, "m") and rungs[-1]["d"] > 2 * rungs[0]["d"]:
            yield Ladder("diagonal", ("m", "d"), tuple(rungs))

    def _count_bases(self) -> list[dict[str, Any]]:
        """Where facts are added: at the smallest d and m that the largest number of them needs, at a large d, and where
        the constant is needed most."""
        base = self.region.corner(**{self.count: self._nearest_count(self.top)})
        if base is None:
            return []
        far = self._moved(base, "d", min(self.region.axes["d"].high, FAR_D)) if "d" in self.powers else None
        return [b for b in (base, far, *self.needs.get(self.count, [])) if b is not None]

    def _nearest_count(self, value: int) -> int:
        grid = self.region.axes[self.count].grid(COUNT_STEP)
        return max([v for v in grid if v <= value], default=grid[0])

    def _count_rays(self) -> Iterable[Ladder]:
        if self.count is None:
            return
        for base in self._count_bases():
            yield from self._ray("F", base, {self.count: 1.0}, COUNT_STEP)

    def _joint(self) -> Iterable[Ladder]:
        """Facts together with d, with m, and with both."""
        if self.count is None or not self.powers:
            return
        demanding = [*self.needs.get(self.count, []), self.first]
        for name in self.powers:
            yield from self._ray("joint", self._start(demanding[0], [name]), {self.count: 1.0, name: 1.0}, COUNT_STEP)
        if len(self.powers) == 2:
            moves = dict.fromkeys((self.count, *self.powers), 1.0)
            yield from self._ray("joint", self._start(self.first, self.powers), moves, COUNT_STEP)
        yield from self._corner_path()

    def _start(self, base: dict[str, Any], moving: list[str]) -> dict[str, Any]:
        """A base with the smallest number of facts, and as large other sizes where the assumptions let them."""
        low = self.first[self.count]
        return {**base, self.count: low, **{n: max(self.first[n], min(low, self.region.axes[n].high)) for n in moving}}

    def _corner_path(self) -> Iterable[Ladder]:
        """Facts with the smallest m and d that the assumptions allow with them."""
        counts = [
            v
            for v in self.region.axes[self.count].grid(COUNT_STEP)
            if self.first[self.count] <= v <= self.top
        ]
        rungs = [p for p in (self.region.corner(**{self.count: v}) for v in counts) if p is not None]
        moving = tuple(n for n in self.powers if rungs and rungs[-1][n] > rungs[0][n])
        if moving and _long_enough(rungs, self.count):
            yield Ladder("joint", (self.count, *moving), tuple(rungs))

    def _parameters(self) -> Iterable[Ladder]:
        """Other numbers of the family, where their range spans a large factor."""
        for name, values in self.region.parameters.items():
            size = self.region.claim.family.sizes[name]
            if name == "delta" or not isinstance(size.given, tuple) or values[0] <= 0:
                continue
            low, high = size.given
            if high / low >= 16:
                steps = [low * (high / low) ** (k / 8) for k in range(9)]
                rungs = [p for p in ({**self.first, name: v} for v in steps) if self.region.feasible(p)]
                if len(rungs) >= LEAST_RUNGS:
                    yield Ladder("parameter", (name,), tuple(rungs))


def by_priority(ladders: list[Ladder]) -> list[Ladder]:
    """First one ladder of each kind, then a second of each, and so on."""
    place: dict[str, int] = {}
    keys = []
    for ladder in ladders:
        keys.append(place.get(ladder.kind, 0))
        place[ladder.kind] = keys[-1] + 1
    return [ladders[i] for i in sorted(range(len(ladders)), key=lambda i: keys[i])]


def beyond_logarithms(ladder: Ladder) -> bool:
    """Whether a ladder in m gets beyond powers of L: forms such as sqrt(L/m) + L^2/m change their course at L^3."""
    top = ladder.rungs[-1]
    return "m" not in ladder.moves or ladder.by_logarithm or top["m"] >= CROSSED * log_count(top) ** 3


def _long_enough(rungs: list[dict[str, Any]], lead: str) -> bool:
    return len(rungs) >= LEAST_RUNGS and rungs[-1][lead] >= SHORTEST * rungs[0][lead]


def scouting_points(region: Region, relevant: Iterable[str]) -> list[dict[str, Any]]:
    """A coarse grid over the region."""
    first = region.corner()
    if first is None:
        return []
    values = {}
    for name, axis in region.axes.items():
        if axis.fixed or (name in POWERS and name not in relevant):
            values[name] = [first[name]]
        elif name in COUNTS:
            values[name] = [v for v in (first[name] * k for k in SCOUTED_COUNTS) if axis.holds(v)]
        else:
            steps = [max(first[name], v) for v in SCOUTED[name]]
            values[name] = sorted({v for v in steps if axis.holds(v)} | {first[name]})
    points = [{**first, **dict(zip(values, point, strict=True))} for point in itertools.product(*values.values())]
    return [p for p in points if region.feasible(p)]


def demanding(points: list[dict[str, Any]], needs: list[float], name: str) -> list[dict[str, Any]]:
    """The points of a coarse grid to start ladders in one size from: those whose largest value of it needs most."""
    best: dict[str, tuple[int, float, dict[str, Any]]] = {}
    for point, need in zip(points, needs, strict=True):
        others = repr(sorted((n, v) for n, v in point.items() if n != name))
        if others not in best or point[name] > best[others][0]:
            best[others] = (point[name], need, point)
    ranked = sorted(best.values(), key=lambda entry: (-entry[1], repr(sorted(entry[2].items()))))
    return [point for _, need, point in ranked[:BASES] if need > -math.inf]
