"""Which variants of a claim are true, by an argument on the expressions and never by a judge's verdict.

Equivalent: the same statement in other words.  Weaker: implied by the claim.  Anything else is presumed false, which
is no more than a presumption.  An argument starts from the claim, so it is worth as much as the claim is.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import sympy

from ..claim import Claim
from ..drawn import C0
from ..verdict import Quantifier
from .mutants import Mutant
from .patience import OutOfPatience, patience
from .points import constant_everywhere, negative_somewhere, zero_everywhere
from .signs import has_values, interval, never_negative
from .symbols import (
    Known,
    Quantity,
    SymbolicRelation,
    known_of,
    relations_of,
    size_interval,
    symbolic_truth,
)

SCALES = (1, 2, 4, 16)
"""Factors of open constants that are tried."""
FEW = 6
"""So many sizes below an assumption's are looked at one by one."""


class Standing(StrEnum):
    EQUIVALENT = "equivalent"
    WEAKER = "weaker"


@dataclass(frozen=True)
class Argument:
    """Why a variant is true."""

    standing: Standing
    words: str


class Arguer:
    """What can be argued of a claim's mutants."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        try:
            with patience():
                self.known = known_of(claim)
                self.relations = relations_of(claim, self.known)
        except OutOfPatience:
            self.known, self.relations = Known({}), None

    def argument(self, mutant: Mutant) -> Argument | None:
        """Why the mutant is true if the claim is; None where that is not seen, or not in ten seconds of computing."""
        try:
            with patience():
                return self._argument(mutant)
        except OutOfPatience:
            return None

    def _argument(self, mutant: Mutant) -> Argument | None:
        change = mutant.mutation
        if change.dropped is not None:
            return self._needless(mutant, change.dropped)
        if change.allowance > 1:
            return Argument(Standing.WEAKER, "more may fail")
        if change.allowance < 1:
            return None
        if change.kind == "relation flipped" and self._equalities():
            return Argument(Standing.WEAKER, "an equality implies both inequalities")
        if self.relations is None:
            return None
        changed = relations_of(mutant, self.known)
        if changed is None or len(changed) != len(self.relations):
            return None
        return self._compared(self.relations, changed)

    def same(self, mutant: Mutant) -> str | None:
        """Equal for mutants that say the same; None where no expression is known."""
        if mutant.mutation.dropped is not None or mutant.mutation.allowance != 1 or self.relations is None:
            return None
        try:
            with patience():
                changed = relations_of(mutant, self.known) or []
                said = repr(
                    [(r.kind, r.means, sympy.expand(r.measured), sympy.expand(r.bound)) for r in changed]
                )
        except OutOfPatience:
            return None
        if not changed:
            return None
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def _equalities(self) -> bool:
        if self.relations is not None:
            return all(r.kind == "equal" for r in self.relations)
        return self.claim.quantifier is Quantifier.IDENTITY

    # -- assumptions --------------------------------------------------------------------------------------------------
    def _needless(self, mutant: Mutant, name: str) -> Argument | None:
        """An assumption that the family meets anyway, or without which the claim's sides have no value."""
        known = known_of(mutant)
        truth = symbolic_truth(known, self.claim.given[name])
        if truth is sympy.true:
            return Argument(Standing.EQUIVALENT, "every instance of the family meets the assumption")
        if not isinstance(truth, sympy.core.relational.Relational) or truth.func not in (
            sympy.Ge,
            sympy.Le,
            sympy.Gt,
            sympy.Lt,
        ):
            return None
        if never_negative(truth.gts - truth.lts, known) and isinstance(truth, sympy.Ge | sympy.Le):
            return Argument(Standing.EQUIVALENT, "every instance of the family meets the assumption")
        if self._without_value(mutant, known, truth):
            return Argument(Standing.EQUIVALENT, "where the assumption fails the sides have no value")
        return None

    def _without_value(self, mutant: Mutant, known: Known, truth: sympy.Rel) -> bool:
        """Whether the sides have no value at any of the few sizes that break the assumption size >= number."""
        size, least = truth.gts, truth.lts
        if not (isinstance(size, Quantity) and least.is_number and size.name in self.claim.family.sizes):
            return False
        low, _ = size_interval(self.claim.family, size.name)
        below = range(int(low), math.ceil(float(least)))
        whole = self.claim.family.sizes[size.name].integer
        relations = relations_of(mutant, known)
        if not whole or relations is None or len(below) > FEW:
            return False
        return all(_undefined(relations, size, value) for value in below)

    # -- relations ----------------------------------------------------------------------------------------------------
    def _compared(self, old: list[SymbolicRelation], new: list[SymbolicRelation]) -> Argument | None:
        pairs = list(zip(old, new, strict=True))
        if self.claim.quantifier is Quantifier.RATE:
            return self._same_rate(pairs)
        if all(_equals(a, b, self.known) for a, b in pairs):
            return Argument(Standing.EQUIVALENT, "the same relation in other words")
        if any(r.kind not in ("at_least", "at_most") for r in (*old, *new)):
            return None
        for scale, scaled in self._scalings(new):
            if not self._defined_alike(old, scaled):
                continue
            if all(self._implied(a, b) for a, b in zip(old, scaled, strict=True)):
                if scale == 1:
                    return Argument(Standing.WEAKER, "implied by the claim: its slack is never smaller")
                return Argument(Standing.WEAKER, f"absorbed by the open constants, times {scale}")
        if self._defined_alike(old, new) and all(self._softened(a, b) for a, b in pairs):
            return Argument(Standing.WEAKER, "implied by the claim: its bound is a milder multiple")
        if all(self._shown(r.slack) for r in new):
            return Argument(Standing.WEAKER, "true by itself: its slack is never negative")
        return None

    def _scalings(self, relations: list[SymbolicRelation]) -> Iterator[tuple[object, list[SymbolicRelation]]]:
        """The relations with their open constants multiplied by something, where only they name constants."""
        elsewhere = [self.claim.fails_at_most, *self.claim.given.values()]
        free = not any(self.claim.constants_in(f) for f in elsewhere if callable(f))
        symbols = [Quantity(name, positive=True) for name in self.claim.constants if free]
        scales = [1] if not symbols else [s for c in SCALES for s in dict.fromkeys((c, sympy.Rational(1, c)))]
        for scale in scales:
            to = {symbol: scale * symbol for symbol in symbols}
            yield (
                scale,
                [SymbolicRelation(r.kind, r.measured.subs(to), r.bound.subs(to), r.means) for r in relations],
            )

    def _implied(self, old: SymbolicRelation, new: SymbolicRelation) -> bool:
        return _equals(old, new, self.known) or self._shown(new.slack - old.slack)

    def _softened(self, old: SymbolicRelation, new: SymbolicRelation) -> bool:
        """Whether the bound becomes t times itself, t in [0, 1] from below, t >= 1 from above, the measured side >= 0.

        A bound from below that is negative says nothing then, and stays so.
        """
        if _equals(old, new, self.known):
            return True
        if old.kind != new.kind or old.measured != new.measured or old.bound == 0:
            return False
        times = sympy.factor_terms(sympy.cancel(new.bound / old.bound))
        if interval(times, self.known)[0] < 0 or not self._shown(old.measured):
            return False
        return self._shown(1 - times if old.kind == "at_least" else times - 1)

    def _shown(self, expression: sympy.Expr) -> bool:
        """Whether the expression is shown never to be negative."""
        return not negative_somewhere(expression, self.known) and never_negative(expression, self.known)

    def _defined_alike(self, old: list[SymbolicRelation], new: list[SymbolicRelation]) -> bool:
        """Whether the claim has a value wherever the mutant has one; for chances, whether nowhere else either."""
        before, after = (
            {e for r in relations for side in (r.measured, r.bound) for e in has_values(side, self.known)}
            for relations in (old, new)
        )
        return before <= after if self.claim.quantifier is Quantifier.FOR_ALL else before == after

    def _same_rate(self, pairs: list[tuple[SymbolicRelation, SymbolicRelation]]) -> Argument | None:
        for old, new in pairs:
            if not sympy.simplify(new.measured * old.bound / (new.bound * old.measured)).is_number:
                return None
        return Argument(Standing.EQUIVALENT, "the same rate: the ratio changes by a constant factor")


