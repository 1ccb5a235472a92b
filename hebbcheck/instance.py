"""One drawn instance of facts; the paper's statistics as lazy attributes, in floating point on a backend.

`exactly.ExactInstance` recomputes each attribute by its definition in ball arithmetic from the same raw inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from . import decoding, memories, statistics
from .arrays import Streams
from .checks import whole_number
from .drawn import CoordinatesNeeded, Drawn, DrawnAttribute, MissingInput, Sizes, UnknownAttribute
from .errors import HebbcheckError
from .functions import log, sqrt
from .inputs import Raw

__all__ = [
    "CoordinatesNeeded",
    "Drawn",
    "DrawnAttribute",
    "Instance",
    "MissingInput",
    "Raw",
    "Sizes",
    "UnknownAttribute",
]


def _statistic(name: str, doc: str) -> property:
    def read(self: Instance) -> Any:
        return self._value_of(name)

    return property(read, doc=doc)


def _pairwise(name: str, doc: str) -> cached_property:
    def read(self: Instance) -> Any:
        return self._pairs(name)

    made = cached_property(read)
    made.__doc__ = doc
    return made


class Instance(Drawn):
    """Keys, values, a map and a memory, with the paper's symbols as attributes (shapes in `exact.definitions`)."""

    # -- inputs ---------------------------------------------------------------------------------------------------
    @cached_property
    def _keys(self) -> Any:
        return self._input("keys")

    @cached_property
    def _values(self) -> Any:
        return self._input("values")

    @cached_property
    def _A(self) -> Any:
        return self._input("A")

    @cached_property
    def _G(self) -> Any:
        return self._input("G")

    @cached_property
    def _codes(self) -> Any:
        return self.backend.xp.take(self._values, self.backend.asarray(self.map), axis=0)

    def _floats(self, name: str) -> np.ndarray:
        """One of the raw arrays as float64 on the host, whatever the backend."""
        return np.asarray(self.raw.arrays[name], dtype=np.float64)

    def _held(self, array: np.ndarray) -> Any:
        """A float64 array of the host as the other inputs are held."""
        return self.backend.asarray(array)

    def _need_coordinates(self, name: str) -> None:
        if self.raw.spanned:
            raise CoordinatesNeeded(
                f"{name} reads coordinates; this instance has inner products only; draw it with spanned=False"
            )

    def _coordinates(self, name: str) -> Any:
        self._need_coordinates(name)
        return self._shown(getattr(self, f"_{name}"))

    @property
    def keys(self) -> Any:
        """F x d, one key a row."""
        return self._coordinates("keys")

    @property
    def values(self) -> Any:
        """|V| x d, one value a row."""
        return self._coordinates("values")

    @property
    def map(self) -> np.ndarray:
        """(F,), the index of each key's value."""
        if "map" not in self.raw.arrays:
            raise MissingInput(
                "the instance has no map; its family draws no facts; state it over geo.facts()"
            )
        return self.raw.arrays["map"]

    @property
    def A(self) -> Any:
        """m x d, the first factor of the features."""
        return self._coordinates("A")

    @property
    def G(self) -> Any:
        """m x d, the second factor of the features."""
        return self._coordinates("G")

    # -- the memory -----------------------------------------------------------------------------------------------
    @cached_property
    def _memory(self) -> memories.Memory:
        return memories.named(self.raw.memory)

    @cached_property
    def _kernel(self) -> Any:
        return self._memory.kernel(self)

    @cached_property
    def _fitted(self) -> Any:
        return self._memory.fit(self)

    @cached_property
    def _weights(self) -> Any:
        return self._memory.weights(self)

    @cached_property
    def Phi(self) -> Any:
        """F x m, the features of the keys; for the bilinear memory the Gram matrix is Phi Phi^T."""
        return self._shown(self._memory.stored_features(self))

    @cached_property
    def K(self) -> Any:
        """F x F, the Gram matrix of the kernel on the keys."""
        return self._kernel.rows(0, int(self.F))

    @property
    def B(self) -> Any:
        """d x m, the readout: C_f^T Phi (without 1/F), times (Phi^T Phi)^+ for the whitened memory."""
        self._need_coordinates("B")
        return self.backend.xp.matmul(self._codes.T, self._weights)

    def mlp(self, z: Any) -> Any:
        """B phi(z) for queries z (N x d): N x d."""
        self._need_coordinates("mlp")
        return self.backend.xp.matmul(self._memory.features(self, z), self.B.T)

    def memory(self, z: Any) -> Any:
        """sum_t v_f(t) K(k_t, z) for queries z (N x d): N x d."""
        self._need_coordinates("memory")
        return self.backend.xp.matmul(self._memory.cross(self, z).T, self._codes)

    # -- the same draw, changed -----------------------------------------------------------------------------------
    def replace(self, *, memory: str | None = None, keys: Any = None, m: int | None = None) -> Instance:
        """The same draw under another memory, another width (features nested) or with other keys (F x d)."""
        changed = self
        if memory is not None or m is not None:
            changed = self._with_raw(self._remade(memory or self.raw.memory, m))
        if keys is not None:
            self._check_keys(keys)
            changed = changed._with_keys(keys)
        return changed

    def _check_keys(self, keys: Any) -> None:
        self._need_coordinates("replace(keys=)")
        shape = tuple(getattr(keys, "shape", np.shape(keys)))
        if shape != self.raw.arrays["keys"].shape:
            raise HebbcheckError(
                f"the new keys have shape {shape}; {self.raw.arrays['keys'].shape} is needed, one key for each fact; "
                "try a function of x.keys"
            )

    def _with_keys(self, keys: Any) -> Instance:
        host = np.asarray(self.backend.to_numpy(keys), dtype=float)
        raw = self.raw.with_array("keys", host)
        return self._with_raw(replace(raw, unit=raw.unit - {"keys"}))

    def _with_raw(self, raw: Raw) -> Instance:
        return type(self)(raw, self.backend, self._streams)

    def _remade(self, memory: str, m: int | None) -> Raw:
        """The raw inputs under a memory of some width (None: the width that it has)."""
        raw = self.raw
        if memory == "kernel":
            raise HebbcheckError(
                "memory='kernel' is a Gram matrix of its own, of one width; another memory is needed here; "
                "state the claim over geo.facts(memory='kernel')"
            )
        numbers = raw.numbers if m is None else {**raw.numbers, "m": whole_number("m", m)}
        if not memories.named(memory).draws_features:
            return replace(raw, memory=memory, numbers=numbers)
        arrays = {**raw.arrays, **self._features(numbers.get("m"))}
        return replace(raw, memory=memory, numbers=numbers, arrays=arrays)

    def _features(self, m: Any) -> dict[str, np.ndarray]:
        """A and G with m rows: of those that it has the first, and further ones from their streams."""
        if m is None:
            raise HebbcheckError("the instance has no width; features need one; try replace(m=64)")
        streams = self._streams or Streams("further features", self.raw.digest)
        dim, m = self.raw.arrays["keys"].shape[1], int(m)
        features = {}
        for name in ("A", "G"):
            held = self.raw.arrays.get(name, np.empty((0, dim)))
            further = streams(name).standard_normal((m, dim))[len(held) :] if m > len(held) else held[:0]
            features[name] = np.concatenate([held[:m], further])
        return features

    # -- statistics -----------------------------------------------------------------------------------------------
    @cached_property
    def extrema(self) -> Mapping[str, statistics.Extremum]:
        """Each cheap statistic with the pair that attains it, from one pass."""
        mu = 1.0 / float(self.numbers.get("d", 1))
        return statistics.summary(self._kernel, self._codes, self._values, self.map, mu)

    def _value_of(self, name: str) -> Any:
        if name in self.extrema:
            return self.extrema[name].value
        raise MissingInput(
            f"the instance has no {name}; its family draws a kernel alone; state it over a family of facts"
        )

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

    @cached_property
    def K_op(self) -> Any:
        """The operator norm of K, its largest eigenvalue (equation 15, sharpened)."""
        return float(np.max(np.abs(np.linalg.eigvalsh(self.backend.to_numpy(self.K)))))

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
        return self._shown(self._input("noise"))

    @cached_property
    def queries(self) -> Any:
        """F x d, the noisy queries: the keys plus a vector of norm eps each."""
        return self.keys + self.eps * self.noise

    @cached_property
    def margins_noisy(self) -> Any:
        """F x (|V| - 1), the margins of the noisy queries."""
        return self.margins_of(self.memory(self.queries))

    @property
    def stores_all(self) -> bool:
        """Whether every margin is positive (Definition 2.1), from the outputs alone."""
        return decoding.stored(self._memory.outputs(self), self._values, self.map) == len(self.map)

    def margins_of(self, outputs: Any) -> Any:
        """F x (|V| - 1): the margins of any outputs F x d, one for each key (competitors in increasing order)."""
        self._need_coordinates("margins_of")
        return decoding.margins(outputs, self._values, self.map)

    @cached_property
    def L_K(self) -> float:
        """The largest Lipschitz constant of q -> K(k_t, q) on the ball that holds the keys and the noisy queries."""
        keys = self.backend.to_numpy(self._keys)
        radius = float(np.sqrt(np.max(np.sum(keys**2, axis=1)))) + float(self.numbers.get("eps", 0.0))
        return self._memory.lipschitz(self, radius)
