"""Families on smaller instances, on the smallest sizes, and on what an adversary chooses."""

import numpy as np
import pytest

from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.geometry.maps import worst_map
from hebbcheck.judges.shrink import shrunk

NUMBERS = {"F": 6, "d": 5, "m": 4, "delta": 0.1}
ANY = geo.facts(keys=geo.anything, values=geo.anything)


def raw_of(family, seed=0, **numbers):
    return family.raw({**NUMBERS, **numbers}, Streams("smaller", seed), family.choices[0])


def shapes(raw):
    return {name: array.shape for name, array in raw.arrays.items()}


def test_facts_go_with_their_values():
    raw = raw_of(ANY)
    smaller = ANY.without(raw, "F", np.array([1, 4]))
    assert smaller.numbers["F"] == 4
    assert shapes(smaller) == {"keys": (4, 5), "values": (4, 5), "A": (4, 5), "G": (4, 5), "map": (4,)}
    kept = [0, 2, 3, 5]
    np.testing.assert_array_equal(smaller.arrays["keys"], raw.arrays["keys"][kept])
    np.testing.assert_array_equal(
        smaller.arrays["values"][smaller.arrays["map"]], raw.arrays["values"][raw.arrays["map"][kept]]
    )
    assert sorted(smaller.arrays["map"]) == [0, 1, 2, 3]


def test_dimensions_and_features_go():
    raw = raw_of(ANY)
    assert shapes(ANY.without(raw, "d", np.array([0])))["A"] == (4, 4)
    fewer = ANY.without(raw, "m", np.array([0, 1]))
    assert fewer.numbers["m"] == 2 and shapes(fewer)["G"] == (2, 5)
    np.testing.assert_array_equal(fewer.arrays["A"], raw.arrays["A"][2:])


def test_unit_rows_stay_unit():
    family = geo.facts(keys=geo.anything)
    smaller = family.without(raw_of(family), "d", np.array([1, 2]))
    np.testing.assert_allclose(np.linalg.norm(smaller.arrays["values"], axis=1), 1)
    assert shapes(smaller)["keys"] == (6, 3)


def test_values_that_no_fact_has_may_go_where_maps_are_arbitrary():
    family = geo.facts(keys=geo.anything, values=geo.anything, mapping="any")
    raw = raw_of(family)
    raw = raw.with_array("values", np.arange(25.0).reshape(5, 5)).with_array(
        "map", np.array([0, 3, 3, 1, 0, 3])
    )
    assert family.counts(raw) == {"F": 6, "d": 5, "m": 4, "values": 5}
    smaller = family.without(raw, "values", np.array([2, 4]))
    np.testing.assert_array_equal(smaller.arrays["map"], [0, 2, 2, 1, 0, 2])
    np.testing.assert_array_equal(smaller.arrays["values"], raw.arrays["values"][[0, 1, 3]])
    assert family.without(raw, "values", np.array([1, 2])) is None
    fewer_facts = family.without(raw, "F", np.array([3]))
    assert len(fewer_facts.arrays["values"]) == 5


def test_the_worst_map_is_chosen_again():
    family = geo.facts(keys=geo.anything, values=geo.anything, mapping="worst", memory="kernel")
    smaller = family.without(raw_of(family, seed=3), "F", np.array([2]))
    Phi = smaller.arrays["Phi"]
    np.testing.assert_array_equal(smaller.arrays["map"], worst_map(Phi @ Phi.T, smaller.arrays["values"]))


@pytest.mark.parametrize(
    ("family", "size"),
    [
        (geo.facts(values=geo.tied), "F"),
        (geo.facts(keys=geo.tight_frame), "d"),
        (geo.facts(values=geo.low_rank(2)), "F"),
        (geo.facts(F=6, keys=geo.anything), "F"),
        (geo.facts(F=[6, 8], keys=geo.anything), "F"),
        (geo.facts(d=(5, 9), keys=geo.anything), "d"),
    ],
)
def test_nothing_leaves_its_family(family, size):
    assert family.without(raw_of(family), size, np.array([0])) is None


