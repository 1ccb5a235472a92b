"""Draws at other scales: hard cases have unit norms nearly all, and nothing says that an adversary's vectors do."""

from __future__ import annotations

from typing import Any

from ..arrays import Streams
from ..inputs import Raw

ARRAYS = ("Phi", "keys", "values")
SCALES = (1.0, 2.0**-10, 1.0, 2.0**10)


def scaled(family: Any, raw: Raw, streams: Streams) -> Raw:
    """The draw with the vectors that the family leaves to an adversary multiplied by one number each."""
    rng = streams("scales")
    for name in ARRAYS:
        scale = SCALES[int(rng.integers(len(SCALES)))]
        if name in family.chosen and name in family.free and name in raw.arrays and name not in raw.unit:
            raw = raw.with_array(name, scale * raw.arrays[name])
    return raw
