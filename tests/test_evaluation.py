"""A claim on one instance: in floating point, and exactly before a violation counts."""

import math
from dataclasses import replace

import numpy as np
import pytest

import hebbcheck as hc
from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo
from hebbcheck.arrays import NUMPY, Backend, Streams
from hebbcheck.evaluation import Decision, as_computed, decide, evaluate
from hebbcheck.rounding import Excess, excess, rounding, violated

PLAIN = geo.instance(keys=[[1, 0], [0, 1], [1, 1]], values=[[1, 0], [0, 1], [1, 1]])
THIRDS = geo.instance(keys=[[1, 0], [0, 1], [1, 1]], values=np.array([[1, 0], [0, 1], [1, 1]]) / 3)


def claim(function, over=PLAIN, **more):
    return hc.claim("test.evaluation", over=over, **more)(function)


def value_of(function, over=PLAIN, constants=None, backend=NUMPY, **more):
    made = claim(function, over, **more)
    return evaluate(made, made.family.build(over.given, backend), constants)


def decision_of(function, over=PLAIN, raw=None, **more):
    made = claim(function, over, **more)
    return decide(made, raw or over.given)


# --- in floating point


@pytest.mark.parametrize(
    ("relation", "slack", "scale", "ratio"),
    [
        (hc.at_least(3, 2), 1, 3, 1 / 3),
        (hc.at_least(2, 3), -1, 3, -1 / 3),
        (hc.at_most(2, 3), 1, 3, 1 / 3),
        (hc.at_most(-4, -5), -1, 5, -0.2),
        (hc.equal(2, 2), 0, 2, 0),
        (hc.equal(2, 4), -2, 4, -0.5),
        (hc.at_least(0, 0), 0, 0, 0),
        (hc.at_least(np.array([5.0, 1, 3]), 2), -1, 2, -0.5),
        (hc.at_least(np.array([[5.0, 1]]), np.array([[4.0, 0.5]])), 0.5, 1, 0.5),
        (hc.equal(np.array([1.0, 100]), np.array([1.5, 100])), -0.5, 100, -0.005),
        (hc.at_least(np.empty((3, 0)), np.empty((3, 0))), 0, 0, 0),
        (hc.at_least([3, 4], (2, 2)), 1, 3, 1 / 3),
        (hc.at_most(True, 1), 0, 1, 0),
    ],
)
def test_slack_and_scale(relation, slack, scale, ratio):
    value = value_of(lambda x: relation)
    assert (value.slack, value.scale, value.ratio) == pytest.approx((slack, scale, ratio))
    assert value.defined and value.admissible and not value.beyond_trivial


def test_the_worst_of_several_relations_counts():
    value = value_of(lambda x: [hc.at_least(3, 2), hc.at_most(9, 5), hc.at_least(1, 0)])
    assert (value.slack, value.measured, value.bound) == (-4, 9, 5)


@pytest.mark.parametrize(
    ("relation", "defined", "slack"),
    [
        (lambda x: hc.at_least(math.inf, 1), True, math.inf),
        (lambda x: hc.at_least(-math.inf, 1), True, -math.inf),
        (lambda x: hc.at_most(math.inf, math.inf), True, 0),
        (lambda x: hc.equal(-math.inf, -math.inf), True, 0),
        (lambda x: hc.at_least(math.nan, 1), False, None),
        (lambda x: hc.at_least(1, math.nan), False, None),
        (lambda x: hc.at_least(np.array([3, math.nan]), 1), False, None),
        (lambda x: [hc.at_least(3, 1), hc.at_least(math.nan, 1)], False, None),
        (lambda x: hc.at_least(1 / 0, 1), False, None),
        (lambda x: hc.at_least(1, x.E_K / (x.F - 3)), False, None),
        (lambda x: hc.at_least(1, hc.log(-x.F)), False, None),
        (lambda x: hc.at_least(1, 10.0**400), False, None),
    ],
)
def test_infinite_and_undefined(relation, defined, slack):
    value = value_of(relation)
    assert value.defined is defined and value.admissible is defined
    assert math.isnan(value.slack) if slack is None else value.slack == slack


def test_assumptions():
    given = {"few": lambda x: x.F <= 5, "many": lambda x: x.F >= 5}
    value = value_of(lambda x: hc.at_least(1, 0), given=given)
    assert value.met == {"few": True, "many": False} and value.defined and not value.admissible
    undefined = value_of(lambda x: hc.at_least(1, 0), given={"bad": lambda x: 1 / (x.F - 3) > 0})
    assert not undefined.defined


def test_an_unmet_assumption_keeps_the_relation_from_being_computed():
    def fails(x):
        raise RuntimeError("not here")

    assert not value_of(fails, given={"never": lambda x: False}).admissible


