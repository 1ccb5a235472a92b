"""The judge of statements in expectation: every verdict, and means of samples with heavy tails."""

import math

import numpy as np
import pytest
import sympy
from judging import judged
from scipy import stats

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.errors import HebbcheckError
from hebbcheck.judges import expectation, means, sampling
from hebbcheck.judges.moments import Moments
from hebbcheck.settings import LEVEL, Settings


def normal(rng, n):
    z = rng.standard_normal((int(n), 3))
    return {"z": z[:, 0], "rows": z, "u": rng.random()}


NORMAL = geo.family(normal, n=5000)
VECTORS = geo.vectors(count=2)


def claim(function, over=NORMAL, **options):
    return hc.claim(f"expectation.{function.__name__}", over=over, **options)(function)


def says(left, right, kind=hc.equal):
    def of_the_mean(x):
        return kind(hc.mean(left(x)), right)

    return of_the_mean


def square(x):
    return x.z**2


def kernel(v):
    return v.sketched_kernel(samples=20_000)


# --- verdicts


def test_supported_says_which_bias_would_have_been_seen():
    finding = judged(claim(says(square, 1)))
    assert finding.outcome == "supported" and finding.instances >= 400_000
    assert "of the largest mean would have been seen" in finding.reason and "95% power" in finding.reason
    assert {p["bound"] for p in finding.points} == {1.0}
    assert all(abs(p["measured"] - 1) < p["half_width"] for p in finding.points)


def test_the_bias_that_would_have_been_seen_is_seen():
    for seed in range(2):
        assert judged(claim(says(square, 1.05)), seed=seed).outcome == "refuted"
        assert judged(claim(says(square, 0.95)), seed=seed).outcome == "refuted"


def test_inequalities_of_means():
    expected = {
        (hc.at_most, 1): True,
        (hc.at_most, 0.95): False,
        (hc.at_least, 1): True,
        (hc.at_least, 1.05): False,
    }
    for (kind, bound), holds in expected.items():
        finding = judged(claim(says(square, bound, kind)))
        assert finding.outcome == ("supported" if holds else "refuted"), (kind, bound)


def test_a_refutation_quotes_fresh_samples():
    finding = judged(claim(says(square, 1.2)))
    assert finding.outcome == "refuted" and "confirmed on fresh samples" in finding.reason
    assert "off by -0.2" in finding.reason and "2000000 samples" in finding.reason
    assert finding.violations == 2


def test_means_of_zero_are_judged_by_the_standard_deviation():
    finding = judged(claim(says(lambda x: x.z, 0)))
    assert finding.outcome == "supported" and "of the standard deviation" in finding.reason


def test_means_of_arrays():
    def squares(x):
        return hc.equal(hc.mean(x.rows**2), np.ones(3))

    def one_is_off(x):
        return hc.equal(hc.mean(x.rows**2), np.array([1, 1, 1.1]))

    finding = judged(claim(squares))
    assert finding.outcome == "supported" and "over 6 means" in finding.reason
    assert judged(claim(one_is_off)).outcome == "refuted"


def test_means_on_both_sides_and_several_relations():
    def both(x):
        return [
            hc.equal(hc.mean(x.rows[:, 0] ** 2), hc.mean(x.rows[:, 1] ** 2)),
            hc.at_least(hc.mean(x.z**4), 2.9),
        ]

    def second_is_wrong(x):
        return [hc.equal(hc.mean(x.z**2), 1), hc.at_least(hc.mean(x.z**4), 3.4)]

    assert judged(claim(both)).outcome == "supported"
    assert judged(claim(second_is_wrong)).outcome == "refuted"


def test_proved_by_symbolic_moments():
    r = sympy.Symbol("r")
    finding = judged(claim(says(square, 1), proof=[("second moment", r - r)]))
    assert finding.outcome == "proved" and finding.proof[0]["vanishes"] == "yes"
    assert judged(claim(says(square, 1), proof=[("slip", r)])).outcome == "inconclusive"
    assert judged(claim(says(square, 1.2), proof=[r - r])).outcome == "refuted"


def test_vacuous():
    finding = judged(claim(says(square, 1), given={"never": lambda x: x.n < 0}))
    assert finding.outcome == "vacuous" and finding.instances == 0

    def trivial(x):
        return hc.at_most(hc.mean(x.z**2), 5.0, trivial=2.0)

    assert judged(claim(trivial)).outcome == "vacuous"


def test_inconclusive_where_samples_are_too_few_to_see_a_bias():
    few = geo.family(normal, n=2)
    finding = judged(claim(says(square, 1), few))
    assert finding.outcome == "inconclusive" and "larger profile" in finding.reason


