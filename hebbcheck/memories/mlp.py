"""Every finite construction ends as one object: a gated MLP with plain parameters (equation 4)."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import array_api_compat
import numpy as np

from .. import decoding
from ..arrays import alike, to_host
from ..checks import finite_matrix, index_map
from ..errors import HebbcheckError


def _relu(t: Any) -> Any:
    xp = array_api_compat.array_namespace(t)
    return xp.where(t > 0, t, xp.zeros_like(t))


def _swish(t: Any) -> Any:
    return t * (1 + array_api_compat.array_namespace(t).tanh(t / 2)) / 2


GATES: dict[str, Callable[[Any], Any]] = {"identity": lambda t: t, "relu": _relu, "swish": _swish}
BIASES = {"a": "A", "g": "G", "b": "B"}


@dataclass(frozen=True, eq=False, repr=False)
class GatedMLP:
    """x -> B (act(A x + a) * (G x + g)) + b.

    A, G: m x d; B: d_v x m; a, g: (m,) or None; b: (d_v,) or None; `gate` names act: "identity", "relu" or "swish"
    (x times its sigmoid).  `settings` say how it was made, as JSON values.
    """

    A: Any
    G: Any
    B: Any
    a: Any = None
    g: Any = None
    b: Any = None
    gate: str = "identity"
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.gate not in GATES:
            raise HebbcheckError(f"gate={self.gate!r} is unknown; one of {', '.join(GATES)} is needed")
        _check_alike([self.A, self.G, self.B, *self.parameters.values()])
        shapes = {name: tuple(part.shape) for name, part in self.parameters.items()}
        A, B = shapes["A"], shapes["B"]
        fit = len(A) == len(B) == 2 and min(*A, *B) > 0 and shapes["G"] == A and B[1] == A[0]
        if not fit or any(shapes[name] != shapes[of][:1] for name, of in BIASES.items() if name in shapes):
            said = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
            raise HebbcheckError(
                f"the parameters have shapes {said}; A and G of m x d, B of d_v x m and biases of m, m and d_v "
                "are needed; check their shapes"
            )

    def __repr__(self) -> str:
        made = self.settings.get("construction", self.gate)
        return f"GatedMLP({made}, d={self.A.shape[1]}, m={self.width}, d_v={self.B.shape[0]})"

    @property
    def parameters(self) -> dict[str, Any]:
        """The arrays that there are, by name: A, G, B, then biases."""
        given = {name: getattr(self, name) for name in ("A", "G", "B", *BIASES)}
        return {name: part for name, part in given.items() if part is not None}

    @property
    def width(self) -> int:
        """m, the number of hidden units."""
        return int(self.A.shape[0])

    @property
    def parameter_count(self) -> int:
        """The number of scalars: 3 m d without biases where d_v = d."""
        return sum(int(np.prod(tuple(part.shape))) for part in self.parameters.values())

    def hidden(self, queries: Any) -> Any:
        """act(A x + a) * (G x + g) for queries (N x d): N x m, in the queries' array library, dtype and device."""
        queries = self._queries(queries)
        theta = self._beside(queries)
        return _gated(queries, theta, self.gate)

    def __call__(self, queries: Any) -> Any:
        """The outputs at queries (N x d): N x d_v, in the queries' array library, dtype and device."""
        queries = self._queries(queries)
        theta = self._beside(queries)
        outputs = _gated(queries, theta, self.gate) @ theta["B"].T
        return outputs + theta["b"] if "b" in theta else outputs

    def margins(self, keys: Any, values: Any, map: Any = None) -> Any:
        """F x (|V| - 1): how far each key's own value is ahead of each competitor j != f(i), j increasing.

        keys F x d, values |V| x d_v, map (F,), the identity where it is left out (Definition 2.2).
        """
        return decoding.margins(*self._decoded(keys, values, map))

    def stores(self, keys: Any, values: Any, map: Any = None) -> bool:
        """Whether all margins are positive (Definition 2.1)."""
        outputs, values, mapping = self._decoded(keys, values, map)
        return decoding.stored(outputs, values, mapping) == len(mapping)

    def accuracy(self, keys: Any, values: Any, map: Any = None) -> float:
        """The share of the facts that are decoded strictly: ties are not."""
        outputs, values, mapping = self._decoded(keys, values, map)
        return decoding.stored(outputs, values, mapping) / len(mapping)

    def alike(self, model: Any) -> GatedMLP:
        """The same memory with its parameters in a model array's library and dtype, on its device."""
        return replace(self, **{name: alike(part, model) for name, part in self.parameters.items()})

    @property
    def digest(self) -> str:
        """Names gate and parameters, these as float32 has them: memories that differ have different ones."""
        state = hashlib.blake2b(self.gate.encode(), digest_size=16)
        for name, part in self.parameters.items():
            held = np.ascontiguousarray(to_host(part), dtype=np.float32)
            state.update(f" {name} {held.shape} ".encode() + held.tobytes())
        return state.hexdigest()

    def save(self, path: str | Path) -> None:
        """Writes a safetensors file, with gate and settings as its metadata; `memories.load` reads it."""
        from .files import save

        save(self, path)

    def module(self) -> Any:
        """A torch.nn.Module with these parameters as torch Parameters; `memories.from_module` leads back."""
        return torched("module", "a torch module").Module(self)

    def _queries(self, queries: Any) -> Any:
        if not array_api_compat.is_array_api_obj(queries):
            queries = finite_matrix("queries", queries)
        xp, d = array_api_compat.array_namespace(queries), self.A.shape[1]
        if xp.isdtype(queries.dtype, "integral"):
            queries = xp.astype(queries, xp.float64)
        if queries.ndim != 2 or queries.shape[1] != d or not xp.isdtype(queries.dtype, "real floating"):
            raise HebbcheckError(
                f"the queries have shape {tuple(queries.shape)} and dtype {queries.dtype}; N x {d} floats are needed; "
                "try one query a row"
            )
        return queries

    def _beside(self, queries: Any) -> dict[str, Any]:
        """The parameters in the queries' library, dtype and device."""
        if _place(self.A) == _place(queries):
            return self.parameters
        return {name: alike(part, queries) for name, part in self.parameters.items()}

    def _decoded(self, keys: Any, values: Any, map: Any) -> tuple[Any, Any, np.ndarray]:
        outputs = self(keys)
        if not array_api_compat.is_array_api_obj(values):
            values = finite_matrix("values", values)
        if not outputs.shape[0]:
            raise HebbcheckError("there are no keys; at least one is needed; check the table")
        xp = array_api_compat.array_namespace(values)
        if not xp.isdtype(values.dtype, ("real floating", "integral")):
            raise HebbcheckError(f"the values have dtype {values.dtype}; floats are needed; convert them")
        values = alike(values, outputs)
        xp = array_api_compat.array_namespace(values)
        if not bool(xp.all(xp.isfinite(values))):
            raise HebbcheckError(
                "the values have NaN or infinite entries; finite numbers are needed; drop those rows"
            )
        if values.ndim != 2 or values.shape[1] != outputs.shape[1]:
            raise HebbcheckError(
                f"the values have shape {tuple(values.shape)}; |V| x {outputs.shape[1]} is needed; check them"
            )
        return outputs, values, host_map(map, outputs.shape[0], values.shape[0])


