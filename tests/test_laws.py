"""The exact laws behind the concentration claims, against laws that are known otherwise."""

import importlib

import numpy as np
import pytest
from scipy import special, stats

laws = importlib.import_module("hebbcheck.bounds.laws")
entries = importlib.import_module("hebbcheck.bounds.entries")
sphere = importlib.import_module("hebbcheck.bounds.sphere")


@pytest.mark.parametrize("D", [1, 2, 5, 1000])
def test_chi_square_nodes_integrate_moments(D):
    values, masses = laws.chi_square(D)
    np.testing.assert_allclose(
        [masses.sum(), masses @ values, masses @ values**2], [1, D, D * (D + 2)], rtol=1e-9
    )


@pytest.mark.parametrize(("D", "E"), [(4, 3), (6, 2), (100, 30)])
def test_equal_weights_are_one_chi_square(D, E):
    z = D + E + np.array([-2.0, 0.0, 5.0, 30.0])
    np.testing.assert_allclose(laws.two_level_tail(z, 1, D, 1, E), stats.chi2.sf(z, D + E), rtol=1e-5)


def test_a_difference_of_chi_squares_is_a_laplace_variable():
    z = np.array([0.5, 3.0, 20.0])
    np.testing.assert_allclose(laws.two_level_tail(2 * z, 1, 2, -1, 2), np.exp(-z) / 2, rtol=1e-6)


def test_lattice_sums_of_signed_exponentials():
    law = laws.Lattice.of_tail(lambda x: np.exp(-x), step=0.01, radius=2**14)
    z = np.array([1.0, 5.0, 12.0])
    above, below = law.sum_tails(3, z)
    exact = laws.two_level_tail(2 * z, 1, 6, -1, 6)
    np.testing.assert_allclose(above, exact, rtol=0.02)
    np.testing.assert_allclose(below, above, rtol=1e-6)


def test_lattice_sums_of_normal_variables():
    law = laws.Lattice.of_cdf(stats.norm.cdf, step=0.01, radius=4000)
    z = np.array([0.5, 10.0, 30.0])
    above, below = law.sum_tails(25, z)
    np.testing.assert_allclose(above, stats.norm.sf(z / 5), rtol=0.02)
    np.testing.assert_allclose(below, stats.norm.sf(z / 5), rtol=0.02)


def test_a_lattice_says_nothing_below_its_accuracy():
    law = laws.Lattice.of_cdf(stats.norm.cdf, step=0.01, radius=4000)
    assert law.sum_tails(25, np.array([60.0]))[0] == 0


def test_one_diagonal_entry_is_a_squared_product():
    exact = 2 / np.pi * special.iti0k0(np.sqrt(1 - entries.BELOW))[1]
    np.testing.assert_allclose(entries.diagonal_tail(1), exact, atol=1e-11)


def test_the_diagonal_tail_agrees_with_samples():
    rng = np.random.default_rng(0)
    means = np.mean(rng.standard_normal((2, 40_000, 8)).prod(axis=0) ** 2, axis=1)
    sampled = [np.mean(means <= 1 - t) for t in entries.BELOW]
    np.testing.assert_allclose(entries.diagonal_tail(8), sampled, atol=0.015)


@pytest.mark.parametrize("d", [2, 3, 64, 2**20])
def test_the_law_of_an_isotropic_inner_product(d):
    squares, masses = sphere._half_circle(d)
    np.testing.assert_allclose([masses @ squares, masses @ squares**2], [1 / d, 3 / (d * (d + 2))], rtol=1e-9)
    assert float(sphere.moment(2, d)) == pytest.approx(3 / (d * (d + 2)))
    assert sphere.square_mgf(0.3 * d, d) == pytest.approx(masses @ np.exp(0.3 * d * squares))


def test_both_ways_to_the_diagonal_tail_agree():
    t = np.array([0.05, 0.2, 0.4])
    law = entries._squared_product()
    np.testing.assert_allclose(law.sum_tails(64, 64 * t)[1], entries.inverted(64, t), rtol=0.05)
