"""How many really false variants were caught: by kind, by claim, in all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..settings import Settings
from .trials import TRUE, Fate

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
    order: list[Callable[[Record], Any]] = [lambda r: ranks[r["fate"]]]
    ranks = {fate: rank for rank, fate in enumerate((Fate.MISSED, Fate.UNDETERMINED, Fate.BROKEN, *TRUE))}
    return sorted((r for r in records if r["fate"] != Fate.CAUGHT), key=order[0])


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
