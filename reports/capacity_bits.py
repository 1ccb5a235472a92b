"""Beyond the paper: the bits in which memories store facts once their parameters are quantised."""

from __future__ import annotations

import numpy as np

import hebbcheck as hc
from hebbcheck import capacity, memories
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.figure import Figure, Summary
from hebbcheck.memories.quantised import Grid
from hebbcheck.report.numbers import number
from hebbcheck.settings import Settings

from .capacities import counting_bound, grouped, mean
from .capacity_charts import Point, chart
from .widths import LABELS, facts

D, REPLICATES = 64, 5
FACTORS = (1.0, 1.25, 1.5, 2.0, 3.0)
"""Widths that are tried, for the smallest one that stores."""
METHODS = ("gd", "data_dependent", "whitened", "bilinear", "ntk")
MOST_BITS = 24


def cells(settings: Settings) -> list[dict]:
    sizes = settings.by_profile((128, 256), (128, 256, 512, 1024))
    most_trained = settings.by_profile(128, 512)
    return [
        {"replicate": r, "seed": r, "method": method, "F": F}
        for F in sizes
        for method in METHODS
        for r in range(REPLICATES)
        if method != "gd" or F <= most_trained
    ]


def measure(settings: Settings, params: dict) -> dict:
    """The fewest bits over some widths: W = 3md numbers of the fewest bits with which all facts are still stored."""
    streams = Streams(settings.seed, "bits", params["seed"], params["F"])
    keys, values = facts(streams, geo.sphere, params["F"], D, False)
    mapping = streams("map").permutation(params["F"])
    seed, method = int(streams("weights").integers(2**31)), params["method"]
    least = capacity.of(method, keys, values, mapping, seed=seed).width
    tried = []
    for factor in FACTORS if least else ():
        m = round(factor * least)
        mlp = memories.build(method, keys, values, mapping, width=m, seed=seed)
        bits = fewest_bits(mlp, keys, values, mapping)
        if bits is not None:
            tried.append({"total": bits * mlp.parameter_count, "bits": bits, "width": m, "factor": factor})
    return min(tried, key=lambda one: one["total"]) if tried else {"total": None}


def fewest_bits(
    mlp: memories.GatedMLP, keys: np.ndarray, values: np.ndarray, mapping: np.ndarray
) -> int | None:
    """Bits a parameter of the coarsest grid that keeps all facts, each array on its own scale (which decides nothing).

    None where 24 are not enough.
    """
    scaled = {name: part / np.max(np.abs(part)) for name, part in mlp.parameters.items()}
    for bits in range(2, MOST_BITS + 1):
        grid = Grid(1.0, 2 ** (bits - 1) - 1)
        coarse = grid.decode(grid.encode(scaled), {name: part.shape for name, part in scaled.items()})
        rounded = memories.GatedMLP(**coarse, gate=mlp.gate)
        if rounded.stores(keys, values, mapping):
            return bits
    return None


def report(settings: Settings, cells: list[dict], results: list[dict]) -> Summary:
    records = [
        {**c, **r, "bound": float(counting_bound(c["F"], 1))} for c, r in zip(cells, results, strict=True)
    ]
    known = [r for r in records if r["total"]]
    replicates = [_numbers(own) for own in grouped(known, "replicate").values()]
    groups = grouped(known, "method", "F")
    rows = [
        [
            LABELS[method],
            F,
            mean([r["total"] / r["bound"] for r in own]),
            mean([r["bits"] for r in own]),
            mean([r["factor"] for r in own]),
        ]
        for (method, F), own in groups.items()
    ]
    points = []
    for (method, F), own in groups.items():
        totals = sorted(r["total"] for r in own)
        points.append(
            Point(LABELS[method], D, F, totals[len(totals) // 2], totals[0], totals[-1], len(own), 0)
        )
    sizes = np.unique([r["F"] for r in known])
    return Summary(
        attributes={
            name: mean([r[name] for r in replicates if name in r])
            for name in dict.fromkeys(name for r in replicates for name in r)
        },
        replicates=replicates,
        table={
            "columns": ["method", "F", "bits for log2 F!", "bits a parameter", "width for the smallest"],
            "rows": rows,
        },
        charts=[
            chart(
                title="Bits that store F facts",
                description="The bits of all parameters on the coarsest grid that keeps every fact, against F, with "
                "the fewest that any class of memories needs for all permutations, log2 F! (Theorem 2.4).",
                points=points,
                measure="bits of all parameters",
                lines=[("counting bound, log2 F!", sizes, counting_bound(sizes, 1))],
            )
        ],
        notes=[
            f"Of the widths {', '.join(number(f, 3) for f in FACTORS)} times the smallest that stores, the one whose "
            "parameters need the fewest bits in all. Grids are symmetric, one scale an array.",
        ],
    )


def _numbers(own: list[dict]) -> dict[str, float]:
    """`<method>`: bits for log2 F!, the geometric mean over F; `least`: the smallest of all."""
    ratio = {
        method: float(np.exp(np.mean([np.log(r["total"] / r["bound"]) for r in mine])))
        for method, mine in grouped(own, "method").items()
    }
    return {**ratio, "least": min(r["total"] / r["bound"] for r in own)}


capacity_bits = Figure(
    id="capacity_bits",
    title="Capacity in bits, after quantisation",
    source="beyond the paper; compare Theorem 2.4",
    caption="F facts on the sphere in d = 64 dimensions, keys and values apart: all bits of the coarsest parameters.",
    cells=cells,
    measure=measure,
    summarise=report,
)


@hc.claim(
    "capacity_bits.bound",
    over=geo.figure("capacity_bits"),
    source="Theorem 2.4, which bounds classes that store every permutation; here a construction on drawn facts",
    title="Quantised memories stay above the counting bound",
)
def above_the_bound(fig):
    """The bits of the most frugal quantised memory, in the mean over the seeds, are at least log2 F!."""
    return hc.at_least(fig.least, 1)
