"""With probability at least 1 - delta: failures in independent draws.

Refuted if the Clopper-Pearson lower limit of the failure rate exceeds the allowed probability in some cell, at
the level divided by the number of cells (Clopper and Pearson, 1934).  Each cell has enough draws that twice the
allowed rate would have been seen with 95% power; supported only then.  Where an adversary chooses (keys or
values `anything`), pilot draws pick the cells that come closest to failing, and fresh draws judge them.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from functools import cache

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ..arrays import Streams
from ..claim import Claim
from ..errors import HebbcheckError
from ..evaluation import Value, evaluate
from ..instance import Raw
from ..settings import LEVEL, Settings
from ..sweeps import Task
from ..verdict import Finding, Outcome, Quantifier

QUANTIFIER = Quantifier.PROBABILITY
POWER = 0.95
CHOSEN = (0.01, 0.9)
"""Cells are chosen where the allowed failure probability lies here."""
CELLS = 6
PILOT_DRAWS = 24
CHUNK = 200


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """Choose cells, pick the ones nearest to failing by pilot draws, judge those by fresh draws."""
    cells, least = _cells(claim, settings)
    if not cells:
        return _vacuous(claim, least)
    pilots = yield [Task(MEASURE, {**cell, "draws": PILOT_DRAWS, "part": "pilot"}) for cell in cells]
    chosen = _nearest(cells, pilots, settings)
    level = LEVEL / len(chosen)
    tasks = [task for cell in chosen for task in _tasks(cell, level)]
    results = yield tasks
    return _finding(claim, chosen, tasks, results, pilots, level)


MEASURE = "hebbcheck.judges.probability:measure"


def _tasks(cell: dict, level: float) -> Iterator[Task]:
    draws = draws_needed(cell["allowed"], level)
    for part, start in enumerate(range(0, draws, CHUNK)):
        yield Task(MEASURE, {**cell, "draws": min(CHUNK, draws - start), "part": part})


@cache
def draws_needed(allowed: float, level: float) -> int:
    """The fewest draws with which twice the allowed rate is refuted with 95% power."""
    if allowed <= 0:
        return 1000
    rate = min(2 * allowed, (1 + allowed) / 2)
    n = 8
    while stats.binom.sf(stats.binom.isf(level, n, allowed), n, rate) < POWER:
        n = math.ceil(n * 1.1)
    return n


def _cells(claim: Claim, settings: Settings) -> tuple[list[dict], float]:
    """(cells, the smallest allowed failure probability seen): sizes, choice, and what the statement allows there."""
    rng = Streams("cells", claim.id, settings.seed)("sizes")
    candidates: list[dict] = []
    least = 1.0
    for _ in range(4000):
        numbers = claim.family.sample_sizes(rng, settings.profile)
        sizes = claim.family.sizes_at(numbers)
        try:
            allowed = claim.allowed_failure(sizes)
        except ZeroDivisionError:
            continue
        if math.isnan(allowed) or allowed < 0:
            raise HebbcheckError(
                f"fails_at_most of {claim.id!r} is {allowed} at {numbers}; a probability is needed"
            )
        least = min(least, allowed)
        if not _in_region(claim, sizes) or not _worth(claim, allowed):
            continue
        candidates.append({"numbers": numbers, "allowed": allowed})
    choices = claim.family.choices
    affordable = sorted(candidates, key=lambda c: _cost(c, len(choices)))
    kept = [c for c in affordable if _cost(c, len(choices)) < settings.by_profile(1.0, 20.0)] or affordable[
        :4
    ]
    picked = _spread(kept, rng, settings.by_profile(6, 16))
    return [{**c, "choice": choice} for c in picked for choice in choices][
        : settings.by_profile(60, 200)
    ], least


def _worth(claim: Claim, allowed: float) -> bool:
    if callable(claim.fails_at_most):
        return CHOSEN[0] <= allowed <= CHOSEN[1]
    return allowed < 1


def _in_region(claim: Claim, sizes: object) -> bool:
    """Assumptions that the sizes alone decide; those on drawn quantities are decided draw by draw."""
    for test in claim.given.values():
        try:
            if not claim.call(test, sizes):
                return False
        except HebbcheckError:
            continue
        except ZeroDivisionError:
            return False
    return True


def _cost(cell: dict, choices: int) -> float:
    """Seconds that the cell's draws will take, roughly: matrix products and passes over F x F arrays."""
    numbers = cell["numbers"]
    F, d, m = (float(numbers.get(name, 1)) for name in ("F", "d", "m"))
    flops = 2 * F * F * (m + 4 * d) + 4 * F * m * d
    allowed = float(f"{cell['allowed']:.1e}")
    draws = draws_needed(allowed, LEVEL / CELLS) + PILOT_DRAWS * choices
    return draws * (4e-4 + flops / 1.5e10 + 40 * F * F / 1e9)


