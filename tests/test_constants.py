"""The judge of absolute constants, on families whose truth is known."""

import importlib
import math
from dataclasses import replace

import numpy as np
import pytest
from judging import judged

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.claim import Claim
from hebbcheck.errors import HebbcheckError
from hebbcheck.judges import constants
from hebbcheck.judges.constants import judge, shortlist, worst_cases
from hebbcheck.judges.ladders.cells import scout, tail, typical_of
from hebbcheck.settings import Settings
from hebbcheck.verdict import Outcome, Quantifier


def largest_entry(rng, d, delta):
    """|v_1| of a uniform unit vector of R^d: about a half-normal over sqrt(d)."""
    g = rng.normal()
    return {"x": abs(g) / math.sqrt(g**2 + rng.chisquare(d - 1))}


def entry_claim(power, trivial=None, **sizes):
    def form(v, *, C):
        return hc.at_most(v.x, C * hc.sqrt(hc.log(2 / v.delta)) / v.d**power, trivial=trivial)

    return Claim(
        f"entry.{power}",
        form,
        geo.family(largest_entry, **{"d": None, "delta": None, **sizes}),
        fails_at_most="delta",
    )


def facts_claim(form, given=None, id="facts", **family):
    return Claim(id, form, geo.facts(**family), given=given or {}, fails_at_most="delta")


def whole_sizes(rng, N, k, delta):
    return {"x": float(np.abs(rng.standard_normal(N)).mean()) + 0 * rng.standard_normal(k).sum()}


def test_sizes_of_other_names_are_whole_and_the_verdict_says_what_it_does_not_see(brief):
    sizes = geo.family(whole_sizes, N=(10, 5000), k=(1, 12), delta=[0.5, 0.1])
    finding = judged(Claim("whole", lambda v, *, C: hc.at_most(v.x, C), sizes, fails_at_most="delta"))
    assert finding.outcome == "supported"
    assert "powers of N below 0.25 are not seen; k was not varied" in finding.reason


def coherence(x, *, C):
    return hc.at_most(1 - x.V_min, C * hc.sqrt(x.L / (x.d - 1)))


def wrong_coherence(x, *, C):
    return hc.at_most(1 - x.V_min, C * hc.sqrt(x.L) / x.d)


@pytest.fixture
def brief(monkeypatch):
    """A judge with little time."""
    monkeypatch.setattr(constants, "seconds_a_claim", lambda settings: 1.0)


def test_a_true_form_is_supported_with_its_constant():
    finding = judged(entry_claim(0.5))
    assert finding.outcome is Outcome.SUPPORTED
    assert (
        0.9
        < finding.constants["C"]["low"]
        <= finding.constants["C"]["value"]
        <= finding.constants["C"]["high"]
        < 2.0
    )
    assert abs(finding.exponents["d"]["value"]) < 0.05 and "L" in finding.exponents
    assert any("logarithms" in note for note in finding.notes)


def test_what_may_be_the_root_of_a_logarithm_is_said():
    def without_logarithm(x, *, C):
        return hc.at_most(1 - x.V_min, C / hc.sqrt(x.d - 1))

    finding = judged(facts_claim(without_logarithm, keys=geo.sphere, values=geo.sphere))
    assert (
        finding.outcome == "supported" and "growth like sqrt(log F) is not told from none" in finding.reason
    )
    assert (
        "it grows by no power of a size (along F from" in finding.reason
        and "goes like F^0." in finding.reason
    )


@pytest.mark.parametrize("power", [0.6, 0.75, 1.0])
def test_a_false_form_is_refuted_with_its_exponent(power):
    finding = judged(entry_claim(power))
    assert finding.outcome is Outcome.REFUTED
    assert finding.exponents["d"]["low"] < power - 0.5 < finding.exponents["d"]["high"]
    assert "grows like d^" in finding.reason and "along d from" in finding.reason


