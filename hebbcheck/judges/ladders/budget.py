"""How many draws a ladder gets: from a model of what a draw costs, never from the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...geometry.family import Family
from ...settings import Settings
from .build import LEAST_RUNGS, Ladder, beyond_logarithms
from .windows import top_window

OVERHEAD = 6.5e-4
PER_NORMAL, PER_MULTIPLICATION, PER_PAIR = 1.2e-8, 7e-11, 6e-8
"""Seconds on one core: a draw at all, a normal variate, a multiplication in a product, work on a pair of facts."""
TOP_SHARE = 0.75
"""The share of a ladder's time that goes to its top window."""
LEAST_TOP, LEAST_LOW = 16, 10
MOST_LADDERS = 8
WEIGHTS = {"d": 0.6, "m": 1.0, "diagonal": 1.0, "parameter": 0.6, "F": 1.5, "joint": 1.2}
"""How much of the time a kind of ladder gets: rungs in d share most of their random numbers, rungs in F none."""
FAVOUR = 4.0
"""How much more of it the ladder gets that rises most, perhaps to refute the claim."""


def draw_seconds(family: Family, point: dict[str, Any], spanned: bool) -> float:
    """What drawing and measuring one instance of these sizes costs, roughly."""
    d, m = point.get("d", 1), point.get("m", 1)
    if "F" not in point:
        others = sorted(v for n, v in point.items() if n in ("n", "count", "d", "m"))[-2:]
        product = 1.0
        for value in others:
            product *= value
        return OVERHEAD + PER_NORMAL * product
    F = point["F"]
    r = min(F, d) if spanned else d
    wide = m if "m" in point else F
    features = 2 * m * r if getattr(family, "draws_features", False) else 0
    return (
        OVERHEAD
        + PER_NORMAL * (2 * F * r + features)
        + PER_MULTIPLICATION * (F * features + F * F * (wide + 6 * r))
        + PER_PAIR * F * F
    )


def seconds_a_claim(settings: Settings) -> float:
    """What judging one claim may cost on one core."""
    return settings.by_profile(4.5, 25.0)


def most_draws(settings: Settings) -> int:
    """The largest number of draws of a cell in one batch."""
    return settings.by_profile(600, 5000)


def planned(ladder: Ladder, seconds: float, costs: list[float]) -> Ladder | None:
    """The ladder without the rungs that cannot be afforded; None if too little is left."""
    for length in range(len(costs), LEAST_RUNGS - 1, -1):
        shorter = replace(ladder, rungs=ladder.rungs[:length])
        if least_seconds(shorter, costs[:length]) <= seconds:
            return shorter if beyond_logarithms(shorter) else None
    return None


def least_seconds(ladder: Ladder, costs: list[float]) -> float:
    """What the fewest draws that tell something cost."""
    top = top_window(ladder.log_sizes)
    return sum(c * (LEAST_TOP if k in top else LEAST_LOW) for k, c in enumerate(costs))


def selected(ladders: list[Ladder], seconds: float, cost: Callable[[dict[str, Any]], float]) -> list[Ladder]:
    """As many ladders, in their order, as can be afforded: one of each kind, shortened where it must be, first."""
    missing = list(dict.fromkeys(ladder.kind for ladder in ladders))
    chosen: dict[int, Ladder] = {}
    left = seconds
    while missing:
        kind = missing.pop(0)
        for number, ladder in enumerate(ladders):
            found = _afforded(ladder, left / (len(missing) + 1), cost) if ladder.kind == kind else None
            if found is not None:
                chosen[number] = found
                left -= _least(found, cost)
                break
    for number, ladder in enumerate(ladders):
        found = _afforded(ladder, min(left, seconds / MOST_LADDERS), cost) if number not in chosen else None
        if found is not None and len(found.rungs) >= len(ladder.rungs) - 1:
            chosen[number] = found
            left -= _least(found, cost)
    return [chosen[number] for number in sorted(chosen)]


def _afforded(ladder: Ladder, seconds: float, cost: Callable[[dict[str, Any]], float]) -> Ladder | None:
    return planned(ladder, seconds, [cost(rung) for rung in ladder.rungs])


def _least(ladder: Ladder, cost: Callable[[dict[str, Any]], float]) -> float:
    return least_seconds(ladder, [cost(rung) for rung in ladder.rungs])


def draws_of(
    ladders: list[Ladder],
    seconds: float,
    cost: Callable[[dict[str, Any]], float],
    most: int,
    favoured: Ladder | None = None,
) -> list[tuple[int, ...]]:
    """Draws for each rung of each ladder: the fewest that tell something, and what is left of the time by weight."""
    costs = [[cost(rung) for rung in ladder.rungs] for ladder in ladders]
    least = [least_seconds(ladder, of) for ladder, of in zip(ladders, costs, strict=True)]
    weights = [WEIGHTS[ladder.kind] * (FAVOUR if ladder is favoured else 1) for ladder in ladders]
    left = max(seconds - sum(least), 0.0) / max(sum(weights), 1e-9)
    return [
        _shared_out(ladder, of, need + left * w, most)
        for ladder, of, need, w in zip(ladders, costs, least, weights, strict=True)
    ]


def _shared_out(ladder: Ladder, costs: list[float], seconds: float, most: int) -> tuple[int, ...]:
    """Most of a ladder's time goes to its top window."""
    top = top_window(ladder.log_sizes)
    low_cost = sum(c for k, c in enumerate(costs) if k not in top)
    few = max(int((1 - TOP_SHARE) * seconds / low_cost), LEAST_LOW) if low_cost else 0
    many = max(int((seconds - few * low_cost) / sum(costs[k] for k in top)), LEAST_TOP)
    many = min(many, most)
    return tuple(many if k in top else min(few, many) for k in range(len(costs)))


def affordable_count(
    family: Family, corner: dict[str, Any], name: str, high: int, seconds: float, spanned: bool
) -> int:
    """The largest number of facts of which a ladder's top window can be drawn often enough."""
    count = corner[name]
    while count * 2 <= high:
        point = {**corner, name: count * 2}
        if 2.5 * LEAST_TOP * draw_seconds(family, point, spanned) > TOP_SHARE * seconds:
            break
        count *= 2
    return count
