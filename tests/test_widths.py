"""Figures 2c and 11 at small sizes: their cells, numbers, tables and charts."""

import importlib
import json
import math

import numpy as np
import pytest
from scipy.special import gammaln

from hebbcheck import figure as figures
from hebbcheck import memories
from hebbcheck.arrays import Streams
from hebbcheck.settings import Settings

widths, capacities, fig11, forecast = (
    importlib.import_module(f"hebbcheck.reports.{name}")
    for name in ("widths", "capacities", "fig11", "forecast")
)
METHODS = (*widths.METHODS, widths.LIMIT)


def small(beta=0.0, replicates=2, methods=METHODS):
    scope = widths.Scope((12,), 72, 18, 36, replicates, 4096)
    cells = scope.cells(beta, methods)
    assert {c["F"] for c in cells} == {4, 9, 18, 36, 72}
    assert all(c["replicate"] == 0 for c in cells if (c["method"], c["F"]) == ("data_dependent", 72))
    return [c for c in cells if c["F"] <= (9 if c["method"] == "gd" else 36)]


@pytest.fixture(scope="module")
def told():
    cells = [c for c in small() if c["F"] > 4]
    results = json.loads(json.dumps([widths.measure(Settings(), c) for c in cells]))
    return cells, results, capacities.summarise("Title", cells, results, ["a note"])


def test_the_sizes_are_the_papers():
    assert widths.facts_of(64) == [128, 256, 512, 1024, 2048, 3072, 4096]
    assert widths.facts_of(90) == [253, 506, 1012, 2025, 4050, 6075, 8100]


@pytest.mark.parametrize("id", ["fig2c", "fig11"])
@pytest.mark.parametrize(
    ("profile", "closed", "trained", "dimensions"),
    [("quick", 1024, 256, {64}), ("standard", 4096, 1024, {64}), ("paper", 16384, 16384, {64, 90, 128})],
)
def test_profiles_have_the_sizes_that_they_promise(id, profile, closed, trained, dimensions):
    cells = figures.find([id])[0].cells(Settings(profile=profile))
    assert json.loads(json.dumps(cells)) == cells
    assert {c["d"] for c in cells} == dimensions and {c["tied"] for c in cells} == {True, False}
    for method in METHODS:
        largest = max(c["F"] for c in cells if c["method"] == method)
        assert largest == (trained if method == "gd" else closed)
    assert len({json.dumps(c) for c in cells}) == len(cells)


def test_a_cell_is_a_pure_function_and_seeds_differ():
    cell = next(c for c in small() if c["method"] == "bilinear" and c["F"] == 18)
    assert widths.measure(Settings(), cell) == widths.measure(Settings(), dict(cell))
    assert widths.measure(Settings(), cell) != widths.measure(Settings(seed=1), cell)


def test_a_measured_width_is_that_of_memories_built_at_every_width():
    for cell in small(replicates=1):
        if cell["method"] not in ("bilinear", "ntk") or cell["F"] != 9 or not cell["tied"]:
            continue
        streams = Streams(0, "widths", cell["seed"], 12, 9)
        keys, values = widths.facts(streams, widths.sphere, 9, 12, True)
        f, seed = streams("map").permutation(9), int(streams("weights").integers(2**31))
        stored = (
            memories.build(cell["method"], keys, values, f, width=m, seed=seed).stores(keys, values, f)
            for m in range(1, 300)
        )
        assert widths.measure(Settings(), cell)["width"] == next(m for m, s in enumerate(stored, 1) if s)


@pytest.mark.parametrize("tied", [True, False])
def test_the_exact_kernels_margin_is_that_of_its_memory(tied):
    keys, values = widths.facts(Streams("limit"), widths.spiked(1.5), 30, 6, tied)
    f = Streams("limit")("map").permutation(30)
    margins = 30 * memories.build("quadratic", keys, values, f).margins(keys, values, f)
    assert widths.exact_kernel_margin(keys, values, f) == pytest.approx(margins.min(), rel=1e-9)
    assert widths.exact_kernel_margin(keys, values, f, rows=7) == pytest.approx(margins.min(), rel=1e-9)


def record(method, F, width, seed=0, tied=True, d=10, beta=0.0):
    W = 3 * d * (width or 1000)
    return {
        "method": method, "F": F, "d": d, "seed": seed, "replicate": seed, "tied": tied, "beta": beta,
        "width": width, "widest": 1000, "W": W, "monotone": True, "margin": 1.0,
    }  # fmt: skip


