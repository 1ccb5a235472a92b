"""The smallest width that stores all facts."""

import numpy as np
import pytest

from hebbcheck import HebbcheckError, capacity
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.capacity import search
from hebbcheck.memories import build, construction_named
from hebbcheck.memories.construction import fact_table, normal
from hebbcheck.memories.first_width import first_storing


def test_a_construction_of_one_width_has_no_smallest_one():
    with pytest.raises(HebbcheckError, match="'quadratic' has one width for each d"):
        capacity.of("quadratic", np.eye(3), np.eye(3))


def stored(x, widest):
    return [x.replace(m=m).gamma_min > 0 for m in range(1, widest + 1)]


@pytest.mark.parametrize("memory", ["whitened", "bilinear", "diagonal"])
@pytest.mark.parametrize(("F", "d"), [(3, 4), (5, 4), (8, 6), (12, 5)])
def test_the_search_agrees_with_trying_every_width(memory, F, d):
    family = geo.capacity(memory=memory)
    for seed in range(4):
        c = family.draw({"F": F, "d": d}, Streams("capacity", memory, seed))
        if memory != "whitened" and not c.replace(memory=memory, m=5000).stores_all:
            continue
        every = stored(c, c.m)
        assert c.m == every.index(True) + 1 and 3 * c.m * d == c.W


def test_a_width_is_the_smallest_one_also_where_wider_memories_lose_facts_again():
    lost = 0
    for seed in range(12):
        c = geo.capacity().draw({"F": 8, "d": 16}, Streams("again", seed))
        lost += not all(stored(c, c.m + 12)[c.m :])
    assert lost >= 2


def test_features_are_nested_so_that_widths_can_be_compared():
    c = geo.capacity().draw({"F": 5, "d": 4}, Streams(0))
    narrow, wide = c.replace(m=7), c.replace(m=100)
    for name in ("A", "G"):
        np.testing.assert_array_equal(getattr(wide, name)[:7], getattr(narrow, name))
    np.testing.assert_array_equal(narrow.keys, wide.keys)


class Threshold:
    """Stores from some width on; counts how often it is asked."""

    def __init__(self, least):
        self.least, self.asked = least, []

    def __call__(self, m):
        self.asked.append(m)
        return m >= self.least


@pytest.mark.parametrize("least", [1, 2, 3, 43, 44, 45, 63, 64, 65, 1000, 2**17 - 1, 2**17])
def test_any_threshold_is_found_in_a_few_steps(least):
    stores = Threshold(least)
    assert search(stores, start=44, widest=2**17).width == least
    assert len(stores.asked) == len(set(stores.asked)) <= 40


def test_no_width_that_stores():
    assert search(Threshold(1025), start=44, widest=1024).width is None
    crowded = geo.capacity(memory="whitened").draw({"F": 40, "d": 2}, Streams(0))
    with pytest.raises(HebbcheckError, match=r"no width up to 131072 .*try fewer facts"):
        assert crowded.m is None


def facts(F, d, seed, tied=False):
    streams = Streams("facts", seed)
    keys, values = (geo.sphere.sample(streams, purpose, F, d) for purpose in ("keys", "values"))
    return keys, keys if tied else values, streams("map").permutation(F)


def dense_margins(keys, values, f, features, readout):
    """Of each width up to all features: gamma_min from the definition, with all pairs in one array."""
    everything = range(1, features.shape[1] + 1)
    outputs = (features[:, :m] @ readout(features[:, :m], values[f]) for m in everything)
    apart = values[f][:, None, :] - values[None, :, :]
    pairs = f[:, None] != np.arange(len(values))[None, :]
    return np.array([np.einsum("ijd,id->ij", apart, o)[pairs].min() for o in outputs])


def bilinear_features(keys, seed, m):
    A, G = (normal(purpose, seed, m, keys.shape[1]) for purpose in ("A", "G"))
    return np.einsum("rd,id->ir", A, keys) * np.einsum("rd,id->ir", G, keys)


def hebbian(Phi, C):
    return Phi.T @ C


