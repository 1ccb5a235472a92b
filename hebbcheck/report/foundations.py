"""What a claim rests on that does not stand: refuted, not judged, inconclusive or vacuous, however far down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..needs import Needs
from ..order import kind, natural
from ..verdict import Outcome
from .address import claim_anchor
from .outcomes import Record, label, tone

WORDS = {
    Outcome.REFUTED: "a refuted {}",
    Outcome.ERROR: "a {} that could not be judged",
    Outcome.INCONCLUSIVE: "an inconclusive {}",
    Outcome.VACUOUS: "a vacuous {}",
}
"""What does not stand, the worst first, and how it is called."""
SHOWN = 6


@dataclass(frozen=True)
class Weakness:
    """A claim that does not stand, and the chain of needs that leads to it, both ends included."""

    record: Record
    chain: tuple[str, ...]

    @property
    def rank(self) -> tuple:
        """Worst first, a surprise before what was expected; then the nearest."""
        worst = list(WORDS).index(Outcome(self.record["verdict"]))
        return worst, self.record["passed"], len(self.chain), natural(self.record["id"])


def needs_of(verdicts: Mapping[str, Record]) -> Needs:
    return Needs({id: record.get("needs") or [] for id, record in verdicts.items()})


def weaknesses(verdicts: Mapping[str, Record], needs: Needs) -> dict[str, list[Weakness]]:
    """For each claim what it rests on that does not stand, the worst first."""
    weak = {id for id, record in verdicts.items() if record["verdict"] in WORDS}
    found: dict[str, list[Weakness]] = {}
    for id in verdicts:
        chains = needs.rests_on(id)
        made = [Weakness(verdicts[n], tuple(chain)) for n, chain in chains.items() if n in weak]
        found[id] = sorted(made, key=lambda w: w.rank)
    return found


def in_words(found: list[Weakness]) -> str:
    """As in "Rests on a refuted lemma"; empty where everything stands."""
    if not found:
        return ""
    worst = found[0].record
    named = kind(worst.get("source")).replace("text", "claim")
    return f"Rests on {WORDS[Outcome(worst['verdict'])].format(named)}"


def foundations_view(found: list[Weakness]) -> dict[str, Any] | None:
    """The mark of one claim: its words, its tone, and the worst of what is wrong; None where all stands."""
    if not found:
        return None
    return {
        "words": in_words(found),
        "tone": tone(found[0].record),
        "outcome": found[0].record["verdict"],
        "weak": [
            {
                "id": w.record["id"],
                "anchor": claim_anchor(w.record["id"]),
                "tone": tone(w.record),
                "outcome": w.record["verdict"],
                "label": label(w.record),
                "through": [{"id": n, "anchor": claim_anchor(n)} for n in w.chain[1:-1]],
            }
            for w in found[:SHOWN]
        ],
        "more": max(len(found) - SHOWN, 0),
    }
