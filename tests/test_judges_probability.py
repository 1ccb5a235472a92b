"""The judge of statements with a stated probability: every verdict, its level and its power."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from judging import judged
from scipy import stats

import hebbcheck as hc
from hebbcheck import counterexample, exp, sqrt
from hebbcheck import geometry as geo
from hebbcheck.errors import HebbcheckError
from hebbcheck.inputs import Raw
from hebbcheck.judges import cell_choice, counting, draws, probability
from hebbcheck.judges.adversary import streams_of
from hebbcheck.settings import LEVEL, Settings


def uniform(rng, **sizes):
    return {"u": rng.random(), "w": rng.random()}


UNIFORM = geo.family(uniform, n=(4, 64))
"""u and w are uniform and independent: every failure probability is known."""


def claim(function, over=UNIFORM, **options):
    return hc.claim(f"probability.{function.__name__}", over=over, **options)(function)


def below(limit, **relation):
    def u_is_below(x):
        return hc.at_most(x.u, limit, **relation)

    return u_is_below


# --- verdicts


def test_supported_at_the_allowed_rate_and_refuted_at_twice_of_it():
    for seed in range(2):
        allowed = judged(claim(below(0.9), fails_at_most=0.1), seed=seed)
        twice = judged(claim(below(0.8), fails_at_most=0.1), seed=seed)
        assert (allowed.outcome, twice.outcome) == ("supported", "refuted")


def test_a_family_of_one_size_is_one_cell():
    finding = judged(claim(below(0.9), over=geo.family(uniform, n=10), fails_at_most=0.1))
    assert finding.outcome == "supported" and "In the one cell" in finding.reason
    assert finding.instances == finding.failures["trials"]


def test_a_rate_has_no_probability():
    def rate(x):
        return hc.scales_as(x.u, x.n)

    with pytest.raises(HebbcheckError, match="stands alone; leave out fails_at_most"):
        judged(claim(rate, fails_at_most=0.1))


def test_what_a_supported_verdict_says():
    finding = judged(claim(below(0.9), fails_at_most=0.1))
    told = finding.failures
    assert set(told) == {"failures", "trials", "low", "high", "allowed", "cell"}
    assert told["allowed"] == 0.1 and told["low"] < told["failures"] / told["trials"] < told["high"]
    assert (
        f"{told['failures']} of {told['trials']} draws failed where a rate of 0.1 is allowed"
        in finding.reason
    )
    assert "95% power" in finding.reason and told["cell"].startswith("n=")
    last = counting.looks(0.1, LEVEL / 6 / counting.LOOKS)[-1]
    assert told["trials"] <= last and last < finding.instances <= 6 * last and finding.violations > 0
    assert 6 <= len(finding.points) <= 200 and {"measured", "bound", "n", "draw"} <= set(finding.points[0])


def test_a_refutation_keeps_a_failing_draw(tmp_path):
    made = claim(below(0.5), fails_at_most=0.2)
    finding = judged(made)
    assert finding.outcome == "refuted" and finding.tightness["ratio"] < 0
    assert "the rate exceeds" in finding.reason and finding.failures["low"] > 0.2
    for kind in ("smallest", "worst"):
        raw = Raw.from_json(finding.counterexamples[kind])
        assert raw.arrays["u"] > 0.5
        path = counterexample.save(tmp_path, made, Settings(), kind, raw.as_json())
        assert counterexample.replay(counterexample.load(path), made).broken
    worst = Raw.from_json(finding.counterexamples["worst"])
    assert (0.5 - worst.arrays["u"]) / worst.arrays["u"] == pytest.approx(finding.tightness["ratio"])


def test_delta_a_number_and_a_function_of_the_sizes():
    family = geo.family(uniform, n=(4, 64), delta=[0.5, 0.1])

    def at_delta(x):
        return hc.at_most(x.u, 1 - x.delta)

    def at_function(x):
        return hc.at_most(x.u, 1 - 2 / x.n)

    def at_twice(x):
        return hc.at_most(x.u, 1 - 4 / x.n)

    finding = judged(claim(at_delta, family, fails_at_most="delta"))
    assert finding.outcome == "supported" and {p["delta"] for p in finding.points} == {0.5, 0.1}
    assert judged(claim(at_function, fails_at_most=lambda x: 2 / x.n)).outcome == "supported"
    assert judged(claim(at_twice, fails_at_most=lambda x: 2 / x.n)).outcome == "refuted"


def test_where_nothing_may_fail_one_failure_refutes():
    never = judged(claim(below(1.0), fails_at_most=0))
    assert never.outcome == "supported" and "0.3%" in never.reason
    assert judged(claim(below(0.99), fails_at_most=0.0)).outcome == "refuted"


def test_vacuous_where_everything_may_fail():
    finding = judged(claim(below(0.0), fails_at_most=lambda x: 100 / x.n))
    assert finding.outcome == "vacuous" and "1 or more" in finding.reason
    assert judged(claim(below(0.0), fails_at_most=1)).outcome == "vacuous"


def test_vacuous_where_no_sizes_or_no_draws_meet_the_assumptions():
    sizes = judged(claim(below(0.9), fails_at_most=0.1, given={"n > 100": lambda x: x.n > 100}))
    assert sizes.outcome == "vacuous" and "No sizes" in sizes.reason
    drawn = judged(claim(below(0.9), fails_at_most=0.1, given={"u > 2": lambda x: x.u > 2}))
    assert drawn.outcome == "vacuous" and drawn.instances == 0
    assert drawn.assumptions["u > 2"] == {"share_met": 0, "needed": "no counterexample without it"}


def test_vacuous_names_the_smallest_sizes_that_no_profile_reaches():
    """m >= 1000 F and d >= m: the smallest are F = 4, m = 4000, d = 4000, beyond the default ranges."""

    def beyond(x):
        return hc.at_most(x.K_off_max, 1)

    given = {"m >= 1000 F": lambda x: x.m >= 1000 * x.F, "d >= m": lambda x: x.d >= x.m}
    finding = judged(claim(beyond, over=geo.facts(), fails_at_most="delta", given=given))
    assert finding.outcome == "vacuous"
    assert "F = 4, m = 4000, d = 4000, out of reach at this profile" in finding.reason


def test_vacuous_where_the_bound_never_passes_the_trivial_value():
    assert judged(claim(below(1.5, trivial=1.0), fails_at_most=0.1)).outcome == "vacuous"
    assert judged(claim(below(0.95, trivial=1.0), fails_at_most=0.1)).outcome == "supported"


def test_inconclusive_where_too_few_draws_meet_the_assumptions():
    finding = judged(claim(below(1.0), fails_at_most=0.1, given={"u < 1/100": lambda x: x.u < 0.01}))
    assert finding.outcome == "inconclusive" and finding.instances > 0
    assert "are needed" in finding.reason and "larger profile" in finding.reason


def test_a_failure_probability_that_touches_a_draw_is_an_error():
    def of_a_draw(x):
        return hc.at_least(x.V_min, -1)

    with pytest.raises(HebbcheckError, match="sizes alone"):
        judged(claim(of_a_draw, geo.facts(), fails_at_most=lambda x: x.V_min))


@pytest.mark.parametrize("impossible", [-0.1, math.nan])
def test_a_failure_probability_that_is_none_is_an_error(impossible):
    with pytest.raises(HebbcheckError, match="a probability is needed"):
        judged(claim(below(0.5), fails_at_most=lambda x: impossible))


def test_a_misspelt_attribute_is_an_error():
    def misspelt(x):
        return hc.at_most(x.V_mn, 1)

    with pytest.raises(HebbcheckError, match="did you mean 'V_min'"):
        judged(claim(misspelt, geo.facts(F=4, d=4, m=4), fails_at_most=0.1))


# --- what a statement means


def test_several_relations_are_one_event():
    def both(x):
        return [hc.at_most(x.u, 0.9), hc.at_most(x.w, 0.9)]

    assert judged(claim(both, fails_at_most=0.19)).outcome == "supported"
    assert judged(claim(both, fails_at_most=0.09)).outcome == "refuted"


def test_a_statement_given_a_draw_is_conditional():
    given = {"u > 1/2": lambda x: x.u > 0.5}
    finding = judged(claim(below(0.95), fails_at_most=0.1, given=given))
    assert finding.outcome == "supported"
    assert finding.assumptions["u > 1/2"]["share_met"] == pytest.approx(0.5, abs=0.05)
    assert finding.instances >= 6 * counting.looks(0.1, LEVEL / 6 / counting.LOOKS)[0]
    assert judged(claim(below(0.9), fails_at_most=0.1, given=given)).outcome == "refuted"


def test_each_assumption_is_counted_by_itself():
    given = {"u < 1/2": lambda x: x.u < 0.5, "w < 1/10": lambda x: x.w < 0.1}
    shares = judged(claim(below(0.9), fails_at_most=0.1, given=given)).assumptions
    assert shares["u < 1/2"]["share_met"] == pytest.approx(0.5, abs=0.05)
    assert shares["w < 1/10"]["share_met"] == pytest.approx(0.1, abs=0.03)


def test_the_worst_draw_is_one_that_fails(monkeypatch):
    """Also where one that is broken by rounding alone comes nearer to failing."""
    ratios = {0: -0.5, 1: -0.3, 2: -0.4}

    def settled(claim, raw, value, settings):
        index = next(order)
        return dataclasses.replace(value, slack=ratios[index], scale=1.0), True

    order = iter(range(3))
    monkeypatch.setattr(draws, "settled", settled)
    monkeypatch.setattr(draws, "excess", lambda c, raw, value, *a, **k: 2 * (value.slack != -0.5))
    params = {"numbers": {"n": 4}, "choice": "", "allowed": 0.1, "role": "pilot", "first": 0, "draws": 3}
    total = draws.measure(
        claim(below(0.5), fails_at_most=0.1), Settings(), params | {"broken": None, "strict": True}
    )
    assert (total["failures"], total["ratio"], total["worst"], total["worst_ratio"]) == (2, -0.5, 2, -0.4)


@pytest.mark.parametrize("bound", [3.0, -3.0])
def test_samples_of_an_instance_belong_into_means(bound):
    def sampled(v):
        return hc.at_most(v.gaussians("noise", 1)[0], bound)

    with pytest.raises(HebbcheckError, match=r"state it with hc\.mean"):
        judged(claim(sampled, over=geo.vectors(count=2, d=4), fails_at_most=0.1))


def test_assumptions_are_tested_for_need():
    def small_sizes(x):
        return hc.at_most(x.u, 0.9 if x.n >= 8 and x.w < 0.5 else 0.2)

    given = {"n >= 8": lambda x: x.n >= 8, "w < 1/2": lambda x: x.w < 0.5, "n < 99": lambda x: x.n < 99}
    finding = judged(claim(small_sizes, fails_at_most=0.2, given=given))
    assert finding.outcome == "supported"
    assert {name: found["needed"] for name, found in finding.assumptions.items()} == {
        "n >= 8": "needed: counterexample",
        "w < 1/2": "needed: counterexample",
        "n < 99": None,
    }


def test_undefined_draws_are_no_evidence():
    def sometimes(x):
        return hc.at_most(1 / 0 if x.w < 0.3 else (math.nan if x.w < 0.5 else x.u), 0.9)

    finding = judged(claim(sometimes, fails_at_most=0.2))
    assert finding.outcome == "supported"
    assert finding.undefined / (finding.undefined + finding.instances) == pytest.approx(0.5, abs=0.05)


def test_what_rounding_breaks_is_no_failure():
    def attained(x):
        return hc.at_most(x.K_diag_max, sqrt(x.K_diag_max) ** 2)

    for options in ({}, {"dtype": "float32"}):
        finding = judged(claim(attained, geo.facts(F=4, d=4, m=4), fails_at_most=0.1), **options)
        assert finding.outcome == "supported" and finding.violations == 0


def test_what_the_rounding_of_the_claim_itself_breaks_refutes_nothing():
    def cancels(x):
        """Equality, but for the last digits of squares that are many times larger than what is left of them."""
        a, b = 1e5 * (1 + x.u), x.w
        return hc.at_least((a + b) ** 2 - (a - b) ** 2, 4 * a * b)

    finding = judged(claim(cancels, fails_at_most=0.1))
    assert finding.outcome == "supported" and finding.violations == 0


def test_float32_that_cancels_is_recomputed():
    def cancels(x):
        """True, but in float32 the difference of two numbers near 1000 is off by more than it may be."""
        return hc.at_most(hc.max(x.values + 1000.0) - 1000.0, hc.max(x.values) + 1e-9)

    family = geo.facts(F=4, d=4, m=4)
    assert judged(claim(cancels, family, fails_at_most=0.1), dtype="float32").violations == 0


# --- level, power and streams


@pytest.mark.parametrize("allowed", [0.5, 0.3, 0.1, 0.05, 0.02, 0.01])
@pytest.mark.parametrize("level", [1e-4, 1e-4 / 6])
def test_the_number_of_draws_gives_level_and_power(allowed, level):
    """Binomial tails summed term by term in rationals."""
    draws = counting.draws_needed(allowed, level)
    refuting = counting.fewest_refuting(draws, allowed, level)
    assert tail(draws, refuting, allowed) <= level < tail(draws, refuting - 1, allowed)
    assert tail(draws, refuting, counting.twice(allowed)) >= 0.95
    fewer = int(draws / 1.2)
    again = counting.fewest_refuting(fewer, allowed, level)
    assert tail(fewer, again, counting.twice(allowed)) < 0.95
    assert (
        counting.limits(refuting, draws, level)[0] > allowed >= counting.limits(refuting - 1, draws, level)[0]
    )


def tail(draws, least, rate):
    """P(X >= least) of a binomial variable."""
    p = Fraction(rate).limit_denominator(10**6)
    inside = sum(math.comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(least))
    return float(1 - inside)


def chances(allowed, level, rate):
    """The probabilities that a cell of this failure rate is refuted, or accepted early, from the looks' definition."""
    drawn, open_ = 0, np.array([1.0])  # open_[k]: undecided, with k failures so far
    refuted = accepted = 0.0
    for look in counting.looks(allowed, level):
        steps = stats.binom.pmf(np.arange(look - drawn + 1), look - drawn, rate)
        open_, drawn = np.convolve(open_, steps), look
        refuting = counting.fewest_refuting(drawn, allowed, level)
        least = next(k for k in range(drawn + 1) if not counting.acceptable(k, drawn, allowed))
        refuted, accepted = refuted + open_[refuting:].sum(), accepted + open_[:least].sum()
        open_[refuting:] = open_[:least] = 0.0
    return refuted, accepted


