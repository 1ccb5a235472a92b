"""Instances in exact arithmetic: what claims see are balls, what they are computed from are fractions where possible.

Floats are rationals, so the Gram matrix, and with values that are not normalised every statistic without a square
root, is computed without rounding and enters a claim as the tightest ball.  To be used inside `balls.precision`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import NUMPY, Backend, Streams
from ..drawn import Drawn
from ..errors import HebbcheckError
from ..functions import max, sqrt
from ..inputs import Raw
from ..instance import Instance
from . import enclosures, rational
from .balls import Ball
from .definitions import Definitions


class Exact(Drawn):
    """Mixed into a type of instances: its numbers become balls, its arrays object arrays of balls and fractions."""

    def __init__(self, raw: Raw, backend: Backend = NUMPY, streams: Streams | None = None) -> None:
        super().__init__(raw, NUMPY, streams)
        self.numbers = {name: Ball.exact(value) for name, value in raw.numbers.items()}

    def _input(self, name: str) -> Any:
        """Fractions, or balls where rows are normalised."""
        if name not in self.raw.arrays:
            return super()._input(name)
        if name in self.raw.unit:
            return _unit_rows(self.raw.arrays[name])
        return rational.from_array(self.raw.arrays[name])

    def _shown(self, array: Any) -> Any:
        """Balls: a Fraction would be rounded unnoticed by math.sqrt or float."""
        return _each(Ball.exact, array)


class ExactInstance(Exact, Instance):
    """The paper's facts; every statistic comes from its definition."""

    def __init__(self, raw: Raw, backend: Backend = NUMPY, streams: Streams | None = None) -> None:
        super().__init__(raw, backend, streams)
        self._replaced: dict[str, Any] = {}

    def _input(self, name: str) -> Any:
        return self._replaced[name] if name in self._replaced else super()._input(name)

    def _floats(self, name: str) -> np.ndarray:
        return enclosures.midpoints(self._replaced[name]) if name in self._replaced else super()._floats(name)

    def _held(self, array: np.ndarray) -> Any:
        return rational.from_array(array)

    def directions(self, name: str) -> Any:
        """The rows of an array before they are normalised."""
        if name in self.raw.unit:
            return rational.from_array(self.raw.arrays[name])
        return self._input(name)

    def per_norms(self, gram: np.ndarray) -> np.ndarray:
        """A Gram matrix of the keys' directions as that of the keys, for a kernel of degree two in each argument."""
        if "keys" not in self.raw.unit:
            return gram
        squares = np.array([_square(key) for key in self.directions("keys")], dtype=object)
        return gram / (squares[:, None] * squares[None, :])

    def _with_keys(self, keys: Any) -> ExactInstance:
        changed = self._with_raw(replace(self.raw, unit=self.raw.unit - {"keys"}))
        changed._replaced = {**self._replaced, "keys": np.asarray(keys, dtype=object)}
        return changed

    def _with_raw(self, raw: Raw) -> ExactInstance:
        changed = type(self)(raw, streams=self._streams)
        changed._replaced = self._replaced
        return changed

    @property
    def _codes(self) -> Any:
        return self._values[self.map]

    @cached_property
    def _weights(self) -> Any:
        return self._memory.exact_weights(self)

    @cached_property
    def _gram(self) -> Any:
        return self._memory.exact_gram(self)

    @property
    def K(self) -> Any:
        return self._shown(self._gram)

    @cached_property
    def _definitions(self) -> Definitions:
        if "values" not in self.raw.arrays:
            return Definitions(self._gram)
        mu = Fraction(1, int(self.raw.numbers["d"]))
        return Definitions(self._gram, values=self._values, mapping=[int(v) for v in self.map], mu=mu)

    @property
    def extrema(self) -> Any:
        raise HebbcheckError(
            "an exact instance does not say where extrema are attained; ask for their values"
        )

    def _value_of(self, name: str) -> Any:
        return self._shown(getattr(self._definitions, name))

    @cached_property
    def K_op(self) -> Any:
        return enclosures.operator_norm(self._gram)

    def _pairs(self, name: str) -> Any:
        return self._shown(getattr(self._definitions, name))

    @property
    def L_v(self) -> Any:
        return self._shown(self._definitions.L_v)

    @property
    def stores_all(self) -> bool:
        return bool(self.gamma_min > 0)

    def margins_of(self, outputs: Any) -> Any:
        scores = outputs @ self.values.T
        rows = [
            [row[own] - s for j, s in enumerate(row) if j != own]
            for row, own in zip(scores, self.map, strict=True)
        ]
        return np.array(rows, dtype=object).reshape(len(scores), -1)

    @cached_property
    def L_K(self) -> Any:
        longest = max([sqrt((key * key).sum()) for key in self._keys])
        return self._memory.exact_lipschitz(self, longest + self.numbers.get("eps", 0))


def as_fractions(array: np.ndarray) -> np.ndarray:
    """Balls of radius 0 as the fractions that they are; other balls stay."""
    return _each(_as_fraction, array)


def _as_fraction(entry: Any) -> Any:
    if not isinstance(entry, Ball):
        return Fraction(entry)
    if not (entry._v.is_exact() and entry._v.is_finite()):
        return entry
    mantissa, exponent = (int(part) for part in entry._v.man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _each(convert: Callable[[Any], Any], array: Any) -> Any:
    """A number or all entries of an array; the infinite float that stands for an empty minimum stays."""
    if not isinstance(array, np.ndarray):
        return array if isinstance(array, float) else convert(array)
    converted = np.empty(array.size, dtype=object)
    converted[:] = [convert(entry) for entry in array.ravel().tolist()]
    return converted.reshape(array.shape)


def _unit_rows(rows: np.ndarray) -> np.ndarray:
    """Each row divided by its norm, equal rows only once, so that equal rows are the same balls."""
    made: dict[bytes, np.ndarray] = {}
    normalised = np.empty(rows.shape, dtype=object)
    for index, row in enumerate(rows + 0.0):  # -0.0 becomes 0.0
        key = row.tobytes()
        if key not in made:
            made[key] = _unit(rational.from_array(row))
        normalised[index] = made[key]
    return normalised


def _unit(row: np.ndarray) -> np.ndarray:
    return row / sqrt(_square(row))


def _square(row: np.ndarray) -> Fraction:
    square = (row * row).sum()
    if square == 0:
        raise HebbcheckError(
            "a row of norm 0 cannot be normalised; unit vectors are needed; leave that row out"
        )
    return square
