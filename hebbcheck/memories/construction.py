"""Building memories: facts are checked, a construction is found by its name, its options by theirs."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import array_api_compat
import numpy as np

from ..arrays import Streams, to_host
from ..checks import whole_number
from ..discovery import nearest
from ..errors import HebbcheckError
from .mlp import GatedMLP, host_map

if TYPE_CHECKING:
    from .units import Units

LARGEST_WIDTH = 2**31
"""Widths beyond this are mistakes."""


class Construction:
    """A way to build a gated MLP from facts.  A subclass in a module of this package is found by its name.

    `construct` takes the facts, `width`, `seed` and, as keyword arguments with defaults, the options that a user may
    give.  It returns the memory in float64 on the facts' device; its settings are what was measured while building.
    """

    name: ClassVar[str] = ""
    no_kernel: ClassVar[str] = ""
    """Why it is no memory of an instance, where it is none."""

    def construct(self, facts: FactTable, *, width: int | None, seed: int) -> GatedMLP:
        raise NotImplementedError

    cheaper: ClassVar[dict[str, Any]] = {}
    """Options with which nearly every width stores the same facts at a lower cost."""

    def saturated(self, facts: FactTable, **options: Any) -> int | None:
        """The width from which on memories of facts of ordinary size answer alike; None where wider ones change."""
        return None

    free_width: ClassVar[bool] = True
    """Whether it can be built of any width."""

    stops_early: ClassVar[bool] = False
    """Whether building is cheap at widths that store all facts with ease, and dear at those that do not."""

    def units(self, facts: FactTable, seed: int, **options: Any) -> Units | None:
        """The hidden units, where they are the same at every width up to a common factor."""
        return None

    def even(self, **options: Any) -> bool:
        """Whether the memory answers x and -x alike, whatever its weights."""
        return False

    def options(self) -> dict[str, Any]:
        """The options with their defaults."""
        given = inspect.signature(self.construct).parameters
        return {n: p.default for n, p in given.items() if n not in ("facts", "width", "seed")}

    def check_options(self, given: dict[str, Any]) -> None:
        """HebbcheckError for an option that there is not."""
        allowed = self.options()
        for option in given:
            if option not in allowed:
                raise HebbcheckError(_unknown_option(self.name, option, allowed))


@dataclass(frozen=True)
class FactTable:
    """Checked facts in float64: keys F x d, values |V| x d_v (one library, one device) and the map (F,) on the host."""

    keys: Any
    values: Any
    map: np.ndarray

    @cached_property
    def codes(self) -> Any:
        """F x d_v, each key's own value."""
        return self.xp.take(self.values, self.index(self.map), axis=0)

    def indistinct(self, even: bool) -> str:
        """Why no memory stores all facts, "" where nothing is in the way: equal values, or equal keys with two values.

        `even`: opposite keys count as equal.  A score or an output that two facts share leaves a margin of at most 0.
        """
        values, keys = np.array(to_host(self.values)), np.array(to_host(self.keys))
        for i, j in _repeated(values):
            if np.any((self.map == i) | (self.map == j)):
                return f"values {i} and {j} are equal"
        signs = np.ones(self.F)
        if even:
            first = np.argmax(keys != 0, axis=1)
            signs = np.sign(keys[np.arange(self.F), first])
        for i, j in _repeated(keys * signs[:, None]):
            if self.map[i] != self.map[j]:
                return f"keys {i} and {j} are {'equal' if signs[i] == signs[j] else 'opposite'}"
        return ""

    def index(self, host: np.ndarray) -> Any:
        """Whole numbers of the host beside the keys."""
        return self.xp.asarray(np.ascontiguousarray(host), device=array_api_compat.device(self.keys))

    @property
    def xp(self) -> Any:
        return array_api_compat.array_namespace(self.keys)

    @property
    def F(self) -> int:
        return int(self.keys.shape[0])

    @property
    def d(self) -> int:
        return int(self.keys.shape[1])

    @property
    def d_v(self) -> int:
        return int(self.values.shape[1])

    def held(self, host: np.ndarray) -> Any:
        """A host array in float64 beside the keys."""
        return self.xp.asarray(host, dtype=self.xp.float64, device=array_api_compat.device(self.keys))

    def normal(self, purpose: str, seed: int, rows: int, columns: int) -> Any:
        """rows x columns, iid N(0, 1); the first rows of any number of rows are the same."""
        return self.held(normal(purpose, seed, rows, columns))


def normal(purpose: str, seed: int, rows: int, columns: int) -> np.ndarray:
    """`FactTable.normal`, on the host."""
    return Streams("memory", seed)(purpose).standard_normal((rows, columns))


def build(
    known: dict[str, Construction],
    name: str,
    keys: Any,
    values: Any,
    map: Any,
    width: int | None,
    seed: int,
    options: dict[str, Any],
) -> GatedMLP:
    """`memories.build`, with the constructions that there are."""
    construction = found(known, name)
    construction.check_options(options)
    options = {name: v.item() if isinstance(v, np.generic) else v for name, v in options.items()}
    keys, values = _table("keys", keys), _table("values", values)
    facts = _facts(keys, values, map)
    if width is not None:
        width = whole_number("width", width)
        if width > LARGEST_WIDTH:
            raise HebbcheckError(
                f"width={width} is out of range; at most {LARGEST_WIDTH} fits an array; try a smaller one"
            )
    seed = whole_number("seed", seed, least=0)
    with room_for(f"building {name!r} of width {width} for {facts.F} facts", "a smaller width"):
        made = construction.construct(facts, width=width, seed=seed, **options)
        held = _held_like(keys, made, name)
    settings = {
        "construction": name,
        "width": made.width,
        "seed": seed,
        **construction.options(),
        **options,
        **made.settings,
    }
    return replace(held, settings=settings)


