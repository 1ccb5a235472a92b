"""Arguments that a variant is true: those that hold are seen, those that do not are not."""

import math
from pathlib import Path

import pytest
import sympy

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.claim import Claim
from hebbcheck.discovery import load
from hebbcheck.power import arguments, patience, witness
from hebbcheck.power.arguments import Arguer, Standing
from hebbcheck.power.mutants import mutants_of
from hebbcheck.power.points import negative_somewhere, values
from hebbcheck.power.signs import has_values, interval, most_terms, never_negative
from hebbcheck.power.symbols import Known, Quantity, known_of, relations_of
from hebbcheck.settings import Settings

CLAIMS = {c.id: c for c in load(Path(__file__).parent / "claims" / "power_claims.py")}
KERNEL = geo.facts(keys=geo.anything, values=geo.anything, memory="kernel")
KNOWN = Known(
    {"a": (0, math.inf), "b": (0, math.inf), "k": (0, 1), "d": (2, math.inf), "r": (-math.inf, math.inf)}
)
a, b, k, d, r = (KNOWN.symbol(name) for name in "abkdr")


def argued(claim):
    """{words of the mutation: standing} of a claim's mutants that are argued to be true."""
    arguer = Arguer(claim)
    found = {m.mutation.words: arguer.argument(m) for m in mutants_of(claim)}
    return {words: str(argument.standing) for words, argument in found.items() if argument}


def standing(function, over=KERNEL, words="", **options):
    """The standing of one mutant (or None) of a claim made of a function."""
    return argued(Claim("argued", function, over, **options)).get(words)


# --- signs


@pytest.mark.parametrize(
    "expression",
    [
        a * b * (1 - k),
        sympy.sqrt(a) * b * (sympy.sqrt(k) - k),
        d ** sympy.Rational(3, 4) - sympy.sqrt(d),
        2 / sympy.sqrt(d) - 1 / sympy.sqrt(d - 1),
        a * d - a,
        (a + b) ** 2 - a**2 - b**2,
        sympy.Max(a, b) - sympy.Min(a, b) * 0,
        sympy.log(d) * a,
        r**2,
        1 / (d - 1) - 1 / d,
    ],
)
def test_what_is_never_negative_is_seen(expression):
    assert never_negative(expression, KNOWN)


@pytest.mark.parametrize(
    "expression",
    [
        a - b,
        k - sympy.Rational(1, 2),
        r,
        1 / sympy.sqrt(d) - 1 / sympy.sqrt(d - 1),
        a * (k - 1),
        sympy.log(a),
        a - d,
    ],
)
def test_what_can_be_negative_is_not_passed(expression):
    assert not never_negative(expression, KNOWN)
    assert negative_somewhere(expression, KNOWN)


def test_pairs_in_order_are_used():
    known = Known({"a": (0, math.inf), "b": (0, math.inf)}, [(a, b)])
    assert never_negative(b**2 - a**2, known) and not never_negative(a - b, known)
    assert all(value >= 0 for value in values(b - a, known))


def test_intervals():
    assert interval(k * a, KNOWN) == (0, math.inf)
    assert interval(1 / d, KNOWN) == (0, 0.5)
    assert interval(1 - 2 * k, KNOWN) == (-1, 1)
    assert interval(sympy.sqrt(r), KNOWN) == (-math.inf, math.inf)
    assert interval(sympy.exp(-a), KNOWN) == (0, 1)


def test_doubtful_denominators_and_roots():
    assert has_values(a / (d - 1) + sympy.sqrt(b), KNOWN) == set()
    assert has_values(1 / (d - 2), KNOWN) == {d - 2}
    assert has_values(sympy.sqrt(r), KNOWN) == {r}
    assert has_values(sympy.log(a), KNOWN) == {a}


# --- expressions


def test_a_claim_as_expressions():
    claim = CLAIMS["power.signal"]
    known = known_of(claim)
    assert known.intervals["V_min"][0] == 0  # by the assumption
    (relation,) = relations_of(claim, known)
    names = {s.name for s in relation.bound.free_symbols}
    assert relation.kind == "at_least" and names == {"K_diag_min", "V_min", "K_off_max", "V_max"}


def test_functions_that_have_no_expression():
    def branching(x):
        return hc.at_most(x.z_max, x.E_K if x.F > 3 else x.E_v)

    claim = Claim("branching", branching, KERNEL)
    assert relations_of(claim, known_of(claim)) is None
    assert argued(claim) == {}


def by_equality(x):
    return hc.at_least(x.E_K, x.trace if x.F == 2 else 0)


def by_membership(x):
    return hc.at_least(x.E_K, x.trace if x.F in (2, 3) else 0)


def by_truth(x):
    return hc.at_least(x.E_K, x.trace if x.F % 2 else 0)


def by_choice(x):
    return hc.at_least(x.E_K, x.trace or 1)


def by_a_helper(x):
    return hc.at_least(x.E_K, helped(x.F))


