"""Ball arithmetic: numbers with a proof of where they lie (python-flint's arb).

A `Ball` is an interval that certainly contains the number meant.  A comparison that the interval does not
settle raises `Undecided` instead of guessing.  Inside `precision(bits)` hebbcheck's own functions turn plain
numbers into balls, so that `log(2)` in a bound is an enclosure too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

_ball_mode: ContextVar[bool] = ContextVar("ball_mode", default=False)


class Undecided(ArithmeticError):
    """The enclosures overlap, so the answer is not known; a higher precision may settle it."""


class Overlapping(Undecided):
    """A comparison of balls that their radii do not settle; of equal numbers no precision does."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with `bits` bits, and let hebbcheck's sqrt, log, exp, sum and trace make balls of numbers.

    The precision is flint's own global: threads of one process share it.  So enter this in one thread at a
    time.  Ball mode itself belongs to the current context only.
    """
    before = ctx.prec
    token = _ball_mode.set(True)
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before
        _ball_mode.reset(token)


@contextmanager
def plain_numbers() -> Iterator[None]:
    """Inside `precision`, compute what is in here in floating point."""
    token = _ball_mode.set(False)
    try:
        yield
    finally:
        _ball_mode.reset(token)


def in_ball_mode() -> bool:
    """Whether the caller is inside `precision`."""
    return _ball_mode.get()


def _operation(compute: Callable[[arb, arb], arb]) -> Callable[[Ball, Any], Ball]:
    def method(self: Ball, other: Any) -> Ball:
        value = _enclose(other)
        return NotImplemented if value is None else Ball(compute(self._v, value))

    return method


def _comparison(compare: Callable[[arb, arb], tuple[bool, bool]]) -> Callable[[Ball, Any], bool]:
    """A method that returns what is certain: `compare` gives (certainly true, certainly false)."""

    def method(self: Ball, other: Any) -> bool:
        value = _enclose(other)
        return NotImplemented if value is None else _decide(*compare(self._v, value))

    return method


class Ball:
    """A real number known to lie in an interval: scalar arithmetic with outward rounding.

    Mixes with int, float and numpy scalars (taken exactly) and with Fraction; numpy object arrays of balls
    support `+ - * / @ **` and `.sum()`.  There is no way back to a float but `mid`, `lower()` and `upper()`,
    so functions that would silently round (math.sqrt, numpy's ufuncs) raise TypeError.

    Square roots and powers with an exponent that is not an integer take a base whose interval straddles zero
    to be a number >= 0 (the caller knows that it is, as for a sum of squares).  Of a negative base they are
    NaN.
    """

    __slots__ = ("_v",)

    def __init__(self, value: arb) -> None:
        if not isinstance(value, arb):
            raise TypeError(f"a Ball holds an arb, not {type(value).__name__}; try Ball.exact(number)")
        self._v = value

    @classmethod
    def exact(cls, number: Any) -> Ball:
        """The ball of an int, a float, a numpy scalar (radius 0) or a Fraction (at the current precision)."""
        value = _enclose(number)
        if value is None:
            raise TypeError(f"{type(number).__name__} is no number that a ball can enclose")
        return cls(value)

    @classmethod
    def between(cls, lower: Any, upper: Any) -> Ball:
        """A ball that contains both numbers and all between them."""
        return cls(cls.exact(lower)._v.union(cls.exact(upper)._v))

    @property
    def mid(self) -> float:
        """The centre, rounded to a float."""
        return float(self._v)

    @property
    def isnan(self) -> bool:
        """Not a number: the result of an operation that has no value here, or none that is known."""
        return self._v.is_nan()

    def lower(self) -> float:
        """A float at or below every number of the ball."""
        return _float_beyond(self._v.lower(), -math.inf)

    def upper(self) -> float:
        """A float at or above every number of the ball."""
        return _float_beyond(self._v.upper(), math.inf)

    def contains_zero(self) -> bool:
        """Whether zero is possible."""
        return self._v.contains(0)

    def __repr__(self) -> str:
        return f"Ball({self._v})"

    __add__ = __radd__ = _operation(lambda a, b: a + b)
    __sub__ = _operation(lambda a, b: a - b)
    __rsub__ = _operation(lambda a, b: b - a)
    __rmul__ = _operation(lambda a, b: a * b)
    __truediv__ = _operation(lambda a, b: _divide(a, b))
    __rtruediv__ = _operation(lambda a, b: _divide(b, a))
    __pow__ = _operation(lambda a, b: _power(a, b))
    __rpow__ = _operation(lambda a, b: _power(b, a))
    __lt__ = _comparison(lambda a, b: (a < b, a >= b))
    __le__ = _comparison(lambda a, b: (a <= b, a > b))
    __gt__ = _comparison(lambda a, b: (a > b, a <= b))
    __ge__ = _comparison(lambda a, b: (a >= b, a < b))
    __eq__ = _comparison(lambda a, b: (a == b, a != b))
    __ne__ = _comparison(lambda a, b: (a != b, a == b))

    def __mul__(self, other: Any) -> Ball:
        if other is self:  # a square, which is what numpy makes of ** 2
            return Ball(_integer_power(self._v, 2))
        return self.__rmul__(other)

    def __neg__(self) -> Ball:
        return Ball(-self._v)

    def __pos__(self) -> Ball:
        return self

    def __abs__(self) -> Ball:
        return Ball(magnitude(self._v))

    def __bool__(self) -> bool:
        return _decide(self._v != 0, self._v == 0)


def sqrt(ball: Ball) -> Ball:
    """The square root: [0, sqrt(upper)] where the ball straddles 0, NaN where it is negative."""
    return Ball(_sqrt(ball._v))


def log(ball: Ball) -> Ball:
    """The natural logarithm: -inf at exactly 0, everything where the ball straddles 0, NaN below."""
    value = ball._v
    if value.is_zero():
        return Ball(arb.neg_inf())
    if value.is_nan() or value < 0:
        return Ball(arb.nan())
    return Ball(value.log() if value > 0 else arb(0, arb.pos_inf()))


def exp(ball: Ball) -> Ball:
    """The exponential function."""
    return Ball(ball._v.exp())


def smaller(left: Any, right: Any) -> Ball:
    """An enclosure of the smaller of two numbers; NaN if one is NaN."""
    return Ball(Ball.exact(left)._v.min(Ball.exact(right)._v))


def larger(left: Any, right: Any) -> Ball:
    """An enclosure of the larger of two numbers; NaN if one is NaN."""
    return Ball(Ball.exact(left)._v.max(Ball.exact(right)._v))


def from_array(array: Any) -> np.ndarray:
    """The object array of balls that hold the entries exactly (Fractions and balls are taken too)."""
    array = np.asarray(array)
    return object_array([Ball.exact(entry) for entry in array.ravel().tolist()], array.shape)


def solve(A: Any, b: Any) -> np.ndarray:
    """The solution x of A x = b, for A (k x k) and b (k or k x c) of numbers or balls; balls of b's shape.

    Raises Undecided when A may be singular.
    """
    right = np.asarray(b, dtype=object)
    columns = right.reshape(len(right), -1)
    try:
        solution = _arb_matrix(A).solve(_arb_matrix(columns))
    except ZeroDivisionError:
        raise Undecided("the matrix may be singular at this precision") from None
    return object_array([Ball(entry) for entry in solution.entries()], right.shape)


def object_array(entries: list, shape: tuple[int, ...]) -> np.ndarray:
    """The entries, in row-major order, as a numpy array of Python objects."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape)


def magnitude(value: arb) -> arb:
    """|value|; arb's own abs keeps the negative part of a ball that straddles zero."""
    if value.is_nan() or not value.contains(0):
        return abs(value)
    return up_to(value.abs_upper())


def up_to(upper: arb) -> arb:
    """A ball that contains [0, upper], slightly wider above, whose lower end is exactly 0."""
    half = arb(0, upper.upper() / 2)
    return half + half.rad() if half.rad().is_finite() else half


def clip(value: arb, lower: int, upper: int) -> arb:
    """The part of the ball within [lower, upper]; NaN stays NaN."""
    if value.is_nan():
        return value
    least, most = (end.max(arb(lower)).min(arb(upper)) for end in (value.lower(), value.upper()))
    return least.union(most)


def _enclose(number: Any) -> arb | None:
    if isinstance(number, Ball):
        return number._v
    if isinstance(number, float | np.float32 | np.float16):
        return arb(float(number))
    if isinstance(number, int | np.integer | np.bool_):
        return arb(int(number))
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    return None


def _decide(certainly: bool, certainly_not: bool) -> bool:
    if certainly == certainly_not:
        raise Overlapping("the balls overlap; a higher precision may settle the comparison")
    return certainly


def _float_beyond(end: arb, direction: float) -> float:
    number = float(end)
    below = direction < 0
    while (arb(number) > end) if below else (arb(number) < end):
        number = math.nextafter(number, direction)
    return number


def _divide(left: arb, right: arb) -> arb:
    if right.is_zero():
        raise ZeroDivisionError("division of a ball by zero")
    if right.contains(0) and not right.is_nan():
        raise Undecided("division by a ball that contains zero")
    return left / right


def _sqrt(value: arb) -> arb:
    if value.is_nan() or value < 0:
        return arb.nan()
    if value > 0 or value.is_zero():
        return value.sqrt()
    return up_to(value.upper().sqrt())


def _power(base: arb, exponent: arb) -> arb:
    if base.is_nan() or exponent.is_nan():
        return arb.nan()
    whole = _as_integer(exponent)
    if whole is not None:
        return _integer_power(base, whole)
    if exponent < 0:
        return _divide(arb(1), _power(base, -exponent))
    halves = _as_integer(2 * exponent)
    if halves is not None and (base > 0 or base.is_zero()):
        return _integer_power(base.sqrt(), halves)
    if base > 0:
        return (base.log() * exponent).exp()
    if not exponent > 0:
        raise Undecided("a power whose base may be zero and whose exponent may be negative")
    if base < 0:
        return arb.nan()
    top = base.upper()
    return up_to((top.log() * exponent).exp()) if top > 0 else arb(0)


def _as_integer(value: arb) -> int | None:
    integer = value.unique_fmpz() if value.is_exact() else None
    return None if integer is None else int(integer)


def _integer_power(base: arb, exponent: int) -> arb:
    """By repeated squaring (arb's own power is NaN for a ball whose centre is 0)."""
    if exponent < 0:
        return _divide(arb(1), _integer_power(base, -exponent))
    if exponent and exponent % 2 == 0 and base.contains(0) and not (base.is_zero() or base.is_nan()):
        return up_to(_integer_power(base.abs_upper(), exponent))
    result, square = arb(1), base
    while exponent:
        if exponent & 1:
            result = result * square
        exponent >>= 1
        if exponent:
            square = square * square
    return result


def _arb_matrix(matrix: Sequence[Sequence[Any]] | np.ndarray) -> arb_mat:
    return arb_mat([[Ball.exact(entry)._v for entry in row] for row in np.asarray(matrix, dtype=object)])
