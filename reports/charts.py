"""Charts of a sweep: measured points with bars, and curves; their colours are left to the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DASHES = ([1, 0], [1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4])


@dataclass(frozen=True)
class Series:
    """A named curve over the points; `spread`: half the length of its bars."""

    name: str
    y: np.ndarray
    spread: np.ndarray | None = None


def chart(
    *,
    title: str,
    description: str,
    x: tuple[str, np.ndarray],
    logarithmic: bool,
    y: str,
    measured: Series,
    curves: Sequence[Series],
    tooltip: Mapping[str, np.ndarray],
    cells: Sequence[str],
    seeds: str,
) -> dict[str, Any]:
    """{"title", "description", "spec"}: a Vega-Lite specification with its data inside.

    `tooltip`: values of each point; `cells`: its sizes in words; `seeds`: those that were averaged.
    """
    import altair as alt  # takes a second to import, and cells are measured without it

    names = [measured.name, *(series.name for series in curves)]
    scale = alt.Scale(type="log", nice=False) if logarithmic else alt.Scale(zero=False)
    across = alt.X("x:Q", title=x[0], scale=scale)
    up = alt.Y("y:Q", title=y, scale=alt.Scale(zero=False))
    colour = alt.Color("curve:N", title=None, scale=alt.Scale(domain=names))
    dash = alt.StrokeDash(
        "curve:N", title=None, scale=alt.Scale(domain=names, range=list(DASHES[: len(names)]))
    )
    points = alt.Chart(alt.NamedData("points")).encode(x=across, color=colour)
    titles = {
        "cell": "cell",
        "seeds": "seeds",
        "y": y,
        "spread": "standard deviation",
        **{n: n for n in tooltip},
    }
    shown = [alt.Tooltip(f"{n}:{'N' if n in ('cell', 'seeds') else 'Q'}", title=t) for n, t in titles.items()]
    bars = points.mark_rule().encode(y=alt.Y("low:Q", title=y), y2="high:Q", tooltip=shown)
    dots = points.mark_point(filled=True, size=36).encode(y=up, tooltip=shown)
    lines = (
        alt.Chart(alt.NamedData("curves"))
        .mark_line(interpolate="monotone")
        .encode(
            x=across, y=up, color=colour, strokeDash=dash, tooltip=["curve:N", alt.Tooltip("y:Q", title=y)]
        )
    )
    spec = alt.layer(lines, bars, dots).to_dict()
    spec["datasets"] = {
        "points": _points(x[1], measured, tooltip, cells, seeds),
        "curves": [row for series in curves for row in _line(x[1], series)],
    }
    del spec["config"]
    return {"title": title, "description": description, "spec": spec}


def _points(
    x: np.ndarray, measured: Series, tooltip: Mapping[str, np.ndarray], cells: Sequence[str], seeds: str
) -> list[dict]:
    spread = np.zeros_like(measured.y) if measured.spread is None else measured.spread
    return [
        {
            "x": float(x[i]),
            "y": float(measured.y[i]),
            "low": float(measured.y[i] - spread[i]),
            "high": float(measured.y[i] + spread[i]),
            "spread": float(spread[i]),
            "curve": measured.name,
            "cell": cells[i],
            "seeds": seeds,
            **{name: float(values[i]) for name, values in tooltip.items()},
        }
        for i in range(len(x))
    ]


def _line(x: np.ndarray, series: Series) -> list[dict]:
    return [{"x": float(a), "y": float(b), "curve": series.name} for a, b in zip(x, series.y, strict=True)]
