"""The paper's statistics of one instance, blockwise on any array library.

``summary`` gives all the extrema with the pairs that attain them, ``sparsity`` the costlier L_v, ``pairwise``
whole tables.  Time is O(F^2 (m + d)), memory O(block x F).  For a map that is a bijection the hot path
(``hebbcheck.screen``) bounds every row of pairs, and only the rows that can hold an extremum are worked out
(``hebbcheck.pairs``); what is reported is each extremal pair's value from the definition.

Index sets: margins and cross-talk over the values j != f(i), sums over t != i; the absorbed ("tilde") ones also
leave out the t with f(t) = j.  Over an empty set a minimum is +inf and a maximum of magnitudes 0; a coupling is 0
where a norm is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np

from . import pairs, screen, threads
from .errors import HebbcheckError
from .pairs import SENSES, Problem, Rows, spans

DIRECT_SIZE = 1 << 12  # pairs times facts; up to it every pair is worked out from the definition
ON_DEMAND_SIZE = 192**2  # pairs; up to it a few statistics one by one cost less than all in one screened pass
PAIRWISE = ("margins", "signal", "crosstalk", "signal_absorbed", "crosstalk_absorbed")
PAIRWISE_SIZE = 1 << 21  # entries of one array of pairs by coordinates
SPARSITY_SIZE = 1 << 16  # entries of one array of pairs by values
OF_ROWS = ("E_K", "K_off_max")
OF_VALUES = ("V_min", "V_max", "E_v", "E_v_tilde", "B_Y")


@dataclass(frozen=True)
class Extremum:
    """An extremal value and where it is attained: (i, j), (i,) or (i, t) from 0, or () for none."""

    value: float
    pair: tuple[int, ...]


class Kernel:
    """A symmetric positive semidefinite F x F matrix K, given by rows.

    An off-diagonal entry below ``resolution * sqrt(K_ii K_tt)`` is nothing but rounding error.
    """

    resolution = 0.0

    def rows(self, start: int, stop: int) -> Any:
        """A fresh array ((stop - start) x F), which the caller may overwrite."""
        raise NotImplementedError

    def take(self, index: Any) -> Any:
        """The rows of an index array."""
        xp = array_api_compat.array_namespace(index)
        return xp.concat([self.rows(int(i), int(i) + 1) for i in index], axis=0)

    def diagonal(self) -> Any:
        raise NotImplementedError


class Features(Kernel):
    """K = Phi Phi^T, for features Phi (F x m)."""

    def __init__(self, Phi: Any) -> None:
        self.xp = array_api_compat.array_namespace(Phi)
        self.Phi = Phi
        self.resolution = float(self.xp.finfo(Phi.dtype).eps) * math.sqrt(Phi.shape[1])

    def rows(self, start: int, stop: int) -> Any:
        return self.Phi[start:stop, :] @ self.Phi.T

    def take(self, index: Any) -> Any:
        return self.xp.take(self.Phi, index, axis=0) @ self.Phi.T

    def diagonal(self) -> Any:
        return self.xp.vecdot(self.Phi, self.Phi)


class Quadratic(Features):
    """K_ti = <k_t, k_i>^2, the expected kernel of bilinear features, for keys (F x d)."""

    def __init__(self, keys: Any) -> None:
        super().__init__(keys)
        self.resolution **= 2

    def rows(self, start: int, stop: int) -> Any:
        return super().rows(start, stop) ** 2

    def take(self, index: Any) -> Any:
        return super().take(index) ** 2

    def diagonal(self) -> Any:
        return super().diagonal() ** 2


class Gram(Kernel):
    """A kernel given as its matrix (F x F)."""

    def __init__(self, K: Any) -> None:
        self.xp = array_api_compat.array_namespace(K)
        self.K = K

    def rows(self, start: int, stop: int) -> Any:
        return self.xp.asarray(self.K[start:stop, :], copy=True)

    def take(self, index: Any) -> Any:
        return self.xp.take(self.K, index, axis=0)

    def diagonal(self) -> Any:
        return self.xp.linalg.diagonal(self.K)


class Best:
    """The extrema found so far."""

    def __init__(self, names: Any) -> None:
        self.found = {name: Extremum(math.inf if sense(name) < 0 else 0.0, ()) for name in names}

    def offer(self, name: str, value: float, pair: tuple[int, ...]) -> None:
        held = self.found[name]
        better = sense(name) * (value - held.value) > 0 or (value == held.value and not held.pair)
        if better or math.isnan(value):  # nothing is better than NaN
            self.found[name] = Extremum(value, pair)

    def beaten_by(self, name: str, bounds: Any, eps: float) -> Any:
        """Where an optimistic bound is better, by more than rounding."""
        value = self.found[name].value
        slack = 64 * eps * abs(value) if math.isfinite(value) else 0.0
        return sense(name) * bounds > sense(name) * value + slack


def sense(name: str) -> int:
    """+1 for a maximum, -1 for a minimum."""
    return SENSES[name][0] if name in SENSES else 1


def summary(
    kernel: Kernel, codes: Any, values: Any, mapping: np.ndarray, mu: float, *, block: int = 192
) -> Mapping[str, Extremum]:
    """Every cheap statistic (Definitions B.9 to B.15, equations 25 to 34) with the pair that attains it.

    Of few pairs each is worked out when it is asked for: most claims ask for one or two.

    ``codes`` F x d, ``values`` n x d, ``mapping`` host integers (F,) with codes = values[mapping], ``mu`` the
    centre of the centred statistics.  Pairs are (i, j) with j a value's index; (i,) or (i, t) for the kernel's
    own statistics; () over an empty set and for the two sums.
    """
    diagonal = kernel.diagonal()
    _check(codes, values, mapping, diagonal)
    p = Problem(codes, values, mapping, mu)
    if p.F * p.n <= ON_DEMAND_SIZE:
        return OnDemand(p, kernel, diagonal)
    best = Best([*SENSES, *OF_ROWS])
    at_once = threads.available(codes)
    with threads.one_for_products(codes):
        for index in _rows_that_matter(p, kernel, diagonal, best, block, at_once):
            _scan(p, Rows(kernel, index, diagonal, p.mu), best)
    found = {name: _unscaled(p, name, e) for name, e in best.found.items()}
    return _without_overflow({**found, **_of_diagonal(p.xp, diagonal)})


class OnDemand(Mapping):
    """The summary of few pairs: a pass over all pairs for each statistic that is asked for."""

    def __init__(self, p: Problem, kernel: Kernel, diagonal: Any) -> None:
        self._p, self._kernel, self._diagonal = p, kernel, diagonal
        self._of_diagonal = _of_diagonal(p.xp, diagonal)
        self._found: dict[str, Extremum] = {}

    def __getitem__(self, name: str) -> Extremum:
        if name not in self._found:
            self._found[name] = self._extremum(name)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in SENSES or name in OF_ROWS or name in self._of_diagonal

    def __iter__(self) -> Iterator[str]:
        return iter((*SENSES, *OF_ROWS, *self._of_diagonal))

    def __len__(self) -> int:
        return len(SENSES) + len(OF_ROWS) + len(self._of_diagonal)

    @cached_property
    def _rows(self) -> Rows:
        return Rows(self._kernel, self._p.indices(np.arange(self._p.F)), self._diagonal, self._p.mu)

    @cached_property
    def _tables(self) -> pairs.Tables:
        return pairs.Tables(self._p, self._rows)

    @cached_property
    def _everything(self) -> list[pairs.Definitions]:
        return _definitions(self._p, self._rows, *self._p.xp.nonzero(~pairs.own_values(self._p, self._rows)))

    def _extremum(self, name: str) -> Extremum:
        if name in self._of_diagonal:
            return _unless_overflown(name, self._of_diagonal[name], self._of_diagonal)
        best = Best([name])
        with threads.one_for_products(self._p.codes):
            if name in OF_ROWS:
                _scan_kernel(self._p.xp, self._rows, best)
            elif self._p.n > 1:
                of_pairs = self._everything if _is_direct(self._p) else self._of_pairs(name)
                _offer(self._rows, [name], of_pairs, best)
        return _unless_overflown(name, _unscaled(self._p, name, best.found[name]), self._of_diagonal)

    def _of_pairs(self, name: str) -> list[pairs.Definitions]:
        return _definitions(self._p, self._rows, *_pairs_that_matter(self._p, self._tables, [name]))


def _unscaled(p: Problem, name: str, e: Extremum) -> Extremum:
    return Extremum(e.value / p.scale ** SENSES.get(name, (1, 0))[1], e.pair)


def _without_overflow(found: dict[str, Extremum]) -> dict[str, Extremum]:
    """NaN for what such numbers cannot hold."""
    return {name: _unless_overflown(name, e, found) for name, e in found.items()}


def _unless_overflown(name: str, e: Extremum, of_diagonal: Mapping[str, Extremum]) -> Extremum:
    """NaN for an infinity that a pair attains, and for all of a kernel that is infinite."""
    infinite = not all(math.isfinite(of_diagonal[end].value) for end in ("K_diag_min", "K_diag_max"))
    lost = (infinite and name not in OF_VALUES) or bool(e.pair and math.isinf(e.value))
    return Extremum(math.nan, e.pair) if lost else e


def gram_extrema(kernel: Kernel, *, block: int = 128) -> dict[str, Extremum]:
    """The statistics that need a kernel alone: E_K, K_off_max, those of the diagonal and the two sums."""
    diagonal = kernel.diagonal()
    xp, device = array_api_compat.array_namespace(diagonal), array_api_compat.device(diagonal)
    best = Best(OF_ROWS)
    for part in spans(0, diagonal.shape[0], block):
        index = xp.arange(part.start, part.stop, device=device)
        _scan_kernel(xp, Rows(kernel, index, diagonal), best)
    return _without_overflow({**best.found, **_of_diagonal(xp, diagonal)})


def _check(codes: Any, values: Any, mapping: np.ndarray, diagonal: Any) -> None:
    F, n = codes.shape[0], values.shape[0]
    if F == 0 or n == 0 or mapping.shape != (F,) or mapping.min() < 0 or mapping.max() >= n:
        raise HebbcheckError(
            f"a map of shape {mapping.shape} for {F} codes and {n} values; "
            "needed is one value's index for every fact, and at least one fact; check the map's entries"
        )
    if codes.shape[1] != values.shape[1] or diagonal.shape != (F,):
        raise HebbcheckError(
            f"codes {tuple(codes.shape)}, values {tuple(values.shape)} and a kernel of {diagonal.shape[0]} facts; "
            "needed are one dimension and one count of facts; check the shapes"
        )


def _rows_that_matter(
    p: Problem, kernel: Kernel, diagonal: Any, best: Best, block: int, at_once: int
) -> Iterator[Any]:
    """Blocks of rows that between them hold every extremum; what is found meanwhile shortens the list."""
    xp = p.xp
    everything = p.indices(np.arange(p.F))
    if not p.bijective:
        rest = everything
    else:
        bounds = screen.optimistic(p, kernel, diagonal, block, at_once)
        first = sorted({int(xp.argmax(sense(name) * bound)) for name, bound in bounds.items()})
        yield pairs.padded(xp, p.indices(first))
        open_rows = xp.zeros(p.F, dtype=xp.bool, device=p.device)
        for name, bound in bounds.items():
            open_rows = open_rows | best.beaten_by(name, bound, p.eps)
        rest = pairs.padded(xp, xp.nonzero(open_rows)[0])
    step = max(1, block // 4)  # the tables of a row are many
    for part in spans(0, rest.shape[0], step):
        yield rest[part]


def _scan(p: Problem, rows: Rows, best: Best) -> None:
    """Work out all pairs of some rows."""
    _scan_kernel(p.xp, rows, best)
    if p.n == 1:
        return
    if _is_direct(p):
        of_pairs = p.xp.nonzero(~pairs.own_values(p, rows))
    else:
        of_pairs = _pairs_that_matter(p, pairs.Tables(p, rows), list(SENSES))
    _offer(rows, list(SENSES), _definitions(p, rows, *of_pairs), best)


def _is_direct(p: Problem) -> bool:
    return p.F * p.F * p.n <= DIRECT_SIZE


def _definitions(p: Problem, rows: Rows, local: Any, j: Any) -> list[pairs.Definitions]:
    return [pairs.Definitions(p, rows, *part) for part in pairs.chunks(p, local, j)]


def _offer(rows: Rows, names: list[str], definitions: list[pairs.Definitions], best: Best) -> None:
    """What is offered as best comes from the definition."""
    for of_pairs in definitions:
        for name in names:
            found, xp = of_pairs[name], of_pairs.p.xp
            k = int(xp.argmax(sense(name) * found))
            pair = (int(rows.index[int(of_pairs.local[k])]), int(of_pairs.j[k]))
            best.offer(name, float(found[k]), pair)


def _pairs_that_matter(p: Problem, tables: pairs.Tables, names: list[str]) -> tuple[Any, Any]:
    """Those that the tables show as the best, and those for which the tables cannot be trusted."""
    xp, own = p.xp, tables.own
    doubtful, flat = own & False, set()
    for name in names:
        unreliable = tables.unreliable(name)
        excluded = xp.reshape(own | unreliable, (-1,))
        signed = xp.where(excluded, -math.inf, sense(name) * xp.reshape(tables[name], (-1,)))
        k = int(xp.argmax(signed))
        flat |= set() if bool(excluded[k]) else {k}
        doubtful = doubtful | unreliable
    local, j = xp.nonzero(doubtful & ~own)
    best = sorted(flat)
    return (
        xp.concat([p.indices([k // p.n for k in best]), local]),
        xp.concat([p.indices([k % p.n for k in best]), j]),
    )


def _scan_kernel(xp: Any, rows: Rows, best: Best) -> None:
    unit, largest = pairs.unit_rows(xp, rows.K)
    if "E_K" in best.found:
        norms = largest * xp.sqrt(xp.vecdot(unit, unit))
        row = int(xp.argmax(norms))
        best.offer("E_K", float(norms[row]) ** 2, (int(rows.index[row]),))
    if "K_off_max" in best.found:
        row = int(xp.argmax(largest))
        column = int(xp.argmax(xp.where(rows.off[row, :], xp.abs(rows.K[row, :]), -1.0)))
        if bool(rows.off[row, column]):
            best.offer("K_off_max", float(largest[row]), (int(rows.index[row]), column))


def _of_diagonal(xp: Any, diagonal: Any) -> dict[str, Extremum]:
    low, high = int(xp.argmin(diagonal)), int(xp.argmax(diagonal))
    return {
        "K_diag_min": Extremum(float(diagonal[low]), (low,)),
        "K_diag_max": Extremum(float(diagonal[high]), (high,)),
        "trace": Extremum(float(xp.sum(diagonal)), ()),
        "diag_sq_sum": Extremum(float(xp.vecdot(diagonal, diagonal)), ()),
    }


def pairwise(kernel: Kernel, codes: Any, values: Any, mapping: np.ndarray, name: str) -> Any:
    """One of PAIRWISE as an array F x (n - 1): row i holds its competitors in increasing order."""
    if name not in PAIRWISE:
        raise HebbcheckError(f"no pairwise statistic {name!r}; try one of {', '.join(PAIRWISE)}")
    _check(codes, values, mapping, kernel.diagonal())
    p = Problem(codes, values, mapping)
    diagonal = kernel.diagonal()
    facts = p.indices(np.arange(p.F))
    block = max(1, PAIRWISE_SIZE // (p.n * codes.shape[1] + p.F))
    parts = []
    for part in spans(0, p.F, block):
        rows = Rows(kernel, facts[part], diagonal)
        table = _pairwise_rows(p, rows, name)
        own = p.xp.take(p.f, rows.index)
        count, competitors = table.shape[0], p.n - 1
        columns = p.xp.arange(competitors, device=p.device)[None, :]
        columns = columns + p.xp.astype(columns >= own[:, None], p.xp.int64)
        flat = columns + p.n * p.xp.arange(count, device=p.device)[:, None]
        taken = p.xp.take(p.xp.reshape(table, (-1,)), p.xp.reshape(flat, (-1,)))
        parts.append(p.xp.reshape(taken, (count, competitors)))
    return p.xp.concat(parts, axis=0) / p.scale**2


def _pairwise_rows(p: Problem, rows: Rows, name: str) -> Any:
    """k x n, each entry a product with w itself, so that near-equal values cost no accuracy."""
    xp = p.xp
    codes = xp.take(p.codes, rows.index, axis=0)
    w = codes[:, None, :] - p.values[None, :, :]
    column, own = (rows.K @ p.codes)[:, None, :], (rows.diagonal[:, None] * codes)[:, None, :]
    if name == "margins":
        return xp.sum(w * (own + column), axis=2)
    if name == "signal":
        return xp.sum(w * own, axis=2)
    if name == "crosstalk":
        return xp.sum(w * column, axis=2)
    competitor = p.absorb(rows.K)[:, :, None] * p.values[None, :, :]
    if name == "signal_absorbed":
        return xp.sum(w * (own + competitor), axis=2)
    return xp.sum(w * (column - competitor), axis=2)


def sparsity(codes: Any, values: Any, mapping: np.ndarray, *, block: int = 64) -> Extremum:
    """L_v, the largest (sum |Y_t|)^2 / sum Y_t^2 over pairs with the competitor absorbed; 1 where that is 0/0.

    Y depends on a fact through its value alone, and sum |a_t - b_t| = 2 sum max(a_t, b_t) - sum a_t - sum b_t
    takes two passes over rows of the Gram matrix.  Time O(F^3) at worst, memory O(block x F).
    """
    _check(codes, values, mapping, codes[:, 0])
    p = Problem(codes, values, mapping)
    best = Best(["L_v"])
    best.found["L_v"] = Extremum(1.0, ())
    used, facts = np.unique(mapping, return_index=True)
    columns = p.xp.take(p.values, p.indices(used), axis=0).T * p.counts[p.indices(used)][None, :]
    centered = p.values - p.xp.mean(p.values, axis=0)[None, :]
    with (
        np.errstate(divide="ignore", invalid="ignore"),
        threads.one_for_products(codes),
    ):  # 0/0 at excluded pairs
        for part in spans(0, used.size if p.n > 1 else 0, block):
            _sparsity_rows(
                p, columns, centered, p.indices(used[part]), p.indices(facts[part]), best, part.start
            )
    return best.found["L_v"]


def _sparsity_rows(
    p: Problem, columns: Any, centered: Any, own_value: Any, facts: Any, best: Best, start: int
) -> None:
    """The pairs of some values' facts; of a bijection, whose L_v(i, j) is symmetric, those after ``start``."""
    xp = p.xp
    first = start if p.bijective else 0
    V, U, _, energy = pairs.value_tables(p, own_value, xp.take(p.codes, facts, axis=0))
    gram = xp.take(centered, own_value, axis=0) @ columns
    sums = _l1_distances(xp, gram, centered[first:, :], columns, facts.shape[0])
    sums = sums - (xp.abs(V) + p.counts[None, :] * xp.abs(U))[:, first:]
    own = own_value[:, None] == xp.arange(p.n, device=p.device)[None, :]
    lost = energy <= xp.take(p.thresholds, own_value)[:, None] + p.thresholds[None, :]
    own, lost, energy = own[:, first:], lost[:, first:], energy[:, first:]
    ratio = xp.where(own | lost, 0.0, sums**2 / energy)
    k = int(xp.argmax(ratio))
    top = divmod(k, ratio.shape[1]) if float(xp.max(ratio)) > 0 else ()
    local, j = xp.nonzero(lost & ~own)
    local = xp.concat([p.indices(top[:1]), local])
    j = xp.concat([p.indices(top[1:]), j]) + first
    for some_local, some_j in pairs.chunks(p, local, j):
        some_i = xp.take(facts, some_local)
        exact = pairs.sparsity_definition(p, some_i, some_j)
        k = int(xp.argmax(exact))
        best.offer("L_v", float(exact[k]), (int(some_i[k]), int(some_j[k])))


def _l1_distances(xp: Any, gram: Any, others: Any, columns: Any, block: int) -> Any:
    """Between rows of one Gram matrix and rows ``others @ columns``, a few rows of each at a time."""
    ones = xp.ones_like(columns[0, :])
    step = max(1, SPARSITY_SIZE // (block * ones.shape[0]))
    parts = []
    for part in spans(0, others.shape[0], block):
        other = others[part, :] @ columns
        larger = [
            xp.maximum(gram[few, None, :], other[None, :, :]) @ ones for few in spans(0, gram.shape[0], step)
        ]
        parts.append(2 * xp.concat(larger, axis=0) - xp.sum(gram, axis=1)[:, None] - xp.sum(other, axis=1))
    return xp.concat(parts, axis=1)
