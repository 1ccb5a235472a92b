"""One drawn instance; the paper's statistics as lazy attributes.

`Raw` is what an instance is made from (and what a counterexample file holds), `Instance` computes in floating point on
a backend, `ExactInstance` recomputes each attribute by its definition in ball arithmetic from the same inputs.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from . import memories, statistics
from .arrays import NUMPY, Backend, Streams
from .errors import HebbcheckError
from .functions import log, sqrt

C0 = 2
"""The absolute constant inside L = log(C0 F^2 / delta)."""


class UnknownAttribute(HebbcheckError, AttributeError):
    """An attribute that the instance does not have."""


class DrawnAttribute(HebbcheckError):
    """A drawn quantity was asked for where only the sizes are known."""


class CoordinatesNeeded(HebbcheckError):
    """Coordinates were asked for of vectors that are known through their inner products only."""


@dataclass(frozen=True)
class Raw:
    """The inputs of an instance: numbers (sizes and parameters), host arrays, the memory, which arrays have unit rows.

    `spanned`: keys, values and features are given in coordinates of the keys' and values' spans, so that only inner
    products have a meaning.
    """

    numbers: dict[str, float]
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    memory: str = "bilinear"
    unit: frozenset[str] = frozenset()
    spanned: bool = False

    def with_array(self, name: str, array: np.ndarray) -> Raw:
        return replace(self, arrays={**self.arrays, name: array})

    @property
    def entries(self) -> int:
        """How many numbers the instance is made from."""
        return sum(array.size for array in self.arrays.values())

    def describe(self) -> str:
        """The sizes and the memory, for people."""
        numbers = [f"{name}={value:.6g}" for name, value in self.numbers.items()]
        return ", ".join([*numbers, self.memory])

    def as_json(self) -> dict[str, Any]:
        """JSON-able, exactly: floats round-trip."""
        arrays = {
            n: {"dtype": str(a.dtype), "shape": a.shape, "data": a.ravel().tolist()}
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


class Sizes:
    """What is known before anything is drawn: the sizes and what follows from them."""

    def __init__(self, numbers: dict[str, Any]) -> None:
        self.numbers = numbers

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "numbers":
            raise AttributeError(name)
        if name in self.numbers:
            return self.numbers[name]
        if isinstance(getattr(type(self), name, None), cached_property | property):
            raise UnknownAttribute(
                f"{name!r} failed on this family of instances; it lacks what {name} is made of"
            )
        if type(self) is Sizes and hasattr(Instance, name):
            raise DrawnAttribute(
                f"{name!r} is a drawn quantity, but a failure probability may depend on the sizes alone; "
                "use F, d, m, delta, L, mu or sigma2"
            )
        known = sorted({n for n in dir(type(self)) if not n.startswith("_")} | set(self.numbers))
        close = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"
        raise UnknownAttribute(f"the instance has no attribute {name!r}; {hint}")

    def _explain(self, declared: Any) -> None:
        """A declared attribute failed with an AttributeError, which Python hides: raise what it said."""
        try:
            (declared.func if isinstance(declared, cached_property) else declared.fget)(self)
        except AttributeError as error:
            raise HebbcheckError(str(error)) from None

    @property
    def L(self) -> Any:
        """log(C0 F^2 / delta), natural, C0 = 2 (Theorem B.17)."""
        return log(C0 * self.F**2 / self.delta)

    @property
    def mu(self) -> Any:
        """1/d, the mean of an off-diagonal kernel entry for isotropic keys (Lemma B.44)."""
        return 1 / self.d

    @property
    def sigma2(self) -> Any:
        """The exact variance of an off-diagonal entry of the bilinear kernel, isotropic keys (Lemma B.44)."""
        d, m = self.d, self.m
        return (d**2 + 6 * d + 17) / (d * (d + 2) * m) + 2 * (d - 1) / (d**2 * (d + 2))


def _statistic(name: str, doc: str) -> property:
    def read(self: Instance) -> Any:
        return self._statistics[name]

    return property(read, doc=doc)


def _pairwise(name: str, doc: str) -> cached_property:
    def read(self: Instance) -> Any:
        return self._pairs(name)

    made = cached_property(read)
    made.__doc__ = doc
    return made


class Instance(Sizes):
    """Keys, values, a map and a memory, with the paper's symbols as attributes (shapes in `definitions`)."""

    def __init__(self, raw: Raw, backend: Backend = NUMPY, streams: Streams | None = None) -> None:
        super().__init__(raw.numbers)
        self.raw = raw
        self.backend = backend
        self._streams = streams

    # -- inputs ---------------------------------------------------------------------------------------------------
    def _input(self, name: str) -> Any:
        if name not in self.raw.arrays:
            raise UnknownAttribute(
                f"the instance has no {name}; its family draws {', '.join(self.raw.arrays)}"
            )
        return self.backend.asarray(self.raw.arrays[name])

    @cached_property
    def _keys(self) -> Any:
        return self._input("keys")

    @cached_property
    def _values(self) -> Any:
        return self._input("values")

    def _coordinates(self, name: str, array: Any) -> Any:
        if self.raw.spanned:
            raise CoordinatesNeeded(f"{name} reads coordinates, and this instance has inner products only")
        return array

    @property
    def keys(self) -> Any:
        """F x d, one key a row."""
        return self._coordinates("keys", self._keys)

    @property
    def values(self) -> Any:
        """|V| x d, one value a row."""
        return self._coordinates("values", self._values)

    @property
    def map(self) -> np.ndarray:
        """(F,), the index of each key's value."""
        return self.raw.arrays["map"]

    @cached_property
    def _codes(self) -> Any:
        return self.backend.xp.take(self._values, self.backend.asarray(self.map), axis=0)

    @property
    def A(self) -> Any:
        """m x d, the first factor of the features."""
        return self._coordinates("A", self._A)

    @property
    def G(self) -> Any:
        """m x d, the second factor of the features."""
        return self._coordinates("G", self._G)

    @cached_property
    def _A(self) -> Any:
        return self._input("A")

    @cached_property
    def _G(self) -> Any:
        return self._input("G")

    # -- the memory -----------------------------------------------------------------------------------------------
    @cached_property
    def _memory(self) -> memories.Memory:
        return memories.named(self.raw.memory)

    @cached_property
    def _kernel(self) -> Any:
        return self._memory.kernel(self)

    @cached_property
    def Phi(self) -> Any:
        """F x m, the features of the keys (the Gram matrix is Phi Phi^T)."""
        return self._memory.stored_features(self)

    @cached_property
    def K(self) -> Any:
        """F x F, the Gram matrix of the kernel on the keys."""
        return self._kernel.rows(0, int(self.F))

    @property
    def B(self) -> Any:
        """d x m, the readout C_f^T Phi (without 1/F)."""
        return self.backend.xp.matmul(self._codes.T, self.Phi)

    def mlp(self, z: Any) -> Any:
        """B phi(z) for queries z (N x d): N x d."""
        return self.backend.xp.matmul(self._memory.features(self, z), self.B.T)

    def memory(self, z: Any) -> Any:
        """sum_t v_f(t) K(k_t, z) for queries z (N x d): N x d."""
        return self.backend.xp.matmul(self._memory.cross(self, z).T, self._codes)

    def replace(self, *, memory: str | None = None, keys: Any = None, m: int | None = None) -> Instance:
        """The same draw under another memory, another width or other keys."""
        raw = self.raw
        if memory is not None:
            memories.named(memory)
            raw = replace(raw, memory=memory)
        if keys is not None:
            raw = raw.with_array("keys", np.asarray(self.backend.to_numpy(keys), dtype=float))
            raw = replace(raw, unit=raw.unit - {"keys"})
        if m is not None:
            raw = self._with_width(raw, m)
        return type(self)(raw, self.backend, self._streams)

    def _with_width(self, raw: Raw, m: int) -> Raw:
        held = raw.arrays["A"].shape[0] if "A" in raw.arrays else 0
        arrays = dict(raw.arrays)
        if m <= held:
            arrays.update({name: raw.arrays[name][:m] for name in ("A", "G")})
        elif self._streams is None:
            raise HebbcheckError(
                f"the instance holds {held} features, {m} were asked for; draw it with a larger m"
            )
        else:
            dim = raw.arrays["keys"].shape[1]
            arrays.update({name: self._streams(name).standard_normal((m, dim)) for name in ("A", "G")})
        return replace(raw, arrays=arrays, numbers={**raw.numbers, "m": m})

    # -- statistics -----------------------------------------------------------------------------------------------
    @cached_property
    def extrema(self) -> dict[str, statistics.Extremum]:
        """Each cheap statistic with the pair that attains it, from one pass."""
        mu = 1.0 / float(self.numbers.get("d", 1))
        return statistics.summary(self._kernel, self._codes, self._values, self.map, mu)

    @cached_property
    def _statistics(self) -> dict[str, Any]:
        return {name: extremum.value for name, extremum in self.extrema.items()}

    def _pairs(self, name: str) -> Any:
        return statistics.pairwise(self._kernel, self._codes, self._values, self.map, name)

    gamma_min = _statistic("gamma_min", "The smallest margin (equation 24).")
    s_min = _statistic("s_min", "The smallest absorbed signal (equation 38).")
    z_max = _statistic("z_max", "The largest absorbed cross-talk in absolute value (equation 31).")
    K_diag_min = _statistic("K_diag_min", "The smallest diagonal entry of K (Definition B.9).")
    K_diag_max = _statistic("K_diag_max", "The largest diagonal entry of K.")
    K_off_max = _statistic(
        "K_off_max", "The largest off-diagonal entry of K in absolute value (Definition B.9)."
    )
    V_min = _statistic("V_min", "min <v_i - v_j, v_i> (Definition B.11).")
    V_max = _statistic("V_max", "max |<v_i - v_j, v_j>| (Definition B.11).")
    E_K = _statistic("E_K", "The largest energy of an off-diagonal column of K (Definition B.10).")
    E_K_tilde = _statistic("E_K_tilde", "E_K without the competitor's term (equation 34).")
    E_K_centered = _statistic("E_K_centered", "E_K_tilde of K - mu (Lemma B.18).")
    E_v = _statistic("E_v", "The largest energy of value differences (Definition B.13).")
    E_v_tilde = _statistic("E_v_tilde", "E_v without the competitor's term (equation 34).")
    kappa = _statistic("kappa", "The largest coupling of kernel and values, in [0, 1] (Definition B.15).")
    kappa_tilde = _statistic("kappa_tilde", "kappa without the competitor's term (equation 34).")
    kappa_centered = _statistic("kappa_centered", "kappa_tilde of K - mu (Lemma B.18).")
    kappa_eff = _statistic("kappa_eff", "The effective coupling of K - mu (Lemma B.18).")
    B_Y = _statistic("B_Y", "The largest mean alignment with a competitor (Definition B.12).")
    trace = _statistic("trace", "The trace of K.")
    diag_sq_sum = _statistic("diag_sq_sum", "The sum of K_ii^2.")

    margins = _pairwise(
        "margins", "F x (|V| - 1), gamma_ij; competitors j != f(i) in increasing order (equation 24)."
    )
    signal = _pairwise("signal", "The signal of each margin (equation 25).")
    crosstalk = _pairwise("crosstalk", "The cross-talk of each margin (equation 25).")
    signal_absorbed = _pairwise("signal_absorbed", "The signal with the competitor's term (equation 27).")
    crosstalk_absorbed = _pairwise("crosstalk_absorbed", "The cross-talk without it (equation 27).")

    @cached_property
    def L_v(self) -> Any:
        """The value sparsity (Definition B.14): O(F^3) work, computed only when asked for."""
        return statistics.sparsity(self._codes, self._values, self.map).value

    @cached_property
    def P_key(self) -> Any:
        """sqrt(E_K m / F) (Section 4.2.2)."""
        return sqrt(self.E_K * self.m / self.F)

    @cached_property
    def P_val(self) -> Any:
        """sqrt(E_v d / F) (Section 4.2.2)."""
        return sqrt(self.E_v * self.d / self.F)

    @cached_property
    def P_align(self) -> Any:
        """kappa sqrt(F / log F) (Section 4.2.2)."""
        return self.kappa * sqrt(self.F / log(self.F))

    @cached_property
    def S_sig(self) -> Any:
        """K_diag_min V_min / (1 - sqrt(log F / d)) (Section 4.2.2)."""
        return self.K_diag_min * self.V_min / (1 - sqrt(log(self.F) / self.d))

    # -- noise ----------------------------------------------------------------------------------------------------
    @property
    def noise(self) -> Any:
        """F x d, a unit vector for each key, independent of everything else."""
        return self._input("noise")

    @cached_property
    def queries(self) -> Any:
        """F x d, the noisy queries: the keys plus a vector of norm eps each."""
        return self._keys + self.eps * self.noise

    @cached_property
    def margins_noisy(self) -> Any:
        """F x (|V| - 1), the margins of the noisy queries."""
        return self.margins_of(self.memory(self.queries))

    @property
    def stores_all(self) -> bool:
        """Whether every margin is positive (Definition 2.1), from the outputs alone."""
        xp = self.backend.xp
        scores = xp.matmul(self._memory.outputs(self), self._values.T)
        flat = self.backend.asarray(self.map + scores.shape[1] * np.arange(len(self.map)))
        own = xp.take(xp.reshape(scores, (-1,)), flat)
        at_least_own = xp.astype(scores >= own[:, None], xp.int64)
        return int(xp.sum(at_least_own)) == len(self.map)

    def margins_of(self, outputs: Any) -> Any:
        """F x (|V| - 1): the margins of any outputs F x d, one for each key (competitors in increasing order)."""
        xp, count = self.backend.xp, self._values.shape[0]
        scores = xp.matmul(outputs, self._values.T)
        own = xp.sum(outputs * self._codes, axis=1)
        competitors = np.arange(count - 1)[None, :] + (np.arange(count - 1)[None, :] >= self.map[:, None])
        flat = self.backend.asarray((competitors + count * np.arange(len(self.map))[:, None]).ravel())
        theirs = xp.reshape(xp.take(xp.reshape(scores, (-1,)), flat), competitors.shape)
        return own[:, None] - theirs

    @cached_property
    def L_K(self) -> float:
        """The largest Lipschitz constant of q -> K(k_t, q) on the ball that holds the keys and the noisy queries."""
        keys = self.backend.to_numpy(self._keys)
        radius = float(np.sqrt(np.max(np.sum(keys**2, axis=1)))) + float(self.numbers.get("eps", 0.0))
        return self._memory.lipschitz(self, radius)


