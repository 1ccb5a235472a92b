"""hebbcheck: a referee for theory."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .claim import at_least, at_most, claim, equal, mean, scales_as
from .errors import HebbcheckError

if TYPE_CHECKING:
    from . import geometry, memories
    from .functions import abs, exp, log, max, min, solve, sqrt, sum, trace

__version__ = "0.1.0"

__all__ = [
    "HebbcheckError",
    "abs",
    "at_least",
    "at_most",
    "claim",
    "equal",
    "exp",
    "geometry",
    "log",
    "max",
    "mean",
    "memories",
    "min",
    "scales_as",
    "solve",
    "sqrt",
    "sum",
    "trace",
]


def __getattr__(name: str) -> Any:
    """What imports numpy comes when it is asked for: pytest loads this package in every project."""
    if name in ("geometry", "memories"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in __all__:
        return getattr(importlib.import_module(f"{__name__}.functions"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
