"""Claims that there are absolute constants with which a bound holds, for all sizes.

Each draw has a needed constant, the smallest common one with which its relations hold (`ladders.needed`).  The judge
decides whether it stays bounded as the sizes grow.  It follows the centres of the needed constants (trimmed means with
Yuen's errors) up ladders of scale, where d is free because only inner products are drawn; estimates the local
exponent at the top and the growth still to come (Aitken's extrapolation); refutes where one grows at the level, does
not level off and exceeds what smaller sizes need; and supports where all ladders are flat or level off, and a constant
calibrated on the smaller sizes covers the larger ones.  Its error rates are in docs/calibration-constants.md.

Where an adversary chooses, single draws over a grid of sizes leave a short list of hard cases, pilot draws on each
ladder pick the one to follow there, and other draws judge it.  Cases are compared on the same random numbers, by what
is typically needed, and one that needs clearly less than another at a ladder's top is not followed there.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..claim import Claim
from ..settings import Settings
from ..sweeps import Task
from ..verdict import Finding, Outcome, Quantifier
from .breaking import breaking, need
from .ladders import rule, wording
from .ladders.budget import (
    affordable_count,
    draw_seconds,
    draws_of,
    most_draws,
    seconds_a_claim,
    selected,
)
from .ladders.build import Builder, Ladder
from .ladders.cells import typical_of
from .ladders.centres import log_of
from .ladders.climb import Climb
from .ladders.conclude import Conclusion
from .ladders.needed import LARGEST
from .ladders.region import COUNTS, Region
from .ladders.scouting import demanding, saturated, scouting_points
from .ladders.tails import Tail, tail_of

QUANTIFIER = Quantifier.CONSTANTS
CELLS = "hebbcheck.judges.ladders.cells"
FIRST_LOOK, TAIL_SHARE, SECOND_LOOK, THIRD_LOOK = 0.45, 0.15, 0.5, 1.0
"""Shares of the time: all ladders, the small failure probabilities, and more draws where ladders are open; as much as
all of it again where the verdict still hangs on some of them."""
USUAL_LADDERS, SCOUT_SHARE = 4, 1e-3
A_KIND, SCOUT_DRAWS, PILOT_DRAWS, COMPARABLE = 2, 4, 8, 0.7
SHORTLIST, SCOUTED = 3, 3
"""So many hard cases are looked at closely, found by draws at every third point of the grid."""
CHUNK = 500
"""Draws of the tail's cell in one task."""

Work = Generator[list[Task], list[dict], Any]


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """Whether constants suffice; beyond the quick profile also whether they do without each assumption."""
    finding = yield from _judged(claim, settings, None)
    if claim.test_needs and settings.profile != "quick" and finding.outcome is not Outcome.VACUOUS:
        for name in claim.given:
            finding.assumptions[name]["needed"] = yield from _needed(claim, settings, name)
    return finding


def _needed(claim: Claim, settings: Settings, assumption: str) -> Work:
    """What the record says of an assumption: judged with a quick run's effort where it is broken.

    None for one that names constants, which holds or not with them.
    """
    if claim.constants_in(claim.given[assumption]):
        return None
    without = yield from _judged(claim, replace(settings, profile="quick"), assumption)
    return need(without.outcome is Outcome.REFUTED, without.instances)


def _judged(claim: Claim, settings: Settings, broken: str | None) -> Work:
    """Survey the claim, climb the ladders, climb the open ones further, apply the rule."""
    claim = breaking(claim, broken)
    for spanned in (True, False) if claim.family.spans else (False,):
        region = Region(claim, settings, spanned)
        if region.corner() is None:
            return _out_of_reach(region)
        known = (yield [_survey(region, broken)])[0]
        if known["spanned"] == spanned:
            break
    region.typical.update(known["typical"])
    if region.corner() is None:
        return _out_of_reach(region)
    climbing = _Climbing(claim, settings, region, known, broken)
    yield from climbing.first_look()
    if climbing.conclusion().refuted() is None:
        yield from climbing.second_look()
    if climbing.conclusion().undecided():
        yield from climbing.third_look()
    return climbing.conclusion().finding()


def _out_of_reach(region: Region) -> Finding:
    smallest = region.far_corner()
    reason = f"nothing was claimed at any size that can be drawn: {wording.smallest_sizes(smallest)}"
    return Finding(Outcome.VACUOUS, reason, smallest_sizes=smallest)


def _survey(region: Region, broken: str | None) -> Task:
    first = region.corner()
    assert first is not None
    sizes = {}
    for name in ("m", "d"):
        axis = region.axes.get(name)
        if axis is not None and not axis.fixed:
            sizes[name] = [v for v in axis.grid() if v > first[name]][:2]
    return Task(
        f"{CELLS}:survey",
        {
            "points": _corners(region, first),
            "spanned": region.spanned,
            "sizes": sizes,
            "parameters": {n: v for n, v in region.parameters.items() if n != "delta" and len(v) > 1},
            "broken": broken,
        },
    )


