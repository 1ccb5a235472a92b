"""Figures 5a, 5b, 5c: the least margin as keys, values or both crowd along one direction."""

from __future__ import annotations

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.figure import Figure, Summary
from hebbcheck.fitting import as_fitted
from hebbcheck.settings import Settings

from .answers import Question, summarise
from .forms import (
    BOTH_FITTED,
    BOTH_OPEN,
    BOTH_STATED,
    KEYS_FITTED,
    KEYS_STATED,
    VALUES_FITTED,
    VALUES_STATED,
)
from .sweep import REPLICATES, Result, Sweep, average, by_replicate, seeds_of, spike_strengths

SEEDS = 5
SIZES = {"F": 128, "d": 64, "m": 512}
ONE_SEED = (
    "The paper's figure shows one seed; here five are averaged in each replicate. With the first seed of each "
    "replicate alone, R² ranges from {low:.3f} to {high:.3f}."
)


def _spiked(strongest: float, statistics: tuple[str, ...], *, keys: bool, values: bool) -> Sweep:
    def family(beta: float):
        spiked = geo.spiked(beta)
        return geo.facts(
            keys=spiked if keys else geo.sphere,
            values=spiked if values else geo.sphere,
            memory="bilinear",
            mapping="identity",
        )

    return Sweep("beta", spike_strengths(strongest), SIZES, family, statistics, shared=True)


QUESTIONS = {
    "fig5a": Question(
        title="Spiked keys, isotropic values",
        sweep=_spiked(5, ("K_diag_min", "K_off_max", "E_K"), keys=True, values=False),
        fitted=KEYS_FITTED,
        stated=KEYS_STATED,
        bounding=KEYS_STATED,
        abscissa=("E_K", lambda x: x["E_K"]),
        deficit=lambda x: x["K_diag_min"] - x["gamma_min"],
        predicted=0.5,
    ),
    "fig5b": Question(
        title="Isotropic keys, spiked values",
        sweep=_spiked(10, ("V_min", "B_Y", "E_v", "L_v"), keys=False, values=True),
        fitted=VALUES_FITTED,
        stated=VALUES_STATED,
        bounding=VALUES_STATED,
        abscissa=("E_v L_v", lambda x: x["E_v"] * x["L_v"]),
        deficit=lambda x: x["V_min"] - x["gamma_min"],
        predicted=0.5,
    ),
    "fig5c": Question(
        title="Spiked keys and values",
        sweep=_spiked(3.35, ("K_diag_min", "V_min", "E_K", "E_v", "kappa"), keys=True, values=True),
        fitted=BOTH_FITTED,
        stated=BOTH_STATED,
        bounding=BOTH_OPEN,
        abscissa=("√(E_K E_v) κ", lambda x: np.sqrt(x["E_K"] * x["E_v"]) * x["kappa"]),
        deficit=lambda x: x["K_diag_min"] * x["V_min"] - x["gamma_min"],
        predicted=1.0,
    ),
}


def cells(settings: Settings) -> list[dict]:
    return seeds_of(REPLICATES, SEEDS)


def _figure(id: str, title: str, caption: str, notes: tuple[str, ...] = ()) -> Figure:
    question = QUESTIONS[id]

    def measure(settings: Settings, params: dict) -> dict:
        streams = Streams(settings.seed, id, params["replicate"], params["seed"])
        return question.sweep.measure(streams, settings.arrays)

    def report(settings: Settings, cells: list[dict], results: list[dict]) -> Summary:
        single = [_r2_of_one_seed(question, group[0]) for group in by_replicate(cells, results)]
        one_seed = ONE_SEED.format(low=min(single), high=max(single))
        return summarise(question, cells, results, [one_seed, *notes])

    return Figure(
        id=id,
        title=title,
        source=f"Figure {id[3:]}, Section A.3.2",
        caption=caption,
        cells=cells,
        measure=measure,
        summarise=report,
    )


def _r2_of_one_seed(question: Question, result: Result) -> float:
    columns = average(question.sweep.columns([result]))
    return as_fitted(question.fitted.over(columns), question.fitted.constants, columns["gamma_min"]).r2


SHARED = "F = 128, d = 64, m = 512, spike strengths 0 and 29 values from 1 to {}, one direction a seed."
fig5a = _figure("fig5a", "Margin as keys crowd", SHARED.format(5))
fig5b = _figure("fig5b", "Margin as values crowd", SHARED.format(10))
fig5c = _figure(
    "fig5c",
    "Margin as keys and values crowd",
    SHARED.format(3.35),
    (
        "Equation 44 has no constants, and it holds in every draw; as a bound, the smallest constant on its cross-talk "
        "term with which it would still hold is shown.",
    ),
)


@hc.claim(
    "fig5a.r2", over=geo.figure("fig5a"), source="Figure 5a", title="The margin follows the key statistics"
)
def fig5a_r2(fig):
    """The fitted form with K_diag_min, K_off_max and E_K explains the least margin, R² of at least 0.95."""
    return hc.at_least(fig.r2_fitted, 0.95)


@hc.claim(
    "fig5b.r2", over=geo.figure("fig5b"), source="Figure 5b", title="The margin follows the value statistics"
)
def fig5b_r2(fig):
    """The fitted form with V_min, B_Y, E_v and L_v explains the least margin, R² of at least 0.95."""
    return hc.at_least(fig.r2_fitted, 0.95)


@hc.claim(
    "fig5c.r2",
    over=geo.figure("fig5c"),
    source="Figure 5c",
    title="The margin follows the composite cross-talk",
)
def fig5c_r2(fig):
    """The fitted form with K_diag_min V_min and √(E_K E_v) κ explains the least margin, R² of at least 0.95."""
    return hc.at_least(fig.r2_fitted, 0.95)