def _held_like(keys: Any, made: GatedMLP, name: str) -> GatedMLP:
    """The memory in the keys' library and dtype, where its parameters fit into that."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        held = made.alike(keys)
    xp = array_api_compat.array_namespace(keys)
    for role, part in held.parameters.items():
        vanished = not bool(xp.any(part != 0)) and bool(np.any(to_host(made.parameters[role]) != 0))
        if vanished or not bool(xp.all(xp.isfinite(part))):
            raise HebbcheckError(
                f"building {name!r} of width {made.width} gave a matrix {role} whose entries are not finite or vanish "
                f"in {part.dtype}; keys and values of ordinary size are needed; try dividing them by their largest norm"
            )
    return held


@contextmanager
def room_for(work: str, remedy: str) -> Iterator[None]:
    """Where memory runs out, on the host or a device, one line says in which work."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "memory" in str(error):
            raise HebbcheckError(f"{work} ran out of memory; more of it is needed; try {remedy}") from error
        raise


def found(known: dict[str, Construction], name: str) -> Construction:
    """The construction of this name."""
    if not isinstance(name, str) or name not in known:
        hint = nearest(str(name), known) or f"choose one of {', '.join(sorted(known))}"
        raise HebbcheckError(f"no construction is called {name!r}; {hint}")
    return known[name]


def fact_table(keys: Any, values: Any, map: Any = None) -> FactTable:
    """Facts as `memories.build` takes them, checked."""
    return _facts(_table("keys", keys), _table("values", values), map)


def needed_width(name: str, width: int | None) -> int:
    """The width of a construction that has no width of its own."""
    if width is None:
        raise HebbcheckError(f"{name!r} has any width; one is needed; try width=64")
    return width


def one_of(option: str, value: Any, allowed: Iterable[Any]) -> Any:
    """The value of an option, where it is one of those allowed."""
    allowed = list(allowed)
    if not isinstance(value, str) or value not in allowed:
        said = " or ".join(repr(choice) for choice in allowed)
        raise HebbcheckError(f"{option}={value!r} is unknown; {said} is needed; try {option}={allowed[0]!r}")
    return value


def _unknown_option(name: str, option: str, allowed: dict[str, Any]) -> str:
    there = f"it has {', '.join(allowed)}" if allowed else "it has none"
    return f"{name!r} has no option {option!r}; {nearest(option, allowed) or there}"


def _repeated(rows: np.ndarray) -> Iterator[tuple[int, int]]:
    """Pairs of equal rows: each row that has come before, with the first one like it."""
    seen: dict[bytes, int] = {}
    for j, row in enumerate(rows + 0.0):  # -0.0 equals 0.0
        i = seen.setdefault(row.tobytes(), j)
        if i != j:
            yield i, j


def _table(role: str, given: Any) -> Any:
    """A matrix of finite floats (float64 or float32) without zero rows, in the library that it came in."""
    if not array_api_compat.is_array_api_obj(given):
        try:
            given = np.asarray(given)
        except ValueError:
            raise HebbcheckError(
                f"the {role} are no matrix; one vector a row is needed; check their lengths"
            ) from None
    if np.ma.is_masked(given) or getattr(given, "is_sparse", False) or getattr(given, "is_meta", False):
        raise HebbcheckError(
            f"the {role} have entries without a value; a plain array is needed; fill them in"
        )
    xp = array_api_compat.array_namespace(given)
    if given.ndim != 2 or 0 in given.shape:
        raise HebbcheckError(
            f"the {role} have shape {tuple(given.shape)}; a matrix with one vector a row is needed; check it"
        )
    if xp.isdtype(given.dtype, "integral"):
        given = xp.astype(given, xp.float64)
    if given.dtype not in (xp.float64, xp.float32):
        raise HebbcheckError(
            f"the {role} have dtype {given.dtype}; float64 or float32 is needed; try converting them to float32"
        )
    if not bool(xp.all(xp.isfinite(given))):
        raise HebbcheckError(
            f"the {role} have NaN or infinite entries; finite numbers are needed; drop those rows"
        )
    zero = ~xp.any(given != 0, axis=1)
    if bool(xp.any(zero)):
        first = int(xp.argmax(xp.astype(zero, xp.int64)))
        raise HebbcheckError(f"row {first} of the {role} is zero; no zero row can store a fact; drop it")
    return given


def _facts(keys: Any, values: Any, map: Any) -> FactTable:
    kinds = [array_api_compat.array_namespace(part).__name__ for part in (keys, values)]
    if kinds[0] != kinds[1] or array_api_compat.device(keys) != array_api_compat.device(values):
        raise HebbcheckError(
            f"the keys are of {kinds[0]} on {array_api_compat.device(keys)}, the values of {kinds[1]} on "
            f"{array_api_compat.device(values)}; one library and device is needed; convert one of them"
        )
    mapping = host_map(map, keys.shape[0], values.shape[0])
    return FactTable(_double(keys), _double(values), mapping)


def _double(table: Any) -> Any:
    xp = array_api_compat.array_namespace(table)
    if array_api_compat.is_torch_array(table):
        table = table.detach()
    return xp.astype(table, xp.float64)