@pytest.mark.parametrize("allowed", [0.5, 0.3, 0.1, 0.05])
@pytest.mark.parametrize("cells", [1, 6])
def test_early_looks_keep_level_and_power(allowed, cells):
    level = LEVEL / cells / counting.LOOKS
    looks = counting.looks(allowed, level)
    assert list(looks) == sorted(looks) and len(looks) <= counting.LOOKS
    assert chances(allowed, level, allowed)[0] <= LEVEL / cells
    assert chances(allowed, level, counting.twice(allowed))[0] >= counting.POWER
    assert chances(allowed, level, allowed / 8)[1] > 0.9  # what early looks are for


def test_cells_far_from_what_is_allowed_are_drawn_no_further():
    never = judged(claim(below(1.0), fails_at_most=0.1))
    assert never.outcome == "supported" and never.instances == 6 * counting.FIRST_LOOK
    always = judged(claim(below(0.0), fails_at_most=0.1))
    assert always.outcome == "refuted" and always.instances == 6 * counting.FIRST_LOOK


def test_limits_without_trials_and_at_the_ends():
    assert counting.limits(0, 0, 1e-4) == (0.0, 1.0)
    low, high = counting.limits(0, 50, 1e-4)
    assert low == 0 and high == pytest.approx(1 - 1e-4 ** (1 / 50))
    assert counting.limits(50, 50, 1e-4) == (pytest.approx(1e-4 ** (1 / 50)), 1)


