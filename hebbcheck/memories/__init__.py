"""The constructions: what a fact-storing MLP's kernel is.  A module here that defines a `Memory` is found by itself."""

from __future__ import annotations

import importlib
import pkgutil

from ..errors import HebbcheckError
from .base import Memory

_known: dict[str, Memory] = {}


def named(name: str) -> Memory:
    """The memory of this name.  Raises HebbcheckError for an unknown one."""
    if not _known:
        for info in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{info.name}")
        _known.update({kind.name: kind() for kind in _subclasses(Memory) if kind.name})
    if name not in _known:
        raise HebbcheckError(f"memory {name!r} is unknown; choose one of {', '.join(sorted(_known))}")
    return _known[name]


def _subclasses(kind: type[Memory]) -> list[type[Memory]]:
    return [c for direct in kind.__subclasses__() for c in (direct, *_subclasses(direct))]


__all__ = ["Memory", "named"]
