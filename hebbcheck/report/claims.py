"""The view of one claim: its row in the table and its card, as text that the templates only lay out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..order import natural
from . import charts, numbers
from .address import claim_anchor, graph_anchor
from .formula import mathml
from .foundations import Weakness, foundations_view, in_words, needs_of, weaknesses
from .outcomes import EXPECTATION, MEANING, Record, label, tone, urgency

UNTESTED = "not tested"


def ordered(verdicts: Sequence[Record]) -> list[Record]:
    """What needs attention first, then by id as a reader would sort it."""
    return sorted(
        verdicts, key=lambda r: (r["passed"], urgency(r) if not r["passed"] else 0, natural(r["id"]))
    )


def claim_views(verdicts: Sequence[Record]) -> list[dict[str, Any]]:
    """One view for each claim, in the order of the page."""
    known = {record["id"]: record for record in verdicts}
    ranks, needs = _ranks(verdicts), needs_of(known)
    weak = weaknesses(known, needs)
    views = []
    for record in ordered(verdicts):
        id = record["id"]
        used = sorted(needs.dependents[id], key=natural)
        reliance = _reliance(record, used, known, weak[id])
        search = _search_text(record, in_words(weak[id]))
        views.append({**_view(record), "ranks": ranks[id], "search": search, **reliance})
    return views


def _reliance(
    record: Record, used: Sequence[str], known: Mapping[str, Record], weak: list[Weakness]
) -> dict[str, Any]:
    """What a claim needs, what needs it, and what does not stand beneath it."""
    needed = [_needed(name, known.get(name)) for name in record.get("needs") or []]
    return {
        "needs": needed,
        "used": [_needed(name, known[name]) for name in used],
        "graph": graph_anchor(record["id"]) if needed or used else "",
        "foundations": foundations_view(weak),
    }


SORT_KEYS = {
    "verdict": urgency,
    "claim": lambda r: natural(r["id"]),
    "quantifier": lambda r: r["quantifier"],
    "theme": lambda r: natural(r.get("theme") or ""),
    "instances": lambda r: r["instances"],
    "tightness": lambda r: (r.get("tightness") or {}).get("ratio"),
    "time": lambda r: r["seconds"],
}


def _ranks(verdicts: Sequence[Record]) -> dict[str, dict[str, int | None]]:
    """For each claim and column its place in that column, equal values sharing one; None sorts last."""
    ranks: dict[str, dict[str, int | None]] = {record["id"]: {} for record in verdicts}
    for column, key in SORT_KEYS.items():
        values = {record["id"]: key(record) for record in verdicts}
        distinct: list[Any] = []
        for value in sorted(v for v in values.values() if v is not None):
            if not distinct or distinct[-1] != value:
                distinct.append(value)
        for claim_id, value in values.items():
            ranks[claim_id][column] = None if value is None else distinct.index(value)
    return ranks


def _view(record: Record) -> dict[str, Any]:
    statement = record.get("statement") or ""
    latex = bool(record.get("statement_is_latex"))
    return {
        "id": record["id"],
        "anchor": claim_anchor(record["id"]),
        "title": record.get("title") or "",
        "source": record.get("source") or "",
        "theme": record.get("theme") or "",
        "quantifier": record["quantifier"],
        "quantifier_words": quantifier_words(record["quantifier"]),
        "outcome": record["verdict"],
        "tone": tone(record),
        "label": label(record),
        "meaning": MEANING[record["verdict"]],
        "passed": record["passed"],
        "expected": EXPECTATION[record["expected"]],
        "reason": record["reason"],
        "statement": statement,
        "latex": latex,
        "formula": mathml(statement) if latex and statement else None,
        "instances": numbers.number(record["instances"]),
        "tightness": numbers.number((record.get("tightness") or {}).get("ratio"), 3),
        "time": numbers.duration(record["seconds"]),
        "erratum": record.get("erratum") or "",
        "chart": charts.claim_chart(record),
        **_evidence(record),
    }


def quantifier_words(quantifier: str) -> str:
    return quantifier.replace(">= 1 - delta", "≥ 1 − δ")


def _search_text(record: Record, footing: str) -> str:
    parts = [
        footing,
        record["id"],
        record.get("title"),
        record.get("statement"),
        record["reason"],
        record.get("source"),
    ]
    return " ".join(" ".join(part.split()) for part in parts if part).casefold()


def _needed(name: str, record: Record | None) -> dict[str, Any]:
    return {
        "id": name,
        "anchor": claim_anchor(name) if record else "",
        "outcome": record["verdict"] if record else "",
        "tone": tone(record) if record else "",
        "label": label(record) if record else "not in this report",
    }


def _evidence(record: Record) -> dict[str, Any]:
    """What the verdict rests on, and how to see it again."""
    tightness = record.get("tightness") or {}
    return {
        "counts": _counts(record),
        "family": record.get("family") or "",
        "constants": _estimates(record.get("constants")),
        "exponents": _estimates(record.get("exponents")),
        "r2": [(name, numbers.number(v)) for name, v in (record.get("r2") or {}).items() if v is not None],
        "closest": {
            "ratio": numbers.number(tightness.get("ratio")),
            "instance": tightness.get("instance") or "",
        }
        if tightness.get("ratio") is not None
        else None,
        "assumptions": [
            _assumption(name, facts) for name, facts in (record.get("assumptions") or {}).items()
        ],
        "failure": failure(record.get("failure")),
        "counterexamples": [
            counterexample(name, found) for name, found in (record.get("counterexamples") or {}).items()
        ],
        "proof": [_step(step) for step in record.get("proof") or []],
        "notes": record.get("notes") or [],
        "replay": record.get("replay") or "",
        "command": record.get("command") or "",
        "provenance": provenance(record),
    }


def counterexample(name: str, found: Record) -> dict[str, str]:
    """A counterexample: its file, what it is made from, and the two sides that it gives."""
    sides = [f"{side} {numbers.number(found[side])}" for side in ("measured", "bound") if side in found]
    return {
        "name": name,
        "file": found.get("file") or "",
        "text": found.get("text") or "",
        "sides": ", ".join(sides),
    }


def _counts(record: Record) -> list[tuple[str, str]]:
    counts = [("Instances", numbers.number(record["instances"]))]
    if record["violations"]:
        counts.append(("Violations", numbers.number(record["violations"])))
    if record["undefined"]:
        counts.append(("Undefined", numbers.number(record["undefined"])))
    if record.get("arithmetic"):
        counts.append(("Arithmetic", record["arithmetic"]))
    return [*counts, ("Time", numbers.duration(record["seconds"]))]


def _estimates(estimates: Mapping[str, Record] | None) -> list[dict[str, str]]:
    return [
        {"name": name, "value": numbers.number(e.get("value")), "interval": numbers.interval(e)}
        for name, e in (estimates or {}).items()
    ]


def _assumption(name: str, facts: Record) -> dict[str, str]:
    needed = facts.get("needed")
    words = {None: UNTESTED, True: "needed: counterexample", False: "no counterexample without it"}
    return {
        "name": name,
        "met": numbers.percent(facts.get("share_met")),
        "needed": needed if isinstance(needed, str) else words[needed],
    }


def failure(found: Record | None) -> dict[str, Any] | None:
    """The failure rate with its Clopper-Pearson interval, and where all of it lies on a bar from 0 to `full`."""
    if not found or not found.get("trials"):
        return None
    rate, low, high = found["failures"] / found["trials"], found["low"], found["high"]
    allowed = found.get("allowed")
    full = 1.15 * max(high, allowed or 0, 1e-12)
    return {
        "failures": numbers.number(found["failures"]),
        "trials": numbers.number(found["trials"]),
        "rate": numbers.number(rate, 3),
        "interval": numbers.interval(found),
        "cell": found.get("cell") or "",
        "allowed": None if allowed is None else numbers.number(allowed),
        "bar": {
            "low": f"{100 * low / full:.2f}",
            "width": f"{max(100 * (high - low) / full, 0.8):.2f}",
            "rate": f"{100 * rate / full:.2f}",
            "allowed": None if allowed is None else f"{100 * allowed / full:.2f}",
        },
    }


def _step(step: Record) -> dict[str, str]:
    outcome = "vanishes" if step.get("vanishes") == "yes" else "does not vanish"
    return {"name": step["name"], "expression": step["expression"], "outcome": outcome}


def provenance(record: Record) -> list[str]:
    """How a record was made, from what is in it: "numpy", "cpu", "float64", "profile quick", "seed 0", its place."""
    parts = [record.get("backend"), record.get("device"), record.get("dtype")]
    parts.append(record.get("profile") and f"profile {record['profile']}")
    parts.append(None if record.get("seed") is None else f"seed {record['seed']}")
    if record.get("file"):
        parts.append(f"{record['file']}:{record['line']}" if record.get("line") else record["file"])
    return [str(part) for part in parts if part]
