"""Symbolic proofs: expressions that must vanish identically."""

import pytest
import sympy

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.claim import Claim
from hebbcheck.errors import HebbcheckError
from hebbcheck.proofs import check_proof, with_proof
from hebbcheck.verdict import Finding, Outcome

x, y = sympy.symbols("x y")
n = sympy.Symbol("n", positive=True)


def checked(proof):
    @hc.claim("proofs.claim", over=geo.kernels(), proof=proof)
    def made(k):
        return hc.at_least(k.trace, 0)

    return check_proof(made)


@pytest.mark.parametrize(
    "expression",
    [
        (x + y) ** 2 - x**2 - 2 * x * y - y**2,
        sympy.sin(x) ** 2 + sympy.cos(x) ** 2 - 1,
        sympy.exp(x + y) - sympy.exp(x) * sympy.exp(y),
        sympy.sqrt(n**2) - n,
        1 / (n + 1) - 1 / n + 1 / (n * (n + 1)),
        sympy.gamma(n + 1) - n * sympy.gamma(n),
        sympy.Matrix([[x, y]]) * sympy.Matrix([y, -x]),
        sympy.Integer(0),
        0,
    ],
)
def test_what_vanishes(expression):
    [step] = checked([expression])
    assert step.vanishes and step.name == "step 1"
    assert step.as_dict() == {
        "name": "step 1",
        "expression": str(sympy.sympify(expression)),
        "vanishes": "yes",
    }


@pytest.mark.parametrize(
    "expression",
    [x - y, x**2 - 1, sympy.sqrt(x**2) - x, sympy.Matrix([[0, x]]), sympy.Eq(x, x), sympy.true, 1, sympy.nan],
)
def test_what_does_not(expression):
    [step] = checked([expression])
    assert not step.vanishes and step.as_dict()["vanishes"] == "no"


def test_steps_have_names():
    steps = checked(
        lambda: [("first", x - x), x - y, ("third", sympy.expand((x - y) * (x + y)) - x**2 + y**2)]
    )
    assert [(s.name, s.vanishes) for s in steps] == [("first", True), ("step 2", False), ("third", True)]


def test_a_single_expression_is_a_proof():
    assert [s.vanishes for s in checked(lambda: x - x)] == [True]
    assert [s.name for s in checked(lambda: ("alone", x - x))] == ["alone"]


def test_no_proof():
    assert checked(None) is None


@pytest.mark.parametrize(
    ("proof", "message"),
    [
        (lambda: [], "has no step"),
        (lambda: [("broken", "x +")], "no sympy expression"),
        (lambda: [object()], "no sympy expression"),
        (lambda: [("too", x, y)], "'too' that is no sympy expression"),
        (lambda: None, "no sympy expression"),
    ],
)
def test_what_is_no_proof(proof, message):
    with pytest.raises(HebbcheckError, match=message):
        checked(proof)


@pytest.mark.parametrize(("step", "outcome"), [(0, "supported"), (x, "inconclusive")])
def test_judges_without_proofs_of_their_own_take_them_too(step, outcome):
    made = Claim("proofs.other", lambda x: True, geo.kernels(), proof=[("the step", step)])
    finding = with_proof(made, Finding(Outcome.SUPPORTED, "Measured."))
    assert finding.outcome == outcome and finding.proof[0]["name"] == "the step"
    refuted = with_proof(made, Finding(Outcome.REFUTED, "Measured."))
    assert refuted.outcome == "refuted" and refuted.reason == "Measured."
