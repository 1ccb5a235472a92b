"""How a paper numbers its statements: the order of ids, and which ids belong together."""

from __future__ import annotations

import re
from collections.abc import Iterable

PRINTED = re.compile(r"\.printed\w*(\..*)?$")
"""The end of the id of a statement as printed; what stands before it is the id of what should stand there."""
KINDS = {
    "theorem": r"theorem",
    "corollary": r"corollar(?:y|ies)",
    "proposition": r"proposition",
    "lemma": r"lemmas?|lemmata",
    "definition": r"definition",
    "equation": r"equations?|eqs?\b|\(\d",
    "algorithm": r"algorithm",
    "text": r"",
}
"""Kinds of statements, the weightiest first, and how a source names them."""


def natural(text: str) -> list[tuple[int, int, str]]:
    """Sort key: numbers by their value and before words, so 2.4, 4.1, B.2, B.2.variance, B.10, eq5."""
    parts = re.split(r"(\d+)", text.casefold())
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts if p]


def kind(source: str | None) -> str:
    """What a claim's source calls the statement ("Theorem 3.1, Theorem B.1": theorem); text where it does not."""
    found = (k for k, name in KINDS.items() if name and re.match(name, source or "", re.IGNORECASE))
    return next(found, "text")


def corrected_id(id: str, known: Iterable[str]) -> str | None:
    """The known claim that says right what `id` says wrong: B.23 for B.23.printed, and for B.23.any too.

    Where there is none of a shorter id, the first one under it: text.S_sig.corrected for text.S_sig.
    """
    known = set(known)
    stem = PRINTED.sub("", id)
    if stem != id and stem in known:
        return stem
    parts = stem.split(".")
    shorter = (".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))
    under = sorted((candidate for candidate in known if candidate.startswith(f"{id}.")), key=natural)
    return next((candidate for candidate in [*shorter, *under] if candidate in known), None)


def explicit_siblings(id: str, known: Iterable[str]) -> list[str]:
    """The known claims that state with explicit constants what `id` leaves open.

    B.17.explicit for B.17 and B.17.simple, B.23.simple for B.23.simple.constants.
    """
    parts = id.split(".")
    if parts[-1] == "constants" and (stem := ".".join(parts[:-1])) in set(known):
        return [stem]
    for n in range(len(parts), 0, -1):
        sibling = ".".join([*parts[:n], "explicit"])
        found = [k for k in known if (k == sibling or k.startswith(f"{sibling}.")) and k != id]
        if found:
            return sorted(found, key=natural)
    return []
