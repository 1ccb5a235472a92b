"""Shrinking a counterexample: fewer facts, dimensions and features first, then simpler entries.

Greedy delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002): a smaller
instance replaces the counterexample where it belongs to the family and still violates the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..geometry.family import Family
from ..geometry.shapes import unit_rows
from ..inputs import Raw

TRIES = 400
SMALL = 100
"""Arrays with more entries are rounded as a whole only."""
GRIDS = (1.0, 2.0, 4.0, 10.0, 100.0)
"""Entries are rounded to multiples of 1/grid, coarse ones first."""


class _Tries:
    """Whether an instance still breaks the claim, for at most so many instances."""

    def __init__(self, breaks: Callable[[Raw], bool], left: int) -> None:
        self.breaks = breaks
        self.left = left

    def __call__(self, raw: Raw) -> bool:
        if self.left <= 0:
            return False
        self.left -= 1
        return self.breaks(raw)


def shrunk(raw: Raw, family: Family, breaks: Callable[[Raw], bool], tries: int = TRIES) -> Raw:
    """A small instance of the family that still breaks the claim, found with at most `tries` evaluations."""
    attempt = _Tries(breaks, tries)
    entries = -1
    while raw.entries != entries and attempt.left > 0:
        entries = raw.entries
        for size in family.counts(raw):
            raw = _fewer(raw, family, size, attempt)
    for name in family.free:
        if name in raw.arrays and raw.arrays[name].dtype.kind == "f":
            raw = _simpler(raw, name, attempt)
    return raw


def _fewer(raw: Raw, family: Family, size: str, attempt: _Tries) -> Raw:
    """Leave out as many facts, dimensions or features as can be left out, large pieces first."""
    piece = family.counts(raw)[size] // 2
    while piece >= 1:
        start = family.counts(raw)[size] - piece
        while start >= 0:
            smaller = family.without(raw, size, np.arange(start, start + piece))
            if smaller is not None and attempt(smaller):
                raw = smaller
            start -= piece
        piece //= 2
    return raw


def _simpler(raw: Raw, name: str, attempt: _Tries) -> Raw:
    """Round the whole array, then each row and each entry, as coarsely as possible."""
    for where in _places(raw.arrays[name]):
        for array in _rounded(raw.arrays[name], where):
            if attempt.left <= 0:
                return raw
            made = unit_rows(array) if name in raw.unit else array
            if _complexity(made) < _complexity(raw.arrays[name]):
                candidate = raw.with_array(name, made)
                if attempt(candidate):
                    raw = candidate
                    break
    return raw


def _places(array: np.ndarray) -> list[tuple[int, ...]]:
    """The whole array, and where it is small its rows and entries."""
    if array.size > SMALL:
        return [()]
    return [(), *((i,) for i in range(len(array))), *(np.ndindex(*array.shape) if array.ndim > 1 else ())]


def _rounded(array: np.ndarray, where: tuple[int, ...]) -> Iterator[np.ndarray]:
    """The array with a part of it (all of it, a row or an entry) replaced by zeros, or rounded."""
    for grid in (None, *GRIDS):
        made = array.copy()
        made[where] = 0.0 if grid is None else np.round(made[where] * grid) / grid
        yield made


def _complexity(array: np.ndarray) -> tuple[int, int, int]:
    """(entries that are not 0, different magnitudes, digits): what a reader has to take in."""
    magnitudes = np.unique(np.abs(array))
    digits = sum(len(f"{float(v):.17g}") for v in magnitudes)
    return int(np.count_nonzero(array)), len(magnitudes), digits
