"""Keys, values, a map and a memory: the paper's instances."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from .. import memories
from ..arrays import Streams
from ..errors import HebbcheckError
from ..inputs import Raw
from . import hard
from .family import SEEDS, Family
from .files import sizes_of_files
from .maps import MAPPINGS, attacked_map, drawn_map, without_values, worst_map
from .shapes import Shape, anything, sphere, tied, unit_rows

LEAST_SAMPLED = {"F": 3, "d": 2}
"""Sampled shapes never go below these sizes; `anything` does."""


class Facts(Family):
    """`facts(...)`: see there."""

    axes: ClassVar = {
        "keys": ("F", "d"),
        "values": ("values", "d"),
        "map": ("F",),
        "A": ("m", "d"),
        "G": ("m", "d"),
        "Phi": ("F", "m"),
        "noise": ("F", "d"),
    }

    def __init__(
        self, keys: Shape, values: Shape, memory: str, mapping: str, noise: Any, **numbers: Any
    ) -> None:
        if mapping not in MAPPINGS:
            raise HebbcheckError(
                f"mapping={mapping!r} is unknown; one of {', '.join(MAPPINGS)} is needed; try mapping='any'"
            )
        if noise is not None:
            numbers["eps"] = noise
        super().__init__("facts", **numbers)
        self.keys, self.values, self.mapping, self.noise = keys, values, mapping, noise
        self.memory = memory
        self.draws_features = memories.named(memory).draws_features
        self.exact = keys.exact and values.exact

    def _parts(self) -> list[str]:
        parts = [
            f"keys={self.keys}",
            f"values={self.values}",
            f"memory={self.memory}",
            f"mapping={self.mapping}",
        ]
        return parts[: 4 if self.mapping != "permutation" else 3]

    @property
    def fingerprint(self) -> str:
        return "\n".join([super().fingerprint, self.keys.fingerprint, self.values.fingerprint])

    @property
    def choices(self) -> tuple[str, ...]:
        """The hard cases of the keys and values that are `anything`."""
        sides = [role for role in ("keys", "values") if getattr(self, role) is anything]
        names = list(hard.CATALOGUE)
        if not sides:
            return ("",)
        if len(sides) == 1:
            return tuple(f"{sides[0]}: {name}" for name in names)
        pairs = [("uniform", hard.ALIGNED), ("one orthant", hard.ALIGNED)]
        pairs += list(zip(names, names[1:] + names[:1], strict=True))
        pairs += [
            (name, name) for name in names if name not in ("uniform", "one point", "a plane", "zero vectors")
        ]
        return tuple(f"keys: {a}, values: {b}" for a, b in pairs)

    @property
    def spans(self) -> bool:
        """Where inner products alone enter: shapes that have a span, and an adversary, who keeps to F dimensions.

        Features are Gaussian, so that any F keys can be turned into F dimensions; values meet values alone.
        """
        values = self.keys if self.values is tied else self.values
        return self.noise is None and all(s.span or s is anything for s in (self.keys, values))

    @property
    def free(self) -> tuple[str, ...]:
        """All but vectors that a move would take out of their family: tied ones, a file's, those of the worst map."""
        fixed = self.values is tied or self.mapping == "worst"
        movable = [role for role in ("keys", "values") if not fixed and getattr(self, role).movable]
        mapped = ["map"] if self.mapping in ("permutation", "any") else []
        return (*movable, *mapped, "A", "G", "Phi", "noise")

    @property
    def chosen(self) -> tuple[str, ...]:
        """Keys with a given kernel, values with their map: for values of any order a map chooses nothing more."""
        keys = ("keys", "Phi") if self.keys is anything else ()
        values = ("values", "mapping", "count") if self.values is anything else ()
        return (*keys, *values)

    # -- draws ----------------------------------------------------------------------------------------------------
    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        F, d = int(numbers["F"]), int(numbers["d"])
        keys = self._rows("keys", streams, F, d, choice, spanned)
        count = int(streams("count").integers(1, F + 3)) if self.mapping == "any" else F
        values = keys if self.values is tied else self._rows("values", streams, count, d, choice, spanned)
        features = self._features(numbers, streams, keys.shape[1], choice)
        mapping = drawn_map(self.mapping, streams, lambda: _gram(keys, features), values, F)
        if _chosen(choice, "values") == hard.ALIGNED:
            values = _aligned(values, mapping, _gram(keys, features))
        return self._raw(
            numbers, {"keys": keys, "values": values, **features, "map": mapping}, streams, spanned
        )

    def _raw(
        self, numbers: dict, arrays: dict[str, np.ndarray], streams: Streams, spanned: bool = False
    ) -> Raw:
        if self.noise is not None:
            arrays = {**arrays, "noise": unit_rows(streams("noise").standard_normal(arrays["keys"].shape))}
        values = self.keys if self.values is tied else self.values
        unit = {"noise"} | {role for role, shape in (("keys", self.keys), ("values", values)) if shape.unit}
        return Raw(dict(numbers), arrays, self.memory, frozenset(unit & arrays.keys()), spanned)

    def _rows(
        self, role: str, streams: Streams, count: int, d: int, choice: str, spanned: bool
    ) -> np.ndarray:
        shape: Shape = getattr(self, role)
        if shape is anything:
            name = _chosen(choice, role) or "uniform"
            make = hard.CATALOGUE["uniform" if name == hard.ALIGNED else name]
            return make(streams(role), count, min(count, d) if spanned else d)
        return (shape.span if spanned and shape.span else shape.sample)(streams, role, count, d)

    def _features(self, numbers: dict, streams: Streams, dim: int, choice: str = "") -> dict[str, np.ndarray]:
        """Phi (F x m) of a given kernel, A and G (m x dim) of a memory that is made of features."""
        if self.memory == "kernel":
            make = hard.CATALOGUE[_chosen(choice, "keys") or "uniform"]
            return {"Phi": make(streams("Phi"), int(numbers["F"]), int(numbers["m"]))}
        if not self.draws_features:
            return {}
        shape = (int(numbers["m"]), dim)
        return {name: streams(name).standard_normal(shape) for name in ("A", "G")}

    # -- smaller instances ----------------------------------------------------------------------------------------
    @property
    def least(self) -> dict[str, int]:
        return {} if anything in (self.keys, self.values) else LEAST_SAMPLED

    def allows(self, numbers: dict[str, float]) -> bool:
        usual = {name: least for name, least in self.least.items() if self.sizes[name].given is None}
        return super().allows(numbers) and all(numbers[name] >= least for name, least in usual.items())

    def counts(self, raw: Raw) -> dict[str, int]:
        values = {"values": len(raw.arrays["values"])} if self.mapping == "any" else {}
        return {**super().counts(raw), **values}

    def without(self, raw: Raw, size: str, indices: np.ndarray) -> Raw | None:
        moves = self.values is not tied and self.keys.movable and self.values.movable
        if size != "m" and not moves:
            return None
        smaller = super().without(raw, size, indices)
        if smaller is None or size == "m":
            return smaller
        if size == "values":
            return self._remapped(smaller, indices)
        if size == "F" and self.mapping != "any":
            unused = np.setdiff1d(raw.arrays["map"], smaller.arrays["map"])
            values = np.delete(smaller.arrays["values"], unused, axis=0)
            return self._remapped(smaller.with_array("values", values), unused)
        return self._remapped(smaller, np.array([], dtype=int))

    def _remapped(self, smaller: Raw, unused: np.ndarray) -> Raw | None:
        """With the map that belongs to it, after some values went."""
        arrays = smaller.arrays
        if np.isin(unused, arrays["map"]).any():
            return None
        if self.mapping == "worst":
            K = _gram(arrays["keys"], {name: arrays[name] for name in ("Phi",) if name in arrays})
            return smaller.with_array("map", worst_map(K, arrays["values"]))
        return smaller.with_array("map", without_values(arrays["map"], unused))

    # -- attacks --------------------------------------------------------------------------------------------------
    def strategy(self) -> st.SearchStrategy[Raw]:
        sizes = self.attacked_sizes()

        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size) for name, size in sizes.items()}
            streams = Streams("attack", draw(SEEDS))
            F, d = int(numbers["F"]), int(numbers["d"])
            keys = self._attacked(draw, "keys", streams, F, d)
            count = draw(st.integers(1, F + 2)) if self.mapping == "any" else F
            values = keys if self.values is tied else self._attacked(draw, "values", streams, count, d)
            features = self._attacked_features(draw, numbers, streams)
            K = _gram(keys, features, chosen=self.keys is anything)
            mapping = self._attacked_map(draw, streams, K, values)
            if self.keys is anything and self.values is anything and draw(st.integers(0, 3)) == 3:
                values = _aligned(values, mapping, K)
            return self._raw(numbers, {"keys": keys, "values": values, **features, "map": mapping}, streams)

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
        self, draw: st.DrawFn, streams: Streams, K: np.ndarray, values: np.ndarray
    ) -> np.ndarray:
        if self.mapping in ("permutation", "any"):
            return np.asarray(draw(attacked_map(self.mapping, len(K), len(values))), dtype=np.int64)
        return drawn_map(self.mapping, streams, lambda: K, values, len(K))


