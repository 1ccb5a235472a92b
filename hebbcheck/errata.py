"""What is wrong in a paper as printed, the most consequential first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .needs import Needs
from .order import KINDS, corrected_id, kind, natural


@dataclass(frozen=True)
class Erratum:
    """A statement that is wrong as printed, the claim that says it right (if there is one), and how many rest on it."""

    id: str
    corrected: str | None
    dependents: int


def errata(wrong: Iterable[str], needs: Needs, sources: Mapping[str, str | None]) -> list[Erratum]:
    """The wrong statements, the most consequential first.

    Theorems come before corollaries, propositions, lemmas, definitions, equations and text: what is wrong in a result
    reaches its readers, and what is wrong in a lemma may be an edge that no result comes near.  Among equals that one
    is first on which most claims rest, directly or through others (on the statement as it should read, or as printed),
    and then what the paper has first.
    """
    wrong = set(wrong)
    right = needs.direct.keys() - wrong
    made = [_erratum(id, corrected_id(id, right), needs) for id in wrong]
    ranks = list(KINDS)
    return sorted(made, key=lambda e: (ranks.index(kind(sources.get(e.id))), -e.dependents, natural(e.id)))


def _erratum(id: str, corrected: str | None, needs: Needs) -> Erratum:
    resting = set().union(*(needs.resting_on(part) for part in (id, corrected) if part)) - {id, corrected}
    return Erratum(id, corrected, len(resting))
