"""power: how many wrong variants of claims are caught."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

import click

from ..errors import HebbcheckError
from .output import Screen, one_line, write_json
from .running import Running, measure_options

LIMITS = (12, None)
"""Variants of a claim that are judged, quick and standard."""
FEW = 3
"""How many claims are named in an error."""


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
    Exit code 0: of those that are certainly false at least 85 % are refuted (95 % beyond the quick profile), and no
    claim is refuted itself.
    """
    from ..discovery import select as selected
    from ..power.summary import summary
    from ..power.trials import judgeable, trials

    running = Running(html_folder=None, **options)
    reasons = {claim: judgeable(claim, running.settings) for claim in selected(select)}
    claims = [claim for claim, reason in reasons.items() if reason is None]
    if not claims:
        why = "; ".join(f"{claim.id}: {reason}" for claim, reason in list(reasons.items())[:FEW])
        raise HebbcheckError(f"no claim has wrong variants ({why}); power needs claims that should hold")
    if limit is None:
        limit = running.settings.by_profile(*LIMITS)
    begun = time.perf_counter()
    refuted: dict[str, str] = {}
    with running.runner() as runner, closing(trials(runner, claims, limit or None, refuted)) as reached:
        records = [trial.record() for trial in reached]
    records.sort(key=lambda record: [c.id for c in claims].index(record["claim"]))
    skipped = {c.id: r for c, r in reasons.items() if r is not None}
    skipped |= {id: f"it is refuted itself: {reason}" for id, reason in refuted.items()}
    told = summary(records, skipped, running.settings)
    _tell(running.screen, told, time.perf_counter() - begun)
    if running.json_file:
        write_json(running.json_file, told)
    return 0 if _enough(told) and not refuted else 1


COMMANDS = (power,)


def _tell(screen: Screen, told: dict[str, Any], seconds: float) -> None:
    from ..power.summary import COLUMNS, conclusion, row, survivors

    for name in ("kinds", "claims"):
        rows = [[group, *row(counted)] for group, counted in told[name].items()]
        screen.table([name.removesuffix("s"), *COLUMNS], rows)
        screen.line()
    for record in survivors(told["mutants"]):
        verdict = f" ({record['verdict']})" if record["verdict"] else ""
        screen.line(one_line(f"{record['fate']}{verdict}  {record['id']}  {record['reason']}"))
    for id, reason in told["skipped"].items():
        screen.line(one_line(f"no variants of {id}: {reason}"))
    screen.line(f"{conclusion(told)}; {seconds:.0f} s", "bold green" if _enough(told) else "bold red")


def _enough(told: dict[str, Any]) -> bool:
    share = told["total"]["share"]
    return share is not None and share >= told["needed"]
