"""The ladder of failure probabilities: one cell, of whose draws ever smaller shares may fail."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...claim import Claim
from ...settings import Settings
from .budget import draw_seconds
from .build import Ladder
from .cells import allowed_at
from .centres import middle_of
from .climb import Climb
from .region import Region

PROBABILITIES = (0.5, 0.2, 0.1, 0.03, 0.01, 0.004, 0.001)
VALUE_SECONDS = 1e-4
"""What it costs to find the needed constant of a draw once more."""
LEAST_BEYOND = 3
"""A quantile is read where at least this many draws lie beyond it."""
MOST_DRAWS = {"quick": 2000, "standard": 20_000, "paper": 20_000}
DEAR = 2.5
"""The cell costs at most this much more than the cheapest one."""


@dataclass(frozen=True)
class Tail:
    """A ladder of failure probabilities at one point: `name` is the parameter that sets them."""

    ladder: Ladder
    name: str
    draws: int

    @property
    def values(self) -> list[float]:
        return [rung[self.name] for rung in self.ladder.rungs]


def varies(claim: Claim) -> bool:
    """Whether the statement is one for many failure probabilities."""
    size = claim.family.sizes.get("delta")
    return (
        claim.fails_at_most == "delta"
        and size is not None
        and (size.listed is None or len(set(size.listed)) > 2)
    )


def tail_of(
    claim: Claim, settings: Settings, region: Region, climbs: list[Climb], seconds: float
) -> Tail | None:
    """The cell that needs most among the cheap ones; None where the claim's probability does not vary."""
    if claim.fails_at_most is None or isinstance(claim.fails_at_most, int | float):
        return None
    point, choice = _demanding(claim, region, climbs)
    if point is None:
        return None
    cost = draw_seconds(claim.family, point, region.spanned) + len(PROBABILITIES) * VALUE_SECONDS
    draws = min(int(seconds / cost), MOST_DRAWS[settings.profile])
    for name in sorted(region.parameters, key=lambda n: n != "delta"):
        known = [(v, allowed_at(claim, {**point, name: v})) for v in _values(claim, region, point, name)]
        usable = [(v, p) for v, p in known if p is not None and 0 < p <= 0.5 and p * draws >= LEAST_BEYOND]
        pairs = sorted({p: (v, p) for v, p in usable}.values(), key=lambda pair: -pair[1])
        if len(pairs) >= 3 and pairs[0][1] >= 4 * pairs[-1][1]:
            rungs = tuple({**point, name: v} for v, _ in pairs)
            ladder = Ladder("tail", (name,), rungs, choice, tuple(p for _, p in pairs))
            return Tail(ladder, name, draws)
    return None


def _demanding(claim: Claim, region: Region, climbs: list[Climb]) -> tuple[dict[str, Any] | None, str]:
    """The rung that needs most among the cheap ones at which small failure probabilities meet the assumptions too."""
    cells = [
        (
            draw_seconds(claim.family, rung, region.spanned),
            middle_of(climb.needed[r]),
            rung,
            climb.ladder.choice,
        )
        for climb in climbs
        for r, rung in enumerate(climb.ladder.rungs)
    ]
    if "delta" in region.parameters:
        least = _smallest_delta(claim)
        cells = [entry for entry in cells if region.feasible({**entry[2], "delta": least})]
        corner = region.corner({"delta": least})
        if corner is not None:
            cost = draw_seconds(claim.family, corner, region.spanned)
            cells.append((cost, math.nan, corner, _any_choice(claim, climbs)))
    elif not cells and (first := region.corner()) is not None:
        cells.append((0.0, math.nan, first, _any_choice(claim, climbs)))
    if not cells:
        return None, ""
    cheapest = min(cost for cost, *_ in cells)
    cheap = [entry for entry in cells if entry[0] <= DEAR * cheapest]
    _, _, point, choice = max(cheap, key=lambda entry: entry[1] if math.isfinite(entry[1]) else -math.inf)
    return point, choice


def _any_choice(claim: Claim, climbs: list[Climb]) -> str:
    return climbs[0].ladder.choice if climbs else claim.family.choices[0]


def _smallest_delta(claim: Claim) -> float:
    size = claim.family.sizes["delta"]
    return PROBABILITIES[-1] if size.given is None else size.bounds()[0]


def _values(claim: Claim, region: Region, point: dict[str, Any], name: str) -> list[float]:
    """The parameter's values, spread so that the allowed probability is."""
    size = claim.family.sizes[name]
    if name == "delta" and size.given is None:
        return list(PROBABILITIES)
    if size.listed is not None:
        return sorted(size.listed)
    low, high = size.bounds()
    fine = [low + (high - low) * k / 400 for k in range(401)]
    allowed = [
        (v, allowed_at(claim, {**point, name: v})) for v in fine if region.feasible({**point, name: v})
    ]
    known = [(v, p) for v, p in allowed if p is not None and p > 0]
    if not known:
        return []
    return [min(known, key=lambda pair: abs(math.log(pair[1] / p)))[0] for p in PROBABILITIES]
