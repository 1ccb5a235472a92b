import math
import threading
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbcheck.exact import balls
from hebbcheck.exact.balls import Ball, Undecided, from_array, in_ball_mode, precision, solve

rationals = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**6)
finite = st.floats(min_value=-1e6, max_value=1e6)


def ends(ball):
    """The ball's two ends as exact Fractions, read from flint's mantissas and exponents."""
    pair = []
    for end in (ball._v.lower(), ball._v.upper()):
        mantissa, exponent = (int(part) for part in end.man_exp())
        pair.append(Fraction(mantissa) * Fraction(2) ** exponent)
    return pair


def encloses(ball, exact):
    lower, upper = ends(ball)
    return lower <= exact <= upper


def of_mpmath(value):
    """An mpmath number as an exact Fraction."""
    sign, mantissa, exponent, _ = mpmath.mpf(value)._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


@given(rationals, rationals, st.integers(-4, 5))
def test_arithmetic_encloses_the_rational_result(x, y, n):
    with precision(40):
        a, b = Ball.exact(x), Ball.exact(y)
        assert encloses(a + b, x + y) and encloses(a - b, x - y) and encloses(a * b, x * y)
        assert encloses(a + y, x + y) and encloses(x - b, x - y) and encloses(-a, -x)
        assert encloses(abs(a), abs(x)) and encloses(a * a, x * x)
        if y:
            assert encloses(a / b, x / y) and encloses(x / b, x / y)
        if x or n >= 0:
            assert encloses(a**n, x**n)


@given(st.tuples(finite, finite), st.tuples(finite, finite), st.floats(0, 1), st.integers(1, 5))
def test_operations_on_wide_balls_enclose_every_point(first, second, share, n):
    (a, b), (c, d) = sorted(first), sorted(second)
    x, y = (min(max(low + share * (high - low), low), high) for low, high in ((a, b), (c, d)))
    p, q = Ball.between(a, b), Ball.between(c, d)
    x_, y_ = Fraction(x), Fraction(y)
    assert encloses(p * q, x_ * y_) and encloses(p - q, x_ - y_)
    assert encloses(abs(p), abs(x_)) and encloses(p**n, x_**n) and encloses(p * p, x_ * x_)
    assert encloses(balls.smaller(p, q), min(x_, y_)) and encloses(balls.larger(p, q), max(x_, y_))
    if x >= 0:
        lower, upper = ends(balls.sqrt(Ball.between(max(a, 0.0), b)))
        assert lower <= 0 or lower**2 <= x_
        assert upper**2 >= x_


@given(st.floats(1e-6, 1e6))
def test_functions_enclose_the_value_at_higher_precision(x):
    with precision(64), mpmath.workprec(300):
        ball = Ball.exact(x)
        third = Fraction(1, 3)
        for got, want in [
            (balls.sqrt(ball), mpmath.sqrt(x)),
            (balls.log(ball), mpmath.log(x)),
            (balls.exp(-ball / 1000), mpmath.exp(mpmath.mpf(-x) / 1000)),
            (ball**0.5, mpmath.sqrt(x)),
            (ball**1.5, mpmath.mpf(x) ** 1.5),
            (ball**-0.5, 1 / mpmath.sqrt(x)),
            (ball**third, mpmath.cbrt(x)),
            (ball**0.3, mpmath.mpf(x) ** mpmath.mpf(0.3)),
            (2 ** (ball / 1e5), mpmath.mpf(2) ** (mpmath.mpf(x) / 10**5)),
        ]:
            lower, upper = ends(got)
            assert lower <= of_mpmath(want) <= upper
            assert upper - lower <= abs(of_mpmath(want)) * Fraction(2) ** -50 + Fraction(2) ** -60


def test_numbers_enter_exactly():
    numbers = (3, 2**300 + 1, 0.1, np.float32(0.1), np.float16(0.1), np.float64(0.1), np.int64(-7), True)
    with precision(20):
        entered = [Ball.exact(number) for number in numbers]
        lower, upper = ends(Ball.exact(Fraction(1, 3)))
        assert lower < Fraction(1, 3) < upper
    with precision(400):
        for number, ball in zip(numbers, entered, strict=True):
            exact = Fraction(number.item() if isinstance(number, np.generic) else number)
            assert ends(ball) == [exact, exact]
    with pytest.raises(TypeError, match="str"):
        Ball.exact("1")
    with pytest.raises(TypeError, match=r"Ball\.exact"):
        Ball(1.0)


