"""Beyond the paper: the width that the unwhitened memory needs, forecast from keys and values alone."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

import hebbcheck as hc
from hebbcheck import capacity
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.figure import Figure, Summary
from hebbcheck.forecast import unwhitened_width
from hebbcheck.report.numbers import number, percent
from hebbcheck.settings import Settings

from .capacity_charts import forecasts

SHAPES = {
    "sphere": geo.sphere,
    "gaussian": geo.gaussian,
    "spiked": geo.spiked(1.5),
    "low rank": geo.low_rank(40),
    "tight frame": geo.tight_frame,
    "clustered": geo.clustered(8, 4.0),
}
"""Keys and values of each; the forecast's one constant was chosen on spheres."""
CHOSEN_ON = "sphere"
D, SEEDS = 64, 2


def cells(settings: Settings) -> list[dict]:
    sizes = settings.by_profile((96, 192, 320), (96, 160, 256, 384, 512, 768, 1024))
    return [
        {"replicate": r, "seed": r * SEEDS + s, "shape": shape, "F": F}
        for r in range(5)
        for shape in SHAPES
        for F in sizes
        for s in range(SEEDS)
    ]


def measure(settings: Settings, params: dict) -> dict:
    F, shape = params["F"], SHAPES[params["shape"]]
    streams = Streams(settings.seed, "forecast", params["seed"], F)
    keys, values = (shape.sample(streams, purpose, F, D) for purpose in ("keys", "values"))
    mapping = streams("map").permutation(F)
    forecast = unwhitened_width(keys, values, mapping)
    seed = int(streams("weights").integers(2**31))
    found = capacity.of("bilinear", keys, values, mapping, seed=seed, widest=16384)
    return {"forecast": forecast if math.isfinite(forecast) else None, "width": found.width}


def report(settings: Settings, cells: list[dict], results: list[dict]) -> Summary:
    records = [{**cell, **result} for cell, result in zip(cells, results, strict=True)]
    by_replicate, by_shape = defaultdict(list), defaultdict(list)
    for record in records:
        by_shape[record["shape"]].append(record)
        if record["shape"] != CHOSEN_ON:
            by_replicate[record["replicate"]].append(record)
    replicates = [_numbers(own) for own in by_replicate.values()]
    rows = [[shape, len(own), *_row(_numbers(own))] for shape, own in by_shape.items()]
    return Summary(
        attributes={name: float(np.nanmean([r[name] for r in replicates])) for name in replicates[0]},
        replicates=replicates,
        table={
            "columns": [
                "keys and values",
                "sets of facts",
                "typical error",
                "bias, forecast / width",
                "within a factor of 2",
                "both or neither storable",
            ],
            "rows": rows,
        },
        charts=[forecasts([r for r in records if r["width"] and r["forecast"]])],
        notes=[
            "The forecast knows keys, values and map, and draws no features. Its one constant was chosen on "
            f"the {CHOSEN_ON}; the numbers of this figure are those of the other geometries.",
            "The typical error is the factor exp(mean |log(forecast / width)|) over the sets that have both. Widths "
            "were searched up to 16384.",
        ],
    )


def _numbers(own: list[dict]) -> dict[str, float]:
    """`error`: the typical factor between forecast and width; `bias`: its direction; `decided`: whether both exist."""
    logs = np.array([math.log(r["forecast"] / r["width"]) for r in own if r["forecast"] and r["width"]])
    decided = [((r["forecast"] or math.inf) <= 16384) == (r["width"] is not None) for r in own]
    known = logs.size > 0
    return {
        "error": float(np.exp(np.mean(np.abs(logs)))) if known else math.nan,
        "bias": float(np.exp(np.mean(logs))) if known else math.nan,
        "within_two": float(np.mean(np.abs(logs) <= math.log(2))) if known else math.nan,
        "decided": float(np.mean(decided)),
    }


def _row(told: dict[str, float]) -> list:
    error, bias = (number(told[name], 3) for name in ("error", "bias"))
    within = percent(told["within_two"]) if math.isfinite(told["within_two"]) else None
    return [error, bias, within, percent(told["decided"])]


capacity_forecast = Figure(
    id="capacity_forecast",
    title="Widths forecast from keys and values",
    source="beyond the paper; compare Corollary 4.5",
    caption=(
        "The smallest width of the unwhitened memory against its forecast: the width at which the exact means and "
        "variances of all margins over random features let five pairs fail."
    ),
    cells=cells,
    measure=measure,
    summarise=report,
)


@hc.claim(
    "capacity_forecast.error",
    over=geo.figure("capacity_forecast"),
    source="beyond the paper; compare Corollary 4.5",
    title="The width can be forecast from keys and values on geometries that were not seen",
)
def forecast_is_good(fig):
    """The typical factor between forecast and width is at most 1.6, and whether a width exists is told in 90%."""
    return [hc.at_most(fig.error, 1.6), hc.at_least(fig.decided, 0.9)]
