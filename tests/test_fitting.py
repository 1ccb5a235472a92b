import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize

from hebbcheck import fitting
from hebbcheck.errors import HebbcheckError
from hebbcheck.fitting import Constant

M = np.geomspace(64, 1024, 30)
F, D = 256.0, 64.0
ISOTROPIC = (
    Constant("signal", stated=1.0),
    Constant("C"),
    Constant("C_L", low=1e-3, start=4.0, stated=2.0, logarithmic=True),
)


def isotropic(width=M, facts=F):
    def form(c):
        return c["signal"] - c["C"] * np.sqrt(facts * np.log(c["C_L"] * facts**2 / 0.5) / (width * D))

    return form


def noise(size, scale, seed=0):
    return np.random.default_rng(seed).normal(scale=scale, size=size)


def test_r_squared_by_hand():
    assert fitting.r_squared([1, 2, 3], [1, 2, 3]) == 1
    assert fitting.r_squared([1, 2, 3], [2, 2, 2]) == 0
    assert fitting.r_squared([0, 2], [2, 0]) == -3
    assert fitting.r_squared([0, 1, 9], [0, 1, 0], weights=[1, 1, 0]) == 1
    assert np.isnan(fitting.r_squared([1, 1], [1, 1]))


def test_free_constants_are_those_of_ordinary_least_squares():
    measured = isotropic()({"signal": 0.66, "C": 1.8, "C_L": 2.0}) + noise(30, 0.02)
    fit = fitting.as_fitted(isotropic(), ISOTROPIC, measured)
    line = np.polynomial.Polynomial.fit(1 / np.sqrt(M), measured, 1)(1 / np.sqrt(M))
    assert fit.predicted == pytest.approx(line, abs=1e-7)
    assert fit.r2 == pytest.approx(fitting.r_squared(measured, line), abs=1e-10)
    assert fit.share_above == np.mean(line > measured)


def test_stated_constants_stay_and_the_open_one_solves_the_normal_equation():
    measured = isotropic()({"signal": 0.66, "C": 1.8, "C_L": 2.0})
    fit = fitting.as_stated(isotropic(), ISOTROPIC, measured)
    x = 1 - isotropic()({"signal": 1.0, "C": 1.0, "C_L": 2.0})
    assert fit.constants["signal"] == 1.0 and fit.constants["C_L"] == 2.0
    assert fit.constants["C"] == pytest.approx((1 - measured) @ x / (x @ x))
    assert fit.r2 < fitting.as_fitted(isotropic(), ISOTROPIC, measured).r2
    given_C = fitting.as_stated(isotropic(), ISOTROPIC, measured, given={"C": 3.0})
    assert given_C.constants["C"] == 3.0 and given_C.confounded == ()


def test_bounds_on_the_constants_bind():
    measured = 1 + 0.5 * M / 1000
    fit = fitting.as_fitted(lambda c: c["a"] - c["b"] * M, (Constant("a"), Constant("b")), measured)
    assert fit.constants["b"] == pytest.approx(0, abs=1e-9)
    assert fit.constants["a"] == pytest.approx(measured.mean())


def test_several_starts_find_a_constant_far_from_where_the_search_starts():
    measured = np.exp(-M * 1e-4)
    fit = fitting.as_fitted(lambda c: np.exp(-M * c["rate"]), (Constant("rate", start=50.0),), measured)
    assert fit.constants["rate"] == pytest.approx(1e-4, rel=1e-4)


def test_weights_decide_which_points_matter():
    measured = np.where(np.arange(30) < 15, 1.0, 3.0)
    weights = np.where(np.arange(30) < 15, 1.0, 1e-12)
    fit = fitting.as_fitted(lambda c: c["a"] + 0 * M, (Constant("a"),), measured, weights)
    assert fit.constants["a"] == pytest.approx(1.0, abs=1e-6)


def test_the_width_sweep_cannot_tell_two_constants_apart_but_the_fact_sweep_can():
    facts = np.geomspace(32, 512, 30)
    true = {"signal": 0.7, "C": 2.0, "C_L": 3.0}
    by_width = fitting.as_fitted(isotropic(), ISOTROPIC, isotropic()(true))
    by_facts = fitting.as_fitted(isotropic(512, facts), ISOTROPIC, isotropic(512, facts)(true))
    assert by_width.confounded == (("C", "C_L"),)
    assert by_width.constants["C_L"] == ISOTROPIC[2].start and by_width.r2 == pytest.approx(1)
    assert by_facts.confounded == ()
    assert by_facts.constants == pytest.approx(true, rel=1e-3)


