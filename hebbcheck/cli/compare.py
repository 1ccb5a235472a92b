"""diff: two runs compared."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from ..errors import HebbcheckError
from ..store import Store
from ..verdict import SCHEMA
from .output import Screen, number, one_line
from .running import existing_store, store_option

Records = dict[str, dict[str, Any]]


@click.command()
@click.argument("run_a")
@click.argument("run_b")
@store_option
def diff(run_a: str, run_b: str, store: str) -> int:
    """Say what changed between two runs.  Exit code 1 if anything got worse.

    A run is its number in the store, or a file written by verify --json.  Worse is a claim that passed and does
    not any more, or is gone.
    """
    with ExitStack() as stack:
        opened = None
        if run_a.isdecimal() or run_b.isdecimal():
            opened = stack.enter_context(existing_store(store))
        before, after = (_records(run, opened) for run in (run_a, run_b))
    changes = compare(before, after)
    screen = Screen()
    for change in changes:
        screen.line(one_line(str(change)), "red" if change.worse else "")
    same = len(before.keys() & after.keys()) - sum(change.kind == "changed" for change in changes)
    worse = sum(change.worse for change in changes)
    screen.line(f"{same} claims unchanged, {len(changes)} different, {worse} worse", "bold")
    return 1 if worse else 0


COMMANDS = (diff,)


@dataclass
class Change:
    """What became of one claim: "added", "removed" or "changed", and in which words."""

    id: str
    kind: str
    worse: bool = False
    words: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{'worse' if self.worse else self.kind}  {self.id}  {'; '.join(self.words)}"


def compare(before: Records, after: Records) -> list[Change]:
    """The claims that differ: what is worse first, then in the order of the second run."""
    changes = [_removed(before[id]) for id in before if id not in after]
    for id, record in after.items():
        changes.append(_changed(before[id], record) if id in before else _added(record))
    return sorted((c for c in changes if c.words), key=lambda change: not change.worse)


def _removed(record: dict[str, Any]) -> Change:
    return Change(record["id"], "removed", True, [f"gone; it was {record['verdict']}"])


def _added(record: dict[str, Any]) -> Change:
    return Change(record["id"], "added", False, [_outcome(record)])


def _changed(before: dict[str, Any], after: dict[str, Any]) -> Change:
    change = Change(after["id"], "changed", before["passed"] and not after["passed"])
    if (before["verdict"], before["passed"]) != (after["verdict"], after["passed"]):
        change.words.append(f"{_outcome(before)} -> {_outcome(after)}")
    old, new = (
        {name: number(value["value"]) for name, value in record["constants"].items()}
        for record in (before, after)
    )
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            change.words.append(f"{name} {old.get(name, 'none')} -> {new.get(name, 'none')}")
    return change


def _outcome(record: dict[str, Any]) -> str:
    return f"{record['verdict']} ({'as expected' if record['passed'] else 'not as expected'})"


def _records(run: str, store: Store | None) -> Records:
    found = _in_store(int(run), store) if run.isdecimal() and store is not None else _in_file(run)
    return {record["id"]: record for record in found}


def _in_store(run: int, store: Store) -> list[dict[str, Any]]:
    judging = [entry["id"] for entry in store.runs() if entry["verdicts"]]
    if run not in judging:
        known = ", ".join(map(str, judging)) or "none"
        raise HebbcheckError(
            f"the store {store.path.name} has no run {run} that judged claims; it has {known}; "
            "a file written by verify --json will do too"
        )
    return store.verdicts(run)


def _in_file(path: str) -> list[dict[str, Any]]:
    try:
        records = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise HebbcheckError(
            f"{path} cannot be read ({error.strerror}); a run is its number in the store or a file of verify --json"
        ) from None
    except ValueError:
        records = None
    if not (isinstance(records, list) and all(_is_verdict(record) for record in records)):
        raise HebbcheckError(
            f"{path} is no file of verdicts; one that hebbcheck verify --json wrote is needed"
        )
    return records


def _is_verdict(record: Any) -> bool:
    if not isinstance(record, dict) or not all(key in record for key in SCHEMA["required"]):
        return False
    constants = record["constants"]
    return isinstance(constants, dict) and all(
        isinstance(c, dict) and "value" in c for c in constants.values()
    )
