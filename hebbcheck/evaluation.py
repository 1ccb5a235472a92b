"""Evaluating a claim on an instance: in floating point, and exactly before a violation counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from . import balls
from .claim import Claim, Relation
from .errors import HebbcheckError
from .instance import Instance, Raw

PRECISIONS = (128, 512, 2048)
"""Bits of ball arithmetic, tried in turn until a violation is decided."""
PERTURBATIONS = 3
ULP_FACTOR = 1000.0
"""A function that balls cannot enter is compared with this multiple of the change under one-ulp perturbations."""


@dataclass(frozen=True)
class Value:
    """A claim on one instance, in floating point.

    `slack`: the smallest over the relations (negative: broken); `scale`: the size of its sides; `ratio`: slack / scale.
    `defined`: no side was NaN and nothing divided by zero.  `met`: {assumption: bool}.
    """

    defined: bool
    met: dict[str, bool]
    slack: float = math.nan
    scale: float = math.nan
    measured: float = math.nan
    bound: float = math.nan
    beyond_trivial: bool = False

    @property
    def admissible(self) -> bool:
        return self.defined and all(self.met.values())

    @property
    def ratio(self) -> float:
        """slack relative to the sides; 0 where both are 0."""
        return self.slack / self.scale if self.scale > 0 else (0.0 if self.slack == 0 else self.slack)


def evaluate(claim: Claim, instance: Instance, constants: dict[str, float] | None = None) -> Value:
    """The claim's relations on an instance, in floating point.  Undefined instances are marked, not raised."""
    with np.errstate(all="ignore"):
        return _evaluate(claim, instance, constants or {})


def _evaluate(claim: Claim, instance: Instance, constants: dict[str, float]) -> Value:
    try:
        met = claim.holds_given(instance, constants)
        if not all(met.values()):
            return Value(True, met)
        sides = [_sides(relation) for relation in claim.relations(instance, **constants)]
    except ZeroDivisionError:
        return Value(False, {})
    values = [Value(not math.isnan(s[0]), met, *s) for s in sides]
    return min(values, key=lambda v: (v.defined, v.ratio))


def _sides(relation: Relation) -> tuple[float, float, float, float, bool]:
    """(slack, scale, measured, bound, beyond trivial) at the entry where the slack is smallest."""
    measured, bound = (np.asarray(_host(side), dtype=float) for side in (relation.measured, relation.bound))
    if relation.kind == "equal" and measured.shape != bound.shape and measured.ndim and bound.ndim:
        raise HebbcheckError(
            f"the sides of an equality have shapes {measured.shape} and {bound.shape}; one shape is needed"
        )
    measured, bound = np.broadcast_arrays(measured, bound)
    if measured.size == 0:
        return 0.0, 0.0, 0.0, 0.0, False
    with np.errstate(invalid="ignore", over="ignore"):
        slack = Relation(relation.kind, measured, bound).slack()
        slack = np.where((measured == bound) & np.isinf(measured), 0.0, slack)
        scale = np.maximum(np.abs(measured), np.abs(bound))
        scale = np.where(np.isinf(scale), 1.0, scale)
        if relation.kind == "equal":
            scale = np.full_like(scale, np.max(scale))
    if np.any(np.isnan(slack)):
        return (math.nan,) * 4 + (False,)
    where = np.unravel_index(int(np.argmin(slack)), slack.shape)
    beyond = relation.trivial is not None and bool(_beyond(relation, float(bound[where])))
    return float(slack[where]), float(scale[where]), float(measured[where]), float(bound[where]), beyond


def _beyond(relation: Relation, bound: float) -> bool:
    """Whether the bound says nothing: the measured side can never pass `trivial` anyway."""
    assert relation.trivial is not None
    return bound >= relation.trivial if relation.kind == "at_most" else bound <= relation.trivial


def _host(side: Any) -> Any:
    if hasattr(side, "detach"):
        return side.detach().cpu().numpy()
    if isinstance(side, np.ndarray | float | int):
        return side
    if hasattr(side, "get") and hasattr(side, "ndim"):
        return side.get()
    return np.asarray(side) if hasattr(side, "__array__") or hasattr(side, "ndim") else side


