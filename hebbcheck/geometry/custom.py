"""Families of the user's own, and single instances from given arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .. import memories
from ..arrays import NUMPY, Backend, Streams
from ..errors import HebbcheckError
from ..instance import Instance, Raw
from .family import Family


class Custom(Instance):
    """The attributes that the user's function returned."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("raw", "numbers"):
            raise AttributeError(name)
        if name in self.raw.arrays:
            value = self.raw.arrays[name]
            return float(value) if value.ndim == 0 else self.backend.asarray(value)
        return super().__getattr__(name)


class CustomFamily(Family):
    """`draw(rng, **sizes)` returns a dict of numbers and arrays: the attributes."""

    instance_type = Custom
    exact = False

    def __init__(self, function: Callable[..., dict[str, Any]], **numbers: Any) -> None:
        super().__init__(getattr(function, "__name__", "family"), **numbers)
        self.function = function

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        given = self.function(streams("draw"), **numbers)
        if not isinstance(given, dict):
            raise HebbcheckError(
                f"the family's function returned a {type(given).__name__}; a dict of attributes is needed; "
                'try return {"x": ...}'
            )
        arrays = {name: np.asarray(value, dtype=float) for name, value in given.items()}
        return Raw(dict(numbers), arrays, "custom")

    def strategy(self) -> st.SearchStrategy[Raw]:
        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size.attack()) for name, size in self.sizes.items()}
            return self.raw(numbers, Streams("attack", draw(st.integers(0, 2**32 - 1))))

        return raws()


def family(draw: Callable[..., dict[str, Any]], **sizes: Any) -> CustomFamily:
    """A family of one's own: `draw(rng, **sizes)` returns the attributes of one instance."""
    if not callable(draw):
        raise HebbcheckError(
            f"family({draw!r}) needs a function draw(rng, **sizes) that returns a dict of attributes"
        )
    return CustomFamily(draw, **sizes)


class Single(Family):
    """One instance, from given arrays."""

    def __init__(self, raw: Raw) -> None:
        super().__init__("instance", **{k: v for k, v in raw.numbers.items() if k != "n"})
        self.given = raw

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        return self.given

    def strategy(self) -> st.SearchStrategy[Raw]:
        return st.just(self.given)

    def probes(self) -> Iterator[Instance]:
        yield self.build(self.given)

    def build(self, raw: Raw, backend: Backend = NUMPY, streams: Streams | None = None) -> Instance:
        return self.instance_type(raw, backend, streams)


def instance(
    keys: Any,
    values: Any,
    map: Any = None,
    A: Any = None,
    G: Any = None,
    K: Any = None,
    delta: float = 0.1,
) -> Single:
    """The family of one instance: keys (F x d), values (|V| x d), map (F,), and features A, G (m x d) or a Gram matrix K.

    Without features and K, the memory is the exact quadratic kernel.
    """
    keys, values = _matrix("keys", keys), _matrix("values", values)
    if keys.shape[1] != values.shape[1]:
        raise HebbcheckError(
            f"keys have length {keys.shape[1]} and values {values.shape[1]}; one length d is needed; project one of them"
        )
    arrays = {"keys": keys, "values": values, "map": _map(map, len(keys), len(values))}
    memory, m = "quadratic", len(keys)
    if K is not None:
        arrays["K"], memory = _gram(K, len(keys)), "kernel"
    elif A is not None or G is not None:
        arrays["A"], arrays["G"] = _matrix("A", A), _matrix("G", G)
        if arrays["A"].shape != arrays["G"].shape or arrays["A"].shape[1] != keys.shape[1]:
            raise HebbcheckError(
                f"A {arrays['A'].shape} and G {arrays['G'].shape} must both be m x {keys.shape[1]}; check their shapes"
            )
        memory, m = "bilinear", len(arrays["A"])
    memories.named(memory)
    return Single(Raw({"F": len(keys), "d": keys.shape[1], "m": m, "delta": delta}, arrays, memory))


def _matrix(name: str, given: Any) -> np.ndarray:
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise HebbcheckError(
            f"{name} is no array of numbers; a matrix with one vector a row is needed"
        ) from None
    if array.ndim != 2 or 0 in array.shape:
        raise HebbcheckError(f"{name} has shape {array.shape}; a matrix with one vector a row is needed")
    if not np.all(np.isfinite(array)):
        raise HebbcheckError(
            f"{name} has NaN or infinite entries; finite numbers are needed; drop those rows"
        )
    return array


def _map(given: Any, F: int, count: int) -> np.ndarray:
    if given is None:
        if F != count:
            raise HebbcheckError(
                f"{F} keys and {count} values need a map; pass map=, one value's index a key"
            )
        return np.arange(F)
    array = np.asarray(given)
    if array.dtype.kind not in "iu" or array.shape != (F,):
        raise HebbcheckError(
            f"map has dtype {array.dtype} and shape {array.shape}; {F} whole numbers are needed"
        )
    if array.size and (array.min() < 0 or array.max() >= count):
        raise HebbcheckError(
            f"map points to value {array.max()} of {count}; indices run from 0 to {count - 1}"
        )
    return array.astype(np.int64)


def _gram(given: Any, F: int) -> np.ndarray:
    K = _matrix("K", given)
    if K.shape != (F, F) or not np.allclose(K, K.T, rtol=1e-12, atol=0):
        raise HebbcheckError(
            f"K has shape {K.shape}; a symmetric {F} x {F} Gram matrix is needed; try (K + K.T) / 2"
        )
    return K
