"""What searches for the smallest widths say: ratios, exponents with rival rates, a table, charts and notes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import numpy as np
from scipy.special import gammaln

from hebbcheck.figure import Summary
from hebbcheck.fitting import Interval, exponent
from hebbcheck.report.numbers import number

from .capacity_charts import Point, chart
from .widths import LABELS, LIMIT, METHODS, Record, records

SIDES = {True: "", False: "_untied"}
"""Whether the values are the keys, as in the paper's runs, and how the numbers of that side end."""
TABLES = {True: "tied", False: "untied"}
RATES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "F": lambda F: F,
    "F log F": lambda F: F * np.log(F),
    "F^1.5": lambda F: F**1.5,
    "F^2": lambda F: F**2,
}
LIMITED = ("bilinear", "ntk")
"""The methods whose limit at unlimited width is the exact quadratic kernel."""
RATIOS = {
    "dd_gd": ("data_dependent", "gd"),
    "ntk_dd": ("ntk", "data_dependent"),
    "whitening": ("bilinear", "whitened"),
}
"""Parameters of the first for those of the second."""


def counting_bound(F: np.ndarray, bits: float) -> np.ndarray:
    """The parameters of b bits that a class needs to store every permutation (Theorem 2.4): log2(F!) / b."""
    return gammaln(np.asarray(F, dtype=float) + 1) / math.log(2) / bits


def summarise(title: str, cells: Sequence[dict], results: Sequence[dict], notes: Sequence[str]) -> Summary:
    """The summary of one geometry."""
    found = records(list(cells), list(results))
    common = everywhere(shared(found))
    replicates = [numbers(own, common) for own in grouped(shared(found), "replicate").values()]
    return Summary(
        attributes={name: mean([r[name] for r in replicates]) for name in replicates[0]},
        replicates=replicates,
        table=table(found),
        charts=[drawn(title, found, tied) for tied in TABLES],
        notes=[*notes, *told(found)],
    )


def shared(found: Sequence[Record]) -> list[Record]:
    """The searches that every replicate made: replicates are compared on the same sizes."""
    everyone = {r["replicate"] for r in found}
    made = grouped(found, "method", "d", "F", "tied")
    return [r for same in made.values() if {r["replicate"] for r in same} == everyone for r in same]


def everywhere(found: Iterable[Record]) -> list[Record]:
    """The searches of the sizes at which every replicate's has a width.

    How much wider than the widest the others are nobody knows, and a size that only lucky seeds store would mislead.
    """
    made = grouped((r for r in found if r["method"] != LIMIT), "method", "d", "F", "tied")
    return [r for same in made.values() if all(r["width"] is not None for r in same) for r in same]


def mean(values: Iterable[float]) -> float:
    known = [v for v in values if math.isfinite(v)]
    return float(np.mean(known)) if known else math.nan


def grouped(found: Iterable[Record], *names: str) -> dict:
    """Records by the values of these parameters, or by that of one."""
    groups: dict = defaultdict(list)
    for record in found:
        key = tuple(record[name] for name in names)
        groups[key if len(names) > 1 else key[0]].append(record)
    return dict(groups)


def of(found: Iterable[Record], method: str, tied: bool) -> list[Record]:
    return [r for r in found if r["method"] == method and r["tied"] == tied]


def numbers(own: Sequence[Record], common: Sequence[Record]) -> dict[str, float]:
    """What claims may name, of one replicate; `common` are the searches of sizes at which every replicate has a width.

    `<ratio>`: the geometric mean over those at which both methods have one.  `exponent_<method>`: of W in F log F over
    them.  `stored_<method>`: the share of all sizes that some width stores (of the exact kernel: that it stores;
    `stored_last`: of the largest ones).
    """
    named = {}
    with_width = [r for r in common if r["replicate"] == own[0]["replicate"]]
    for tied, side in SIDES.items():
        for name, (one, other) in RATIOS.items():
            values = ratios(of(with_width, one, tied), of(with_width, other, tied))
            named[f"{name}{side}"] = float(np.exp(np.mean(np.log(values)))) if values else math.nan
        for method in METHODS:
            mine = of(own, method, tied)
            named[f"exponent_{method}{side}"] = slope(of(with_width, method, tied))
            named[f"stored_{method}{side}"] = mean([float(r["width"] is not None) for r in mine])
        limit = of(own, LIMIT, tied)
        named[f"stored_{LIMIT}{side}"] = mean([float(r["margin"] > 0) for r in limit])
        last = [max(mine, key=lambda r: r["F"]) for mine in grouped(limit, "d").values()]
        named[f"stored_last{side}"] = mean([float(r["margin"] > 0) for r in last])
    return named


def _beyond(limit: Iterable[Record]) -> set[tuple[int, int]]:
    """The sizes (d, F) that the exact kernel does not store."""
    return {(r["d"], r["F"]) for r in limit if r["margin"] <= 0}


