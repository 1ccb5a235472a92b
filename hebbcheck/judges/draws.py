"""Draws of one cell: how many fail, how near they come to it."""

from __future__ import annotations

import math

from ..arrays import NUMPY, Backend
from ..claim import Claim
from ..evaluation import Value, evaluate
from ..inputs import Raw
from ..rounding import OF_MANY, Excess, excess
from ..settings import Settings
from ..sweeps import Task
from .adversary import streams_of
from .breaking import breaking
from .cell_choice import Cell

MEASURE = "hebbcheck.judges.draws:measure"
PILOT_DRAWS = 12
POINTS = 32
"""So many draws of each judged cell are kept for the report."""
ROUNDING = 1e3
"""A failure is a relation that is broken by more than this many units of rounding of its sides."""


def pilot_task(cell: Cell, broken: str | None = None) -> Task:
    """A few draws of a cell, to see how near it comes to failing."""
    return Task(MEASURE, {**cell, "role": "pilot", "first": 0, "draws": PILOT_DRAWS, "broken": broken})


def nearest(pairs: list[tuple[Cell, dict]], count: int) -> list[Cell]:
    """The cells whose pilot draws failed most often, then those that came nearest to it."""

    def nearness(pair: tuple[Cell, dict]) -> tuple[float, float]:
        pilot = pair[1]
        ratio = math.inf if pilot["ratio"] is None else pilot["ratio"]
        return -pilot["failures"] / max(pilot["trials"], 1), ratio

    met = [pair for pair in pairs if pair[1]["trials"]] or pairs
    return [cell for cell, _ in sorted(met, key=nearness)[:count]]


def measure(claim: Claim, settings: Settings, params: dict) -> dict:
    """Failures in independent draws of one cell.

    params: numbers, choice, allowed, role ("pilot", "judged"), first (index of the first draw), draws, broken (an
    assumption that the draws must break, or None), strict (whether a failure must be beyond what rounding does to it).
    """
    judged, numbers = breaking(claim, params["broken"]), params["numbers"]
    total: dict = {name: 0 for name in ("trials", "failures", "undefined", "beyond_trivial")}
    total |= {"unmet": {}, "seen": 0, "ratio": None, "worst": None, "worst_ratio": None, "points": []}
    for index in range(params["first"], params["first"] + params["draws"]):
        raw, value = drawn(judged, settings, params, index)
        total["seen"] += bool(value.met)
        if not value.admissible:
            total["undefined"] += not value.defined
            for name, met in value.met.items():
                total["unmet"][name] = total["unmet"].get(name, 0) + (not met)
            continue
        value, failed = settled(judged, raw, value, settings)
        if failed and params.get("strict"):
            failed = excess(judged, raw, value, {}, _quoted(settings), OF_MANY) >= Excess.BEYOND
        total["trials"] += 1
        total["failures"] += failed
        total["beyond_trivial"] += value.beyond_trivial
        if total["ratio"] is None or value.ratio < total["ratio"]:
            total["ratio"] = value.ratio
        if failed and (total["worst"] is None or value.ratio < total["worst_ratio"]):
            total["worst"], total["worst_ratio"] = index, value.ratio
        if params["role"] == "judged" and index < POINTS:
            total["points"].append(
                {"measured": value.measured, "bound": value.bound, "draw": index, **numbers}
            )
    return total


def drawn(claim: Claim, settings: Settings, params: dict, index: int) -> tuple[Raw, Value]:
    """One draw of a cell, and the claim's value on it."""
    numbers, choice = params["numbers"], params["choice"]
    streams = streams_of(claim, settings, (numbers, choice), params["role"], index)
    raw = claim.family.raw(numbers, streams, choice)
    return raw, evaluate(claim, claim.family.build(raw, settings.arrays))


def settled(claim: Claim, raw: Raw, value: Value, settings: Settings) -> tuple[Value, bool]:
    """(the claim's value, whether it is broken by more than rounding); failures of float32 are computed again."""
    if not _fails(value, settings.arrays) or settings.arrays.dtype == "float64":
        return value, _fails(value, settings.arrays)
    again = evaluate(claim, claim.family.build(raw, NUMPY))
    return (again, _fails(again, NUMPY)) if again.admissible else (value, False)


def _quoted(settings: Settings) -> Backend:
    """What a failure is quoted from."""
    return settings.arrays if settings.arrays.dtype == "float64" else NUMPY


def _fails(value: Value, arrays: Backend) -> bool:
    return value.slack < -ROUNDING * arrays.eps * value.scale