def _equals(old: SymbolicRelation, new: SymbolicRelation, known: Known) -> bool:
    """Whether two relations say the same: their slacks differ by a positive factor, those of equalities by any."""
    if old.means != new.means or (old.kind != new.kind and "equal" in (old.kind, new.kind)):
        return False
    if _vanishes(new.slack - old.slack, known):
        return True
    ratio = new.slack / old.slack
    if not constant_everywhere(ratio, known):
        return False
    ratio = sympy.simplify(ratio)
    if not ratio.is_number or ratio == 0:
        return False
    return bool(ratio.is_positive) or (old.kind == "equal" and bool(ratio.is_nonzero))


def _vanishes(expression: sympy.Expr, known: Known) -> bool:
    """Whether an expression is identically zero, with L written out."""
    symbols = {s.name: s for s in expression.free_symbols}
    if {"F", "delta", "L"} <= symbols.keys():
        expression = expression.subs(symbols["L"], sympy.log(C0 * symbols["F"] ** 2 / symbols["delta"]))
    if expression == 0:
        return True
    return (
        zero_everywhere(expression, known) and sympy.simplify(sympy.expand_log(expression, force=True)) == 0
    )


def _undefined(relations: list[SymbolicRelation], size: sympy.Symbol, value: int) -> bool:
    """Whether some side divides by zero, or has no real value, at a size."""
    try:
        sides = [side.subs(size, value) for r in relations for side in (r.measured, r.bound)]
    except ZeroDivisionError:
        return True
    return any(side.has(sympy.zoo, sympy.nan, sympy.I) or side.is_real is False for side in sides)


def ordered_for_variety(mutants: list[Mutant]) -> list[Mutant]:
    """The mutants of a claim, their kinds by turns, else in an order that only the ids decide."""
    by_kind: dict[str, list[Mutant]] = {}
    for mutant in sorted(mutants, key=lambda m: random.Random(m.id).random()):
        by_kind.setdefault(mutant.mutation.kind, []).append(mutant)
    turns = itertools.zip_longest(*by_kind.values())
    return [mutant for turn in turns for mutant in turn if mutant is not None]
