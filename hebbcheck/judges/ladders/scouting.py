"""Where constants are needed: a coarse grid over the sizes, and the places on it to start ladders from."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

from .region import COUNTS, POWERS, Region

VALUES = {"d": (1, 32, 256, 2**12, 2**20), "m": (1, 2**7, 2**10, 2**13)}
FACTORS = (1, 4, 16)
"""The grid: values of d and m, factors of the smallest count."""
NEARLY_MOST = 0.7


def scouting_points(region: Region, relevant: Iterable[str]) -> list[dict[str, Any]]:
    """The feasible points of the grid; sizes that do not matter stay at their smallest."""
    first = region.corner()
    if first is None:
        return []
    values = {}
    for name, axis in region.axes.items():
        if axis.fixed or (name in POWERS and name not in relevant):
            values[name] = [first[name]]
        elif name in COUNTS:
            values[name] = [v for v in (first[name] * k for k in FACTORS) if axis.holds(v)]
        else:
            steps = [max(first[name], v) for v in VALUES[name]]
            values[name] = sorted({v for v in steps if axis.holds(v)} | {first[name]})
    points = [
        {**first, **dict(zip(values, point, strict=True))} for point in itertools.product(*values.values())
    ]
    return [p for p in points if region.feasible(p)]


def demanding(
    points: list[dict[str, Any]], needs: list[float], name: str, cost: Callable[[dict[str, Any]], float]
) -> list[dict[str, Any]]:
    """The points to start ladders in one size from, judged by what is needed at the largest value of it on the grid:
    the cheapest that needs nearly as much as any, and the one that needs most."""
    tops: dict[str, tuple[int, float, dict[str, Any]]] = {}
    for point, need in zip(points, needs, strict=True):
        others = repr(sorted((n, v) for n, v in point.items() if n != name))
        if others not in tops or point[name] > tops[others][0]:
            tops[others] = (point[name], need, point)
    found = [(need, point) for _, need, point in tops.values() if need > 0 and math.isfinite(need)]
    if not found:
        return []
    most, where = max(found, key=lambda entry: entry[0])
    cheapest = min((point for need, point in found if need >= NEARLY_MOST * most), key=cost)
    return [cheapest] if cheapest is where else [cheapest, where]


def saturated(
    points: list[dict[str, Any]], needs: list[float], first: dict[str, Any]
) -> list[dict[str, Any]]:
    """Where ladders in d and m together start: the first point, with the smallest m beyond which hardly more is needed.

    With a smaller m the noise of the features may hide, all along the ladder, what the values need.
    """
    others = {n: v for n, v in first.items() if n != "m"}
    found = [
        (point["m"], need, point)
        for point, need in zip(points, needs, strict=True)
        if "m" in point and all(point[n] == v for n, v in others.items()) and math.isfinite(need)
    ]
    most = max((need for _, need, _ in found), default=0.0)
    if most <= 0:
        return []
    return [min((entry for entry in found if entry[1] >= NEARLY_MOST * most), key=lambda entry: entry[0])[2]]
