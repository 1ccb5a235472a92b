"""Figure 4: the least margin as facts are added, for the sketched and the exact quadratic kernel."""

from __future__ import annotations

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.figure import Figure, Summary
from hebbcheck.settings import Settings

from .answers import ALL_TERMS, Question, combine, summarise
from .forms import EXACT_KERNEL, ISOTROPIC
from .sweep import REPLICATES, Sweep, log_spaced, seeds_of

SEEDS = 5

SKETCHED = Question(
    title="Bilinear features, d = 64, m = 512",
    sweep=Sweep(
        "F",
        log_spaced(32, 512, 30),
        {"d": 64, "m": 512},
        lambda F: geo.facts(memory="bilinear", mapping="identity"),
    ),
    fitted=ISOTROPIC,
    stated=ISOTROPIC,
    bounding=ISOTROPIC,
    abscissa=("facts F", lambda x: x["F"]),
    deficit=lambda x: 1 - x["gamma_min"],
    predicted=0.5,
    also=(ALL_TERMS,),
)
EXACT = Question(
    title="Exact quadratic kernel, d = 32",
    sweep=Sweep(
        "F",
        log_spaced(32, 2048, 30),
        {"d": 32, "m": np.inf},
        lambda F: geo.facts(memory="quadratic", mapping="identity"),
    ),
    fitted=EXACT_KERNEL,
    stated=EXACT_KERNEL,
    bounding=EXACT_KERNEL,
    abscissa=("facts F", lambda x: x["F"]),
    deficit=lambda x: 1 - x["gamma_min"],
    predicted=0.5,
    also=(ALL_TERMS,),
)
QUESTIONS = {"sketched": SKETCHED, "exact": EXACT}


def cells(settings: Settings) -> list[dict]:
    return [{"sweep": name, **cell} for name in QUESTIONS for cell in seeds_of(REPLICATES, SEEDS)]


def measure(settings: Settings, params: dict) -> dict:
    streams = Streams(settings.seed, "fig4", params["sweep"], params["replicate"], params["seed"])
    return QUESTIONS[params["sweep"]].sweep.measure(streams, settings.arrays)


def report(settings: Settings, cells: list[dict], results: list[dict]) -> Summary:
    parts = []
    for name, question in QUESTIONS.items():
        mine = [(c, r) for c, r in zip(cells, results, strict=True) if c["sweep"] == name]
        told = summarise(question, [c for c, _ in mine], [r for _, r in mine], [])
        parts.append(("" if name == "sketched" else f"_{name}", name, told))
    return combine(parts)


fig4 = Figure(
    id="fig4",
    title="Margin against the number of facts",
    source="Figure 4, Section A.3.2",
    caption=(
        "Facts on the sphere, 30 numbers of facts, five seeds a replicate: bilinear features (d = 64, m = 512, "
        "F from 32 to 512) and the exact quadratic kernel, their limit of infinite width (d = 32, F from 32 to 2048)."
    ),
    cells=cells,
    measure=measure,
    summarise=report,
)


@hc.claim("fig4.r2", over=geo.figure("fig4"), source="Figure 4", title="The margin follows the scaling in F")
def fig4_r2(fig):
    """The fitted isotropic scaling explains the least margin over the numbers of facts, R² of at least 0.97."""
    return hc.at_least(fig.r2_fitted, 0.97)


@hc.claim(
    "fig4.r2_exact",
    over=geo.figure("fig4"),
    source="Section A.3.2",
    title="The margin of the exact kernel follows the scaling in F",
)
def fig4_r2_exact(fig):
    """With the exact quadratic kernel too, the fitted scaling has an R² of at least 0.97."""
    return hc.at_least(fig.r2_fitted_exact, 0.97)
