"""The constant that one draw needs, against what is known by hand."""

import math

import numpy as np
import pytest

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.claim import Claim
from hebbcheck.errors import HebbcheckError
from hebbcheck.judges.ladders.needed import Directions, Draw, directions_of, first_on_grid


def attributes(rng, n, **given):
    return {"x": 3.0, "y": 0.5, "zero": 0.0, "row": np.array([1.0, 2.0, 4.0]), "noise": rng.normal(), **given}


FAMILY = geo.family(attributes, n=5, delta=None)


def claim_of(function, given=None, fails="delta"):
    return Claim("needed", function, FAMILY, given=given or {}, fails_at_most=fails)


def an_instance(**numbers):
    return FAMILY.draw({"n": 5, "delta": 0.1, **numbers}, Streams("test"))


def need_of(function, given=None, signs=None):
    claim = claim_of(function, given)
    directions = Directions(signs) if signs else directions_of(claim, [an_instance()], [])
    return Draw(claim, an_instance(), directions).need()


CASES = {
    "affine": (lambda v, *, C: hc.at_most(v.x, C * v.y), 6.0),
    "signal minus penalties": (lambda v, *, C: hc.at_least(v.y, 1 - C * 0.25), 2.0),
    "two constants, one value": (lambda v, *, C1, C2: hc.at_most(v.x, C1 * v.y + C2), 2.0),
    "all relations": (lambda v, *, C: [hc.at_most(v.x, C * v.y), hc.at_most(7.0, C)], 7.0),
    "all entries": (lambda v, *, C: hc.at_most(v.row, C * v.y), 8.0),
    "a square root": (lambda v, *, C: hc.at_most(v.x, hc.sqrt(C)), 9.0),
    "a power": (lambda v, *, C: hc.at_most(v.x, v.y * C**0.1), 6.0**10),
    "an exponential": (lambda v, *, C: hc.at_most(v.x, hc.exp(C) * v.y), math.log(6)),
    "small": (lambda v, *, C: hc.at_most(v.x * 1e-9, C), 3e-9),
    "large": (lambda v, *, C: hc.at_most(v.x, C * 1e-12), 3e12),
    "none": (lambda v, *, C: hc.at_most(v.zero, C * v.y), 0.0),
    "equality": (lambda v, *, C: hc.at_least(v.x, 3.0 * (1 + 1e-16) - C * 1e-3), 0.0),
    "none suffices": (lambda v, *, C: hc.at_most(v.x, C * v.zero), math.inf),
}


@pytest.mark.parametrize("name", CASES)
def test_needed_constants_of_known_forms(name):
    function, expected = CASES[name]
    assert need_of(function).value == pytest.approx(expected, rel=1e-5)


def test_entries_are_forgiven_their_rounding_one_by_one():
    row, large = np.array([0.1, 0.2, 0.7]), np.array([math.inf, 1.0])

    def rounded(v, *, C):
        return [hc.at_most(v.y, C), hc.at_most(row * 0.1 * 3, row * 0.3), hc.at_most(large, large)]

    def broken(v, *, C):
        return [hc.at_most(v.y, C), hc.at_most(row * 0.1 * 3, row * 0.3 * np.array([1, 1, 1 - 1e-9]))]

    assert need_of(rounded).value == pytest.approx(0.5) and need_of(broken).value == math.inf


def test_with_the_needed_constant_the_relation_holds_and_with_less_it_fails():
    def form(v, *, C1, C2):
        return hc.at_least(v.y, (1 - C1 * 0.01) * 2 - C2**0.5 * 0.3)

    C = need_of(form).value
    assert claim_of(form).relations(an_instance(), C1=C * 1.0001, C2=C * 1.0001)[0].slack() >= 0
    assert claim_of(form).relations(an_instance(), C1=C * 0.999, C2=C * 0.999)[0].slack() < 0


def test_a_constant_that_weakens_the_bound_when_lowered_is_the_inverse():
    def between(v, *, c, C):
        return [hc.at_least(v.y, c * v.x), hc.at_most(v.x, C)]

    directions = directions_of(claim_of(between), [an_instance()], [])
    assert directions.signs == {"c": -1, "C": 1}
    assert directions.at(4.0) == {"c": 0.25, "C": 4.0}
    assert need_of(between).value == pytest.approx(6.0)


