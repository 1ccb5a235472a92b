"""Beyond the paper: the widths that memories need, forecast from keys and values alone."""

from __future__ import annotations

import math

import numpy as np

import hebbcheck as hc
from hebbcheck import capacity
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.figure import Figure, Summary
from hebbcheck.forecast import start, unwhitened_width
from hebbcheck.memories.construction import fact_table
from hebbcheck.report.numbers import number, percent
from hebbcheck.settings import Settings

from .capacities import grouped, mean
from .capacity_charts import forecasts
from .widths import LABELS

SHAPES = {
    "sphere": geo.sphere,
    "gaussian": geo.gaussian,
    "spiked": geo.spiked(1.5),
    "low rank": geo.low_rank(40),
    "tight frame": geo.tight_frame,
    "clustered": geo.clustered(8, 4.0),
}
"""Keys and values of each; the constants of the forecasts were chosen on spheres."""
CHOSEN_ON = "sphere"
UNWHITENED, FITTED, TRAINED = "bilinear", "data_dependent", "gd"
D, SEEDS, WIDEST = 64, 2, 16384


def cells(settings: Settings) -> list[dict]:
    sizes = {
        UNWHITENED: settings.by_profile((96, 192, 320), (96, 160, 256, 384, 512, 768, 1024)),
        FITTED: settings.by_profile((96, 192), (96, 160, 256, 384, 512)),
        TRAINED: settings.by_profile((), (96, 160, 256)),
    }
    return [
        {"method": method, "replicate": r, "seed": r * SEEDS + s, "shape": shape, "F": F}
        for method, of_method in sizes.items()
        for r in range(5)
        for shape in SHAPES
        for F in of_method
        for s in range(SEEDS if method == UNWHITENED else 1)
    ]


def measure(settings: Settings, params: dict) -> dict:
    F, shape, method = params["F"], SHAPES[params["shape"]], params["method"]
    streams = Streams(settings.seed, "forecast", params["seed"], F)
    keys, values = (shape.sample(streams, purpose, F, D) for purpose in ("keys", "values"))
    mapping = streams("map").permutation(F)
    forecast: float = start(method, fact_table(keys, values, mapping))
    if method == UNWHITENED:
        forecast = unwhitened_width(keys, values, mapping)
    seed = int(streams("weights").integers(2**31))
    widest = WIDEST if method == UNWHITENED else F
    found = capacity.of(method, keys, values, mapping, seed=seed, widest=widest)
    return {"forecast": forecast if forecast <= widest else None, "width": found.width}


def report(settings: Settings, cells: list[dict], results: list[dict]) -> Summary:
    records = [{**cell, **result} for cell, result in zip(cells, results, strict=True)]
    unseen = [r for r in records if r["shape"] != CHOSEN_ON]
    replicates = [_of_methods(own) for own in grouped(unseen, "replicate").values()]
    rows = [
        [LABELS[method], shape, len(own), *_row(_numbers(own))]
        for (method, shape), own in grouped(records, "method", "shape").items()
    ]
    unwhitened = [r for r in records if r["method"] == UNWHITENED]
    return Summary(
        attributes={name: mean([r[name] for r in replicates]) for name in replicates[0]},
        replicates=replicates,
        table={
            "columns": [
                "method",
                "keys and values",
                "sets of facts",
                "typical error",
                "bias, forecast / width",
                "within a factor of 2",
                "both or neither storable",
            ],
            "rows": rows,
        },
        charts=[forecasts([r for r in unwhitened if r["width"] and r["forecast"]])],
        notes=[
            "Forecasts know keys, values and map, and draw no features. Their constants were chosen on the "
            f"{CHOSEN_ON}; the numbers of this figure are those of the other geometries. Searches start there.",
            "The typical error is the factor exp(mean |log(forecast / width)|) over the sets that have both. Widths "
            f"were searched up to {WIDEST}, of {LABELS[FITTED]} and trained memories up to F.",
            "On a harmonic tight frame products of two coordinates span 2d + 1 dimensions only: from F > 2d + 1 on "
            "even whitened features of any width may lose facts.",
        ],
    )


def _of_methods(own: list[dict]) -> dict[str, float]:
    """`error`, `bias`, `within_two` and `decided` of the unwhitened memory; `error_<method>` of the others."""
    by_method = {method: _numbers(mine) for method, mine in grouped(own, "method").items()}
    others = {f"error_{method}": told["error"] for method, told in by_method.items() if method != UNWHITENED}
    return {**by_method[UNWHITENED], **others}


def _numbers(own: list[dict]) -> dict[str, float]:
    """`error`: the typical factor between forecast and width; `bias`: its direction; `decided`: whether both exist."""
    logs = np.array([math.log(r["forecast"] / r["width"]) for r in own if r["forecast"] and r["width"]])
    decided = [(r["forecast"] is None) == (r["width"] is None) for r in own]
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
        "variances of all margins over random features let five pairs fail. In the table also the data-dependent and "
        "(beyond quick) trained memories, forecast by the number of facts and parameters."
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


@hc.claim(
    "capacity_forecast.start",
    over=geo.figure("capacity_forecast"),
    source="beyond the paper; compare Corollary 4.4",
    title="The data-dependent width can be forecast from sizes alone on geometries that were not seen",
)
def sizes_tell_the_fitted_width(fig):
    """The typical factor between forecast and width is at most 1.6."""
    return hc.at_most(fig.error_data_dependent, 1.6)