def test_assumptions_on_the_geometry_and_whether_they_are_needed():
    def unit(v):
        return hc.equal(hc.mean(kernel(v)), (v[0] @ v[1]) ** 2 / (v[0] @ v[0]))

    finding = judged(claim(unit, VECTORS, given={"|x| = 1": lambda v: abs(v[0] @ v[0] - 1) < 1e-9}))
    assert finding.outcome == "supported"
    assert finding.assumptions["|x| = 1"]["needed"] == "needed: counterexample"
    assert 0.5 < finding.assumptions["|x| = 1"]["share_met"] < 1


def test_undefined_geometries_are_counted():
    def divided(v):
        return hc.equal(hc.mean(kernel(v) / float(v[1] @ v[1])), float(v[0] @ v[1]) ** 2 / float(v[1] @ v[1]))

    finding = judged(claim(divided, VECTORS))
    assert finding.outcome == "supported" and finding.undefined > 0


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_samples_without_a_value_are_no_evidence(value):
    def sometimes(x):
        return hc.equal(hc.mean(x.z * (value if x.u < 0.4 else 1)), 0)

    finding = judged(claim(sometimes))
    assert finding.outcome == "supported" and finding.undefined > 10
    assert judged(claim(says(lambda x: x.z * value, 0))).outcome == "vacuous"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (says(lambda x: x.u, 0), "at least two samples"),
        (lambda x: hc.equal(hc.mean(x.z), hc.mean(x.z[:7])), "have shapes"),
        (lambda x: [hc.equal(hc.mean(x.z), 0), hc.at_least(x.u, 0)], "two claims"),
        (lambda x: hc.scales_as(hc.mean(x.z), 1), "two claims"),
    ],
)
def test_what_is_no_mean_is_an_error(function, message):
    function.__name__ = "wrong"
    with pytest.raises(HebbcheckError, match=message):
        judged(claim(function))


# --- sampling


def test_the_geometry_stays_and_samples_are_fresh():
    seen = []

    def watched(v):
        seen.append((v.all.tobytes(), float(kernel(v).sum())))
        return hc.equal(hc.mean(kernel(v)), (v[0] @ v[1]) ** 2)

    made = claim(watched, VECTORS)
    seen.clear()
    params = {"choice": "generic", "repeat": 0, "samples": 100_000, "role": "first", "broken": None}
    sampling.measure(made, Settings(), params)
    assert len({geometry for geometry, _ in seen}) == 1 and len({total for _, total in seen}) == 5
    first = [total for _, total in seen]
    seen.clear()
    sampling.measure(made, Settings(), {**params, "role": "confirm"})
    assert not set(first) & {total for _, total in seen}


def test_what_a_familys_function_draws_is_drawn_again():
    """Its samples are all that is random: with the same ones again and again the mean would be theirs."""
    finding = judged(claim(says(lambda x: x.z, 0), geo.family(normal, n=400)))
    assert finding.outcome == "supported"


def test_geometries_include_parallel_and_orthogonal_pairs():
    finding = judged(claim(lambda v: hc.equal(hc.mean(kernel(v)), (v[0] @ v[1]) ** 2), VECTORS))
    assert {"parallel", "orthogonal", "opposite", "generic"} <= {p["geometry"] for p in finding.points}


def test_float32_samples():
    def unbiased(v):
        return hc.equal(hc.mean(kernel(v)), (v[0] @ v[1]) ** 2)

    assert judged(claim(unbiased, VECTORS), dtype="float32").outcome == "supported"


# --- heavy tails


def heavy(rng, n):
    """Squares of a Gaussian polynomial of degree 4 with mean 8 and skewness near 100."""
    return {"y": (rng.standard_normal((int(n), 2)).prod(axis=1) ** 2 - 1) ** 2}


def test_heavy_tails_do_not_refute_the_truth():
    made = claim(says(lambda x: x.y, 8), geo.family(heavy, n=50_000))
    verdicts = [judged(made, seed=seed).outcome for seed in range(3)]
    assert "refuted" not in verdicts and "supported" in verdicts
    assert judged(claim(says(lambda x: x.y, 9), geo.family(heavy, n=50_000))).outcome == "refuted"


def test_halls_interval_is_missed_less_often_than_the_normal_one():
    rng, level, trials = np.random.default_rng(0), 0.01, 1000
    z, missed = stats.norm.isf(level / 2), np.zeros(3)
    for _ in range(trials):
        m = Moments.of(heavy(rng, 5000)["y"])
        low, high = m.interval(level)
        missed += [high < 8, low > 8, m.mean + z * m.error < 8]
    hall, above, plain = missed / trials
    assert above <= level / 2 + 0.005
    assert hall < 0.5 * plain


