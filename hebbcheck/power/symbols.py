"""A claim's relations as sympy expressions, and what is known of the symbols in them.

The claim's function is called with a symbolic instance, whose attributes are symbols, and with sympy's functions in the
place of hebbcheck's.  A function that does anything else with its instance has no expression.
"""

from __future__ import annotations

import dis
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any

import sympy

from .. import functions
from ..claim import Claim, Mean
from ..drawn import C0
from ..geometry.facts import Facts
from ..geometry.family import Family
from ..geometry.kernels import Kernels
from ..geometry.shapes import tied
from ..geometry.sizes import ATTACKS

Interval = tuple[float, float]
EVERYTHING: Interval = (-math.inf, math.inf)
POSITIVE_SEMIDEFINITE = ("kernel", "bilinear", "quadratic")
NOT_NEGATIVE = (
    *("E_K", "E_K_tilde", "E_K_centered", "E_v", "E_v_tilde", "K_off_max", "V_max", "z_max"),
    *("diag_sq_sum", "L_K", "eps", "sigma2", "kappa_eff"),
)
COUPLINGS = ("kappa", "kappa_tilde", "kappa_centered")
"""Absolute cosines."""
OF_A_KERNEL = ("trace", "K_diag_min", "K_diag_max")
"""Not negative where the kernel is positive semidefinite."""
ORDERED = (
    ("K_diag_min", "K_diag_max"),
    ("E_K_tilde", "E_K"),
    ("E_v_tilde", "E_v"),
)
"""Pairs of which the first is never larger (one fact alone makes no pair: then every statement is trivial)."""


class Quantity(sympy.Symbol):
    """A number or an array of an instance, entry by entry."""

    __slots__ = ()
    _iterable = False  # sympy would take it for a list, for its subscripts
    __iter__ = None

    def __call__(self, *arguments: Any, **options: Any) -> Quantity:
        told = [*map(str, arguments), *(f"{name}={value}" for name, value in options.items())]
        return Quantity(f"{self.name}({', '.join(told)})", real=True)

    def __getitem__(self, index: Any) -> Quantity:
        return Quantity(f"{self.name}[{index}]", real=True)


class Vector:
    """One of a pair family's vectors: only inner products are known."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __matmul__(self, other: Vector) -> Quantity:
        first, second = sorted((self.index, other.index))
        name = f"<v{first}, v{second}>"
        return Quantity(name, nonnegative=True) if first == second else Quantity(name, real=True)


@dataclass
class Known:
    """What is known of the symbols: their intervals, and pairs (smaller, larger)."""

    intervals: dict[str, Interval] = field(default_factory=dict)
    ordered: list[tuple[sympy.Expr, sympy.Symbol]] = field(default_factory=list)
    typed: bool = False
    """Whether attributes have the meaning that instances of facts and kernels give them."""

    def symbol(self, name: str) -> Any:
        """The symbol of an attribute."""
        low, high = self.intervals.get(name, EVERYTHING)
        if low == high:
            return sympy.nsimplify(low)
        if low > 0:
            return Quantity(name, positive=True)
        return Quantity(name, nonnegative=True) if low == 0 else Quantity(name, real=True)


class SymbolicInstance:
    """What a claim's function is called with."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "mu" and self._known.typed:
            return 1 / self._known.symbol("d")
        return self._known.symbol(name)

    def __getitem__(self, index: int) -> Vector:
        return Vector(index)


@dataclass(frozen=True)
class SymbolicRelation:
    """A relation whose sides are expressions; of a mean, the expression under it."""

    kind: str
    measured: sympy.Expr
    bound: sympy.Expr
    means: tuple[bool, bool]

    @property
    def slack(self) -> sympy.Expr:
        """Not negative where the relation holds; of an equality the difference."""
        return self.bound - self.measured if self.kind == "at_most" else self.measured - self.bound


