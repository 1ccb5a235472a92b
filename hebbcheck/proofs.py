"""Symbolic proofs: expressions that must vanish identically."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from .claim import Claim
from .errors import HebbcheckError
from .verdict import HOLDS, Finding, Outcome


@dataclass(frozen=True)
class Step:
    """One step of a proof: an expression, and whether sympy finds it to vanish identically."""

    name: str
    expression: str
    vanishes: bool

    def as_dict(self) -> dict[str, str]:
        return {
            "name": self.name,
            "expression": self.expression,
            "vanishes": "yes" if self.vanishes else "no",
        }


def check_proof(claim: Claim) -> list[Step] | None:
    """Each step of the claim's proof, checked; None where there is no proof."""
    if claim.proof is None:
        return None
    given: Any = claim.proof() if callable(claim.proof) else claim.proof
    entries = given if isinstance(given, list | tuple) and not _is_named(given) else [given]
    if not entries:
        raise HebbcheckError(
            f"the proof of {claim.id!r} has no step; expressions that vanish are needed; return a list of them"
        )
    return [_step(claim, index, entry) for index, entry in enumerate(entries)]


def with_proof(claim: Claim, finding: Finding) -> Finding:
    """A finding of a judge that leaves proofs aside, with the steps of one; a step that fails supports nothing."""
    if finding.proof is not None or (steps := check_proof(claim)) is None:
        return finding
    failed = next((step.name for step in steps if not step.vanishes), None)
    if failed is not None and finding.outcome in HOLDS:
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = f"Nothing contradicts it, but the proof's step {failed!r} does not vanish."
    finding.proof = [step.as_dict() for step in steps]
    return finding


def _is_named(entry: Any) -> bool:
    return isinstance(entry, tuple) and bool(entry) and isinstance(entry[0], str)


def _step(claim: Claim, index: int, entry: Any) -> Step:
    name, *expressions = entry if _is_named(entry) else (f"step {index + 1}", entry)
    try:
        [expression] = expressions
        if expression is None:
            raise TypeError
        expression = sympy.sympify(expression)
    except (sympy.SympifyError, TypeError, ValueError):
        raise HebbcheckError(
            f"the proof of {claim.id!r} has a step {name!r} that is no sympy expression; a difference that vanishes "
            "is needed; try (name, left - right)"
        ) from None
    return Step(name, str(expression), _vanishes(expression))


def _vanishes(expression: Any) -> bool:
    if isinstance(expression, sympy.MatrixBase):
        return all(_vanishes(entry) for entry in expression)
    if isinstance(expression, sympy.logic.boolalg.Boolean):
        return False
    simplified = sympy.simplify(sympy.expand(expression))
    return simplified == 0
