"""A ladder while it is climbed: the draws made so far on each rung."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .build import Ladder
from .centres import log_of


@dataclass
class Climb:
    """A ladder and what the draws on its rungs needed, as logarithms, by rung.

    `needed` at the rungs' own delta, `strict` at the smaller one that was measured with it (the same where there is
    none).  `allowed`: for a tail, the failure probabilities.
    """

    ladder: Ladder
    needed: list[np.ndarray] = field(default_factory=list)
    strict: list[np.ndarray] = field(default_factory=list)
    again: list[np.ndarray] = field(default_factory=list)
    met: dict[str, int] = field(default_factory=dict)
    undefined: int = 0
    draws: int = 0
    trivial_from: float = -math.inf

    def __post_init__(self) -> None:
        for rungs in (self.needed, self.strict, self.again):
            rungs.extend(np.empty(0) for _ in self.ladder.rungs)

    def made(self, rung: int) -> int:
        """How many draws a rung has had."""
        return len(self.needed[rung])

    def add(self, rung: int, result: dict) -> None:
        """Take in a cell's result (see `cells.cell`)."""
        needed = log_of(result["needed"])
        self._extend(rung, needed, log_of(result.get("strict", result["needed"])), result.get("again"))
        self.undefined += result["undefined"]
        self.draws += len(needed)
        for name, count in result["met"].items():
            self.met[name] = self.met.get(name, 0) + count
        if np.any(~np.isnan(needed)):
            self.trivial_from = max(self.trivial_from, result.get("trivial_from", math.inf))

    def add_tail(self, result: dict) -> None:
        """Take in a chunk of a tail's draws (see `cells.tail`)."""
        for rung, needed in enumerate(result["needed"]):
            logs = log_of(needed)
            self._extend(rung, logs, logs, None)
        self.undefined += result["undefined"][0]
        self.draws += len(result["needed"][0])

    def _extend(self, rung: int, needed: np.ndarray, strict: np.ndarray, again: list[float] | None) -> None:
        self.needed[rung] = np.concatenate([self.needed[rung], needed])
        self.strict[rung] = np.concatenate([self.strict[rung], strict])
        later = np.full(len(needed), math.inf) if again is None else log_of(again)
        self.again[rung] = np.concatenate([self.again[rung], later])

    def failures(self, rung: int, log_constant: float) -> tuple[int, int]:
        """(draws that fail with this constant, draws that are evidence), at the strict delta."""
        strict, again = self.strict[rung], self.again[rung]
        valid = ~np.isnan(strict)
        return int(np.sum((strict > log_constant) | (again <= log_constant), where=valid)), int(np.sum(valid))

    @property
    def is_tail(self) -> bool:
        return self.ladder.kind == "tail"

    @property
    def evidence(self) -> int:
        """Draws that are evidence (of a tail, whose rungs share them, counted once)."""
        rungs = self.needed[:1] if self.is_tail else self.needed
        return sum(int(np.sum(~np.isnan(needed))) for needed in rungs)
