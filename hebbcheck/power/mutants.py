"""Mutants: claims that differ from one of the user's by a mutation, and that worker processes can make again."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from ..claim import Claim
from ..errors import HebbcheckError
from .mutations import Mutation, mutations
from .source import Source, source_of


@dataclass(frozen=True, eq=False)
class Mutant(Claim):
    """A claim with a mutation; its id is the claim's, "~" and the mutation's words.  `text`: its changed functions."""

    original: Claim = field(kw_only=True)
    mutation: Mutation = field(kw_only=True)
    text: str = field(kw_only=True, default="")

    @cached_property
    def digest(self) -> str:
        """Changes with the original and with the mutation."""
        change = self.mutation
        parts = [
            self.original.digest,
            self.id,
            change.kind,
            self.text,
            change.dropped or "",
            str(change.allowance),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @cached_property
    def reference(self) -> Any:
        """How a worker process makes the mutant again; None where the original lives in no file."""
        origin = self.original.reference
        return None if origin is None else MutantReference(origin, self.id)


@dataclass(frozen=True)
class MutantReference:
    """Where a worker process finds a mutant: by its original's reference."""

    origin: Any
    id: str

    def resolve(self) -> Mutant:
        """The mutant; HebbcheckError where its original has no such mutant any more."""
        for mutant in mutants_of(self.origin.resolve()):
            if mutant.id == self.id:
                return mutant
        raise HebbcheckError(f"there is no variant {self.id!r} any more; a run needs it as it was; run again")


def mutants_of(claim: Claim) -> list[Mutant]:
    """All mutants of a claim, in a fixed order."""
    source = source_of(claim)
    return [_mutant(claim, source, mutation) for mutation in mutations(claim, source)]


def _mutant(claim: Claim, source: Source | None, mutation: Mutation) -> Mutant:
    function, text = claim.function, ""
    if mutation.edits and source is not None:
        function, text = source.compiled(mutation.edits)
    kept: dict[str, Any] = {f.name: getattr(claim, f.name) for f in fields(Claim)}
    kept |= {
        "id": f"{claim.id}~{mutation.words}",
        "function": function,
        "given": {name: test for name, test in claim.given.items() if name != mutation.dropped},
        "fails_at_most": _allowance(claim, mutation.allowance),
        "proof": None,
        "needs": (),
        "expect": "holds",
        "erratum": None,
        "test_needs": False,
    }
    return Mutant(**kept, original=claim, mutation=mutation, text=text)


def _allowance(claim: Claim, factor: float) -> Any:
    """The failure probability that is allowed, multiplied."""
    given = claim.fails_at_most
    if factor == 1 or given is None:
        return given
    if not callable(given):
        return lambda sizes: min(1.0, factor * claim.allowed_failure(sizes))

    def multiplied(sizes: Any, **constants: float) -> float:
        return min(1.0, factor * float(given(sizes, **constants)))

    # The names of the constants that it takes are read off its signature.
    multiplied.__signature__ = inspect.signature(given)  # type: ignore[attr-defined]
    return multiplied
