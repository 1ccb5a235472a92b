"""The smallest width at which a memory stores all its facts (Definition 2.3, for one map and one draw)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hypothesis import strategies as st

from .. import forecast
from ..arrays import NUMPY, Backend, Streams
from ..capacity import search, widest_within
from ..errors import HebbcheckError
from ..inputs import Raw
from ..instance import Instance
from ..memories.construction import fact_table
from .facts import Facts, prepared
from .shapes import Shape, sphere


class Capacity(Instance):
    """W = 3 m d parameters at the smallest width m that stores all F facts."""

    @cached_property
    def m(self) -> int:
        """The smallest width whose memory stores every fact while that before it does not, features nested in m.

        Where storing is not monotone in m, smaller widths may store them by luck.  Raises HebbcheckError where no width
        within reach stores them.
        """
        widest = widest_within(int(self.F))
        start = forecast.start(
            self.raw.memory, fact_table(self._floats("keys"), self._floats("values"), self.map)
        )
        found = search(lambda m: self.replace(m=m).stores_all, start=start, widest=widest)
        if found.width is None:
            raise HebbcheckError(
                f"no width up to {widest} stores all facts; a capacity needs one that does; try fewer facts or a "
                "larger d"
            )
        return found.width

    @property
    def W(self) -> int:
        """m (2 d + d): the parameters of A, G and B at that width."""
        return 3 * self.m * int(self.d)

    def _with_raw(self, raw: Raw) -> Instance:
        return Instance(raw, self.backend, self._streams)


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
