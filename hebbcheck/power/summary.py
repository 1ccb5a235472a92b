"""How many really false variants were caught: by kind, by claim, in all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..settings import Settings
from .fates import TRUE, Fate

ENOUGH = (0.85, 0.95)
"""The share of really false variants that must be caught, quick and standard."""

Record = dict[str, Any]


def enough(settings: Settings) -> float:
    """The share that must be caught at the profile."""
    return settings.by_profile(*ENOUGH)


def counts(records: Iterable[Record]) -> dict[str, Any]:
    """Counts of fates, and two shares.

    `share`: caught among those that are certainly false (caught, or missed with a witness); None without any.
    `least`: the same if every undetermined one were false.
    """
    records = list(records)
    of = {str(fate): sum(r["fate"] == fate for r in records) for fate in Fate}
    false, open_ = of[Fate.CAUGHT] + of[Fate.MISSED], of[Fate.UNDETERMINED]
    return {
        "mutants": len(records),
        **of,
        "share": of[Fate.CAUGHT] / false if false else None,
        "least": of[Fate.CAUGHT] / (false + open_) if false + open_ else None,
        "seconds": round(sum(r["seconds"] for r in records), 3),
    }


def grouped(records: list[Record], by: str) -> dict[str, dict[str, Any]]:
    """The counts of each kind or claim, in the order of first appearance."""
    names = dict.fromkeys(r[by] for r in records)
    return {name: counts(r for r in records if r[by] == name) for name in names}


def survivors(records: list[Record]) -> list[Record]:
    """All that was not caught: what was missed first, what is true last."""
    ranks = {fate: rank for rank, fate in enumerate((Fate.MISSED, Fate.UNDETERMINED, Fate.BROKEN, *TRUE))}
    return sorted((r for r in records if r["fate"] != Fate.CAUGHT), key=lambda r: ranks[r["fate"]])


def summary(records: list[Record], skipped: dict[str, str], settings: Settings) -> dict[str, Any]:
    """All that a run of `power` found, as JSON."""
    return {
        **settings.as_dict(),
        "needed": enough(settings),
        "total": counts(records),
        "kinds": grouped(records, "kind"),
        "claims": grouped(records, "claim"),
        "quantifiers": grouped(records, "quantifier"),
        "skipped": skipped,
        "mutants": records,
    }


COLUMNS = ("variants", "true", "caught", "missed", "undetermined", "broken", "caught of false", "seconds")


def row(counted: dict[str, Any]) -> list[Any]:
    """The counts under the columns."""
    true = sum(counted[fate] for fate in TRUE)
    shown = [counted[name] for name in ("caught", "missed", "undetermined", "broken")]
    return [counted["mutants"], true, *shown, percent(counted["share"]), counted["seconds"]]


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def conclusion(told: dict[str, Any]) -> str:
    """The result in one sentence."""
    total = told["total"]
    return (
        f"{total['caught']} of {total['caught'] + total['missed']} variants that are certainly false were caught "
        f"({percent(total['share'])}; {told['needed']:.0%} needed); {percent(total['least'])} if all "
        f"{total['undetermined']} undetermined ones are false; {sum(total[fate] for fate in TRUE)} are true, "
        f"{total['broken']} broken"
    )


def as_figure(told: dict[str, Any]) -> dict[str, Any]:
    """A summary as the report shows it: the table by kind, and what was not caught."""
    open_ones = [r for r in survivors(told["mutants"]) if r["fate"] not in TRUE]
    return {
        **{name: told[name] for name in ("profile", "seed", "backend", "device", "dtype")},
        "id": "power",
        "title": "The power of the referee",
        "caption": "Wrong variants of the claims, made by machine, and how many of them are refuted.",
        "table": {"columns": ["kind", *COLUMNS], "rows": [[k, *row(c)] for k, c in told["kinds"].items()]},
        "notes": [conclusion(told), *(f"{r['fate']}: {r['id']} ({r['reason']})" for r in open_ones)],
        "seconds": told["total"]["seconds"],
    }
