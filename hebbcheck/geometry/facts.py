"""Keys, values, a map and a memory: the paper's instances."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from .. import memories
from ..arrays import Streams
from ..errors import HebbcheckError
from ..instance import Raw
from . import hard
from .family import Family
from .shapes import Shape, anything, sphere, sphere_span, tied, unit_rows

MAPPINGS = ("permutation", "identity", "worst", "any")


class Facts(Family):
    """`facts(...)`: see there."""

    def __init__(
        self, keys: Shape, values: Shape, memory: str, mapping: str, noise: Any, **numbers: Any
    ) -> None:
        if noise is not None:
            numbers["eps"] = noise
        super().__init__("facts", **numbers)
        for role, shape in (("keys", keys), ("values", values)):
            if not isinstance(shape, Shape):
                raise HebbcheckError(f"{role}={shape!r} is no shape; try geo.sphere or geo.anything")
        if keys is tied:
            raise HebbcheckError(
                "keys cannot be tied; it is the values that are the keys; try values=geo.tied"
            )
        if mapping not in MAPPINGS:
            raise HebbcheckError(f"mapping={mapping!r} is unknown; choose one of {', '.join(MAPPINGS)}")
        self.keys, self.values, self.mapping, self.noise = keys, values, mapping, noise
        self.memory = memory
        self.draws_features = memories.named(memory).draws_features

    def _parts(self) -> list[str]:
        parts = [
            f"keys={self.keys}",
            f"values={self.values}",
            f"memory={self.memory}",
            f"mapping={self.mapping}",
        ]
        return parts[: 4 if self.mapping != "permutation" else 3]

    @property
    def choices(self) -> tuple[str, ...]:
        sides = [role for role in ("keys", "values") if getattr(self, role) is anything]
        if not sides:
            return ("",)
        names = list(hard.CATALOGUE)
        if len(sides) == 1:
            return tuple(f"{sides[0]}: {name}" for name in names)
        shifted = names[1:] + names[:1]
        pairs = [(a, a) for a in names] + list(zip(names, shifted, strict=True))
        return tuple(f"keys: {a}, values: {b}" for a, b in pairs)

    @property
    def spans(self) -> bool:
        shapes = (self.keys, self.values)
        return all(s.spans or s is tied for s in shapes) and self.noise is None and self.memory != "kernel"

    @property
    def free(self) -> tuple[str, ...]:
        return ("keys", "values", "A", "G", "Phi", "noise")

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        F, d = int(numbers["F"]), int(numbers["d"])
        keys = self._rows("keys", streams, F, d, choice, spanned)
        count = int(streams("count").integers(1, F + 3)) if self.mapping == "any" else F
        values = keys if self.values is tied else self._rows("values", streams, count, d, choice, spanned)
        arrays = {"keys": keys, "values": values, **self._features(numbers, streams, keys.shape[1], choice)}
        arrays["map"] = self._map(streams, keys, values)
        if self.noise is not None:
            arrays["noise"] = unit_rows(streams("noise").standard_normal(keys.shape))
        return Raw(dict(numbers), arrays, self.memory, self._unit_arrays(), spanned)

    def _unit_arrays(self) -> frozenset[str]:
        unit = {"noise"} | ({"keys"} if self.keys.unit else set())
        values = self.keys if self.values is tied else self.values
        return frozenset(unit | ({"values"} if values.unit else set()))

    def _rows(
        self, role: str, streams: Streams, count: int, d: int, choice: str, spanned: bool
    ) -> np.ndarray:
        shape: Shape = getattr(self, role)
        if shape is anything:
            return hard.CATALOGUE[_chosen(choice, role)](streams(role), count, d)
        if spanned:
            return sphere_span(streams(role), count, d)
        return shape.sample(streams, role, count, d)

    def _features(
        self, numbers: dict[str, float], streams: Streams, dim: int, choice: str = ""
    ) -> dict[str, np.ndarray]:
        if self.memory == "kernel":
            make = hard.CATALOGUE[_chosen(choice, "keys") if self.keys is anything else "uniform"]
            return {"Phi": make(streams("Phi"), int(numbers["F"]), int(numbers["m"]))}
        if not self.draws_features:
            return {}
        shape = (int(numbers["m"]), dim)
        return {name: streams(name).standard_normal(shape) for name in ("A", "G")}

    def _map(self, streams: Streams, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        F = len(keys)
        if self.mapping == "identity":
            return np.arange(F)
        if self.mapping == "permutation":
            return streams("mapping").permutation(F)
        if self.mapping == "any":
            return streams("mapping").integers(0, len(values), F)
        return worst_map(keys, values)

    @property
    def _sampled(self) -> bool:
        return self.keys is not anything and self.values is not anything

    def strategy(self) -> st.SearchStrategy[Raw]:
        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            least = {"F": 3, "d": 2} if self._sampled else {}
            numbers = {name: draw(size.attack(least.get(name, 1))) for name, size in self.sizes.items()}
            streams = Streams("attack", draw(st.integers(0, 2**32 - 1)))
            F, d = int(numbers["F"]), int(numbers["d"])
            keys = self._attacked(draw, "keys", streams, F, d)
            count = draw(st.integers(1, F + 2)) if self.mapping == "any" else F
            values = keys if self.values is tied else self._attacked(draw, "values", streams, count, d)
            arrays = {"keys": keys, "values": values, **self._attacked_features(draw, numbers, streams)}
            arrays["map"] = self._attacked_map(draw, streams, keys, values)
            if self.noise is not None:
                arrays["noise"] = unit_rows(streams("noise").standard_normal(keys.shape))
            return Raw(numbers, arrays, self.memory, self._unit_arrays())

        return raws()

    def _attacked(self, draw: st.DrawFn, role: str, streams: Streams, count: int, d: int) -> np.ndarray:
        shape: Shape = getattr(self, role)
        if shape is anything:
            return draw(hard.vectors(count, d))
        return shape.sample(streams, role, count, d)

    def _attacked_features(self, draw: st.DrawFn, numbers: dict, streams: Streams) -> dict[str, np.ndarray]:
        F, d, m = int(numbers["F"]), int(numbers["d"]), int(numbers.get("m", 1))
        if self.memory == "kernel":
            return {"Phi": draw(hard.vectors(F, m))}
        if self.draws_features and self.keys is anything:
            return {"A": draw(hard.vectors(m, d)), "G": draw(hard.vectors(m, d))}
        return self._features(numbers, streams, d)

    def _attacked_map(
        self, draw: st.DrawFn, streams: Streams, keys: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        if self.mapping == "permutation":
            return np.asarray(draw(st.permutations(range(len(keys)))), dtype=np.int64)
        if self.mapping == "any":
            index = st.integers(0, len(values) - 1)
            return np.asarray(draw(st.lists(index, min_size=len(keys), max_size=len(keys))), dtype=np.int64)
        return self._map(streams, keys, values)


def _chosen(choice: str, role: str) -> str:
    """The hard case that a choice such as "keys: clusters, values: a plane" names for a role."""
    return dict(part.split(": ") for part in choice.split(", "))[role]


def worst_map(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A permutation chosen against the keys and values: the most negative cross-talk of one pair, quadratic kernel.

    By the rearrangement inequality: for the key with the largest column energy, and the pair of values (a, b) that are
    furthest apart, the others are matched in opposite orders of K_ti and <v_a - v_b, v_t>.
    """
    F = len(keys)
    if F < 3:
        return np.arange(F)
    K = (keys @ keys.T) ** 2
    i = int(np.argmax(np.sum(K**2, axis=0) - np.diag(K) ** 2))
    gram = values @ values.T
    distances = np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2 * gram
    a, b = np.unravel_index(int(np.argmax(distances)), distances.shape)
    alignment = gram[a] - gram[b]
    others = np.delete(np.arange(F), i)
    remaining = np.delete(np.arange(F), a)
    mapping = np.empty(F, dtype=np.int64)
    mapping[i] = a
    mapping[others[np.argsort(-K[others, i], kind="stable")]] = remaining[
        np.argsort(alignment[remaining], kind="stable")
    ]
    return mapping


def facts(
    *,
    keys: Shape = sphere,
    values: Shape = sphere,
    memory: str = "bilinear",
    F: Any = None,
    d: Any = None,
    m: Any = None,
    delta: Any = None,
    mapping: str = "permutation",
    noise: Any = None,
    **numbers: Any,
) -> Facts:
    """Facts stored in a memory: F keys and values in R^d, a map, m features.

    Sizes are numbers, ranges (low, high) or lists; any further keyword is a number that varies like a size.
    `mapping`: "permutation", "identity", "worst" (chosen against the keys and values) or "any" (not injective,
    |V| not F).  `noise`: the radius eps of noisy queries, independent of everything else.
    """
    if d is None:
        d = _width_of_files(keys, values)
    return Facts(keys, values, memory, mapping, noise, F=F, d=d, m=m, delta=delta, **numbers)


def _width_of_files(*shapes: Shape) -> int | None:
    from ..embeddings import load

    widths = {load(path).shape[1] for path in (getattr(s, "path", None) for s in shapes) if path is not None}
    if len(widths) > 1:
        raise HebbcheckError(
            f"the files have rows of lengths {sorted(widths)}; keys and values need one length"
        )
    return widths.pop() if widths else None
