"""What is measured: a survey of the claim, and the constants that independent draws of one cell need.

All are pure functions of the claim, the settings and their parameters, among them the assumption that is to be broken.
The streams of a draw are named by claim, ladder, index and seed, not by the rung: so the rungs of a ladder share their
random numbers as far as the sizes allow, and differences along it are sharper than with independent ones.  Draws of one
cell are independent of each other.
"""

from __future__ import annotations

import math

import numpy as np

from ...arrays import Streams
from ...claim import Claim
from ...instance import CoordinatesNeeded, Instance
from ...settings import Settings
from ..breaking import breaking
from .needed import Directions, Draw, Need, directions_of
from .region import combinations

PILOTS = 4
PARAMETER_PILOTS = 12


def instance_of(
    claim: Claim, settings: Settings, point: dict, choice: str, spanned: bool, label: str, index: int
) -> Instance:
    """The `index`-th draw of a ladder (or of another set of draws with a label of its own)."""
    streams = Streams(claim.id, "constants", label, settings.seed, index)
    return claim.family.draw(point, streams, settings.arrays, choice, spanned)


def cell(claim: Claim, settings: Settings, params: dict) -> dict:
    """The constants needed by `draws` draws at `point`, from the `first` on: {"needed": [...], ...}.

    NaN stands for a draw that is no evidence.  With `strict`, another value of delta, {"strict": [...]} are the
    constants that the same draws need at that one.
    """
    claim, strict = breaking(claim, params["broken"]), params["strict"]
    changes = [] if strict is None else [{"delta": strict}]
    drawing = _Drawing(claim, settings, params, [{}, *changes])
    tallies = [_Tally() for _ in drawing.changes]
    for index in range(params["first"], params["first"] + params["draws"]):
        for need, tally in zip(drawing.needs(index), tallies, strict=True):
            tally.add(need)
    result = tallies[0].result()
    if strict is not None:
        result["strict"] = tallies[1].result()["needed"]
    return result


def tail(claim: Claim, settings: Settings, params: dict) -> dict:
    """The constants needed by draws at one point as one parameter (delta) takes several values.

    {"needed": one list a value}.
    """
    claim = breaking(claim, params["broken"])
    drawing = _Drawing(claim, settings, params, [{params["name"]: value} for value in params["values"]])
    tallies = [_Tally() for _ in drawing.changes]
    for index in range(params["first"], params["first"] + params["draws"]):
        for need, tally in zip(drawing.needs(index), tallies, strict=True):
            tally.add(need)
    results = [tally.result() for tally in tallies]
    return {key: [r[key] for r in results] for key in ("needed", "undefined")}


class _Drawing:
    """The draws of one cell, each under several changes of its parameters."""

    def __init__(self, claim: Claim, settings: Settings, params: dict, changes: list[dict]) -> None:
        self.claim, self.settings, self.params, self.changes = claim, settings, params, changes
        self.directions = Directions(params["signs"])
        self.shared = all(change.keys() <= {"delta"} for change in changes) and _same(
            self._draw(0, changes[0]), self._draw(0, changes[-1])
        )

    def _draw(self, index: int, change: dict) -> Instance:
        p = self.params
        point = {**p["point"], **change}
        return instance_of(self.claim, self.settings, point, p["choice"], p["spanned"], p["label"], index)

    def needs(self, index: int) -> list[Need]:
        """What a draw needs under each change.

        One instance serves all deltas where what is drawn does not depend on them; of other numbers an instance keeps
        what it computed from them.
        """
        found = []
        x = self._draw(index, self.changes[0])
        for change in self.changes:
            if self.shared:
                x.numbers = {**x.numbers, **change}
            elif change is not self.changes[0]:
                x = self._draw(index, change)
            found.append(Draw(self.claim, x, self.directions).need())
        return found


def _same(one: Instance, other: Instance) -> bool:
    """Whether two instances were drawn alike."""
    arrays, others = one.raw.arrays, other.raw.arrays
    return arrays.keys() == others.keys() and all(np.array_equal(arrays[k], others[k]) for k in arrays)


class _Tally:
    """What the draws of a cell needed."""

    def __init__(self) -> None:
        self.needs: list[Need] = []

    def add(self, need: Need) -> None:
        self.needs.append(need)

    def result(self) -> dict:
        met: dict[str, int] = {}
        for need in self.needs:
            for name, holds in need.met.items():
                met[name] = met.get(name, 0) + holds
        result = {
            "needed": [n.value for n in self.needs],
            "undefined": sum(not n.defined for n in self.needs),
            "met": met,
        }
        if any(n.again < math.inf for n in self.needs):
            result["again"] = [n.again for n in self.needs]
        limits = [n.trivial_from for n in self.needs if not math.isnan(n.value)]
        if any(limit < math.inf for limit in limits):
            result["trivial_from"] = max(limits)
        return result