def test_a_constant_without_influence_is_named():
    fit = fitting.as_fitted(
        lambda c: c["a"] + c["b"] * 0 * M, (Constant("a"), Constant("b")), 1 + noise(30, 0.1)
    )
    assert fit.confounded == (("b",),)


@given(st.floats(0.1, 5), st.integers(0, 1000))
def test_the_smallest_constant_of_a_bound_is_the_largest_that_a_point_needs(C, seed):
    x = 1 - isotropic()({"signal": 1.0, "C": 1.0, "C_L": 2.0})
    needed = C * np.random.default_rng(seed).uniform(0.5, 1, 30)
    bound = fitting.as_bound(isotropic(), ISOTROPIC, 1 - needed * x)
    assert bound.needed == pytest.approx(needed)
    assert bound.value == pytest.approx(needed.max())
    assert bound.held == 1 and np.all(bound.predicted <= 1 - needed * x + 1e-9)
    assert bound.held_out == np.mean(needed[1::2] <= needed[::2].max())
    assert bound.mean_gap == pytest.approx(np.mean((needed.max() - needed) * x))


def test_a_bound_for_a_share_of_the_points_leaves_the_rest_out():
    x = 1 - isotropic()({"signal": 1.0, "C": 1.0, "C_L": 2.0})
    needed = np.linspace(1, 2, 30)
    bound = fitting.as_bound(
        isotropic(), ISOTROPIC, 1 - needed * x, share=0.9, calibration=np.arange(30) < 15
    )
    assert bound.value == pytest.approx(needed[26])
    assert bound.held == pytest.approx(0.9)
    assert bound.held_out == 0


def test_bounds_from_above_without_open_constants_and_out_of_reach():
    above = fitting.as_bound(lambda c: c["C"] * M, (Constant("C"),), 3 * M, side="above")
    assert above.value == pytest.approx(3) and above.mean_gap == pytest.approx(0, abs=1e-6)
    fixed = fitting.as_bound(lambda c: c["s"] + 0 * M, (Constant("s", stated=1.0),), 2 + 0 * M)
    assert fixed.value == 0 and fixed.held == 1 and fixed.mean_gap == 1
    hopeless = fitting.as_bound(lambda c: 1 + 0 * M, (Constant("C"),), 0 * M)
    assert np.isinf(hopeless.value) and hopeless.held == 0


def test_exponents_and_their_intervals():
    size = np.geomspace(1, 100, 20)
    exact = fitting.exponent(size, 7 * size**-0.5)
    assert exact.value == pytest.approx(-0.5) and exact.high - exact.low < 1e-9
    covered = 0
    for seed in range(200):
        low, high = fitting.exponent(size, size**0.5 * np.exp(noise(20, 0.1, seed)))[1:]
        covered += low <= 0.5 <= high
    assert 180 <= covered <= 199
    weights = np.where(size < 10, 1.0, 1e-9)
    bent = np.where(size < 10, size, 10.0)
    assert fitting.exponent(size, bent, weights).value == pytest.approx(1, abs=1e-3)


def test_student_intervals():
    samples = noise(40, 1.0)
    t = fitting.student(samples, 0.05)
    assert t.high - t.low == pytest.approx(2 * 2.0227 * samples.std(ddof=1) / np.sqrt(40), rel=1e-4)
    assert fitting.student([2.0]) == (2.0, -np.inf, np.inf)


def test_a_fit_agrees_with_curve_fit_on_a_nonlinear_form():
    measured = 2 * M**0.3 + noise(30, 0.05)
    constants = (Constant("a"), Constant("b", low=-2, high=2, start=0.1))
    fit = fitting.as_fitted(lambda c: c["a"] * M ** c["b"], constants, measured)
    reference, _ = optimize.curve_fit(lambda m, a, b: a * m**b, M, measured, p0=(1, 0.5))
    assert [fit.constants["a"], fit.constants["b"]] == pytest.approx(list(reference), rel=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fitting.as_fitted(isotropic(), ISOTROPIC, np.full(30, np.nan)),
        lambda: fitting.exponent([1, 2], [1, 2]),
        lambda: fitting.exponent([1, 2, 3], [1, -2, 3]),
        lambda: fitting.as_bound(isotropic(), ISOTROPIC, M, share=0.0),
        lambda: fitting.as_bound(isotropic(), ISOTROPIC, M, calibration=np.ones(30, dtype=bool)),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_line(call):
    with pytest.raises(HebbcheckError) as refusal:
        call()
    assert "\n" not in str(refusal.value)
