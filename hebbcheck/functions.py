"""The functions that bounds are written with: one source for floats, arrays of any backend and balls.

Numbers give Python numbers.  Outside a function's domain the result is NaN, not an error, so that an instance
where a bound has no value counts as undefined.  Inside `balls.precision` the functions return balls.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any

import array_api_compat
import numpy as np

from .exact import balls
from .exact.balls import Ball

_NUMBERS = (int, float, Fraction, np.integer, np.floating)


def sqrt(x: Any) -> Any:
    """The square root, entry by entry; NaN below 0.  Of a Fraction it is a float."""
    return _elementwise("sqrt", x)


def log(x: Any) -> Any:
    """The natural logarithm, entry by entry; -inf at 0, NaN below."""
    return _elementwise("log", x)


def exp(x: Any) -> Any:
    """The exponential function, entry by entry; inf where it overflows."""
    return _elementwise("exp", x)


def abs(x: Any) -> Any:
    """The magnitude, entry by entry; of an int it is an int, of a Fraction a Fraction."""
    return builtins.abs(x.item() if isinstance(x, np.generic) else x)


def min(*values: Any) -> Any:
    """The least of several numbers, or of all entries of one array or iterable; NaN if one is NaN.

    Over nothing it is +inf.
    """
    return _extreme("min", values, _smaller, math.inf)


def max(*values: Any) -> Any:
    """The greatest of several numbers, or of all entries of one array or iterable; NaN if one is NaN.

    Over nothing it is 0, as the paper's maxima are all of magnitudes.
    """
    return _extreme("max", values, _larger, 0)


def sum(x: Any) -> Any:
    """The sum of all entries of an array, or of the numbers of an iterable."""
    if _is_array(x) and not _entry_by_entry(x):
        return _number(_namespace(x).sum(x))
    total: Any = 0
    for entry in _entries(x):
        total = total + _summand(entry)
    return total


def trace(x: Any) -> Any:
    """The sum of the diagonal of a matrix (an array, or a list of rows)."""
    if not _is_array(x):
        return sum(row[i] for i, row in enumerate(x))
    if isinstance(x, np.ndarray):
        return sum(np.diagonal(x))
    return _number(_namespace(x).linalg.trace(x))


def solve(A: Any, b: Any) -> Any:
    """The solution X (k or k x c) of A X = b for a square matrix A (k x k); balls for balls and fractions.

    A singular A raises ZeroDivisionError: the instance is undefined there.
    """
    if _entry_by_entry(A):
        return balls.solve(A, b)
    try:
        return _namespace(A).linalg.solve(A, b)
    except Exception as error:
        if not type(error).__name__.endswith("LinAlgError"):  # each library has one of its own
            raise
        raise ZeroDivisionError("the matrix is singular") from None


def _float_sqrt(x: Any) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


def _float_log(x: Any) -> float:
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


def _float_exp(x: Any) -> float:
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


_ON_FLOATS: dict[str, Callable] = {"sqrt": _float_sqrt, "log": _float_log, "exp": _float_exp}
_ON_BALLS: dict[str, Callable] = {"sqrt": balls.sqrt, "log": balls.log, "exp": balls.exp}


def _elementwise(name: str, x: Any) -> Any:
    if isinstance(x, Ball):
        return _ON_BALLS[name](x)
    if isinstance(x, _NUMBERS):
        return _ON_BALLS[name](Ball.exact(x)) if balls.in_ball_mode() else _ON_FLOATS[name](x)
    if _is_array(x) and _entry_by_entry(x):
        return balls.object_array([_elementwise(name, entry) for entry in x.ravel().tolist()], x.shape)
    xp = _namespace(x)
    if xp.isdtype(x.dtype, "integral"):
        x = xp.astype(x, xp.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return getattr(xp, name)(x)


def _extreme(name: str, values: tuple, choose: Callable[[Any, Any], Any], of_nothing: float) -> Any:
    entries: Iterable[Any] = values
    if len(values) == 1:
        (x,) = values
        if _is_array(x) and x.dtype != object:
            return _number(getattr(_namespace(x), name)(x)) if math.prod(x.shape) else of_nothing
        entries = _entries(x)
    best = None
    for number in map(partial(_scalar, name), entries):
        if number.isnan if isinstance(number, Ball) else number != number:
            return number
        best = number if best is None else choose(best, number)
    return of_nothing if best is None else best


def _smaller(left: Any, right: Any) -> Any:
    if isinstance(left, Ball) or isinstance(right, Ball):
        return balls.smaller(left, right)
    return right if right < left else left


def _larger(left: Any, right: Any) -> Any:
    if isinstance(left, Ball) or isinstance(right, Ball):
        return balls.larger(left, right)
    return right if right > left else left


def _scalar(name: str, x: Any) -> Any:
    if isinstance(x, Ball) or (isinstance(x, _NUMBERS) and not isinstance(x, np.generic)):
        return x
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and x.ndim == 0):
        return x.item()
    if _is_array(x) and x.ndim == 0:
        return _number(x)
    raise TypeError(f"{name} was given a {type(x).__name__} among several values; it takes numbers there")


def _is_array(x: Any) -> bool:
    return not isinstance(x, np.generic) and array_api_compat.is_array_api_obj(x)


def _entry_by_entry(x: Any) -> bool:
    """Whether balls or fractions are in it, or will be: no array library computes with those."""
    return isinstance(x, np.ndarray) and (x.dtype == object or balls.in_ball_mode())


def _summand(entry: Any) -> Any:
    if balls.in_ball_mode() and isinstance(entry, float | np.floating):
        return Ball.exact(entry)
    return entry.item() if isinstance(entry, np.generic) else entry


def _entries(x: Any) -> Iterable[Any]:
    return x.ravel().tolist() if isinstance(x, np.ndarray) else x


def _namespace(x: Any) -> Any:
    xp = array_api_compat.array_namespace(x)
    if balls.in_ball_mode() and not isinstance(x, np.ndarray):
        raise TypeError(f"balls cannot enter a {type(x).__module__} array; a numpy array is needed here")
    return xp


def _number(x: Any) -> float | int:
    """The Python number of an array without axes."""
    whole = array_api_compat.array_namespace(x).isdtype(x.dtype, ("bool", "integral"))
    return int(x) if whole else float(x)
