"""Shapes: how a set of vectors (keys or values) is drawn, at any size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Streams
from ..checks import finite_number, whole_number

TINY, HUGE = 1e-140, 1e140
Sampler = Callable[[Streams, str, int, int], np.ndarray]


@dataclass(frozen=True, repr=False)
class Shape:
    """A law of `count` vectors in R^d.

    `sample(streams, purpose, count, d)` returns count x d.  `span`: where the law is invariant under rotations, the
    same in coordinates of the vectors' span, count x min(count, d), at a cost free of d.  `unit`: rows have norm
    one.  `exact`: what floats hold is such a set of vectors, not only up to rounding as for a tight frame.
    `movable`: a vector that is moved (and normalised again where `unit`) still is such a vector.
    """

    name: str
    sample: Sampler
    span: Sampler | None = None
    unit: bool = True
    exact: bool = True
    movable: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        inner = ", ".join(f"{v:g}" for v in self.parameters.values())
        return f"{self.name}({inner})" if inner else self.name

    @property
    def fingerprint(self) -> str:
        """Changes with whatever vectors are drawn from."""
        return repr(self)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """The rows divided by their norms (rows of norm 0 become the first basis vector)."""
    largest = np.max(np.abs(rows), axis=1, keepdims=True, initial=0.0)
    if np.any((largest < TINY) | (largest > HUGE)):  # whose squares would underflow or overflow
        rows = np.where(largest > 0, rows / np.where(largest > 0, largest, 1.0), np.eye(1, rows.shape[1]))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def sphere_span(rng: np.random.Generator, count: int, d: int) -> np.ndarray:
    """`count` uniform vectors of S^(d-1) in coordinates of their span, count x min(count, d), at a cost free of d.

    The Gram matrix of Gaussian vectors has the Bartlett factor: lower triangular, standard normal below the diagonal,
    roots of chi-squares with d - i degrees of freedom on it.  Rows are then divided by their norms.  Where d is much
    larger, the first vectors of a set are nearly those of a smaller set drawn from the same numbers.
    """
    if d <= count:
        return unit_rows(rng.standard_normal((count, d)))
    factor = np.zeros((count, count))
    factor[np.tri(count, k=-1, dtype=bool)] = rng.standard_normal(count * (count - 1) // 2)
    np.fill_diagonal(factor, np.sqrt(rng.chisquare(d - np.arange(count))))
    return unit_rows(factor)


def _sphere(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    return unit_rows(streams(purpose).standard_normal((count, d)))


def _sphere_span(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    return sphere_span(streams(purpose), count, d)


sphere = Shape("sphere", _sphere, _sphere_span, movable=True)
"""Independent, uniform on the unit sphere."""


def _gaussian(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    return streams(purpose).standard_normal((count, d)) / np.sqrt(d)


gaussian = Shape("gaussian", _gaussian, unit=False, movable=True)
"""Independent N(0, I/d): norms near one."""


def spiked(beta: float) -> Shape:
    """Uniform on the sphere, stretched by 1 + beta along one direction (the same for keys and values), renormalised."""
    beta = finite_number("beta", beta, 0)

    def sample(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
        direction = unit_rows(streams("spike").standard_normal((1, d)))[0]
        rows = _sphere(streams, purpose, count, d)
        return unit_rows(rows + beta * (rows @ direction)[:, None] * direction)

    return Shape("spiked", sample, parameters={"beta": beta})


def clustered(k: int, spread: float = 0.5) -> Shape:
    """Unit vectors around k uniform centres: centre + spread * (uniform direction), renormalised."""
    k, spread = whole_number("k", k), finite_number("spread", spread, 0)

    def sample(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
        rng = streams(purpose)
        centres = unit_rows(rng.standard_normal((k, d)))
        around = unit_rows(rng.standard_normal((count, d)))
        return unit_rows(centres[rng.integers(k, size=count)] + spread * around)

    return Shape("clustered", sample, parameters={"k": k, "spread": spread})


def low_rank(r: int) -> Shape:
    """Uniform on the unit sphere of a uniform r-dimensional subspace (of all of R^d where r > d)."""
    r = whole_number("r", r)

    def sample(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
        rng = streams(purpose)
        basis = np.linalg.qr(rng.standard_normal((d, min(r, d))))[0]
        return unit_rows(rng.standard_normal((count, min(r, d))) @ basis.T)

    return Shape("low_rank", sample, exact=False, parameters={"r": r})


def _tight_frame(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    Q, R = np.linalg.qr(streams(purpose).standard_normal((d, d)))
    return harmonic_frame(count, d) @ (
        Q * np.sign(np.diag(R))
    )  # with these signs Q is uniform (Mezzadri, 2007)


def harmonic_frame(count: int, d: int) -> np.ndarray:
    """count x d real unit vectors whose frame operator is (count / d) I; orthonormal where count <= d.

    Rows of cosines and sines of the first frequencies (for odd d with a constant column), the harmonic frame.
    """
    if count <= d:
        return np.eye(count, d)
    angles = 2 * np.pi * np.arange(count) / count
    columns = [np.full(count, np.sqrt(1.0 / d))] if d % 2 else []
    for frequency in range(1, d // 2 + 1):  # 2 frequency <= d < count, so that no sine vanishes
        columns += [np.sqrt(2.0 / d) * wave(frequency * angles) for wave in (np.cos, np.sin)]
    return np.stack(columns, axis=1)


def _tight_frame_span(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    return harmonic_frame(count, min(count, d))


tight_frame = Shape("tight_frame", _tight_frame, _tight_frame_span, exact=False)
"""A randomly rotated harmonic unit-norm tight frame (orthonormal where there are at most d vectors)."""


def _not_sampled(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
    raise NotImplementedError("the family makes these vectors")


tied = Shape("tied", _not_sampled)
"""The values are the keys."""

anything = Shape("anything", _not_sampled, unit=False, movable=True)
"""Whatever an adversary chooses: searched by Hypothesis at small sizes, a catalogue of hard cases at large ones."""
