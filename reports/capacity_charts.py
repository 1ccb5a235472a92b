"""The chart of parameters against facts: a curve a method, and bounds; colours are left to the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Point:
    """The parameters W of a method at d and F over `seeds` searches, `lost` of which found no width."""

    method: str
    d: int
    F: int
    W: float
    low: float
    high: float
    seeds: int
    lost: int


def chart(
    *,
    title: str,
    description: str,
    points: Sequence[Point],
    lines: Sequence[tuple[str, np.ndarray, np.ndarray]],
    measure: str = "parameters W",
) -> dict[str, Any]:
    """{"title", "description", "spec"}: a Vega-Lite specification with its data inside."""
    import altair as alt  # takes a second to import, and cells are measured without it

    names = list(dict.fromkeys([*(p.method for p in points), *(name for name, _, _ in lines)]))
    scale = alt.Scale(type="log", nice=False)
    across = alt.X("F:Q", title="facts F", scale=scale)
    colour = alt.Color("curve:N", title=None, scale=alt.Scale(domain=names))
    up = alt.Y("W:Q", title=measure, scale=scale)
    shape = alt.Shape("d:N", title="d") if len({p.d for p in points}) > 1 else alt.Undefined
    shown = [
        alt.Tooltip(f"{name}:{kind}", title=said)
        for name, kind, said in (
            ("curve", "N", "method"),
            ("cell", "N", "cell"),
            ("W", "Q", f"{measure}, median"),
            ("low", "Q", "least"),
            ("high", "Q", "most"),
            ("lost", "Q", "seeds without a width"),
        )
    ]
    measured = alt.Chart(alt.NamedData("points")).encode(x=across, color=colour, tooltip=shown)
    bars = measured.mark_rule().encode(y=alt.Y("low:Q", title=measure, scale=scale), y2="high:Q")
    joined = measured.mark_line().encode(y=up, detail="d:N")
    dots = measured.mark_point(size=36).encode(
        y=up, shape=shape, fillOpacity=alt.FillOpacity("solid:Q", legend=None, scale=None)
    )
    bounds = (
        alt.Chart(alt.NamedData("bounds"))
        .mark_line(strokeDash=[6, 3])
        .encode(x=across, y=up, color=colour, tooltip=["curve:N", "F:Q", "W:Q"])
    )
    spec = alt.layer(joined, bars, dots, bounds).to_dict()
    spec["datasets"] = {
        "points": [_row(p) for p in points],
        "bounds": [
            {"curve": name, "F": float(F), "W": float(W)}
            for name, xs, ys in lines
            for F, W in zip(xs, ys, strict=True)
        ],
    }
    del spec["config"]
    return {"title": title, "description": description, "spec": spec}


def _row(p: Point) -> dict[str, Any]:
    row = asdict(p)
    row["curve"] = row.pop("method")
    return row | {"cell": f"F = {p.F}, d = {p.d}, {p.seeds} seeds", "solid": int(2 * p.lost < p.seeds)}


def forecasts(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Widths against their forecasts, with the line where they agree; {"title", "description", "spec"}."""
    import altair as alt

    scale = alt.Scale(type="log", nice=False)
    across = alt.X("forecast:Q", title="width forecast", scale=scale)
    up = alt.Y("width:Q", title="smallest width m", scale=scale)
    shown = ["shape:N", "F:Q", "seed:N", "forecast:Q", "width:Q"]
    dots = (
        alt.Chart(alt.NamedData("points"))
        .mark_point(filled=True, size=30)
        .encode(x=across, y=up, color=alt.Color("shape:N", title=None), tooltip=shown)
    )
    line = alt.Chart(alt.NamedData("line")).mark_line(strokeDash=[6, 3]).encode(x=across, y=up)
    spec = alt.layer(line, dots).to_dict()
    ends = [float(f(r["forecast"] for r in records)) for f in (min, max)]
    spec["datasets"] = {
        "points": [{name: r[name] for name in ("shape", "F", "seed", "forecast", "width")} for r in records],
        "line": [{"forecast": end, "width": end} for end in ends],
    }
    del spec["config"]
    return {
        "title": "Smallest widths and their forecasts",
        "description": "The smallest width of the unwhitened memory against the width that was forecast for it from "
        "keys and values, one point a set of facts; on the dashed line they agree.",
        "spec": spec,
    }
