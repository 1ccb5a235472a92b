import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hebbcheck.exact.balls import Ball, from_array, precision
from hebbcheck.exact.definitions import (
    Definitions,
    bilinear_features,
    gram_of_bilinear,
    gram_of_features,
    quadratic_gram,
)

PAIRWISE = ["margins", "signal", "crosstalk", "signal_absorbed", "crosstalk_absorbed"]
WITH_ROOT = ["kappa", "kappa_tilde", "kappa_centered", "kappa_eff"]
RATIONAL = [
    *["gamma_min", "s_min", "z_max", "K_diag_min", "K_diag_max", "K_off_max", "V_min", "V_max", "E_K"],
    *["E_K_tilde", "E_K_centered", "E_v", "E_v_tilde", "B_Y", "L_v", "trace", "diag_sq_sum"],
]
SCALARS = RATIONAL + WITH_ROOT
quarters = st.integers(-8, 8).map(lambda k: Fraction(k, 4))


def fractions_of(array):
    array = np.asarray(array)
    return np.array([Fraction(x) for x in array.ravel().tolist()], dtype=object).reshape(array.shape)


def dense(K, values, mapping, mu):
    """All statistics by F x n x F arrays and masks: w[i, j, t] = <c_i - v_j, c_t>."""
    K, V, f = np.asarray(K, float), np.asarray(values, float), np.asarray(mapping)
    F, n = len(f), len(V)
    C = V[f]
    w = np.einsum("ijd,td->ijt", C[:, None, :] - V[None, :, :], C)
    i, j, t = np.ogrid[:F, :n, :F]
    pair, other = (j != f[i])[..., 0], np.broadcast_to(t != i, w.shape)
    tilde = other & (f[t] != j)
    column = np.broadcast_to(K.T[:, None, :], w.shape)
    centered = column - mu

    def rows(x):
        return np.stack([x[k][pair[k]] for k in range(F)])

    def largest(x, empty=0.0):
        return np.max(np.abs(x[pair]), initial=empty)

    def least(x):
        return np.min(x[pair], initial=np.inf)

    def total(x, where):
        return np.sum(np.where(where, x, 0), axis=2)

    def cosine(x, where):
        norms = np.sqrt(total(x**2, where)) * np.sqrt(total(w**2, where))
        return np.divide(np.abs(total(x * w, where)), norms, out=np.zeros(norms.shape), where=norms > 0)

    norm = np.sqrt(total(w**2, tilde))
    l1 = total(np.abs(w), tilde)
    effective = np.divide(np.abs(total(centered * w, tilde)), norm, out=np.zeros_like(norm), where=norm > 0)
    spread = np.divide(l1**2, norm**2, out=np.ones_like(norm), where=norm > 0)
    own, everything = np.broadcast_to(t == i, w.shape), np.ones(w.shape, bool)
    off = K[~np.eye(F, dtype=bool)]
    by_pair = {
        "margins": total(column * w, everything),
        "signal": total(column * w, own),
        "crosstalk": total(column * w, other),
        "signal_absorbed": total(column * w, ~tilde),
        "crosstalk_absorbed": total(column * w, tilde),
    }
    return {
        **{name: rows(x) for name, x in by_pair.items()},
        "gamma_min": least(by_pair["margins"]),
        "s_min": least(by_pair["signal_absorbed"]),
        "z_max": largest(by_pair["crosstalk_absorbed"]),
        "K_diag_min": K.diagonal().min(),
        "K_diag_max": K.diagonal().max(),
        "K_off_max": np.max(np.abs(off), initial=0),
        "V_min": least(np.einsum("iji->ij", w)),
        "V_max": largest(np.einsum("ijd,jd->ij", C[:, None, :] - V[None, :, :], V)),
        "E_K": np.max((K**2).sum(axis=0) - K.diagonal() ** 2),
        "E_K_tilde": largest(total(column**2, tilde)),
        "E_K_centered": largest(total(centered**2, tilde)),
        "E_v": largest(total(w**2, other)),
        "E_v_tilde": largest(norm**2),
        "kappa": largest(cosine(column, other)),
        "kappa_tilde": largest(cosine(column, tilde)),
        "kappa_centered": largest(cosine(centered, tilde)),
        "kappa_eff": largest(effective),
        "B_Y": largest(total(w, tilde)),
        "L_v": largest(spread, empty=1.0),
        "trace": np.trace(K),
        "diag_sq_sum": np.sum(K.diagonal() ** 2),
    }


