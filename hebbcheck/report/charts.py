"""The charts, as Vega-Lite specifications without colours of their own (the page's style sheet has them)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from ..verdict import Quantifier, strict_json
from .outcomes import Record
from .tables import pack, table

Chart = dict[str, Any]

HEIGHT = 300
LOG: Chart = {"type": "log", "nice": False, "padding": 8}
LINEAR: Chart = {"zero": False, "nice": False, "padding": 8}
GUIDE: Chart = {"strokeDash": [5, 4], "style": "guide"}
DOTS: Chart = {"type": "point", "filled": True, "size": 42}
COMPOSED = {"facet", "hconcat", "vconcat", "concat", "repeat"}


def figure_chart(chart: Record) -> Chart:
    """A figure's chart, made as wide as its place unless it is composed of several; {"spec", "tables"}."""
    spec = dict(strict_json(chart["spec"]))
    if not COMPOSED & spec.keys():
        spec["width"] = "container"
        spec.setdefault("height", HEIGHT)
    spec.setdefault("description", chart.get("description") or chart.get("title") or "")
    return pack(spec)


def claim_chart(record: Record) -> Chart | None:
    """The chart of a claim's points, {"spec", "tables", "title", "caption"}; None where there is none to draw."""
    given = record.get("points") or []
    if record["quantifier"] == Quantifier.CONSTANTS:
        points = [
            {**p, "size": _size(p)} for p in given if _positive(_size(p)) and _positive(p.get("needed"))
        ]
        drawn = _constants(record, points) if points else None
    else:
        points = [p for p in given if _finite(p.get("measured")) and _finite(p.get("bound"))]
        drawn = _scatter(record, points) if points else None
    if drawn is not None and len(points) < len(given):
        drawn["caption"] += f" {len(given) - len(points)} without a place on these axes are left out."
    return drawn


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _positive(value: Any) -> bool:
    return _finite(value) and value > 0


def _size(point: Record) -> Any:
    """Where a point stands on its ladder: a number, or the size that it names, and delta as 1/delta."""
    size = point.get("size")
    value: Any = point.get(size) if isinstance(size, str) else size
    return 1 / value if size == "delta" and _positive(value) else value


def _whole(description: str, layers: list[Chart], **more: Any) -> Chart:
    base = {"width": "container", "height": HEIGHT, "description": description, "data": {"name": "points"}}
    return {**base, **more, "layer": layers}


def _cells(
    record: Record, points: Sequence[Record], plotted: Mapping[str, str]
) -> tuple[Chart, list[dict[str, Any]]]:
    """A table of the points under short column names, and the tooltip that shows all under their own names.

    A point without a seed of its own has the run's.
    """
    others = dict.fromkeys(key for p in points for key in p if key not in plotted and key != "seed")
    columns = {**plotted, **{key: f"c{i}" for i, key in enumerate(others)}, "seed": "seed"}
    rows = ({"seed": record.get("seed"), **point} for point in points)
    cells = table({column: row.get(key) for key, column in columns.items()} for row in rows)
    return cells, [{"field": column, "title": key} for key, column in columns.items()]


