"""Exact linear algebra over the rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hebbcheck.exact import rational

SMALL = arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.integers(-3, 3).map(float)
)


def test_floats_and_integers_are_taken_exactly():
    exact = rational.from_array(np.array([[0.1, -0.0], [2.0**-1074, 1e300]]))
    assert exact[0, 0] == Fraction(3602879701896397, 2**55) and exact[0, 1] == 0
    assert exact[1, 0] == Fraction(1, 2**1074) and exact[1, 1] == int(1e300)
    assert rational.from_array(np.array([2**62 + 1]))[0] == 2**62 + 1
    assert rational.from_array(np.float32([0.1]))[0] == Fraction(float(np.float32(0.1)))
    assert rational.from_array(np.empty((0, 3))).shape == (0, 3)
    with pytest.raises((ValueError, OverflowError)):
        rational.from_array(np.array([np.nan]))


@settings(max_examples=50)
@given(SMALL, st.data())
def test_products(A, data):
    B = data.draw(arrays(np.float64, (A.shape[1], 3), elements=st.integers(-3, 3).map(float)))
    exact = rational.product(rational.from_array(A) / 3, rational.from_array(B))
    np.testing.assert_array_equal(exact, rational.from_array(A) @ rational.from_array(B) / 3)
    assert rational.all_fractions(exact)


@settings(max_examples=80)
@given(SMALL)
def test_ranks_and_pseudoinverses(P):
    exact = rational.from_array(P)
    assert rational.rank(exact) == np.linalg.matrix_rank(P)
    S = rational.product(exact.T, exact)
    inverse = rational.pseudoinverse(S, exact.T)
    for left, right in (
        (S @ inverse @ S, S),
        (inverse @ S @ inverse, inverse),
        ((S @ inverse).T, S @ inverse),
        ((inverse @ S).T, inverse @ S),
    ):
        np.testing.assert_array_equal(left, right)


def test_a_matrix_without_columns_has_rank_zero():
    assert rational.rank(rational.from_array(np.empty((3, 0)))) == 0