@pytest.mark.parametrize(
    ("relation", "beyond"),
    [
        (hc.at_most(0.5, 1, trivial=1), True),
        (hc.at_most(0.5, 0.9, trivial=1), False),
        (hc.at_least(0.5, -0.1, trivial=0), True),
        (hc.at_least(0.5, 0.1, trivial=0), False),
        (hc.at_most(0.5, 2), False),
    ],
)
def test_beyond_trivial(relation, beyond):
    assert value_of(lambda x: relation).beyond_trivial is beyond


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        (lambda x: hc.at_least(None, 1), "a NoneType"),
        (lambda x: hc.at_least("1.0", 1), "a str"),
        (lambda x: hc.at_least(1, 2j), "a complex"),
        (lambda x: hc.at_least([1, None], 1), "a list"),
        (lambda x: hc.at_least({}, 1), "a dict"),
        (lambda x: hc.equal(x.margins, x.K), "shapes"),
        (lambda x: hc.at_least(np.ones(3), np.ones((3, 1))), "shapes"),
        (lambda x: [hc.equal(hc.mean(np.ones(3)), 1), hc.at_least(1, 0)], "mixes hc.mean"),
        (lambda x: hc.at_least(x.gama_min, 0), "did you mean"),
        (lambda x: None, "returned nothing"),
    ],
)
def test_sides_that_are_no_numbers(relation, said):
    with pytest.raises(HebbcheckError, match=said) as error:
        value_of(relation)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["strict", "torch", "jax"])
def test_sides_on_other_backends(name, monkeypatch):
    pytest.importorskip({"strict": "array_api_strict"}.get(name, name))
    monkeypatch.setattr("hebbcheck.arrays.COMPILED", 0)

    def relations(x):
        return [hc.equal(x.margins, x.signal + x.crosstalk), hc.at_least([x.K[0, 0]], 0)]

    value = value_of(relations, backend=Backend(name, dtype="float32"))
    assert value.defined and abs(value.slack) < 1e-6


# --- exactly


@pytest.mark.parametrize(
    ("function", "decision"),
    [
        (lambda x: hc.equal(x.margins, x.signal + x.crosstalk), Decision.HOLDS),
        (lambda x: hc.equal(x.margins, x.signal + 1), Decision.VIOLATED),
        (lambda x: hc.at_least(x.K_diag_max, 4), Decision.HOLDS),  # attained: 4 >= 4
        (lambda x: hc.at_least(x.K_diag_max, 4 + 2.0**-50), Decision.VIOLATED),
        (lambda x: hc.at_most(x.E_K, 1), Decision.VIOLATED),
        (lambda x: hc.at_most(x.kappa, 1), Decision.HOLDS),
        (
            lambda x: hc.equal(hc.sqrt(x.E_K) ** 2, x.E_K),
            Decision.HOLDS,
        ),  # all that an equality of balls can show
        (
            lambda x: hc.at_most(hc.sqrt(x.E_K) ** 2, x.E_K),
            Decision.UNDECIDED,
        ),  # attained, through a square root
        (lambda x: [hc.at_most(hc.sqrt(x.E_K) ** 2, x.E_K), hc.at_most(x.E_K, 1)], Decision.VIOLATED),
        (lambda x: hc.at_least(1, 1 / (x.F - 3)), Decision.UNMET),
        (lambda x: hc.at_least(x.gamma_min, math.sqrt(x.F)), Decision.FLOAT_ONLY),
        (lambda x: hc.at_least(float(np.linalg.norm(x.K)), 9), Decision.FLOAT_ONLY),
        (lambda x: hc.at_least(hc.sqrt(x.E_K), 9), Decision.VIOLATED),
        (lambda x: hc.at_least(x.no_such, 9), Decision.FLOAT_ONLY),
        (
            lambda x: hc.at_most(hc.sum(x.K**2), hc.max(x.K) * 100 + hc.exp(1) * hc.log(x.F) - hc.trace(x.K)),
            Decision.HOLDS,
        ),
        (lambda x: hc.at_least(math.inf, x.F), Decision.HOLDS),
        (lambda x: hc.at_least(np.empty((2, 0)), np.empty((2, 0))), Decision.HOLDS),
    ],
)
def test_decisions(function, decision):
    assert decision_of(function) is decision


def test_a_difference_below_the_first_precision_is_still_decided():
    tiny = 2.0**-300
    assert decision_of(lambda x: hc.at_least(x.E_K, x.E_K + tiny)) is Decision.VIOLATED
    assert decision_of(lambda x: hc.at_least(x.E_K + tiny, x.E_K)) is Decision.HOLDS


