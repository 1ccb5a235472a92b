"""Ladders of scale: sequences of sizes along which a constant that is not absolute would grow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from .region import COUNTS, LARGEST_DELTA, POWERS, Region

SHORTEST, LEAST_RUNGS = 6.0, 4
"""A ladder spans at least this factor and has at least that many rungs."""
FAR_D, FAR_D_DRAWN = 2**20, 2**6
"""A d that is large, where it is free and where coordinates are drawn."""
CROSSED = 32
LARGER = (8, 4, 2)
STEP, COUNT_STEP, FREE_STEP = 4.0, 2.0, 16.0
"""From rung to rung sizes grow by these factors: few rungs with many draws tell an exponent best."""
WIDE, LARGE = 16, 10**6
"""A parameter whose range spans this factor gets a ladder."""
Point = dict[str, Any]


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
    """Large powers of two as such, other large numbers rounded."""
    if value >= 1024 and value == 2 ** round(math.log2(value)):
        return f"2^{round(math.log2(value))}"
    return f"{value:.4g}" if isinstance(value, float) or value >= LARGE else str(value)


class Builder:
    """The ladders of a region.

    `first`: its smallest point; `relevant`: the sizes that the claim's relations depend on; `top`: the largest count;
    `needs`: for each size the points (see `scouting.demanding`) at which a ladder in it is needed most; for "diagonal"
    the one (see `scouting.saturated`) where those start.
    """

    def __init__(
        self, region: Region, first: Point, relevant: Iterable[str], top: int, needs: dict[str, list[Point]]
    ) -> None:
        self.region, self.first, self.top, self.needs = region, first, top, needs
        free = [n for n, axis in region.axes.items() if not axis.fixed and n in relevant]
        self.powers = [n for n in POWERS if n in free]
        self.counts = [n for n in COUNTS if n in free][:1]
        self.far = FAR_D if region.spanned else FAR_D_DRAWN
        self.corners = [first, *self._larger()]

    def all(self) -> list[Ladder]:
        """Rays, diagonals and joint ladders, without repetition."""
        found = [*self._power_rays(), *self._diagonals(), *self._parameters()]
        for count in self.counts:
            found += [*self._count_rays(count), *self._joint(count)]
        unique: dict[str, Ladder] = {}
        for ladder in found:
            unique.setdefault(repr([sorted(r.items()) for r in ladder.rungs]), ladder)
        return by_priority(list(unique.values()))

    # -- corners ------------------------------------------------------------------------------------------------------
    def _larger(self) -> list[Point]:
        """The corner at 8 times as many facts (or 4 or 2 times, where that many cannot be afforded)."""
        for count in self.counts:
            least = self.first[count]
            for value in (factor * least for factor in LARGER):
                if self.region.axes[count].holds(value) and value <= max(self.top, 2 * least):
                    return _some(self.region.corner({count: value}))
        return []

    def _moved(self, point: Point, name: str, value: int) -> Point | None:
        """The corner with one power at another value, as near to it as its axis and the assumptions allow."""
        axis = self.region.axes[name]
        if axis.fixed:
            return None
        value = min(axis.grid(), key=lambda v: abs(math.log(v / value)))
        return self.region.corner({**{n: point[n] for n in self.counts}, name: value})

    # -- rays ---------------------------------------------------------------------------------------------------------
    def _ray(self, kind: str, base: Point, moves: dict[str, float], step: float) -> Iterable[Ladder]:
        """The ladder from a base along `moves` {size: rate}: one or none.

        A ladder in one size starts at its smallest feasible value, one in several at the base.
        """
        lead = next(iter(moves))
        start = self._lowest_on_ray(base, lead) if len(moves) == 1 else base
        if start is None:
            return
        axis = self.region.axes[lead]
        top = min(axis.high, self.top) if lead in self.counts else axis.high
        if (lead in self.counts or kind == "diagonal") and top < start[lead] * step ** (LEAST_RUNGS + 1):
            step = math.sqrt(step)
        rungs = []
        for value in replace(axis, low=start[lead]).grid(step, top):
            growth = value / start[lead]
            point = {**start, **{n: round(start[n] * growth**rate) for n, rate in moves.items()}, lead: value}
            inside = growth >= 1 and all(self.region.axes[n].holds(point[n]) for n in moves)
            if inside and self.region.feasible(point):
                rungs.append(point)
        if _long_enough(rungs, lead) and self.region.goes_on(rungs[-1], moves):
            yield Ladder(kind, tuple(moves), tuple(rungs))

    def _lowest_on_ray(self, base: Point, lead: str) -> Point | None:
        axis = self.region.axes[lead]
        points = ({**base, lead: value} for value in axis.grid())
        first = next((p for p in points if self.region.feasible(p)), None)
        if first is None or axis.listed is not None:
            return first
        return {**first, lead: self.region.lowest(first, lead)}

    def _power_rays(self) -> Iterable[Ladder]:
        for name in self.powers:
            step = FREE_STEP if name == "d" and self.region.axes[name].high > 2**16 else STEP
            for base in self._power_bases(name):
                yield from self._ray(name, base, {name: 1.0}, step)

    def _power_bases(self, name: str) -> list[Point]:
        """Where a constant is needed most and cheapest first."""
        found = self.needs.get(name, [])
        if name == "d" or "d" not in self.powers:
            return [*found[:1], *self.corners]
        far = [p for c in self.corners for p in _some(self._moved(c, "d", self.far))]
        return [*found[:1], *far, *found[1:]]

    def _diagonals(self) -> Iterable[Ladder]:
        if len(self.powers) < 2:
            return
        bases = [*self.needs.get("diagonal", []), self.first]
        yield from next((found for found in map(self._diagonals_from, bases) if found), [])
        yield from self._edge()

    def _diagonals_from(self, base: Point) -> list[Ladder]:
        moves = ({"d": 1.0, "m": 1.0}, {"m": 1.0, "d": 0.5})
        return [ladder for rates in moves for ladder in self._ray("diagonal", base, rates, STEP)]

    def _edge(self) -> Iterable[Ladder]:
        """m upwards with the smallest d that the assumptions allow."""
        held = {n: self.first[n] for n in self.counts}
        values = [m for m in self.region.axes["m"].grid(STEP) if m >= self.first["m"]]
        rungs = [p for m in values for p in _some(self.region.corner({**held, "m": m}))]
        if _long_enough(rungs, "m") and rungs[-1]["d"] > 2 * rungs[0]["d"]:
            yield Ladder("diagonal", ("m", "d"), tuple(rungs))

    def _count_bases(self, count: str) -> list[Point]:
        """Where facts are added: where the constant is needed most, at the smallest d and m that the largest number of
        facts needs, and at a large d."""
        found = self.needs.get(count, [])
        corner = _some(self.region.corner({count: self._count_values(count)[-1]}))
        far = [p for c in corner if "d" in self.powers for p in _some(self._moved(c, "d", self.far))]
        return [*found[:1], *corner, *far, *found[1:]]

    def _count_values(self, count: str) -> list[int]:
        """Numbers of facts from the smallest to the largest."""
        axis = replace(self.region.axes[count], low=self.first[count])
        return axis.grid(COUNT_STEP, max(self.top, self.first[count]))

    def _count_rays(self, count: str) -> Iterable[Ladder]:
        for base in self._count_bases(count):
            yield from self._ray("F", base, {count: 1.0}, COUNT_STEP)

    def _joint(self, count: str) -> Iterable[Ladder]:
        """Facts together with d, with m, and with both; or with as much of them as the assumptions ask for."""
        path = self._corner_path(count)
        yield from path
        base = next(iter(self.needs.get(count, [])), self.first)
        asked = path[0].moves if path else ()
        for name in self.powers:
            if name not in asked:
                yield from self._joint_ray(base, count, [name])
        if len(self.powers) == 2 and not asked:
            yield from self._joint_ray(self.first, count, self.powers)

    def _joint_ray(self, base: Point, count: str, moving: list[str]) -> Iterable[Ladder]:
        """From the smallest number of facts, as large a d, and an m that gets beyond powers of L."""
        low = self.first[count]
        top = {**self.first, count: self.top}
        least = {"d": low, "m": math.ceil(CROSSED * log_count(top) ** 3 * low / self.top)}
        starts = {n: max(self.first[n], min(least[n], self.region.axes[n].high)) for n in moving}
        moves = dict.fromkeys((count, *moving), 1.0)
        yield from self._ray("joint", {**base, count: low, **starts}, moves, COUNT_STEP)

    def _corner_path(self, count: str) -> list[Ladder]:
        """Facts with the smallest m and d that the assumptions allow with them; none where they ask for no more."""
        values = self._count_values(count)
        if len(values) <= LEAST_RUNGS:
            values = sorted({*values, *(round(v * math.sqrt(COUNT_STEP)) for v in values[:-1])})
        rungs = [p for v in values for p in _some(self.region.corner({count: v}))]
        moving = tuple(n for n in self.powers if rungs and rungs[-1][n] > rungs[0][n])
        return (
            [Ladder("joint", (count, *moving), tuple(rungs))] if moving and _long_enough(rungs, count) else []
        )

    def _parameters(self) -> Iterable[Ladder]:
        """Other numbers of the family, where their range spans a large factor."""
        for name, values in self.region.parameters.items():
            size = self.region.claim.family.sizes[name]
            if name == "delta" or not isinstance(size.given, tuple) or values[0] <= 0:
                continue
            low, high = size.given
            if high / low >= WIDE:
                steps = [low * (high / low) ** (k / 8) for k in range(9)]
                steps = sorted({round(v) for v in steps}) if size.integer else steps
                rungs = [p for p in ({**self.first, name: v} for v in steps) if self.region.feasible(p)]
                if len(rungs) >= LEAST_RUNGS:
                    yield Ladder("parameter", (name,), tuple(rungs))


def _some(point: Point | None) -> list[Point]:
    return [] if point is None else [point]


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