def test_points_say_where_and_what_was_needed():
    finding = judged(entry_claim(1.0), seed=3)
    assert 4 <= len(finding.points) <= 200
    assert {"ladder", "size", "d", "delta", "needed", "seed"} <= set(finding.points[0])
    ray = [p for p in finding.points if p["size"] == "d"]
    assert ray[-1]["needed"] > 10 * ray[0]["needed"] and ray[0]["seed"] == 3


def test_a_two_sided_claim_with_constants_of_both_directions():
    def form(v, *, c, C):
        return [hc.at_most(v.y, C * v.d), hc.at_least(v.y, c * v.d)]

    family = geo.family(lambda rng, d: {"y": float(rng.chisquare(d))}, d=(16, 2**16))
    finding = judged(Claim("two-sided", form, family, fails_at_most=0.1))
    assert finding.outcome is Outcome.SUPPORTED
    c, C = finding.constants["c"], finding.constants["C"]
    assert c["value"] == pytest.approx(1 / C["value"]) and c["low"] <= c["value"] <= c["high"]
    assert 1.2 < C["value"] < 3.0


def test_growth_of_small_probabilities_is_seen():
    def heavy(rng, d, delta):
        return {"x": float(rng.pareto(0.5)) + 1.0}

    def form(v, *, C):
        return hc.at_most(v.x, C * hc.log(2 / v.delta))

    finding = judged(Claim("tail", form, geo.family(heavy, d=None, delta=None), fails_at_most="delta"))
    assert finding.outcome is Outcome.REFUTED and "along delta from 0.5" in finding.reason


def test_a_relation_that_no_constant_saves_is_refuted():
    def form(v, *, C):
        return hc.at_most(v.x, C * (v.x < 0.5))

    finding = judged(
        Claim("unsaved", form, geo.family(largest_entry, d=(4, 4096), delta=None), fails_at_most=0.01)
    )
    assert finding.outcome is Outcome.REFUTED and "whatever C was" in finding.reason


def test_a_bound_that_is_always_trivial_says_nothing():
    finding = judged(entry_claim(0.5, trivial=1e-9))
    assert finding.outcome is Outcome.VACUOUS and "never passed trivial" in finding.reason
    assert judged(entry_claim(0.5, trivial=1.0)).outcome is Outcome.SUPPORTED


def test_assumptions_that_nothing_meets(brief):
    unmet = Claim(
        "unmet",
        coherence,
        geo.facts(F=(4, 64), d=(4, 64), m=8),
        given={"V": lambda x: x.V_min > 2},
        fails_at_most="delta",
    )
    finding = judged(unmet)
    assert finding.outcome is Outcome.VACUOUS and "no instance met the assumptions" in finding.reason
    assert finding.assumptions["V"]["share_met"] == 0.0


def crowded(rng, d, m, parts):
    return {"x": abs(rng.normal()) * max(1.0, m / d) * (1 + 1 / d + 1 / m)}


def crowded_claim():
    return Claim(
        "crowded",
        lambda v, *, C: hc.at_most(v.x, C),
        geo.family(crowded, d=(4, 2**12), m=(4, 2**12), parts=[1, 2]),
        given={
            "m <= d": lambda v: v.m <= v.d,
            "parts = 1": lambda v: v.parts == 1,
            "d > 0": lambda v: v.d > 0,
            "C <= m^9": lambda v, *, C: C <= v.m**9,
        },
        fails_at_most=0.1,
    )


def test_assumptions_are_dropped_in_turn_beyond_the_quick_profile(brief):
    finding = judged(crowded_claim(), profile="standard")
    assert finding.outcome is Outcome.SUPPORTED
    assert {name: facts["needed"] for name, facts in finding.assumptions.items()} == {
        "m <= d": "needed: counterexample",
        "parts = 1": "no counterexample without it",
        "d > 0": None,
        "C <= m^9": None,
    }
    quick = judged(crowded_claim())
    assert {facts["needed"] for facts in quick.assumptions.values()} == {None}