def _corners(region: Region, first: dict[str, Any]) -> list[dict[str, Any]]:
    """Two points to look at the claim: the smallest one and one that is larger in all sizes."""
    second = dict(first)
    for name, axis in region.axes.items():
        second[name] = max(v for v in axis.grid() if v <= max(8 * first[name], axis.low))
    return [first, second] if second != first and region.feasible(second) else [first]


class _Climbing:
    """The ladders of one claim under way."""

    def __init__(
        self, claim: Claim, settings: Settings, region: Region, known: dict, broken: str | None
    ) -> None:
        self.claim, self.settings, self.region, self.known = claim, settings, region, known
        self.broken = broken
        self.seconds = seconds_a_claim(settings)
        self.climbs: list[Climb] = []
        self.kinds: list[str] = []
        self.spent = 0.0
        self.choices: Sequence[str] = claim.family.choices

    def conclusion(self) -> Conclusion:
        known = self.known
        return Conclusion(
            self.claim,
            self.settings,
            self.region,
            known["signs"],
            known["relevant"],
            self.kinds,
            self.climbs,
        )

    def first_look(self) -> Work:
        """Every ladder, each with an equal share of the time."""
        seconds = FIRST_LOOK * self.seconds
        ladders = yield from self._ladders(seconds)
        if ladders and len(self.claim.family.choices) > 1:
            ladders = yield from self._hard_cases(ladders)
            seconds = max(seconds - self.spent, seconds / 2)
        self.climbs = [Climb(ladder) for ladder in ladders]
        yield from self._climb(self._draws(self.climbs, seconds, most_draws(self.settings)))

    def second_look(self) -> Work:
        """Small failure probabilities, and more draws on the ladders that are still open, most on one that rises."""
        tail = tail_of(self.claim, self.settings, self.region, self.climbs, TAIL_SHARE * self.seconds)
        still_open = [s for s in rule.stand(self.climbs) if s.open]
        climbs, rising = [s.climb for s in still_open], rule.rising_most(still_open)
        yield from self._climb(self._draws(climbs, SECOND_LOOK * self.seconds, 10**9, rising), tail)

    def third_look(self) -> Work:
        """More draws on the ladders that leave the verdict open; of failure probabilities a longer ladder."""
        seconds, undecided, tail = THIRD_LOOK * self.seconds, self.conclusion().undecided(), None
        climbs = [s.climb for s in undecided if not s.climb.is_tail]
        if len(climbs) < len(undecided):
            seconds /= 2 if climbs else 1
            self.climbs = [climb for climb in self.climbs if not climb.is_tail]
            tail = tail_of(self.claim, self.settings, self.region, self.climbs, seconds)
        rising = rule.rising_most([s for s in undecided if not s.climb.is_tail])
        yield from self._climb(self._draws(climbs, seconds, 10**9, rising), tail)

    def _draws(
        self, climbs: list[Climb], seconds: float, most: int, favoured: Ladder | None = None
    ) -> list[tuple[Climb, tuple[int, ...]]]:
        """How many more draws to make on each rung."""
        draws = draws_of([climb.ladder for climb in climbs], seconds, self._cost, most, favoured)
        return list(zip(climbs, draws, strict=True))

    def _ladders(self, seconds: float) -> Work:
        """The ladders of the region, as far up as can be afforded."""
        family, region = self.claim.family, self.region
        first = region.corner()
        assert first is not None
        count = next((n for n in COUNTS if n in region.axes), None)
        top = 1
        if count is not None:
            high = region.axes[count].high
            top = affordable_count(family, first, count, high, seconds / USUAL_LADDERS, region.spanned)
        relevant = {n for n in region.axes if n in COUNTS} | set(self.known["relevant"])
        points = [p for p in scouting_points(region, relevant) if self._cost(p) < SCOUT_SHARE * self.seconds]
        yield from self._shortlist(points)
        answer = yield [self._scout(points, self.choices, SCOUT_DRAWS)]
        scouted = [max(cases) for cases in answer[0]["needed"]]
        needs = {name: demanding(points, scouted, name, self._cost) for name in relevant}
        needs["diagonal"] = saturated(points, scouted, first)
        ladders = Builder(region, first, relevant, top, needs).all()
        self.kinds = list(dict.fromkeys(ladder.kind for ladder in ladders))
        return selected(ladders, seconds, self._cost)

    def _shortlist(self, points: list[dict[str, Any]]) -> Work:
        """The hard cases that need most: on average over points of the grid, and where it is needed most."""
        if len(self.choices) > SHORTLIST:
            some = points[::SCOUTED]
            answer = yield [self._scout(some, self.choices, 1)]
            self.choices = [self.choices[k] for k in shortlist(np.array(answer[0]["needed"]), SHORTLIST)]

    def _scout(self, points: list[dict[str, Any]], choices: Sequence[str], draws: int) -> Task:
        self.spent += draws * len(choices) * sum(map(self._cost, points))
        params = {
            "points": points,
            "choices": list(choices),
            "spanned": self.region.spanned,
            "signs": self.known["signs"],
            "draws": draws,
            "broken": self.broken,
        }
        return Task(f"{CELLS}:scout", params)

    def _cost(self, point: dict[str, Any]) -> float:
        return draw_seconds(self.claim.family, point, self.region.spanned)

    # -- cells --------------------------------------------------------------------------------------------------------
    def _climb(self, more: list[tuple[Climb, tuple[int, ...]]], tail: Tail | None = None) -> Work:
        """Make so many more draws on each rung, and those of the tail."""
        cells = [(climb, r, n) for climb, draws in more for r, n in enumerate(draws)]
        tasks = [self._cell(climb.ladder, r, climb.made(r), n) for climb, r, n in cells]
        tails = self._tail(tail) if tail else []
        results = yield [*tasks, *tails]
        for (climb, r, _), result in zip(cells, results, strict=False):
            climb.add(r, result)
        if tail:
            self.climbs.append(Climb(tail.ladder))
            for result in results[len(tasks) :]:
                self.climbs[-1].add_tail(result)

    def _cell(self, ladder: Ladder, rung: int, first: int, draws: int, label: str = "") -> Task:
        return Task(
            f"{CELLS}:cell", {**self._params(ladder, rung, first, draws, label), "strict": self.region.strict}
        )

    def _params(self, ladder: Ladder, rung: int, first: int, draws: int, label: str = "") -> dict[str, Any]:
        return {
            "point": ladder.rungs[rung],
            "choice": ladder.choice,
            "spanned": self.region.spanned,
            "signs": self.known["signs"],
            "label": label or ladder.name,
            "first": first,
            "draws": draws,
            "broken": self.broken,
        }

    def _tail(self, tail: Tail) -> list[Task]:
        chunks = [(first, min(CHUNK, tail.draws - first)) for first in range(0, tail.draws, CHUNK)]
        return [
            Task(
                f"{CELLS}:tail",
                {**self._params(tail.ladder, 0, first, draws), "name": tail.name, "values": tail.values},
            )
            for first, draws in chunks
        ]

    # -- what an adversary chooses ------------------------------------------------------------------------------------
    def _hard_cases(self, ladders: list[Ladder]) -> Work:
        """The ladders in the hard cases that pilot draws find worst: other draws judge them."""
        choices = self.choices
        pilots = [
            self._cell(replace(ladder, choice=choice), rung, 0, PILOT_DRAWS, "pilot")
            for ladder in ladders
            for choice in choices
            for rung in (len(ladder.rungs) // 2, len(ladder.rungs) - 1)
        ]
        self.spent += sum(PILOT_DRAWS * self._cost(task.params["point"]) for task in pilots)
        answers = yield pilots
        needs = log_of([typical_of(a["needed"]) for a in answers]).reshape(len(ladders), len(choices), 2)
        chosen = worst_cases([ladder.kind for ladder in ladders], needs)
        return [replace(ladders[i], choice=choices[k]) for i, k in chosen]


def shortlist(needed: np.ndarray, size: int) -> list[int]:
    """The hard cases that need most on average over points, relative to the worst one at each, and the worst of all.

    `needed`: points x cases.
    """
    needed = np.minimum(needed, LARGEST)
    most = np.max(needed, axis=1, keepdims=True)
    share = np.mean(needed / np.where(most > 0, most, 1.0), axis=0)
    worst = int(np.argmax(np.max(needed, axis=0)))
    return sorted({worst, *np.argsort(-share, kind="stable")[:size].tolist()})


def worst_cases(kinds: list[str], needs: np.ndarray) -> list[tuple[int, int]]:
    """Which (ladder, hard case) to follow, given log needed constants (ladders x cases x (middle, top)).

    On each ladder, of the cases that need about as much as any at its top, the one that would need most if it grew on
    as from the middle to the top; of each kind the two ladders where that is most; and, wherever it is, what needs most
    at the top.
    """
    middle, top = needs[:, :, 0], needs[:, :, 1]
    with np.errstate(invalid="ignore"):
        growth = np.where(np.isfinite(middle), np.maximum(top - middle, 0.0), 0.0)
    within = top >= np.max(top, axis=1, keepdims=True) + math.log(COMPARABLE)
    further = np.where(np.isfinite(top) & within, top + 2 * growth, -np.inf)
    best = [(i, int(np.argmax(further[i]))) for i in range(len(kinds))]
    chosen = []
    for kind in dict.fromkeys(kinds):
        of_kind = [pair for pair in best if kinds[pair[0]] == kind]
        chosen += sorted(of_kind, key=lambda pair: -further[pair])[:A_KIND]
    most = np.unravel_index(int(np.argmax(top)), top.shape)
    return list(dict.fromkeys([*chosen, (int(most[0]), int(most[1]))]))