def test_numbers_by_hand():
    own = [record("gd", 10, 2), record("gd", 20, 4), record("gd", 40, 5)]
    own += [record("data_dependent", 10, 12), record("data_dependent", 20, 36)]
    own += [record("ntk", 10, 240), record("ntk", 20, None)]
    named = capacities.numbers(own, capacities.everywhere(own))
    assert named["dd_gd"] == pytest.approx(math.sqrt(6 * 9))
    said = [note for note in capacities.told([r | {"exact": True} for r in own]) if "geometric mean" in note]
    assert said[0] == (
        "Tied: W of data-dependent over W of gradient descent is 7.35 (geometric mean; 6 to 9 over sizes and seeds)."
    )
    assert (
        named["ntk_dd"] == pytest.approx(20) and named["stored_ntk"] == 1 / 2
    )  # no ratio where there is no width
    x = np.log([10 * np.log(10), 20 * np.log(20)])
    assert named["exponent_data_dependent"] == pytest.approx(np.log(3) / (x[1] - x[0]))
    assert math.isnan(named["dd_gd_untied"]) and math.isnan(named["exponent_whitened"])


@pytest.mark.parametrize("name", list(capacities.RATES))
def test_the_rate_of_exact_scaling_is_found(name):
    mine = [
        record("gd", F, 1) | {"W": 7 * float(capacities.RATES[name](np.array(F)))} for F in (32, 64, 128, 512)
    ]
    best, lead = capacities.best_rate(mine)
    assert best == name and (lead > 10 or name == "F log F")
    if name == "F log F":
        assert capacities.slope(mine) == pytest.approx(1)


def test_whole_widths_leave_the_exponent_open_even_where_all_seeds_agree():
    """A width that stores lies above one that does not: the exponents of all such real widths are in the interval."""
    mine = [record("gd", F, width, seed) for seed in range(3) for F, width in ((10, 2), (20, 4), (40, 5))]
    found = capacities.pooled_slope(mine)
    rng = np.random.default_rng(0)
    for _ in range(200):
        real = [r | {"W": 30 * (r["width"] - rng.random())} for r in mine]
        assert found.low <= capacities.slope(real) <= found.high
    ends = [r | {"W": 30 * (r["width"] - 0.999 * (r["F"] == 10))} for r in mine]
    assert capacities.slope(ends) > capacities.slope(mine) and found.high > capacities.slope(ends)
    wide = capacities.pooled_slope([r | {"width": 10**6} for r in mine])
    assert wide.high - wide.low < found.high - found.low


@pytest.mark.parametrize(
    ("width", "spiked", "plain", "ended"),
    [
        (50, -0.1, 1.0, 0),  # a lucky width
        (None, 1.0, 1.0, 0),  # wider ones may store them
        (None, -0.1, 1.0, 1),
        (None, -0.1, -0.1, 0),  # the spike is not to blame
    ],
)
def test_sizes_that_no_width_stores_because_of_the_spike(width, spiked, plain, ended):
    own = [record("ntk", 10, 2, beta=1.5), record("ntk", 20, width, beta=1.5)]
    own += [record(widths.LIMIT, F, None, beta=beta) for F in (10, 20) for beta in (0.0, 1.5)]
    for r in own:
        if (r["method"], r["F"]) == (widths.LIMIT, 20):
            r["margin"] = spiked if r["beta"] else plain
    assert capacities.numbers_of_the_spike(own)["ended_ntk"] == ended


def test_sizes_at_which_some_seed_has_no_width_are_left_out():
    mine = [record("ntk", F, width, seed) for seed in range(3) for F, width in ((10, 2), (20, 4), (40, 9))]
    censored = [*mine, *(record("ntk", 80, None if seed else 50, seed) for seed in range(3))]
    assert capacities._scaling(censored)[1:] == capacities._scaling(mine)[1:]
    assert capacities._scaling(censored)[0] == f"{capacities._scaling(mine)[0]} (without F = 80)"
    lucky, *_ = capacities.grouped(censored, "replicate").values()
    named = capacities.numbers(lucky, capacities.everywhere(censored))
    assert named["exponent_ntk"] == capacities.slope(mine[:3]) and named["stored_ntk"] == 1


def test_more_seeds_do_not_narrow_the_interval_of_a_curve_that_is_no_power():
    def curve(seeds):
        return [
            record("gd", F, 10**6, seed) | {"W": 5 * F * np.log(F) + 960}
            for seed in range(seeds)
            for F in (128, 256, 512, 1024)
        ]

    few, many = capacities.pooled_slope(curve(1)), capacities.pooled_slope(curve(50))
    assert (many.low, many.high) == pytest.approx((few.low, few.high))
    assert few.high - few.low > 0.1
    assert capacities.best_rate(curve(50)) == pytest.approx(capacities.best_rate(curve(1)))


