"""What `anything` covers: hard cases of any size, and small sets of vectors for Hypothesis to search."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from hypothesis import strategies as st

from .shapes import harmonic_frame, unit_rows

Maker = Callable[[np.random.Generator, int, int], np.ndarray]

NEAR = 2.0**-26
"""How far near-parallel vectors are apart."""
GRID_ENTRIES = 512
"""Larger sets of vectors are hard cases with edits: Hypothesis does not choose their entries one by one."""


def _uniform(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return unit_rows(rng.standard_normal((count, d)))


def _one_point(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return np.repeat(_uniform(rng, 1, d), count, axis=0)


def _clusters(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    centres = _uniform(rng, max(1, round(count**0.5)), d)
    near = centres[np.arange(count) % len(centres)] + 0.05 * _uniform(rng, count, d)
    return unit_rows(near)


def _antipodal(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    half = _uniform(rng, (count + 1) // 2, d)
    return np.concatenate([half, -half])[:count]


def _copies(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    """Half of the vectors again: in turn the same, twice as long, and almost the same."""
    half = _uniform(rng, (count + 1) // 2, d)
    kind = np.arange(len(half))[:, None] % 3
    again = np.where(kind == 1, 2 * half, half) + np.where(kind == 2, NEAR * _uniform(rng, len(half), d), 0)
    return np.concatenate([half, again])[:count]


def _frame(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return harmonic_frame(count, d)


def _scales(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return _uniform(rng, count, d) * 10.0 ** rng.uniform(-3, 3, (count, 1))


def _short(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return _uniform(rng, count, d) / 1024


def _long(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return _uniform(rng, count, d) * 1024


def _orthant(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return np.abs(_uniform(rng, count, d))


def _plane(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    rows = np.zeros((count, d))
    rows[:, : min(2, d)] = _uniform(rng, count, min(2, d))
    return rows


def _some_zero(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return _uniform(rng, count, d) * (np.arange(count) % 3 > 0)[:, None]


CATALOGUE: dict[str, Maker] = {
    "uniform": _uniform,
    "one point": _one_point,
    "clusters": _clusters,
    "antipodal pairs": _antipodal,
    "copies": _copies,
    "tight frame": _frame,
    "norms 1e-3 to 1e3": _scales,
    "short vectors": _short,
    "long vectors": _long,
    "one orthant": _orthant,
    "a plane": _plane,
    "zero vectors": _some_zero,
}
"""Hard cases of any size, by name."""

ALIGNED = "aligned with the kernel"
"""Values of `aligned`: a choice for the values where the adversary chooses the keys too."""


def aligned(values: np.ndarray, mapping: np.ndarray, column: np.ndarray, i: int) -> np.ndarray:
    """The values turned so that <v_a - v_b, v_f(t)> is proportional to the kernel's column K_ti over all t != i.

    a = f(i), and b is the value of the fact with the largest |K_ti|: where that entry is positive, all cross-talk of
    the pair lowers its margin.  Value j gets the component |v_b| K_ti / max |K_ti| (the mean over the facts t of value
    j) along u, the first basis vector, and v_a the opposite of v_b's; the rest stays orthogonal to u, for a and b the
    same.  Equal norms stay equal where d > 1.  Values are returned as they are where nothing can be aligned.
    """
    column = np.where(np.arange(len(mapping)) == i, 0.0, column)
    top = int(np.argmax(np.abs(column)))
    a, b = int(mapping[i]), int(mapping[top])
    norms = np.linalg.norm(values, axis=1)
    if column[top] == 0 or a == b or norms[b] == 0:
        return values
    counts = np.maximum(np.bincount(mapping, minlength=len(values)), 1)
    along = norms[b] * np.bincount(mapping, column / np.abs(column[top]), minlength=len(values)) / counts
    made = unit_rows(values[:, 1:]) if values.shape[1] > 1 else np.zeros((len(values), 0))
    made = np.column_stack([along, made * np.sqrt(np.maximum(norms**2 - along**2, 0))[:, None]])
    made[a] = made[b]
    made[a, 0] = -along[b]
    return made


EDITS = (
    "duplicate",
    "antipode",
    "twice",
    "near",
    "zero",
    "tiny",
    "huge",
    "orthogonal",
    "positive",
    "rank one",
)
"""Changes to a set of vectors; `_edit` says what they do."""


def _edit(rows: np.ndarray, edit: str, i: int, j: int) -> np.ndarray:
    rows = rows.copy()
    i, j = i % len(rows), j % len(rows)
    if edit == "duplicate":
        rows[i] = rows[j]
    elif edit == "antipode":
        rows[i] = -rows[j]
    elif edit == "twice":
        rows[i] = 2 * rows[j]
    elif edit == "near":
        rows[i] = rows[j] * (1 + 2.0**-30)
        rows[i, 0] += NEAR
    elif edit == "zero":
        rows[i] = 0
    elif edit == "tiny":
        rows[i] /= 1024
    elif edit == "huge":
        rows[i] *= 1024
    elif edit == "orthogonal":
        rows[:] = np.eye(*rows.shape)[:, np.roll(np.arange(rows.shape[1]), i)]
    elif edit == "positive":
        rows[:] = np.abs(rows)
    else:
        rows[:] = np.outer(rows[:, 0], rows[j])
    return rows


def _grid(data: bytes, count: int, d: int) -> np.ndarray:
    """Entries on a grid of sixteenths: bytes shrink towards zero, and so do the rows towards basis vectors in turn."""
    entries = np.frombuffer(data, dtype=np.uint8).astype(np.int64)
    signed = np.where(entries % 2 == 0, entries // 2, -(entries // 2) - 1)
    return np.eye(d)[np.arange(count) % d] + signed.reshape(count, d) / 16.0


_ONE_IN_THREE = st.integers(0, 2)
_CASES = st.integers(0, len(CATALOGUE) * 2**16 - 1)
_EDITS = st.one_of(st.just(b""), st.binary(min_size=3, max_size=9))


@cache  # making strategies takes Hypothesis longer than drawing from them
def vectors(count: int, d: int) -> st.SearchStrategy[np.ndarray]:
    """Small adversarial sets of vectors (count x d): a grid, a hard case, or either with up to three edits."""
    size, names = count * d, list(CATALOGUE)
    entries = st.binary(min_size=size, max_size=size)

    @st.composite
    def sets(draw: st.DrawFn) -> np.ndarray:
        if size <= GRID_ENTRIES and draw(_ONE_IN_THREE) == 0:
            rows = _grid(draw(entries), count, d)
        else:
            chosen = draw(_CASES)
            rows = CATALOGUE[names[chosen % len(names)]](
                np.random.default_rng(chosen // len(names)), count, d
            )
        edits = draw(_EDITS)
        for edit, i, j in zip(edits[::3], edits[1::3], edits[2::3], strict=False):
            rows = _edit(rows, EDITS[edit % len(EDITS)], i, j)
        return rows

    return sets()
