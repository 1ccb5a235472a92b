"""Hidden units that are the same at every width: the memory of width m is the sum of the first m."""

from __future__ import annotations

from typing import Any, Protocol

from ..arrays import Streams
from .construction import FactTable

NULL = 1e-9
"""A feature whose part outside of the span of those before it is shorter than this share of it adds nothing."""


class Units:
    """Units in order: the outputs at the keys of the memory of width m are sum_{r < m} phi_r b_r^T, up to a factor > 0.

    `exact`: the construction's memory is this sum; otherwise up to a ridge that changes with the width.
    """

    exact = True

    def take(self, count: int) -> tuple[Any, Any]:
        """The next units: phi (F x count) and b (count x d_v); fewer where no further unit changes anything."""
        raise NotImplementedError


class Rows(Protocol):
    """The rows of some matrices, a few at a time, beside the facts."""

    def rows(self, count: int, *columns: int) -> list[Any]: ...


class Drawn:
    """Rows of iid N(0, 1), drawn on from where the last ones ended: those of `FactTable.normal`."""

    def __init__(self, facts: FactTable, seed: int, *purposes: str) -> None:
        self._facts = facts
        self._streams = [Streams("memory", seed)(purpose) for purpose in purposes]

    def rows(self, count: int, *columns: int) -> list[Any]:
        """The next rows for each purpose."""
        return [
            self._facts.held(stream.standard_normal((count, width)))
            for stream, width in zip(self._streams, columns, strict=True)
        ]


class Sketched(Units):
    """The features (a_r^T k)(g_r^T k) of rows of A and G, with their Hebbian readout."""

    def __init__(self, facts: FactTable, factors: Rows) -> None:
        self.facts, self._factors = facts, factors

    def take(self, count: int) -> tuple[Any, Any]:
        Phi = self.features(count)
        return Phi, Phi.T @ self.facts.codes

    def features(self, count: int) -> Any:
        A, G = self._factors.rows(count, self.facts.d, self.facts.d)
        return (self.facts.keys @ A.T) * (self.facts.keys @ G.T)


class Scaled(Sketched):
    """The same, each feature with energy one over the keys."""

    exact = False

    def features(self, count: int) -> Any:
        xp, Phi = self.facts.xp, super().features(count)
        lengths = xp.linalg.vector_norm(Phi, axis=0)
        return Phi / xp.where(lengths > 0, lengths, xp.ones_like(lengths))


class Orthonormal(Sketched):
    """An orthonormal basis that grows by a vector a feature: of it and those before it the sum is the projector.

    Of N features O(F N^2) operations in all and O(F N) memory.  A feature in the span of those before it is zero here,
    and there are none after the last direction that features reach.
    """

    exact = False

    def __init__(self, facts: FactTable, factors: Rows) -> None:
        super().__init__(facts, factors)
        self._basis = facts.keys[:, :0]
        self._reached = min(facts.F, facts.d * (facts.d + 1) // 2)

    def features(self, count: int) -> Any:
        if self._basis.shape[1] >= self._reached:
            return self._basis[:, :0]
        xp, Phi = self.facts.xp, super().features(count)
        lengths = xp.linalg.vector_norm(Phi, axis=0)
        rest = _outside(self._basis, Phi)
        new, triangle = xp.linalg.qr(rest)
        if new.shape[1] < count or bool(xp.any(xp.abs(xp.linalg.diagonal(triangle)) <= NULL * lengths)):
            new = self._one_by_one(Phi, lengths)
            self._basis = xp.concat([self._basis, new[:, xp.any(new != 0, axis=0)]], axis=1)
        else:
            self._basis = xp.concat([self._basis, new], axis=1)
        return new

    def _one_by_one(self, Phi: Any, lengths: Any) -> Any:
        xp, basis, columns = self.facts.xp, self._basis, []
        for r in range(Phi.shape[1]):
            rest = _outside(basis, Phi[:, r : r + 1])
            length = xp.linalg.vector_norm(rest)
            null = bool(length <= NULL * lengths[r])
            columns.append(rest * 0 if null else rest / length)
            if not null:
                basis = xp.concat([basis, columns[-1]], axis=1)
        return xp.concat(columns, axis=1)


def _outside(basis: Any, columns: Any) -> Any:
    """What the columns have outside of the span of an orthonormal basis, by two projections."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
    return columns
