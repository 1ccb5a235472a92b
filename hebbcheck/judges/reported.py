"""Claims "as reported": a paper's number by the paper's protocol, with an interval over replicates.

Each replicate repeats the protocol with fresh seeds.  A relation is refuted where the two-sided Student t
interval (level 1e-4, shared among the relations of a claim) of its mean slack over the replicates lies below
zero, supported where the figure's point values satisfy it and it is not refuted, and inconclusive where they
do not but the interval reaches zero.  An equality is supported where the interval holds zero and lies within 5% of
the larger side.  An R^2 is bounded by 1 and skewed to the left: samples that miss the
left tail have too high a mean, and those that meet it have a wide interval, so that the t interval refutes a
true R^2 less often than its level says.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from .. import figure as figures
from ..claim import Claim
from ..errors import HebbcheckError
from ..figure import Figure, Summary
from ..fitting import Interval, student
from ..settings import LEVEL, Settings
from ..verdict import Finding, Outcome, Quantifier
from .means import PRECISE

QUANTIFIER = Quantifier.REPORTED
KINDS = {"at_least": ">=", "at_most": "<=", "equal": "="}
LEAST_REPLICATES = 3


@dataclass(frozen=True)
class Side:
    """A relation on numbers: `slack` is negative where it is broken (of an equality: the difference)."""

    kind: str
    measured: float
    bound: float

    @property
    def slack(self) -> float:
        return self.bound - self.measured if self.kind == "at_most" else self.measured - self.bound

    @property
    def holds(self) -> bool:
        return self.slack == 0 if self.kind == "equal" else self.slack >= 0

    def __str__(self) -> str:
        return f"{self.measured:.4g} {KINDS[self.kind]} {self.bound:.4g}"


@dataclass(frozen=True)
class Judged:
    """One relation: at the figure's point values, in each replicate, and the interval of its mean slack."""

    point: Side
    replicates: list[Side]
    interval: Interval

    @property
    def outcome(self) -> Outcome:
        low, high = self.interval.low, self.interval.high
        if self.point.kind == "equal":
            told_apart = PRECISE * max(abs(self.point.measured), abs(self.point.bound))
            if not low <= 0 <= high:
                return Outcome.REFUTED
            return Outcome.SUPPORTED if max(high, -low) <= told_apart else Outcome.INCONCLUSIVE
        if high < 0:
            return Outcome.REFUTED
        return Outcome.SUPPORTED if self.point.holds else Outcome.INCONCLUSIVE


def judge(claim: Claim, settings: Settings) -> Generator[list, list[dict], Finding]:
    """The figure's cells (shared with every other claim on it), then the claim on what they say."""
    figure = figure_of(claim)
    told = yield from figures.summary(figure, settings)
    if len(told.replicates) < LEAST_REPLICATES:
        raise HebbcheckError(
            f"{figure.id} has {len(told.replicates)} replicates; an interval needs {LEAST_REPLICATES}; "
            "give it more seeds"
        )
    point, *samples = (_sides(claim, attributes) for attributes in (told.attributes, *told.replicates))
    defined = [sides for sides in samples if _defined(sides)]
    if not _defined(point) or len(defined) < LEAST_REPLICATES:
        lost = len(samples) - len(defined)
        reason = f"In {figure.id} the relation is undefined in {lost} of {len(samples)} replicates."
        return Finding(Outcome.INCONCLUSIVE, reason, undefined=lost)
    level = LEVEL / len(point)
    judged = [
        Judged(at_point, list(column), student([side.slack for side in column], level))
        for at_point, column in zip(point, zip(*defined, strict=True), strict=True)
    ]
    return _finding(claim, told, judged, len(samples) - len(defined))


def figure_of(claim: Claim) -> Figure:
    """The figure that a claim over `geo.figure(id)` speaks of: one in its own file, else one of the paper's."""
    wanted = claim.family.id
    beside = figures.load(claim.file) if claim.file else []
    return next((f for f in beside if f.id == wanted), None) or figures.find([wanted])[0]


def _sides(claim: Claim, attributes: dict[str, float]) -> list[Side]:
    relations = claim.relations(claim.family.replicate(attributes))
    wrong = [r for r in relations if r.kind not in KINDS or r.in_expectation]
    if wrong:
        raise HebbcheckError(
            f"claim {claim.id!r} says {wrong[0].kind} of a figure's numbers, which are averages already; "
            "at_least, at_most or equal of plain numbers is needed; drop hc.mean or hc.scales_as"
        )
    return [Side(r.kind, float(r.measured), float(r.bound)) for r in relations]


def _defined(sides: list[Side]) -> bool:
    return all(math.isfinite(side.slack) for side in sides)


def _finding(claim: Claim, told: Summary, judged: list[Judged], undefined: int) -> Finding:
    outcomes = [j.outcome for j in judged]
    ranked = (Outcome.REFUTED, Outcome.INCONCLUSIVE, Outcome.SUPPORTED)
    outcome = next(o for o in ranked if o in outcomes)
    decisive = judged[outcomes.index(outcome)]
    rows = list(zip(*(j.replicates for j in judged), strict=True))
    satisfied = sum(all(side.holds for side in row) for row in rows)
    scale = max(abs(decisive.point.measured), abs(decisive.point.bound))
    return Finding(
        outcome,
        _reason(decisive, satisfied, len(rows), outcome, claim.family.id),
        instances=len(rows),
        undefined=undefined,
        violations=len(rows) - satisfied,
        r2={name: told.attributes.get(f"r2_{name}") for name in ("fitted", "stated")},
        tightness={
            "ratio": decisive.point.slack / scale if scale else 0.0,
            "instance": f"mean of {len(rows)} replicates",
        },
        points=_points(decisive),
        notes=list(told.notes),
    )


def _points(decisive: Judged) -> list[dict[str, Any]]:
    return [
        {"measured": s.measured, "bound": s.bound, "replicate": i} for i, s in enumerate(decisive.replicates)
    ]


def _reason(decisive: Judged, satisfied: int, count: int, outcome: Outcome, figure: str) -> str:
    point, interval = decisive.point, decisive.interval
    mean = f"the mean slack {interval.value:.3g} lies in [{interval.low:.3g}, {interval.high:.3g}]"
    verb = {
        Outcome.REFUTED: "is refuted",
        Outcome.SUPPORTED: "holds",
        Outcome.INCONCLUSIVE: "is not refuted, but the interval is too wide to support it"
        if point.kind == "equal"
        else "fails at the point estimate, but the interval reaches zero",
    }[outcome]
    return (
        f"In {figure} {point} {verb}: over {count} replicates of the protocol {mean} "
        f"(Student t, level {LEVEL:g}), and {satisfied} of {count} satisfy the claim."
    )
