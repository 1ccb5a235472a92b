"""Which claim rests on which, in which order they stand, and which errata weigh most."""

from __future__ import annotations

import random

import pytest

from hebbcheck.errata import errata
from hebbcheck.needs import Needs
from hebbcheck.order import corrected_id, explicit_siblings, kind, natural

CHAIN = {"B.30": ["B.20", "B.24"], "B.20": ["B.16"], "B.24": ["B.16", "B.9"], "B.16": [], "4.1": ["B.30"]}


def test_numbers_are_ordered_by_value_and_before_words():
    ordered = [
        "2.4",
        "3.1",
        "4.1",
        "10.2",
        "B.2",
        "B.2.variance",
        "B.10",
        "B.25.43",
        "B.25.printed",
        "eq5",
        "eq16",
    ]
    shuffled = random.Random(1).sample(ordered, len(ordered))
    assert sorted(shuffled, key=natural) == ordered


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("Theorem 3.1, Theorem B.1", "theorem"),
        ("Corollaries 4.4 and 4.5", "corollary"),
        ("Lemma B.34, third display", "lemma"),
        ("Eq. (13)", "equation"),
        ("(13), (14)", "equation"),
        ("Section 4.1, on Theorem 2.4", "text"),
        (None, "text"),
    ],
)
def test_kind_of_a_statement(source, named):
    assert kind(source) == named


@pytest.mark.parametrize(
    ("id", "corrected"),
    [
        ("B.23.printed", "B.23"),
        ("B.23.printed.simple", "B.23"),
        ("B.23.printed2", "B.23"),
        ("B.23.any", "B.23"),
        ("B.23.44.printed", "B.23.44"),
        ("B.24.printed", None),
        ("text.whitening", None),
        ("text.S_sig", "text.S_sig.corrected"),
    ],
)
def test_claim_that_says_it_right(id, corrected):
    assert corrected_id(id, ["B.23", "B.23.44", "B.2", "text.S_sig.law", "text.S_sig.corrected"]) == corrected


def test_siblings_with_explicit_constants():
    known = ["B.17", "B.17.explicit", "B.17.simple", "B.22.explicit.tail", "B.1.explicit"]
    assert explicit_siblings("B.17.simple", known) == explicit_siblings("B.17", known) == ["B.17.explicit"]
    assert explicit_siblings("B.22", known) == ["B.22.explicit.tail"]
    assert explicit_siblings("B.17.explicit", known) == explicit_siblings("B.2", known) == []
    assert explicit_siblings("B.17.simple.constants", known) == ["B.17.simple"]
    assert explicit_siblings("B.17.wide.constants", known) == ["B.17.explicit"]


def test_what_a_claim_rests_on_with_the_shortest_chain():
    needs = Needs(CHAIN)
    found = needs.rests_on("4.1")
    assert list(found) == ["B.30", "B.20", "B.24", "B.16"]
    assert found["B.16"] == ["4.1", "B.30", "B.20", "B.16"]
    assert needs.resting_on("B.16") == {"B.20", "B.24", "B.30", "4.1"} and needs.resting_on("4.1") == set()


def test_unknown_ids_are_named_with_those_that_need_them():
    assert Needs(CHAIN).unknown == {"B.9": ["B.24"]}


def test_cycles_are_found_and_can_be_cut():
    needs = Needs({"a": ["b"], "b": ["c", "d"], "c": ["a"], "d": [], "e": ["e", "c"]})
    assert needs.cycles == [["a", "b", "c", "a"], ["e", "e"]]
    assert needs.acyclic() == {"a": ["b"], "b": ["c", "d"], "c": [], "d": [], "e": ["c"]}
    assert set(needs.rests_on("a")) == {"b", "c", "d"}
    assert Needs(needs.acyclic()).cycles == []


@pytest.mark.parametrize("seed", range(20))
def test_cutting_leaves_no_cycle_whatever_the_needs(seed):
    rng = random.Random(seed)
    ids = [f"B.{i}" for i in range(12)]
    needs = Needs({id: rng.sample(ids, rng.randrange(4)) for id in ids})
    assert Needs(needs.acyclic()).cycles == []
    upward = {id: [n for n in found if natural(n) < natural(id)] for id, found in needs.direct.items()}
    assert Needs(upward).acyclic() == Needs(upward).direct


def test_most_consequential_erratum_first():
    needs = Needs(
        CHAIN | dict.fromkeys(["B.16.printed", "B.30.printed", "B.7.printed", "4.1.printed", "text.a"], ())
    )
    sources = {"4.1.printed": "Theorem 4.1", "B.7.printed": "Lemma B.7", "text.a": "Section 2"}
    found = errata(["text.a", "4.1.printed", "B.7.printed", "B.16.printed", "B.30.printed"], needs, sources)
    assert [(e.id, e.corrected, e.dependents) for e in found] == [
        ("4.1.printed", "4.1", 0),
        ("B.7.printed", None, 0),
        ("B.16.printed", "B.16", 4),
        ("B.30.printed", "B.30", 1),
        ("text.a", None, 0),
    ]
