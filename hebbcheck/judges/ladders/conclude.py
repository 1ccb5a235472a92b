"""From what the draws needed to a finding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...claim import Claim
from ...settings import Settings
from ...verdict import Finding, Outcome
from . import rule, wording
from .cells import allowed_at
from .climb import Climb
from .needed import Directions
from .region import Region
from .rule import Allowed, Standing, State, quantile_of
from .tails import varies

POINTS = 200
HALF = 0.025
"""Intervals in a finding are two-sided with 95% confidence."""
BLIND = (
    "a verdict on constants does not vouch for logarithms: a missing square root of L is rarely seen at sizes that "
    "can be drawn, nor a small power of F in a term that others dominate; where a constant is known, judge the claim "
    "with it"
)


class Conclusion:
    """What was measured for one claim, and what follows."""

    def __init__(
        self,
        claim: Claim,
        settings: Settings,
        region: Region,
        signs: dict[str, int],
        relevant: list[str],
        kinds: list[str],
        climbs: list[Climb],
    ) -> None:
        self.claim, self.settings, self.region = claim, settings, region
        self.relevant, self.kinds, self.climbs = relevant, kinds, climbs
        self.directions = Directions(signs)
        self.names = " = ".join(name if sign >= 0 else f"1/{name}" for name, sign in signs.items())
        self.standings = rule.stand(climbs)
        self.level = rule.level_of(climbs)
        self.needs_most: dict[str, Any] = {}
        self.allowed = self._allowed(1.0)
        self.constant = self._constant()
        if callable(claim.fails_at_most) and 0 < self.constant["value"] < math.inf:
            self.allowed = self._allowed(self.constant["value"])
            self.constant = self._constant()
        self.test = rule.held_out(climbs, self.allowed)

    # -- the common constant ------------------------------------------------------------------------------------------
    def _allowed(self, s: float) -> Allowed:
        """The failure probability allowed on every rung, with constants s; 0 where none is allowed."""
        constants = self.directions.at(s)
        strict = {} if self.region.strict is None else {"delta": self.region.strict}

        def on_rung(climb: Climb, rung: dict[str, Any]) -> float:
            point = rung if climb.is_tail else {**rung, **strict}
            return allowed_at(self.claim, point, constants) or 0.0

        return [[on_rung(climb, rung) for rung in climb.ladder.rungs] for climb in self.climbs]

    def _constant(self) -> dict[str, float]:
        """What is needed in the most demanding cell so that the allowed share fails, with its 95% interval."""
        best = (-math.inf, -math.inf, -math.inf)
        for climb, allowed in zip(self.climbs, self.allowed, strict=True):
            for r, strict in enumerate(climb.strict):
                value = quantile_of(strict, allowed[r])
                if value > best[0]:
                    low, high = _quantile_interval(strict, allowed[r])
                    best, self.needs_most = (value, low, high), climb.ladder.rungs[r]
        value, low, high = (math.exp(v) if v < 700 else math.inf for v in best)
        return {"value": value, "low": low, "high": high}

    # -- the verdict --------------------------------------------------------------------------------------------------
    def verdict(self) -> tuple[Outcome, str]:
        """The outcome and the sentence that justifies it."""
        if not self.climbs:
            return Outcome.INCONCLUSIVE, (
                "no ladder of sizes could be climbed, so growth cannot be seen; wider ranges of the family's sizes, "
                "or a larger profile, would decide"
            )
        if not any(climb.evidence for climb in self.climbs):
            return Outcome.VACUOUS, self._nothing()
        refuted = self.refuted()
        return (Outcome.REFUTED, refuted) if refuted else self._not_refuted()

    def refuted(self) -> str | None:
        """Why no constant suffices; None where nothing shows that."""
        cell = rule.unbounded_cell(self.climbs, self.allowed)
        if cell is not None:
            return wording.unbounded(cell, self.names)
        rising = [(s, s.growth) for s in self.standings if s.contradicts and s.growth]
        if not rising:
            return None
        worst, _ = max(
            rising, key=lambda pair: pair[1].slope.low(self.level) / rule.RISING[pair[0].ladder.kind]
        )
        return wording.refuted(worst, self.names, self.level)

    def undecided(self) -> list[Standing]:
        """The ladders on which the verdict hangs; none where it does not, or where they are too few or too short."""
        if not self.climbs or self.refuted() or self._too_short():
            return []
        return [s for s in self.standings if s.open]

    def _not_refuted(self) -> tuple[Outcome, str]:
        short = self._too_short()
        if short:
            return Outcome.INCONCLUSIVE, short
        undecided = self.undecided()
        if undecided:
            worst = max(undecided, key=lambda s: s.growth.ahead if s.growth else -math.inf)
            return Outcome.INCONCLUSIVE, wording.undecided(worst, self.names)
        if self.test.fails:
            return Outcome.INCONCLUSIVE, wording.held_out_failed(self.test, self.names)
        if self._says_nothing():
            return Outcome.VACUOUS, (
                f"the bound never passed trivial: with {self.names} = {wording.number(self.constant['value'])}, which "
                "the cells need, it lies beyond what the measured side can reach anyway in all of them"
            )
        varying = [n for n, values in self.region.parameters.items() if n != "delta" and len(values) > 1]
        said = wording.supported(self.standings, self.names, self.constant)
        return Outcome.SUPPORTED, said + wording.unseen(self.standings, varying)

    def _nothing(self) -> str:
        undefined = sum(climb.undefined for climb in self.climbs)
        total = sum(climb.draws for climb in self.climbs)
        if undefined == total:
            return f"the relation had no value (NaN or a division by zero) on any of {total} draws"
        return f"no instance met the assumptions in {total} draws"

    def _too_short(self) -> str | None:
        """Why the ladders span too little, or nothing varies."""
        told = [s.ladder for s in self.standings if s.state is not State.THIN and not s.climb.is_tail]
        if not told and self._varies():
            return "no ladder of sizes is long enough to see growth; wider ranges of the family's sizes would decide"
        still = [k for k in self.kinds if len(k) == 1 and not any(ladder.kind == k for ladder in told)]
        if still:
            return (
                f"no ladder in {still[0]} alone could be climbed at this profile; a larger one would decide"
            )
        for name, least in rule.SPANS.items():
            axis = self.region.axes.get(name)
            if axis is None or axis.fixed or (name in ("d", "m") and name not in self.relevant):
                continue
            reached = max((rung.get(name, 0) for ladder in told for rung in ladder.rungs), default=0)
            if reached < (least if axis.open else min(least, axis.high)):
                return (
                    f"{name} only reached {wording.power_of_two(reached)}; {name} beyond {least} would decide"
                )
        if varies(self.claim) and not any(climb.is_tail for climb in self.climbs):
            return "no cell could be drawn often enough to see small failure probabilities; more draws would decide"
        return None

    def _varies(self) -> bool:
        """Whether a size varies that the relation depends on."""
        free = [n for n, axis in self.region.axes.items() if not axis.fixed]
        return any(n in self.relevant or n not in ("d", "m") for n in free)

    def _says_nothing(self) -> bool:
        limits = [climb.trivial_from for climb in self.climbs if climb.evidence and not climb.is_tail]
        return bool(limits) and max(limits) <= self.constant["value"]

    # -- the finding --------------------------------------------------------------------------------------------------
    def finding(self) -> Finding:
        """The record of what was found."""
        outcome, reason = self.verdict()
        evidence = sum(climb.evidence for climb in self.climbs)
        return Finding(
            outcome,
            reason,
            instances=evidence,
            undefined=sum(climb.undefined for climb in self.climbs),
            constants=self._constants() if evidence else {},
            exponents=self._exponents(),
            assumptions=self._assumptions(),
            points=self._points(),
            notes=self._notes(),
        )

    def _constants(self) -> dict[str, dict[str, float]]:
        low, value, high = (self.constant[key] for key in ("low", "value", "high"))
        up = {"value": value, "low": low, "high": high}
        down = {"value": _inverse(value), "low": _inverse(high), "high": _inverse(low)}
        return {name: dict(up if sign >= 0 else down) for name, sign in self.directions.signs.items()}

    def _exponents(self) -> dict[str, dict[str, float]]:
        """For each size the largest local exponent on a ladder in this size alone, with its 95% interval.

        The one in L is that of the ladder on which the failure probability falls.
        """
        made: dict[str, dict[str, float]] = {}
        for s in self.standings:
            if s.growth is None or len(s.ladder.moves) > 1:
                continue
            in_size = (s.ladder.moves[0], s.growth.in_size)
            name, slope = ("L", s.growth.slope) if s.climb.is_tail else in_size
            if name not in made or slope.value > made[name]["value"]:
                made[name] = {"value": slope.value, "low": slope.low(HALF), "high": slope.high(HALF)}
        return made

    def _assumptions(self) -> dict[str, dict[str, Any]]:
        """How often each was met; None for those that name constants, as they hold or not with the constants."""
        measured = [climb for climb in self.climbs if not climb.is_tail]
        total = sum(climb.draws for climb in measured)
        shares = {}
        for name in self.claim.given:
            met = [climb.met[name] for climb in measured if name in climb.met]
            shares[name] = {"share_met": sum(met) / total if met and total else None, "needed": None}
        return shares

    def _points(self) -> list[dict[str, Any]]:
        points = []
        strict = {} if self.region.strict is None else {"delta": self.region.strict}
        for climb, allowed in zip(self.climbs, self.allowed, strict=True):
            for r, rung in enumerate(climb.ladder.rungs):
                value = quantile_of(climb.strict[r], allowed[r])
                if abs(value) < 700:
                    cell = rung if climb.is_tail else {**rung, **strict}
                    lead = climb.ladder.moves[0]
                    named = {"ladder": climb.ladder.name, "size": lead, **cell}
                    points.append({**named, "needed": math.exp(value), "seed": self.settings.seed})
        step = max(math.ceil(len(points) / POINTS), 1)
        return points[::step]

    def _notes(self) -> list[str]:
        notes = [BLIND]
        signs = self.directions.signs
        if not self.directions.monotone:
            either = ", ".join(n for n, sign in signs.items() if sign == 0)
            notes.append(
                f"the form is monotone in neither direction of {either}: its constant was searched on a grid"
            )
        if len(signs) > 1:
            notes.append("constants that weaken the bound in one direction share a common value")
        idle = [n for n in ("d", "m") if n in self.region.axes and n not in self.relevant]
        idle = [n for n in idle if not self.region.axes[n].fixed]
        if idle:
            notes.append(f"the relation does not depend on {' and '.join(idle)}")
        if len(self.claim.family.choices) > 1:
            notes.append(
                "the hard cases of what an adversary chooses were picked for each ladder by pilot draws (the one that "
                "needs most at the top, and the one that grows most); other draws were judged"
            )
        if 0 < self.constant["value"] < math.inf:
            notes.append(f"the constant is needed most at {wording.point_text(self.needs_most)}")
        return notes


def _inverse(value: float) -> float:
    return math.inf if value == 0 else 1 / value


def _quantile_interval(needed: np.ndarray, allowed: float) -> tuple[float, float]:
    """A 95% interval for the (1 - allowed) quantile, from order statistics."""
    valid = np.sort(needed[~np.isnan(needed)])
    n = len(valid)
    centre, spread = (1 - allowed) * n, 1.96 * math.sqrt(n * allowed * (1 - allowed))
    low = min(max(math.floor(centre - spread) - 1, 0), n - 1)
    high = min(math.ceil(centre + spread), n - 1)
    return float(valid[low]), float(valid[high])
