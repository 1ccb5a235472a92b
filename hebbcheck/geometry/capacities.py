"""The smallest width at which a memory stores all its facts (Definition 2.3, for one map and one draw)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .. import forecast
from ..arrays import NUMPY, Backend, Streams
from ..capacity import search, widest_within
from ..errors import HebbcheckError
from ..inputs import Raw
from ..instance import Instance
from ..memories.construction import fact_table
from ..memories.first_width import first_storing
from .facts import Facts, prepared
from .shapes import Shape, sphere


class Capacity(Instance):
    """W = 3 m d parameters at the smallest width m that stores all F facts."""

    @cached_property
    def m(self) -> int:
        """The smallest width whose memory stores every fact, features nested in m.

        Of a data-dependent memory one that does while that before it does not: smaller ones may store them by luck.
        Raises HebbcheckError where no width within reach stores them.
        """
        facts = fact_table(self._floats("keys"), self._floats("values"), self.map)
        widest, units_of = widest_within(facts.F), self._memory.units_of
        if units_of is not None:
            width = first_storing(
                units_of(facts, _Factors(self)), facts, widest, confirmed=self._stores
            ).width
        else:
            width = search(self._stores, start=forecast.start(self.raw.memory, facts), widest=widest).width
        if width is None:
            raise HebbcheckError(
                f"no width up to {widest} stores all facts; a capacity needs one that does; try fewer facts or a "
                "larger d"
            )
        return width

    def _stores(self, m: int) -> bool:
        return self.replace(m=m).stores_all

    @property
    def W(self) -> int:
        """m (2 d + d): the parameters of A, G and B at that width."""
        return 3 * self.m * int(self.d)

    def _with_raw(self, raw: Raw) -> Instance:
        return Instance(raw, self.backend, self._streams)


class _Factors:
    """The rows of an instance's A and G, in order."""

    def __init__(self, x: Instance) -> None:
        self.x, self.taken = x, 0

    def rows(self, count: int, *columns: int) -> list[np.ndarray]:
        self.taken += count
        return [factor[-count:] for factor in self.x._features(self.taken).values()]


class CapacityFamily(Facts):
    """`capacity(...)`: see there."""

    instance_type = Capacity

    def __init__(self, keys: Shape, values: Shape, memory: str, mapping: str, **numbers: Any) -> None:
        super().__init__(keys, values, memory, mapping, None, **numbers)
        if not self.draws_features:
            raise HebbcheckError(
                f"memory={memory!r} has no width to search; features are needed; try 'bilinear' or 'whitened'"
            )
        self.name = "capacity"
        self.exact = False

    @property
    def spans(self) -> bool:
        return False

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        return super().raw({**numbers, "m": 1}, streams, choice, spanned)

    def build(self, raw: Raw, backend: Backend = NUMPY, streams: Streams | None = None) -> Capacity:
        numbers = {name: value for name, value in raw.numbers.items() if name != "m"}
        return Capacity(Raw(numbers, raw.arrays, raw.memory, raw.unit, raw.spanned), backend, streams)

    def strategy(self) -> st.SearchStrategy[Raw]:
        raise HebbcheckError(
            "a capacity is measured by search; a claim on it needs sizes that grow; try hc.scales_as or constants"
        )

    def probes(self) -> Iterator[Instance]:
        numbers = {**{name: size.probe(0) for name, size in self.sizes.items()}, "F": 4, "d": 8}
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
    F, d = prepared(keys, values, F, d)
    return CapacityFamily(keys, values, memory, mapping, F=F, d=d, **numbers)
