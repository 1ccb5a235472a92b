"""The sizes that a claim speaks of: what its family draws and its assumptions on sizes leave."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...claim import Claim
from ...errors import HebbcheckError
from ...geometry.sizes import Size
from ...settings import Settings

POWERS = ("d", "m")
"""Sizes whose powers a constant may hide."""
COUNTS = ("F", "n", "count")
"""Sizes that enter bounds through logarithms."""
SIZES = (*COUNTS, *POWERS)
LEAST = {"F": 4, "d": 4, "m": 8}
COUNT_BEYOND, POWER_BEYOND = 2**8, 2**16
FAR = 2**60
"""How far the smallest feasible sizes are looked for where none can be reached."""
LARGEST_DELTA, STRICT_DELTA = 0.5, 0.1
"""Ladders of sizes follow the centre of what is needed, so the failure probability there is a half (where the family
lets it): the median then is the quantile that the statement speaks of, and it drifts least.  What a stricter one needs
is measured too."""


@dataclass(frozen=True)
class Axis:
    """One size: the values that can be drawn, from `low` to `high`, or the listed ones.

    `open`: the family sets no upper limit; `high` is then what this profile can afford.
    """

    name: str
    low: int
    high: int
    listed: tuple[int, ...] | None = None
    open: bool = False

    @property
    def fixed(self) -> bool:
        return self.low >= self.high

    def grid(self, ratio: float = 2.0, high: int | None = None) -> list[int]:
        """Values that grow by a factor, from the smallest to the largest."""
        top = high or self.high
        if self.listed is not None:
            return [v for v in self.listed if v <= top]
        steps = int(math.log(max(top / self.low, 1)) / math.log(ratio) + 1e-9)
        return sorted({round(self.low * ratio**k) for k in range(steps + 1)})

    def holds(self, value: int) -> bool:
        return value in self.listed if self.listed is not None else self.low <= value <= self.high


def axis_of(size: Size, reach: int) -> Axis:
    """The values of one size of a family that a ladder may use; `reach`: the largest affordable one."""
    if size.listed is not None:
        listed = tuple(sorted(int(v) for v in size.listed))
        within = tuple(v for v in listed if v <= reach) or listed[:1]
        return Axis(size.name, within[0], within[-1], within)
    if size.given is None:
        return Axis(size.name, LEAST.get(size.name, 2), reach, open=True)
    low, high = (int(v) for v in size.given)
    return Axis(size.name, low, max(low, min(high, reach)), open=False)


def reaches(settings: Settings, spanned: bool, facts: bool) -> dict[str, int]:
    """The largest sizes that a profile affords, if that many draws of them can be paid for.

    d is free where inner products can be drawn without coordinates.
    """
    exact_enough = 2**30 if settings.dtype == "float64" else 2**16
    return {
        "F": settings.by_profile(2**10, 2**12),
        "n": settings.by_profile(2**16, 2**19),
        "count": settings.by_profile(2**10, 2**12),
        "m": settings.by_profile(2**16, 2**19),
        "d": exact_enough if spanned else settings.by_profile(2**12, 2**13) if facts else 2**20,
    }


class Region:
    """The feasible sizes.  A point is a dict of all numbers of the family: sizes, delta and other parameters."""

    def __init__(self, claim: Claim, settings: Settings, spanned: bool) -> None:
        self.claim, self.spanned = claim, spanned
        self.probable = callable(claim.fails_at_most) and not allows_by_constants(claim)
        sizes = claim.family.sizes
        limits = reaches(settings, spanned, "F" in sizes)
        self.axes = {n: axis_of(sizes[n], limits[n]) for n in SIZES if n in sizes}
        self.parameters = {n: choices_of(s) for n, s in sizes.items() if n not in self.axes}
        self.typical = {n: values[len(values) // 2] for n, values in self.parameters.items()}
        self.strict = None
        if "delta" in self.parameters:
            self.typical["delta"], self.strict = deltas_of(sizes["delta"])
        if self.corner() is None:
            self._other_parameters()

    def _other_parameters(self) -> None:
        """Where the usual values of the parameters are not feasible, the first ones that are."""
        usual = self.typical
        for values in combinations({n: v for n, v in self.parameters.items() if n != "delta"}):
            self.typical = {**usual, **values}
            if self.corner() is not None:
                return
        self.typical = usual

    def feasible(self, point: dict[str, Any]) -> bool:
        """Whether the assumptions that speak of sizes alone hold there, with all constants 1, and something is claimed.

        At both values of delta that are measured.
        """
        if self.strict is not None and not self._feasible({**point, "delta": self.strict}):
            return False
        return self._feasible(point)

    def _feasible(self, point: dict[str, Any]) -> bool:
        sizes = self.claim.family.sizes_at(point)
        if self.probable and not self._possible(sizes):
            return False
        for test in self.claim.given.values():
            try:
                if not self.claim.call(test, sizes):
                    return False
            except ArithmeticError:
                return False
            except HebbcheckError:
                continue  # it speaks of drawn quantities: judged instance by instance
        return True

    def _possible(self, sizes: Any) -> bool:
        """Whether the allowed failure probability lies below 1."""
        try:
            return self.claim.allowed_failure(sizes) < 1
        except ArithmeticError:
            return False

    def corner(
        self, fixed: dict[str, Any] | None = None, high: dict[str, int] | None = None
    ) -> dict[str, Any] | None:
        """The smallest feasible point: facts first, then m, then d.  `fixed` holds numbers where they are."""
        fixed = fixed or {}
        order = [n for n in ("F", "n", "count", "m", "d") if n in self.axes]
        held = {**self.typical, **fixed}
        grids = [[fixed[n]] if n in fixed else self.axes[n].grid(high=(high or {}).get(n)) for n in order]
        for values in itertools.product(*grids):
            point = {**held, **dict(zip(order, values, strict=True))}
            if self.feasible(point):
                return self._refined(point, [n for n in order if n not in fixed])
        return None

    def _refined(self, point: dict[str, Any], free: list[str]) -> dict[str, Any]:
        for name in free:
            if self.axes[name].listed is None:
                point = {**point, name: self.lowest(point, name)}
        return point

    def lowest(self, point: dict[str, Any], name: str) -> int:
        """The smallest feasible value of one size, below that of a feasible point."""
        low, high = self.axes[name].low, point[name]
        while low < high:
            middle = (low + high) // 2
            if self.feasible({**point, name: middle}):
                high = middle
            else:
                low = middle + 1
        return high

    def far_corner(self) -> dict[str, Any] | None:
        """The smallest feasible sizes at all, wherever the family and the assumptions allow them."""
        sizes = self.claim.family.sizes
        high = {}
        for name, axis in self.axes.items():
            given = sizes[name].given
            high[name] = FAR if axis.open else int(given[1]) if isinstance(given, tuple) else axis.high
        found, before = self.corner(high=high), None
        while found is not None and found != before:  # one size lowered lets another one go lower
            before = found
            found = self._refined(found, list(self.axes))
        return found

    def goes_on(self, rung: dict[str, Any], moves: dict[str, float]) -> bool:
        """Whether the region goes on well beyond a ladder's top: a ladder that it ends cannot diverge alone."""
        if not all(self.axes[n].open for n in moves):
            return True
        lead = next(iter(moves))
        growth = COUNT_BEYOND if lead in COUNTS else POWER_BEYOND
        out = {n: math.ceil(rung[n] * growth**rate) for n, rate in moves.items()}
        return self.feasible({**rung, **out})


