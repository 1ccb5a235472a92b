import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hebbcheck import functions as hf
from hebbcheck.exact.balls import Ball, from_array, precision

X = np.array([[1.0, 4.0, 0.25], [2.0, 0.5, 9.0]])


@pytest.fixture(params=["numpy", "array_api_strict", "torch", "jax"])
def asarray(request):
    library = pytest.importorskip(request.param)
    if request.param == "jax":
        library.config.update("jax_enable_x64", True)
        return library.numpy.asarray
    return library.asarray


def same(got, want):
    return np.array_equal(np.asarray(got), want, equal_nan=True)


def test_elementwise_functions_on_every_backend(asarray):
    x = asarray(X)
    for function, reference in ((hf.sqrt, np.sqrt), (hf.log, np.log), (hf.exp, np.exp), (hf.abs, np.abs)):
        result = function(x)
        assert type(result) is type(x) and result.dtype == x.dtype
        np.testing.assert_allclose(np.asarray(result), reference(X), rtol=1e-14)
    assert same(hf.abs(asarray(-X)), X)
    assert hf.sqrt(asarray(X.astype(np.float32))).dtype == asarray(X.astype(np.float32)).dtype
    np.testing.assert_allclose(
        np.asarray(hf.sqrt(asarray(np.array([2, 3])))), np.sqrt([2.0, 3.0]), rtol=1e-15
    )


@pytest.mark.filterwarnings("error")
def test_outside_the_domain_arrays_are_nan_without_a_warning(asarray):
    x = asarray(np.array([-1.0, 0.0, 1.0, 1e4]))
    assert same(np.asarray(hf.sqrt(x))[:3], [math.nan, 0, 1])
    assert same(np.asarray(hf.log(x))[:3], [math.nan, -math.inf, 0])
    assert same(np.asarray(hf.exp(x))[3], math.inf)


def test_reductions_on_every_backend_give_python_numbers(asarray):
    x = asarray(X)
    for function, want in ((hf.min, 0.25), (hf.max, 9.0), (hf.sum, 16.75)):
        assert type(function(x)) is float and function(x) == want
        assert type(function(asarray(np.array([[1, 2], [3, 4]])))) is int
    assert hf.trace(asarray(X[:, :2])) == 1.5 and type(hf.trace(x)) is float
    assert math.isnan(hf.min(asarray(np.array([1.0, math.nan]))))
    assert math.isnan(hf.max(asarray(np.array([math.nan, 1.0]))))
    assert hf.min(x[0, 0], 2) == 1 and type(hf.max(x[0, 1], x[0, 0], 3)) is float
    empty = asarray(np.zeros((3, 0)))
    assert (hf.min(empty), hf.max(empty), hf.sum(empty)) == (math.inf, 0, 0)
    with pytest.raises(TypeError, match="among several"):
        hf.min(x, 1)


def test_python_numbers():
    for number in (4, 4.0, Fraction(4), np.float32(4), np.float64(4), np.int64(4)):
        assert type(hf.sqrt(number)) is float and hf.sqrt(number) == 2
        assert type(hf.log(number)) is float and hf.log(number) == math.log(4)
        assert type(hf.exp(number)) is float and hf.exp(number) == math.exp(4)
    for outside in (-1, -0.5, math.nan, Fraction(-1, 3), np.float64(-2)):
        assert math.isnan(hf.sqrt(outside)) and math.isnan(hf.log(outside))
    assert hf.log(0) == hf.log(0.0) == -math.inf
    assert (
        hf.exp(1000) == math.inf
        and hf.exp(-1000) == 0
        and hf.log(10**400) == pytest.approx(921.034, abs=1e-3)
    )
    assert hf.abs(-3) == 3 and type(hf.abs(-3)) is int and type(hf.abs(np.float64(-3))) is float
    assert hf.abs(Fraction(-1, 3)) == Fraction(1, 3)


def test_min_max_and_sum_of_python_numbers():
    assert hf.min(3, 1, 2) == 1 and type(hf.min(3, 1, 2)) is int
    assert hf.max(1, 2.5, Fraction(7, 2)) == 3.5 and type(hf.max(np.float64(1), 0)) is float
    assert hf.min([3, 1]) == 1 and hf.max(x * x for x in (-3, 2)) == 9
    assert (
        hf.sum([1, 2]) == 3
        and type(hf.sum([1, 2])) is int
        and type(hf.sum(np.float64(x) for x in (1, 2))) is float
    )
    assert hf.sum(x / 2 for x in (1, 2)) == 1.5
    assert hf.trace([[1, 9], [9, 2]]) == 3
    for function in (hf.min, hf.max):
        assert all(math.isnan(function(*order)) for order in ([math.nan, 1], [1, math.nan], [2, math.nan, 1]))
    assert (hf.min([]), hf.max([]), hf.sum([])) == (math.inf, 0, 0)