def by_energy(Phi, C):
    return (Phi / np.sum(Phi**2, axis=0)).T @ C


def by_pseudoinverse(Phi, C):
    return np.linalg.pinv(Phi, rcond=1e-8) @ C


@pytest.mark.parametrize(
    ("name", "readout"), [("bilinear", hebbian), ("diagonal", by_energy), ("whitened", by_pseudoinverse)]
)
@pytest.mark.parametrize(("F", "d"), [(4, 3), (12, 4), (30, 6), (60, 8)])
def test_the_first_width_is_that_of_a_dense_computation_of_every_width(name, readout, F, d):
    for seed in range(3):
        keys, values, f = facts(F, d, seed)
        table = fact_table(keys, values, f)
        found = first_storing(construction_named(name).units(table, seed), table, 150)
        margins = dense_margins(keys, values, f, bilinear_features(keys, seed, 150), readout)
        first = next((m for m, margin in enumerate(margins, 1) if margin > 1e-9), None)
        assert found.width == first
        assert len(found.judged) == len(set(found.judged)) <= 30


@pytest.mark.parametrize("gate", ["relu", "identity"])
def test_the_first_width_of_the_ntk_is_that_of_building_every_width(gate):
    for seed in range(3):
        keys, values, f = facts(14, 6, seed)
        built = (build("ntk", keys, values, f, width=m, seed=seed, gate=gate) for m in range(1, 151))
        first = next((m for m, mlp in enumerate(built, 1) if mlp.margins(keys, values, f).min() > 0), None)
        assert capacity.of("ntk", keys, values, f, seed=seed, gate=gate, widest=150).width == first


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("diagonal", {}),
        ("whitened", {}),
        ("data_dependent", {}),
        ("gd", {"steps": 800, "learning_rate": 0.01}),
    ],
)
def test_a_found_width_stores_and_the_one_before_does_not(name, options, tied):
    keys, values, f = facts(16, 12, 1, tied)
    found = capacity.of(name, keys, values, f, seed=1, widest=300, **options)

    def stores(m):
        return build(name, keys, values, f, width=m, seed=1, **options).stores(keys, values, f)

    assert stores(found.width) and (found.width == 1 or not stores(found.width - 1))
    assert found.tried[found.width] and found.width == min(m for m, stored in found.tried.items() if stored)


@pytest.mark.parametrize("block", [(1, 1), (3, 3), (7, 64), (200, 200)])
def test_blocks_do_not_change_the_first_width(block):
    keys, values, f = facts(40, 7, 5)
    table = fact_table(keys, values, f)
    for name in ("bilinear", "whitened"):
        units = construction_named(name).units
        expected = first_storing(units(table, 2), table, 400).width
        assert first_storing(units(table, 2), table, 400, blocks=block).width == expected


def test_storing_by_luck_is_found_where_a_bisection_passes_it_by():
    """Of 20 seeds some have a width that stores, and a wider one that does not."""
    passed = 0
    for seed in range(20):
        keys, values, f = facts(12, 10, seed)
        table = fact_table(keys, values, f)
        margins = dense_margins(keys, values, f, bilinear_features(keys, seed, 150), hebbian)
        found = first_storing(construction_named("bilinear").units(table, seed), table, 150).width
        assert found == next((m for m, margin in enumerate(margins, 1) if margin > 0), None)
        passed += found is not None and bool(np.any(margins[found:] <= 0))
    assert passed >= 5


def test_units_are_those_of_the_memory_that_is_built():
    keys, values, f = facts(15, 5, 3)
    table = fact_table(keys, values, f)
    for name, options in (
        ("bilinear", {}),
        ("diagonal", {"ridge": 0}),
        ("whitened", {"ridge": 0}),
        ("ntk", {}),
    ):
        units = construction_named(name).units(table, 4)
        (Phi, B), (more, further) = units.take(5), units.take(4)
        outputs = np.concatenate([Phi, more], axis=1) @ np.concatenate([B, further])
        built = build(name, keys, values, f, width=9, seed=4, **options)(keys)
        factor = np.sum(built * outputs) / np.sum(outputs**2)
        assert factor > 0
        np.testing.assert_allclose(factor * outputs, built, rtol=1e-7, atol=1e-9)


