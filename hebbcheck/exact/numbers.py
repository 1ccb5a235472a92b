"""Raw numbers for computing a definition literally: exact where the inputs are, balls or floats where not.

A raw number is a flint fmpq (a rational, no rounding), a flint arb (a ball) or a float.  The first two mix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpz

from .. import functions
from . import balls
from .balls import Ball

Matrix = Sequence[Sequence[Any]] | np.ndarray
_EXPONENT_LIMIT = 100_000  # an exact ball with a larger exponent of 2 is too long to write out


class Numbers:
    """What the entries of some matrices are computed with, and what results are handed back as.

    Given the rows of all matrices that meet.  With a Ball among their entries (or a float, in ball mode)
    results are Balls; else with a float, floats; else Fractions.  Balls and Fractions alike are computed with
    exactly where they are exact, until a square root or a ball of positive radius meets them.
    """

    def __init__(self, rows: Iterable[Iterable[Any]]) -> None:
        kinds = {type(x) for row in rows for x in row}
        floats = any(issubclass(kind, float | np.floating) for kind in kinds)
        self.balls = Ball in kinds or (floats and balls.in_ball_mode())
        self.floats = floats and not self.balls
        self.zero: Any = 0.0 if self.floats else fmpq(0)
        self.one: Any = 1.0 if self.floats else fmpq(1)

    def raw(self, x: Any) -> Any:
        if self.floats:
            return float(x)
        if isinstance(x, Ball):
            return _exact_or_ball(x._v)
        if isinstance(x, float | np.floating):
            return _exact_or_ball(arb(float(x)))
        return fmpq(int(x.numerator), int(x.denominator))

    def wrap(self, raw: Any) -> Any:
        if isinstance(raw, arb):
            return Ball(raw)
        if isinstance(raw, float):
            return raw
        return Ball(arb(raw)) if self.balls else Fraction(int(raw.p), int(raw.q))

    def matrix(self, M: Matrix) -> list[list]:
        return [[self.raw(x) for x in row] for row in M]

    def array(self, M: list[list]) -> np.ndarray:
        return balls.object_array([self.wrap(x) for row in M for x in row], (len(M), len(M[0])))

    def dot(self, u: list, v: list) -> Any:
        return sum((x * y for x, y in zip(u, v, strict=True)), self.zero)

    def gram(self, rows: list[list]) -> list[list]:
        """All inner products; each is computed once, so the matrix is exactly symmetric."""
        half = [[self.dot(u, v) for v in rows[: i + 1]] for i, u in enumerate(rows)]
        every = range(len(rows))
        return [[half[max(i, t)][min(i, t)] for t in every] for i in every]

    def root(self, x: Any) -> Any:
        """A square root: balls from balls and in ball mode, else a float."""
        if isinstance(x, arb) or self.balls:
            return balls.sqrt(Ball(arb(x)))._v
        root = functions.sqrt(x if self.floats else Fraction(int(x.p), int(x.q)))
        return root._v if isinstance(root, Ball) else root

    def over(self, x: Any, root: Any) -> Any:
        return float(self.wrap(x)) / root if isinstance(root, float) else x / root

    def cosine(self, product: Any, a: Any, b: Any) -> Any:
        """|product| / sqrt(a b) in [0, 1]; 0 where a or b is 0."""
        if _is_zero(a) or _is_zero(b):
            return self.root(self.zero)
        if self.floats:
            ratio = abs(product) / (math.sqrt(a) * math.sqrt(b))
            return 1.0 if ratio > 1 else ratio
        if not _are_balls(product, a, b):
            return self.root(product * product / (a * b))
        if _may_vanish(a) or _may_vanish(b):
            return balls.up_to(arb(1))
        return balls.clip(magnitude(product) / (arb(a) * b).sqrt(), 0, 1)

    def over_norm(self, product: Any, energy: Any, other_energy: Any) -> Any:
        """|product| / sqrt(energy), at most sqrt(other_energy) by Cauchy-Schwarz; 0 where energy is 0."""
        if _is_zero(energy):
            return self.root(self.zero)
        if self.floats:
            return abs(product) / math.sqrt(energy)
        if not _are_balls(product, energy):
            return self.root(product * product / energy)
        if _may_vanish(energy):
            return balls.up_to(self.root(arb(other_energy)))
        return magnitude(product) / arb(energy).sqrt()

    def spread(self, terms: list) -> Any:
        """(sum |x|)^2 / sum x^2, between 1 and the number of terms; 1 where all are 0."""
        energy = sum((x * x for x in terms), self.zero)
        if _is_zero(energy):
            return self.one
        total = sum((magnitude(x) for x in terms), self.zero)
        if not _are_balls(energy):
            return total * total / energy
        if _may_vanish(energy):
            return 1 + balls.up_to(arb(len(terms) - 1))
        return balls.clip(total * total / energy, 1, len(terms))


def _exact_or_ball(value: arb) -> Any:
    if not (value.is_exact() and value.is_finite()):
        return value
    mantissa, exponent = (int(part) for part in value.man_exp())
    if abs(exponent) > _EXPONENT_LIMIT:
        return value
    one = fmpz(1)
    return fmpq(mantissa * (one << exponent)) if exponent >= 0 else fmpq(mantissa, one << -exponent)


def _is_zero(x: Any) -> bool:
    return x.is_zero() if isinstance(x, arb) else x == 0


def _may_vanish(x: Any) -> bool:
    return x.contains(0) and not x.is_nan() if isinstance(x, arb) else x == 0


def _are_balls(*numbers: Any) -> bool:
    return any(isinstance(x, arb) for x in numbers)


def magnitude(x: Any) -> Any:
    return balls.magnitude(x) if isinstance(x, arb) else abs(x)


def extreme(choose: Callable, numbers: list) -> Any:
    """The greatest or least (`choose`: max or min) of raw numbers; NaN if one is NaN."""
    if _are_balls(*numbers):
        method = {min: arb.min, max: arb.max}[choose]
        ends = [(ball.lower(), ball.upper()) for ball in map(arb, numbers)]
        lower, upper = (reduce(method, side) for side in zip(*ends, strict=True))
        return lower.union(upper)
    return math.nan if any(x != x for x in numbers) else choose(numbers)