def test_sampled_shapes_keep_three_facts_in_two_dimensions():
    sphere = geo.facts()
    assert sphere.without(raw_of(sphere, F=4), "F", np.array([0])).numbers["F"] == 3
    assert sphere.without(raw_of(sphere, F=3), "F", np.array([0])) is None
    assert sphere.without(raw_of(sphere, d=2), "d", np.array([0])) is None
    assert ANY.without(raw_of(ANY, F=2), "F", np.array([0])).numbers["F"] == 1
    assert geo.facts(F=(1, 9)).allows({**NUMBERS, "F": 1})
    assert not geo.facts().allows({**NUMBERS, "F": 2})


def test_kernels_and_vectors_lose_rows():
    kernels = geo.preconditioned()
    raw = kernels.raw({"F": 4, "m": 3}, Streams(0), "uniform")
    assert shapes(kernels.without(raw, "m", np.array([1]))) == {"Phi": (4, 2), "root": (2, 2)}
    assert shapes(kernels.without(raw, "F", np.array([1]))) == {"Phi": (3, 3), "root": (3, 3)}
    vectors = geo.vectors(count=2)
    assert shapes(vectors.without(vectors.raw({"d": 7}, Streams(0)), "d", np.arange(5))) == {
        "vectors": (2, 2)
    }
    mlps = geo.mlps()
    raw = mlps.raw({"F": 4, "d": 3, "m": 2}, Streams(0), "relu")
    assert shapes(mlps.without(raw, "d", np.array([0])))["B"] == (2, 2)


def test_small_sizes_are_small_and_allowed():
    rng = np.random.default_rng(0)
    drawn = [geo.facts().small_sizes(rng) for _ in range(300)]
    assert min(n["F"] for n in drawn) == 3 and min(n["d"] for n in drawn) == 2
    assert np.median([n["F"] for n in drawn]) <= 6 and max(n["F"] for n in drawn) <= 12
    free = [ANY.small_sizes(rng) for _ in range(300)]
    assert {1, 2, 3} <= {n["F"] for n in free} and min(n["d"] for n in free) == 1
    fixed = geo.facts(F=(20, 30), d=[7], t=(0.25, 0.5)).small_sizes(rng)
    assert 20 <= fixed["F"] <= 30 and fixed["d"] == 7 and 0.25 <= fixed["t"] <= 0.5


def test_an_adversary_chooses_what_anything_covers():
    assert geo.facts().chosen == ()
    assert set(geo.facts(keys=geo.anything, memory="kernel").chosen) == {"keys", "Phi"}
    assert set(geo.facts(values=geo.anything).chosen) == {"values", "mapping", "count"}
    assert geo.vectors(count=2).chosen == ("vectors",)
    assert "Phi" in geo.kernels().chosen
    assert geo.family(lambda rng: {"x": rng.random()}).chosen == ()


def test_maps_may_change_places_only_where_any_map_is_meant():
    assert "map" in geo.facts().free and "map" in geo.facts(mapping="any").free
    assert "map" not in geo.facts(mapping="worst").free and "map" not in geo.facts(mapping="identity").free


def test_arrays_of_a_family_of_ones_own_keep_the_sizes_they_were_drawn_at():
    family = geo.family(lambda rng, n: {"x": rng.standard_normal(n)}, n=[1, 8])
    drawn = family.raw({"n": 8}, Streams(0))
    assert shrunk(drawn, family, lambda raw: True).numbers == {"n": 8}


def test_sizes_alone_shrink_in_a_family_of_ones_own():
    family = geo.family(lambda rng, n: {}, n=(1, 8))
    assert shrunk(family.raw({"n": 8}, Streams(0)), family, lambda raw: True).numbers == {"n": 1}
