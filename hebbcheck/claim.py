"""What a claim is: a relation between a measured number and a bound, its quantifier, its constants."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

from . import sources
from .declarations import check_declaration
from .errors import HebbcheckError, contained, printing_aside
from .verdict import Quantifier


class Mean:
    """The expectation that independent samples along an array's first axis estimate."""

    def __init__(self, samples: Any) -> None:
        self.samples = samples

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise HebbcheckError(
            "hc.mean(...) was used inside an expression; it must be one whole side of a relation; "
            "try hc.equal(hc.mean(2 * samples), ...)"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __neg__ = __abs__ = __getitem__ = __array__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __len__ = _refuse
    __array_ufunc__ = None  # so that numpy leaves the operators to this class


@dataclass(frozen=True)
class Relation:
    """`measured` against `bound`; `kind` is "at_least", "at_most", "equal" or "scales_as"."""

    kind: str
    measured: Any
    bound: Any
    trivial: float | None = None

    @property
    def in_expectation(self) -> bool:
        return isinstance(self.measured, Mean) or isinstance(self.bound, Mean)

    def slack(self) -> Any:
        """How far the relation is from being broken (negative: broken); for `equal`, minus the difference."""
        if self.kind == "at_least":
            return self.measured - self.bound
        if self.kind == "at_most":
            return self.bound - self.measured
        return -abs(self.measured - self.bound)


def at_least(measured: Any, bound: Any, *, trivial: float | None = None) -> Relation:
    """The relation measured >= bound.  `trivial`: a value that `measured` can never go below anyway."""
    return Relation("at_least", measured, bound, trivial)


def at_most(measured: Any, bound: Any, *, trivial: float | None = None) -> Relation:
    """The relation measured <= bound.  `trivial`: a value that `measured` can never exceed anyway."""
    return Relation("at_most", measured, bound, trivial)


def equal(left: Any, right: Any) -> Relation:
    """The relation left = right, of numbers or of arrays of one shape (then of all entries)."""
    return Relation("equal", left, right)


def scales_as(measured: Any, prediction: Any) -> Relation:
    """The rate measured = Theta(prediction): the ratio stays between two constants as the sizes grow."""
    return Relation("scales_as", measured, prediction)


def mean(samples: Any) -> Mean:
    """The expectation estimated by independent samples along the first axis of an array."""
    return Mean(samples)


@dataclass(frozen=True, eq=False)
class Claim:
    """One statement that can be judged.  Made by the decorator `claim`."""

    id: str
    function: Callable
    family: Any
    title: str | None = None
    source: str | None = None
    given: dict[str, Callable] = field(default_factory=dict)
    fails_at_most: Any = None
    proof: Callable | list | None = None
    needs: tuple[str, ...] = ()
    expect: Any = "holds"
    erratum: str | None = None
    file: str = ""
    line: int = 0
    module: str = ""
    test_needs: bool = True
    """Whether the judges ask which assumptions are needed."""

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """The names of the claim's absolute constants: the function's keyword-only parameters."""
        return tuple(
            p.name for p in inspect.signature(self.function).parameters.values() if p.kind is p.KEYWORD_ONLY
        )

    @property
    def statement(self) -> str:
        return inspect.getdoc(self.function) or ""

    @property
    def statement_is_latex(self) -> bool:
        return "\\" in self.statement

    @property
    def theme(self) -> str:
        """The module or file that the claim stands in."""
        return Path(self.file).stem if self.file else self.module.rsplit(".", 1)[-1]

    @cached_property
    def tags(self) -> tuple[str, ...]:
        return (self.theme, *(("erratum",) if self.erratum else ()))

    @cached_property
    def digest(self) -> str:
        """Changes whenever its file does, one beside it that it imports, an array that it reads, or its family."""
        try:
            code = sources.digest(Path(self.file))
        except OSError:
            code = _source_of(self.function)
        data = sources.data_digest(self.function, *self.given.values())
        return hashlib.sha256("\0".join([self.id, code, data, self.family.fingerprint]).encode()).hexdigest()

    @cached_property
    def reference(self) -> Any:
        """How a worker process finds the claim again; None for one that lives in no file."""
        from .sweeps import Reference

        if not self.file or not Path(self.file).is_file():
            return None
        return Reference("claim", self.file, self.id)

    def relations(self, instance: Any, **constants: float) -> list[Relation]:
        """The claim's relations on an instance (all must hold); an ArithmeticError says that it has none there."""
        with _quietly():
            given = self.function(instance, **constants)
        relations = list(given) if isinstance(given, list | tuple) else [given]
        if not relations or not all(isinstance(r, Relation) for r in relations):
            raise HebbcheckError(
                f"claim {self.id!r} returned {_kind_of(relations)}; a relation or a list of them is needed; "
                "try return hc.at_least(measured, bound)"
            )
        return relations

    def holds_given(self, instance: Any, constants: dict[str, float] | None = None) -> dict[str, bool]:
        """Which of the named assumptions the instance meets."""
        return {name: bool(self.call(test, instance, constants)) for name, test in self.given.items()}

    def call(self, function: Callable, instance: Any, constants: dict[str, float] | None = None) -> Any:
        """Call a function of `given` or `fails_at_most`, which may name the claim's constants too (1 by default)."""
        names = self.constants_in(function)
        with _quietly():
            return function(instance, **{name: (constants or {}).get(name, 1.0) for name in names})

    def constants_in(self, function: Callable) -> list[str]:
        """The claim's constants that a function of `given` or `fails_at_most` names."""
        return [name for name in _parameters(function)[1:] if name in self.constants]

    def allowed_failure(self, sizes: Any, constants: dict[str, float] | None = None) -> float:
        """The failure probability that the statement allows at these sizes."""
        if callable(self.fails_at_most):
            return float(self.call(self.fails_at_most, sizes, constants))
        return float(sizes.delta if self.fails_at_most == "delta" else self.fails_at_most)

    def expected(self, profile: str) -> str:
        return self.expect.get(profile, "holds") if isinstance(self.expect, dict) else self.expect

    @cached_property
    def quantifier(self) -> Quantifier:
        """Read off the signature and, where that is silent, off the relation on a small instance."""
        if self.family.quantifier is not None:
            return self.family.quantifier
        if self.constants:
            return Quantifier.CONSTANTS
        if self.fails_at_most is not None:
            return Quantifier.PROBABILITY
        with contained(f"claim {self.id!r}"), printing_aside():
            relations = self._probe()
        if any(r.in_expectation for r in relations):
            return Quantifier.EXPECTATION
        if any(r.kind == "scales_as" for r in relations):
            return Quantifier.RATE
        return Quantifier.IDENTITY if all(r.kind == "equal" for r in relations) else Quantifier.FOR_ALL

    def _probe(self) -> list[Relation]:
        """The relations on a small instance: one that meets the assumptions, where there is one."""
        strangers: list[Any] = []
        for instance in self.family.probes():
            try:
                if all(self.holds_given(instance).values()):
                    return self.relations(instance)
                strangers.append(instance)
            except ArithmeticError:
                continue
        failure: Exception | None = None
        for instance in strangers:
            try:
                return self.relations(instance)
            except Exception as error:  # beyond its assumptions a claim's function may fail as it likes
                failure = failure or error
        if failure is not None:
            raise failure
        raise HebbcheckError(
            f"claim {self.id!r} divides by zero on every instance tried; its statement needs an assumption; "
            "try over= with larger sizes"
        )


def _quietly() -> Any:
    """numpy says nothing of numbers that are not finite: the judges do."""
    import numpy  # late: the pytest plugin is loaded where no claim is

    return numpy.errstate(all="ignore")


_collected: list[Claim] = []


def claim(
    id: str,
    *,
    over: Any,
    title: str | None = None,
    source: str | None = None,
    given: dict[str, Callable] | None = None,
    fails_at_most: Any = None,
    proof: Callable | list | None = None,
    needs: tuple[str, ...] | list[str] = (),
    expect: Any = "holds",
    erratum: str | None = None,
) -> Callable[[Callable], Claim]:
    """Declare a claim: the decorated function takes an instance of `over` and returns a relation.

    `given`: {name: test of an instance}.  `fails_at_most`: "delta", a number, or a function of the sizes.
    `proof`: a function returning sympy expressions that must vanish identically, or (name, expression) steps.
    `expect`: "holds", "refuted" (then `erratum` says what is wrong as printed), "vacuous", or a dict by profile.
    """

    def declare(function: Callable) -> Claim:
        made = Claim(
            id=id,
            function=function,
            family=over,
            title=title,
            source=source,
            given=given if given is not None else {},
            fails_at_most=fails_at_most,
            proof=proof,
            needs=(needs,) if isinstance(needs, str) else tuple(needs),
            expect=expect,
            erratum=erratum,
            **_whereabouts(function),
        )
        check_declaration(made)
        _collected.append(made)
        return made

    return declare


def collected(start: int = 0) -> list[Claim]:
    """The claims declared in this process since the `start`-th."""
    return _collected[start:]


def _whereabouts(function: Any) -> dict[str, Any]:
    """The module, file and line of a function; nothing of what is none, which `check_declaration` refuses."""
    code = getattr(function, "__code__", None)
    if code is None:
        return {}
    path = Path(code.co_filename)
    file = str(path.resolve()) if path.is_file() else ""
    return {"module": function.__module__ or "", "file": file, "line": code.co_firstlineno}


def _source_of(function: Callable) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return function.__code__.co_code.hex()


def _kind_of(relations: list) -> str:
    if not relations:
        return "an empty list"
    wrong = next(r for r in relations if not isinstance(r, Relation))
    return "nothing" if wrong is None else f"a {type(wrong).__name__}"


def _parameters(function: Callable) -> tuple[str, ...]:
    known = _parameters_of if isinstance(function, FunctionType) else _parameters_of.__wrapped__
    return known(function)


@lru_cache(maxsize=1024)
def _parameters_of(function: Callable) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)