def test_fractions_in_object_arrays():
    x = np.array([[Fraction(1, 4), Fraction(-1, 3)], [Fraction(1), Fraction(1, 9)]], dtype=object)
    assert hf.sum(x) == Fraction(37, 36) and hf.min(x) == Fraction(-1, 3) and hf.trace(x) == Fraction(13, 36)
    assert hf.sqrt(x)[0, 0] == 0.5 and math.isnan(hf.sqrt(x)[0, 1]) and hf.abs(x)[0, 1] == Fraction(1, 3)


def test_what_is_no_number_is_refused():
    for call in (lambda: hf.sqrt("4"), lambda: hf.sqrt([4.0]), lambda: hf.max(1, "2"), lambda: hf.min(3)):
        with pytest.raises(TypeError):
            call()


def test_balls_and_object_arrays_of_balls():
    with precision(100):
        x = from_array(X)
        root = hf.sqrt(x)
        assert root.shape == X.shape and root[0, 1] == 2
        assert (root**2 - x)[1, 0].contains_zero() and hf.sqrt(Ball.exact(2)).upper() >= math.sqrt(2)
        assert hf.min(x) == 0.25 and hf.max(x) == 9 and hf.sum(x) == 16.75 and hf.trace(x) == 1.5
        assert hf.abs(-x)[0, 0] == 1 and isinstance(hf.exp(x)[0, 0], Ball)
        wide = Ball.between(0, 2)
        for function, ends in ((hf.min, (0, 1)), (hf.max, (1, 2))):
            for result in (
                function(wide, 1),
                function(np.array([1, wide], dtype=object)),
                function([wide, 1.0]),
            ):
                assert (result.lower(), result.upper()) == pytest.approx(ends, abs=1e-8)
                assert result.lower() <= ends[0] and result.upper() >= ends[1]
        assert hf.min(wide, Ball.exact(math.nan)).isnan and math.isnan(hf.max(wide, math.nan))


def test_ball_mode_encloses_plain_numbers():
    with precision(120), mpmath.workprec(400):
        for number in (2, 2.0, np.float64(2), Fraction(2), np.int64(2)):
            for function, reference in ((hf.sqrt, mpmath.sqrt), (hf.log, mpmath.log), (hf.exp, mpmath.exp)):
                ball = function(number)
                error = abs(mpmath.mpf(str(ball._v.mid().str(60, radius=False))) - reference(2))
                assert isinstance(ball, Ball) and error < 1e-34
                assert ball.lower() <= reference(2) <= ball.upper()
        assert hf.sqrt(np.array([4.0, 9.0])).tolist() == [2, 3]
        third = hf.sum([0.1, 0.1, 0.1])
        assert (
            third > 0.3 and third.mid == float(3 * Fraction(0.1)) and hf.sum(np.full(3, 0.1)).mid == third.mid
        )
        assert hf.trace(np.full((3, 3), 0.1)) > 0.3 and isinstance(hf.trace([[0.1]]), Ball)
        assert hf.sum([1, 2]) == 3 and type(hf.sum(np.array([1, 2]))) is int
        assert hf.min(0.1, 2) == 0.1 and type(hf.min(np.array([0.1, 2]))) is float
        assert hf.sqrt(-1.0).isnan and hf.log(0) == -math.inf
    assert hf.sqrt(2) == math.sqrt(2)


def test_other_librarys_arrays_cannot_enter_ball_mode(asarray):
    x = asarray(X)
    if isinstance(x, np.ndarray):
        return
    for function in (hf.sqrt, hf.sum, hf.max, hf.trace):
        with precision(64), pytest.raises(TypeError, match="balls"):
            function(x)


def test_solving_linear_systems(asarray):
    A, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    solved = hf.solve(asarray(A), asarray(b))
    np.testing.assert_allclose(np.asarray(solved), np.linalg.inv(A), rtol=1e-14)


def test_solving_with_balls_and_without_a_solution():
    with precision(128):
        x = hf.solve(from_array(np.array([[2.0, 1.0], [1.0, 3.0]])), np.array([1.0, 0.0]))
        assert abs(x[0] * 5 - 3).upper() < 1e-30
        assert isinstance(
            hf.solve(np.array([[3]], dtype=object), np.array([Fraction(1)], dtype=object))[0], Ball
        )
    with pytest.raises(ZeroDivisionError, match="singular"):
        hf.solve(np.ones((2, 2)), np.ones(2))


def test_sides_that_do_not_match_are_no_singular_matrix(asarray):
    with pytest.raises(Exception) as raised:  # each library has its own
        hf.solve(asarray(np.eye(3)), asarray(np.ones(4)))
    assert not isinstance(raised.value, ZeroDivisionError)