def helped(F):
    return 1 if F != 2 else 0


@pytest.mark.parametrize("function", [by_equality, by_membership, by_truth, by_choice, by_a_helper])
def test_what_decides_by_more_than_an_order_has_no_expression(function):
    claim = Claim("deciding", function, KERNEL)
    assert relations_of(claim, known_of(claim)) is None and argued(claim) == {}


def test_an_assumption_that_decides_by_equality_says_nothing():
    given = {"odd": lambda x: x.F == 3 or x.V_min >= 0}
    assert (
        known_of(Claim("odd", lambda x: hc.at_most(x.V_min, 1), KERNEL, given=given)).intervals.get("V_min")
        is None
    )


def test_quantities_are_called_and_subscripted():
    assert Quantity("K", real=True)[0, 0] == Quantity("K[(0, 0)]", real=True)
    assert Quantity("f", real=True)(3, n=2) == Quantity("f(3, n=2)", real=True)


# --- arguments


def test_couplings_are_at_most_one():
    assert argued(CLAIMS["power.crosstalk"]) == {
        "drop kappa_tilde": "weaker",
        "kappa_tilde with its exponent shifted by -1/4": "weaker",
        "kappa_tilde with its exponent shifted by -1/2": "weaker",
    }


def test_smaller_and_larger_entries():
    found = argued(CLAIMS["power.signal"])
    assert found["drop the term K_diag_min * V_min"] == "weaker"
    assert (
        not {"K_diag_max for K_diag_min", "V_max for V_min", "drop the term K_off_max * V_max"} & found.keys()
    )

    def larger(x):
        return hc.at_least(x.gamma_min, -x.K_diag_min)

    assert standing(larger, words="K_diag_max for K_diag_min") == "weaker"


def test_extremes_of_values_are_ordered_under_injective_maps_alone():
    orders = [
        known_of(Claim("order", lambda x: hc.at_most(x.V_min, 1), geo.facts(mapping=mapping))).ordered
        for mapping in ("permutation", "any")
    ]
    named = [{str(a) for a, _ in order} for order in orders]
    assert "V_min" in named[0] and "V_min" not in named[1]


def test_an_equality_implies_inequalities():
    assert argued(CLAIMS["power.decomposition"]) == {"flip margins = ...": "weaker"}


def test_other_words():
    def doubled(x):
        return hc.at_least(2 * x.s_min, 2 * x.K_diag_min - 2 * x.K_off_max)

    def rooted(x):
        return hc.at_most(x.z_max, x.E_K_tilde / hc.sqrt(x.E_K_tilde))

    arguer = Arguer(Claim("doubled", doubled, KERNEL))
    halved = arguer.relations[0]
    assert (halved.slack / 2).expand() == halved.slack.expand() / 2
    assert standing(rooted, words="E_K_tilde with its exponent shifted by 1/4") is None


def test_open_constants_absorb_factors_and_nothing_else():
    found = argued(CLAIMS["power.constant"])
    assert found["halve 1 in d - 1"] == "weaker" and found["double delta in the bound"] == "weaker"
    assert found["drop d - 1"] == "weaker" and found["square L"] == "weaker"
    wrong = ("square d - 1", "drop L", "drop the logarithm L", "d - 1 with its exponent shifted by 1/4")
    assert not set(wrong) & found.keys()


def test_constants_that_assumptions_name_absorb_nothing():
    def doubled(x, *, C):
        return hc.at_most(2 * x.m, 2 * C * x.d)

    halved = "halve 2 in 2 * C"
    assert standing(doubled, words=halved) == "weaker"
    assert standing(doubled, words=halved, given={"m <= C d": lambda x, C: x.m <= C * x.d}) is None
    assert standing(doubled, words=halved, fails_at_most=lambda x, C: C / x.m) is None


@pytest.mark.parametrize("shape", [geo.sphere, geo.gaussian, geo.anything])
def test_tied_values_are_as_long_as_the_keys(shape):
    over, given = geo.facts(keys=shape, values=geo.tied), {"V >= 0": lambda x: x.V_min >= 0}
    found = standing(
        lambda x: hc.at_least(x.gamma_min, -x.E_K), over, "drop the assumption V >= 0", given=given
    )
    assert found == ("equivalent" if shape is geo.sphere else None)


def test_assumptions_that_say_nothing_new():
    found = argued(CLAIMS["power.coherence"])
    assert found["drop the assumption F >= 3"] == "equivalent"  # the family has no fewer facts
    assert "drop the assumption V_ij >= 0" not in argued(CLAIMS["power.signal"])


def test_assumptions_without_which_nothing_is_said():
    def bound(x):
        return hc.at_most(x.z_max, x.E_K / (x.d - 1))

    over = geo.facts(keys=geo.anything, values=geo.anything, memory="kernel")
    given = {"d >= 2": lambda x: x.d >= 2}
    assert standing(bound, over, "drop the assumption d >= 2", given=given) == "equivalent"
    given = {"d >= 3": lambda x: x.d >= 3}
    assert standing(bound, over, "drop the assumption d >= 3", given=given) is None


