"""Whether something that looks broken in floating point is broken beyond what rounding may do.

Where balls cannot enter, the claim is computed again with its inputs, and every attribute that it asks for, moved at
random by up to a thousand units in the last place ("Monte Carlo arithmetic", Parker, 1997, on the quantities between
the engine and the claim): this draws the errors of the attributes anew, which moving the inputs alone would leave as
they are where small terms are absorbed by large ones.  Of many rounding errors the largest, or their norm, hardly
depends on how they are drawn: so the claim is also computed in single precision, whose errors are larger by the
quotient of the units of rounding where a violation is none.  The claim's own operations are repeated without any
rounding, in ball arithmetic on the attributes as they are, where balls can enter them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj

from .arrays import Backend
from .claim import Claim, Relation
from .drawn import Drawn
from .evaluation import Decision, Value, as_computed, decide, decide_on, evaluate
from .exact.balls import Ball, plain_numbers
from .inputs import Raw

ULPS = 1000.0
"""By how many units in the last place inputs and attributes are moved at most."""
ENTRIES = 16.0
"""And the entries of an array by up to so many units of its largest one: sums of cancelling terms are no better."""
CAUTION, CAUTION_IN_SINGLE = 4.0, 32.0
"""A violation is larger than so many times the largest change that the moves make, or than what single precision says
of rounding in this one (one instance's errors against another's)."""
SAME, MEANINGLESS, UNKNOWN = 0.25, 1e-2, 1e-4
"""Single precision shows the same violation where its slack is within the first share of it, and nothing where its
sides differ by the second.  There a relative violation up to the third may be an ill-conditioned problem's rounding."""
TERMS = 64.0
"""A violation is larger than so many units of rounding of its sides for each term of the longest sums, too."""

LARGEST_COUNT = 2.0**40


class Excess(IntEnum):
    """By how much a relation that looks broken is broken."""

    NONE = 0
    """By no more than rounding does."""
    DOUBTFUL = 1
    """By no more than rounding may do, as far as other precisions show."""
    BEYOND = 2
    """By more than rounding does."""
    PLAIN = 3
    """By as much in single precision."""


class Effort(NamedTuple):
    """How much is done for one instance.

    `trials`: how often inputs and attributes are moved; `balls`: on arrays with more entries balls do not repeat the
    claim's operations; `negligible`: moves end once they change the slack by less than this share of what would excuse
    the violation.
    """

    trials: int
    balls: int
    negligible: float


THOROUGH = Effort(trials=12, balls=500, negligible=0.0)
OF_MANY = Effort(trials=3, balls=32, negligible=1e-3)
"""For each of many draws that failed, which together may take as long as one instance of a search."""


def violated(
    claim: Claim, raw: Raw, value: Value, constants: dict[str, float], backend: Backend
) -> tuple[bool, bool]:
    """(whether a broken-looking instance really violates the claim, whether that was decided exactly)."""
    decision = decide(claim, as_computed(raw, backend), constants)
    if decision is not Decision.FLOAT_ONLY:
        return decision is Decision.VIOLATED, True
    return excess(claim, raw, value, constants, backend) >= Excess.BEYOND, False


def excess(
    claim: Claim,
    raw: Raw,
    value: Value,
    constants: dict[str, float],
    backend: Backend,
    effort: Effort = THOROUGH,
) -> Excess:
    """By how much the relation is broken, as far as floating point shows."""
    terms = sum(max(array.shape) for array in raw.arrays.values() if array.size and array.ndim)
    if not value.slack < -max(ULPS, TERMS * terms) * backend.eps * value.scale:
        return Excess.NONE
    excused = -value.slack / CAUTION
    decided = (effort.negligible * excused, excused)
    effect = rounding(claim, raw, value, constants, backend, decided, effort.trials)
    if value.slack >= -CAUTION * effect:
        return Excess.NONE
    if effect < decided[0]:
        return Excess.BEYOND
    single = _in_single(claim, raw, value, constants, backend)
    if single is Excess.DOUBTFUL or not _rounds_itself(claim, raw, constants, backend, effort.balls):
        return single
    return Excess.NONE


def _in_single(claim: Claim, raw: Raw, value: Value, constants: dict[str, float], backend: Backend) -> Excess:
    """What single precision says of a violation: its rounding errors are larger by the quotient of the units.

    It says nothing where the claim fails there, or is computed in double precision all the same: what single precision
    cannot hold comes from there.
    """
    single = replace(backend, dtype="float32")
    unit = backend.eps / single.eps
    if unit == 1:
        return Excess.BEYOND
    unknown = Excess.DOUBTFUL if value.ratio > -UNKNOWN else Excess.BEYOND
    judged = replace(claim, given={})
    try:
        instances = claim.family.build(raw, backend), claim.family.build(raw, single)
        other = evaluate(judged, instances[1], constants)
        here, there = (judged.relations(x, **constants) for x in instances)
        in_double = any(map(_is_in_double, here, there))
    except Exception:  # a claim's function may refuse what single precision cannot hold
        return unknown
    if not math.isfinite(other.slack) or in_double:
        return unknown
    change = abs(other.slack - value.slack)
    if CAUTION_IN_SINGLE * unit * change >= -value.slack:
        return Excess.DOUBTFUL
    if change <= SAME * -value.slack:
        return Excess.PLAIN
    return unknown if other.ratio < -MEANINGLESS else Excess.BEYOND