def _scale(values: Sequence[float]) -> Chart:
    """Linear, unless the values span more than that shows."""
    sizes = sorted(abs(v) for v in values if v)
    if not sizes or sizes[-1] < 50 * sizes[0]:
        return LINEAR
    if min(values) > 0:
        return LOG
    if sizes[-1] < 50 * statistics.median(sizes):
        return LINEAR
    return {**LINEAR, "type": "symlog", "constant": sizes[len(sizes) // 4]}


def _axis(field: str, title: str, scale: Chart, values: Sequence[float]) -> Chart:
    """Few ticks; where the scale is logarithmic over several decades, at zero and powers of ten alone."""
    low, high = min(values), max(values)
    ticks: Chart = {"tickCount": 6}
    if scale.get("type") == "log" and high >= 100 * low:
        ticks = {"values": _powers(low, high, 8)}
    elif scale.get("type") == "symlog":
        powers = _powers(scale["constant"], max(high, -low), 4)
        ticks = {"values": [t for t in (*(-p for p in reversed(powers)), 0.0, *powers) if low <= t <= high]}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": ticks}


def _powers(low: float, high: float, most: int) -> list[float]:
    """At most so many powers of ten, evenly spaced, the largest one included."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    step = 1 + (last - first) // most
    return [10.0**k for k in range(last, first - 1, -step)][::-1]


def _scatter(record: Record, points: Sequence[Record]) -> Chart:
    """Measured against bound, with the line on which they are equal (for a rate: proportional)."""
    rate = record["quantifier"] == Quantifier.RATE
    bound = "prediction" if rate else "bound"
    cells, tooltip = _cells(record, points, {"measured": "y", "bound": "x"})
    values = [p[key] for p in points for key in ("measured", "bound")]
    scale = _scale(values)
    line = {"data": {"name": "line"}, "mark": {"type": "line", **GUIDE}}
    dots = {"mark": {**DOTS, "opacity": 0.65}, "encoding": {"tooltip": tooltip}}
    axes = {"x": _axis("x", bound, scale, values), "y": _axis("y", "measured", scale, values)}
    return {
        "spec": _whole(f"Measured against {bound}, {len(points)} points", [line, dots], encoding=axes),
        "tables": {"points": cells, "line": table(_line(points, values, rate))},
        "title": f"Measured against {bound}",
        "caption": RATE_CAPTION if rate else _sides(points),
    }


RATE_CAPTION = "The dashed line has slope one: along it the ratio of measured to predicted keeps its median."


def _line(points: Sequence[Record], values: Sequence[float], rate: bool) -> list[dict[str, float]]:
    if not rate:
        return [{"x": v, "y": v} for v in (min(values), max(values))]
    ratios = [p["measured"] / p["bound"] for p in points if p["bound"]]
    ratio = statistics.median(ratios) if ratios else 1.0
    bounds = [p["bound"] for p in points]
    return [{"x": v, "y": ratio * v} for v in (min(bounds), max(bounds))]


def _sides(points: Sequence[Record]) -> str:
    above = sum(p["measured"] > p["bound"] for p in points)
    below = sum(p["measured"] < p["bound"] for p in points)
    counts = {"above": above, "on": len(points) - above - below, "below": below}
    parts = [f"{count} {where} it" for where, count in counts.items() if count]
    return f"On the dashed line measured equals bound; {', '.join(parts)}."


def _constants(record: Record, points: Sequence[Record]) -> Chart:
    """The constant that each cell needs against its size, a line for each ladder, both axes logarithmic."""
    cells, tooltip = _cells(record, points, {"ladder": "ladder", "size": "x", "needed": "y"})
    tables = {"points": cells}
    ladders = sorted({str(p.get("ladder")) for p in points})
    legend = {"columns": max(1, 72 // (max(map(len, ladders)) + 6)), "labelLimit": 0, "symbolLimit": 0}
    ladder = {
        "field": "ladder",
        "type": "nominal",
        "title": None,
        "scale": {"domain": ladders},
        "legend": legend,
    }
    size = _axis("x", "size that grows (1/delta for a probability)", LOG, [p["size"] for p in points])
    needed = _axis("y", "constant needed", LOG, [p["needed"] for p in points])
    line = {"mark": {"type": "line"}, "encoding": {"y": {**needed, "aggregate": "median"}}}
    dots = {
        "mark": DOTS,
        "encoding": {"y": needed, "shape": ladder, "tooltip": tooltip},
        "params": [
            {"name": "chosen", "select": {"type": "point", "fields": ["ladder"]}, "bind": "legend"},
        ],
    }
    opacity = {"condition": {"param": "chosen", "value": 0.9}, "value": 0.12}
    layers: list[Chart] = [
        {"encoding": {"x": size, "color": ladder, "opacity": opacity}, "layer": [line, dots]}
    ]
    caption = (
        "A line is a ladder of sizes; a constant exists if none keeps rising. Choose a ladder in the legend."
    )
    common = _common_constant(record)
    if common is not None:
        tables["common"] = table([{"y": common}])
        rule: Chart = {"type": "rule", **GUIDE}
        layers.insert(0, {"data": {"name": "common"}, "mark": rule, "encoding": {"y": needed}})
        caption += " Dashed: the common constant."
    description = f"The constant that each cell needs, {len(points)} points on {len(ladders)} ladders"
    return {
        "spec": _whole(description, layers),
        "tables": tables,
        "title": "Constant needed",
        "caption": caption,
    }


def _common_constant(record: Record) -> float | None:
    values = {constant.get("value") for constant in (record.get("constants") or {}).values()}
    value = values.pop() if len(values) == 1 else None
    return value if _positive(value) else None
