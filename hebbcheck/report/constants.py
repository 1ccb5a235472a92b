"""The view of the constants that claims leave open: how large, whether they grow, and what is known of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..order import explicit_siblings, natural
from ..verdict import Outcome
from . import numbers
from .address import claim_anchor
from .errata import statement
from .outcomes import Record

SIZES = ("F", "d", "m", "L")
"""Sizes with a column of their own; L is that of falling failure probabilities."""


def constants_view(verdicts: Sequence[Record]) -> dict[str, Any] | None:
    """The claims with constants that were measured, and those that speak of no size within reach; None without any."""
    known = {record["id"]: record for record in verdicts}
    ordered = [known[id] for id in sorted(known, key=natural)]
    rows = [_row(record, known) for record in ordered if record.get("constants")]
    beyond = [_beyond(record) for record in ordered if record["verdict"] == Outcome.VACUOUS]
    if not rows and not beyond:
        return None
    return {"rows": rows, "beyond": beyond, "sizes": SIZES}


def _row(record: Record, known: Mapping[str, Record]) -> dict[str, Any]:
    exponents = record.get("exponents") or {}
    named = [(name, _exponent(e)) for name, e in exponents.items() if name not in SIZES]
    siblings = [known[id] for id in explicit_siblings(record["id"], known)]
    return {
        **statement(record),
        "constants": _grouped(record["constants"]),
        "exponents": [_exponent(exponents.get(size)) for size in SIZES],
        "others": named,
        "known": [statement(sibling) for sibling in siblings],
        "tightness": _tightness([record, *siblings]),
    }


def _grouped(constants: Mapping[str, Record]) -> list[dict[str, str]]:
    """Constants of one value share a line: C1 = C2 = 3.84 [3.47, 3.88]."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, estimate in constants.items():
        key = (numbers.number(estimate.get("value"), 3), numbers.interval(estimate, 3))
        groups.setdefault(key, []).append(name)
    return [
        {"names": " = ".join(names), "value": value, "interval": interval}
        for (value, interval), names in groups.items()
    ]


def _exponent(estimate: Record | None) -> dict[str, str] | None:
    """To a hundredth, as a reader compares them, or to a thousandth where the interval is as narrow."""
    if estimate is None:
        return None
    low, high = estimate.get("low"), estimate.get("high")
    digits = 3 if low is not None and high is not None and high - low < 0.02 else 2
    rounded = {key: _rounded(estimate.get(key), digits) for key in ("value", "low", "high")}
    return {"value": numbers.number(rounded["value"]), "interval": numbers.interval(rounded)}


def _rounded(value: Any, digits: int) -> Any:
    return round(value, digits) + 0.0 if isinstance(value, float) and math.isfinite(value) else value


def _tightness(records: Sequence[Record]) -> list[dict[str, str]]:
    """The smallest relative slack of the claim, or of those that say it with constants."""
    found = [(r["id"], (r.get("tightness") or {}).get("ratio")) for r in records]
    return [{"id": id, "ratio": numbers.number(ratio, 3)} for id, ratio in found if ratio is not None]


def _beyond(record: Record) -> dict[str, Any]:
    sizes = record.get("smallest_sizes") or {}
    return {
        "id": record["id"],
        "anchor": claim_anchor(record["id"]),
        "title": record.get("title") or "",
        "assumptions": list(record.get("assumptions") or {}),
        "sizes": [(name, numbers.size(value)) for name, value in sizes.items()],
        "reason": record["reason"],
    }