def test_halls_interval_is_the_normal_one_without_skewness():
    m = Moments(100, np.array(2.0), np.array(400.0), np.array(0.0))
    low, high = m.interval(0.05)
    half = stats.norm.isf(0.025) * math.sqrt(400 / 99 / 100)
    assert (float(low), float(high)) == (pytest.approx(2 - half, rel=1e-6), pytest.approx(2 + half, rel=1e-6))


def test_halls_limits_solve_his_cubic():
    m = Moments(50, np.array(0.0), np.array(49.0), np.array(50.0 * 3))
    skew = 3 / (49 / 50) ** 1.5 / math.sqrt(50)
    for limit, z in zip(m.interval(0.02), (stats.norm.isf(0.01), -stats.norm.isf(0.01)), strict=True):
        t = float(-limit / m.error)
        assert t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6 == pytest.approx(z)


def test_moments_merge():
    samples = np.random.default_rng(1).gamma(0.3, size=(1000, 2))
    whole = Moments.of(samples)
    parts = Moments.of(samples[:100]).merged(Moments.of(samples[100:550])).merged(Moments.of(samples[550:]))
    assert parts.count == 1000
    for name in ("mean", "squares", "cubes"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-10)
    around = samples - samples.mean(axis=0)
    np.testing.assert_allclose(whole.cubes, (around**3).sum(axis=0))
    np.testing.assert_allclose(whole.error, samples.std(axis=0, ddof=1) / math.sqrt(1000))


def test_constant_samples_have_no_width():
    constant = Moments.of(np.full(100, 0.3))
    low, high = constant.interval(1e-4)
    assert low == high == pytest.approx(0.3)


def rare(rng, t):
    """Whether normal samples pass t, and log-normal ones: rare samples decide the mean of both."""
    z = rng.standard_normal(50_000)
    return {"past": 1.0 * (z > t), "w": np.exp(t * z)}


@pytest.mark.parametrize(
    "t, relation",
    [
        (6.0, lambda x: hc.equal(hc.mean(x.past), stats.norm.sf(x.t))),
        (6.0, lambda x: hc.at_least(hc.mean(x.past), 0.9 * stats.norm.sf(x.t))),
        (7.0, lambda x: hc.equal(hc.mean(x.w), math.exp(x.t**2 / 2))),
        (4.5, lambda x: hc.at_most(hc.mean(x.past), stats.norm.sf(x.t) / 3)),
    ],
)
def test_means_that_rare_samples_make_are_neither_supported_nor_refuted(t, relation):
    finding = judged(hc.claim("expectation.rare", over=geo.family(rare, t=t))(relation))
    assert finding.outcome == "inconclusive"


def test_the_frequency_of_an_event_is_judged_exactly():
    three_times = hc.claim("expectation.rare", over=geo.family(rare, t=4.5))(
        lambda x: hc.equal(hc.mean(x.past), 3 * stats.norm.sf(x.t))
    )
    assert judged(three_times).outcome == "refuted"


def test_an_event_is_one_against_a_number_that_stays():
    for vary, event in ((0.0, "left"), (1.0, "")):
        pool = sampling.Pool(hc.at_most(hc.mean(np.zeros(2)), 0.5))
        for call in range(2):
            pool.add(np.array([0.0, 1.0, 1.0]), np.array([0.5 + vary * call]))
        assert pool.event == event
    pool.add(np.array([0.0, 0.5]), np.array([0.5]))
    assert pool.event == ""


def test_a_mean_that_is_claimed_to_be_an_array_of_its_samples_length_is_an_error():
    def forgets_the_second_mean(x):
        return hc.equal(hc.mean(x.z), x.z)

    with pytest.raises(HebbcheckError, match="and the same number of samples, on both sides"):
        judged(claim(forgets_the_second_mean))


def test_an_event_that_never_happens_is_below_a_bound_that_can_be_seen():
    seldom = geo.family(rare, t=6.0)
    assert judged(claim(says(lambda x: x.past, 1e-4, hc.at_most), seldom)).outcome == "supported"
    assert judged(claim(says(lambda x: x.past, 1e-4, hc.at_least), seldom)).outcome == "refuted"
    assert (
        judged(claim(says(lambda x: x.past, stats.norm.sf(2)), geo.family(rare, t=2.0))).outcome
        == "supported"
    )
    assert (
        judged(claim(says(lambda x: x.past, 1.1 * stats.norm.sf(2)), geo.family(rare, t=2.0))).outcome
        == "refuted"
    )


# --- levels and rounds


def estimate(mean, error, bound=1.0, kind="equal", cell=0, count=10_000):
    moments = Moments(
        count, np.asarray(mean - bound), np.asarray(error**2 * count * (count - 1)), np.asarray(0.0)
    )
    return means.Estimate(cell, {"n": 1}, "", 0, kind, False, moments, mean, bound, bound, "", 1e-9)


