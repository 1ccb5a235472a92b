"""With probability at least 1 - delta: failures in independent draws.

Refuted if the Clopper-Pearson lower limit of the failure rate exceeds the allowed probability in some cell, at
the level divided by the number of cells and of looks (`counting`).  Each cell has enough draws that twice the allowed
rate would have been seen with 95% power; supported only then.  Cells where twice the allowed rate is ruled out early
are drawn no further.  Pilot draws pick the cells (sizes, and what an adversary chooses) that come nearest to failing,
and fresh draws judge them; what refutes is counted once more, without failures that rounding may have made.  A draw
that misses an assumption or has no value is no trial: a statement under assumptions on drawn quantities is conditional,
and is drawn until enough draws meet them.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, field

from ..claim import Claim
from ..inputs import Raw
from ..settings import LEVEL, Settings
from ..sweeps import Task
from ..verdict import Finding, Outcome, Quantifier, nothing_judged
from .cell_choice import Cell, groups_of_cells, reach, scarce, seconds_a_draw
from .counting import LOOKS, POWER, acceptable, limits, looks
from .draws import MEASURE, PILOT_DRAWS, drawn, measure, nearest, pilot_task
from .dropped import needed_assumptions
from .ladders import wording
from .ladders.region import Region

QUANTIFIER = Quantifier.PROBABILITY
CELLS = 6
CHUNK = 200
ROUNDS = 3
MOST = (4, 16)
"""At most this many times the needed draws, quick and standard, where few of them meet the assumptions."""
MOST_DRAWS = (8000, 80_000)
"""And at most so many draws a cell."""


@dataclass
class Tally:
    """One cell and what its draws said.

    `level`: of one look.  `strict`: failures that rounding may have made do not count.
    """

    cell: Cell
    level: float
    strict: bool = False
    results: list[dict] = field(default_factory=list)
    drawn: int = 0
    asked: list[Task] = field(default_factory=list)

    def total(self, name: str) -> int:
        return sum(r[name] for r in self.results)

    @property
    def looks(self) -> tuple[int, ...]:
        return looks(self.cell["allowed"], self.level)

    @property
    def needed(self) -> int:
        return self.looks[-1]

    @property
    def trials(self) -> int:
        return self.total("trials")

    @property
    def failures(self) -> int:
        return self.total("failures")

    @property
    def limits(self) -> tuple[float, float]:
        return limits(self.failures, self.trials, self.level)

    @property
    def too_many(self) -> bool:
        return self.limits[0] > self.cell["allowed"]

    @property
    def refuted(self) -> bool:
        return self.strict and self.too_many

    @property
    def accepted(self) -> bool:
        return self.trials >= self.looks[0] and acceptable(self.failures, self.trials, self.cell["allowed"])

    @property
    def enough(self) -> bool:
        return self.accepted or self.trials >= self.needed

    @property
    def excess(self) -> tuple[bool, float, float]:
        """How far beyond what is allowed: by the lower limit, then by the rate itself."""
        allowed = self.cell["allowed"]
        return self.refuted, self.limits[0] - allowed, self.failures / max(self.trials, 1) - allowed

    def tasks(self, wanted: int, share: float, most: int) -> list[Task]:
        """The draws that are missing for the trials wanted, if this share of them counts."""
        missing = wanted - self.trials
        count = min(math.ceil(missing / share) + 10 if 0 < share < 1 else missing, most - self.drawn)
        start, self.drawn = self.drawn, self.drawn + max(count, 0)
        shared = {**self.cell, "role": "judged", "broken": None, **({"strict": True} if self.strict else {})}
        tasks = [
            Task(MEASURE, {**shared, "first": first, "draws": min(CHUNK, self.drawn - first)})
            for first in range(start, self.drawn, CHUNK)
        ]
        self.asked += tasks
        return tasks


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """Choose cells, pick the ones nearest to failing by pilot draws, judge those by fresh draws."""
    groups, least = groups_of_cells(claim, settings)
    if not groups:
        return _nothing_said(claim, settings, least)
    cells = [cell for group in groups for cell in group]
    pilots = yield [pilot_task(cell) for cell in cells]
    piloted = iter(pilots)
    chosen = [
        cell
        for group in groups
        for cell in nearest([(cell, next(piloted)) for cell in group], _kept(group, len(groups), settings))
    ]
    shares = {_name(cell): _share(pilot) for cell, pilot in zip(cells, pilots, strict=True)}
    tallies = [Tally(cell, LEVEL / len(chosen) / LOOKS) for cell in chosen]
    for look in range(LOOKS):
        yield from _draw([tally for tally in tallies if not tally.accepted], look, shares, settings)
        yield from _recount([tally for tally in tallies if tally.too_many])
        if any(tally.refuted for tally in tallies):
            break
    needed = (yield from needed_assumptions(claim, settings)) if claim.test_needs else {}
    finding = _finding(claim, settings, tallies, pilots, needed)
    if finding.outcome is Outcome.SUPPORTED:
        finding.reason += _sizes(claim, cells, settings)
    return finding


def _sizes(claim: Claim, cells: list[Cell], settings: Settings) -> str:
    """At which sizes draws were made, and where not: what fails there alone is not seen."""
    held, missing = reach(claim, cells, settings)
    left = f"; not drawn: {missing}" if missing else ""
    return f" Sizes drawn: {held}{left}." if held else ""


def _kept(group: list[Cell], groups: int, settings: Settings) -> int:
    few = settings.profile == "quick" and scarce(group)
    return 1 if few else max(1, settings.by_profile(CELLS, 2 * CELLS) // groups)


def _name(cell: Cell) -> str:
    return repr((cell["numbers"], cell["choice"]))


def _share(pilot: dict) -> float:
    return pilot["trials"] / PILOT_DRAWS


def _draw(
    tallies: list[Tally], look: int, shares: dict[str, float], settings: Settings
) -> Generator[list[Task], list[dict], None]:
    """Draw each cell until it has the trials of this look, or as many draws as the profile allows."""
    for _ in range(ROUNDS):
        asked: list[tuple[Tally, Task]] = []
        for tally in tallies:
            wanted = tally.looks[min(look, len(tally.looks) - 1)]
            if tally.trials < wanted:
                most = min(settings.by_profile(*MOST) * tally.needed, settings.by_profile(*MOST_DRAWS))
                share = tally.trials / tally.drawn if tally.drawn else shares[_name(tally.cell)]
                asked += [(tally, task) for task in tally.tasks(wanted, share, most)]
        if not asked:
            return
        results = yield [task for _, task in asked]
        for (tally, _), result in zip(asked, results, strict=True):
            tally.results.append(result)


def _recount(tallies: list[Tally]) -> Generator[list[Task], list[dict], None]:
    """Draw what refutes once more, counting a failure only where moving what it is made of does not undo it.

    Cheap cells first, until one refutes again.
    """
    for tally in sorted(tallies, key=lambda tally: seconds_a_draw(tally.cell["numbers"])):
        if not tally.strict:
            tally.strict = True
            tally.asked = [Task(MEASURE, {**task.params, "strict": True}) for task in tally.asked]
            tally.results = yield tally.asked
        if tally.refuted:
            return


def _nothing_said(claim: Claim, settings: Settings, least: float) -> Finding:
    if least < 1:
        smallest = Region(claim, settings, spanned=False).far_corner()
        reason = f"No sizes within reach meet the assumptions: {wording.smallest_sizes(smallest)}"
        return Finding(Outcome.VACUOUS, reason, smallest_sizes=smallest)
    return Finding(
        Outcome.VACUOUS,
        "The allowed failure probability is 1 or more at all sizes tried, so the statement says nothing.",
    )


def _finding(
    claim: Claim, settings: Settings, tallies: list[Tally], pilots: list[dict], needed: dict[str, str | None]
) -> Finding:
    results = [result for tally in tallies for result in tally.results]
    worst = max(tallies, key=lambda tally: tally.excess)
    low, high = worst.limits
    finding = Finding(
        Outcome.SUPPORTED,
        "",
        instances=sum(tally.trials for tally in tallies),
        undefined=sum(r["undefined"] for r in results),
        violations=sum(tally.failures for tally in tallies),
        failures={
            "failures": worst.failures,
            "trials": worst.trials,
            "low": low,
            "high": high,
            "allowed": worst.cell["allowed"],
            "cell": said(worst.cell),
        },
        points=[point for r in results for point in r["points"]][:200],
        tightness=_tightness(tallies),
    )
    for name in claim.given:
        unmet = sum(r["unmet"].get(name, 0) for r in results + pilots)
        seen = sum(r["seen"] for r in results + pilots)
        share = 1 - unmet / seen if seen else None
        finding.assumptions[name] = {"share_met": share, "needed": needed.get(name)}
    _decide(finding, tallies, worst)
    if finding.outcome == Outcome.REFUTED:
        finding.counterexamples = _failing_draws(claim, settings, tallies)
    return finding


def _tightness(tallies: list[Tally]) -> dict:
    ratios = [(r["ratio"], said(t.cell)) for t in tallies for r in t.results if r["ratio"] is not None]
    ratio, instance = min(ratios, key=lambda pair: pair[0], default=(None, None))
    return {"ratio": ratio, "instance": instance}


def _failing_draws(claim: Claim, settings: Settings, tallies: list[Tally]) -> dict[str, dict]:
    """A failing draw of the smallest sizes where the rate was counted again, and the draw that fails by most."""
    failing = [
        (r["worst_ratio"], tally, r["worst"])
        for tally in tallies
        for r in tally.results
        if r["worst"] is not None
    ]
    failing.sort(key=lambda found: found[0])

    def stands(tally: Tally, index: int) -> bool:
        single = {**tally.cell, "role": "judged", "broken": None, "first": index, "draws": 1, "strict": True}
        return tally.refuted or bool(measure(claim, settings, single)["failures"])

    def raw(tally: Tally, index: int) -> Raw:
        return drawn(claim, settings, tally.cell | {"role": "judged"}, index)[0]

    worst = next((tally, index) for _, tally, index in failing if stands(tally, index))
    counted = [raw(tally, index) for _, tally, index in failing if tally.refuted]
    smallest = min(counted, key=lambda raw: raw.entries)
    return {"smallest": smallest.as_json(), "worst": raw(*worst).as_json()}


def _decide(finding: Finding, tallies: list[Tally], worst: Tally) -> None:
    allowed = worst.cell["allowed"]
    rate = f"{worst.failures} of {worst.trials} draws failed where a rate of {allowed:.3g} is allowed"
    level = f"level {LEVEL:g} over {_cells(len(tallies))}"
    if worst.refuted:
        finding.outcome = Outcome.REFUTED
        finding.reason = f"{rate} ({said(worst.cell)}): the rate exceeds {worst.limits[0]:.3g} at {level}."
    elif finding.instances == 0:
        finding.outcome = Outcome.VACUOUS
        finding.reason = nothing_judged("draw", finding.undefined, finding.assumptions)
    elif all(tally.total("beyond_trivial") == tally.trials for tally in tallies):
        finding.outcome = Outcome.VACUOUS
        finding.reason = f"The bound never passed the trivial value in {finding.instances} draws."
    elif not all(tally.enough for tally in tallies):
        finding.outcome = Outcome.INCONCLUSIVE
        short = min(tallies, key=lambda tally: tally.trials / tally.needed)
        finding.reason = (
            f"Only {short.trials} of {short.drawn} draws count at {said(short.cell)}, and {short.needed} are needed to "
            f"see twice the allowed rate of {short.cell['allowed']:.3g}; try a larger profile."
        )
    else:
        seen = "a failure rate of 0.3%" if allowed == 0 else "twice the allowed rate"
        beginning = (
            f"In none of {_cells(len(tallies))} did significantly more draws fail than allowed: at worst"
            if len(tallies) > 1
            else "In the one cell there is, not significantly more draws failed than allowed:"
        )
        finding.reason = (
            f"{beginning} {rate} ({said(worst.cell)}); {seen} would have been seen with {POWER:.0%} power at level "
            f"{LEVEL:g}."
        )


def _cells(count: int) -> str:
    return f"{count} cell{'s' * (count > 1)}"


def said(cell: Cell) -> str:
    """A cell in words: its sizes, and what an adversary chose."""
    sizes = ", ".join(f"{name}={value:.4g}" for name, value in cell["numbers"].items())
    return f"{sizes}, {cell['choice']}" if cell["choice"] else sizes
