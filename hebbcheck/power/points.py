"""Expressions at a few random points that agree with what is known: a quick no, never a yes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import sympy

from .symbols import EVERYTHING, Known

POINTS = 24
NEGLIGIBLE = 1e-9


def negative_somewhere(expression: sympy.Expr, known: Known) -> bool:
    """Whether the expression is negative at one of a few points."""
    return any(value < -NEGLIGIBLE for value in values(expression, known))


def zero_everywhere(expression: sympy.Expr, known: Known) -> bool:
    """Whether the expression vanishes at the few points where it has a value."""
    return all(abs(value) < NEGLIGIBLE for value in values(expression, known))


def constant_everywhere(expression: sympy.Expr, known: Known) -> bool:
    """Whether the expression has one value at the few points where it has one."""
    found = list(values(expression, known))
    return not found or max(found) - min(found) <= NEGLIGIBLE * max(map(abs, found))


def values(expression: sympy.Expr, known: Known) -> Iterator[float]:
    """The expression's values at the points, as far as it has real ones."""
    symbols = sorted(expression.free_symbols, key=str)
    rng = random.Random(0)
    for _ in range(POINTS):
        try:
            value = _value(expression, _point(symbols, known, rng))
        except (TypeError, ValueError, ArithmeticError):
            continue
        if math.isfinite(value):
            yield value


def _value(expression: sympy.Expr, point: dict[sympy.Symbol, float]) -> float:
    """The expression in floating point; TypeError where it holds a function that has no value."""
    if expression.is_Symbol:
        return point[expression]
    if not expression.args:
        return float(expression)
    function = FUNCTIONS.get(expression.func)
    if function is None:
        raise TypeError(f"{expression.func} has no value")
    return function(*(_value(part, point) for part in expression.args))


def _power(base: float, exponent: float) -> float:
    value = base**exponent
    if isinstance(value, complex):
        raise ValueError("not real")
    return value


FUNCTIONS: dict[Any, Callable[..., float]] = {
    sympy.Add: lambda *terms: math.fsum(terms),
    sympy.Mul: lambda *factors: math.prod(factors),
    sympy.Pow: _power,
    sympy.log: math.log,
    sympy.exp: math.exp,
    sympy.Abs: abs,
    sympy.Max: max,
    sympy.Min: min,
}


def _point(symbols: list[sympy.Symbol], known: Known, rng: random.Random) -> dict[sympy.Symbol, float]:
    point = {symbol: _number(symbol, known, rng) for symbol in symbols}
    for smaller, larger in known.ordered:
        if larger in point and smaller.free_symbols <= point.keys():
            least = _value(smaller, point)
            if point[larger] < least:
                point[larger] = least + abs(least) * rng.random()
    return point


def _number(symbol: sympy.Symbol, known: Known, rng: random.Random) -> float:
    low, high = known.intervals.get(symbol.name, EVERYTHING)
    low = max(low, 0.0) if symbol.is_nonnegative else low
    if -math.inf < low and high < math.inf:
        return rng.uniform(low, high)
    size = math.exp(rng.uniform(-4, 6))
    return low + size if low > -math.inf else size * rng.choice((-1, 1))