def test_parameters_that_an_assumption_rules_out_are_not_taken_for_all(brief):
    form = crowded_claim()
    for parts in (1, 2, 3):
        only = {"parts": lambda v, parts=parts: v.parts == parts, "m <= d": lambda v: v.m <= v.d}
        family = geo.family(crowded, d=(4, 2**12), m=(4, 2**12), parts=[1, 2, 3])
        finding = judged(replace(form, family=family, given=only))
        assert finding.outcome is Outcome.SUPPORTED, finding.reason


def test_sizes_out_of_reach_are_named():
    given = {"d >= F^2": lambda x: x.d >= x.F**2, "F >= 3000": lambda x: x.F >= 3000}
    finding = judged(facts_claim(coherence, given))
    assert finding.outcome is Outcome.VACUOUS
    assert "F = 3000" in finding.reason and "d = 9e+06" in finding.reason
    assert finding.smallest_sizes is not None
    assert finding.smallest_sizes["F"] == 3000 and finding.smallest_sizes["d"] == 9_000_000


def test_undefined_draws_are_counted_and_are_no_evidence():
    def form(v, *, C):
        return hc.at_most(v.x if v.x < 0.2 else math.nan, C / hc.sqrt(v.d))

    finding = judged(
        Claim("undefined", form, geo.family(largest_entry, d=(16, 2**16), delta=None), fails_at_most="delta")
    )
    assert finding.undefined > 0 and finding.instances > 100


@pytest.mark.parametrize("keys", [geo.sphere, geo.anything], ids=str)
def test_fixed_sizes_cannot_show_growth(keys):
    finding = judged(facts_claim(coherence, keys=keys, F=5, d=6, m=8, delta=0.1))
    assert finding.outcome is Outcome.INCONCLUSIVE and "wider ranges" in finding.reason


def test_short_ranges_are_inconclusive_and_say_what_would_decide():
    family = geo.family(largest_entry, d=None, delta=None)
    claim = Claim(
        "few",
        lambda v, *, C: hc.at_most(v.x, C),
        family,
        fails_at_most="delta",
        given={"small": lambda v: v.d <= 16},
    )
    finding = judged(claim)
    assert finding.outcome is Outcome.INCONCLUSIVE and "would decide" in finding.reason


def test_other_relations_are_refused():
    with pytest.raises(HebbcheckError, match="two of them for a two-sided bound"):
        judged(facts_claim(lambda x, *, C: hc.equal(x.V_min, C)))


def test_claims_about_vectors_use_inner_products_alone():
    true, wrong = facts_claim(coherence, id="true"), facts_claim(wrong_coherence, id="wrong")
    assert true.quantifier is Quantifier.CONSTANTS
    finding = judged(true)
    assert finding.outcome is Outcome.SUPPORTED and "d = 2^30" in finding.reason
    assert any("does not depend on m" in note for note in finding.notes)
    finding = judged(wrong)
    assert finding.outcome is Outcome.REFUTED and finding.exponents["d"]["value"] == pytest.approx(
        0.5, abs=0.01
    )


def test_claims_that_read_coordinates_fall_back_on_drawing_them(brief):
    def form(x, *, C):
        return hc.at_most(hc.max(hc.abs(x.values)), C * hc.sqrt(x.L / x.d))

    settings = Settings()
    claim = facts_claim(form, F=(4, 16))
    spanned = [t.params.get("spanned") for batch in batches(claim, settings) for t in batch]
    assert spanned[0] is True and set(spanned[1:]) == {False}


