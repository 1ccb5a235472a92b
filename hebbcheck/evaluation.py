"""Evaluating a claim on an instance: in floating point, and exactly before a violation counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import array_api_compat
import numpy as np

from .arrays import Backend
from .claim import Claim, Mean, Relation
from .errors import HebbcheckError
from .exact import balls
from .inputs import Raw

PRECISIONS = (128, 512, 2048)
"""Bits of ball arithmetic, tried in turn until a violation is decided."""
MOST_EXACT = 4000
"""Instances made from more numbers are judged in floating point where that leaves no doubt: balls take many seconds."""


EQUAL = 1e-12
"""A relation whose relative slack is no larger attains equality, as far as floating point shows."""


@dataclass(frozen=True)
class Value:
    """A claim on one instance, in floating point.

    `slack`: the smallest over the relations (negative: broken); `scale`: the size of its sides; `ratio`: slack / scale.
    `further`: the smallest relative slack of the relations that do not attain equality; infinite where all do.
    `beyond_trivial`: whether every relation's bound is beyond what is trivially so.
    `defined`: no side was NaN and nothing divided by zero.  `met`: {assumption: bool}.
    """

    defined: bool
    met: dict[str, bool]
    slack: float = math.nan
    scale: float = math.nan
    measured: float = math.nan
    bound: float = math.nan
    beyond_trivial: bool = False
    further: float = math.inf

    @property
    def admissible(self) -> bool:
        return self.defined and all(self.met.values())

    @property
    def ratio(self) -> float:
        """slack relative to the sides; 0 where both are 0."""
        return self.slack / self.scale if self.scale > 0 else (0.0 if self.slack == 0 else self.slack)


def evaluate(claim: Claim, instance: Any, constants: dict[str, float] | None = None) -> Value:
    """The claim's relations on an instance, in floating point.  Undefined instances are marked, not raised."""
    with np.errstate(all="ignore"):
        return _evaluate(claim, instance, constants or {})


def _evaluate(claim: Claim, instance: Any, constants: dict[str, float]) -> Value:
    try:
        met = claim.holds_given(instance, constants)
        if not all(met.values()):
            return Value(True, met)
        sides = [_sides(claim, relation) for relation in claim.relations(instance, **constants)]
    except ArithmeticError:
        return Value(False, {})
    values = [Value(not math.isnan(s[0]), met, *s) for s in sides]
    worst = min(values, key=lambda v: (v.defined, v.ratio))
    further = min((v.ratio for v in values if v.ratio > EQUAL), default=math.inf)
    return replace(worst, beyond_trivial=all(v.beyond_trivial for v in values), further=further)


def _sides(claim: Claim, relation: Relation) -> tuple[float, float, float, float, bool]:
    """(slack, scale, measured, bound, beyond trivial) at the entry where the slack is smallest."""
    if relation.kind == "scales_as" and claim.fails_at_most is not None:
        raise HebbcheckError(
            f"claim {claim.id!r} states a rate with a probability; hc.scales_as stands alone; leave out fails_at_most"
        )
    measured, bound = (_host(claim, side) for side in (relation.measured, relation.bound))
    _check_shapes(claim, measured, bound)
    measured, bound = np.broadcast_arrays(measured, bound)
    if measured.size == 0:
        return 0.0, 0.0, 0.0, 0.0, False
    slack = Relation(relation.kind, measured, bound).slack()
    slack = np.where((measured == bound) & np.isinf(measured), 0.0, slack)
    if np.any(np.isnan(slack)):
        return (math.nan,) * 4 + (False,)
    scale = np.maximum(np.abs(measured), np.abs(bound))
    scale = np.where(np.isinf(scale), 1.0, scale)
    if relation.kind == "equal":
        scale = np.full_like(scale, np.max(scale))
    where = np.unravel_index(int(np.argmin(slack)), slack.shape)
    beyond = relation.trivial is not None and _beyond(relation.kind, float(bound[where]), relation.trivial)
    return float(slack[where]), float(scale[where]), float(measured[where]), float(bound[where]), beyond


def _beyond(kind: str, bound: float, trivial: float) -> bool:
    """Whether the bound says nothing: the measured side can never pass `trivial` anyway."""
    return bound >= trivial if kind == "at_most" else bound <= trivial