@st.composite
def facts(draw):
    """Small rational facts: any map, any number of values, repeated and zero vectors likely."""
    F, n, d, m = (draw(st.integers(1, most)) for most in (6, 5, 4, 3))

    def matrix(rows):
        return [[draw(quarters) for _ in range(d)] for _ in range(rows)]

    K = gram_of_bilinear(matrix(m), matrix(m), matrix(F))
    mapping = draw(st.lists(st.integers(0, n - 1), min_size=F, max_size=F))
    return K, matrix(n), mapping


def agree(got, want, **tolerance):
    return np.asarray(got, dtype=float) == pytest.approx(np.asarray(want), **tolerance)


def contains(ball, exact):
    if isinstance(ball, float):
        return ball == exact
    return ball._v.contains(flint.fmpq(exact.numerator, exact.denominator))


@settings(max_examples=60)
@given(facts())
def test_floats_and_fractions_agree_with_the_dense_formulas(fact):
    K, values, mapping = fact
    want = dense(K, values, mapping, 1 / len(values[0]))
    exact = Definitions(K, values, mapping)
    floats = Definitions(K.astype(float).tolist(), np.array(values, dtype=float), mapping)
    for name in PAIRWISE + SCALARS:
        assert agree(getattr(exact, name), want[name], rel=1e-9, abs=1e-9)
        assert agree(getattr(floats, name), want[name], rel=1e-9, abs=1e-9)
    for name in PAIRWISE:
        assert getattr(exact, name).shape == (len(mapping), len(values) - 1)


@settings(max_examples=60)
@given(facts())
def test_balls_enclose_the_exact_statistics(fact):
    K, values, mapping = fact
    exact = Definitions(K, values, mapping)
    rooted = {name: float(getattr(exact, name)) for name in WITH_ROOT}
    with precision(100):
        shaken = [[Ball.exact(k) + Ball.between(-1e-25, 1e-25) for k in row] for row in K]
        tight = Definitions(K, from_array(np.array(values, dtype=object)), mapping)
        loose = Definitions(shaken, values, mapping)
        for name in PAIRWISE:
            numbers = getattr(exact, name).flat
            assert all(map(contains, getattr(tight, name).flat, numbers))
            assert all(map(contains, getattr(loose, name).flat, numbers))
        for name in RATIONAL:
            assert contains(getattr(tight, name), getattr(exact, name))
            assert contains(getattr(loose, name), getattr(exact, name))
        for name in WITH_ROOT:
            ball, wide, number = getattr(tight, name), getattr(loose, name), rooted[name]
            assert ball.mid == pytest.approx(number, rel=1e-14)
            assert ball.upper() - ball.lower() <= 1e-14 * ball.mid
            assert wide.lower() <= number * (1 + 1e-15) and wide.upper() >= number * (1 - 1e-15)


@settings(max_examples=60)
@given(facts())
def test_margins_decompose_exactly(fact):
    x = Definitions(*fact)
    assert np.array_equal(x.margins, x.signal + x.crosstalk)
    assert np.array_equal(x.margins, x.signal_absorbed + x.crosstalk_absorbed)
    assert all(isinstance(entry, Fraction) for entry in x.margins.flat)
    for name in ("kappa", "kappa_tilde", "kappa_centered"):
        assert 0 <= getattr(x, name) <= 1
    assert x.L_v >= 1 and x.L_v * x.E_v_tilde >= x.B_Y**2
    if x.margins.size:
        assert x.gamma_min == min(x.margins.flat)
        assert x.z_max == max(abs(z) for z in x.crosstalk_absorbed.flat)


def test_a_generic_case_of_random_floats():
    rng = np.random.default_rng(1)
    F, n, d, m = 9, 7, 4, 5
    A, G, keys, values = (rng.standard_normal((rows, d)) for rows in (m, m, F, n))
    mapping = rng.integers(0, n, F)
    K = gram_of_bilinear(A, G, keys)
    want = dense(K, values, mapping, 0.17)
    x = Definitions(K, values, mapping, mu=0.17)
    exact = Definitions(fractions_of(K), fractions_of(values), mapping, mu=Fraction(0.17))
    with precision(128):
        ball = Definitions(K, values, mapping, mu=0.17)
        for name in PAIRWISE + SCALARS:
            assert agree(getattr(x, name), want[name], rel=1e-9)
            if name not in WITH_ROOT:
                assert agree(getattr(exact, name), want[name], rel=1e-9)
        for name in SCALARS:
            result = getattr(ball, name)
            assert result.mid == pytest.approx(want[name], rel=1e-9)
            assert result.upper() - result.lower() <= 1e-14 * abs(result.mid)
            assert isinstance(getattr(x, name), float)