def prepared(keys: Any, values: Any, F: Any, d: Any) -> tuple[Any, Any]:
    """F and d, completed by what files of embeddings say, after a check that the shapes are shapes."""
    for role, shape in (("keys", keys), ("values", values)):
        if not isinstance(shape, Shape):
            raise HebbcheckError(
                f"{role}={shape!r} is no shape; one is needed; try geo.sphere or geo.anything"
            )
    if keys is tied:
        raise HebbcheckError(
            "keys are tied to nothing; it is the values that can be the keys; try values=geo.tied"
        )
    return sizes_of_files((keys, values), F, d)


def _chosen(choice: str, role: str) -> str:
    """The hard case that a choice such as "keys: clusters, values: a plane" names for a role; "" for none."""
    return dict(part.split(": ") for part in choice.split(", ") if part).get(role, "")


def _gram(keys: np.ndarray, features: dict[str, np.ndarray], chosen: bool = False) -> np.ndarray:
    """The kernel that values may be chosen against: a given one, or the quadratic one, since features are drawn later.

    `chosen`: the features are the adversary's too.
    """
    if "Phi" in features:
        return features["Phi"] @ features["Phi"].T
    if chosen and "A" in features:
        Phi = (keys @ features["A"].T) * (keys @ features["G"].T) / np.sqrt(len(features["A"]))
        return Phi @ Phi.T
    return (keys @ keys.T) ** 2


def _aligned(values: np.ndarray, mapping: np.ndarray, K: np.ndarray) -> np.ndarray:
    """The values aligned with the kernel's column of largest energy."""
    energies = np.sum(K**2, axis=0) - np.diag(K) ** 2
    i = int(np.argmax(energies))
    return hard.aligned(values, mapping, K[:, i], i)


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
    F, d = prepared(keys, values, F, d)
    return Facts(keys, values, memory, mapping, noise, F=F, d=d, m=m, delta=delta, **numbers)