def _host(claim: Claim, side: Any) -> np.ndarray:
    """A side of a relation as a float array on the host."""
    if isinstance(side, Mean):
        raise HebbcheckError(
            f"claim {claim.id!r} mixes hc.mean with other relations; a statement in expectation holds means alone; "
            "make two claims of it"
        )
    try:
        if array_api_compat.is_torch_array(side):
            return side.detach().cpu().numpy().astype(float)
        if array_api_compat.is_cupy_array(side):
            return side.get().astype(float)
        array = np.asarray(side)
        if array.dtype.kind in "biufO" and not _has_none(array):
            return array.astype(float)
    except (TypeError, ValueError):
        pass  # said below, for all that is no number
    raise HebbcheckError(
        f"a side of claim {claim.id!r} is a {type(side).__name__}; a number or an array of numbers is needed; "
        "check what the function returns"
    )


def _has_none(array: np.ndarray) -> bool:
    return array.dtype == object and any(entry is None for entry in array.ravel())


def _check_shapes(claim: Claim, measured: Any, bound: Any) -> None:
    if measured.shape != bound.shape and measured.ndim and bound.ndim:
        raise HebbcheckError(
            f"the sides of claim {claim.id!r} have shapes {measured.shape} and {bound.shape}; "
            "numbers or arrays of one shape are needed; try hc.min or hc.max of one side"
        )


class Decision(StrEnum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"
    UNMET = "unmet"
    FLOAT_ONLY = "float only"


def decide(claim: Claim, raw: Raw, constants: dict[str, float] | None = None) -> Decision:
    """Whether the claim holds on the instance, in ball arithmetic from its exact inputs.

    VIOLATED only if an enclosure of the slack lies wholly on the wrong side; UNDECIDED where equality cannot be told
    from a violation at the highest precision; UNMET where an assumption fails or the relation is undefined; FLOAT_ONLY
    where balls cannot enter the claim's functions, or these compare numbers that are equal.
    """
    if not claim.family.exact:
        return Decision.FLOAT_ONLY
    return decide_on(claim, lambda: claim.family.build_exactly(raw), constants)


def decide_on(claim: Claim, build: Callable[[], Any], constants: dict[str, float] | None = None) -> Decision:
    """The same on an instance of balls, which is built anew for every precision."""
    at_last = Decision.UNDECIDED
    for bits in PRECISIONS:
        with balls.precision(bits):
            try:
                return _decide_at(claim, build(), constants or {})
            except _Unsettled:
                at_last = Decision.FLOAT_ONLY
            except balls.Undecided:
                at_last = Decision.UNDECIDED
            except ZeroDivisionError:
                return Decision.UNMET
            except Exception:  # what other libraries raise when they meet a ball is theirs to choose
                return Decision.FLOAT_ONLY
    return at_last


class _Unsettled(Exception):
    """The claim's own function compares numbers that balls cannot tell apart, as `sorted` does with equal ones."""


def _decide_at(claim: Claim, instance: Any, constants: dict[str, float]) -> Decision:
    if not all(claim.holds_given(instance, constants).values()):
        return Decision.UNMET
    try:
        relations = claim.relations(instance, **constants)
    except balls.Overlapping as error:
        raise _Unsettled from error
    undecided: balls.Undecided | None = None
    for relation in relations:
        for left, right in _entries(claim, relation):
            try:
                if _broken(relation.kind, left, right):
                    return Decision.VIOLATED
            except balls.Undecided as error:
                if relation.kind != "equal":  # overlapping enclosures are all that an equality can show
                    undecided = error
    if undecided is not None:
        raise undecided
    return Decision.HOLDS


def _entries(claim: Claim, relation: Relation) -> Iterator[tuple[Any, Any]]:
    sides = [np.asarray(side, dtype=object) for side in (relation.measured, relation.bound)]
    _check_shapes(claim, *sides)
    return zip(*(side.ravel() for side in np.broadcast_arrays(*sides)), strict=True)


def _broken(kind: str, left: Any, right: Any) -> bool:
    if kind == "at_least":
        return bool(left < right)
    if kind == "at_most":
        return bool(left > right)
    return bool(left != right)


def as_computed(raw: Raw, backend: Backend) -> Raw:
    """The inputs as the backend's dtype holds them."""
    if backend.dtype == "float64":
        return raw
    arrays = {
        name: array.astype(backend.dtype).astype(float) if array.dtype.kind == "f" else array
        for name, array in raw.arrays.items()
    }
    return replace(raw, arrays=arrays)
