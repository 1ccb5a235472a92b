"""power: how many wrong variants of claims are caught."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from ..errors import HebbcheckError
from .output import Screen, one_line, write_json
from .session import Session, measure_options

if TYPE_CHECKING:
    pass

LIMITS = (12, None)
"""Variants of a claim that are judged, quick and standard."""
COLUMNS = ["variants", "true", "caught", "missed", "undetermined", "broken", "caught of false", "seconds"]


@click.command()
@click.argument("select", nargs=-1)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    help="Judge at most so many variants of a claim, kinds by turns; 0: all.  [default: 12 in quick, else all]",
)
@measure_options
def power(select: tuple[str, ...], limit: int | None, **options: Any) -> int:
    """Say how many wrong variants of each claim are caught.

    Machine-made variants (a relation flipped, a factor dropped, an exponent shifted, ...) are judged like the claims.
    Exit code 0: of those that are certainly false at least 85 % are refuted (95 % beyond the quick profile).
    """
    from ..discovery import select as selected
    from ..power.summary import enough, summary
    from ..power.trials import judgeable, trials

    session = Session(html_folder=None, **options)
    reasons = {claim: judgeable(claim, session.settings) for claim in selected(select)}
    claims = [claim for claim, reason in reasons.items() if reason is None]
    if not claims:
        raise HebbcheckError("none of the claims has wrong variants; power needs claims that should hold")
    if limit is None:
        limit = session.settings.by_profile(*LIMITS)
    begun = time.perf_counter()
    with session.runner() as runner, closing(trials(runner, claims, limit or None)) as reached:
        records = [trial.record() for trial in reached]
    records.sort(key=lambda record: [c.id for c in claims].index(record["claim"]))
    told = summary(records, {c.id: r for c, r in reasons.items() if r is not None}, session.settings)
    _tell(session.screen, told, time.perf_counter() - begun)
    if session.json_file:
        write_json(session.json_file, told)
    share = told["total"]["share"]
    return 0 if share is not None and share >= enough(session.settings) else 1


COMMANDS = (power,)


def _tell(screen: Screen, told: dict[str, Any], seconds: float) -> None:
    from ..power.summary import survivors

    for name in ("kinds", "claims"):
        rows = [[group, *_row(counts)] for group, counts in told[name].items()]
        screen.table([name.removesuffix("s"), *COLUMNS], rows)
        screen.line()
    for record in survivors(told["mutants"]):
        verdict = f" ({record['verdict']})" if record["verdict"] else ""
        screen.line(one_line(f"{record['fate']}{verdict}  {record['id']}  {record['reason']}"))
    for id, reason in told["skipped"].items():
        screen.line(one_line(f"no variants of {id}: {reason}"))
    _conclude(screen, told, seconds)


def _row(counts: dict[str, Any]) -> list[Any]:
    true = counts["equivalent"] + counts["weaker"]
    shown = [counts[name] for name in ("caught", "missed", "undetermined", "broken")]
    return [counts["mutants"], true, *shown, _percent(counts["share"]), counts["seconds"]]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _conclude(screen: Screen, told: dict[str, Any], seconds: float) -> None:
    total, needed = told["total"], told["needed"]
    false = total["caught"] + total["missed"]
    enough = total["share"] is not None and total["share"] >= needed
    screen.line(
        f"{total['caught']} of {false} variants that are certainly false were caught ({_percent(total['share'])}; "
        f"{needed:.0%} needed); {_percent(total['least'])} if all {total['undetermined']} undetermined ones are false; "
        f"{total['equivalent'] + total['weaker']} are true, {total['broken']} broken; {seconds:.0f} s",
        "bold green" if enough else "bold red",
    )