def ratios(one: Iterable[Record], other: Iterable[Record]) -> list[float]:
    """Parameters of one method for those of the other, at the sizes of both."""
    W, sizes = ({(r["d"], r["F"], r["seed"]): r["W"] for r in side} for side in (one, other))
    return [W[size] / sizes[size] for size in sizes if size in W]


def slope(mine: Sequence[Record]) -> float:
    """The exponent of W in F log F by least squares; NaN for fewer than two sizes."""
    F, W = columns(mine)
    if len(set(F)) < 2:
        return math.nan
    return float(np.polyfit(np.log(F * np.log(F)), np.log(W), 1)[0])


def columns(mine: Sequence[Record]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([r["F"] for r in mine], dtype=float), np.array([r["W"] for r in mine], dtype=float)


def pooled_slope(mine: Sequence[Record]) -> Interval:
    """The same of the means over the seeds, with its 95% interval, as wide as whole widths leave it.

    What the seeds of a size share (a curve that is no power) does not average out: sizes are the units.  A memory that
    stores at m and not at m - 1 has its place somewhere between, which matters at widths like 4.
    """
    F, W = means(mine)
    if len(set(F)) < 3:
        return Interval(math.nan, math.nan, math.nan)
    fit, x = exponent(F * np.log(F), W), np.log(F * np.log(F))
    leverage = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    below = np.array([_left_open(same) for same in grouped(mine, "F", "d").values()])
    lowered, raised = (float(np.sum(np.maximum(side, 0) * below)) for side in (leverage, -leverage))
    return Interval(fit.value, fit.low - lowered, fit.high + raised)


def means(mine: Sequence[Record]) -> tuple[np.ndarray, np.ndarray]:
    """F and the geometric mean of W over the seeds, for each size."""
    at = grouped(mine, "F", "d")
    W = [np.exp(np.mean(np.log(columns(same)[1]))) for same in at.values()]
    return np.array([F for F, _ in at], dtype=float), np.array(W, dtype=float)


def _left_open(same: Sequence[Record]) -> float:
    """How much of log W whole widths leave open, on average."""
    widths = np.array([r["width"] for r in same], dtype=float)
    return float(np.mean(np.log(widths / np.maximum(widths - 1, 1 / 2))))


def best_rate(mine: Sequence[Record]) -> tuple[str, float]:
    """Of the rates with one constant the one of smallest AIC over the sizes, and by how much F log F is above it."""
    F, W = means(mine)
    if len(set(F)) < 2:
        return "", math.nan
    aic = {name: len(F) * math.log(np.var(np.log(W / rate(F))) + 1e-12) for name, rate in RATES.items()}
    best = min(aic, key=lambda name: aic[name])
    return best, aic["F log F"] - aic[best]


def table(found: Sequence[Record]) -> dict[str, list]:
    """A row for each method and table: exponent, best rate, and the widths at each size."""
    sizes = sorted({(r["d"], r["F"]) for r in found})
    several = len({d for d, _ in sizes}) > 1
    heads = [f"F = {F}, d = {d}" if several else f"F = {F}" for d, F in sizes]
    rows = []
    for method, tied in product((*METHODS, LIMIT), TABLES):
        mine = of(found, method, tied)
        if not mine:
            continue
        at = grouped(mine, "d", "F")
        shown = [_widths(at[size]) if size in at else "" for size in sizes]
        rows.append([LABELS[method], TABLES[tied], *_scaling(mine), *shown])
    begin = ["method", "keys and values", "exponent in F log F", "95% interval", "best rate (AIC lead)"]
    return {"columns": [*begin, *(f"width m, {head}" for head in heads)], "rows": rows}


def _scaling(mine: Sequence[Record]) -> list:
    """Exponent, interval and best rate, over the sizes at which every seed has a width."""
    if mine[0]["method"] == LIMIT:
        return [None, None, None]
    kept = everywhere(mine)
    lost = {(r["d"], r["F"]) for r in mine} - {(r["d"], r["F"]) for r in kept}
    fit, (rate, lead) = pooled_slope(kept), best_rate(kept)
    said = f"{rate} ({number(lead, 3)})" if rate else None
    if not math.isfinite(fit.value):
        return [None, None, said]
    sizes = f" (without F = {', '.join(str(F) for _, F in sorted(lost))})" if lost else ""
    return [f"{number(fit.value, 3)}{sizes}", f"[{number(fit.low, 3)}, {number(fit.high, 3)}]", said]


def _widths(mine: Sequence[Record]) -> str:
    """Median and ends over the seeds; for the exact kernel how many seeds it stores."""
    if mine[0]["method"] == LIMIT:
        return f"{sum(r['margin'] > 0 for r in mine)} of {len(mine)} stored"
    widths = sorted(math.inf if r["width"] is None else r["width"] for r in mine)
    low, middle, high = widths[0], widths[(len(widths) - 1) // 2], widths[-1]
    if low == math.inf:
        return "none"
    ends = f"{low:g} to {high:g}" if high < math.inf else f"{low:g} to none"
    return ends if middle == math.inf else f"{middle:g} ({ends})"


def drawn(title: str, found: Sequence[Record], tied: bool) -> dict:
    """W against F for every method, with the counting bounds; where no width stores, at the widest tried."""
    groups = grouped([r for r in found if r["tied"] == tied and r["method"] != LIMIT], "method", "d", "F")
    points = []
    for (method, d, F), mine in groups.items():
        W = sorted(r["W"] for r in mine)
        lost = sum(r["width"] is None for r in mine)
        middle = W[(len(W) - 1) // 2]
        points.append(Point(LABELS[method], d, F, middle, W[0], W[-1], len(mine), lost))
    F = np.unique([p.F for p in points])
    bounds = {
        f"counting bound, {bits} bit{'s' * (bits > 1)} a parameter": counting_bound(F, bits)
        for bits in (1, 32)
    }
    return chart(
        title=f"{title}, {TABLES[tied]}",
        description=(
            f"{title}, {TABLES[tied]} keys and values: the parameters W = 3md of the smallest width that stores F "
            "facts, median over the seeds with its ends, and the fewest that store every permutation (Theorem 2.4). "
            "Hollow: for most seeds no width that was tried stores them, and the widest is shown."
        ),
        points=points,
        lines=[(name, F, W) for name, W in bounds.items()],
    )


def told(found: Sequence[Record]) -> list[str]:
    """What a reader should know of the numbers."""
    searched = [r for r in found if r["method"] != LIMIT]
    looked = [r for r in searched if not r["exact"]]
    odd = sum(not r["monotone"] for r in looked)
    seeds = len({r["seed"] for r in found})
    said = [
        f"{seeds} seeds; one set of facts, one map and nested weights a seed, the same for all methods. W = 3md.",
        "Of the unwhitened memory and the NTK every smaller width was ruled out; the answers of the others are widths "
        "that store all facts while the width before does not.",
        f"In {odd} of {len(looked)} searches that tried wider memories one was seen to lose facts that a narrower one "
        "stores.",
    ]
    for tied in TABLES:
        limit = grouped(of(found, LIMIT, tied), "d", "F")
        lost = [(d, F) for (d, F), mine in sorted(limit.items()) if all(r["margin"] <= 0 for r in mine)]
        if lost:
            d, F = lost[0]
            said.append(
                f"{TABLES[tied].capitalize()}: the exact quadratic kernel, the limit of ever wider unwhitened memories "
                f"and of the NTK, stores the facts of no seed at F = {F}, d = {d}: there width does not help."
            )
    common = everywhere(found)
    for (one, other), tied in product(RATIOS.values(), TABLES):
        values = ratios(of(common, one, tied), of(common, other, tied))
        if values:
            said.append(
                f"{TABLES[tied].capitalize()}: W of {LABELS[one]} over W of {LABELS[other]} is "
                f"{number(float(np.exp(np.mean(np.log(values)))), 3)} (geometric mean; {number(min(values), 3)} to "
                f"{number(max(values), 3)} over sizes and seeds)."
            )
    lost_methods = {r["method"] for r in searched if r["width"] is None}
    if lost_methods:
        names = ", ".join(LABELS[m] for m in METHODS if m in lost_methods)
        widest = max(r["widest"] for r in searched if r["width"] is None)
        said.append(
            f"Of some seeds no width up to {widest} stores all facts for: {names}; the charts show W of the widest, "
            "and exponents and ratios leave those sizes out."
        )
    return said


def numbers_of_the_spike(own: Sequence[Record]) -> dict[str, float]:
    """What the spike changes, of one replicate.

    `whitening_gain`: how many times fewer parameters whitening needs, with the spike for without it: the geometric mean
    over the sizes that the unwhitened memory stores without the spike.  Where it does not store them with the spike, at
    least so many times: W is that of the widest that was tried.  `ended_<method>`: the number of sizes that no width
    stores with the spike, as the exact kernel does not, while without the spike the exact kernel does.
    """
    named = {}
    for tied, side in SIDES.items():
        searched = [r for r in own if r["tied"] == tied and r["method"] != LIMIT]
        W = {(r["method"], bool(r["beta"]), r["d"], r["F"]): r for r in searched}
        gains = [
            _saved(W, True, d, F) / _saved(W, False, d, F)
            for method, spiked, d, F in W
            if (method, spiked) == ("bilinear", False) and W[method, False, d, F]["width"] is not None
        ]
        named[f"whitening_gain{side}"] = float(np.exp(np.mean(np.log(gains)))) if gains else math.nan
        limit = of(own, LIMIT, tied)
        ended = _beyond(r for r in limit if r["beta"]) - _beyond(r for r in limit if not r["beta"])
        for method in LIMITED:
            named[f"ended_{method}{side}"] = float(
                sum(
                    r["width"] is None and (r["d"], r["F"]) in ended
                    for r in of(own, method, tied)
                    if r["beta"]
                )
            )
    return named


def _saved(found: dict[tuple, Record], spiked: bool, d: int, F: int) -> float:
    return found["bilinear", spiked, d, F]["W"] / found["whitened", spiked, d, F]["W"]
