"""list, show and report: what there is to judge, and what it got."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errata import Erratum
from ..errata import errata as errata_of
from ..errors import HebbcheckError
from ..needs import Needs
from ..order import natural
from .output import Screen, one_line, write_json
from .running import existing_store, store_option, write_report

if TYPE_CHECKING:
    from ..claim import Claim


@click.command("list")
@click.argument("select", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print an array with all that is known of each claim.")
@click.option("--errata", is_flag=True, help="Only what is wrong as printed, the most consequential first.")
def list_claims(select: tuple[str, ...], as_json: bool, errata: bool) -> int:
    """List claims, in the order of their numbers.

    With --errata those come first on which most other claims rest, directly or through others.
    """
    from ..discovery import select as selected
    from ..discovery import unknown_needs

    claims = sorted(selected(select), key=lambda claim: natural(claim.id))
    screen = Screen()
    for warning in unknown_needs(claims):
        screen.warn(warning)
    if errata:
        columns = ["id", "corrected", "rest on it", "erratum"]
        found = _errata(claims)
        rows = [[e.id, e.corrected, e.dependents, claim.erratum] for e, claim in found]
        facts = [_facts(c) | {"corrected": e.corrected, "dependents": e.dependents} for e, c in found]
    else:
        columns = ["id", "quantifier", "theme", "title"]
        rows = [[c.id, _quantifier(c), c.theme, c.title or ""] for c in claims] if not as_json else []
        facts = [_facts(claim) for claim in claims]
    if as_json:
        write_json("-", facts)
    elif rows:
        screen.table(columns, rows)
    else:
        screen.line("no claim has an erratum")
    return 0


def _errata(claims: list[Claim]) -> list[tuple[Erratum, Claim]]:
    """The claims that have an erratum, the most consequential first among all claims that there are."""
    from ..discovery import companions

    wrong = {c.id: c for c in claims if c.erratum}
    known = companions(claims) if wrong else {}
    needs = Needs({id: c.needs for id, c in known.items()})
    found = errata_of(wrong, needs, {id: c.source for id, c in known.items()})
    return [(erratum, wrong[erratum.id]) for erratum in found]


@click.command()
@click.argument("id")
@store_option
def show(id: str, store: str) -> int:
    """Show a claim and its last verdict."""
    from ..discovery import select as selected

    verdicts = {}
    if Path(store).exists():
        with existing_store(store) as opened:
            verdicts = {record["id"]: record for record in opened.verdicts()}
    screen = Screen()
    for claim in selected([id]):
        _show(screen, claim)
        if claim.id in verdicts:
            _show_verdict(screen, verdicts[claim.id])
        else:
            screen.field("last verdict", f"none in {store}")
    return 0


@click.command()
@store_option
@click.option(
    "--out", default="hebbcheck-report", show_default=True, metavar="DIR", help="The report's folder."
)
def report(store: str, out: str) -> int:
    """Write the report of the results in the store, one page that needs no network."""
    with existing_store(store) as opened:
        if not opened.verdicts() and not opened.figures():
            raise HebbcheckError(
                f"the store {store} holds no verdict and no figure; run hebbcheck verify first"
            )
        Screen().line(str(write_report(opened, out)))
    return 0


COMMANDS = (list_claims, show, report)


def _quantifier(claim: Claim) -> str:
    """The quantifier, or why there is none: it is read off an instance where the signature is silent."""
    try:
        return claim.quantifier.value
    except Exception as error:  # a claims file's function may raise anything
        return f"unknown ({type(error).__name__})"


def _facts(claim: Claim) -> dict[str, Any]:
    return {
        "id": claim.id,
        "title": claim.title,
        "source": claim.source,
        "quantifier": _quantifier(claim),
        "statement": claim.statement,
        "family": repr(claim.family),
        "assumptions": list(claim.given),
        "constants": list(claim.constants),
        "expect": claim.expect,
        "erratum": claim.erratum,
        "needs": list(claim.needs),
        "theme": claim.theme,
        "tags": list(claim.tags),
        "file": claim.file,
        "line": claim.line,
    }


def _show(screen: Screen, claim: Claim) -> None:
    screen.line(one_line(f"{claim.id}  {claim.title or ''}"), "bold")
    for line in claim.statement.splitlines():
        screen.line(one_line(line), indent=6)
    allowed = claim.fails_at_most
    screen.field("source", claim.source)
    screen.field("quantifier", _quantifier(claim))
    screen.field("over", repr(claim.family))
    screen.field("assumptions", "; ".join(claim.given))
    screen.field("constants", ", ".join(claim.constants))
    screen.field(
        "fails at most with probability", "a function of the sizes" if callable(allowed) else allowed
    )
    screen.field("needs", ", ".join(claim.needs))
    screen.field("expected", claim.expect)
    screen.field("erratum", claim.erratum)
    screen.field("declared in", f"{claim.file}:{claim.line}")


def _show_verdict(screen: Screen, record: dict[str, Any]) -> None:
    where = ", ".join(str(record[key]) for key in ("profile", "backend", "device", "dtype"))
    screen.field("last verdict", f"{record['verdict']} ({where}, seed {record['seed']})")
    screen.field("reason", record["reason"])
    for name, share in record["assumptions"].items():
        met, needed = share.get("share_met"), share.get("needed")
        screen.field(
            f"assumption {name}", f"met by {met:.0%} of the instances" if met is not None else needed
        )
    screen.field("counterexample", record.get("counterexample"))
    screen.field("replay with", record.get("replay"))