def test_hard_cases_are_picked_by_pilots_and_judged_by_other_draws(brief):
    def form(x, *, C):
        return hc.at_most(x.K_off_max, C * x.K_diag_max)

    claim = facts_claim(form, keys=geo.anything, F=(4, 32), d=8, m=8)
    labels, choices, scouted = set(), set(), set()
    for batch in batches(claim, Settings()):
        for task in batch:
            if task.measure.endswith(":cell"):
                labels.add(task.params["label"] == "pilot")
                choices.add(task.params["choice"])
            elif task.measure.endswith(":scout"):
                scouted.update(task.params["choices"])
    assert labels == {True, False} and scouted == set(claim.family.choices)
    assert 3 <= len(choices) <= 4


def test_which_hard_cases_are_followed():
    flat, growing, largest = (0.0, 0.0), (-1.0, 0.3), (0.5, 0.6)
    needs = np.array([[flat, growing, largest], [flat, growing, (-np.inf, -np.inf)]])
    assert worst_cases(["d", "F"], needs) == [(0, 1), (1, 1), (0, 2)]


def test_hard_cases_that_need_much_less_at_the_top_are_not_followed():
    comparable, far_below = (-0.5, -0.3), (-9.0, -0.5)
    assert worst_cases(["m"], np.array([[(0.0, 0.0), comparable]])) == [(0, 1), (0, 0)]
    assert worst_cases(["m"], np.array([[(0.0, 0.0), far_below]])) == [(0, 0)]


def test_the_shortlist_of_hard_cases():
    needed = np.array(
        [[1.0, 0.9, 0.0, 0.1], [2.0, 1.9, 0.0, 0.2], [0.0, 0.0, 0.0, 0.0], [1.0, 0.5, 9.0, 0.1]]
    )
    assert shortlist(needed, 2) == [0, 1, 2]
    assert shortlist(np.array([[math.inf, 1.0], [0.0, 1.0], [0.0, 1.0]]), 1) == [0, 1]


def test_draws_that_need_nothing_lower_what_is_typical():
    assert typical_of([1.0, 1.0]) == 1.0
    assert typical_of([4.0, 0.0, 0.0, 0.0]) == 0.25
    assert typical_of([math.nan, 4.0]) == 4.0 and typical_of([math.nan]) == 0.0


def test_scouts_compare_hard_cases_on_the_same_draws():
    claim = facts_claim(lambda x, *, C: hc.at_most(x.V_max, C), keys=geo.anything, F=4, d=8, m=8)
    point = {"F": 4, "d": 8, "m": 8, "delta": 0.5}
    params = {
        "points": [point, point],
        "choices": ["keys: uniform", "keys: one point"],
        "spanned": True,
        "signs": {"C": 1},
        "broken": None,
    }
    [[one, other], [again, _]] = scout(claim, Settings(), {**params, "draws": 1})["needed"]
    assert one == other != again
    [[one, other], [again, _]] = scout(claim, Settings(), {**params, "draws": 3})["needed"]
    assert one == other == again


def wrong_signal(x, *, C):
    noise = C * hc.sqrt(x.L) / x.d
    return hc.at_least(x.s_min, x.K_diag_min * (1 - noise) - x.K_off_max * (1 + noise))


def test_a_false_form_is_not_supported_where_an_adversary_chooses_the_keys():
    finding = judged(facts_claim(wrong_signal, id="signal", keys=geo.anything))
    assert finding.outcome is Outcome.REFUTED and "d from" in finding.reason


def batches(claim, settings):
    """The lists of tasks that the judge asks for."""
    work = judge(claim, settings)
    tasks = next(work)
    while True:
        yield tasks
        try:
            tasks = work.send([measured(claim, settings, task) for task in tasks])
        except StopIteration:
            return


def measured(claim, settings, task):
    module, _, name = task.measure.partition(":")
    return getattr(importlib.import_module(module), name)(claim, settings, task.params)


def test_cells_do_not_depend_on_their_order_or_company():
    claim, settings = entry_claim(0.5), Settings(seed=5)
    tasks = [task for batch in batches(claim, settings) for task in batch]
    assert len({repr(task) for task in tasks}) == len(tasks)
    forward = [repr(measured(claim, settings, task)) for task in tasks[-6:]]
    assert forward == [repr(measured(claim, settings, task)) for task in reversed(tasks[-6:])][::-1]


