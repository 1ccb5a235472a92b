"""Pairs (i, j) of a fact and a competing value: fast tables over rows of pairs, and single pairs from the definition.

Facts t have codes c_t = v_f(t) and a kernel K; a pair has w = c_i - v_j and the interference Y_t = <w, c_t>,
t != i.  Energies are sums over t of squares; the absorbed ("tilde") ones leave out every t with f(t) = j.
The tables expand these sums, which is fast and cancels where Y is small against the codes; the pairs where it
does are marked, and ``Definitions`` recomputes them from w itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np

# Of each statistic over pairs: +1 for a maximum or -1 for a minimum, and its degree in the values.
SENSES = {
    "gamma_min": (-1, 2),
    "s_min": (-1, 2),
    "z_max": (1, 2),
    "V_min": (-1, 2),
    "V_max": (1, 2),
    "E_K_tilde": (1, 0),
    "E_K_centered": (1, 0),
    "E_v": (1, 4),
    "E_v_tilde": (1, 4),
    "kappa": (1, 0),
    "kappa_tilde": (1, 0),
    "kappa_centered": (1, 0),
    "kappa_eff": (1, 0),
    "B_Y": (1, 2),
}
DEFINITION_SIZE = 1 << 18  # entries of one array of pairs by facts
PADDING = 16


class Problem:
    """Codes (F x d), values (n x d) and the map (host integers, F), with what every pair needs of them."""

    def __init__(self, codes: Any, values: Any, mapping: np.ndarray, mu: float = 0.0) -> None:
        self.xp = array_api_compat.array_namespace(codes, values)
        self.device = array_api_compat.device(codes)
        self.eps = float(self.xp.finfo(codes.dtype).eps)
        # A power of two brings the largest norm near one: exact, and no product overflows in float32.
        self.scale = unit_scale(float(self.xp.max(self.xp.abs(values))))
        self.codes, self.values = codes * self.scale, values * self.scale
        self.mu = float(mu)  # a numpy scalar would widen float32
        self.F, self.n = codes.shape[0], values.shape[0]
        self.host_counts = np.bincount(mapping, minlength=self.n)
        self.bijective = self.n == self.F and bool(np.all(self.host_counts == 1))
        self.f = self.indices(mapping)
        self.counts = self.xp.astype(self.indices(self.host_counts), codes.dtype)

    def indices(self, host: Any) -> Any:
        """Host integers as an index array."""
        host = np.array(host, dtype=np.int64)  # a copy: torch shares memory, and refuses read-only arrays
        return self.xp.asarray(host, dtype=self.xp.int64, device=self.device)

    def of_facts(self, of_values: Any) -> Any:
        return self.xp.take(of_values, self.f, axis=0)

    @cached_property
    def norms(self) -> Any:
        """|v_j|^2."""
        return self.xp.vecdot(self.values, self.values)

    @cached_property
    def code_norms(self) -> Any:
        return self.xp.sqrt(self.of_facts(self.norms))

    @cached_property
    def factors(self) -> Any:
        """Rows x_j with |x_i - x_j|^2 = sum_t <v_i - v_j, c_t>^2: R v_j, where C = QR, less their mean.

        An orthogonal factor keeps the error at eps |C| |w|, where V^T (C^T C) V would square the condition.
        """
        xp = self.xp
        factors = self.values @ xp.linalg.qr(self.codes)[1].T
        return factors - xp.mean(factors, axis=0)[None, :]

    @cached_property
    def factor_norms(self) -> Any:
        return self.xp.vecdot(self.factors, self.factors)

    @cached_property
    def thresholds(self) -> Any:
        """b_j: an absorbed energy of a pair below b_f(i) + b_j has lost half of its digits to cancellation."""
        cancelled = self.factor_norms + (1 + self.counts) * self.norms**2
        rounded = self.norms * self.xp.sum(self.of_facts(self.norms))
        return math.sqrt(self.eps) * cancelled + 16 * self.eps * rounded

    @cached_property
    def projections(self) -> Any:
        """<v_j, sum_t c_t> less the terms f(t) = j."""
        return self.values @ self.xp.sum(self.codes, axis=0) - self.counts * self.norms

    @cached_property
    def inverse(self) -> Any:
        """The fact of each value, where the map is a bijection."""
        return self.xp.argsort(self.f)

    def absorb(self, rows: Any) -> Any:
        """Sums of the columns t with f(t) = j: (k x F) to (k x n)."""
        xp = self.xp
        if self.bijective:
            return xp.take(rows, self.inverse, axis=1)
        total = xp.zeros((rows.shape[0], self.n), dtype=rows.dtype, device=self.device)
        values = xp.arange(self.n, device=self.device)[None, :]
        for facts in spans(0, self.F, 256):
            total = total + rows[:, facts] @ xp.astype(self.f[facts][:, None] == values, rows.dtype)
        return total


def spans(start: int, stop: int, step: int) -> Iterator[slice]:
    """Consecutive slices of at most ``step`` (none beyond the end: strict arrays refuse those)."""
    for first in range(start, stop, step):
        yield slice(first, min(first + step, stop))


def unit_scale(size: float) -> float:
    """The power of two that brings a size into [1/2, 1); 1 for a size that is 0 or not finite."""
    return math.ldexp(1.0, -math.frexp(size)[1]) if 0 < size < math.inf else 1.0


class Rows:
    """Rows of a kernel without their diagonal, and of K - mu, where entries below the kernel's resolution are 0."""

    def __init__(self, kernel: Any, index: Any, diagonal: Any, mu: float = 0.0) -> None:
        xp = array_api_compat.array_namespace(diagonal)
        self.index, self._mu = index, mu
        self.diagonal = xp.take(diagonal, index)
        facts = xp.arange(diagonal.shape[0], device=array_api_compat.device(diagonal))
        self.off = facts[None, :] != index[:, None]
        sizes = xp.sqrt(xp.abs(diagonal))
        self._noise = kernel.resolution * xp.take(sizes, index)[:, None] * sizes[None, :]
        self._taken = kernel.take(index)
        self.K = xp.where(self.off & (xp.abs(self._taken) > self._noise), self._taken, 0.0)

    @cached_property
    def centered(self) -> Any:
        xp = array_api_compat.array_namespace(self.diagonal)
        centered = self._taken - self._mu
        return xp.where(self.off & (xp.abs(centered) > self._noise), centered, 0.0)