def known_of(claim: Claim) -> Known:
    """What the claim's family and its assumptions say of the symbols."""
    family, known = claim.family, Known()
    for name in family.sizes:
        known.intervals[name] = size_interval(family, name)
    known.intervals |= {name: (0.0, math.inf) for name in claim.constants}
    known.typed = isinstance(family, Facts | Kernels)
    if known.typed:
        known.intervals |= {name: (0.0, math.inf) for name in NOT_NEGATIVE if name not in family.sizes}
        known.intervals |= {name: (0.0, 1.0) for name in COUPLINGS}
        if getattr(family, "memory", "kernel") in POSITIVE_SEMIDEFINITE:
            known.intervals |= {name: (0.0, math.inf) for name in OF_A_KERNEL}
        known.intervals["L"] = (0.0, math.inf)
        if _unit_values(family):
            known.intervals |= {"V_min": (0.0, 2.0), "V_max": (0.0, 2.0)}
    for test in claim.given.values():
        _assume(known, test)
    if known.typed:
        if "F" in family.sizes and "delta" in family.sizes:
            least, delta = known.intervals["F"][0], known.intervals["delta"][1]
            known.intervals["L"] = (math.log(C0 * least**2 / delta), math.inf)
        known.ordered += [(known.symbol(a), known.symbol(b)) for a, b in ORDERED]
        if getattr(family, "mapping", "any") != "any":
            known.ordered.append((known.symbol("V_min"), known.symbol("V_max")))
        cauchy_schwarz = known.symbol("trace") ** 2 / known.symbol("F")
        known.ordered.append((cauchy_schwarz, known.symbol("diag_sq_sum")))
    return known


def _unit_values(family: Family) -> bool:
    """Whether values have norm one; tied ones are the keys."""
    if not isinstance(family, Facts):
        return False
    return (family.keys if family.values is tied else family.values).unit


def size_interval(family: Family, name: str) -> Interval:
    """The values that a size of a family may have at all."""
    size = family.sizes[name]
    if name == "delta" and size.given is None:
        return 0.0, 1.0
    if size.listed is not None or size.given is not None:
        low, high = size.bounds()
        return float(low), float(high)
    if name not in ATTACKS:
        return EVERYTHING
    return float(family.least.get(name, ATTACKS[name][0])), math.inf


def _assume(known: Known, test: Callable) -> None:
    """Take an assumption of the form symbol >= number, or symbol >= expression, as known."""
    relation = symbolic_truth(known, test)
    if not isinstance(relation, sympy.core.relational.Relational):
        return
    larger, smaller = relation.gts, relation.lts
    if isinstance(larger, Quantity) and smaller.is_number:
        low, high = known.intervals.get(larger.name, EVERYTHING)
        known.intervals[larger.name] = (max(low, float(smaller)), high)
    elif isinstance(smaller, Quantity) and larger.is_number:
        low, high = known.intervals.get(smaller.name, EVERYTHING)
        known.intervals[smaller.name] = (low, min(high, float(larger)))


def symbolic_truth(known: Known, test: Callable) -> Any:
    """What an assumption says of the symbols: a relation, a truth value, or None where it cannot be called so."""
    try:
        return _rebound(test)(SymbolicInstance(known))
    except Exception:  # a user's function may do anything with what it is given
        return None


def relations_of(claim: Claim, known: Known) -> list[SymbolicRelation] | None:
    """The relations of a claim as expressions; None where its function cannot be called so."""
    constants = {name: Quantity(name, positive=True) for name in claim.constants}
    try:
        given = _rebound(claim.function)(SymbolicInstance(known), **constants)
        return [_relation(r) for r in (given if isinstance(given, list | tuple) else [given])]
    except Exception:  # a user's function may do anything with what it is given
        return None


