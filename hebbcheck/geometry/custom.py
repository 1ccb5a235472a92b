"""Families of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .. import sources
from ..arrays import Streams
from ..drawn import Drawn
from ..errors import HebbcheckError
from ..inputs import Raw
from .family import RESERVED, SEEDS, Family
from .sizes import Size


class Custom(Drawn):
    """The attributes that the user's function returned; L, mu and sigma2 where it did not return them."""

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name != "raw":
            raw = object.__getattribute__(self, "__dict__").get("raw")
            if raw is not None and name in raw.arrays:
                value = raw.arrays[name]
                return value.item() if value.ndim == 0 else self.backend.asarray(value)
        return object.__getattribute__(self, name)

    def _names(self) -> list[str]:
        return [*self.numbers, *self.raw.arrays]


class CustomFamily(Family):
    """`family(...)`: see there."""

    instance_type = Custom
    exact = False

    def __init__(self, function: Callable[..., dict[str, Any]], **numbers: Any) -> None:
        super().__init__(getattr(function, "__name__", "family"), **numbers)
        self.sizes = {name: Size(name, size.given, _whole(size)) for name, size in self.sizes.items()}
        self.function = function

    @property
    def fingerprint(self) -> str:
        return f"{self!r} {sources.data_digest(self.function)}"

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        given = self.function(streams("draw"), **numbers)
        if not isinstance(given, dict) or not all(_names_an_attribute(name) for name in given):
            what = (
                f"the names {', '.join(map(repr, given))}"
                if isinstance(given, dict)
                else type(given).__name__
            )
            raise HebbcheckError(
                f"{self.name} returned {what}; a dict of attributes by name is needed; try return {{'x': ...}}"
            )
        return Raw(dict(numbers), {name: _attribute(name, value) for name, value in given.items()}, self.name)

    def counts(self, raw: Raw) -> dict[str, int]:
        """None where arrays were drawn: only the user's function knows what they would be at smaller sizes."""
        return {} if raw.arrays else super().counts(raw)

    def strategy(self) -> st.SearchStrategy[Raw]:
        sizes = self.attacked_sizes()

        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size) for name, size in sizes.items()}
            return self.raw(numbers, Streams("attack", draw(SEEDS)))

        return raws()


def _names_an_attribute(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not name.startswith("_") and name not in RESERVED


def _whole(size: Size) -> bool:
    """Ranges and numbers that are given as whole ones stay whole."""
    entries = size.given if isinstance(size.given, list | tuple) else [size.given]
    return all(isinstance(entry, int) for entry in entries)


def _attribute(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        return array.astype(np.int64 if array.dtype.kind in "iu" else float, casting="same_kind")
    except (TypeError, ValueError):
        raise HebbcheckError(
            f"the attribute {name} is a {type(value).__name__}; a real number or an array of them is needed; "
            "try np.asarray(..., dtype=float)"
        ) from None


def family(draw: Callable[..., dict[str, Any]], **sizes: Any) -> CustomFamily:
    """A family of one's own: `draw(rng, **sizes)` returns the attributes of one instance, numbers and arrays.

    Sizes that are given as whole numbers are drawn as whole numbers.
    """
    if not callable(draw):
        raise HebbcheckError(
            f"family({draw!r}) draws nothing; a function is needed that returns a dict of attributes; "
            "try def draw(rng, F, d): ..."
        )
    try:
        inspect.signature(draw).bind(None, **sizes)
    except (TypeError, ValueError) as error:
        raise HebbcheckError(
            f"the family's function cannot be called with a generator and {', '.join(sizes) or 'no sizes'} ({error}); "
            "it takes them all; try def draw(rng, F, d): ..."
        ) from None
    return CustomFamily(draw, **sizes)
