"""Sizes that vary: numbers, ranges and lists, for attacks (small) and for draws (any size)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ..errors import HebbcheckError

INTEGERS = ("F", "d", "m", "n", "count")
ATTACKS = {"F": (1, 12), "d": (1, 8), "m": (1, 12)}
DRAWS = {"F": (3, 256), "d": (4, 256), "m": (8, 512)}
DELTAS = (0.5, 0.1, 0.02)
GROWTH = 4
"""How much larger than in quick the largest default sizes are in standard."""


@dataclass(frozen=True)
class Size:
    """One number of a family: `given` is None (defaults), a number, a range (low, high) or a list."""

    name: str
    given: Any = None

    def __post_init__(self) -> None:
        entries = self.given if isinstance(self.given, list | tuple) else [self.given]
        if self.given is None:
            return
        for value in entries:
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float | np.number)
                or not math.isfinite(value)
            ):
                self._refuse("finite numbers are needed")
            if self.name in INTEGERS and (value != int(value) or value < 1):
                self._refuse("a size is a whole number from 1 up")
            if self.name == "delta" and not 0 < value < 1:
                self._refuse("a failure probability lies between 0 and 1")
        if isinstance(self.given, tuple) and (len(self.given) != 2 or self.given[0] > self.given[1]):
            self._refuse("a range is (low, high)")
        if isinstance(self.given, list) and not self.given:
            self._refuse("a list needs an entry")

    def _refuse(self, needed: str) -> None:
        raise HebbcheckError(
            f"{self.name}={self.given!r} is no size; {needed}; try a number, a range (low, high) or a list"
        )

    @property
    def integer(self) -> bool:
        return self.name in INTEGERS

    @property
    def listed(self) -> list[float] | None:
        """The values, where there are finitely many."""
        if self.given is None:
            return list(DELTAS) if self.name == "delta" else None
        if isinstance(self.given, list):
            return list(self.given)
        return None if isinstance(self.given, tuple) else [self.given]

    def bounds(self, profile: str = "quick") -> tuple[float, float]:
        """The smallest and the largest value that a draw may take."""
        if self.listed is not None:
            return min(self.listed), max(self.listed)
        if self.given is not None:
            return self.given
        low, high = DRAWS.get(self.name, (1, 64))
        return low, high * (1 if profile == "quick" else GROWTH)

    def attack(self, least: int = 1) -> st.SearchStrategy:
        """Small values for an attack, never below `least` unless the claim's author asked for them."""
        if self.listed is not None:
            return st.sampled_from(self.listed)
        if not self.integer:
            low, high = self.bounds()
            return st.floats(low, high, allow_nan=False)
        low, high = self.given or ATTACKS.get(self.name, (1, 12))
        top = ATTACKS.get(self.name, (1, 12))[1]
        low = max(low, least) if self.given is None else low
        return st.integers(low, max(low, min(high, top)))

    def sample(self, rng: np.random.Generator, profile: str = "quick") -> float:
        """A value for a draw: log-uniform for sizes, uniform for other numbers."""
        if self.listed is not None:
            return self.listed[int(rng.integers(len(self.listed)))]
        low, high = self.bounds(profile)
        if not self.integer:
            return float(rng.uniform(low, high))
        return int(round(math.exp(rng.uniform(math.log(low), math.log(high)))))
