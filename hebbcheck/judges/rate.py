"""Rates: measured = Theta(prediction), by the exponent of their ratio in each size that varies.

Least squares of log(measured / prediction) on the logs of the sizes over independent cells; Student intervals at the
level divided by the number of sizes.  Refuted when an interval lies wholly beyond 0.25 from 0; rival rates are compared
by Akaike's criterion for the report and never decide.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator

import numpy as np
import statsmodels.api as sm

from ..arrays import Streams
from ..claim import Claim
from ..errors import HebbcheckError
from ..settings import LEVEL, Settings
from ..sweeps import Task
from ..verdict import Finding, Outcome, Quantifier

QUANTIFIER = Quantifier.RATE
TOLERANCE = 0.25
STEPS = 6
RIVALS = {"1": 0.0, "size^1/2": 0.5, "size": 1.0, "size^-1/2": -0.5, "1/size": -1.0}


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """Measure the ratio on a grid of sizes with several seeds, and fit its exponents."""
    grid = _grid(claim, settings)
    repeats = settings.by_profile(5, 10)
    tasks = [
        Task("hebbcheck.judges.rate:measure", {"numbers": numbers, "repeat": repeat})
        for numbers in grid
        for repeat in range(repeats)
    ]
    results = yield tasks
    return _finding(claim, results, LEVEL)


def _grid(claim: Claim, settings: Settings) -> list[dict[str, float]]:
    """All combinations of the listed sizes; ranges contribute log-spaced values."""
    axes: dict[str, list[float]] = {}
    for name, size in claim.family.sizes.items():
        if size.given is None and name != "delta":
            low, high = size.bounds(settings.profile)
            axes[name] = [round(v) for v in np.geomspace(low, high, STEPS)]
        elif isinstance(size.given, tuple):
            low, high = size.given
            spaced = np.geomspace(low, high, STEPS)
            axes[name] = sorted({round(v) if size.integer else float(v) for v in spaced})
        else:
            axes[name] = [0.1] if size.given is None else list(size.listed or [])
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def measure(claim: Claim, settings: Settings, params: dict) -> dict:
    """The ratios of one cell.  params: numbers, repeat."""
    numbers = params["numbers"]
    streams = Streams("rate", claim.id, settings.seed, numbers, params["repeat"])
    choices = claim.family.choices
    choice = choices[params["repeat"] % len(choices)]
    instance = claim.family.draw(numbers, streams, settings.arrays, choice)
    try:
        if not all(claim.holds_given(instance).values()):
            return {"numbers": numbers, "unmet": True}
        relations = claim.relations(instance)
        sides = [(float(r.measured), float(r.bound)) for r in relations]
    except ZeroDivisionError:
        return {"numbers": numbers, "undefined": True}
    if any(r.kind != "scales_as" for r in relations):
        raise HebbcheckError(
            f"claim {claim.id!r} mixes hc.scales_as with other relations; make two claims of it"
        )
    return {"numbers": numbers, "repeat": params["repeat"], "sides": sides}


def _finding(claim: Claim, results: list[dict], level: float) -> Finding:
    cells = [r for r in results if "sides" in r]
    good = [r for r in cells if all(a > 0 and b > 0 and math.isfinite(a * b) for a, b in r["sides"])]
    finding = Finding(Outcome.SUPPORTED, "", instances=len(good), undefined=len(results) - len(good))
    varying = [n for n in (good[0]["numbers"] if good else {}) if len({r["numbers"][n] for r in good}) > 1]
    if not varying or len(good) < len(varying) + 3:
        finding.outcome = Outcome.VACUOUS if not good else Outcome.INCONCLUSIVE
        finding.reason = (
            "No size varies over enough cells to fit an exponent; give a size as a list or a range."
        )
        return finding
    relations = len(good[0]["sides"])
    names = [(k, n) for k in range(relations) for n in varying]
    sizes = {n: [r["numbers"][n] for r in good] for n in varying}
    for k in range(relations):
        ratios = [r["sides"][k][0] / r["sides"][k][1] for r in good]
        for n, e in exponents(sizes, ratios, level / len(names)).items():
            finding.exponents[n if relations == 1 else f"{n} ({k + 1})"] = e
        _note_rivals(finding, sizes, ratios)
    finding.points = [
        {"measured": a, "bound": b, "repeat": r["repeat"], **r["numbers"]}
        for r in good
        for a, b in r["sides"]
    ][:200]
    _decide(finding, level)
    return finding


def exponents(
    sizes: dict[str, list[float]], ratios: list[float], level: float
) -> dict[str, dict[str, float]]:
    """The exponent of the ratio in each size, by one least-squares fit of all logs, with Student intervals."""
    design = sm.add_constant(
        np.column_stack([np.log(values) for values in sizes.values()]), has_constant="add"
    )
    fit = sm.OLS(np.log(ratios), design).fit()
    intervals = fit.conf_int(alpha=level)
    return {
        name: {"value": float(fit.params[k]), "low": float(intervals[k][0]), "high": float(intervals[k][1])}
        for k, name in enumerate(sizes, start=1)
    }


def _decide(finding: Finding, level: float) -> None:
    def far(e: dict) -> bool:
        return e["low"] > TOLERANCE or e["high"] < -TOLERANCE

    def near(e: dict) -> bool:
        return e["low"] >= -TOLERANCE and e["high"] <= TOLERANCE

    said = "; ".join(
        f"{name}: {e['value']:+.3f} [{e['low']:+.3f}, {e['high']:+.3f}]"
        for name, e in finding.exponents.items()
    )
    if any(far(e) for e in finding.exponents.values()):
        finding.outcome = Outcome.REFUTED
        finding.reason = (
            f"measured/prediction has an exponent further than {TOLERANCE} from 0 ({said}; level {level:g})."
        )
    elif all(near(e) for e in finding.exponents.values()):
        finding.reason = (
            f"measured/prediction has exponents within {TOLERANCE} of 0 ({said}; level {level:g})."
        )
    else:
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"the exponents' intervals reach beyond {TOLERANCE} ({said}); more cells or sizes would decide."
        )


def _note_rivals(finding: Finding, sizes: dict[str, list[float]], ratios: list[float]) -> None:
    """Akaike's criterion of prediction times rival factors, each with one free constant."""
    logs = np.log(ratios)
    for name, values in sizes.items():
        scores = {label: _akaike(logs - power * np.log(values)) for label, power in RIVALS.items()}
        best = min(scores, key=lambda label: scores[label])
        margin = sorted(scores.values())[1] - scores[best]
        finding.notes.append(
            f"rivals in {name} by AIC: best is prediction times {best.replace('size', name)} (ahead by {margin:.1f})"
        )


def _akaike(residuals: np.ndarray) -> float:
    n = len(residuals)
    return n * math.log(max(float(np.var(residuals)), 1e-300)) + 2 * 2