def test_a_decided_comparison_is_a_bool():
    third = Ball.exact(1) / 3
    assert (
        (third < 0.34) is True and (third > 0.34) is False and (third <= 1) is True and (third >= 1) is False
    )
    assert (Ball.exact(2) == 2) is True and (Ball.exact(2) != 2) is False
    assert (third == 0.5) is False and (third != 0.5) is True
    assert Ball.exact(2) >= 2 and Ball.exact(2) <= 2 and not Ball.exact(2) < 2
    assert third < 1 and third > 0.3 and np.float64(1) > third and Fraction(1, 2) > third
    assert math.inf > third and third > -math.inf and Ball.exact(math.inf) == math.inf
    assert bool(third) is True and bool(Ball.exact(0)) is False
    assert third != "a third" and third not in (None, "a third")


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x < 0,
        lambda x: x <= 0,
        lambda x: x > 0,
        lambda x: x >= 0,
        lambda x: x == 0,
        lambda x: x != 0,
        lambda x: x == x,
        lambda x: bool(x),
        lambda x: 1 / x,
        lambda x: x**-1,
        lambda x: x**-0.5,
        lambda x: x / x,
        lambda x: 0.0**x,
        lambda x: max(x, 0),
        lambda x: np.max(np.array([x, 0])),
    ],
)
def test_an_undecided_question_raises(ask):
    with pytest.raises(Undecided):
        ask(Ball.between(-1, 1))


def test_nan_decides_nothing():
    nan = Ball.exact(math.nan)
    assert nan.isnan and (nan + 1).isnan and (nan**2).isnan and balls.sqrt(nan).isnan and abs(nan).isnan
    assert (1 / nan).isnan and balls.log(nan).isnan and balls.smaller(1, nan).isnan and (nan**0.5).isnan
    assert math.isnan(nan.lower()) and math.isnan(nan.upper()) and math.isnan(nan.mid)
    assert (Ball.exact(math.inf) - math.inf).isnan
    for ask in (lambda: nan < 1, lambda: nan == nan, lambda: nan != 1):
        with pytest.raises(Undecided):
            ask()


def test_division_by_exact_zero_is_pythons_error():
    for divide in (lambda: Ball.exact(1) / 0, lambda: 1 / Ball.exact(0), lambda: Ball.exact(0) ** -1):
        with pytest.raises(ZeroDivisionError):
            divide()


def test_square_root_at_and_below_zero():
    straddling = Ball.between(-1e-30, 4)
    assert balls.sqrt(straddling).lower() == 0 and 2 <= balls.sqrt(straddling).upper() < 2 + 1e-7
    assert balls.sqrt(straddling) >= 0
    assert balls.sqrt(Ball.between(-2, -1)).isnan and (Ball.exact(-4) ** 0.5).isnan
    assert balls.sqrt(Ball.exact(0)) == 0 and balls.sqrt(Ball.exact(9)) == 3
    assert balls.sqrt(Ball.exact(math.inf)) == math.inf
    assert balls.sqrt(Ball.between(0, math.inf)).upper() == math.inf
    assert straddling**1.5 >= 0 and (straddling**1.5).upper() >= 8
    assert straddling**0.3 >= 0 and Ball.exact(0) ** 0.3 == 0 and Ball.exact(0) ** 0 == 1


def test_logarithm_at_and_below_zero():
    assert balls.log(Ball.exact(0)) == -math.inf
    assert balls.log(Ball.exact(-1)).isnan
    assert (balls.log(Ball.between(-1, 1)).lower(), balls.log(Ball.between(-1, 1)).upper()) == (
        -math.inf,
        math.inf,
    )


def test_even_powers_and_magnitudes_of_straddling_balls_are_not_negative():
    x = Ball.between(-1, 2)
    for square in (x**2, x * x, abs(x), np.array([x], dtype=object)[0] ** 2, (np.array([x]) ** 2)[0]):
        assert square >= 0
    assert 4 <= (x**2).upper() < 4.001
    assert Ball.between(-1, 1) ** 3 < 2  # arb's own power is NaN here


def test_ends_are_rounded_outward():
    third = Ball.exact(1) / 3
    assert Fraction(third.lower()) < Fraction(1, 3) < Fraction(third.upper())
    assert third.upper() - third.lower() < 1e-15 and third.mid == 1 / 3
    huge, tiny = Ball.exact(10) ** 400, Ball.exact(10) ** -400
    assert huge.lower() == 1.7976931348623157e308 and huge.upper() == math.inf
    assert tiny.lower() == 0.0 and tiny.upper() == 5e-324
    assert (Ball.exact(0.1).lower(), Ball.exact(0.1).upper()) == (0.1, 0.1)
    assert Ball.between(-1, 1).contains_zero() and not third.contains_zero()