def test_the_level_is_shared_among_the_cells():
    made = claim(below(0.9), fails_at_most=0.1)
    gen = probability.judge(made, Settings())
    pilots = next(gen)
    results = [draws.measure(made, Settings(), task.params) for task in pilots]
    judging = gen.send(results)
    cells = {repr(task.params["numbers"]) for task in judging}
    first = counting.looks(0.1, LEVEL / len(cells) / counting.LOOKS)[0]
    assert sum(task.params["draws"] for task in judging) == len(cells) * first


def test_pilot_and_judging_draws_are_different():
    numbers, made = {"n": 8}, claim(below(0.9), fails_at_most=0.1)
    drawn = {
        (role, index): draws.drawn(made, Settings(), {"numbers": numbers, "choice": "", "role": role}, index)[
            0
        ]
        for role in ("pilot", "judged")
        for index in range(40)
    }
    assert len({float(raw.arrays["u"]) for raw in drawn.values()}) == 80


def test_cells_do_not_depend_on_how_draws_are_batched():
    made = claim(below(0.9), fails_at_most=0.1)
    cell = {"numbers": {"n": 8}, "choice": "", "allowed": 0.1, "role": "judged", "broken": None}
    whole = draws.measure(made, Settings(), {**cell, "first": 0, "draws": 60})
    parts = [draws.measure(made, Settings(), {**cell, "first": first, "draws": 20}) for first in (0, 20, 40)]
    assert sum(part["failures"] for part in parts) == whole["failures"] > 0
    assert min(part["ratio"] for part in parts) == whole["ratio"]


