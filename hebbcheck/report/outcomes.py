"""The words and marks of the report: what each outcome is called, what it means, how it sorts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..verdict import Outcome

Record = Mapping[str, Any]

MEANING = {
    Outcome.PROVED: "A proof was checked: every step vanishes identically.",
    Outcome.HELD: "No instance breaks it, in exact arithmetic or under an attack that looked for the worst case.",
    Outcome.SUPPORTED: "Independent samples agree with it; a false statement of this kind would likely have shown.",
    Outcome.REFUTED: "Broken beyond rounding by an instance, or by samples at the level of the test.",
    Outcome.VACUOUS: "It says nothing here: no instance met the assumptions, or the bound is never more than trivial.",
    Outcome.INCONCLUSIVE: "Not enough evidence at this profile; the sentence says what would decide.",
    Outcome.ERROR: "The claim could not be judged.",
}
EXPECTATION = {"holds": "to hold", "refuted": "to be refuted", "vacuous": "to be vacuous"}
URGENCY = [
    Outcome.ERROR,
    Outcome.REFUTED,
    Outcome.INCONCLUSIVE,
    Outcome.VACUOUS,
    Outcome.SUPPORTED,
    Outcome.HELD,
    Outcome.PROVED,
]


@dataclass(frozen=True)
class Tile:
    """One of the eight counts at the top of the page; `passed` is "yes", "no", or "" where both are counted."""

    label: str
    outcome: Outcome
    passed: str
    tone: str
    count: int
    surprises: int

    @property
    def meaning(self) -> str:
        return MEANING[self.outcome]


def tone(record: Record) -> str:
    """The colour of a claim: its outcome's own, or that of surprise where the outcome is not what was expected."""
    surprising = not record["passed"] and record["verdict"] not in (Outcome.INCONCLUSIVE, Outcome.ERROR)
    return "surprise" if surprising else record["verdict"]


def label(record: Record) -> str:
    """The verdict in words: "Held", "Refuted as expected", "Held unexpectedly"."""
    word = record["verdict"].capitalize()
    if record["verdict"] == Outcome.REFUTED and record["passed"]:
        return f"{word} as expected"
    if record["passed"] or record["verdict"] in (Outcome.INCONCLUSIVE, Outcome.ERROR):
        return word
    return f"{word} unexpectedly"


def tiles(records: Iterable[Record]) -> list[Tile]:
    """Eight counts: one for each outcome, refutations told apart by whether they were expected."""
    records = list(records)
    shown = [(outcome.capitalize(), outcome, "") for outcome in Outcome]
    at = list(Outcome).index(Outcome.REFUTED)
    shown[at : at + 1] = [
        ("Refuted as expected", Outcome.REFUTED, "yes"),
        ("Refuted unexpectedly", Outcome.REFUTED, "no"),
    ]
    return [_tile(records, *entry) for entry in shown]


def _tile(records: list[Record], words: str, outcome: Outcome, passed: str) -> Tile:
    counted = [
        r for r in records if r["verdict"] == outcome and passed in ("", "yes" if r["passed"] else "no")
    ]
    surprises = sum(tone(r) == "surprise" for r in counted) if passed == "" else 0
    return Tile(
        words, outcome, passed, "surprise" if passed == "no" else outcome.value, len(counted), surprises
    )


def urgency(record: Record) -> int:
    """Where a claim stands when what needs attention comes first."""
    return (100 if record["passed"] else 0) + URGENCY.index(Outcome(record["verdict"]))