def allows_by_constants(claim: Claim) -> bool:
    """Whether the allowed failure probability depends on the claim's constants."""
    allowed = claim.fails_at_most
    return callable(allowed) and bool(claim.constants_in(allowed))


def deltas_of(size: Size) -> tuple[float, float | None]:
    """The failure probability on the ladders, and a smaller one that is measured with it (None if there is none)."""
    if size.given is None:
        return LARGEST_DELTA, STRICT_DELTA
    low, high = size.bounds()
    if size.listed is None:
        return max(low, min(high, LARGEST_DELTA)), (
            max(low, STRICT_DELTA) if low < STRICT_DELTA < high else None
        )
    moderate = [v for v in size.listed if v <= LARGEST_DELTA] or [low]
    largest = max(moderate)
    smaller = [v for v in moderate if v < largest]
    return largest, (max(smaller) if smaller else None)


def choices_of(size: Size) -> list[float]:
    """A few values of a number that is no size: the typical one in the middle."""
    if size.listed is not None:
        values = sorted(size.listed)
        return sorted({values[0], values[len(values) // 2], values[-1]})
    low, high = size.bounds()
    middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
    return sorted({round(v) if size.integer else v for v in (low, middle, high)})


def combinations(parameters: dict[str, list[float]], limit: int = 9) -> Iterator[dict[str, float]]:
    """The first few combinations of parameters' values."""
    names = list(parameters)
    for values in itertools.islice(itertools.product(*parameters.values()), limit):
        yield dict(zip(names, values, strict=True))