def test_assumptions_are_decided_exactly_too():
    on_the_edge = {"V_min >= 0": lambda x: x.V_min >= 0}
    assert (
        decision_of(lambda x: hc.at_least(0, 1), given=on_the_edge) is Decision.VIOLATED
    )  # V_min is exactly 0
    just_below = {"V_min > 0": lambda x: x.V_min > 0}
    assert decision_of(lambda x: hc.at_least(0, 1), given=just_below) is Decision.UNMET
    unclear = {"E_K <= 2": lambda x: hc.sqrt(x.E_K) ** 2 <= 2}
    assert decision_of(lambda x: hc.at_least(0, 1), given=unclear) is Decision.UNDECIDED


def test_a_family_that_floats_cannot_hold_is_judged_in_floating_point():
    family = geo.facts(keys=geo.tight_frame, memory="quadratic", F=6, d=2)
    made = claim(lambda x: hc.equal(hc.sum(x.K), 6**2 / 2), over=family)  # F^2 / d for a tight frame
    raw = family.raw({"F": 6, "d": 2, "m": 1, "delta": 0.1}, Streams(0))
    assert decide(made, raw) is Decision.FLOAT_ONLY
    value = evaluate(made, family.build(raw))
    assert violated(made, raw, value, {}, NUMPY) == (False, False)


def test_true_but_only_up_to_rounding():
    """Rounding breaks an identity in floating point; exactly it holds; a false one does not."""

    def almost(x):
        return hc.equal(x.gamma_min * 3 - x.gamma_min * 2, x.gamma_min)

    value = value_of(almost, THIRDS)
    made = claim(almost, THIRDS)
    assert violated(made, THIRDS.given, replace(value, slack=-1e-17), {}, NUMPY) == (False, True)
    wrong = claim(lambda x: hc.equal(x.gamma_min * 3 - x.gamma_min * 2, x.gamma_min + 1e-18), THIRDS)
    assert violated(wrong, THIRDS.given, value, {}, NUMPY) == (True, True)


def test_functions_that_balls_cannot_enter_are_compared_with_rounding():
    def norm(x):
        return float(np.linalg.norm(np.asarray(x.values) @ np.ones(2)))

    true = claim(lambda x: hc.equal(norm(x) ** 2, norm(x) * norm(x) * (1 + 1e-15)), THIRDS)
    false = claim(lambda x: hc.equal(norm(x) ** 2, norm(x) ** 2 * (1 + 1e-9)), THIRDS)
    for made, broken in ((true, False), (false, True)):
        value = evaluate(made, THIRDS.build(THIRDS.given))
        assert value.slack < 0
        assert violated(made, THIRDS.given, value, {}, NUMPY) == (broken, False)
        assert (excess(made, THIRDS.given, value, {}, NUMPY) >= Excess.BEYOND) is broken


def test_rounding_measures_the_effect_of_moves_of_a_thousand_ulps():
    def effect(made, backend=NUMPY, decided=(0.0, math.inf)):
        value = evaluate(made, THIRDS.build(THIRDS.given, backend))
        return rounding(made, THIRDS.given, value, {}, backend, decided)

    made = claim(lambda x: hc.at_least(x.values[0, 0] * 1e6, 0), THIRDS)
    assert 0 < effect(made) <= 1e6 * 1e3 * 2.0**-52
    assert 1e8 < effect(made, Backend(dtype="float32")) / effect(made) < 1e10
    assert 0 < effect(made, decided=(1.0, math.inf)) < effect(made)  # the first move alone
    assert effect(claim(lambda x: hc.at_least(float(x.map[1]), 0), THIRDS)) == 0  # a map is not moved


def test_inputs_are_decided_on_as_the_backend_holds_them():
    single = as_computed(THIRDS.given, Backend(dtype="float32"))
    assert single.arrays["values"].dtype == np.float64
    np.testing.assert_array_equal(single.arrays["values"], THIRDS.given.arrays["values"].astype(np.float32))
    assert as_computed(THIRDS.given, NUMPY) is THIRDS.given
    third = float(np.float32(1 / 3))
    made = claim(lambda x: hc.equal(x.values[0, 0], third), THIRDS)
    assert decide(made, single) is Decision.HOLDS and decide(made, THIRDS.given) is Decision.VIOLATED


def test_constants_reach_relations_and_assumptions():
    def bounded(x, *, C):
        return hc.at_most(x.E_K, C)

    made = hc.claim("test.constants", over=PLAIN, given={"C": lambda x, C: C > 1.5})(bounded)
    x = PLAIN.build(PLAIN.given)
    assert (
        evaluate(made, x, {"C": 3.0}).slack == pytest.approx(1)
        and not evaluate(made, x, {"C": 1.0}).admissible
    )
    assert decide(made, PLAIN.given, {"C": 1.75}) is Decision.VIOLATED
    assert decide(made, PLAIN.given, {"C": 2.0}) is Decision.HOLDS
