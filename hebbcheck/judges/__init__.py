"""One judge a quantifier.  A module here with a `QUANTIFIER` and a `judge` is found by itself.

A judge is a generator: it yields lists of tasks (the cells that it needs), is sent the lists of their results, and
returns a `Finding`.  Its cells are pure functions of the claim, the settings and their parameters.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from ..verdict import Quantifier


@cache
def _judges() -> dict[Quantifier, Any]:
    modules = [importlib.import_module(f"{__name__}.{info.name}") for info in pkgutil.iter_modules(__path__)]
    return {m.QUANTIFIER: m.judge for m in modules if hasattr(m, "QUANTIFIER")}


def judge_of(quantifier: Quantifier) -> Any:
    """The judge of claims with this quantifier."""
    return _judges()[quantifier]