def _spread(cells: list[dict], rng: np.random.Generator, count: int) -> list[dict]:
    """Some of the cells: the allowed probabilities spread evenly, sizes at random."""
    order = sorted(cells, key=lambda c: c["allowed"])
    groups = np.array_split(np.arange(len(order)), min(count, len(order)))
    return [order[int(rng.choice(group))] for group in groups if len(group)]


def _nearest(cells: list[dict], pilots: list[dict], settings: Settings) -> list[dict]:
    """Of each allowed probability (or third of their range), the cells that came nearest to failing in the pilot."""
    pairs = [(c, p) for c, p in zip(cells, pilots, strict=True) if p["trials"]] or list(
        zip(cells, pilots, strict=True)
    )
    pairs.sort(key=_nearness)
    levels = sorted({c["allowed"] for c, _ in pairs})
    thirds = [set(part.tolist()) for part in np.array_split(levels, min(3, len(levels)))]
    kept = settings.by_profile(CELLS // 3, 2 * CELLS // 3)
    chosen = []
    for third in thirds:
        scarce = 1 if max(third) < 0.05 and settings.profile == "quick" else kept
        chosen += [c for c, _ in pairs if c["allowed"] in third][:scarce]
    return chosen


def _nearness(pair: tuple[dict, dict]) -> tuple[float, float]:
    cell, pilot = pair
    rate = pilot["failures"] / max(pilot["trials"], 1)
    return (-rate / max(cell["allowed"], 1e-3), pilot["ratio"] if pilot["ratio"] is not None else math.inf)


def measure(claim: Claim, settings: Settings, params: dict) -> dict:
    """Failures in independent draws of one cell.  params: numbers, choice, allowed, draws, part."""
    numbers = params["numbers"]
    total = {
        "trials": 0,
        "failures": 0,
        "undefined": 0,
        "unmet": {},
        "beyond_trivial": 0,
        "ratio": None,
        "points": [],
    }
    worst: tuple[float, Raw] | None = None
    for index in range(params["draws"]):
        streams = Streams("draw", claim.id, settings.seed, numbers, params["choice"], params["part"], index)
        raw = claim.family.raw(numbers, streams, params["choice"])
        value = evaluate(claim, claim.family.build(raw, settings.arrays, streams))
        if not value.admissible:
            total["undefined"] += not value.defined
            for name, met in value.met.items():
                total["unmet"][name] = total["unmet"].get(name, 0) + (not met)
            continue
        total["trials"] += 1
        total["beyond_trivial"] += value.beyond_trivial
        total["failures"] += fails(value, settings)
        if worst is None or value.ratio < worst[0]:
            worst = (value.ratio, raw)
        if index < 4:
            total["points"].append(
                {"measured": value.measured, "bound": value.bound, "draw": index, **numbers}
            )
    if worst is not None:
        total["ratio"] = worst[0]
        if worst[0] < 0 and worst[1].entries < 40_000:
            total["worst"] = worst[1].as_json()
    return total


def fails(value: Value, settings: Settings) -> bool:
    """Whether a draw breaks the relation by more than rounding."""
    return value.slack < -1e3 * settings.arrays.eps * value.scale


def _vacuous(claim: Claim, least: float) -> Finding:
    reason = (
        "No sizes within reach meet the assumptions."
        if least < 1
        else "The allowed failure probability is 1 or more at all sizes tried, so the statement says nothing."
    )
    return Finding(Outcome.VACUOUS, reason)


def _finding(
    claim: Claim, cells: list[dict], tasks: list[Task], results: list[dict], pilots: list[dict], level: float
) -> Finding:
    rows = []
    for cell in cells:
        mine = [r for t, r in zip(tasks, results, strict=True) if _same_cell(t.params, cell)]
        rows.append(_row(cell, mine, level))
    finding = Finding(
        Outcome.SUPPORTED,
        "",
        instances=sum(row["trials"] for row in rows),
        undefined=sum(r["undefined"] for r in results),
        violations=sum(row["failures"] for row in rows),
    )
    ratios = [(r["ratio"], t.params) for t, r in zip(tasks, results, strict=True) if r["ratio"] is not None]
    if ratios:
        ratio, params = min(ratios, key=lambda pair: pair[0])
        finding.tightness = {"ratio": ratio, "instance": _said(params)}
    everything = results + pilots
    for name in claim.given:
        unmet = sum(r["unmet"].get(name, 0) for r in everything)
        met = sum(r["trials"] for r in everything)
        finding.assumptions[name] = {
            "share_met": met / (met + unmet) if met + unmet else None,
            "needed": None,
        }
    finding.points = [point for r in results for point in r["points"]][:200]
    finding.failures = _worst_row(rows)
    _decide(finding, rows, results, level)
    return finding


def _same_cell(params: dict, cell: dict) -> bool:
    return params["numbers"] == cell["numbers"] and params["choice"] == cell["choice"]


def _row(cell: dict, results: list[dict], level: float) -> dict:
    trials = sum(r["trials"] for r in results)
    failures = sum(r["failures"] for r in results)
    low, high = proportion_confint(failures, trials, 2 * level, method="beta") if trials else (0.0, 1.0)
    beyond = sum(r["beyond_trivial"] for r in results)
    enough = trials >= draws_needed(cell["allowed"], level)
    return {
        **cell,
        "trials": trials,
        "failures": failures,
        "low": low,
        "high": high,
        "beyond": beyond,
        "enough": enough,
    }


def _worst_row(rows: list[dict]) -> dict:
    row = max(
        rows, key=lambda r: (r["low"] - r["allowed"], r["failures"] / max(r["trials"], 1) - r["allowed"])
    )
    return {name: row[name] for name in ("failures", "trials", "low", "high", "allowed")} | {
        "cell": _said(row)
    }


def _decide(finding: Finding, rows: list[dict], results: list[dict], level: float) -> None:
    worst = finding.failures
    rate = f"{worst['failures']} of {worst['trials']} draws failed where {worst['allowed']:.3g} is allowed"
    if any(row["low"] > row["allowed"] for row in rows):
        finding.outcome = Outcome.REFUTED
        finding.reason = (
            f"{rate} ({worst['cell']}): the rate is above {worst['low']:.3g} at level {level:.2g}."
        )
        broken = [r for r in results if "worst" in r]
        if broken:
            finding.counterexamples = {
                "smallest": min(broken, key=_entries)["worst"],
                "worst": min(broken, key=lambda r: r["ratio"])["worst"],
            }
    elif finding.instances == 0:
        finding.outcome, finding.reason = Outcome.VACUOUS, "No draw met the assumptions."
    elif all(row["beyond"] == row["trials"] for row in rows):
        finding.outcome = Outcome.VACUOUS
        finding.reason = f"The bound never passed the trivial value in {finding.instances} draws."
    elif not all(row["enough"] for row in rows):
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"Too few draws met the assumptions to see twice the allowed rate ({rate}); try a larger profile."
        )
    else:
        finding.reason = (
            f"At most {rate} in any of {len(rows)} cells; twice the allowed rate would have been seen with "
            f"{POWER:.0%} power (level {LEVEL:g})."
        )


def _entries(result: dict) -> int:
    return sum(len(array["data"]) for array in result["worst"]["arrays"].values())


def _said(cell: dict) -> str:
    sizes = ", ".join(f"{name}={value:.4g}" for name, value in cell["numbers"].items())
    return f"{sizes}, {cell['choice']}" if cell["choice"] else sizes
