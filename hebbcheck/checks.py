"""Checks of what users pass, all with errors of one form: what was observed; what is needed; what to try."""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from numbers import Integral, Real
from typing import Any

import numpy as np

from .errors import HebbcheckError


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """The value as an int, where it is a whole number of at least `least`."""
    with suppress(TypeError):
        value = (
            value if isinstance(value, bool) else operator.index(value)
        )  # numpy's and torch's whole numbers too
    whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    if isinstance(value, bool) or not whole or value < least:
        raise HebbcheckError(
            f"{name}={value!r} is out of range; a whole number from {least} up is needed; try {name}={max(least, 2)}"
        )
    return int(value)


def finite_number(name: str, value: Any, least: float = -math.inf) -> float:
    """The value as a float, where it is a finite number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value < least:
        range = "a finite number" if least == -math.inf else f"a finite number from {least:g} up"
        raise HebbcheckError(
            f"{name}={value!r} is out of range; {range} is needed; try {name}={max(least, 1):g}"
        )
    return float(value)


def finite_matrix(name: str, given: Any) -> np.ndarray:
    """A copy of the given numbers as a float matrix without NaN, infinities or empty axes."""
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise HebbcheckError(
            f"{name} is no array of numbers; a matrix with one vector a row is needed; try a list of equally long rows"
        ) from None
    if array.ndim != 2 or 0 in array.shape:
        raise HebbcheckError(
            f"{name} has shape {array.shape}; a matrix with one vector a row is needed; try np.atleast_2d"
        )
    if not np.all(np.isfinite(array)):
        raise HebbcheckError(
            f"{name} has NaN or infinite entries; finite numbers are needed; drop those rows"
        )
    return array


def index_map(given: Any, F: int, count: int) -> np.ndarray:
    """A map from F keys to `count` values, (F,) int64; without one, the identity.  Raises where it is no such map."""
    if given is None:
        if count != F:
            raise HebbcheckError(
                f"there are {F} keys and {count} values; a map is needed; pass map=, one value's index a key"
            )
        return np.arange(F)
    array = np.asarray(given)
    if array.dtype.kind not in "iu" or array.shape != (F,):
        raise HebbcheckError(
            f"map has dtype {array.dtype} and shape {array.shape}; {F} whole numbers are needed; "
            "try np.arange(len(keys))"
        )
    outside = array[(array < 0) | (array >= count)]
    if outside.size:
        raise HebbcheckError(
            f"map points to value {outside[0]} of {count}; indices from 0 to {count - 1} are needed; count from 0"
        )
    return array.astype(np.int64)