def _relation(given: Any) -> SymbolicRelation:
    sides = [side.samples if isinstance(side, Mean) else side for side in (given.measured, given.bound)]
    measured, bound = (sympy.nsimplify(sympy.sympify(side), rational=True) for side in sides)
    if not isinstance(measured, sympy.Expr) or not isinstance(bound, sympy.Expr):
        raise TypeError("a side is no expression")
    means = (isinstance(given.measured, Mean), isinstance(given.bound, Mean))
    return SymbolicRelation(given.kind, measured, bound, means)


# -- the functions of bounds, on expressions ---------------------------------------------------------------------------
def _extreme(name: str, of_several: Callable) -> Callable:
    def extreme(*values: Any) -> Any:
        several = values[0] if len(values) == 1 and isinstance(values[0], list | tuple) else values
        return of_several(*several) if len(several) > 1 else _opaque(name)(several[0])

    return extreme


def _opaque(name: str) -> Callable:
    """A function of an array, of which nothing is known."""
    return sympy.Function(name, real=True)


TWINS: dict[Any, Callable] = {
    functions.sqrt: sympy.sqrt,
    functions.log: sympy.log,
    functions.exp: sympy.exp,
    functions.abs: sympy.Abs,
    functions.min: _extreme("least", sympy.Min),
    functions.max: _extreme("largest", sympy.Max),
    functions.sum: _opaque("total"),
    functions.trace: _opaque("trace"),
    math.sqrt: sympy.sqrt,
    math.log: sympy.log,
    math.exp: sympy.exp,
}

BUILTINS = {"min": TWINS[functions.min], "max": TWINS[functions.max]}
"""Twins of Python's own."""


class _Symbolic:
    """A module whose functions are replaced by their twins."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        return TWINS.get(found, found) if callable(found) else found


def _rebound(function: Any, memo: dict[int, Any] | None = None) -> Any:
    """A function whose hebbcheck functions, and those of its helpers, are replaced by their twins."""
    memo = {} if memo is None else memo
    if not isinstance(function, FunctionType):
        return function
    if any(map(_decides_unseen, _codes(function.__code__))):
        raise TypeError("its course depends on symbols in a way that they do not show")
    if id(function) not in memo:
        names: dict[str, Any] = {"__builtins__": function.__globals__["__builtins__"], **BUILTINS}
        copy = FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, function.__closure__
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        memo[id(function)] = copy
        used = {name for code in _codes(function.__code__) for name in code.co_names}
        for name in used & function.__globals__.keys():
            names[name] = _replaced(function.__globals__[name], memo)
    return memo[id(function)]


def _replaced(value: Any, memo: dict[int, Any]) -> Any:
    if isinstance(value, ModuleType):
        return _Symbolic(value) if value.__name__ in ("hebbcheck", "math") else value
    if isinstance(value, FunctionType):
        if value in TWINS:
            return TWINS[value]
        engine = value.__module__.startswith("hebbcheck.") and not value.__module__.startswith(
            "hebbcheck.bounds"
        )
        return value if engine else _rebound(value, memo)
    return TWINS.get(value, value) if callable(value) and value.__hash__ else value


def _decides_unseen(code: CodeType) -> bool:
    """Whether a function decides by anything but an order of two numbers, which symbols refuse to decide.

    Other conditions have a truth value for symbols too: a symbol is never equal to a number, and always true.
    """
    previous = None
    for step in dis.get_instructions(code):
        if step.opname in ("CACHE", "TO_BOOL", "UNARY_NOT"):
            continue
        if step.opname == "CONTAINS_OP" or (step.opname == "COMPARE_OP" and _is_equality(step)):
            return True
        jumps = "JUMP_IF" in step.opname and "NONE" not in step.opname
        if jumps and (previous is None or previous.opname not in ("COMPARE_OP", "IS_OP")):
            return True
        previous = step
    return False


def _is_equality(step: dis.Instruction) -> bool:
    return "==" in step.argrepr or "!=" in step.argrepr


def _codes(code: Any) -> list[Any]:
    """A code object and those of the functions inside it."""
    return [code, *(inner for c in code.co_consts if hasattr(c, "co_names") for inner in _codes(c))]
