"""replay: a counterexample recomputed."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import HebbcheckError
from .output import Screen, number, one_line

if TYPE_CHECKING:
    from ..claim import Claim
    from ..counterexample import Counterexample, Replay


@click.command()
@click.argument("file")
def replay(file: str) -> int:
    """Recompute a counterexample.  Exit code 0 if it still breaks its claim, 1 if it does not."""
    from ..counterexample import load
    from ..settings import Settings

    example = load(Path(file))
    claim = claim_of(example, file)
    Settings(**example.settings).arrays.check()
    told = _recomputed(example, claim, file)
    _tell(Screen(), example, claim, told)
    return 0 if told.broken else 1


COMMANDS = (replay,)


def claim_of(example: Counterexample, file: str) -> Claim:
    """The claim that a counterexample speaks of: where it stood, or in a file of that name in this folder."""
    from ..discovery import load

    origin = example.origin
    if origin.startswith("hebbcheck."):
        try:
            origin = importlib.import_module(origin).__file__ or origin
        except ImportError:
            raise HebbcheckError(
                f"{file} breaks {example.claim!r} of {origin}, which is not there any more"
            ) from None
    elif not Path(origin).is_file() and Path(Path(origin).name).is_file():
        origin = Path(origin).name
    for claim in load(origin):
        if claim.id == example.claim:
            return claim
    raise HebbcheckError(
        f"{origin} has no claim {example.claim!r} any more, which {file} breaks; verify again"
    )


def _recomputed(example: Counterexample, claim: Claim, file: str) -> Replay:
    from ..counterexample import replay

    try:
        return replay(example, claim)
    except HebbcheckError:
        raise
    except Exception as error:  # the claim may have become another one, whose function may raise anything
        raise HebbcheckError(
            f"claim {claim.id!r} cannot be computed on {file} ({type(error).__name__}: {error}); "
            "it is not the claim that was broken; verify again"
        ) from error


def _tell(screen: Screen, example: Counterexample, claim: Claim, told: Any) -> None:
    from ..evaluation import Decision

    screen.line(one_line(f"{claim.id}  {claim.title or ''}"), "bold")
    screen.field("statement", claim.statement)
    screen.field(f"{example.kind} counterexample", example.raw.describe())
    screen.field("measured", number(told.measured))
    screen.field("bound", number(told.bound))
    screen.field("relative slack", number(told.ratio))
    how = {
        Decision.UNMET: "an assumption is not met, or the relation is undefined here",
        Decision.FLOAT_ONLY: "in floating point only",
    }.get(told.decision, "in ball arithmetic, so rounding plays no part")
    breaks, holds = "the claim is broken", "the claim is not broken"
    if claim.fails_at_most is not None:
        breaks, holds = (
            "the relation fails on this draw, as it may now and then",
            "the relation holds on this draw",
        )
    screen.line(f"{breaks if told.broken else holds} ({how})", "bold red" if told.broken else "bold green")
