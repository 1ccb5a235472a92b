"""Shapes: how a set of vectors (keys or values) is drawn, at any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Streams
from ..errors import HebbcheckError


@dataclass(frozen=True)
class Shape:
    """A law of `count` vectors in R^d.

    `sample(streams, purpose, count, d)` returns count x d.  `unit`: rows have norm one.  `spans`: the law is invariant
    under rotations, so that inner products can be drawn without coordinates (see `sphere_span`).
    """

    name: str
    sample: Callable[[Streams, str, int, int], np.ndarray] | None = None
    unit: bool = True
    spans: bool = False
    parameters: dict[str, Any] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        inner = ", ".join(f"{v}" for v in self.parameters.values())
        return f"{self.name}({inner})" if inner else self.name


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """The rows divided by their norms (rows of norm 0 become the first basis vector)."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    safe = np.where(norms > 0, rows, np.eye(1, rows.shape[1]))
    return safe / np.where(norms > 0, norms, 1.0)


def sphere_span(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    """`count` uniform vectors of S^(d-1) in coordinates of their span, count x min(count, d), at a cost free of d.

    The Gram matrix of Gaussian vectors has the Bartlett factor: lower triangular, standard normal below the diagonal,
    roots of chi-squares with d - i degrees of freedom on it.  Rows are then divided by their norms.
    """
    if d <= count:
        return unit_rows(rng.standard_normal((count, d)))
    factor = np.tril(rng.standard_normal((count, count)), -1)
    np.fill_diagonal(factor, np.sqrt(rng.chisquare(d - np.arange(count))))
    return unit_rows(factor)


def _sphere(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    return unit_rows(streams(purpose).standard_normal((count, d)))


sphere = Shape("sphere", _sphere, spans=True)
"""Independent, uniform on the unit sphere."""


def _gaussian(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    return streams(purpose).standard_normal((count, d)) / np.sqrt(d)


gaussian = Shape("gaussian", _gaussian, unit=False)
"""Independent N(0, I/d): norms near one."""


def spiked(beta: float) -> Shape:
    """Uniform on the sphere, stretched by 1 + beta along one direction (the same for keys and values), renormalised."""

    def sample(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
        direction = unit_rows(streams("spike").standard_normal((1, d)))[0]
        rows = _sphere(streams, purpose, count, d)
        return unit_rows(rows + beta * (rows @ direction)[:, None] * direction)

    return Shape("spiked", sample, parameters={"beta": _number("beta", beta, 0)})


def clustered(k: int, spread: float = 0.5) -> Shape:
    """Unit vectors around k uniform centres: centre + spread * (uniform direction), renormalised."""

    def sample(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
        rng = streams(purpose)
        centres = unit_rows(rng.standard_normal((k, d)))
        around = unit_rows(rng.standard_normal((count, d)))
        return unit_rows(centres[rng.integers(k, size=count)] + spread * around)

    return Shape("clustered", sample, parameters={"k": int(_number("k", k, 1)), "spread": spread})


def low_rank(r: int) -> Shape:
    """Uniform on the unit sphere of a uniform r-dimensional subspace (of all of R^d where r > d)."""

    def sample(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
        rng = streams(purpose)
        basis = np.linalg.qr(rng.standard_normal((d, min(r, d))))[0]
        return unit_rows(rng.standard_normal((count, min(r, d))) @ basis.T)

    return Shape("low_rank", sample, parameters={"r": int(_number("r", r, 1))})


def _tight_frame(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    rotation = np.linalg.qr(streams(purpose).standard_normal((d, d)))[0]
    return harmonic_frame(count, d) @ rotation


def harmonic_frame(count: int, d: int) -> np.ndarray:
    """count x d real unit vectors whose frame operator is (count / d) I; orthonormal where count <= d.

    Rows of cosines and sines of the first frequencies (for odd d with a constant column), the harmonic frame.
    """
    if count <= d:
        return np.eye(count, d)
    angles = 2 * np.pi * np.arange(count) / count
    columns = [np.full(count, np.sqrt(1.0 / d))] if d % 2 else []
    for frequency in range(1, d // 2 + 1):
        if 2 * frequency == count:
            columns += [np.sqrt(1.0 / d) * np.cos(frequency * angles), np.sqrt(1.0 / d) * np.ones(count)]
        else:
            columns += [
                np.sqrt(2.0 / d) * np.cos(frequency * angles),
                np.sqrt(2.0 / d) * np.sin(frequency * angles),
            ]
    return np.stack(columns, axis=1)


tight_frame = Shape("tight_frame", _tight_frame)
"""A randomly rotated harmonic unit-norm tight frame (orthonormal where there are at most d vectors)."""

tied = Shape("tied")
"""The values are the keys."""

anything = Shape("anything", unit=False)
"""Whatever an adversary chooses: searched by Hypothesis at small sizes, a catalogue of hard cases at large ones."""


def file(path: str | Path, normalize: bool = True) -> Shape:
    """Rows of a file of embeddings (npy, npz, safetensors), drawn without replacement; `normalize`: to norm one."""
    from ..embeddings import load

    def sample(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
        table = load(path)
        if count > len(table):
            raise HebbcheckError(
                f"{path} has {len(table)} rows, {count} are needed; try F= at most {len(table)}"
            )
        if d != table.shape[1]:
            raise HebbcheckError(
                f"{path} has rows of length {table.shape[1]}, d is {d}; try d={table.shape[1]}"
            )
        chosen = streams(f"{purpose} rows").choice(len(table), size=count, replace=False)
        rows = table[chosen].astype(np.float64)
        if normalize and not np.all(np.any(rows != 0, axis=1)):
            raise HebbcheckError(f"{path} has a zero row, which cannot be normalised; try normalize=False")
        return unit_rows(rows) if normalize else rows

    shape = Shape("file", sample, unit=normalize, parameters={"path": Path(path).name})
    object.__setattr__(shape, "path", path)
    return shape


def _number(name: str, value: float, least: float) -> float:
    if not np.isfinite(value) or value < least:
        raise HebbcheckError(f"{name}={value!r} is out of range; a number from {least} up is needed")
    return float(value)
