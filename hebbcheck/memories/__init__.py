"""The constructions of fact-storing memories, as gated MLPs that one builds and as the kernels of instances.

A module here that defines a `Memory` (the kernel of an instance) or a `Construction` (a way to build an MLP from facts)
is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from ..errors import HebbcheckError
from . import construction
from .base import Memory
from .construction import Construction
from .files import load
from .mlp import GatedMLP, from_module


def named(name: str) -> Memory:
    """The memory of this name.  Raises HebbcheckError for an unknown one, and for a construction that has no kernel."""
    known = _found(Memory)
    if name in known:
        return known[name]
    other = _found(Construction).get(name)
    if other is not None and other.no_kernel:
        raise HebbcheckError(f"{name!r} is no memory of an instance: {other.no_kernel}")
    raise HebbcheckError(f"memory {name!r} is unknown; choose one of {', '.join(sorted(known))}")


def build(
    name: str,
    keys: Any,
    values: Any,
    map: Any = None,
    *,
    width: int | None = None,
    seed: int = 0,
    **options: Any,
) -> GatedMLP:
    """A gated MLP that stores facts, by a construction of the paper's.

    keys F x d, values |V| x d_v, map (F,) whole numbers (left out: fact i has value i): numpy arrays or torch tensors,
    float64 or float32; the memory is computed in float64 on their device and comes in their library and dtype.
    `width`: m, the number of hidden units; the rows of a smaller width's A and G are the first of a larger one's.
    `constructions()` lists the names, and what else each takes.

    Raises HebbcheckError for unusable facts, names and options, and where memory runs out.
    """
    return construction.build(_found(Construction), name, keys, values, map, width, seed, options)


def construction_named(name: str) -> Construction:
    """The construction of this name.  Raises HebbcheckError for an unknown one."""
    return construction.found(_found(Construction), name)


def constructions() -> dict[str, dict[str, Any]]:
    """What `build` knows: the options of each construction, with their defaults."""
    return {name: made.options() for name, made in sorted(_found(Construction).items())}


@cache
def _found(kind: Any) -> dict[str, Any]:
    for info in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{info.name}")
    return {made.name: made() for made in _subclasses(kind) if made.name}


def _subclasses(kind: Any) -> list[Any]:
    return [c for direct in kind.__subclasses__() for c in (direct, *_subclasses(direct))]


__all__ = [
    "Construction",
    "GatedMLP",
    "Memory",
    "build",
    "construction_named",
    "constructions",
    "from_module",
    "load",
    "named",
]