def test_nothing_turns_a_ball_silently_into_a_float():
    two = Ball.exact(2)
    for convert in (
        lambda: float(two),
        lambda: int(two),
        lambda: math.sqrt(two),
        lambda: math.log(two),
        lambda: np.sqrt(two),
        lambda: np.exp(np.array([two])),
        lambda: np.array([two]).astype(float),
        lambda: np.asarray(two, dtype=float),
        lambda: [1, 2, 3][two],
        lambda: hash(two),
        lambda: np.linalg.inv(np.array([[two]])),
    ):
        with pytest.raises(TypeError):
            convert()


def test_numpy_object_arrays_of_balls():
    rng = np.random.default_rng(0)
    X, Y = rng.integers(-9, 9, (3, 4)) / 8, rng.integers(-9, 9, (4, 2)) / 8
    P, Q = from_array(X), from_array(Y)
    assert P.dtype == object and P.shape == X.shape

    def agrees(got, want):
        return all(entry == value for entry, value in zip(np.ravel(got), np.ravel(want), strict=True))

    assert agrees(P @ Q, X @ Y) and agrees(P @ Y, X @ Y) and agrees(X @ Q, X @ Y)
    assert agrees(P + 1, X + 1) and agrees(2 - P, 2 - X) and agrees(P * X, X * X) and agrees(P / 4, X / 4)
    assert agrees(P**2, X**2) and agrees((P**2) ** 0.5, abs(X)) and agrees(abs(P), abs(X))
    assert (
        P.sum() == X.sum()
        and agrees(P.sum(axis=0), X.sum(axis=0))
        and np.trace(P[:, :3]) == np.trace(X[:, :3])
    )
    assert agrees(np.float64(0.5) * P, X / 2) and agrees(Ball.exact(0.5) * X, X / 2)
    assert isinstance(np.float64(0.5) * P[0, 0], Ball) and isinstance(np.int64(3) + P[0, 0], Ball)
    assert np.array_equal(P > 0, X > 0)
    assert from_array(np.zeros((2, 0))).shape == (2, 0) and from_array(np.float64(3)).item() == 3


def test_precision_is_restored_and_shared_between_threads():
    before = flint.ctx.prec
    seen = []
    with pytest.raises(RuntimeError), precision(200):
        with precision(300):
            assert flint.ctx.prec == 300
        assert flint.ctx.prec == 200 and in_ball_mode()
        thread = threading.Thread(target=lambda: seen.extend([flint.ctx.prec, in_ball_mode()]))
        thread.start()
        thread.join()
        raise RuntimeError
    assert flint.ctx.prec == before and not in_ball_mode()
    assert seen == [200, False]


def test_more_bits_settle_what_few_do_not():
    def question():
        third = Ball.exact(1) / 3
        return third * 3 < 1 + Fraction(1, 10**30)

    with precision(53), pytest.raises(Undecided):
        question()
    with precision(128):
        assert question()


def test_clip_keeps_what_is_known():
    for lower, upper, want in [
        (-1, 3, (0, 1)),
        (0.25, 0.5, (0.25, 0.5)),
        (0.5, 2, (0.5, 1)),
        (-2, -1, (0, 0)),
    ]:
        clipped = Ball(balls.clip(Ball.between(lower, upper)._v, 0, 1))
        assert clipped.lower() <= want[0] and clipped.upper() >= want[1]
        assert clipped.lower() == pytest.approx(want[0], abs=1e-8) and clipped.upper() == pytest.approx(
            want[1]
        )


def test_solve_encloses_the_rational_solution():
    A = [[Fraction(1, i + j + 1) for j in range(4)] for i in range(4)]  # Hilbert's matrix
    x = [Fraction(3), Fraction(-1, 7), Fraction(2), Fraction(5, 3)]
    b = [sum(a * y for a, y in zip(row, x, strict=True)) for row in A]
    with precision(128):
        solution = solve(A, b)
        assert solution.shape == (4,) and all(encloses(s, y) for s, y in zip(solution, x, strict=True))
        assert solve(from_array(np.eye(3)), np.ones((3, 2))).shape == (3, 2)
    for singular in ([[1.0, 2.0], [2.0, 4.0]], [[Fraction(1, 3), 1], [1, 3]]):
        with pytest.raises(Undecided):
            solve(singular, [1, 1])