def test_selecting_cells_by_their_pilot_does_not_bias_the_verdict():
    """All cells fail at exactly the allowed rate: the ones that looked worst in the pilot are no worse in the end."""
    failures = trials = 0
    for seed in range(6):
        finding = judged(claim(below(0.9), fails_at_most=0.1), seed=seed)
        failures, trials = failures + finding.violations, trials + finding.instances
    assert abs(failures / trials - 0.1) < 4 * math.sqrt(0.09 / trials)


def test_what_an_adversary_chooses_stays_and_all_else_is_drawn_again():
    made = claim(below(1.0), geo.facts(keys=geo.anything), fails_at_most=0.1)
    numbers = {"F": 5, "d": 4, "m": 3, "delta": 0.1}
    raws = [
        made.family.raw(
            numbers, streams_of(made, Settings(), ("cell",), "judged", index), "keys: uniform"
        ).arrays
        for index in range(3)
    ]
    assert all(np.array_equal(raw["keys"], raws[0]["keys"]) for raw in raws)
    for name in ("values", "A", "G"):
        assert not np.array_equal(raws[0][name], raws[1][name])
    elsewhere = made.family.raw(
        numbers, streams_of(made, Settings(), ("other",), "judged", 0), "keys: uniform"
    )
    assert not np.array_equal(elsewhere.arrays["keys"], raws[0]["keys"])