def survey(claim: Claim, settings: Settings, params: dict) -> dict:
    """What a few draws tell: whether coordinates are needed, directions, which sizes and parameters matter."""
    claim = breaking(claim, params["broken"])
    points, spanned = params["points"], params["spanned"]
    try:
        pilots = _pilots(claim, settings, points, spanned)
        directions = directions_of(claim, pilots, [claim.family.sizes_at(p) for p in points])
        return {
            "spanned": spanned,
            "signs": directions.signs,
            "relevant": _relevant(claim, settings, points, spanned, params["sizes"]),
            "typical": _typical(claim, settings, points[0], spanned, params["parameters"], directions),
        }
    except CoordinatesNeeded:
        if not spanned:
            raise
        return {"spanned": False}


def scout(claim: Claim, settings: Settings, params: dict) -> dict:
    """The constants that are typically needed at each of several points in each of several hard cases:
    {"needed": points x cases}.

    The cases share their random numbers, and so do the points where several draws are made.
    """
    claim = breaking(claim, params["broken"])
    directions, draws = Directions(params["signs"]), params["draws"]
    found = []
    for number, point in enumerate(params["points"]):
        of_point = []
        for choice in params["choices"]:
            needs = []
            for k in range(draws):
                index = k if draws > 1 else number
                x = instance_of(claim, settings, point, choice, params["spanned"], "scout", index)
                needs.append(Draw(claim, x, directions).need().value)
            of_point.append(typical_of(needs))
        found.append(of_point)
    return {"needed": found}


def typical_of(needed: list[float]) -> float:
    """The power mean, with exponent 1/2, of what a few draws need: lower than a mean where many need nothing."""
    valid = [n for n in needed if not math.isnan(n)]
    return (sum(map(math.sqrt, valid)) / len(valid)) ** 2 if valid else 0.0


def _pilots(claim: Claim, settings: Settings, points: list[dict], spanned: bool) -> list[Instance]:
    choices = claim.family.choices
    count = max(PILOTS, len(choices))
    return [
        instance_of(claim, settings, point, choices[k % len(choices)], spanned, "pilot", k)
        for point in points
        for k in range(count)
    ]


def _relevant(
    claim: Claim, settings: Settings, points: list[dict], spanned: bool, sizes: dict[str, list]
) -> list[str]:
    """The sizes that the relations depend on: those that change something while the random numbers stay the same."""
    found = []
    for name, values in sizes.items():
        if any(_changes(claim, settings, point, spanned, name, values) for point in points):
            found.append(name)
    return found


def _changes(claim: Claim, settings: Settings, point: dict, spanned: bool, name: str, values: list) -> bool:
    choices = claim.family.choices
    for index in range(max(PILOTS, len(choices))):
        choice = choices[index % len(choices)]
        seen = set()
        for value in (point[name], *values):
            x = instance_of(claim, settings, {**point, name: value}, choice, spanned, "relevance", index)
            seen.add(_course(claim, x))
        if len(seen) > 1:
            return True
    return False


def _course(claim: Claim, instance: Instance) -> str:
    """The slacks at two constants, as text."""
    draw = Draw(claim, instance, Directions(dict.fromkeys(claim.constants, 1)))
    try:
        return repr([draw.slacks(dict.fromkeys(claim.constants, s)) for s in (1.0, 3.0)])
    except ZeroDivisionError:
        return "undefined"


def _typical(
    claim: Claim, settings: Settings, point: dict, spanned: bool, parameters: dict, directions: Directions
) -> dict[str, float]:
    """The combination of the parameters' values that needs the largest constant in the middle of a few draws."""
    best, chosen = -math.inf, {}
    choices = claim.family.choices
    for values in combinations(parameters):
        if not values:
            return {}
        allowed = allowed_at(claim, {**point, **values})
        if allowed is not None and not 0.01 <= allowed <= 0.9:
            continue
        needs = []
        for index in range(PARAMETER_PILOTS):
            choice = choices[index % len(choices)]
            x = instance_of(claim, settings, {**point, **values}, choice, spanned, "parameters", index)
            needs.append(Draw(claim, x, directions).need().value)
        valid = [n for n in needs if not math.isnan(n)]
        middle = float(np.median(valid)) if valid else -1.0
        if middle > best:
            best, chosen = middle, values
    return chosen


def allowed_at(claim: Claim, point: dict, constants: dict[str, float] | None = None) -> float | None:
    """The failure probability that the claim allows at a point; None where it speaks of no probability."""
    if claim.fails_at_most is None:
        return None
    try:
        return claim.allowed_failure(claim.family.sizes_at(point), constants)
    except ArithmeticError:
        return None