def unit_rows(xp: Any, rows: Any) -> tuple[Any, Any]:
    """The rows over their largest magnitudes, and these (0 for a row of zeros)."""
    largest = xp.max(xp.abs(rows), axis=1)
    return rows / xp.where(largest > 0, largest, 1.0)[:, None], largest


def own_values(p: Problem, rows: Rows) -> Any:
    """k x n: where a row's fact has the value, which is then no competitor."""
    return p.xp.take(p.f, rows.index)[:, None] == p.xp.arange(p.n, device=p.device)[None, :]


OF_KERNEL = ("E_K_tilde", "E_K_centered")
"""Of the statistics over pairs those that do not depend on values."""
LOSE_TILDE = ("z_max", "E_K_tilde", "kappa_tilde")
LOSE_CENTERED = ("E_K_centered", "kappa_centered", "kappa_eff")
"""Those whose tables lose what the competitor's term of the kernel (of K - mu) hides."""


class Tables:
    """Statistics over pairs for some rows (k x n each), worked out when asked for."""

    def __init__(self, p: Problem, rows: Rows) -> None:
        self.p, self.rows = p, rows

    @cached_property
    def own(self) -> Any:
        return own_values(self.p, self.rows)

    def __getitem__(self, name: str) -> Any:
        xp = self.p.xp
        V, U, energy, energy_absorbed = self._values
        match name:
            case "gamma_min":
                return self._signal + self._crosstalk
            case "s_min":
                return self._signal + self._competitor
            case "z_max":
                return xp.abs(self._absorbed)
            case "V_min":
                return V
            case "V_max":
                return xp.abs(U)
            case "E_K_tilde":
                return self._tilde[1] ** 2
            case "E_K_centered":
                return self._centered_norms[1] ** 2
            case "E_v":
                return energy
            case "E_v_tilde":
                return energy_absorbed
            case "kappa":
                return coherence(xp, self._crosstalk, self._tilde[0], _root(xp, energy))
            case "kappa_tilde":
                return coherence(xp, self._absorbed, self._tilde[1], self._root_absorbed)
            case "kappa_centered":
                return coherence(xp, self._centered, self._centered_norms[1], self._root_absorbed)
            case "kappa_eff":
                return quotient(xp, xp.abs(self._centered), self._root_absorbed)
            case "B_Y":
                return xp.abs(self._total)
        raise KeyError(name)

    def unreliable(self, name: str) -> Any:
        """Where cancellation leaves a table of this statistic without digits."""
        bad = self.own & False if name in OF_KERNEL else self._lost
        if name in LOSE_TILDE + LOSE_CENTERED:
            bad = bad | self._tilde[2]
        return bad | self._centered_norms[2] if name in LOSE_CENTERED else bad

    @cached_property
    def _own_value(self) -> Any:
        return self.p.xp.take(self.p.f, self.rows.index)

    @cached_property
    def _codes(self) -> Any:
        return self.p.xp.take(self.p.codes, self.rows.index, axis=0)

    @cached_property
    def _values(self) -> tuple[Any, Any, Any, Any]:
        return value_tables(self.p, self._own_value, self._codes)

    @cached_property
    def _lost(self) -> Any:
        thresholds = self.p.thresholds
        return self._values[3] <= self.p.xp.take(thresholds, self._own_value)[:, None] + thresholds[None, :]

    @cached_property
    def _signal(self) -> Any:
        return self.rows.diagonal[:, None] * self._values[0]

    @cached_property
    def _crosstalk(self) -> Any:
        column = self.rows.K @ self.p.codes
        return self.p.xp.vecdot(column, self._codes)[:, None] - column @ self.p.values.T

    @cached_property
    def _competitor(self) -> Any:
        return self.p.absorb(self.rows.K) * self._values[1]

    @cached_property
    def _absorbed(self) -> Any:
        return self._crosstalk - self._competitor

    @cached_property
    def _total(self) -> Any:
        return total_tables(self.p, self._own_value, self._values[1])

    @cached_property
    def _centered(self) -> Any:
        return self._absorbed - self.p.mu * self._total

    @cached_property
    def _root_absorbed(self) -> Any:
        return _root(self.p.xp, self._values[3])

    @cached_property
    def _tilde(self) -> tuple[Any, Any, Any]:
        return _kernel_norms(self.p, self.rows.K)

    @cached_property
    def _centered_norms(self) -> tuple[Any, Any, Any]:
        return _kernel_norms(self.p, self.rows.centered)


