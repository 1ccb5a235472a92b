"""The view of one figure: its charts, its table of answers, its numbers."""

from __future__ import annotations

from typing import Any

from . import charts, numbers
from .claims import provenance
from .outcomes import Record


def figure_view(record: Record) -> dict[str, Any]:
    table = record.get("table") or {"columns": [], "rows": []}
    return {
        "id": record["id"],
        "title": record.get("title") or record["id"],
        "source": record.get("source") or "",
        "caption": record.get("caption") or "",
        "charts": [
            {
                "title": chart.get("title") or "",
                "description": chart.get("description") or "",
                "data": charts.figure_chart(chart),
            }
            for chart in record.get("charts") or []
        ],
        "columns": [
            _column(name, [row[k] for row in table["rows"]]) for k, name in enumerate(table["columns"])
        ],
        "rows": [[numbers.number(value) for value in row] for row in table["rows"]],
        "attributes": [(name, _listed(value)) for name, value in (record.get("attributes") or {}).items()],
        "notes": record.get("notes") or [],
        "command": record.get("command") or "",
        "provenance": provenance(record),
    }


def _column(name: str, values: list[Any]) -> dict[str, Any]:
    numeric = any(isinstance(value, int | float) for value in values)
    return {"text": name, "numeric": numeric and not any(isinstance(value, str) for value in values)}


def _listed(value: Any) -> str:
    """A number, or a list as its median and range (its values are in the store)."""
    if not isinstance(value, list):
        return numbers.number(value)
    known = sorted(v for v in value if isinstance(v, int | float))
    if not known:
        return numbers.MISSING
    middle = (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2
    span = f"{numbers.number(known[0])} to {numbers.number(known[-1])}"
    return f"median {numbers.number(middle)} of {len(value)} ({span})"