def test_one_fact_and_one_value():
    lonely = Definitions([[3]], [[1, 2]], [0])
    assert lonely.margins.shape == lonely.crosstalk_absorbed.shape == (1, 0)
    assert lonely.gamma_min == lonely.s_min == lonely.V_min == math.inf
    zero = ["z_max", "V_max", "K_off_max", "E_K", "E_K_tilde", "E_K_centered", "E_v", "E_v_tilde", "B_Y"]
    zero += WITH_ROOT
    assert all(getattr(lonely, name) == 0 for name in zero)
    assert lonely.L_v == 1 and lonely.trace == 3 and lonely.diag_sq_sum == 9
    with precision(64):
        ball = Definitions([[Ball.exact(3)]], [[1, 2]], [0])
        assert ball.gamma_min == math.inf and all(getattr(ball, name) == 0 for name in zero) and ball.L_v == 1
        assert isinstance(ball.z_max, Ball) and isinstance(ball.L_v, Ball) and isinstance(ball.kappa, Ball)


def test_one_fact_and_several_values():
    x = Definitions([[2]], [[1, 0], [0, 1], [3, 0]], [0])
    assert x.margins.tolist() == [[2, -4]] and x.crosstalk.tolist() == [[0, 0]]
    assert x.s_min == -4 and x.z_max == 0 and x.kappa == 0 and x.L_v == 1 and x.V_min == -2 and x.V_max == 6


def test_two_facts_attain_equality_in_every_kind():
    K, values = [[1, Fraction(1, 2)], [Fraction(1, 2), 1]], [[1, 0], [0, 1]]
    x = Definitions(K, values)
    assert x.kappa == 1 and isinstance(x.kappa, float)
    assert (x.kappa_tilde, x.E_v, x.E_v_tilde, x.z_max, x.s_min) == (0, 1, 0, 0, Fraction(1, 2))
    assert x.margins.tolist() == [[Fraction(1, 2)], [Fraction(1, 2)]]
    with precision(64):
        ball = Definitions(K, from_array(np.eye(2)))
        assert ball.kappa == 1 and ball.gamma_min == 1 - ball.kappa / 2


def test_three_facts_by_hand():
    K = [[2, 1, -1], [1, 3, 4], [-1, 4, 5]]
    x = Definitions(K, np.eye(3, dtype=int).tolist())
    assert x.margins.tolist() == [[1, 3], [2, -1], [6, 1]]
    assert x.signal.tolist() == [[2, 2], [3, 3], [5, 5]]
    assert x.signal_absorbed.tolist() == [[1, 3], [2, -1], [6, 1]] and x.z_max == 0
    assert (x.K_off_max, x.E_K, x.E_K_tilde, x.trace, x.diag_sq_sum) == (4, 17, 16, 10, 38)
    assert (x.V_min, x.V_max, x.E_v, x.E_v_tilde, x.L_v, x.B_Y) == (1, 1, 1, 0, 1, 0)
    assert x.E_K_centered == Fraction(11, 3) ** 2


def test_competitors_shared_by_several_facts_are_absorbed_together():
    K = [[1, 2, 3, 4], [2, 1, 5, 6], [3, 5, 1, 7], [4, 6, 7, 1]]
    x = Definitions(K, [[1, 0], [0, 1], [2, 2]], [0, 1, 1, 0])  # value 2 belongs to no fact
    assert x.margins.shape == (4, 2)
    assert x.signal_absorbed[0].tolist() == [1 - 2 - 3, -1]
    assert x.crosstalk_absorbed[0].tolist() == [4, -4 - 2 * 2 - 2 * 3]
    assert x.margins[0].tolist() == [0, -1 - 4 - 4 - 6]


def test_duplicate_values_have_exactly_zero_norm():
    v = [0.1, 0.7]
    K = np.array([[1.0, 0.3, 0.2], [0.3, 1.0, 0.1], [0.2, 0.1, 1.0]])
    with precision(53):
        third = from_array(K) / 3  # no kernel entry is exact
        x = Definitions(third, from_array(np.array([v, v, v])), range(3))
        assert x.kappa == 0 and x.kappa_tilde == 0 and x.kappa_eff == 0 and x.L_v == 1 and x.E_v == 0
        assert (x.margins == 0).all()


def test_orthogonality_is_recognised_where_inputs_are_exact():
    v, w = [0.1, 0.2], [-0.2, 0.1]  # 0.1 * -0.2 + 0.2 * 0.1 = 0 exactly, by symmetry
    with precision(53):
        x = Definitions(np.eye(3), from_array(np.array([v, v, w])), [0, 2, 2])
        assert x.E_v_tilde > 0 and x.kappa == 0 and x.kappa_tilde == 0


