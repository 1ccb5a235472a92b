"""What a margin sweep says: as fitted, as stated and as a bound; as numbers, table, chart and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebbcheck.errors import HebbcheckError
from hebbcheck.figure import Summary
from hebbcheck.fitting import (
    Bound,
    Fit,
    Interval,
    as_bound,
    as_fitted,
    as_stated,
    exponent,
    r_squared,
    student,
)
from hebbcheck.report.numbers import number, percent

from .charts import Series, chart
from .forms import DELTA, EQUATION_56, Columns, Form
from .sweep import Result, Sweep, average, by_replicate

TABLE_COLUMNS = [
    "answer",
    "R², mean over replicates",
    "95% interval",
    "R², all seeds averaged",
    "constants, all seeds averaged",
    "measured below the curve",
    "mean gap",
    "held out: every other point",
    "held out: second half",
]


@dataclass(frozen=True)
class Further:
    """Another form that is fitted with its open constants free; its R² is the attribute r2_<name>."""

    name: str
    label: str
    form: Form
    drawn: bool = False


ALL_TERMS = Further("equation_56", "as stated, equation 56", EQUATION_56)


@dataclass(frozen=True)
class Question:
    """A sweep with the forms that are asked about it.

    `abscissa`: title and values of the chart's horizontal axis.  `deficit`: what the penalty takes from, less
    the margin; its exponent in the abscissa, from `slope_from` on, is compared with `predicted`.  `also`:
    further forms.
    """

    title: str
    sweep: Sweep
    fitted: Form
    stated: Form
    bounding: Form
    abscissa: tuple[str, Callable[[Columns], Any]]
    deficit: Callable[[Columns], Any]
    predicted: float
    also: tuple[Further, ...] = ()
    logarithmic: bool = True
    slope_from: float = 0.0


@dataclass(frozen=True)
class Answers:
    """The answers to a question from the results of some seeds.

    `bound`: calibrated on every draw; `typical`: on a share 1 - delta of them; `beyond`: on the first half of
    the sweep.
    """

    mean: dict[str, np.ndarray]
    spread: np.ndarray
    fitted: Fit
    stated: Fit
    also: dict[str, Fit]
    bound: Bound
    typical: Bound
    beyond: Bound
    curve: np.ndarray
    slope: Interval

    @property
    def numbers(self) -> dict[str, float]:
        """What claims may name."""
        return {
            "r2_fitted": self.fitted.r2,
            "r2_stated": self.stated.r2,
            **{f"r2_{name}": fit.r2 for name, fit in self.also.items()},
            "signal": self.fitted.constants["signal"],
            "share_above": self.fitted.share_above,
            "bound_C": self.bound.value,
            "bound_C_typical": self.typical.value,
            "mean_gap": self.bound.mean_gap,
            "held_out_share": self.bound.held_out,
            "held_out_beyond": self.beyond.held_out,
            "exponent": self.slope.value,
            "exponent_low": self.slope.low,
            "exponent_high": self.slope.high,
        }


def answer(question: Question, results: Sequence[Result]) -> Answers:
    """Statistics are averaged over the seeds like the margin; the bound is asked of every single draw."""
    draws = question.sweep.columns(results)
    mean = average(draws)
    measured = mean["gamma_min"]
    flat = {name: column.ravel() for name, column in draws.items()}
    point = np.tile(np.arange(measured.size), len(results))
    bound, typical, beyond = (
        as_bound(
            question.bounding.over(flat),
            question.bounding.constants,
            flat["gamma_min"],
            share=share,
            calibration=mask,
        )
        for share, mask in (
            (1.0, point % 2 == 0),
            (1 - DELTA, point % 2 == 0),
            (1.0, point < measured.size / 2),
        )
    )
    return Answers(
        mean,
        draws["gamma_min"].std(axis=0, ddof=1) if len(results) > 1 else np.zeros_like(measured),
        as_fitted(question.fitted.over(mean), question.fitted.constants, measured),
        as_stated(question.stated.over(mean), question.stated.constants, measured),
        {f.name: as_stated(f.form.over(mean), f.form.constants, measured) for f in question.also},
        bound,
        typical,
        beyond,
        question.bounding.at(mean, bound.value),
        _slope(question.abscissa[1](mean), question.deficit(mean), question.slope_from),
    )


def _slope(abscissa: np.ndarray, deficit: np.ndarray, start: float) -> Interval:
    try:
        return exponent(abscissa[abscissa >= start], deficit[abscissa >= start])
    except HebbcheckError:  # a deficit that is not positive has no exponent
        return Interval(np.nan, np.nan, np.nan)


def summarise(
    question: Question, cells: Sequence[dict], results: Sequence[Result], notes: Sequence[str]
) -> Summary:
    """The summary of a figure that asks one question."""
    groups = by_replicate(cells, results)
    replicates = [answer(question, group) for group in groups]
    pooled = answer(question, results)
    samples = [a.numbers for a in replicates]
    return Summary(
        attributes={name: float(np.mean([s[name] for s in samples])) for name in samples[0]},
        replicates=samples,
        table={"columns": list(TABLE_COLUMNS), "rows": table_rows(question, replicates, pooled)},
        charts=[drawn(question, pooled, cells)],
        notes=[*notes, *notes_on(question, pooled, len(groups), len(groups[0]))],
    )


def table_rows(question: Question, replicates: Sequence[Answers], pooled: Answers) -> list[list[Any]]:
    """A row for each answer, under TABLE_COLUMNS."""
    share = f"as a bound, {percent(1 - DELTA)} of the draws"
    return [
        _fit_row("as fitted", [a.fitted for a in replicates], pooled.fitted),
        _fit_row("as stated", [a.stated for a in replicates], pooled.stated),
        *(
            _fit_row(f.label, [a.also[f.name] for a in replicates], pooled.also[f.name])
            for f in question.also
        ),
        _bound_row("as a bound, every draw", question, pooled, pooled.bound, pooled.beyond),
        _bound_row(share, question, pooled, pooled.typical, None),
    ]


def _fit_row(name: str, fits: Sequence[Fit], pooled: Fit) -> list[Any]:
    interval = student([fit.r2 for fit in fits])
    told = f"[{number(interval.low)}, {number(interval.high)}]" if len(fits) > 1 else None
    below = percent(pooled.share_above)
    return [name, interval.value, told, pooled.r2, constants(pooled), below, None, None, None]


def _bound_row(
    name: str, question: Question, pooled: Answers, bound: Bound, beyond: Bound | None
) -> list[Any]:
    curve = question.bounding.at(pooled.mean, bound.value)
    told = " = ".join([*question.bounding.open, number(bound.value, 3)])
    return [
        name,
        None,
        None,
        r_squared(pooled.mean["gamma_min"], curve),
        told,
        percent(1 - bound.held),
        bound.mean_gap,
        percent(bound.held_out),
        percent(beyond.held_out) if beyond else None,
    ]


def constants(fit: Fit) -> str:
    """The constants of a fit in words."""
    values = ", ".join(f"{name} = {number(_tidy(value), 3)}" for name, value in fit.constants.items())
    return values or "none"


def _tidy(value: float) -> float:
    return 0.0 if abs(value) < 1e-9 else value


def drawn(question: Question, pooled: Answers, cells: Sequence[dict]) -> dict[str, Any]:
    """The chart: averages over all seeds, the fitted and the stated curve, and the bound."""
    sweep, mean = question.sweep, pooled.mean
    seeds = sorted({cell["seed"] for cell in cells})
    return chart(
        title=question.title,
        description=(
            f"{question.title}: the least margin, its average over {len(seeds)} seeds (bars: one standard deviation "
            "of a single draw), against the curve as fitted, as stated and as a bound."
        ),
        x=(question.abscissa[0], np.asarray(question.abscissa[1](mean))),
        logarithmic=question.logarithmic,
        y="least margin γ_min",
        measured=Series("measured", mean["gamma_min"], pooled.spread),
        curves=[
            Series("as fitted", pooled.fitted.predicted),
            Series("as stated", pooled.stated.predicted),
            *(Series(f.label, pooled.also[f.name].predicted) for f in question.also if f.drawn),
            Series("as a bound", pooled.curve),
        ],
        tooltip={name: mean[name] for name in sweep.statistics},
        cells=[sweep.cell(value) for value in sweep.points],
        seeds=f"{seeds[0]} to {seeds[-1]}",
    )


def notes_on(question: Question, pooled: Answers, replicates: int, seeds: int) -> list[str]:
    """What a reader should know of the numbers."""
    measured = f"{replicates} replicates of {seeds} seeds" if seeds > 1 else f"{replicates} seeds"
    told = [
        f"Fitted: {question.fitted.text}. Stated: {question.stated.as_stated}. L = log(C0 F²/δ), δ = {DELTA}, C0 = 2.",
        f"{measured}, independent streams for keys, values, features; statistics are averaged like the margin.",
        f"The fitted curve lies above {percent(pooled.fitted.share_above)} of the measured points: it is a regression, "
        "not a bound.",
    ]
    for group in pooled.fitted.confounded:
        if len(group) > 1:
            shown = f"{group[-1]} = {number(pooled.fitted.constants[group[-1]], 3)}"
            told.append(f"The points do not identify {' and '.join(group)} separately (shown with {shown}).")
        elif abs(pooled.fitted.constants[group[0]]) < 1e-9:
            told.append(f"The fit sets {group[0]} to 0, the end of its range.")
        else:
            told.append(f"The points say nothing about {group[0]}.")
    if pooled.fitted.constants["signal"] > 1 and any(c.stated == 1 for c in question.fitted.constants):
        told.append("The fitted signal exceeds 1, which is all that the theorem grants.")
    if np.isfinite(pooled.slope.value):
        told.append(
            f"Exponent of what the margin lacks in {question.abscissa[0]}: {number(pooled.slope.value, 3)} "
            f"[{number(pooled.slope.low, 3)}, {number(pooled.slope.high, 3)}]; the form says "
            f"{number(question.predicted, 3)}."
        )
    return told


def combine(parts: Sequence[tuple[str, str, Summary]]) -> Summary:
    """One summary of several sweeps with the same replicates: (suffix of its numbers, its name, it) each."""
    sides = [part for _, _, part in parts]
    return Summary(
        attributes={f"{n}{suffix}": v for suffix, _, part in parts for n, v in part.attributes.items()},
        replicates=[
            {
                f"{n}{suffix}": v
                for (suffix, _, _), sample in zip(parts, samples, strict=True)
                for n, v in sample.items()
            }
            for samples in zip(*(side.replicates for side in sides), strict=True)
        ],
        table={
            "columns": list(TABLE_COLUMNS),
            "rows": [
                [f"{name}: {row[0]}", *row[1:]] for _, name, part in parts for row in part.table["rows"]
            ],
        },
        charts=[chart for side in sides for chart in side.charts],
        notes=[f"{name}: {note}" if name else note for _, name, part in parts for note in part.notes],
    )
