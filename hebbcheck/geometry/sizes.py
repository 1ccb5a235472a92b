"""Sizes that vary: numbers, ranges and lists, for attacks (small) and for draws (any size)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ..errors import HebbcheckError

INTEGERS = ("F", "d", "m", "n", "count")
ATTACKS = {"F": (1, 12), "d": (1, 8), "m": (1, 12)}
DRAWS = {"F": (3, 256), "d": (4, 256), "m": (8, 512)}
DELTAS = (0.5, 0.1, 0.02)
PROBES = {"F": (5, 3, 4), "d": (4, 16, 8, 32), "m": (6, 64, 24, 128), "delta": (0.1, 0.5, 0.02)}
GROWTH = 4
"""How much larger than in quick the largest default sizes are in standard."""


@dataclass(frozen=True)
class Size:
    """One number of a family: `given` is None (defaults), a number, a range (low, high) or a list.

    `whole`: it takes whole numbers only; F, d, m, n and count always do.
    """

    name: str
    given: Any = None
    whole: bool = False

    def __post_init__(self) -> None:
        if self.given is None:
            return
        entries = [
            self._checked(v) for v in (self.given if isinstance(self.given, list | tuple) else [self.given])
        ]
        if isinstance(self.given, tuple) and (len(entries) != 2 or entries[0] > entries[1]):
            self._refuse("a range is (low, high), two numbers with low <= high")
        if not entries:
            self._refuse("a list needs an entry")
        given = type(self.given)(entries) if isinstance(self.given, list | tuple) else entries[0]
        object.__setattr__(self, "given", given)

    def _checked(self, value: Any) -> float:
        """One of the numbers, as a Python int or float."""
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            self._refuse("finite numbers are needed")
        if self.name in INTEGERS and (value != int(value) or value < 1):
            self._refuse("a size is a whole number from 1 up")
        if self.name == "delta" and not 0 < value < 1:
            self._refuse("a failure probability lies between 0 and 1")
        if self.name == "eps" and value < 0:
            self._refuse("the radius of noise is not negative")
        return int(value) if self.integer or isinstance(value, int | np.integer) else float(value)

    def _refuse(self, needed: str) -> None:
        raise HebbcheckError(
            f"{self.name}={self.given!r} is no size; {needed}; try a number, a range (low, high) or a list"
        )

    @property
    def integer(self) -> bool:
        return self.whole or self.name in INTEGERS

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
            return st.floats(*self.bounds(), allow_nan=False)
        usual_low, usual_high = ATTACKS.get(self.name, (1, 12))
        low, high = self.given or (max(usual_low, least), usual_high)
        return st.integers(int(low), int(max(low, min(high, usual_high))))

    def sample(self, rng: np.random.Generator, profile: str = "quick") -> float:
        """A value for a draw: log-uniform for sizes, uniform for other numbers."""
        if self.listed is not None:
            return self.listed[int(rng.integers(len(self.listed)))]
        low, high = self.bounds(profile)
        if not self.integer:
            return float(rng.uniform(low, high))
        if low < 1:
            return int(rng.integers(int(low), int(high) + 1))
        return round(math.exp(rng.uniform(math.log(low), math.log(high))))

    def small(self, rng: np.random.Generator) -> float:
        """A value for an attack: geometric from the smallest one up for sizes, any value for other numbers."""
        if self.listed is not None or not self.integer:
            return self.sample(rng)
        low, high = self.given or ATTACKS.get(self.name, (1, 12))
        return int(min(low + rng.geometric(0.3) - 1, high))

    def allows(self, value: float) -> bool:
        """Whether an instance may have this value; attacks go below the usual sizes."""
        if self.listed is not None:
            return value in self.listed
        low, high = self.given or (ATTACKS.get(self.name, (1, 1))[0], math.inf)
        return low <= value <= high

    def probe(self, attempt: int) -> float:
        """A small value, to try what a claim's function returns; by turns few facts in many dimensions, and not."""
        usual = PROBES.get(self.name, (1,))
        usual_value = usual[attempt % len(usual)]
        if self.listed is not None:
            few = sorted(self.listed)[: len(usual)]
            return few[attempt % len(few)]
        low, high = self.bounds()
        return min(max(usual_value, low), high) if self.integer else low + (high - low) * (attempt % 4) / 3
