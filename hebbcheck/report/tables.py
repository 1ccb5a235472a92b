"""A chart's data as compact tables, {"columns", "rows"}: a third of the size of a list of records."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..verdict import strict_json

DIGITS = 5


def table(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The records under the columns that any of them has; floats to a few digits."""
    records = list(records)
    columns = list(dict.fromkeys(key for record in records for key in record))
    return {"columns": columns, "rows": [[_short(record.get(c)) for c in columns] for record in records]}


def _short(value: Any) -> Any:
    """Whole numbers that a browser cannot hold exactly become text."""
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    return strict_json(value)


def pack(spec: Mapping[str, Any]) -> dict[str, Any]:
    """{"spec", "tables"} of a Vega-Lite specification: each inline list of records moved out, once."""
    tables = {name: table(rows) for name, rows in spec.get("datasets", {}).items()}
    names: dict[str, str] = {}

    def without_data(node: Any, key: str = "") -> Any:
        if isinstance(node, list):
            return [without_data(child) for child in node]
        if not isinstance(node, dict):
            return node
        if key == "data" and _is_records(node.get("values")):
            text = json.dumps(node["values"], sort_keys=True)
            name = names.setdefault(text, f"table{len(tables)}")
            tables.setdefault(name, table(node["values"]))
            return {**{k: v for k, v in node.items() if k != "values"}, "name": name}
        return {k: without_data(v, k) for k, v in node.items()}

    bare = without_data({k: v for k, v in spec.items() if k != "datasets"})
    return {"spec": bare, "tables": tables}


def _is_records(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(v, dict) for v in values)
