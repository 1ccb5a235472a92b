"""Single instances from given arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ..arrays import Streams
from ..checks import finite_matrix, index_map
from ..errors import HebbcheckError
from ..inputs import Raw
from ..instance import Instance
from .family import Family


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
        yield self.build(self.given, streams=Streams("probe", self.name))


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
    arrays = {"keys": keys, "values": values, "map": index_map(map, len(keys), len(values))}
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