def test_replicates_are_compared_on_the_sizes_that_all_of_them_have():
    found = [record("gd", F, 3, seed) for seed in range(2) for F in (10, 20)] + [record("gd", 40, 5, 0)]
    assert [r for r in found if r in capacities.shared(found)] == found[:4]


def test_whitening_gain_by_hand():
    own = [
        record(method, 10, width, beta=beta)
        for method, beta, width in (
            ("bilinear", 0.0, 30), ("whitened", 0.0, 10), ("bilinear", 1.5, 120), ("whitened", 1.5, 10),
        )
    ]  # fmt: skip
    assert capacities.numbers_of_the_spike(own)["whitening_gain"] == pytest.approx(4)


def test_the_counting_bound_is_the_number_of_permutations():
    assert capacities.counting_bound(np.array([5]), 2)[0] == pytest.approx(math.log2(120) / 2)
    assert gammaln(6) == pytest.approx(math.log(120))


def test_tables_and_charts(told):
    altair = pytest.importorskip("altair")
    _, _, summary = told
    assert len(summary.replicates) == 2 and "a note" in summary.notes
    assert all(len(row) == len(summary.table["columns"]) for row in summary.table["rows"])
    assert len(summary.table["rows"]) == 2 * len(METHODS)
    for chart in summary.charts:
        altair.LayerChart.from_dict(chart["spec"])
        rows = chart["spec"]["datasets"]["points"]
        assert {row["curve"] for row in rows} == {widths.LABELS[m] for m in widths.METHODS}
        assert all(row["low"] <= row["W"] <= row["high"] for row in rows)
        assert "#" not in json.dumps(chart["spec"]["layer"])


def test_figure_11_measures_both_geometries_for_what_whitening_gains():
    cells = fig11.fig11.cells(Settings())
    plain = {c["method"] for c in cells if not c["beta"]}
    assert plain == {"bilinear", "whitened", "quadratic"}
    some = [c for c in cells if c["F"] == 128 and c["method"] in fig11.COMPARED and c["replicate"] < 2]
    summary = fig11.report(Settings(), some, [widths.measure(Settings(), c) for c in some])
    assert summary.attributes["whitening_gain"] == pytest.approx(
        np.mean([r["whitening_gain"] for r in summary.replicates])
    )


def test_the_forecasts_figure():
    figure = forecast.capacity_forecast
    listed = [c for c in figure.cells(Settings()) if c["F"] == 96 and c["seed"] % forecast.SEEDS == 0]
    assert {c["method"] for c in listed} == {forecast.UNWHITENED, forecast.FITTED}
    cells = [c for c in listed if c["replicate"] < 2]
    results = json.loads(json.dumps([figure.measure(Settings(), c) for c in cells]))
    summary = figure.summarise(Settings(), cells, results)
    assert [row[1] for row in summary.table["rows"]] == 2 * list(forecast.SHAPES)
    assert 1 <= summary.attributes["error"] < 2.5 and 1 <= summary.attributes["error_data_dependent"] < 2.5


def test_the_fewest_bits_keep_all_facts_and_one_less_does_not():
    bits = importlib.import_module("hebbcheck.reports.capacity_bits")
    keys, values = widths.facts(Streams("bits"), widths.sphere, 20, 16, False)
    f = Streams("bits")("map").permutation(20)
    mlp = memories.build("whitened", keys, values, f, width=18)
    fewest = bits.fewest_bits(mlp, keys, values, f)

    def stored(count):
        levels = 2 ** (count - 1) - 1
        parts = {n: np.rint(p / np.abs(p).max() * levels) / levels for n, p in mlp.parameters.items()}
        return memories.GatedMLP(**parts).stores(keys, values, f)

    assert stored(fewest) and fewest > 2 and not any(stored(count) for count in range(2, fewest))


@pytest.mark.parametrize("lost", ["one search", "a method", "everything"])
def test_memories_that_no_grid_keeps_are_left_out_of_the_bits(lost):
    bits = importlib.import_module("hebbcheck.reports.capacity_bits")
    cells = [
        {"replicate": r, "seed": r, "method": method, "F": 128} for method in ("gd", "ntk") for r in (0, 1)
    ]
    kept = {"total": 5000, "bits": 6, "width": 4, "factor": 1.0}
    left = {"one search": cells[:3], "a method": cells[:2], "everything": []}[lost]
    summary = bits.report(Settings(), cells, [kept if c in left else {"total": None} for c in cells])
    assert len(summary.replicates) == (0 if lost == "everything" else 2)
    assert set(summary.attributes) - {"least"} == {c["method"] for c in left}
