"""Statements in expectation: `hc.mean(samples)` against a bound, by pooled sampling with an interval.

On each geometry (parallel, orthogonal, generic, ... pairs) the claim is called again and again with fresh streams;
the mean has Hall's interval (`moments`), an event's frequency that of Clopper and Pearson, at the level divided by
the number of geometries and entries. An interval that lies wholly on the wrong side is a suspicion; it refutes only
if fresh samples, at least as many and ten times the first ones, say the same at the same level; if they do not, the
verdict is inconclusive. Supported only if a bias of 5% of the largest mean would have been seen on every geometry with
95% power, twice over (where all means are 0: of the largest standard deviation); sampling goes on, twice at most, where
it would not, up to the profile's number of samples.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..claim import Claim
from ..proofs import Step, check_proof
from ..settings import LEVEL, Settings
from ..sweeps import Task
from ..verdict import Finding, Outcome, Quantifier, nothing_judged
from .breaking import need
from .counting import POWER
from .means import PRECISE, Estimate, confirmed, level_of, merged, missing, visible_bias
from .moments import Moments

QUANTIFIER = Quantifier.EXPECTATION
MEASURE = "hebbcheck.judges.sampling:measure"
FIRST = 200_000
MORE = ("more", "still more")
"""How many samples are needed is foretold from their variance, which the first ones may have had too small."""
CONFIRM = 10
"""A suspicion is judged on so many times the first samples, and on no fewer than raised it."""
MOST = (4_000_000, 40_000_000)
"""The most samples of a geometry, quick and standard."""


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """Sample on every kind of geometry; a proof makes `supported` to `proved`."""
    sampler = Sampler(claim, settings)
    entries, results = yield from sampler.run(None)
    needed = {}
    for name in claim.given if claim.test_needs else ():
        broken, _ = yield from sampler.run(name)
        needed[name] = need(any(e.confirmed for e in broken), len(broken))
    return _finding(claim, entries, results, needed, check_proof(claim))


class Sampler:
    """The rounds of sampling: first samples, more where they are too few, fresh ones where they look wrong."""

    def __init__(self, claim: Claim, settings: Settings) -> None:
        repeats = range(settings.by_profile(2, 6))
        self.cells = [(choice, repeat) for choice in claim.family.choices for repeat in repeats]
        self.rounding = max(1e-9, 100 * settings.arrays.eps)
        self.most = settings.by_profile(*MOST)

    def run(self, broken: str | None) -> Generator[list[Task], list[dict], tuple[list[Estimate], list[dict]]]:
        """(entries of all geometries, the first results); `broken`: on geometries that break this assumption."""
        first = yield self._tasks("first", dict.fromkeys(range(len(self.cells)), FIRST), broken)
        entries = [e for cell, result in enumerate(first) for e in self._entries(cell, result)]
        for role in MORE if broken is None else ():
            if more := missing(entries, self.most):
                added = yield self._tasks(role, more, broken)
                drawn = [
                    e for cell, result in zip(more, added, strict=True) for e in self._entries(cell, result)
                ]
                entries = merged(entries, drawn)
        level = level_of(entries)
        suspected = {e.cell: max(CONFIRM * FIRST, e.moments.count) for e in entries if e.miss(level)}
        again = (yield self._tasks("confirm", suspected, broken)) if suspected else []
        fresh = [e for c, r in zip(suspected, again, strict=True) for e in self._entries(c, r)]
        return confirmed(entries, fresh, level), first

    def _tasks(self, role: str, samples: dict[int, int], broken: str | None) -> list[Task]:
        return [
            Task(
                MEASURE,
                {
                    "choice": self.cells[cell][0],
                    "repeat": self.cells[cell][1],
                    "samples": count,
                    "role": role,
                    "broken": broken,
                },
            )
            for cell, count in samples.items()
        ]

    def _entries(self, cell: int, result: dict) -> list[Estimate]:
        return [
            Estimate(
                cell=cell,
                numbers=result["numbers"],
                choice=result["choice"],
                moments=Moments(e["count"], *(np.asarray(e[name]) for name in ("gap", "squares", "cubes"))),
                rounding=self.rounding,
                **{
                    name: e[name]
                    for name in ("relation", "kind", "beyond", "left", "right", "named", "event")
                },
            )
            for e in result["entries"]
        ]


def _finding(
    claim: Claim, entries: list[Estimate], results: list[dict], needed: dict, proof: list[Step] | None
) -> Finding:
    level = level_of(entries)
    finding = Finding(
        Outcome.SUPPORTED,
        "",
        instances=sum(e.moments.count for e in entries),
        undefined=sum(r["undefined"] for r in results),
        violations=sum(e.confirmed for e in entries),
        proof=[step.as_dict() for step in proof] if proof is not None else None,
        points=[_point(e, level) for e in entries][:200],
    )
    for name in claim.given:
        share = float(np.mean([name not in r["unmet"] for r in results]))
        finding.assumptions[name] = {"share_met": share, "needed": needed.get(name)}
    if entries:
        _decide(finding, entries, level, proof)
    else:
        finding.outcome = Outcome.VACUOUS
        finding.reason = nothing_judged("call", finding.undefined, finding.assumptions)
    return finding


def _decide(finding: Finding, entries: list[Estimate], level: float, proof: list[Step] | None) -> None:
    told = f"level {LEVEL:g} over {len(entries)} mean{'s' * (len(entries) > 1)}"
    broken = [e for e in entries if e.confirmed]
    failed = [step.name for step in proof or [] if not step.vanishes]
    bias, scale = visible_bias(entries)
    if broken:
        e = max(broken, key=lambda e: e.miss(level) / max(e.error, 1e-300))
        finding.outcome = Outcome.REFUTED
        finding.reason = (
            f"The mean is {e.left:.5g} where {e.right:.5g} is claimed: off by {e.gap:.3g} with a standard "
            f"error of {e.error:.2g} ({e}; {e.moments.count} samples, {told}, confirmed on fresh samples)."
        )
    elif all(e.beyond for e in entries):
        finding.outcome = Outcome.VACUOUS
        finding.reason = f"The bound never passed the trivial value on {len(entries)} geometries."
    elif failed:
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"Sampling does not contradict it, but the proof's step {failed[0]!r} does not vanish."
        )
    elif proof:
        finding.outcome = Outcome.PROVED
        finding.reason = (
            f"Proved symbolically ({_steps(len(proof))}); {finding.instances} samples agree ({told})."
        )
    elif any(e.suspected for e in entries):
        e = next(e for e in entries if e.suspected)
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"{e.moments.count} samples contradict it ({e}), but as many fresh ones do not ({told}); another seed or a "
            "larger profile would decide."
        )
    elif any(e.blind for e in entries):
        e = next(e for e in entries if e.blind)
        made = "all are equal" if e.deviation == 0 else "a few make most of their variance"
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"The samples cannot tell their mean ({e}): of {e.moments.count} {made}, so that rarer ones may decide it; "
            "it needs a law with a lighter tail, or a proof."
        )
    elif bias > PRECISE:
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"{finding.instances} samples agree, but would have shown only a bias above {bias:.3g} of {scale} "
            f"where {PRECISE:g} is needed ({told}); a larger profile samples more."
        )
    else:
        finding.reason = (
            f"{finding.instances} samples agree; a bias above {bias:.1%} of {scale} would have been seen on "
            f"every geometry with {POWER:.0%} power ({told})."
        )


def _steps(count: int) -> str:
    return f"{count} step{'s' * (count > 1)}"


def _point(e: Estimate, level: float) -> dict:
    sides = {"measured": e.left, "bound": e.right, "half_width": e.half_width(level)}
    return {**sides, "geometry": e.choice, **e.numbers}