def value_tables(p: Problem, own_value: Any, codes: Any) -> tuple[Any, Any, Any, Any]:
    """<w, c_i>, <w, v_j> and the energies of Y without and with the competitor absorbed, for rows of pairs."""
    xp = p.xp
    gram = codes @ p.values.T
    V = xp.take(p.norms, own_value)[:, None] - gram
    U = gram - p.norms[None, :]
    squares = xp.take(p.factor_norms, own_value)[:, None] + p.factor_norms[None, :]
    energy = squares - 2 * (xp.take(p.factors, own_value, axis=0) @ p.factors.T) - V * V
    return V, U, energy, energy - p.counts[None, :] * U * U


def total_tables(p: Problem, own_value: Any, U: Any) -> Any:
    """sum of Y_t with the competitor absorbed: it separates, but for the values of several facts or of none."""
    of_codes = p.projections + (p.counts - 1) * p.norms
    total = p.xp.take(of_codes, own_value)[:, None] - p.projections[None, :]
    return total if p.bijective else total + (1 - p.counts)[None, :] * (U + p.norms[None, :])


def _kernel_norms(p: Problem, entries: Any) -> tuple[Any, Any, Any]:
    """Norms of a kernel's rows, of all t != i (k x 1) and absorbed (k x n), and where these cancelled."""
    xp = p.xp
    unit, largest = unit_rows(xp, entries)
    squares = unit * unit
    energy = xp.sum(squares, axis=1)[:, None]
    rest = energy - p.absorb(squares)
    bad = (rest <= math.sqrt(p.eps) * energy) & (energy > 0)
    return largest[:, None] * xp.sqrt(energy), largest[:, None] * _root(xp, rest), bad


def _root(xp: Any, energy: Any) -> Any:
    return xp.sqrt(xp.where(energy > 0, energy, 0.0))


def quotient(xp: Any, numerator: Any, denominator: Any) -> Any:
    """The quotient, and 0 where the denominator is 0."""
    positive = denominator > 0
    return xp.where(positive, numerator / xp.where(positive, denominator, 1.0), 0.0)


def coherence(xp: Any, product: Any, left: Any, right: Any) -> Any:
    """|<X, Y>| / (|X| |Y|), in [0, 1]; 0 where a norm is 0."""
    ratio = quotient(xp, quotient(xp, xp.abs(product), left), right)
    return xp.where(ratio < 1, ratio, 1.0)


@dataclass(frozen=True)
class Interference:
    """Some pairs: w, Y_t for all t != i (0 at i), and which t are the competitor's."""

    w: Any
    Y: Any
    rival: Any


def interference(p: Problem, i: Any, j: Any) -> Interference:
    """Y from w = c_i - v_j itself; entries within the rounding error of their own sum are zero."""
    xp = p.xp
    w = xp.take(p.codes, i, axis=0) - xp.take(p.values, j, axis=0)
    Y = w @ p.codes.T
    noise = p.eps * math.sqrt(w.shape[1]) * xp.sqrt(xp.vecdot(w, w))[:, None] * p.code_norms[None, :]
    off = xp.arange(p.F, device=p.device)[None, :] != i[:, None]
    Y = xp.where(off & (xp.abs(Y) > noise), Y, 0.0)
    return Interference(w, Y, p.f[None, :] == j[:, None])