def test_a_mutant_that_speaks_where_the_claim_does_not_is_no_weaker():
    def bound(x):
        return hc.at_most(x.z_max, 1 + x.E_K / (x.d - 1))

    assert standing(bound, words="drop d - 1") is None  # at d = 1 the claim has no value
    given = {"d >= 2": lambda x: x.d >= 2}
    assert standing(bound, words="drop d - 1", given=given) == "weaker"


def test_what_is_true_by_itself():
    def bound(x):
        return hc.at_least(x.E_K, x.E_K_tilde - x.E_v)

    assert standing(bound, words="drop the term E_K_tilde") == "weaker"


def test_bounds_that_may_be_negative_are_softened():
    def welch(k):
        return hc.at_least(k.E_K, (k.trace**2 / k.m - k.diag_sq_sum) / k.F)

    found = argued(Claim("welch", welch, geo.kernels()))
    assert found["square F"] == "weaker" and "drop F" not in found
    assert found["swap F and m"] == "weaker"  # by Cauchy and Schwarz its bound is not positive


def test_chances():
    found = argued(CLAIMS["power.coherence"])
    assert found["double what may fail"] == "weaker" and "halve what may fail" not in found
    assert "double delta in the bound" not in found and "halve 2 in 2 * log(F ** 2 / delta)" not in found


def test_rates_ignore_constant_factors():
    def rate(x):
        return hc.scales_as(x.L, 2 * hc.log(x.F))

    over = geo.facts(F=[8, 16, 32], d=8, m=8, delta=0.1)
    found = argued(Claim("rate", rate, over))
    assert found["halve 2 in 2 * log(F)"] == "equivalent"
    assert not {"drop the logarithm log(F)", "log(F) with its exponent shifted by 1/2"} & found.keys()
    assert argued(CLAIMS["power.rate"]) == {}


def test_the_same_mutants_are_known():
    claim = CLAIMS["power.crosstalk"]
    arguer = Arguer(claim)
    same = {m.mutation.words: arguer.same(m) for m in mutants_of(claim)}
    assert same["square sqrt(E_K_tilde)"] == same["sqrt(E_K_tilde) with its exponent shifted by 1/2"]
    assert same["square kappa_tilde"] != same["drop kappa_tilde"]
    dropped = next(m for m in mutants_of(CLAIMS["power.signal"]) if m.mutation.dropped)
    assert Arguer(CLAIMS["power.signal"]).same(dropped) is None


@pytest.mark.parametrize("id", ["power.crosstalk", "power.signal", "power.decomposition", "power.coherence"])
def test_nothing_shows_that_what_is_argued_to_be_true_is_false(id):
    claim, settings = CLAIMS[id], Settings()
    arguer = Arguer(claim)
    for mutant in mutants_of(claim):
        if arguer.argument(mutant) is not None and mutant.mutation.kind != "relation flipped":
            assert witness.measure(mutant, settings, {})["found"] is None, mutant.id


def test_standings_are_words():
    assert [str(s) for s in Standing] == ["equivalent", "weaker"]


def test_no_polynomial_is_written_out_or_factored_that_may_take_minutes(monkeypatch):
    def refused(expression):
        raise AssertionError(f"{expression} was rewritten")

    monkeypatch.setattr(sympy, "factor", refused)
    monkeypatch.setattr(sympy, "expand", refused)
    many = [KNOWN.symbol(f"x{i}") for i in range(8)]
    assert not never_negative(sum(many) ** 9 - sum(x**2 for x in many) ** 4, KNOWN)


@pytest.mark.parametrize(
    "expression",
    [
        (a + b) ** 3,
        a * (b + 1) * (a + b + 2),
        (a + b) * (a - b),
        a**5,
        sympy.sqrt(a + b) * (a + 1),
        1 / (a + b),
    ],
)
def test_the_bound_on_terms_holds(expression):
    expanded = sympy.expand(expression)
    assert most_terms(expression) >= (len(expanded.args) if isinstance(expanded, sympy.Add) else 1)


def test_arguments_that_take_forever_are_none(monkeypatch):
    def forever(*_):
        while True:
            pass

    monkeypatch.setattr(patience, "SECONDS", 0.1)
    claim = CLAIMS["power.crosstalk"]
    mutants = [m for m in mutants_of(claim) if m.mutation.kind == "factor dropped"]
    monkeypatch.setattr(arguments, "never_negative", forever)
    assert [Arguer(claim).argument(m) for m in mutants] == [None] * len(mutants)
    monkeypatch.setattr(arguments, "relations_of", forever)
    unknown = Arguer(claim)
    assert (
        unknown.relations is None
        and unknown.argument(mutants[0]) is None
        and unknown.same(mutants[0]) is None
    )
