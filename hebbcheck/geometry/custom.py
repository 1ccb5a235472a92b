"""Families of the user's own, and single instances from given arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ..arrays import Streams
from ..checks import finite_matrix
from ..drawn import Drawn
from ..errors import HebbcheckError
from ..inputs import Raw
from ..instance import Instance
from .family import Family
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

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        given = self.function(streams("draw"), **numbers)
        if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
            raise HebbcheckError(
                f"{self.name} returned a {type(given).__name__}; a dict of attributes by name is needed; "
                'try return {"x": ...}'
            )
        return Raw(dict(numbers), {name: _attribute(name, value) for name, value in given.items()}, self.name)

    def strategy(self) -> st.SearchStrategy[Raw]:
        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size.attack()) for name, size in self.sizes.items()}
            return self.raw(numbers, Streams("attack", draw(st.integers(0, 2**32 - 1))))

        return raws()


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
    return CustomFamily(draw, **sizes)


class Single(Family):
    """One instance, from given arrays."""

    def __init__(self, raw: Raw) -> None:
        super().__init__("instance", **raw.numbers)
        self.given = raw

    @property
    def fingerprint(self) -> str:
        return self.given.digest

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        return self.given

    def strategy(self) -> st.SearchStrategy[Raw]:
        return st.just(self.given)

    def probes(self) -> Iterator[Instance]:
        yield self.build(self.given)


def instance(
    keys: Any,
    values: Any,
    map: Any = None,
    A: Any = None,
    G: Any = None,
    K: Any = None,
    delta: float = 0.1,
) -> Single:
    """The family of one instance: keys (F x d), values (|V| x d), map (F,), features A, G (m x d) or a Gram matrix K.

    Without features and K, the memory is the exact quadratic kernel (and m = F).
    """
    keys, values = finite_matrix("keys", keys), finite_matrix("values", values)
    if keys.shape[1] != values.shape[1]:
        raise HebbcheckError(
            f"keys have length {keys.shape[1]}, values {values.shape[1]}; one length d is needed; project one of them"
        )
    arrays = {"keys": keys, "values": values, "map": _map(map, len(keys), len(values))}
    memory, m = "quadratic", len(keys)
    if K is not None and (A is not None or G is not None):
        raise HebbcheckError("K and features are both given; one memory is needed; leave out K, or A and G")
    if K is not None:
        arrays["K"], memory = _gram(K, len(keys)), "kernel"
    elif A is not None or G is not None:
        arrays.update(_features(A, G, keys.shape[1]))
        memory, m = "bilinear", len(arrays["A"])
    return Single(Raw({"F": len(keys), "d": keys.shape[1], "m": m, "delta": delta}, arrays, memory))


def _features(A: Any, G: Any, d: int) -> dict[str, np.ndarray]:
    if A is None or G is None:
        raise HebbcheckError(
            "one of A and G is given; the features need both; pass the other too, or neither"
        )
    A, G = finite_matrix("A", A), finite_matrix("G", G)
    if A.shape != G.shape or A.shape[1] != d:
        raise HebbcheckError(
            f"A has shape {A.shape} and G {G.shape}; both m x {d} are needed; check their shapes"
        )
    return {"A": A, "G": G}


def _map(given: Any, F: int, count: int) -> np.ndarray:
    if given is None:
        if count != F:
            raise HebbcheckError(
                f"there are {F} keys and {count} values; a map is needed; pass map=, one value's index a key"
            )
        return np.arange(F)
    array = np.asarray(given)
    if array.dtype.kind not in "iu" or array.shape != (F,):
        raise HebbcheckError(
            f"map has dtype {array.dtype} and shape {array.shape}; {F} whole numbers are needed; "
            "try np.arange(len(keys))"
        )
    outside = array[(array < 0) | (array >= count)]
    if outside.size:
        raise HebbcheckError(
            f"map points to value {outside[0]} of {count}; indices from 0 to {count - 1} are needed; count from 0"
        )
    return array.astype(np.int64)


def _gram(given: Any, F: int) -> np.ndarray:
    """A Gram matrix, exactly symmetric."""
    K = finite_matrix("K", given)
    if K.shape != (F, F):
        raise HebbcheckError(f"K has shape {K.shape}; {F} x {F} is needed for {F} keys; check its shape")
    size, slack = np.max(np.abs(K)), 1e-10 * F
    if np.max(np.abs(K - K.T)) > slack * size:
        raise HebbcheckError("K is not symmetric; a Gram matrix is needed; try (K + K.T) / 2")
    K = (K + K.T) / 2
    least = float(np.linalg.eigvalsh(K)[0])
    if least < -slack * size:
        raise HebbcheckError(
            f"K has the eigenvalue {least:.3g}; a positive semidefinite Gram matrix is needed; try Phi @ Phi.T"
        )
    return K