class Definitions:
    """Statistics of some pairs (rows.index[local], j), when asked for, from their definitions: no sum is expanded."""

    def __init__(self, p: Problem, rows: Rows, local: Any, j: Any) -> None:
        self.p, self.rows, self.local, self.j = p, rows, local, j
        self._i = p.xp.take(rows.index, local)

    def __getitem__(self, name: str) -> Any:
        xp, pair = self.p.xp, self._pair
        match name:
            case "gamma_min":
                return self._signal + xp.vecdot(self._K, pair.Y)
            case "s_min":
                return self._signal + xp.vecdot(self._K, pair.Y - self._absorbed)
            case "z_max":
                return xp.abs(xp.vecdot(self._K, self._absorbed))
            case "V_min":
                return self._V
            case "V_max":
                return xp.abs(xp.vecdot(pair.w, xp.take(self.p.values, self.j, axis=0)))
            case "E_K_tilde":
                return self._K_norm_absorbed**2
            case "E_K_centered":
                return _norms(xp, self._centered) ** 2
            case "E_v":
                return _norms(xp, pair.Y) ** 2
            case "E_v_tilde":
                return self._Y_norm_absorbed**2
            case "kappa":
                return coherence(xp, xp.vecdot(self._K, pair.Y), _norms(xp, self._K), _norms(xp, pair.Y))
            case "kappa_tilde":
                product = xp.vecdot(self._K, self._absorbed)
                return coherence(xp, product, self._K_norm_absorbed, self._Y_norm_absorbed)
            case "kappa_centered":
                product = xp.vecdot(self._centered, self._absorbed)
                return coherence(xp, product, _norms(xp, self._centered), self._Y_norm_absorbed)
            case "kappa_eff":
                product = xp.abs(xp.vecdot(self._centered, self._absorbed))
                return quotient(xp, product, self._Y_norm_absorbed)
            case "B_Y":
                return xp.abs(xp.sum(self._absorbed, axis=1))
        raise KeyError(name)

    @cached_property
    def _pair(self) -> Interference:
        return interference(self.p, self._i, self.j)

    @cached_property
    def _K(self) -> Any:
        return self.p.xp.take(self.rows.K, self.local, axis=0)

    @cached_property
    def _absorbed(self) -> Any:
        return self._without_rival(self._pair.Y)

    @cached_property
    def _centered(self) -> Any:
        return self._without_rival(self.p.xp.take(self.rows.centered, self.local, axis=0))

    @cached_property
    def _V(self) -> Any:
        return self.p.xp.vecdot(self._pair.w, self.p.xp.take(self.p.codes, self._i, axis=0))

    @cached_property
    def _signal(self) -> Any:
        return self.p.xp.take(self.rows.diagonal, self.local) * self._V

    @cached_property
    def _K_norm_absorbed(self) -> Any:
        return _norms(self.p.xp, self._without_rival(self._K))

    @cached_property
    def _Y_norm_absorbed(self) -> Any:
        return _norms(self.p.xp, self._absorbed)

    def _without_rival(self, entries: Any) -> Any:
        return self.p.xp.where(self._pair.rival, 0.0, entries)


def _norms(xp: Any, rows: Any) -> Any:
    unit, largest = unit_rows(xp, rows)
    return largest * xp.sqrt(xp.vecdot(unit, unit))


def chunks(p: Problem, *indices: Any) -> Iterator[tuple[Any, ...]]:
    """Pieces of parallel index arrays, small enough for arrays of pairs by facts."""
    indices = tuple(padded(p.xp, index) for index in indices)
    for part in spans(0, indices[0].shape[0], max(PADDING, DEFINITION_SIZE // p.F // PADDING * PADDING)):
        yield tuple(index[part] for index in indices)


def padded(xp: Any, index: Any) -> Any:
    """The last entry repeated to a round length: a library that compiles for each shape then sees few."""
    short = -index.shape[0] % PADDING
    return xp.concat([index, *([index[-1:]] * short)]) if short else index


def sparsity_definition(p: Problem, i: Any, j: Any) -> Any:
    """(sum |Y_t|)^2 / sum Y_t^2 over t != i, f(t) != j, for some pairs; 1 where that is 0/0."""
    xp = p.xp
    pair = interference(p, i, j)
    unit, largest = unit_rows(xp, xp.where(pair.rival, 0.0, pair.Y))
    squares = xp.vecdot(unit, unit)
    ratio = xp.sum(xp.abs(unit), axis=1) ** 2 / xp.where(largest > 0, squares, 1.0)
    return xp.where(largest > 0, ratio, 1.0)
