"""The data-dependent construction's solves, against equations and brute force."""

import importlib

import numpy as np
import pytest

dd = importlib.import_module("hebbcheck.bounds.data_dependent")


def drawn(n=7, d=3, m=4, outputs=2, seed=0):
    rng = np.random.default_rng(seed)
    keys, codes = rng.standard_normal((n, d)), rng.standard_normal((n, outputs))
    return codes, keys, rng.standard_normal((m, d)), rng.standard_normal((m, d))


def test_features_and_readout_entry_by_entry():
    codes, keys, A, G = drawn()
    Phi = dd.features(keys, A, G)
    B = dd.raw_readout(codes, Phi)
    assert Phi[2, 1] == pytest.approx((keys[2] @ A[1]) * (keys[2] @ G[1]))
    assert B[1, 3] == pytest.approx(sum(codes[i, 1] * Phi[i, 3] for i in range(7)) / 7)


def test_no_step_from_the_best_factor_lowers_the_objective():
    codes, keys, A, G = drawn()
    B = dd.raw_readout(codes, dd.features(keys, A, G))
    best = dd.best_factor(codes, keys, A, B)
    least = dd.objective(codes, keys, A, best, B)
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-1, 1.0):
        assert least <= dd.objective(codes, keys, A, best + size * rng.standard_normal(best.shape), B)
    # the features are symmetric in their factors
    np.testing.assert_allclose(dd.objective(codes, keys, best, A, B), least)


def test_what_is_left_of_an_ill_conditioned_solve_is_rounding():
    """Keys and codes that nearly agree: the first factor is huge, and so are the entries of the second system."""
    judged = 0
    for seed in range(300):
        codes, keys, A, _ = drawn(n=2, d=2, m=2, seed=seed)
        keys[1], codes[1] = keys[0] + keys[1] / 10, codes[0] + codes[1] / 10
        B = dd.raw_readout(codes, dd.features(keys, A, A))
        held = dd.best_factor(codes, keys, A, B)
        if not all(dd.has_a_clear_rank(dd.factor_system(keys, factor, B)) for factor in (A, held)):
            continue
        judged += 1
        best = dd.best_factor(codes, keys, held, B)
        rest = codes - dd.features(keys, best, held) @ B.T
        products = (np.abs(keys) @ np.abs(held).T) * (np.abs(keys) @ np.abs(best).T) @ np.abs(B).T
        assert np.max(np.abs(rest)) <= 2 * np.finfo(float).eps * np.max(products)
    assert judged > 100


@pytest.mark.parametrize(
    ("smallest", "clear"), [(1.0, True), (1e-5, True), (1e-8, False), (1e-11, False), (0.0, True)]
)
def test_a_rank_is_clear_where_no_singular_value_is_near_the_cut(smallest, clear):
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    assert dd.has_a_clear_rank(turn @ np.diag([7.0, 3.0, 7 * smallest])) is clear


@pytest.mark.parametrize("m", [3, 12])
def test_the_ridge_readout_is_equation_13(m):
    codes, keys, A, G = drawn(m=m)
    Phi = dd.features(keys, A, G)
    want = dd.raw_readout(codes, Phi) @ np.linalg.inv(Phi.T @ Phi / 7 + 0.1 * np.eye(m))
    np.testing.assert_allclose(dd.ridge_readout(codes, Phi, 0.1), want)