class Decision(StrEnum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"
    UNMET = "unmet"
    FLOAT_ONLY = "float only"


def decide(claim: Claim, raw: Raw, constants: dict[str, float] | None = None) -> Decision:
    """Whether the claim holds on the instance, in ball arithmetic from its exact inputs.

    VIOLATED only if an enclosure of the slack lies wholly on the wrong side; UNDECIDED where equality cannot be told
    from a violation at the highest precision; UNMET where an assumption fails or the relation is undefined.
    """
    if not claim.family.exact:
        return Decision.FLOAT_ONLY
    for bits in PRECISIONS:
        with balls.precision(bits):
            try:
                return _decide_at(claim, raw, constants or {})
            except balls.Undecided:
                continue
            except ZeroDivisionError:
                return Decision.UNMET
            except (TypeError, ValueError, HebbcheckError):
                return Decision.FLOAT_ONLY
    return Decision.UNDECIDED


def _decide_at(claim: Claim, raw: Raw, constants: dict[str, float]) -> Decision:
    instance = claim.family.build_exactly(raw)
    if not all(claim.holds_given(instance, constants).values()):
        return Decision.UNMET
    decisions = [_enclosed(r) for r in claim.relations(instance, **constants)]
    if Decision.VIOLATED in decisions:
        return Decision.VIOLATED
    return Decision.HOLDS


def _enclosed(relation: Relation) -> Decision:
    measured = np.asarray(relation.measured, dtype=object)
    bound = np.asarray(relation.bound, dtype=object)
    if measured.size == 0 or bound.size == 0:
        return Decision.HOLDS
    pending: balls.Undecided | None = None
    for left, right in zip(*(side.ravel() for side in np.broadcast_arrays(measured, bound)), strict=True):
        try:
            if _broken(relation.kind, left, right):
                return Decision.VIOLATED
        except balls.Undecided as undecided:
            if relation.kind == "equal":
                continue
            pending = undecided
    if pending is not None:
        raise pending
    return Decision.HOLDS


def _broken(kind: str, left: Any, right: Any) -> bool:
    if kind == "at_least":
        return bool(left < right)
    if kind == "at_most":
        return bool(left > right)
    return bool(left != right)


def rounding(claim: Claim, raw: Raw, constants: dict[str, float], like: Any, seed: int = 0) -> float:
    """The change of the slack when every float input moves by one ulp at random: the largest of a few trials."""
    base = evaluate(claim, claim.family.build(raw, like), constants)
    rng = np.random.default_rng(seed)
    changes = [0.0]
    for _ in range(PERTURBATIONS):
        moved = replace(
            raw, arrays={name: _one_ulp(array, rng, like.eps) for name, array in raw.arrays.items()}
        )
        other = evaluate(claim, claim.family.build(moved, like), constants)
        if other.admissible and base.admissible:
            changes.append(abs(other.slack - base.slack))
    return max(changes)


def _one_ulp(array: np.ndarray, rng: np.random.Generator, eps: float) -> np.ndarray:
    if array.dtype.kind != "f":
        return array
    return array * (1 + eps * rng.choice((-1.0, 1.0), array.shape))


def violated(
    claim: Claim, raw: Raw, value: Value, constants: dict[str, float], backend: Any
) -> tuple[bool, bool]:
    """(whether a broken-looking instance really violates the claim, whether that was decided exactly)."""
    decision = decide(claim, as_computed(raw, backend), constants)
    if decision is not Decision.FLOAT_ONLY:
        return decision is Decision.VIOLATED, True
    tolerance = ULP_FACTOR * max(rounding(claim, raw, constants, backend), backend.eps * value.scale)
    return value.slack < -tolerance, False


def as_computed(raw: Raw, backend: Any) -> Raw:
    """The inputs as the backend's dtype holds them."""
    if backend.dtype == "float64":
        return raw
    arrays = {
        name: array.astype(backend.dtype).astype(float) if array.dtype.kind == "f" else array
        for name, array in raw.arrays.items()
    }
    return replace(raw, arrays=arrays)