def test_what_misses():
    assert estimate(1.1, 0.01).miss(1e-4) == pytest.approx(0.1 - stats.norm.isf(5e-5) * 0.01, rel=1e-3)
    assert (
        estimate(1.1, 0.01, kind="at_least").miss(1e-4) == 0 < estimate(1.1, 0.01, kind="at_most").miss(1e-4)
    )
    assert (
        estimate(0.9, 0.01, kind="at_most").miss(1e-4) == 0 < estimate(0.9, 0.01, kind="at_least").miss(1e-4)
    )
    assert estimate(1.001, 0.01).miss(1e-4) == 0
    assert estimate(1 + 1e-12, 0.0).miss(1e-4) == 0


def test_sampling_goes_on_where_a_bias_would_not_have_been_seen():
    entries = [estimate(1.0, 0.001), estimate(1.0, 0.02, cell=1)]
    more = means.missing(entries, 10**6)
    excess = entries[1].visible(LEVEL / 2) / means.PRECISE
    assert list(more) == [1] and more[1] == pytest.approx((1.2 * excess**2 - 1) * 10_000, rel=1e-3)
    assert means.missing(entries, 20_000)[1] == 10_000
    assert means.visible_bias(entries)[0] == pytest.approx(entries[1].visible(LEVEL / 2))


def test_sampling_goes_on_again_where_the_first_samples_varied_too_little(monkeypatch):
    asked = []

    def tasks(self, role, samples, broken):
        asked.append(role)
        return [{"role": role, "samples": count, "undefined": 0} for count in samples.values()]

    def entries(self, cell, result):
        count, deviation = result["samples"], 6.0 if result["role"] == "first" else 8.0
        return [estimate(1.0, deviation / count**0.5, cell=cell, count=count)]

    monkeypatch.setattr(expectation.Sampler, "_tasks", tasks)
    monkeypatch.setattr(expectation.Sampler, "_entries", entries)
    job = expectation.judge(claim(says(square, 1)), Settings())
    answer = next(job)
    with pytest.raises(StopIteration) as ended:
        while True:
            answer = job.send(answer)
    assert asked == ["first", "more", "still more"] and ended.value.value.outcome == "supported"


def test_a_suspicion_that_fresh_samples_do_not_share_is_inconclusive(monkeypatch):
    told = iter([estimate(1.01, 5e-4, count=4_000_000), estimate(1.0, 5e-4, count=4_000_000)])
    asked = []

    def tasks(self, role, samples, broken):
        asked.append((role, samples))
        return []

    monkeypatch.setattr(expectation.Sampler, "_tasks", tasks)
    monkeypatch.setattr(expectation.Sampler, "_entries", lambda self, cell, result: [next(told)])
    job = expectation.judge(claim(says(square, 1)), Settings())
    next(job)
    job.send([{"undefined": 0}])
    with pytest.raises(StopIteration) as ended:
        job.send([{"undefined": 0}])
    assert asked[-1] == ("confirm", {0: 4_000_000})
    assert ended.value.value.outcome == "inconclusive" and "fresh ones do not" in ended.value.value.reason


def test_only_fresh_samples_on_the_same_side_confirm():
    suspicion = [estimate(1.1, 0.01)]
    level = LEVEL
    assert means.confirmed(suspicion, [estimate(1.09, 0.005)], level)[0].confirmed
    assert not means.confirmed(suspicion, [estimate(1.0, 0.005)], level)[0].confirmed
    assert not means.confirmed(suspicion, [estimate(0.9, 0.005)], level)[0].confirmed
    assert not means.confirmed([estimate(1.0, 0.01)], [estimate(1.09, 0.005)], level)[0].confirmed


def test_a_suspicion_that_is_not_confirmed_does_not_refute(monkeypatch):
    """The first samples come from another law than the fresh ones."""
    rounds = []
    real = sampling.measure

    def first_is_off(claim, settings, params):
        rounds.append(params["role"])
        told = real(claim, settings, params)
        if params["role"] == "first":
            for entry in told["entries"]:
                entry["gap"] += 0.5
        return told

    monkeypatch.setattr(sampling, "measure", first_is_off)
    finding = judged(claim(says(square, 1)))
    assert "confirm" in rounds and finding.outcome != "refuted" and finding.violations == 0


def test_standard_samples_more_geometries():
    made = claim(says(square, 1))
    first = {p: len(next(expectation.judge(made, Settings(profile=p)))) for p in ("quick", "standard")}
    assert first == {"quick": 2, "standard": 6}
