"""The smallest widths that store F facts (Figures 2c and 11): the points, and what is measured at each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hebbcheck import capacity
from hebbcheck.arrays import Streams
from hebbcheck.geometry.shapes import Shape, sphere, spiked
from hebbcheck.settings import Settings

SHARES = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)
"""F / d^2 of the paper's points."""
SKETCHES = ("bilinear", "diagonal", "whitened", "ntk")
"""Methods whose units are drawn: a wide search costs little."""
METHODS = ("gd", "data_dependent", "whitened", "diagonal", "bilinear", "ntk")
LIMIT = "quadratic"
LABELS = {
    "gd": "gradient descent",
    "data_dependent": "data-dependent",
    "whitened": "whitened",
    "diagonal": "diagonally whitened",
    "bilinear": "unwhitened",
    "ntk": "NTK",
    LIMIT: "exact quadratic kernel",
}
Record = dict[str, Any]
"""A cell's parameters and what was measured in it."""


@dataclass(frozen=True)
class Scope:
    """What a profile measures: up to how many facts in closed form and trained, and up to which width of sketches.

    `most_solved`: beyond so many facts the data-dependent solves, minutes a width, are made for the first seed alone.
    """

    dimensions: tuple[int, ...]
    most_facts: int
    most_trained: int
    most_solved: int
    replicates: int
    widest: int

    def cells(self, beta: float, methods: tuple[str, ...]) -> list[dict]:
        """One cell a search: every method at every size, tied and untied."""
        return [
            {
                "replicate": r,
                "seed": r,
                "d": d,
                "F": F,
                "beta": beta,
                "tied": tied,
                "method": method,
            }
            for d in self.dimensions
            for F in facts_of(d)
            for tied in (True, False)
            for method in methods
            for r in range(self.replicates)
            if self._measures(method, F, r)
        ]

    def _measures(self, method: str, F: int, replicate: int) -> bool:
        if method == "data_dependent" and replicate > 0:
            return F <= min(self.most_solved, self.most_facts)
        return F <= (self.most_trained if method == "gd" else self.most_facts)


def scope(settings: Settings) -> Scope:
    everything = 128**2
    return settings.by_profile(
        Scope((64,), 1024, 256, 1024, 5, 16384),
        Scope((64,), 4096, 1024, 2048, 4, 65536),
        Scope((64, 90, 128), everything, everything, everything, 4, 65536),
    )


def facts_of(d: int) -> list[int]:
    """The numbers of facts at a dimension."""
    return [int(share * d**2) for share in SHARES]


def measure(settings: Settings, params: Record) -> Record:
    """The smallest width of one memory for one set of facts and one map; of the exact kernel its least margin.

    Keys, values, map and weights of a seed are the same for all methods, the spike apart for both geometries.
    """
    F, d = params["F"], params["d"]
    streams = Streams(settings.seed, "widths", params["seed"], d, F)
    shape = spiked(params["beta"]) if params["beta"] else sphere
    keys, values = facts(streams, shape, F, d, params["tied"])
    mapping, method = streams("map").permutation(F), params["method"]
    if method == LIMIT:
        return {"margin": exact_kernel_margin(keys, values, mapping)}
    held = [settings.arrays.asarray(table) for table in (keys, values)]
    found = capacity.of(
        method,
        *held,
        mapping,
        seed=int(streams("weights").integers(2**31)),
        widest=scope(settings).widest if method in SKETCHES else F,
    )
    return {
        "width": found.width,
        "widest": found.widest,
        "tried": len(found.tried),
        "exact": found.exact,
        "monotone": found.monotone,
    }


def facts(streams: Streams, shape: Shape, F: int, d: int, tied: bool) -> tuple[np.ndarray, np.ndarray]:
    keys = shape.sample(streams, "keys", F, d)
    return keys, keys if tied else shape.sample(streams, "values", F, d)


def exact_kernel_margin(keys: np.ndarray, values: np.ndarray, mapping: np.ndarray, rows: int = 1024) -> float:
    """gamma_min of the memory with kernel <x, z>^2, the unwhitened one at unlimited width."""
    least = np.inf
    for start in range(0, len(keys), rows):
        own = mapping[start : start + rows]
        scores = (keys[start : start + rows] @ keys.T) ** 2 @ values[mapping] @ values.T
        facts = np.arange(len(own))
        right = scores[facts, own].copy()
        scores[facts, own] = -np.inf
        least = min(least, float(np.min(right - scores.max(axis=1))))
    return least


def records(cells: list[dict], results: list[dict]) -> list[Record]:
    """Cells with their results, and W = 3 m d: at least that of the widest where no width stores."""
    joined = [{**cell, **result} for cell, result in zip(cells, results, strict=True)]
    for record in joined:
        if record["method"] != LIMIT:
            record["W"] = 3 * record["d"] * (record["width"] or record["widest"])
    return joined
