"""Rates: measured = Theta(prediction), by the exponent of their ratio in each size that varies.

Least squares of log(measured / prediction) on the logs of the sizes over independent cells; Student intervals at
the level divided by the number of exponents.  Refuted when an interval lies wholly beyond 0.25 from 0; supported when
all lie within.  Rival rates are compared by Akaike's criterion ("A new look at the statistical model identification",
1974) for the report and never decide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator

import numpy as np

from ..arrays import Streams
from ..claim import Claim
from ..errors import HebbcheckError
from ..geometry.sizes import Size
from ..settings import LEVEL, Settings
from ..sweeps import Task
from ..verdict import Finding, Outcome, Quantifier
from .breaking import breaking, need

QUANTIFIER = Quantifier.RATE
TOLERANCE = 0.25
STEPS = {1: 6, 2: 4}
"""Values of a range, by how many ranges vary; three where there are more."""
DELTA = 0.1
RIVALS = {"1": 0.0, "size^1/2": 0.5, "size": 1.0, "size^-1/2": -0.5, "1/size": -1.0}


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """Measure the ratio on a grid of sizes with several seeds, and fit its exponents; and without each assumption."""
    finding = _finding(claim, (yield _tasks(claim, settings, None)))
    for name in claim.given if claim.test_needs else ():
        without = _finding(breaking(claim, name), (yield _tasks(claim, settings, name)))
        finding.assumptions[name]["needed"] = need(without.outcome is Outcome.REFUTED, without.instances)
    return finding


def _tasks(claim: Claim, settings: Settings, broken: str | None) -> list[Task]:
    return [
        Task("hebbcheck.judges.rate:measure", {"numbers": numbers, "repeat": repeat, "broken": broken})
        for numbers in grid(claim, settings)
        for repeat in range(settings.by_profile(5, 10))
    ]


def grid(claim: Claim, settings: Settings) -> list[dict[str, float]]:
    """All combinations of the listed sizes; ranges contribute log-spaced values."""
    sizes = claim.family.sizes
    ranges = [size for size in sizes.values() if size.listed is None]
    steps = STEPS.get(len(ranges), 3)
    axes = {name: _values(size, steps, settings) for name, size in sizes.items()}
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def _values(size: Size, steps: int, settings: Settings) -> list[float]:
    if size.name == "delta" and size.given is None:
        return [DELTA]
    if size.listed is not None:
        return list(size.listed)
    low, high = size.bounds(settings.profile)
    spaced = np.geomspace(low, high, steps) if low > 0 else np.linspace(low, high, steps)
    return sorted({round(v) if size.integer else float(v) for v in spaced.tolist()})


def measure(claim: Claim, settings: Settings, params: dict) -> dict:
    """Both sides of each relation in one cell.  params: numbers, repeat, broken (an assumption to break)."""
    claim, numbers = breaking(claim, params["broken"]), params["numbers"]
    streams = Streams("rate", claim.id, settings.seed, numbers, params["repeat"])
    choices = claim.family.choices
    instance = claim.family.draw(numbers, streams, settings.arrays, choices[params["repeat"] % len(choices)])
    told = {"numbers": numbers, "repeat": params["repeat"], "unmet": [], "sides": None}
    try:
        unmet = [name for name, met in claim.holds_given(instance).items() if not met]
        if unmet:
            return {**told, "unmet": unmet}
        relations = claim.relations(instance)
    except ArithmeticError:
        return told
    if any(r.kind != "scales_as" for r in relations):
        raise HebbcheckError(
            f"claim {claim.id!r} mixes hc.scales_as with other relations; one of them is needed; make two claims of it"
        )
    sides = [(float(r.measured), float(r.bound)) for r in relations]
    positive = all(a > 0 and b > 0 and math.isfinite(a) and math.isfinite(b) for a, b in sides)
    return {**told, "sides": sides if positive else None}


def _finding(claim: Claim, results: list[dict]) -> Finding:
    good = [r for r in results if r["sides"]]
    met = [r for r in results if not r["unmet"]]
    finding = Finding(Outcome.SUPPORTED, "", instances=len(good), undefined=len(met) - len(good))
    for name in claim.given:
        share = 1 - sum(name in r["unmet"] for r in results) / len(results)
        finding.assumptions[name] = {"share_met": share, "needed": None}
    varying = {n: [r["numbers"][n] for r in good] for n in (good[0]["numbers"] if good else {})}
    varying = {name: values for name, values in varying.items() if len(set(values)) > 1}
    if not good:
        finding.outcome = Outcome.VACUOUS
        finding.reason = (
            "No cell met the assumptions." if not met else "No cell had both sides positive and finite."
        )
    elif not varying or len(good) < len(varying) + 3:
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"No size varies over enough of the {len(good)} cells to fit an exponent; give one as a list."
        )
    else:
        _fit(finding, good, varying)
        _decide(finding)
    return finding


def _fit(finding: Finding, good: list[dict], varying: dict[str, list[float]]) -> None:
    relations = len(good[0]["sides"])
    level = LEVEL / (relations * len(varying))
    for k in range(relations):
        ratios = [r["sides"][k][0] / r["sides"][k][1] for r in good]
        for name, exponent in exponents(varying, ratios, level).items():
            finding.exponents[name if relations == 1 else f"{name} ({k + 1})"] = exponent
        finding.notes += _rivals(varying, ratios)
    finding.points = [
        {"measured": a, "bound": b, "repeat": r["repeat"], **r["numbers"]}
        for r in good
        for a, b in r["sides"]
    ][:200]


def exponents(
    sizes: dict[str, list[float]], ratios: list[float], level: float
) -> dict[str, dict[str, float]]:
    """The exponent of the ratio in each size, by one least-squares fit of all logs, with Student intervals."""
    from statsmodels.regression.linear_model import OLS  # takes a second to import

    columns = [np.log(values) for values in sizes.values()]
    fit = OLS(np.log(ratios), np.column_stack([np.ones(len(ratios)), *columns])).fit()
    intervals = fit.conf_int(alpha=level)
    return {
        name: {"value": float(fit.params[k]), "low": float(intervals[k][0]), "high": float(intervals[k][1])}
        for k, name in enumerate(sizes, start=1)
    }


def _decide(finding: Finding) -> None:
    ends = [(e["low"], e["high"]) for e in finding.exponents.values()]
    said = "; ".join(
        f"{name}: {e['value']:+.3f}, between {e['low']:+.3f} and {e['high']:+.3f}"
        for name, e in finding.exponents.items()
    )
    told = f"({said}; level {LEVEL:g}, {finding.instances} cells)"
    if any(low > TOLERANCE or high < -TOLERANCE for low, high in ends):
        finding.outcome = Outcome.REFUTED
        finding.reason = (
            f"The ratio of measured to predicted has an exponent further than {TOLERANCE} from 0 {told}."
        )
    elif all(low >= -TOLERANCE and high <= TOLERANCE for low, high in ends):
        finding.reason = f"The ratio of measured to predicted has exponents within {TOLERANCE} of 0 {told}."
    else:
        finding.outcome = Outcome.INCONCLUSIVE
        beyond = f"The exponents' intervals reach beyond {TOLERANCE} from 0"
        finding.reason = f"{beyond} {told}; more cells or larger sizes decide."


def _rivals(sizes: dict[str, list[float]], ratios: list[float]) -> list[str]:
    """Akaike's criterion of the prediction times rival factors, each with one free constant, in words."""
    notes = []
    for name, values in sizes.items():
        scores = {label: _akaike(np.log(ratios) - power * np.log(values)) for label, power in RIVALS.items()}
        best, second = sorted(scores, key=lambda label: scores[label])[:2]
        ahead = scores[second] - scores[best]
        notes.append(
            f"Rivals in {name} by AIC: best is the prediction times {best.replace('size', name)}, "
            f"ahead of {second.replace('size', name)} by {ahead:.1f}."
        )
    return notes


def _akaike(residuals: np.ndarray) -> float:
    """Two parameters: the constant and the variance."""
    return len(residuals) * math.log(max(float(np.var(residuals)), 1e-300)) + 2 * 2
