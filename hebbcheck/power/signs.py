"""Whether an expression is never negative, by intervals and signs on its structure; "no" only means: not seen."""

from __future__ import annotations

import math
from collections.abc import Iterator

import sympy

from .symbols import EVERYTHING, Interval, Known, Quantity

LARGEST = 120
"""Expressions of more operations are not rewritten."""
MOST_TERMS = 400
"""Nor expanded where that may give more terms than this."""
FACTORED_TERMS, FACTORED_SYMBOLS = 60, 5
"""Nor factored with more terms or symbols: factoring takes minutes for some polynomials in six."""
DEPTH = 2
"""How often a difference of two roots is squared."""


def never_negative(expression: sympy.Expr, known: Known, depth: int = DEPTH) -> bool:
    """Whether the expression is shown to be >= 0 wherever it has a value."""
    return any(
        interval(form, ranges)[0] >= 0 or (depth and _squares(form, ranges, depth))
        for form, ranges in _forms(expression, known)
    )


def interval(expression: sympy.Expr, known: Known) -> Interval:
    """An interval that holds every value of the expression."""
    if expression.is_number:
        return _number(expression)
    if isinstance(expression, sympy.Symbol):
        return _symbol(expression, known)
    parts = [interval(part, known) for part in expression.args]
    if isinstance(expression, sympy.Add):
        return sum(low for low, _ in parts), sum(high for _, high in parts)
    if isinstance(expression, sympy.Mul):
        return _product(parts)
    if isinstance(expression, sympy.Pow):
        return _power(parts[0], expression.exp)
    if isinstance(expression, sympy.Max):
        return max(low for low, _ in parts), max(high for _, high in parts)
    if isinstance(expression, sympy.Min):
        return min(low for low, _ in parts), min(high for _, high in parts)
    if isinstance(expression, sympy.log):
        low, high = parts[0]
        return (_log(low), _log(high)) if low >= 0 else EVERYTHING
    if isinstance(expression, sympy.exp):
        return _exp(parts[0][0]), _exp(parts[0][1])
    if isinstance(expression, sympy.Abs):
        return 0.0, max(abs(end) for end in parts[0])
    return (0.0, math.inf) if expression.is_nonnegative else EVERYTHING


def has_values(expression: sympy.Expr, known: Known) -> set[sympy.Expr]:
    """The denominators, and what stands under roots and logarithms, that are not shown to be harmless."""
    doubtful = set()
    for part in sympy.preorder_traversal(expression):
        if isinstance(part, sympy.Pow):
            low, high = interval(part.base, known)
            divided = part.exp.is_number and part.exp.is_negative
            whole = part.exp.is_integer
            harmless = (low > 0 or (high < 0 and whole)) if divided else (low >= 0 or whole)
            if not harmless:
                doubtful.add(part.base)
        elif isinstance(part, sympy.log) and interval(part.args[0], known)[0] <= 0:
            doubtful.add(part.args[0])
    return doubtful


def _forms(expression: sympy.Expr, known: Known) -> Iterator[tuple[sympy.Expr, Known]]:
    """The expression, and the same written differently."""
    yield expression, known
    if expression.count_ops() > LARGEST:
        return
    yield sympy.factor_terms(expression), known
    for form in _polynomial_forms(expression):
        yield form, known
    parted, ranges = _parted(expression, known)
    if parted != expression:
        yield parted, ranges
        for form in _polynomial_forms(parted):
            yield form, ranges
    over, under = sympy.fraction(sympy.together(parted))
    if under != 1 and interval(under, ranges)[0] >= 0:
        for form in _polynomial_forms(over):
            yield form, ranges


def _polynomial_forms(expression: sympy.Expr) -> Iterator[sympy.Expr]:
    """Factored and expanded, where neither takes long."""
    terms = most_terms(expression)
    if expression.count_ops() > LARGEST or terms > MOST_TERMS:
        return
    if terms <= FACTORED_TERMS and len(expression.free_symbols) <= FACTORED_SYMBOLS:
        yield sympy.factor(expression)
    yield sympy.expand(expression)