def test_a_ridge_may_store_what_the_projector_does_not():
    keys = geo.sphere.sample(Streams("ridge", 2), "keys", 8, 2)
    facts = (keys, np.eye(8))
    assert capacity.of("whitened", *facts, widest=400).width is None
    found = capacity.of("whitened", *facts, widest=400, ridge=1.0)
    assert found.width is not None
    assert build("whitened", *facts, width=found.width, ridge=1.0).stores(*facts)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rigde": 3}, "rigde"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": "x"}, "seed='x'"),
        ({"widest": -3}, "widest=-3"),
        ({"start": 0.5}, "start=0.5"),
        ({"around": 3}, "around=3 is no pair"),
        ({"around": (1, -2)}, "around=-2"),
    ],
)
def test_what_cannot_be_searched_with_is_refused(given, said):
    with pytest.raises(HebbcheckError, match=said):
        capacity.of("bilinear", np.eye(3), np.eye(3), **given)


EVEN = {
    "bilinear": {},
    "diagonal": {},
    "whitened": {},
    "data_dependent": {},
    "gd": {},
    "ntk": {"gate": "identity"},
}


@pytest.mark.parametrize("name", EVEN)
@pytest.mark.parametrize(
    ("rows", "values", "said"),
    [
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], np.eye(3), "keys 0 and 1 are opposite"),
        ([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]], np.eye(3), "keys 0 and 2 are equal"),
        (
            [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
            [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]],
            "values 0 and 2 are equal",
        ),
    ],
)
def test_facts_that_nothing_can_tell_apart_are_not_searched(name, rows, values, said):
    found = capacity.of(name, np.array(rows), np.array(values), widest=64, **EVEN[name])
    assert (found.width, found.widest, found.exact, found.units) == (None, 64, True, 0)
    assert found.reason == said
    built = build(name, np.array(rows), np.array(values), width=64, **EVEN[name])
    assert np.min(built.margins(np.array(rows), np.array(values))) <= 1e-12


def test_what_can_be_told_apart_is_searched():
    keys = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    for name, options in (("ntk", {}), ("gd", {"biases": True}), ("gd", {"gate": "relu"})):
        assert capacity.of(name, keys, np.eye(2), [0, 1, 0], widest=64, **options).width
    assert capacity.of("bilinear", keys, np.eye(2), [1, 1, 1], widest=64).width
    three = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # equal values that no fact has
    assert capacity.of("bilinear", np.eye(2), three, [0, 0], widest=64).width


@pytest.mark.parametrize("name", ["bilinear", "ntk"])
def test_next_widths_are_judged_as_a_memory_of_each_would_be(name):
    lost = 0
    for seed in range(12):
        keys, values, f = facts(12, 16, seed)
        found = capacity.of(name, keys, values, f, seed=seed, widest=400, around=(0, 40))
        wider = {m: stored for m, stored in found.tried.items() if m > found.width}
        assert list(wider) == list(range(found.width + 1, min(found.width + 40, 400) + 1))
        for m, stored in wider.items():
            assert build(name, keys, values, f, width=m, seed=seed).stores(keys, values, f) == stored
        lost += not found.monotone
    assert lost >= 1  # of a bilinear memory or an NTK some wider one loses facts again


def test_where_the_cheaper_memories_store_nothing_the_given_ones_are_tried(monkeypatch):
    keys, values, f = facts(16, 8, 0)
    expected = capacity.of("data_dependent", keys, values, f, widest=64).width
    kind = type(construction_named("data_dependent"))
    monkeypatch.setattr(kind, "cheaper", {"ridge": 1e9})  # as good as no whitening
    assert capacity.of("data_dependent", keys, values, f, widest=15).width == expected