def test_a_norm_that_may_be_zero_gives_all_that_is_possible():
    with precision(64):
        noise = Ball.between(-1e-10, 1e-10)
        values = [[noise, Ball.exact(0)], [Ball.exact(0), noise], [noise, noise], [noise, noise]]
        x = Definitions(np.ones((4, 4)), values, range(4))
        for name in ("kappa", "kappa_tilde", "kappa_centered"):
            kappa = getattr(x, name)
            assert -1e-8 < kappa.lower() <= 0 and 1 <= kappa.upper() < 1 + 1e-8
        assert 1 - 1e-8 < x.L_v.lower() <= 1 and 2 <= x.L_v.upper() < 2 + 1e-8
        assert x.kappa_eff.lower() <= 0 and math.sqrt(2 * 0.5**2) <= x.kappa_eff.upper() < 0.71
        assert x.E_v.contains_zero()


def test_enclosures_of_bounded_statistics_stay_within_their_bounds():
    with precision(64):
        rough = [[Ball.between(k - 1e-3, k + 1e-3) for k in row] for row in [[1, 1], [1, 1]]]
        x = Definitions(rough, [[1, 0], [0, 1]])
        assert 1 <= x.kappa.upper() <= 1 + 1e-9 and 0.9 < x.kappa.lower() <= 1


def test_nan_is_never_hidden():
    K = [[1.0, math.nan], [math.nan, 1.0]]
    x = Definitions(K, np.eye(2))
    assert all(math.isnan(getattr(x, name)) for name in ("gamma_min", "K_off_max", "E_K", "kappa"))
    with precision(64):
        ball = Definitions(from_array(K), np.eye(2))
        assert all(getattr(ball, name).isnan for name in ("gamma_min", "K_off_max", "E_K", "kappa"))


def test_a_kernel_alone_has_the_kernels_statistics_only():
    k = Definitions([[1, 2], [2, 5]])
    assert (k.F, k.trace, k.diag_sq_sum, k.E_K) == (2, 6, 26, 4)
    assert (k.K_diag_min, k.K_diag_max, k.K_off_max) == (1, 5, 2)
    with pytest.raises(ValueError, match="only a kernel"):
        _ = k.gamma_min


def test_float_entries_become_balls_in_ball_mode():
    with precision(128):
        x = Definitions(np.array([[0.1, 0.3], [0.3, 0.2]]), np.array([[0.1, 0.2], [0.3, 0.5]]))
        exact = Definitions(fractions_of([[0.1, 0.3], [0.3, 0.2]]), fractions_of([[0.1, 0.2], [0.3, 0.5]]))
        assert isinstance(x.E_K, Ball) and contains(x.gamma_min, exact.gamma_min)
        assert isinstance(exact.gamma_min, Fraction) and isinstance(exact.kappa, Ball)


def test_extreme_exponents_stay_enclosed():
    values = [[1e300, 1e-300], [5e-324, -1e200]]
    with precision(128):
        x = Definitions(np.array([[1e-200, 1e-310], [1e-310, 1e250]]), from_array(np.array(values)))
        exact = Definitions(fractions_of([[1e-200, 1e-310], [1e-310, 1e250]]), fractions_of(values))
        assert all(contains(a, b) for a, b in zip(x.margins.flat, exact.margins.flat, strict=True))


def test_grams_agree_with_numpy_and_are_exact_over_fractions():
    rng = np.random.default_rng(2)
    m, F, d = 3, 4, 2
    A, G, keys = (rng.integers(-8, 9, (rows, d)) / 4 for rows in (m, m, F))
    gated = (keys @ A.T) * (keys @ G.T)
    Phi = bilinear_features(A, G, keys)
    assert Phi.shape == (F, m) and agree(Phi, gated / np.sqrt(m), rel=1e-14)
    assert agree(gram_of_features(Phi), gated @ gated.T / m, rel=1e-13)
    assert agree(gram_of_bilinear(A, G, keys), gated @ gated.T / m, rel=1e-13)
    assert agree(quadratic_gram(keys), (keys @ keys.T) ** 2, rel=1e-13)
    exact = [fractions_of(M) for M in (A, G, keys)]
    want = [[Fraction(sum(map(Fraction, gated[i] * gated[t]))) / m for t in range(F)] for i in range(F)]
    assert gram_of_bilinear(*exact).tolist() == want
    assert quadratic_gram(exact[2])[0, 1] == Fraction((keys[0] @ keys[1]) ** 2)
    assert agree(bilinear_features(*exact), gated / np.sqrt(m), rel=1e-14)
    with precision(100):
        for inputs in (exact, [from_array(M) for M in (A, G, keys)]):
            features = bilinear_features(*inputs)
            for i in range(F):
                for t in range(F):
                    assert contains(gram_of_features(features)[i, t], want[i][t])
        K = gram_of_bilinear(*(from_array(M) for M in (A, G, keys)))
        assert all(contains(k, exact) for k, exact in zip(K.flat, np.ravel(want), strict=True))
