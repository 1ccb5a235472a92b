"""What an instance is made from: numbers and host arrays, that can be written down and read back exactly."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Raw:
    """The inputs of an instance: numbers (sizes and parameters), host arrays, the memory, which arrays have unit rows.

    `unit`: the rows of these arrays stand for themselves divided by their norms (a float row has norm one only up to
    rounding).  `spanned`: keys, values and features are given in coordinates of the keys' and values' spans, so that
    only inner products have a meaning.
    """

    numbers: dict[str, float]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    memory: str = "bilinear"
    unit: frozenset[str] = frozenset()
    spanned: bool = False

    def with_array(self, name: str, array: np.ndarray) -> Raw:
        """The same inputs with one array in place of another."""
        return replace(self, arrays={**self.arrays, name: array})

    @property
    def entries(self) -> int:
        """How many numbers the instance is made from."""
        return sum(array.size for array in self.arrays.values())

    @cached_property
    def digest(self) -> str:
        """Names the contents: equal inputs have equal digests."""
        state = hashlib.blake2b(digest_size=16)
        state.update(
            repr((sorted(self.numbers.items()), self.memory, sorted(self.unit), self.spanned)).encode()
        )
        for name, array in sorted(self.arrays.items()):
            state.update(f"{name} {array.dtype} {array.shape}".encode())
            state.update(np.ascontiguousarray(array).tobytes())
        return state.hexdigest()

    def describe(self) -> str:
        """The sizes and the memory, for people."""
        numbers = [f"{name}={value:.6g}" for name, value in self.numbers.items()]
        return ", ".join([*numbers, self.memory])

    def as_json(self) -> dict[str, Any]:
        """JSON-able, exactly: floats round-trip."""
        arrays = {
            n: {"dtype": str(a.dtype), "shape": list(a.shape), "data": a.ravel().tolist()}
            for n, a in self.arrays.items()
        }
        numbers = {n: v.item() if isinstance(v, np.generic) else v for n, v in self.numbers.items()}
        return {
            "numbers": numbers,
            "arrays": arrays,
            "memory": self.memory,
            "unit": sorted(self.unit),
            "spanned": self.spanned,
        }

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Raw:
        """The inverse of `as_json`."""
        arrays = {
            name: np.asarray(a["data"], dtype=a["dtype"]).reshape(a["shape"])
            for name, a in given["arrays"].items()
        }
        return cls(given["numbers"], arrays, given["memory"], frozenset(given["unit"]), given["spanned"])
