"""What became of a mutant."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .mutants import Mutant


class Fate(StrEnum):
    """What became of a mutant."""

    CAUGHT = "caught"
    MISSED = "missed"
    """It survived, and there is a witness that it is false."""
    UNDETERMINED = "undetermined"
    """It survived, and nobody knows whether it is false."""
    EQUIVALENT = "equivalent"
    WEAKER = "weaker"
    BROKEN = "broken"
    """It cannot be judged: no statement came of the change."""


TRUE = (Fate.EQUIVALENT, Fate.WEAKER)


@dataclass(frozen=True)
class Trial:
    """A mutant, its fate, the judge's verdict (None where it was not asked) and one sentence."""

    mutant: Mutant
    fate: Fate
    verdict: str | None
    reason: str
    seconds: float

    def record(self) -> dict[str, Any]:
        """As JSON."""
        change = self.mutant.mutation
        return {
            "id": self.mutant.id,
            "claim": self.mutant.original.id,
            "quantifier": str(self.mutant.original.quantifier),
            "kind": change.kind,
            "change": change.words,
            "fate": str(self.fate),
            "verdict": self.verdict,
            "reason": self.reason,
            "seconds": round(self.seconds, 3),
        }
