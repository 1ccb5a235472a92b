"""The paper's statistics from their definitions, over floats, Fractions or balls: exact, obvious and slow.

Everything that needs no square root is computed without rounding from exact inputs (ints, Fractions, balls of
radius 0), so that "is this norm zero?" and "are these two equal?" have answers; balls of positive radius are
computed with as balls.  Floats are computed with as floats.

Facts: F keys with Gram matrix K (F x F, K[t][i] = K(k_t, k_i)), values v_0..v_{n-1}, a map f from facts to
values, codes c_t = v_{f(t)}.  The competitors of i are the values j != f(i), in increasing order; pairwise
statistics are F x (n-1) arrays.  With w = c_i - v_j, the tilde sums run over t != i with f(t) != j.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from .balls import object_array
from .numbers import Matrix, Numbers, extreme, magnitude


class Definitions:
    """Every statistic of the paper's table, computed when first asked for.

    K: F x F Gram matrix; values: n x d, or None for a kernel alone; mapping: F numbers in range(n), the
    identity by default; mu: the centre of the centred statistics, exactly 1/d by default, with the values' d.
    If an entry is a Ball, the results are balls (floats, ints and Fractions beside it count as exact); if one
    is a float, they are floats, or balls in ball mode.  Of ints and Fractions alone they are Fractions, but
    for kappa, kappa_tilde, kappa_centered and kappa_eff, which have a square root: those are floats, or balls
    in ball mode.

    Over an empty set minima are the float +inf and maxima of magnitudes 0; kappa is 0 and L_v 1 where they
    are 0/0.  Where a ball does not tell whether a norm is 0, they are all that they can be: kappa in [0, 1],
    L_v in [1, |T|], kappa_eff from 0 to the norm of the centred kernel's column.
    """

    def __init__(
        self, K: Matrix, values: Matrix | None = None, mapping: Sequence[int] | None = None, mu: Any = None
    ) -> None:
        self._numbers = Numbers([*K, *([] if values is None else values), [0 if mu is None else mu]])
        self._K = self._numbers.matrix(K)
        self.F = len(self._K)
        self.map = list(range(self.F)) if mapping is None else [int(j) for j in mapping]
        self._values = None if values is None else self._numbers.matrix(values)
        self._mu = None if mu is None else self._numbers.raw(mu)
        self._differences: dict[tuple[int, int], list] = {}

    # --- the kernel alone

    @cached_property
    def trace(self) -> Any:
        return self._numbers.wrap(self._sum(self._diagonal))

    @cached_property
    def diag_sq_sum(self) -> Any:
        return self._numbers.wrap(self._sum(k * k for k in self._diagonal))

    @cached_property
    def K_diag_min(self) -> Any:
        return self._least(self._diagonal)

    @cached_property
    def K_diag_max(self) -> Any:
        return self._numbers.wrap(extreme(max, self._diagonal))

    @cached_property
    def K_off_max(self) -> Any:
        return self._largest(self._K[t][i] for i in range(self.F) for t in self._others(i))

    @cached_property
    def E_K(self) -> Any:
        return self._largest(self._column_energies)

    # --- margins and their two decompositions, F x (n-1)

    @cached_property
    def margins(self) -> np.ndarray:
        return self._pairwise(self._margins)

    @cached_property
    def gamma_min(self) -> Any:
        return self._least(self._margins)

    @cached_property
    def signal(self) -> np.ndarray:
        return self._pairwise(self._signal)

    @cached_property
    def crosstalk(self) -> np.ndarray:
        return self._pairwise(self._crosstalk)

    @cached_property
    def signal_absorbed(self) -> np.ndarray:
        return self._pairwise(self._signal_absorbed)

    @cached_property
    def crosstalk_absorbed(self) -> np.ndarray:
        return self._pairwise(self._crosstalk_absorbed)

    @cached_property
    def s_min(self) -> Any:
        return self._least(self._signal_absorbed)

    @cached_property
    def z_max(self) -> Any:
        return self._largest(self._crosstalk_absorbed)

    # --- values

    @cached_property
    def V_min(self) -> Any:
        return self._least(self._difference(i, j)[i] for i, j in self._pairs)

    @cached_property
    def V_max(self) -> Any:
        Q = self._inner
        return self._largest(Q[self.map[i]][j] - Q[j][j] for i, j in self._pairs)

    @cached_property
    def E_v(self) -> Any:
        return self._largest(self._value_energies)

    @cached_property
    def E_v_tilde(self) -> Any:
        return self._largest(self._value_energies_tilde)

    @cached_property
    def B_Y(self) -> Any:
        return self._largest(self._sum(self._Y(i, j)) for i, j in self._pairs)

    @cached_property
    def L_v(self) -> Any:
        ratios = [self._numbers.spread(self._Y(i, j)) for i, j in self._pairs]
        return self._numbers.wrap(extreme(max, ratios) if ratios else self._numbers.one)

    # --- energies of the kernel's columns, and alignments

    @cached_property
    def E_K_tilde(self) -> Any:
        return self._largest(self._energies_tilde(self._K))

    @cached_property
    def E_K_centered(self) -> Any:
        return self._largest(self._centered_energies)

    @cached_property
    def kappa(self) -> Any:
        energies = [self._column_energies[i] for i, _ in self._pairs]
        return self._largest_cosine(self._crosstalk, energies, self._value_energies)

    @cached_property
    def kappa_tilde(self) -> Any:
        energies = self._energies_tilde(self._K)
        return self._largest_cosine(self._crosstalk_absorbed, energies, self._value_energies_tilde)

    @cached_property
    def kappa_centered(self) -> Any:
        return self._largest_cosine(
            self._centered_crosstalk, self._centered_energies, self._value_energies_tilde
        )

    @cached_property
    def kappa_eff(self) -> Any:
        parts = zip(
            self._centered_crosstalk, self._value_energies_tilde, self._centered_energies, strict=True
        )
        return self._largest(self._numbers.over_norm(*part) for part in parts)

    # --- one raw number for each pair (or each i), in the order of the pairs

    @cached_property
    def _margins(self) -> list:
        return [self._product(self._K, i, j, range(self.F)) for i, j in self._pairs]

    @cached_property
    def _signal(self) -> list:
        return [self._product(self._K, i, j, [i]) for i, j in self._pairs]

    @cached_property
    def _crosstalk(self) -> list:
        return [self._product(self._K, i, j, self._others(i)) for i, j in self._pairs]

    @cached_property
    def _signal_absorbed(self) -> list:
        return [self._product(self._K, i, j, [i, *self._of_competitor(i, j)]) for i, j in self._pairs]

    @cached_property
    def _crosstalk_absorbed(self) -> list:
        return [self._product(self._K, i, j, self._tilde(i, j)) for i, j in self._pairs]

    @cached_property
    def _centered_crosstalk(self) -> list:
        return [self._product(self._centered, i, j, self._tilde(i, j)) for i, j in self._pairs]

    @cached_property
    def _column_energies(self) -> list:
        return [self._sum(self._K[t][i] * self._K[t][i] for t in self._others(i)) for i in range(self.F)]

    @cached_property
    def _centered_energies(self) -> list:
        return self._energies_tilde(self._centered)

    @cached_property
    def _value_energies(self) -> list:
        rows = [(self._difference(i, j), self._others(i)) for i, j in self._pairs]
        return [self._sum(row[t] * row[t] for t in where) for row, where in rows]

    @cached_property
    def _value_energies_tilde(self) -> list:
        return [self._sum(y * y for y in self._Y(i, j)) for i, j in self._pairs]

    def _energies_tilde(self, K: list[list]) -> list:
        return [self._sum(K[t][i] * K[t][i] for t in self._tilde(i, j)) for i, j in self._pairs]

    # --- index sets and ingredients

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(self.F) for j in range(self._n) if j != self.map[i]]

    def _others(self, i: int) -> list[int]:
        return [t for t in range(self.F) if t != i]

    def _of_competitor(self, i: int, j: int) -> list[int]:
        return [t for t in range(self.F) if t != i and self.map[t] == j]

    def _tilde(self, i: int, j: int) -> list[int]:
        return [t for t in range(self.F) if t != i and self.map[t] != j]

    @property
    def _n(self) -> int:
        return len(self._given_values)

    @property
    def _given_values(self) -> list[list]:
        if self._values is None:
            raise ValueError("this statistic needs values, and only a kernel was given")
        return self._values

    @cached_property
    def _diagonal(self) -> list:
        return [self._K[i][i] for i in range(self.F)]

    @cached_property
    def _centered(self) -> list[list]:
        mu = self._numbers.one / len(self._given_values[0]) if self._mu is None else self._mu
        return [[k - mu for k in row] for row in self._K]

    @cached_property
    def _inner(self) -> list[list]:
        """The n x n inner products of the values."""
        return self._numbers.gram(self._given_values)

    def _difference(self, i: int, j: int) -> list:
        """<c_i - v_j, c_t> for all t."""
        key = (self.map[i], j)
        if key not in self._differences:
            winner, loser = (self._inner[a] for a in key)
            self._differences[key] = [winner[b] - loser[b] for b in self.map]
        return self._differences[key]

    def _Y(self, i: int, j: int) -> list:
        """<c_i - v_j, c_t> over the tilde set."""
        row = self._difference(i, j)
        return [row[t] for t in self._tilde(i, j)]

    def _product(self, K: list[list], i: int, j: int, where: Iterable[int]) -> Any:
        row = self._difference(i, j)
        return self._sum(K[t][i] * row[t] for t in where)

    # --- from raw numbers to results

    def _sum(self, terms: Iterable[Any]) -> Any:
        return sum(terms, self._numbers.zero)

    def _pairwise(self, entries: list) -> np.ndarray:
        return object_array([self._numbers.wrap(x) for x in entries], (self.F, self._n - 1))

    def _least(self, entries: Iterable[Any]) -> Any:
        entries = list(entries)
        return self._numbers.wrap(extreme(min, entries)) if entries else math.inf

    def _largest(self, entries: Iterable[Any]) -> Any:
        magnitudes = [magnitude(x) for x in entries]
        return self._numbers.wrap(extreme(max, magnitudes) if magnitudes else self._numbers.zero)

    def _largest_cosine(self, products: list, *energies: list) -> Any:
        parts = zip(products, *energies, strict=True)
        return self._largest(self._numbers.cosine(*part) for part in parts)


def gram_of_features(Phi: Matrix) -> np.ndarray:
    """K = Phi Phi^T for features Phi (F x m); F x F."""
    numbers = Numbers(Phi)
    return numbers.array(numbers.gram(numbers.matrix(Phi)))


def bilinear_features(A: Matrix, G: Matrix, keys: Matrix) -> np.ndarray:
    """(A x) * (G x) / sqrt(m) for each key x (A, G: m x d, keys: F x d); F x m.

    Over Fractions these are floats, or balls in ball mode; `gram_of_bilinear` stays exact.
    """
    numbers = Numbers([*A, *G, *keys])
    root = numbers.root(numbers.one * len(A))
    return numbers.array([[numbers.over(x, root) for x in row] for row in _gated(numbers, A, G, keys)])


def gram_of_bilinear(A: Matrix, G: Matrix, keys: Matrix) -> np.ndarray:
    """K(x, z) = sum_r (Ax)_r (Gx)_r (Az)_r (Gz)_r / m, exact over Fractions; F x F."""
    numbers = Numbers([*A, *G, *keys])
    gram = numbers.gram(_gated(numbers, A, G, keys))
    return numbers.array([[k / len(A) for k in row] for row in gram])


def quadratic_gram(keys: Matrix) -> np.ndarray:
    """K2(x, z) = <x, z>^2 for keys (F x d); F x F."""
    numbers = Numbers(keys)
    return numbers.array([[k * k for k in row] for row in numbers.gram(numbers.matrix(keys))])


def _gated(numbers: Numbers, A: Matrix, G: Matrix, keys: Matrix) -> list[list]:
    a, g, x = (numbers.matrix(M) for M in (A, G, keys))
    return [[numbers.dot(u, key) * numbers.dot(v, key) for u, v in zip(a, g, strict=True)] for key in x]
