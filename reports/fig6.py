"""Figure 6: the least margin of noisy queries, against the size of the noise and against its square."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.arrays import Backend, Streams
from hebbcheck.figure import Figure, Summary
from hebbcheck.fitting import Constant, exponent
from hebbcheck.report.numbers import number
from hebbcheck.settings import Settings

from .answers import Further, Question, summarise
from .forms import C, Columns, Form, L
from .sweep import REPLICATES, Result, Sweep, average, least_margin, outputs, seeds_of

SEEDS = 3
SIZES = {"F": 256, "d": 64, "m": 512}
LARGE_NOISE = 0.5
INTERCEPT = Constant("signal", low=-10.0)


@dataclass(frozen=True)
class NoisySweep(Sweep):
    """Also gamma_clean, the margin without noise, and L_bil, the Lipschitz constant on the queries' ball."""

    def measure(self, streams: Streams, backend: Backend) -> Result:
        x, *others = (
            self.family(eps).draw({**self.sizes, "eps": eps}, streams, backend) for eps in self.points
        )
        clean = least_margin(x, outputs(x))
        # With unit keys the ball has radius 1 + eps, and the constant is proportional to it (see Bilinear.lipschitz).
        lipschitz = x.L_K / (1 + x.eps)
        return {
            "gamma_min": [least_margin(y, y.mlp(y.queries)) for y in (x, *others)],
            "gamma_clean": [clean] * len(self.points),
            "L_bil": [lipschitz * (1 + eps) for eps in self.points],
        }


def _degradation(x: Columns) -> np.ndarray:
    """L_bil eps sqrt(F L / d), what equation 74 subtracts up to a constant."""
    return x["L_bil"] * x["eps"] * np.sqrt(x["F"] * L(x) / x["d"])


LIPSCHITZ = Form(
    "signal - C L_bil(ε) ε sqrt(F L / d)", (INTERCEPT, C), lambda x, c: c["signal"] - c["C"] * _degradation(x)
)
EQUATION_74 = Form(
    "γ_min(0) - C2 L_bil(ε) ε sqrt(F L / d)",
    (Constant("C2"),),
    lambda x, c: x["gamma_clean"] - c["C2"] * _degradation(x),
)
LINEAR = Form("a - b ε", (Constant("a", low=-10.0), Constant("b")), lambda x, c: c["a"] - c["b"] * x["eps"])
QUADRATIC = Form("a - b ε²", LINEAR.constants, lambda x, c: c["a"] - c["b"] * x["eps"] ** 2)

QUESTION = Question(
    title="Least margin of noisy queries",
    sweep=NoisySweep(
        "eps",
        tuple(float(eps) for eps in np.geomspace(0.01, 2.0, 15)),
        SIZES,
        lambda eps: geo.facts(memory="bilinear", mapping="identity", noise=eps),
        ("gamma_clean", "L_bil"),
        shared=True,
    ),
    fitted=LIPSCHITZ,
    stated=EQUATION_74,
    bounding=EQUATION_74,
    abscissa=("noise ε", lambda x: x["eps"]),
    deficit=lambda x: x["gamma_clean"] - x["gamma_min"],
    predicted=1.0,
    also=(
        Further("linear", "affine in ε, fitted", LINEAR, drawn=True),
        Further("quadratic", "affine in ε², fitted", QUADRATIC, drawn=True),
    ),
    logarithmic=False,
    slope_from=0.2,
)


def cells(settings: Settings) -> list[dict]:
    return seeds_of(REPLICATES, SEEDS)


def measure(settings: Settings, params: dict) -> dict:
    streams = Streams(settings.seed, "fig6", params["replicate"], params["seed"])
    return QUESTION.sweep.measure(streams, settings.arrays)


def report(settings: Settings, cells: list[dict], results: list[dict]) -> Summary:
    mean = average(QUESTION.sweep.columns(results))
    large = mean["eps"] >= LARGE_NOISE
    slope = exponent(mean["eps"][large], (mean["gamma_clean"] - mean["gamma_min"])[large])
    notes = [
        "The kernel is quadratic in the query, and noisy queries are not normalised: the drop of the margin has a part "
        "that is linear and one that is quadratic in ε. Where ε is "
        f"{LARGE_NOISE} or more, the drop grows with exponent {number(slope.value, 3)} "
        f"[{number(slope.low, 3)}, {number(slope.high, 3)}].",
        "L_bil(ε) is the exact Lipschitz constant of the kernel on the ball of radius 1 + ε: it is affine in ε, so "
        "that L_bil(ε) ε is not linear in ε.",
        "The noisy margin is averaged over the seeds, and each seed has its own noise directions.",
    ]
    return summarise(QUESTION, cells, results, notes)


fig6 = Figure(
    id="fig6",
    title="Margin of noisy queries",
    source="Figure 6, Section A.4.2",
    caption=(
        "F = 256 facts on the sphere, d = 64, m = 512; every key is moved by ε in a random direction, 15 values of ε "
        "from 0.01 to 2, three seeds a replicate."
    ),
    cells=cells,
    measure=measure,
    summarise=report,
)


@hc.claim(
    "fig6.linear",
    over=geo.figure("fig6"),
    source="Figure 6",
    title="The margin falls linearly with the noise",
    expect="refuted",
    erratum="The margin falls with the square of the noise: R² of a line in ε² exceeds that of a line in ε.",
)
def fig6_linear(fig):
    """The least margin decreases linearly with ε: a line in ε explains it at least as well as a line in ε²."""
    return hc.at_least(fig.r2_linear, fig.r2_quadratic)
