"""Ladders of scale: where they go, how growth on them is measured, and the rule."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.claim import Claim
from hebbcheck.judges.counting import limits
from hebbcheck.judges.ladders import rule
from hebbcheck.judges.ladders.budget import draw_seconds, draws_of, least_seconds, selected
from hebbcheck.judges.ladders.build import Builder, Ladder, log_count, power_of_two
from hebbcheck.judges.ladders.centres import MODEL_ERROR, centres_of, tail_centres
from hebbcheck.judges.ladders.climb import Climb
from hebbcheck.judges.ladders.growth import aitken, growth_of
from hebbcheck.judges.ladders.region import Region
from hebbcheck.judges.ladders.rule import State
from hebbcheck.judges.ladders.scouting import demanding, saturated, scouting_points
from hebbcheck.judges.ladders.windows import middle_window, top_window
from hebbcheck.settings import LEVEL, Settings

QUICK = Settings()


def claim_over(family, given=None, fails="delta"):
    return Claim(
        "ladders", lambda x, *, C: hc.at_most(1.0, C), family, given=given or {}, fails_at_most=fails
    )


def region_of(family, given=None, fails="delta", spanned=True):
    return Region(claim_over(family, given, fails), QUICK, spanned)


MARGIN = {
    "F >= 2L": lambda x: x.F >= 2 * x.L,
    "m >= L^3": lambda x: x.m >= x.L**3,
    "m <= d^2/L": lambda x: x.m <= x.d**2 / x.L,
}


# -- regions ----------------------------------------------------------------------------------------------------------
def test_the_corner_is_the_smallest_feasible_point():
    region = region_of(geo.facts(), MARGIN)
    corner = region.corner()

    def feasible(F, m, d):
        L = math.log(2 * F**2 / 0.1)
        return F >= 2 * L and m >= L**3 and m <= d**2 / L

    F = next(F for F in itertools.count(4) if 2 * math.log(2 * F**2 / 0.1) <= F)
    m = next(m for m in itertools.count(8) if feasible(F, m, 10**9))
    d = next(d for d in itertools.count(4) if feasible(F, m, d))
    assert (corner["F"], corner["m"], corner["d"]) == (F, m, d)


def test_assumptions_on_drawn_quantities_do_not_restrict_the_sizes():
    region = region_of(geo.facts(), {"positive": lambda x: x.V_min >= 0, "large": lambda x: x.d >= 10})
    assert region.corner()["d"] == 10


def test_sizes_where_the_probability_says_nothing_are_left_out():
    region = region_of(geo.facts(), fails=lambda x: x.F * math.exp(-x.m / 50))
    assert region.corner()["m"] == math.floor(50 * math.log(4)) + 1


def test_the_sizes_of_the_family_bound_the_axes():
    axes = region_of(geo.facts(F=[4, 8, 64], d=32, m=(10, 100))).axes
    assert axes["F"].grid() == [4, 8, 64]
    assert axes["d"].fixed and axes["d"].low == 32
    assert (axes["m"].low, axes["m"].high, axes["m"].open) == (10, 100, False)


def test_where_nothing_can_be_reached_the_smallest_sizes_are_still_found():
    region = region_of(geo.facts(), {"far": lambda x: x.F >= 5000 and x.d >= x.F + 7})
    assert region.corner() is None
    assert {n: region.far_corner()[n] for n in ("F", "d")} == {"F": 5000, "d": 5007}
    assert region_of(geo.facts(d=8, m=8), {"never": lambda x: x.F < 0}).far_corner() is None


# -- ladders ----------------------------------------------------------------------------------------------------------
def built(family, given=None, relevant=("F", "d", "m"), top=128, spanned=True):
    region = region_of(family, given, spanned=spanned)
    return Builder(region, region.corner(), relevant, top, {}).all()


def test_ladders_in_every_size_and_in_several_together():
    ladders = built(geo.facts())
    assert {ladder.kind for ladder in ladders} == {"d", "m", "diagonal", "F", "joint"}
    assert {ladder.moves for ladder in ladders if ladder.kind == "joint"} == {
        ("F", "d"),
        ("F", "m"),
        ("F", "d", "m"),
    }
    assert max(rung["d"] for ladder in ladders for rung in ladder.rungs) == 2**30
    for ladder in ladders:
        assert ladder.log_sizes == sorted(set(ladder.log_sizes))
        held = [{n: v for n, v in rung.items() if n not in ladder.moves} for rung in ladder.rungs]
        assert all(h == held[0] for h in held)


def test_a_ladder_that_the_region_ends_is_left_out():
    given = {"m <= d^2/L": MARGIN["m <= d^2/L"]}
    ladders = built(geo.facts(), given)
    assert all(MARGIN["m <= d^2/L"](hc_sizes(rung)) for ladder in ladders for rung in ladder.rungs)
    rays = [ladder for ladder in ladders if ladder.kind == "m"]
    assert rays and all(ladder.rungs[0]["d"] > 2**16 for ladder in rays)
    assert not [ladder for ladder in built(geo.facts(d=64), given) if "m" in ladder.moves]


def hc_sizes(rung):
    return geo.facts().sizes_at(rung)


def test_sizes_that_do_not_matter_stay_where_they_are():
    ladders = built(geo.facts(), relevant=("F", "d"))
    assert ladders and {rung["m"] for ladder in ladders for rung in ladder.rungs} == {8}


def test_listed_sizes_are_the_rungs():
    [ladder] = built(geo.facts(F=[4, 8, 16, 64, 100], d=16, m=8))
    assert [rung["F"] for rung in ladder.rungs] == [4, 8, 16, 64, 100]


def test_parameters_that_span_a_large_factor_get_a_ladder():
    kinds = [ladder.kind for ladder in built(geo.family(drawn, n=8, t=(0.1, 10.0)), relevant=("n",))]
    assert kinds == ["parameter"]
    assert not built(geo.family(drawn, n=8, t=(0.5, 1.0)), relevant=("n",))


def drawn(rng, **sizes):
    return {"x": rng.normal()}


def test_names_are_quotable():
    ladder = built(geo.facts())[0]
    assert ladder.name == "d from 4 to 2^30 at F = 4, m = 8"
    assert [power_of_two(v) for v in (512, 2**20, 3 * 2**20, 0.25)] == ["512", "2^20", "3.146e+06", "0.25"]


def test_the_scouts_find_where_a_constant_is_needed():
    region = region_of(geo.facts())
    points = scouting_points(region, ("F", "d", "m"))
    needs = [0.0 if p["m"] < 1000 else 9.0 if p["d"] < 256 else 10.0 for p in points]
    cheapest, most = demanding(points, needs, "F", cost=lambda p: p["m"] * p["d"])
    assert (cheapest["m"], cheapest["d"]) == (1024, 4) and most["d"] == 256
    assert demanding(points, [0.0] * len(points), "F", cost=len) == []


def test_diagonals_start_where_larger_m_hardly_needs_more():
    region = region_of(geo.facts())
    first = region.corner()
    points = scouting_points(region, ("F", "d", "m"))
    needs = [point["m"] / (point["m"] + 100) * point["d"] for point in points]
    [start] = saturated(points, needs, first)
    assert start == {**first, "m": 2**10}
    assert saturated(points, [0.0] * len(points), first) == []
    ladders = Builder(region, first, ("F", "d", "m"), 128, {"diagonal": [start]}).all()
    diagonals = [ladder for ladder in ladders if set(ladder.moves) == {"d", "m"}]
    assert diagonals and all(ladder.rungs[0]["m"] == 2**10 for ladder in diagonals)
    beyond = {**first, "m": 2**16}
    ladders = Builder(region, first, ("F", "d", "m"), 128, {"diagonal": [beyond]}).all()
    assert [ladder for ladder in ladders if ladder.kind == "diagonal"]


def test_a_favoured_ladder_gets_more_draws():
    family, ladders = geo.facts(), built(geo.facts())[:3]
    plain, favoured = (
        draws_of(ladders, 2.0, lambda p: draw_seconds(family, p, True), 10**9, favoured=f)
        for f in (None, ladders[1])
    )
    assert favoured[1][-1] > plain[1][-1] and favoured[0][-1] < plain[0][-1]


def test_the_budget_is_kept_and_does_not_depend_on_a_clock():
    family = geo.facts()
    ladders = built(family)

    def cost(point):
        return draw_seconds(family, point, True)

    chosen = selected(ladders, 2.0, cost)
    assert {ladder.kind for ladder in chosen} == {ladder.kind for ladder in ladders}
    assert sum(least_seconds(x, [cost(r) for r in x.rungs]) for x in chosen) <= 2.0
    draws = draws_of(chosen, 2.0, cost, 600)
    spent = sum(
        n * cost(r) for x, of in zip(chosen, draws, strict=True) for r, n in zip(x.rungs, of, strict=True)
    )
    assert 1.2 <= spent <= 2.1
    assert all(of[-1] >= 16 for of in draws)


# -- statistics -------------------------------------------------------------------------------------------------------
def test_centres_are_trimmed_means_with_yuens_error():
    cell = np.random.default_rng(1).normal(size=40)
    centres = centres_of([cell])
    assert centres.y[0] == pytest.approx(stats.trim_mean(cell, 0.25))
    clipped = stats.mstats.winsorize(cell, limits=(0.25, 0.25))
    yuen = np.sum((clipped - clipped.mean()) ** 2) / (20 * 19)
    assert centres.covariance[0, 0] == pytest.approx(yuen + MODEL_ERROR**2)


def test_errors_of_centres_are_right_and_shared_numbers_are_known_to_be_shared():
    rng = np.random.default_rng(2)
    estimates, covariances = [], []
    for _ in range(300):
        shared = rng.normal(size=60)
        cells = [shared + 0.3 * rng.normal(size=60), shared + 0.3 * rng.normal(size=60)]
        centres = centres_of(cells)
        estimates.append(centres.y)
        covariances.append(centres.covariance)
    seen, expected = np.cov(np.array(estimates).T), np.mean(covariances, axis=0)
    assert np.allclose(seen, expected, rtol=0.25)
    assert seen[0, 1] > 0.8 * seen[0, 0]


def test_draws_that_need_nothing_are_slack_or_noise():
    rng = np.random.default_rng(3)
    nearly_none = np.log(np.concatenate([rng.uniform(0.5, 1, 30), rng.uniform(0, 1e-6, 10)]))
    assert centres_of([nearly_none]).error(0) < 0.1
    mostly_none = np.concatenate([np.zeros(5), np.full(35, -np.inf)])
    assert centres_of([mostly_none]).slack == [0]
    assert centres_of([np.full(40, np.nan)]).rungs == []


def test_the_tail_reads_quantiles():
    draws = np.random.default_rng(4).normal(size=1000)
    centres = tail_centres([draws, draws], (0.5, 0.01))
    assert centres.y == pytest.approx([np.sort(draws)[499], np.sort(draws)[989]])
    assert 0.02 < centres.error(0) < 0.07 < centres.error(1) < 0.4


def test_windows_cover_the_top_of_a_ladder():
    logs = list(np.linspace(0, 10, 11))
    assert top_window(logs) == [6, 7, 8, 9, 10] and middle_window(logs) == [2, 3, 4, 5, 6]
    assert top_window([0.0, 1.0, 2.0, 3.0]) == [1, 2, 3]


def test_aitken_sums_the_rest_of_a_geometric_sequence():
    rises = [0.5 * 0.6**k for k in range(100)]
    assert aitken(rises[1], rises[0]) == pytest.approx(sum(rises[2:]))
    assert aitken(0.1, 0.1) == math.inf and aitken(-0.1, 0.1) == 0.0 and aitken(0.2, 0.1) == math.inf


# -- the rule ---------------------------------------------------------------------------------------------------------
def climbed(kind, course, moves=None, draws=60, spread=0.2, seed=0, held=None, step=4):
    """A ladder whose draws need exp(course(log size)), times log-normal noise that rungs share."""
    moves = moves or ({"F": ("F",), "joint": ("F", "d")}.get(kind, (kind,)))
    rungs = [
        {"F": 4, "d": 16, "m": 16, "delta": 0.5, **(held or {}), **dict.fromkeys(moves, 4 * step**k)}
        for k in range(12)
    ]
    climb = Climb(Ladder(kind, moves, tuple(rungs)))
    noise = np.random.default_rng(seed).normal(scale=spread, size=draws)
    for k, rung in enumerate(rungs):
        needed = np.exp(course(math.log(rung[moves[0]])) + noise)
        climb.add(k, {"needed": list(needed), "undefined": 0, "met": {}})
    return climb


def standing(*climbs):
    return rule.stand(list(climbs))


@pytest.mark.parametrize(
    ("course", "state"),
    [
        (lambda x: 0.0, State.FLAT),
        (lambda x: -0.3 * x, State.FLAT),
        (lambda x: 0.1 * x, State.RISING),
        (lambda x: 0.5 * x, State.RISING),
        (lambda x: -6.4 * math.exp(-x / 5), State.CONVERGING),
    ],
)
def test_states_of_ladders(course, state):
    [s] = standing(climbed("m", course))
    assert s.state is state and s.contradicts is (state is State.RISING)


def test_the_exponent_is_recovered_with_its_interval():
    climb = climbed("d", lambda x: 0.25 * x)
    growth = growth_of(climb.ladder, centres_of(climb.needed), rule.REMAINING_TAILS)
    assert growth.slope.low(0.001) < 0.25 < growth.slope.high(0.001)
    assert growth.slope.error < 0.01


@pytest.mark.parametrize(
    ("exponent", "state"), [(0.13, State.RISING_OR_NOT), (0.25, State.RISING), (0.0, State.FLAT)]
)
def test_a_ladder_that_ends_early_refutes_only_by_a_large_exponent(exponent, state):
    climb = climbed("d", lambda x: exponent * x, step=1.6, spread=0.02)
    assert climb.ladder.rungs[-1]["d"] < rule.SPANS["d"]
    [s] = standing(climb)
    assert s.state is state and s.contradicts is (state is State.RISING)


def test_facts_are_measured_against_their_logarithm():
    [s] = standing(climbed("F", lambda x: 0.8 * math.log(log_count({"F": math.exp(x), "delta": 0.5}))))
    assert s.growth.slope.value == pytest.approx(0.8, abs=0.05)
    assert s.growth.in_size.value < 0.1


def test_growth_below_what_smaller_sizes_need_is_no_contradiction():
    low = climbed("d", lambda x: 0.1 * x - 5)
    needs_more = climbed("m", lambda x: 1.0, held={"d": 4})
    s, _ = standing(low, needs_more)
    assert s.state is State.RISING and not s.contradicts
    assert not s.open
    s, _ = standing(climbed("d", lambda x: 0.1 * x - 2), needs_more)
    assert s.open


def test_what_rounding_needs_leaves_nothing_open():
    needs_more = climbed("m", lambda x: 1.0, held={"d": 4})
    s, _ = standing(climbed("d", lambda x: 1.0 * x - 30), needs_more)
    assert s.state is State.RISING and s.growth.ahead > 1 and not s.open
    s, _ = standing(climbed("d", lambda x: 1.0 * x - 20), needs_more)
    assert s.open


def test_a_cell_where_all_sizes_are_in_the_upper_half_may_be_the_same_growth():
    rising = climbed("diagonal", lambda x: 0.25 * (x - 8), moves=("d", "m"))
    low, high = (rising.ladder.rungs[k]["d"] for k in (0, -1))
    for d, contradicts in ((high, True), (low, False)):
        held = {"d": d, "m": round(math.sqrt(low * high))}
        s, _ = standing(rising, climbed("F", lambda x: 3.0, held=held))
        assert s.state is State.RISING and s.contradicts is contradicts


def test_the_ladder_that_seems_to_rise_most_without_decay():
    flat, decaying = climbed("m", lambda x: 0.0), climbed("m", lambda x: -6.4 * math.exp(-x / 5))
    rising = climbed("d", lambda x: 0.1 * x)
    assert rule.rising_most(standing(flat, decaying, rising)) is rising.ladder
    assert rule.rising_most(standing(flat)) is None


def test_a_constant_that_only_just_emerges_does_not_refute():
    climb = climbed("d", lambda x: 0.2 * x)
    for needed in climb.needed:
        needed[:12] = -np.inf
    [s] = standing(climb)
    assert s.state is State.RISING_OR_NOT and not s.contradicts


def test_growth_after_a_fall_does_not_refute():
    [s] = standing(climbed("d", lambda x: 0.2 * abs(x - 10)))
    assert s.state is State.RISING_OR_NOT and not s.contradicts
    [s] = standing(climbed("d", lambda x: 0.2 * abs(x - 4)))
    assert s.state is State.RISING and s.contradicts


def test_flat_ladders_are_hardly_ever_called_rising():
    states = [
        standing(climbed("d", lambda x: 0.0, draws=16, spread=0.5, seed=k))[0].state for k in range(200)
    ]
    assert states.count(State.RISING) == 0
    assert states.count(State.FLAT) > 180


def test_the_level_is_split():
    """Among ladders and looks, and with the cells where no constant suffices."""
    climbs = [climbed("d", lambda x: 0.0)] * 5
    assert rule.level_of(climbs) * rule.LOOKS * len(climbs) == pytest.approx(LEVEL / 2)


def test_a_constant_of_the_smaller_sizes_must_cover_the_larger_ones():
    flat = [climbed("d", lambda x: 0.0), climbed("m", lambda x: 0.0)]
    allowed = [[0.1] * 12] * 2
    assert not rule.held_out(flat, allowed).fails
    heavy = climbed("d", lambda x: 0.0)
    for rung in range(6, 12):
        heavy.strict[rung][:20] += 2.0
    test = rule.held_out([heavy, flat[1]], allowed)
    assert test.fails and test.worst is heavy and test.failures == 120


def test_a_cell_where_no_constant_suffices():
    climb = climbed("d", lambda x: 0.0)
    assert rule.unbounded_cell([climb], [[0.1] * 12]) is None
    climb.strict[3][:6] = np.inf
    assert rule.unbounded_cell([climb], [[0.1] * 12]) is None
    climb.strict[3][:40] = np.inf
    assert rule.unbounded_cell([climb], [[0.1] * 12]).failures == 40


def test_limits_of_failure_rates_are_clopper_pearsons():
    low, _ = limits(7, 50, 0.025)
    assert stats.binom.sf(6, 50, low) == pytest.approx(0.025)
    assert limits(0, 50, 0.025)[0] == 0.0
