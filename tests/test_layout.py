"""Places in a layered graph: what is needed stands to the left, nothing overlaps, lines run straight."""

from __future__ import annotations

import random

import pytest

from hebbcheck.report.layout import columns, components, layout, without_implied


def some_needs(seed: int, count: int = 60) -> dict[str, list[str]]:
    rng = random.Random(seed)
    ids = [f"n{k}" for k in range(count)]
    return {id: rng.sample(ids[:k], min(k, rng.randrange(4))) for k, id in enumerate(ids)}


@pytest.mark.parametrize("seed", range(10))
def test_needs_stand_to_the_left_and_no_two_share_a_place(seed):
    needs = some_needs(seed)
    made = layout(needs)
    assert made.places.keys() == needs.keys()
    for id, found in needs.items():
        assert all(made.places[need][0] < made.places[id][0] for need in found)
    lanes = {(need, place) for (need, _), route in made.routes.items() for place in route[1:-1]}
    taken = [*made.places.values(), *(place for _, place in lanes)]
    assert len(taken) == len(set(taken))
    assert {row for _, row in taken} == set(range(1 + max(row for _, row in taken)))


@pytest.mark.parametrize("seed", range(10))
def test_a_route_passes_every_column_between_its_ends(seed):
    made = layout(some_needs(seed))
    for (need, id), route in made.routes.items():
        assert route[0] == made.places[need] and route[-1] == made.places[id]
        assert [column for column, _ in route] == list(range(route[0][0], route[-1][0] + 1))


def test_columns_are_as_far_right_as_what_needs_them_allows():
    needs = {"a": [], "b": ["a"], "c": ["b", "d"], "d": [], "e": ["a"]}
    assert columns(needs) == {"a": 0, "b": 1, "c": 2, "d": 1, "e": 1}


def test_a_chain_is_a_straight_line_and_two_pairs_do_not_cross():
    chain = layout({"a": [], "b": ["a"], "c": ["b"]})
    assert [chain.places[id] for id in "abc"] == [(0, 0), (1, 0), (2, 0)]
    pairs = layout({"a": [], "b": [], "x": ["b"], "y": ["a"], "z": ["x", "y"]}).places
    assert (pairs["a"][1] < pairs["b"][1]) == (pairs["y"][1] < pairs["x"][1])


def test_long_edges_of_one_claim_share_a_lane():
    made = layout({"a": [], "b": ["a"], "c": ["b"], "d": ["c", "a"], "e": ["c", "a"]})
    assert made.routes["a", "d"][1:-1] == made.routes["a", "e"][1:-1]
    assert len(made.routes["a", "d"]) == 4


def test_needs_that_follow_from_others_are_left_out():
    needs = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["a", "c"], "e": ["a"]}
    assert without_implied(needs) == {"a": [], "b": ["a"], "c": ["b"], "d": ["c"], "e": ["a"]}


def test_connected_parts():
    found = components({"a": [], "b": [], "c": ["a"], "d": ["b"], "e": ["c"], "f": []})
    assert found == [["a", "c", "e"], ["b", "d"], ["f"]]


def test_a_single_claim_has_a_place():
    assert layout({"a": []}).places == {"a": (0, 0)}
