"""verify and reproduce."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

import click

from ..errors import HebbcheckError
from .output import Screen, one_line
from .running import Running, run_options


@click.command()
@click.argument("select", nargs=-1)
@run_options
def verify(select: tuple[str, ...], **options: Any) -> int:
    """Judge claims and say what each got."""
    from ..discovery import select as selected
    from ..discovery import unknown_needs

    running = Running(**options)
    claims = selected(select)
    for warning in unknown_needs(claims):
        running.screen.warn(warning)
    begun = time.perf_counter()
    records = {}
    with running.runner() as runner, closing(runner.verify(claims)) as reached:
        for record in reached:
            records[record["id"]] = record
            running.screen.verdict(record)
    ordered = [records[claim.id] for claim in claims]
    running.leave(ordered)
    _conclude(running.screen, ordered, time.perf_counter() - begun)
    return 0 if all(record["passed"] for record in ordered) else 1


@click.command()
@click.argument("figures", nargs=-1, metavar="FIGURE...")
@run_options
def reproduce(figures: tuple[str, ...], **options: Any) -> int:
    """Measure figures and fit them: as fitted, as stated, as a bound."""
    from ..figure import find

    if not figures:
        known = ", ".join(figure.id for figure in find()) or "none yet"
        raise HebbcheckError(
            f"no figure was named; there are {known}; name one or more, or a file of figures"
        )
    running = Running(**options)
    found = find(figures)
    records = []
    with running.runner() as runner, closing(runner.reproduce(found)) as reached:
        for record in reached:
            records.append(record)
            _tell_figure(running.screen, record)
    running.leave(records)
    return 0


COMMANDS = (verify, reproduce)


def _conclude(screen: Screen, records: list[dict[str, Any]], seconds: float) -> None:
    from ..report.outcomes import label

    failed = [f"{one_line(r['id'])} ({label(r).lower()})" for r in records if not r["passed"]]
    count = f"{len(records)} claim{'s' if len(records) != 1 else ''} in {_duration(seconds)}"
    if not failed:
        screen.line(f"{count}: all got what was expected", "bold green")
        return
    good = len(records) - len(failed)
    screen.line(
        f"{count}: {good} got what was expected, {len(failed)} did not: {', '.join(failed)}", "bold red"
    )


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def _tell_figure(screen: Screen, record: dict[str, Any]) -> None:
    screen.line(f"{record['id']}  {one_line(record['title'])} ({record['seconds']:.1f} s)", "bold")
    if record["table"]["rows"]:
        screen.table(record["table"]["columns"], record["table"]["rows"])
    for note in record["notes"]:
        screen.line(one_line(note), indent=2)
    screen.line()