def test_data_dependent_memories_are_not_searched_beyond_where_they_answer_alike():
    keys, values, f = facts(40, 6, 0)  # quadratic forms of 6 numbers have 21 dimensions
    found = capacity.of("data_dependent", keys, values, f)
    assert (found.width, found.widest) == (None, 42) and "from width 21 on" in found.reason
    wide, wider = (build("data_dependent", keys, values, f, width=m, tolerance=1e-3)(keys) for m in (30, 60))
    np.testing.assert_allclose(wide, wider, atol=1e-4)
    assert capacity.of("data_dependent", keys, values, f, widest=20).reason == ""
    assert capacity.of("data_dependent", keys, values, f, widest=60).widest == 42


def test_where_a_ridge_matters_wide_memories_are_searched():
    keys, values, f = facts(40, 6, 0)  # the features of long keys are short, and a ridge is large beside them
    found = capacity.of("data_dependent", 1e3 * keys, values, f, widest=60)
    assert found.width is None and found.widest == 60 and found.reason == ""
    with pytest.raises(HebbcheckError, match="ridge='x' is out of range"):
        capacity.of("data_dependent", keys, values, f, ridge="x")


def test_with_a_large_ridge_widths_between_the_steps_are_tried():
    streams = Streams("ridge", 0)
    keys, values = geo.spiked(1.5).sample(streams, "keys", 10, 6), geo.sphere.sample(streams, "values", 10, 3)
    widths = range(1, 150)
    some = [m for m in widths if build("whitened", keys, values, width=m, ridge=0.1).stores(keys, values)]
    found = capacity.of("whitened", keys, values, ridge=0.1, widest=150)
    assert found.width in some and not found.exact


def test_an_answer_is_confirmed_by_the_memory_as_it_is_built():
    keys, values, f = facts(12, 16, 1)
    table, units_of = fact_table(keys, values, f), construction_named("bilinear").units
    every = [build("bilinear", keys, values, f, width=m).stores(keys, values, f) for m in range(1, 300)]
    right = [m for m, stores in enumerate(every, 1) if stores]
    refused = right[:2]
    found = first_storing(units_of(table, 0), table, 300, confirmed=lambda m: m not in refused)
    assert found.width == right[2] and [m for m in refused if found.judged[m]] == []


def test_values_that_float32_cannot_tell_apart_are_not_said_to_be_stored():
    rng = np.random.default_rng(0)
    for seed in range(10):
        keys, values, f = facts(4, 12, seed)
        values[1] = values[0] + 3e-8 * rng.standard_normal(12)
        keys, values = keys.astype(np.float32), values.astype(np.float32)
        width = capacity.of("bilinear", keys, values, f, widest=200).width
        assert width is None or build("bilinear", keys, values, f, width=width).stores(keys, values, f)


@pytest.mark.parametrize("error", [MemoryError("no memory"), HebbcheckError("a solve"), ZeroDivisionError()])
def test_an_error_is_an_error(error, monkeypatch):
    def fails(m):
        if m > 40:
            raise error
        return m >= 17

    assert search(fails, start=20, widest=100).width == 17
    with pytest.raises(type(error)):
        search(fails, start=50, widest=100)


def test_the_surroundings_of_an_answer_are_tried_again():
    lucky = {11, 12, 13, *range(16, 100)}
    plain = search(lambda m: m in lucky, start=16, widest=100, step=1)
    assert (plain.width, plain.monotone) == (16, True)
    around = search(lambda m: m in lucky, start=16, widest=100, step=1, around=(3, 2))
    assert (around.width, around.monotone) == (11, False)
    assert {17, 18} <= set(around.tried)


def test_searches_reach_both_ends():
    for least in (1, 2, 19, 20):
        assert search(lambda m, least=least: m >= least, start=7, widest=20).width == least
    assert search(lambda m: False, start=7, widest=20).width is None


def test_memory_that_runs_out_is_said_in_one_line(monkeypatch):
    def exhausted(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(capacity, "first_storing", exhausted)
    with pytest.raises(
        HebbcheckError, match="the search for the width of 'bilinear' for 3 facts ran out of memory"
    ):
        capacity.of("bilinear", np.eye(3), np.eye(3))
