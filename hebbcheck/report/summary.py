"""The top of the page: what the run was, and how many claims got what was expected of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..order import natural
from ..settings import LEVEL
from . import numbers
from .address import claim_anchor
from .outcomes import EXPECTATION, Record, label, tiles, tone


def summary(verdicts: Sequence[Record], figures: Sequence[Record], runs: Sequence[Record]) -> dict[str, Any]:
    passed = sum(r["passed"] for r in verdicts)
    return {
        "total": len(verdicts),
        "passed": passed,
        "failed": len(verdicts) - passed,
        "headline": _headline(passed, len(verdicts), len(figures)),
        "breakdown": _breakdown(verdicts),
        "tiles": tiles(verdicts),
        "facts": facts([*verdicts, *figures], latest_run(runs)),
        "versions": merged_versions([*verdicts, *figures]),
        "command": (latest_run(runs) or {}).get("command"),
        "level": level(verdicts),
        "date": numbers.date((latest_run(runs) or {}).get("started")),
    }


def _headline(passed: int, total: int, figures: int) -> str:
    if total == 0:
        return f"{figures} figures reproduced" if figures else "Nothing has been judged yet"
    if passed == total:
        return (
            "The claim got what was expected" if total == 1 else f"All {total} claims got what was expected"
        )
    return f"{passed} of {total} claims got what was expected"


def _breakdown(verdicts: Sequence[Record]) -> str:
    """The claims that did not get what was expected, in words: "2 refuted unexpectedly, 1 error"."""
    counts: dict[str, int] = {}
    for record in verdicts:
        if not record["passed"]:
            words = label(record).lower()
            counts[words] = counts.get(words, 0) + 1
    return ", ".join(f"{count} {words}" for words, count in counts.items())


def latest_run(runs: Sequence[Record]) -> Record | None:
    """The latest run that judged a claim; without one, the latest."""
    judging = [run for run in runs if run.get("verdicts")]
    return max(judging or runs, key=lambda run: run["id"], default=None)


def facts(records: Iterable[Record], run: Record | None) -> list[tuple[str, str]]:
    """Name and value of each run fact; records that differ in one are all named."""
    records = list(records)
    found = [(name, _distinct(records, key)) for name, key in FACTS]
    entries = [(name, value) for name, value in found if value]
    if run is not None:
        entries.insert(0, ("Run", str(run["id"])))
        entries.insert(1, ("Duration", _run_time(run)))
    spent = sum(r.get("seconds") or 0 for r in records)
    return [*entries, ("Computing time", numbers.duration(spent))]


FACTS = [
    ("Profile", "profile"),
    ("Seed", "seed"),
    ("Backend", "backend"),
    ("Device", "device"),
    ("Dtype", "dtype"),
]


def _run_time(run: Record) -> str:
    start, end = numbers.moment(run.get("started")), numbers.moment(run.get("finished"))
    return "not finished" if start is None or end is None else numbers.duration((end - start).total_seconds())


def _distinct(records: Iterable[Record], key: str) -> str:
    values = {str(r[key]) for r in records if r.get(key) is not None}
    return ", ".join(sorted(values, key=natural))


def merged_versions(records: Iterable[Record]) -> list[tuple[str, str]]:
    """Every package and the version, or versions, that the records were made with; our own first."""
    found: dict[str, set[str]] = {}
    for record in records:
        for name, version in (record.get("versions") or {}).items():
            found.setdefault(name, set()).add(str(version))
    names = sorted(found, key=lambda name: (name != "hebbcheck", name.casefold()))
    return [(name, ", ".join(sorted(found[name], key=natural))) for name in names]


def level(verdicts: Iterable[Record]) -> dict[str, str]:
    """The level of the statistical verdicts, and what it means in claims."""
    levels = {r["level"] for r in verdicts if r.get("level")} or {LEVEL}
    largest = max(levels)
    return {
        "text": " and ".join(numbers.number(v) for v in sorted(levels)),
        "one_in": f"{round(1 / largest):,}",
        "hundred": f"{round(1 / (100 * largest)):,}",
    }


def attention(verdicts: Iterable[Record]) -> list[dict[str, str]]:
    """The claims that did not get what was expected, in the order given."""
    return [
        {
            "id": record["id"],
            "anchor": claim_anchor(record["id"]),
            "title": record.get("title") or "",
            "label": label(record),
            "outcome": record["verdict"],
            "tone": tone(record),
            "expected": EXPECTATION[record["expected"]],
            "reason": record["reason"],
        }
        for record in verdicts
        if not record["passed"]
    ]