def test_assumptions_that_name_a_constant_excuse_the_draw():
    def form(v, *, C):
        return hc.at_most(v.x, C * v.zero + 1)

    excused = {"n >= C": lambda v, C: v.n >= C}
    assert need_of(form, given=excused, signs={"C": 1}).value == pytest.approx(5.0, rel=1e-5)
    assert directions_of(claim_of(form, excused), [an_instance()], []).signs == {"C": 1}


def test_an_unmet_assumption_and_an_undefined_relation_are_no_evidence():
    def form(v, *, C):
        return hc.at_most(v.x, C)

    unmet = need_of(form, given={"x is small": lambda v: v.x < 1}, signs={"C": 1})
    assert math.isnan(unmet.value) and unmet.defined and unmet.met == {"x is small": False}
    for broken in (lambda v, *, C: hc.at_most(v.x / v.zero, C), lambda v, *, C: hc.at_most(hc.sqrt(-v.x), C)):
        need = need_of(broken, signs={"C": 1})
        assert math.isnan(need.value) and not need.defined


def test_where_the_bound_says_nothing():
    def form(v, *, C):
        return hc.at_most(v.y, C * 0.1, trivial=1)

    need = need_of(form)
    assert need.value == pytest.approx(5.0) and need.trivial_from == pytest.approx(10.0)
    assert need_of(lambda v, *, C: hc.at_most(v.y, C * 0.1)).trivial_from == math.inf


def test_a_form_of_both_directions_is_searched_on_a_grid():
    def form(v, *, C):
        return hc.at_most(v.x, 12.0 - (C - 10.0) ** 2)

    assert directions_of(claim_of(form), [an_instance()], []).signs == {"C": 0}
    need = need_of(form)
    assert need.value == pytest.approx(7.0, rel=2e-3)
    assert 13.0 < need.again <= 16.0 * (1 + 1e-9)
    assert first_on_grid(lambda s: -1.0) == (math.inf, math.inf)


@pytest.mark.parametrize(
    ("bound", "evaluations"),
    [
        (lambda v, C: 7.0 - 0.5 * C, "few"),  # holds up to C = 4 for x = 5
        (lambda v, C: [C - 3.0, 40.0 - C], "few"),
        (lambda v, C: 12.0 - (C - 10.0) ** 2, "many"),
        (lambda v, C: 9.0 - abs(C - 9.0), "many"),
        (lambda v, C: C - 2.0 if C < 2**39 else 1.0, "many"),
        (lambda v, C: math.inf if C > 8 else C, "many"),
    ],
)
def test_a_straight_form_is_followed_by_few_evaluations_and_gives_what_the_grid_gives(bound, evaluations):
    def form(v, *, C):
        bounds = bound(v, C)
        return [hc.at_most(v.x, b) for b in bounds] if isinstance(bounds, list) else hc.at_most(v.x, bounds)

    draw = Draw(claim_of(form), an_instance(), Directions({"C": 0}))
    seen = []
    lacks = draw.lacks
    draw.lacks = lambda s: seen.append(s) or lacks(s)
    need = draw.need()
    value, again = first_on_grid(lambda s: min(lacks(s)))
    assert (need.value, need.again) == (pytest.approx(value, rel=1e-9), again)
    assert (len(seen) < 20) == (evaluations == "few")


def test_constants_in_the_probability_alone_are_refused_with_advice():
    claim = claim_of(lambda v, *, c: hc.at_most(v.x, 1.0), fails=lambda s, c: math.exp(-c * s.n))
    sizes = [FAMILY.sizes_at({"n": 5, "delta": 0.1})]
    with pytest.raises(HebbcheckError, match="no relation depends on them"):
        directions_of(claim, [an_instance()], sizes)


@pytest.mark.parametrize(
    "function",
    [
        lambda v, *, C: hc.equal(v.x, C),
        lambda v, *, C: hc.scales_as(v.x, C),
        lambda v, *, C: hc.at_most(hc.mean(v.row), C),
    ],
)
def test_other_relations_with_constants_are_refused_with_advice(function):
    with pytest.raises(HebbcheckError, match=r"try hc\.at_most"):
        need_of(function, signs={"C": 1})