def most_terms(expression: sympy.Expr) -> float:
    """A bound on the number of terms of the expanded expression."""
    if isinstance(expression, sympy.Add):
        return sum(most_terms(part) for part in expression.args)
    if isinstance(expression, sympy.Mul):
        return math.prod(most_terms(part) for part in expression.args)
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer and abs(expression.exp) > 1:
        return most_terms(expression.base) ** min(abs(int(expression.exp)), 64)
    return max((most_terms(part) for part in expression.args), default=1)


def _parted(expression: sympy.Expr, known: Known) -> tuple[sympy.Expr, Known]:
    """Larger symbols as smaller ones plus something, and symbols with a least value as that plus something."""
    ranges = Known(dict(known.intervals), known.ordered, known.typed)
    for smaller, larger in known.ordered:
        if isinstance(larger, Quantity) and smaller.free_symbols | {larger} <= expression.free_symbols:
            more = Quantity(f"{larger.name} - {smaller}", nonnegative=True)
            ranges.intervals[more.name] = (0.0, math.inf)
            expression = expression.subs(larger, smaller + more)
    for symbol in sorted(expression.free_symbols, key=str):
        low, high = _symbol(symbol, ranges)
        if 0 < low < math.inf and low == int(low) and high == math.inf:
            more = Quantity(f"{symbol} - {low:g}", nonnegative=True)
            ranges.intervals[more.name] = (0.0, math.inf)
            expression = expression.subs(symbol, more + int(low))
    return expression, ranges


def _squares(form: sympy.Expr, known: Known, depth: int) -> bool:
    """Of a difference a - b of two roots that are not negative: whether a^2 >= b^2."""
    if not isinstance(form, sympy.Add) or len(form.args) != 2:
        return False
    first, second = form.args
    a, b = (first, -second) if interval(second, known)[1] <= 0 else (second, -first)
    if interval(a, known)[0] < 0 or interval(b, known)[0] < 0:
        return False
    roots = any(
        isinstance(p, sympy.Pow) and p.exp.is_Rational and p.exp.q > 1 for p in sympy.preorder_traversal(form)
    )
    return roots and never_negative(a**2 - b**2, known, depth - 1)


def _number(expression: sympy.Expr) -> Interval:
    value = sympy.N(expression)
    if value.is_real and not value.is_infinite:
        return float(value), float(value)
    if value in (sympy.oo, -sympy.oo):
        return float(value), float(value)
    return EVERYTHING


def _symbol(symbol: sympy.Symbol, known: Known) -> Interval:
    low, high = known.intervals.get(symbol.name, EVERYTHING)
    return (max(low, 0.0), high) if symbol.is_nonnegative else (low, high)


def _product(parts: list[Interval]) -> Interval:
    low, high = 1.0, 1.0
    for a, b in parts:
        ends = [_times(x, y) for x in (low, high) for y in (a, b)]
        low, high = min(ends), max(ends)
    return low, high


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0 or y == 0 else x * y


def _power(base: Interval, exponent: sympy.Expr) -> Interval:
    low, high = base
    if not exponent.is_number or not exponent.is_real:
        return (0.0, math.inf) if low >= 0 else EVERYTHING
    if exponent.is_integer and exponent % 2 == 0 and low < 0:
        low, high = (0.0, max(-low, high)) if high > 0 else (-high, -low)
    p = float(exponent)
    if low < 0:
        return EVERYTHING
    ends = [_raised(low, p), _raised(high, p)]
    return min(ends), max(ends)


def _raised(x: float, p: float) -> float:
    if x == 0:
        return math.inf if p < 0 else (1.0 if p == 0 else 0.0)
    if x == math.inf:
        return 0.0 if p < 0 else (1.0 if p == 0 else math.inf)
    try:
        return x**p
    except OverflowError:
        return math.inf


def _log(x: float) -> float:
    if x <= 0:
        return -math.inf
    return math.inf if x == math.inf else math.log(x)


def _exp(x: float) -> float:
    return math.inf if x > 700 else math.exp(x)