# --- which cells


def test_cells_cover_the_sizes_and_every_delta():
    def anything(x):
        return hc.at_least(x.V_min, -1)

    made = claim(anything, geo.facts(keys=geo.anything), fails_at_most="delta")
    groups, least = cell_choice.groups_of_cells(made, Settings())
    assert least == 0.02 and [group[0]["allowed"] for group in groups] == [0.02, 0.1, 0.5]
    for group in groups:
        assert {cell["choice"] for cell in group} == set(made.family.choices)
        assert len({cell["numbers"]["F"] for cell in group}) == 2
    assert max(cell["numbers"]["F"] for group in groups for cell in group) > 40
    assert sum(map(len, groups)) <= 64


def test_many_choices_are_shared_among_the_sizes():
    def anything(x):
        return hc.at_least(x.V_min, -1)

    made = claim(anything, geo.facts(keys=geo.anything, values=geo.anything), fails_at_most=0.1)
    [group], _ = cell_choice.groups_of_cells(made, Settings())
    assert len(group) <= 64
    assert {cell["choice"] for cell in group} == set(made.family.choices)


def test_failure_probabilities_between_one_percent_and_nine_tenths_are_judged():
    def tail_bound(x):
        return min(1.0, x.n * exp(-x.n / 8))

    made = claim(below(1.0), fails_at_most=tail_bound)
    groups, _ = cell_choice.groups_of_cells(made, Settings())
    assert 1 <= len(groups) <= 4
    assert all(0.01 <= cell["allowed"] <= 0.9 for group in groups for cell in group)
    tiny = claim(below(1.0), fails_at_most=lambda x: 1e-4 / x.n)
    groups, _ = cell_choice.groups_of_cells(tiny, Settings())
    assert all(cell["allowed"] < 0.01 for group in groups for cell in group)
    assert judged(tiny).outcome == "inconclusive"


def test_every_listed_value_is_drawn_and_what_is_not_is_said():
    def fails_at(F):
        def bounded(x):
            return hc.at_most(x.gamma_min, -1e9 if F == x.F else 1e9)

        return claim(bounded, geo.facts(F=[4, 32, 300], d=8, m=16), fails_at_most=0.1)

    for F in (4, 32, 300):
        assert judged(fails_at(F)).outcome == "refuted"
    told = judged(fails_at(7))
    assert told.outcome == "supported" and told.reason.endswith("Sizes drawn: F from 4 to 300.")
    dear = judged(claim(below(1.0), geo.family(lambda rng, F: {"u": 0.5}, F=[4, 10**5]), fails_at_most=0.1))
    assert dear.outcome == "supported" and dear.reason.endswith("F = 4; not drawn: F = 1e+05.")


def test_failures_at_the_largest_sizes_alone_are_seen():
    def bounded(x):
        return hc.at_most(x.gamma_min, -1e9 if x.F >= 200 else 1e9)

    assert judged(claim(bounded, geo.facts(), fails_at_most="delta")).outcome == "refuted"
    beyond = judged(claim(below(1.0), geo.family(lambda rng, F: {"u": 0.5}, F=(4, 10**5)), fails_at_most=0.1))
    assert "not drawn: F beyond" in beyond.reason and "(of 1e+05)" in beyond.reason


def test_cells_stand_far_apart():
    rng = np.random.default_rng(0)
    cells = [
        {"numbers": {"F": F, "d": d}, "allowed": 0.1} for F in (4, 16, 64, 256) for d in (4, 16, 64, 256)
    ]
    chosen = cell_choice._apart(cells, rng, 4)
    corners = [(cell["numbers"]["F"], cell["numbers"]["d"]) for cell in chosen[1:]]
    assert len(set(corners) & {(4, 4), (4, 256), (256, 4), (256, 256)}) >= 3
