"""A margin sweep: the cells of a figure, what is measured in each, and the averages over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebbcheck.arrays import Backend, Streams

REPLICATES = 8
"""Independent repetitions of the paper's protocol."""

Result = dict[str, list[float]]
"""The measurements of one seed: a list over the swept points for each statistic."""


@dataclass(frozen=True)
class Sweep:
    """`points`: values of the number `name`; `sizes`: what stays; `family(value)`: where an instance is drawn
    from.

    `statistics`: attributes that are measured besides gamma_min.  `shared`: all points of a seed use the same
    streams (a spike's strength changes and nothing else); otherwise every point draws its own keys, values
    and features.
    """

    name: str
    points: tuple[float, ...]
    sizes: dict[str, float]
    family: Callable[[float], Any]
    statistics: tuple[str, ...] = ()
    shared: bool = False

    def measure(self, streams: Streams, backend: Backend) -> Result:
        """One seed of the sweep."""
        measured: Result = {name: [] for name in ("gamma_min", *self.statistics)}
        for value in self.points:
            numbers = {**self.sizes, self.name: value}
            x = self.family(value).draw(numbers, streams if self.shared else streams.child(value), backend)
            if self.statistics:
                for name, found in measured.items():
                    found.append(float(getattr(x, name)))
            else:
                measured["gamma_min"].append(least_margin(x, outputs(x)))
        return measured

    def cell(self, value: float) -> str:
        """A point's sizes in words."""
        return ", ".join(
            f"{name} = {number:.4g}" for name, number in {**self.sizes, self.name: value}.items()
        )

    def columns(self, results: Sequence[Result]) -> dict[str, np.ndarray]:
        """(seeds x points) each: the sizes, the swept number, and the measurements of each seed."""
        shape = (len(results), len(self.points))
        given = {**self.sizes, self.name: np.asarray(self.points, dtype=float)}
        fixed = {
            name: np.broadcast_to(np.asarray(value, dtype=float), shape) for name, value in given.items()
        }
        return fixed | {name: np.array([r[name] for r in results]) for name in results[0]}


def outputs(x: Any) -> Any:
    """F x d: what the instance's memory returns at its keys."""
    return x.backend.xp.matmul(x.Phi, x.B.T) if x.raw.memory == "bilinear" else x.memory(x.keys)


def least_margin(x: Any, outputs: Any) -> float:
    """gamma_min of a memory's outputs (F x d), one a key: the cheapest way to the margins alone."""
    scores = np.array(x.backend.to_numpy(x.backend.xp.matmul(outputs, x.values.T)))
    facts = np.arange(len(scores))
    right = scores[facts, x.map].copy()
    scores[facts, x.map] = -np.inf
    return float(np.min(right - scores.max(axis=1)))


def seeds_of(replicates: int, seeds: int) -> list[dict[str, int]]:
    """The cells of a sweep: every seed of every replicate, numbered through."""
    return [{"replicate": r, "seed": r * seeds + s} for r in range(replicates) for s in range(seeds)]


def by_replicate(cells: Sequence[dict], results: Sequence[Result]) -> list[list[Result]]:
    """The results of each replicate."""
    numbers = sorted({cell["replicate"] for cell in cells})
    return [
        [r for c, r in zip(cells, results, strict=True) if c["replicate"] == number] for number in numbers
    ]


def average(columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Each column's mean over the seeds: statistics are averaged like the margin."""
    return {name: column.mean(axis=0) for name, column in columns.items()}


def log_spaced(low: float, high: float, count: int) -> tuple[int, ...]:
    """Whole numbers, equally spaced in the logarithm, each once."""
    return tuple(int(v) for v in np.unique(np.round(np.geomspace(low, high, count))))


def spike_strengths(largest: float, count: int = 30) -> tuple[float, ...]:
    """0 and log-spaced values from 1: the strengths of the paper's spiked sweeps."""
    return (0.0, *(float(v) for v in np.geomspace(1.0, largest, count - 1)))
