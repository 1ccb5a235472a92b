"""The view of what is wrong as printed: each erratum beside what should stand there, the most consequential first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errata import errata
from .address import claim_anchor
from .claims import counterexample
from .formula import mathml
from .foundations import needs_of
from .outcomes import Record, label, tone


def errata_view(verdicts: Sequence[Record]) -> list[dict[str, Any]]:
    """One view for each claim that says what is wrong as printed."""
    known = {record["id"]: record for record in verdicts}
    wrong = [id for id, record in known.items() if record.get("erratum")]
    found = errata(wrong, needs_of(known), {id: record.get("source") for id, record in known.items()})
    return [
        {
            **statement(known[e.id]),
            "sentence": known[e.id]["erratum"],
            "source": known[e.id].get("source") or "",
            "reason": known[e.id]["reason"],
            "printed": known[e.id]["expected"] == "refuted",
            "corrected": statement(known[e.corrected]) if e.corrected else None,
            "dependents": e.dependents,
            "counterexample": _smallest(known[e.id]),
            "replay": known[e.id].get("replay") or "",
        }
        for e in found
    ]


def statement(record: Record) -> dict[str, Any]:
    """A claim's statement, as a formula where it is one, and what the claim got."""
    text, latex = record.get("statement") or "", bool(record.get("statement_is_latex"))
    return {
        "id": record["id"],
        "anchor": claim_anchor(record["id"]),
        "title": record.get("title") or "",
        "tone": tone(record),
        "outcome": record["verdict"],
        "label": label(record),
        "statement": text,
        "latex": latex,
        "formula": mathml(text) if latex and text else None,
    }


def _smallest(record: Record) -> dict[str, str] | None:
    found = record.get("counterexamples") or {}
    name = "smallest" if "smallest" in found else next(iter(found), None)
    return counterexample(name, found[name]) if name else None