def host_map(map: Any, F: int, count: int) -> np.ndarray:
    """A checked map of any library, or the identity: (F,) int64 on the host."""
    try:
        held = None if map is None else to_host(map)
    except ValueError:
        raise HebbcheckError(
            f"map is no array of numbers; {F} whole numbers are needed; try a flat list"
        ) from None
    return index_map(held, F, count)


def _check_alike(parts: list[Any]) -> None:
    """Parameters are arrays of one kind."""
    strangers = [part for part in parts if not array_api_compat.is_array_api_obj(part)]
    kinds = {_kind(part) for part in parts if not strangers}
    if strangers or len(kinds) > 1:
        seen = type(strangers[0]).__name__ if strangers else " and ".join(sorted(kinds))
        raise HebbcheckError(
            f"the parameters are of {seen}; arrays of one library, dtype and device are needed; convert them"
        )


def _kind(array: Any) -> str:
    library = array_api_compat.array_namespace(array).__name__.split(".")[-1]
    return f"{library} {array.dtype} on {array_api_compat.device(array)}"


def _place(array: Any) -> tuple[type, str, str]:
    return type(array), str(array.dtype), str(array_api_compat.device(array))


def _gated(queries: Any, theta: dict[str, Any], gate: str) -> Any:
    first, second = queries @ theta["A"].T, queries @ theta["G"].T
    if "a" in theta:
        first = first + theta["a"]
    if "g" in theta:
        second = second + theta["g"]
    return GATES[gate](first) * second


def from_module(module: Any) -> GatedMLP:
    """The memory that a module made by `GatedMLP.module` is now: torch tensors, independent of the module's."""
    known = torched("module", "a torch module").Module
    module = getattr(module, "_orig_mod", module)  # what torch.compile wraps
    if not isinstance(module, known):
        raise HebbcheckError(
            f"a {type(module).__name__} is no module of a memory; one made by GatedMLP.module() is needed"
        )
    return module.memory()


def torched(name: str, what: str) -> Any:
    """A module of `hebbcheck.torched`, which needs torch."""
    try:
        importlib.import_module("torch")
    except ImportError:
        raise HebbcheckError(f"{what} needs torch, which is not installed; try pip install torch") from None
    return importlib.import_module(f"hebbcheck.torched.{name}")
