"""What `anything` covers: hard cases of any size, and small sets of vectors for Hypothesis to search."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from .shapes import harmonic_frame, unit_rows

Maker = Callable[[np.random.Generator, int, int], np.ndarray]


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


def _frame(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return harmonic_frame(count, d)


def _scales(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    return _uniform(rng, count, d) * 10.0 ** rng.uniform(-3, 3, (count, 1))


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
    "tight frame": _frame,
    "norms 1e-3 to 1e3": _scales,
    "one orthant": _orthant,
    "a plane": _plane,
    "zero vectors": _some_zero,
}
"""Hard cases of any size, by name."""


def _grid(data: bytes, count: int, d: int) -> np.ndarray:
    """Entries on a grid of sixteenths: bytes shrink towards zero, and so do the entries."""
    entries = np.frombuffer(data, dtype=np.uint8).astype(np.int64)
    signed = np.where(entries % 2 == 0, entries // 2, -(entries // 2) - 1)
    return signed.reshape(count, d) / 16.0


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
        rows[i, 0] += 2.0**-26
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


@st.composite
def vectors(draw: st.DrawFn, count: int, d: int) -> np.ndarray:
    """A small adversarial set of vectors: a grid, a hard case, or either with a few edits."""
    if draw(st.booleans()):
        base = draw(st.sampled_from(sorted(CATALOGUE)))
        rows = CATALOGUE[base](np.random.default_rng(draw(st.integers(0, 2**16))), count, d)
    else:
        size = count * d
        rows = _grid(draw(st.binary(min_size=size, max_size=size)), count, d)
    for edit, i, j in draw(st.lists(st.tuples(st.sampled_from(EDITS), INDEX, INDEX), max_size=3)):
        rows = _edit(rows, edit, i, j)
    return rows


INDEX = st.integers(0, 11)