def test_a_cell_continues_where_another_ended():
    claim, settings = entry_claim(0.5), Settings()
    whole = next(t for batch in batches(claim, settings) for t in batch if t.measure.endswith(":cell")).params
    first, rest = {**whole, "draws": 7}, {**whole, "first": 7, "draws": whole["draws"] - 7}
    module = importlib.import_module("hebbcheck.judges.ladders.cells")
    parts = [module.cell(claim, settings, p) for p in (first, rest)]
    for key in ("needed", "strict"):
        assert parts[0][key] + parts[1][key] == module.cell(claim, settings, whole)[key]


def test_the_seed_matters_and_the_same_seed_gives_the_same_finding():
    first, again, other = (judged(entry_claim(0.5), seed=s) for s in (1, 1, 2))
    assert first == again and first.constants != other.constants


def test_too_few_sizes_for_a_ladder_decide_nothing_where_an_adversary_chooses(brief):
    def traced(k, *, C):
        return hc.at_most(k.trace, C)

    finding = judged(Claim("short", traced, geo.kernels(F=(6, 12), m=(2, 4)), fails_at_most=0.1))
    assert finding.outcome is Outcome.INCONCLUSIVE and "wider ranges" in finding.reason


def test_the_tail_in_a_number_that_attributes_keep():
    """A draw's noisy margins at one radius are no evidence at another."""

    def form(x, *, C):
        return hc.at_least(hc.min(x.margins_noisy), -C)

    noisy = Claim("noisy", form, geo.facts(noise=(0.5, 4.0)), fails_at_most=lambda s: min(1, s.eps / 4))
    params = {
        "point": {"F": 4, "d": 8, "m": 16, "delta": 0.1},
        "choice": "",
        "spanned": False,
        "label": "tail",
        "broken": None,
    }
    params |= {"signs": {"C": 1}, "first": 0, "draws": 4, "name": "eps"}
    settings = Settings()
    together = tail(noisy, settings, params | {"values": [2.0, 0.5]})["needed"]
    alone = [tail(noisy, settings, params | {"values": [value]})["needed"][0] for value in (2.0, 0.5)]
    assert together == alone and together[0] != together[1]


@pytest.fixture
def fleeting(monkeypatch):
    """A judge with so little time that few draws are made of noisy numbers."""
    monkeypatch.setattr(constants, "seconds_a_claim", lambda settings: 0.3)


def noisy_entry(rng, d, delta):
    """Other random numbers for every d."""
    return {"x": np.random.default_rng([rng.integers(2**32), int(d)]).lognormal(sigma=2.0)}


def noisy_claim(id):
    form = geo.family(noisy_entry, d=None, delta=None)
    return Claim(id, lambda v, *, C: hc.at_most(v.x, C), form, fails_at_most=0.1)


def test_ladders_on_which_a_verdict_hangs_are_looked_at_once_more(fleeting, monkeypatch):
    claims = [noisy_claim(f"noisy.{k}") for k in range(6)]
    looks = {claim.id: list(batches(claim, Settings())) for claim in claims}
    longest = max(map(len, looks.values()))
    again = [claim for claim in claims if len(looks[claim.id]) == longest]
    assert 0 < len(again) < len(claims)
    for claim in again:
        *_, second, third = looks[claim.id]
        ladders = [{task.params["label"] for task in look} for look in (second, third)]
        draws = [sum(task.params["draws"] for task in look) for look in (second, third)]
        assert ladders[1] <= ladders[0] and draws[1] > draws[0]
    assert Outcome.SUPPORTED in {judged(claim).outcome for claim in again}
    monkeypatch.setattr(constants._Climbing, "third_look", lambda self: (yield []))
    assert {judged(claim).outcome for claim in again} == {Outcome.INCONCLUSIVE}