def _is_in_double(here: Relation, there: Relation) -> bool:
    """Whether a side that single precision was to compute is in double precision, and no constant."""
    sides = ((here.measured, there.measured), (here.bound, there.bound))
    return any("float64" in str(getattr(b, "dtype", "")) and not np.array_equal(a, b) for a, b in sides)


def _rounds_itself(claim: Claim, raw: Raw, constants: dict[str, float], backend: Backend, balls: int) -> bool:
    """Whether the claim's function, repeated without rounding on the attributes as they are, breaks nothing."""
    judged, instance = replace(claim, given={}), claim.family.build(raw, backend)
    decision = decide_on(judged, lambda: _exactly(instance, balls), constants)
    return decision in (Decision.HOLDS, Decision.UNDECIDED)


def rounding(
    claim: Claim,
    raw: Raw,
    value: Value,
    constants: dict[str, float],
    like: Backend,
    decided: tuple[float, float],
    trials: int = THOROUGH.trials,
) -> float:
    """The largest change of the slack when inputs and attributes are moved; trials end once it is `decided`.

    That is below the first number, or at least the second.  A number that counts (ranks, signs) does not change by
    little: once it changes at all, rounding decides it, and the change is infinite.
    """
    judged = replace(claim, given={})  # a moved instance may miss an assumption by as little as it was moved
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(trials):
        moved = replace(raw, arrays={name: _moved(array, rng, like) for name, array in raw.arrays.items()})
        try:
            other = evaluate(judged, _moved_instance(claim.family.build(moved, like), rng, like), constants)
        except Exception:  # a claim's function may refuse what is slightly beyond its domain
            continue
        if not other.defined:
            continue
        if _counted_otherwise(value.slack, other.slack):
            return math.inf
        largest = max(largest, abs(other.slack - value.slack))
        if largest < decided[0] or largest >= decided[1]:
            break
    return largest


def _counted_otherwise(slack: float, other: float) -> bool:
    """Whether two slacks are different whole numbers, too small to be so because floats of their size all are."""
    return slack != other and all(s.is_integer() and abs(s) < LARGEST_COUNT for s in (slack, other))


def _moved(array: np.ndarray, rng: np.random.Generator, like: Backend) -> np.ndarray:
    return array * _factors(array.shape, rng, like) if array.dtype.kind == "f" else array


def _factors(shape: tuple[int, ...], rng: np.random.Generator, like: Backend) -> np.ndarray:
    return 1 + ULPS * like.eps * rng.uniform(-1, 1, shape)


class _Shown:
    """An instance whose computed attributes, floats and arrays of floats, are shown otherwise; its sizes stay."""

    def __init__(self, instance: Any, show: Callable[[Any], Any]) -> None:
        self._instance, self._show = instance, show

    def __getattr__(self, name: str) -> Any:
        with plain_numbers():
            value = getattr(self._instance, name)
        if name not in self._instance.numbers:
            value = self._shown(value)
        self.__dict__[name] = value
        return value

    def __getitem__(self, index: Any) -> Any:
        return self._shown(self._instance[index])

    def _shown(self, value: Any) -> Any:
        if isinstance(value, Drawn):
            return _Shown(value, self._show)
        if isinstance(value, float) or (is_array_api_obj(value) and "float" in str(value.dtype)):
            return self._show(value)
        if callable(value):
            return self._calling(value)
        return value

    def _calling(self, method: Callable) -> Callable:
        def call(*args: Any, **options: Any) -> Any:
            with plain_numbers():
                value = method(*args, **options)
            return self._shown(value)

        return call


def _exactly(instance: Any, most: int) -> _Shown:
    """The instance with its attributes as balls of radius zero, in arrays of at most so many entries."""

    def ball(value: Any) -> Any:
        if isinstance(value, float):
            return Ball.exact(value)
        if math.prod(value.shape) > most:
            raise MemoryError("balls are for small arrays")  # decided as float only
        return np.vectorize(Ball.exact, otypes=[object])(instance.backend.to_numpy(value).astype(float))

    return _Shown(instance, ball)


def _moved_instance(instance: Any, rng: np.random.Generator, like: Backend) -> _Shown:
    def move(value: Any) -> Any:
        if isinstance(value, float):
            return float(value * _factors((), rng, like))
        host = np.asarray(instance.backend.to_numpy(value), dtype=float)
        largest = np.max(np.abs(host), initial=0.0)
        absorbed = ENTRIES * like.eps * largest * rng.uniform(-1, 1, host.shape)
        return instance.backend.asarray(host * _factors(host.shape, rng, like) + absorbed)

    return _Shown(instance, move)
