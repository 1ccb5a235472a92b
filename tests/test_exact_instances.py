"""Instances in ball arithmetic: they enclose, and agree with floating point as far as its conditioning allows."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.exact import rational
from hebbcheck.exact.balls import Ball, Undecided, precision
from hebbcheck.exact.enclosures import operator_norm, pseudoinverse_of_gram
from hebbcheck.exact.instances import ExactInstance, as_fractions

ATTRIBUTES = (
    *(
        "L",
        "keys",
        "values",
        "K",
        "trace",
        "diag_sq_sum",
        "margins",
        "gamma_min",
        "signal",
        "crosstalk",
        "d",
        "m",
    ),
    *(
        "signal_absorbed",
        "crosstalk_absorbed",
        "s_min",
        "z_max",
        "K_diag_min",
        "K_diag_max",
        "K_op",
        "K_off_max",
        "V_min",
    ),
    *(
        "V_max",
        "E_K",
        "E_K_tilde",
        "E_K_centered",
        "E_v",
        "E_v_tilde",
        "kappa",
        "kappa_tilde",
        "kappa_centered",
    ),
    *("kappa_eff", "B_Y", "L_v", "mu", "sigma2", "P_key", "P_val", "P_align", "S_sig", "A", "G", "B", "Phi"),
    *("eps", "noise", "queries", "margins_noisy", "L_K", "F", "delta"),
)
MARGINS = (
    *("margins", "signal", "crosstalk", "signal_absorbed", "crosstalk_absorbed", "margins_noisy"),
    *("s_min", "z_max", "gamma_min"),
)
"""Sums of terms as large as K |v|^2, to whose size their rounding is relative."""
FAMILIES = {
    "anything": geo.facts(
        keys=geo.anything, values=geo.anything, mapping="any", noise=0.5, F=(1, 6), m=(1, 5)
    ),
    "sphere": geo.facts(noise=0.5, F=(3, 6), m=(1, 5)),
    "quadratic": geo.facts(keys=geo.anything, memory="quadratic", noise=0.5, F=(1, 6)),
    "diagonal": geo.facts(keys=geo.anything, memory="diagonal", noise=0.5, F=(1, 6), m=(1, 5)),
}


def read(x, name):
    """(lower ends, upper ends) of an attribute; None where it is undefined or the memory lacks it."""
    try:
        value = getattr(x, name)
    except (ZeroDivisionError, HebbcheckError):
        return None
    entries = np.ravel(np.asarray(value, dtype=object)).tolist()
    lower = [e.lower() if isinstance(e, Ball) else float(e) for e in entries]
    upper = [e.upper() if isinstance(e, Ball) else float(e) for e in entries]
    return np.array([lower, upper])


def middle(x, name):
    ends = read(x, name)
    return None if ends is None else ends.mean(axis=0)


def shaken(raw, rng):
    arrays = {
        n: a * (1 + 2.0**-52 * rng.choice((-1, 1), a.shape)) if a.dtype.kind == "f" else a
        for n, a in raw.arrays.items()
    }
    return replace(raw, arrays=arrays)


def noise_alone(exact, name):
    """Whether a centred column is smaller than what rounding makes of K - mu, so that its direction is noise."""
    return (
        name in ("kappa_centered", "kappa_eff")
        and 0 < exact.E_K_centered.mid < 1e-24 * exact.K_diag_max.mid**2
    )


def check_agreement(family, raw):
    """The float differs from the exact value by no more than some thousand ulps in the inputs would make."""
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        floats = family.build(raw)
        found = {name: middle(floats, name) for name in ATTRIBUTES}
        squares = np.max(np.sum(floats.values**2, axis=1))
        terms = floats.F * np.max(np.abs(floats.K)) * squares
        sizes = {
            **dict.fromkeys(MARGINS, terms),
            "V_min": squares,
            "V_max": squares,
            "E_v_tilde": floats.F * squares**2,
        }
    with precision(256):
        exact = family.build_exactly(raw)
        moved = [family.build_exactly(shaken(raw, rng)) for _ in range(3)]
        for name in ATTRIBUTES:
            got, value = found[name], middle(exact, name)
            if got is None or value is None or np.any(np.isnan(value)) or noise_alone(exact, name):
                continue
            finite = np.isfinite(value)
            shifts = [value, *(middle(m, name) for m in moved)]
            shift = np.max(
                [
                    np.abs(np.subtract(s, value, where=finite, out=np.zeros_like(value)))
                    for s in shifts
                    if s is not None
                ],
                axis=0,
            )
            np.testing.assert_array_equal(got[~finite], value[~finite], err_msg=name)
            size = sizes.get(name, np.max(np.abs(value[finite]), initial=0))
            allowed = 1e4 * shift[finite] + 1e-12 * np.abs(value[finite]) + 1e-14 * size
            wrong = np.abs(got[finite] - value[finite]) > allowed
            assert not np.any(wrong), (name, got, value, shift)


@pytest.mark.parametrize("name", FAMILIES)
def test_floats_agree_on_awkward_instances(name):
    @settings(max_examples=40)
    @given(FAMILIES[name].strategy())
    def check(raw):
        check_agreement(FAMILIES[name], raw)

    check()


@pytest.mark.parametrize("name", FAMILIES)
def test_balls_of_any_precision_hold_what_higher_precision_finds(name):
    @settings(max_examples=12)
    @given(FAMILIES[name].strategy())
    def check(raw):
        with precision(400):
            fine = FAMILIES[name].build_exactly(raw)
            known = {a: read(fine, a) for a in ATTRIBUTES}
        with precision(70):
            coarse = FAMILIES[name].build_exactly(raw)
            for attribute, ends in known.items():
                wide = read(coarse, attribute)
                if ends is not None and wide is not None and not np.any(np.isnan([ends, wide])):
                    assert np.all(wide[0] <= ends[1]) and np.all(ends[0] <= wide[1]), attribute

    check()


def test_the_data_dependent_memory_agrees_from_its_fitted_factors_on():
    family = geo.facts(memory="data_dependent", noise=0.25, keys=geo.gaussian)
    raw = family.raw({"F": 7, "m": 4, "d": 3, "delta": 0.1, "eps": 0.25}, Streams("fit"))
    floats, names = family.build(raw), ("gamma_min", "E_K", "trace", "kappa", "L_K", "margins_noisy")
    found = [middle(floats, name) for name in names]
    doubled = floats.replace(keys=2 * floats.keys).E_K  # the fit is of the new keys
    with precision(256):
        exact = family.build_exactly(raw)
        for name, value in zip(names, found, strict=True):
            np.testing.assert_allclose(value, middle(exact, name), rtol=1e-8, err_msg=name)
        np.testing.assert_allclose(doubled, middle(exact.replace(keys=exact.keys * 2), "E_K"), rtol=1e-8)


def test_whitened_agrees_and_says_where_the_rank_cannot_be_told():
    family = geo.facts(memory="whitened", noise=0.25, keys=geo.gaussian)
    for numbers in ({"F": 7, "m": 4}, {"F": 4, "m": 7}):
        raw = family.raw({"d": 3, "delta": 0.1, "eps": 0.25, **numbers}, Streams("w", numbers["F"]))
        check_agreement(family, raw)
    unit = geo.facts(memory="whitened", d=2)  # quadratic features of the plane have rank 3
    raw = unit.raw({"F": 6, "d": 2, "m": 5, "delta": 0.1}, Streams("w"))
    with precision(128), pytest.raises(Undecided):
        _ = unit.build_exactly(raw).gamma_min
    rational_keys = geo.facts(memory="whitened", keys=geo.anything, d=2)
    raw = rational_keys.raw({"F": 6, "d": 2, "m": 5, "delta": 0.1}, Streams("w"), "keys: uniform")
    with precision(128):
        assert rational_keys.build_exactly(raw).trace == 3


def test_what_claims_see_is_a_ball_that_cannot_become_a_float_unnoticed():
    family = FAMILIES["anything"]
    raw = family.raw({"F": 3, "d": 2, "m": 2, "delta": 0.1, "eps": 0.5}, Streams(0), family.choices[0])
    with precision(128):
        x = family.build_exactly(raw)
        for name in ATTRIBUTES:
            for entry in np.ravel(np.asarray(getattr(x, name), dtype=object)).tolist():
                assert isinstance(entry, Ball), name
        with pytest.raises(TypeError):
            math.sqrt(x.E_K)


def test_rational_statistics_are_computed_without_rounding():
    family = geo.instance(
        keys=[[1, 0], [0, 1], [1, 1]], values=[[1, 0], [0, 2], [1, 1]], A=[[1, 1]] * 3, G=[[0, 1]] * 3
    )
    with precision(53):
        x = family.build_exactly(family.given)
        assert Fraction(4) == x._definitions.E_K  # phi = 0, 1, 2 three times over sqrt 3
        assert isinstance(x._definitions.gamma_min, Fraction)
        assert x.K[1, 1] == 1 and x.K[2, 2] == 4


def test_unit_keys_have_a_rational_gram_matrix():
    family = geo.facts(memory="quadratic")
    raw = family.raw({"F": 3, "d": 2, "m": 1, "delta": 0.1}, Streams(1))
    with precision(64):
        x = family.build_exactly(raw)
        assert all(isinstance(entry, Fraction) for entry in x._gram.ravel())
        assert [x.K[i, i] == 1 for i in range(3)] == [True] * 3
        assert abs(x.keys[0] @ x.keys[0] - 1).upper() < 1e-17


def test_equal_unit_rows_are_the_same_balls():
    rows = np.array([[3.0, 4.0], [1.0, 2.0], [3.0, 4.0], [-0.0, 1.0], [0.0, 1.0]])
    raw = replace(
        geo.instance(keys=rows, values=rows).given, unit=frozenset({"values", "keys"}), memory="quadratic"
    )
    with precision(64):
        x = ExactInstance(raw)
        assert all(a is b for a, b in zip(x._values[0], x._values[2], strict=True))
        assert all(a is b for a, b in zip(x._values[3], x._values[4], strict=True))
        assert x._values[0, 0] is not x._values[1, 0]


def test_a_zero_row_cannot_be_a_unit_vector():
    family = geo.instance(keys=np.zeros((2, 2)), values=np.eye(2))
    raw = replace(family.given, unit=frozenset({"keys"}))
    with precision(64):
        for name in ("K", "keys"):
            with pytest.raises(HebbcheckError, match="norm 0"):
                getattr(ExactInstance(raw), name)


def test_the_same_draw_changed():
    family = geo.facts(keys=geo.anything, values=geo.anything, noise=0.5)
    numbers = {"F": 4, "d": 3, "m": 3, "delta": 0.1, "eps": 0.5}
    raw = family.raw(numbers, Streams(3), "keys: uniform, values: clusters")
    floats = family.build(raw)
    changes = [{"memory": "quadratic"}, {"m": 2}, {"m": 6}, {"memory": "quadratic", "m": 9}]
    found = [floats.replace(**change).E_K for change in changes]
    thirds = floats.replace(keys=floats.keys / 3, memory="quadratic").gamma_min
    stored = floats.stores_all
    with precision(128):
        x = family.build_exactly(raw)
        for change, E_K in zip(changes, found, strict=True):
            assert x.replace(**change).E_K.mid == pytest.approx(E_K, rel=1e-10)
        half = x.replace(keys=x.keys / 2)
        assert (half.K[0, 0] - x.K[0, 0] / 16).contains_zero()
        assert half.replace(memory="quadratic").keys[0, 0] == x.keys[0, 0] / 2
        third = x.replace(keys=x.keys / 3, memory="quadratic")  # balls of positive radius
        assert third.gamma_min.mid == pytest.approx(thirds)
        assert x.stores_all == stored


def test_kernels_and_preconditioned_kernels():
    for family in (geo.kernels(), geo.preconditioned()):
        raw = family.raw({"F": 4, "m": 3}, Streams(0), "clusters")
        floats = family.build(raw)
        names = ["E_K", "trace", "diag_sq_sum", "K_off_max", "K_diag_min", "K_diag_max", "K", "Phi"]
        names += ["K_M", "Sigma", "K_white", "rank"] if family.name == "preconditioned" else []
        found = {name: np.ravel(getattr(floats, name)) for name in names}
        with precision(128):
            x = family.build_exactly(raw)
            for name in names:
                np.testing.assert_allclose(middle(x, name), found[name], rtol=1e-12, err_msg=name)
        assert floats.extrema["E_K"].value == pytest.approx(
            max((floats.K**2).sum(0) - floats.K.diagonal() ** 2)
        )


@pytest.mark.parametrize("gate", ["identity", "relu", "cube"])
def test_mlps_are_rational(gate):
    family = geo.mlps(gate=gate)
    raw = family.raw({"F": 5, "d": 2, "m": 2}, Streams(gate), gate)
    floats = family.build(raw)
    with precision(128):
        x = family.build_exactly(raw)
        assert x.rank == floats.rank
        for name in ("inputs", "queries", "A", "G", "B"):
            np.testing.assert_array_equal(middle(x, name), np.ravel(getattr(floats, name)))
        assert x.spans(x.inputs) and x.spans(x.queries) == floats.spans(floats.queries)
        for use in ("phi", "mlp", "kernel", "hebbian"):
            got, exact = getattr(floats, use)(floats.queries), getattr(x, use)(x.queries)
            np.testing.assert_allclose(got, np.vectorize(lambda b: b.mid)(exact), rtol=1e-6, atol=1e-9)
        if x.rank == x.m:
            difference = x.hebbian(x.queries) - x.mlp(x.queries)
            assert max(abs(b.mid) for b in difference.ravel()) < 1e-30
        thirds = x.mlp(x.queries / 3)  # not exact, so computed in balls
        np.testing.assert_allclose(
            np.vectorize(lambda b: b.mid)(thirds), floats.mlp(floats.queries / 3), rtol=1e-9, atol=1e-12
        )


# --- linear algebra with a proof


def test_operator_norms_are_enclosed():
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        S = rng.standard_normal((d, d))
        S = S + S.T
        with precision(128):
            ball = operator_norm(rational.from_array(S))
            wider = operator_norm(
                np.vectorize(lambda v: Ball.between(v - 1e-6, v + 1e-6), otypes=[object])(S)
            )
        norm = np.abs(np.linalg.eigvalsh(S)).max()
        assert ball.lower() <= norm * (1 + 1e-15) and norm * (1 - 1e-15) <= ball.upper()
        assert ball.upper() - ball.lower() < 1e-12 * norm
        assert wider.lower() < norm - 1e-7 and norm + 1e-7 < wider.upper()
    with precision(128):
        near_identity = [[Ball.between(v - 1e-3, v + 1e-3) for v in row] for row in np.eye(2)]
        assert (
            operator_norm(np.array(near_identity, dtype=object)).upper() >= 1.002
        )  # that of 1.001 + 0.001 J
    known = rational.from_array(np.array([[0.0, 2.0], [2.0, 0.0]]))
    with precision(128):
        assert operator_norm(known).lower() <= 2 <= operator_norm(known).upper()
        assert operator_norm(rational.from_array(np.zeros((2, 2)))).upper() < 1e-30


def test_pseudoinverses_of_gram_matrices():
    rng = np.random.default_rng(1)
    for shape in ((5, 3), (3, 5)):
        P = rng.integers(-3, 4, shape).astype(float)
        with precision(128):
            exact = pseudoinverse_of_gram(rational.from_array(P))
            balls = pseudoinverse_of_gram(np.vectorize(Ball.exact, otypes=[object])(P))
            np.testing.assert_allclose(exact.astype(float), np.linalg.pinv(P.T @ P), atol=1e-10)
            assert all((b - e).contains_zero() for b, e in zip(balls.ravel(), exact.ravel(), strict=True))


def test_exact_balls_become_fractions_again():
    with precision(64):
        array = np.array(
            [Ball.exact(0.375), Ball.exact(-3), Ball.exact(5e-324), Ball.exact(1) / 3], dtype=object
        )
        back = as_fractions(array)
    assert back[0] == Fraction(3, 8) and back[1] == -3 and back[2] == Fraction(1, 2**1074)
    assert isinstance(back[3], Ball)
