"""The forecast of a width from keys and values."""

import numpy as np
import pytest

from hebbcheck import HebbcheckError, capacity
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams, stream
from hebbcheck.forecast import moments, start, unwhitened_width
from hebbcheck.memories.construction import fact_table


def facts(F, d, seed, shape=geo.sphere):
    streams = Streams("forecast", seed)
    keys, values = (shape.sample(streams, purpose, F, d) for purpose in ("keys", "values"))
    return keys, values, streams("map").permutation(F)


def test_moments_are_those_of_margins_over_random_features():
    keys, values, f = facts(6, 4, 0, geo.gaussian)
    rng, m = stream("moments"), 400_000
    A, G = rng.standard_normal((2, m, 4))
    Phi = (keys @ A.T) * (keys @ G.T)
    gamma, variance = moments(keys, values, f)
    for i in range(6):
        for j in range(6):
            terms = Phi[i] * ((values[f[i]] - values[j]) @ values[f].T @ Phi)
            deviation = np.sqrt(variance[i, j])
            assert abs(terms.mean() - gamma[i, j]) <= 5 * deviation / np.sqrt(m) + 1e-12
            assert terms.var() == pytest.approx(variance[i, j], rel=0.2, abs=1e-12)


def test_forecasts_are_near_the_widths_that_a_search_finds():
    logs = []
    for seed, F in ((0, 96), (1, 96), (0, 192), (1, 192)):
        keys, values, f = facts(F, 48, seed)
        found = capacity.of("bilinear", keys, values, f, seed=seed, widest=16384).width
        logs.append(np.log(unwhitened_width(keys, values, f) / found))
    assert abs(np.mean(logs)) < 0.5 and np.max(np.abs(logs)) < 1


def test_no_width_is_forecast_where_the_exact_kernel_fails():
    keys, values, f = facts(200, 8, 0)
    assert unwhitened_width(keys, values, f) == np.inf
    assert unwhitened_width(np.eye(3), np.eye(3)) == 1.0
    assert unwhitened_width(np.eye(3), np.ones((3, 3)), [0, 1, 2]) == np.inf


def test_one_pair_of_equal_values_is_stored_at_no_width():
    keys, values, f = facts(64, 32, 0)
    assert unwhitened_width(keys, values, f) < np.inf
    values[1] = values[0]
    assert unwhitened_width(keys, values, f) == np.inf


@pytest.mark.parametrize("failing", [-1, np.nan, np.inf, "five", True])
def test_a_number_of_failing_pairs_is_checked(failing):
    with pytest.raises(HebbcheckError, match="failing="):
        unwhitened_width(np.eye(3), np.eye(3), failing=failing)


@pytest.mark.parametrize("name", ["bilinear", "data_dependent", "gd"])
def test_a_search_starts_near_the_width_that_it_finds(name):
    options = {"steps": 1500, "learning_rate": 0.01} if name == "gd" else {}
    keys, values, f = facts(48, 24, 3)
    found = capacity.of(name, keys, values, f, seed=1, widest=2000, **options)
    assert found.width / 2.5 <= start(name, fact_table(keys, values, f)) <= 2.5 * found.width


def test_a_search_of_what_no_width_stores_starts_somewhere():
    keys, values, f = facts(200, 8, 0)
    assert unwhitened_width(keys, values, f) == np.inf
    assert 1 <= start("bilinear", fact_table(keys, values, f)) < 1000