class ExactInstance(Instance):
    """An instance in ball arithmetic: numbers are balls, arrays are object arrays of balls."""

    def __init__(self, raw: Raw) -> None:
        from . import balls

        super().__init__(raw)
        self.numbers = {name: balls.Ball.exact(value) for name, value in raw.numbers.items()}

    def _input(self, name: str) -> Any:
        from . import balls

        if name not in self.raw.arrays:
            return super()._input(name)
        array = balls.from_array(np.asarray(self.raw.arrays[name], dtype=float))
        if name not in self.raw.unit:
            return array
        return np.array([row / sqrt((row * row).sum()) for row in array], dtype=object).reshape(array.shape)

    @property
    def _codes(self) -> Any:
        return self._values[self.map]

    @cached_property
    def Phi(self) -> Any:
        if "Phi" in self.raw.arrays:
            return self._input("Phi")
        return self._memory.exact_features(self, self._keys)

    @cached_property
    def K(self) -> Any:
        return self._memory.exact_gram(self)

    @property
    def B(self) -> Any:
        return self._codes.T @ self.Phi

    def mlp(self, z: Any) -> Any:
        return self._memory.exact_features(self, z) @ self.B.T

    @cached_property
    def _definitions(self) -> Any:
        from .definitions import Definitions

        if "values" not in self.raw.arrays:
            return Definitions(self.K)
        mu = Fraction(1, int(self.raw.numbers["d"]))
        return Definitions(self.K, values=self._values, mapping=[int(v) for v in self.map], mu=mu)

    @property
    def _statistics(self) -> Any:
        return _Lookup(self._definitions)

    def _pairs(self, name: str) -> Any:
        return getattr(self._definitions, name)

    def margins_of(self, outputs: Any) -> Any:
        scores = outputs @ self._values.T
        competitors = [[j for j in range(scores.shape[1]) if j != own] for own in self.map]
        return np.array(
            [
                [row[own] - row[j] for j in others]
                for row, own, others in zip(scores, self.map, competitors, strict=True)
            ],
            dtype=object,
        ).reshape(len(scores), -1)

    @cached_property
    def L_v(self) -> Any:
        return self._definitions.L_v


class _Lookup:
    """A definition's attributes by name."""

    def __init__(self, holder: Any) -> None:
        self.holder = holder

    def __getitem__(self, name: str) -> Any:
        return getattr(self.holder, name)
