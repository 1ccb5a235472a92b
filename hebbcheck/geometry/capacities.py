"""The smallest width at which a memory stores all its facts (Definition 2.3, for one map and one draw)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hypothesis import strategies as st

from ..arrays import Streams
from ..capacity import smallest_width
from ..errors import HebbcheckError
from ..instance import Instance, Raw
from .facts import Facts
from .shapes import Shape, sphere


class Capacity(Instance):
    """W = 3 m d parameters at the smallest width m that stores all F facts."""

    @cached_property
    def m(self) -> int:
        """The smallest width, found by search."""
        return smallest_width(self)

    def replace(self, **changes: Any) -> Instance:
        return Instance(self.raw, self.backend, self._streams).replace(**changes)

    @property
    def W(self) -> int:
        """m (2 d + d): the parameters of A, G and B at that width."""
        return 3 * self.m * int(self.d)


class CapacityFamily(Facts):
    instance_type = Capacity
    exact = False

    def __init__(self, keys: Shape, values: Shape, memory: str, mapping: str, **numbers: Any) -> None:
        super().__init__(keys, values, memory, mapping, None, **numbers)
        if not self.draws_features:
            raise HebbcheckError(f"memory={memory!r} has no width to search; try 'bilinear' or 'whitened'")
        self.name = "capacity"

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        return super().raw({**numbers, "m": 1}, streams, choice, spanned)

    def build(self, raw: Raw, *args: Any) -> Instance:
        numbers = {name: value for name, value in raw.numbers.items() if name != "m"}
        return super().build(Raw(numbers, raw.arrays, raw.memory, raw.unit, raw.spanned), *args)

    def strategy(self) -> st.SearchStrategy[Raw]:
        raise HebbcheckError("a capacity is measured by search; state it with hc.scales_as or with constants")

    def probes(self) -> Iterator[Instance]:
        numbers = {"F": 4, "d": 8, **{name: 0.1 for name in self.sizes if name not in ("F", "d")}}
        yield self.draw(numbers, Streams("probe", "capacity"), choice=self.choices[0])


def capacity(
    *,
    memory: str = "bilinear",
    keys: Shape = sphere,
    values: Shape = sphere,
    F: Any = None,
    d: Any = None,
    mapping: str = "permutation",
    **numbers: Any,
) -> CapacityFamily:
    """Facts and the smallest width m (and W = 3 m d parameters) at which the memory stores them all."""
    return CapacityFamily(keys, values, memory, mapping, F=F, d=d, **numbers)
