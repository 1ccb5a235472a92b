"""Wrong variants of claims: what each kind makes, and that they can be made again elsewhere."""

import pickle
from collections import Counter
from pathlib import Path

import pytest

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.claim import Claim
from hebbcheck.discovery import load
from hebbcheck.errors import HebbcheckError
from hebbcheck.power.mutants import MutantReference, mutants_of
from hebbcheck.power.source import source_of

FILE = Path(__file__).parent / "claims" / "power_claims.py"
CLAIMS = {claim.id.removeprefix("power."): claim for claim in load(FILE)}


def variants(name, kind=None):
    """{words: mutant} of a claim, of one kind or of all."""
    return {m.mutation.words: m for m in mutants_of(CLAIMS[name]) if kind in (None, m.mutation.kind)}


def sides(claim, **constants):
    """(kind, measured, bound) of a claim's relation on one instance."""
    numbers = {"F": 6, "d": 4, "m": 8, "delta": 0.1}
    (relation,) = claim.relations(
        claim.family.draw(numbers, Streams("power"), choice=claim.family.choices[0]), **constants
    )
    return relation.kind, relation.measured, relation.bound


@pytest.fixture
def x():
    family = CLAIMS["crosstalk"].family
    numbers = {"F": 6, "d": 4, "m": 8, "delta": 0.1}
    return family.draw(numbers, Streams("power"), choice=family.choices[0])


def test_every_kind_occurs():
    kinds = Counter(m.mutation.kind for name in CLAIMS for m in mutants_of(CLAIMS[name]))
    assert set(kinds) == {
        "assumption dropped",
        "relation flipped",
        "factor dropped",
        "factor squared",
        "term dropped",
        "min and max swapped",
        "sizes swapped",
        "logarithm dropped",
        "constant halved",
        "failure probability",
        "exponent shifted",
    }


def test_a_relation_is_flipped():
    (flipped,) = variants("crosstalk", "relation flipped").values()
    kind, measured, bound = sides(flipped)
    assert kind == "at_least" and ("at_most", measured, bound) == sides(CLAIMS["crosstalk"])
    (flipped,) = variants("decomposition", "relation flipped").values()
    assert (
        flipped.relations(flipped.family.draw({"F": 4, "d": 4, "m": 8, "delta": 0.1}, Streams(0)))[0].kind
        == "at_least"
    )


def test_factors_are_dropped_and_squared(x):
    E_K, E_v, kappa = x.E_K_tilde**0.5, x.E_v_tilde**0.5, x.kappa_tilde
    dropped, squared = variants("crosstalk", "factor dropped"), variants("crosstalk", "factor squared")
    assert set(dropped) == {"drop sqrt(E_K_tilde)", "drop sqrt(E_v_tilde)", "drop kappa_tilde"}
    assert sides(dropped["drop kappa_tilde"])[2] == pytest.approx(E_K * E_v)
    assert sides(dropped["drop sqrt(E_K_tilde)"])[2] == pytest.approx(E_v * kappa)
    assert sides(squared["square kappa_tilde"])[2] == pytest.approx(E_K * E_v * kappa**2)
    assert sides(squared["square sqrt(E_K_tilde)"])[2] == pytest.approx(E_K**2 * E_v * kappa)


def test_terms_are_dropped(x):
    dropped = variants("signal", "term dropped")
    assert set(dropped) == {"drop the term K_diag_min * V_min", "drop the term K_off_max * V_max"}
    assert sides(dropped["drop the term K_off_max * V_max"])[2] == pytest.approx(x.K_diag_min * x.V_min)


def test_minima_and_maxima_change_places(x):
    swapped = variants("signal", "min and max swapped")
    assert set(swapped) == {"K_diag_max for K_diag_min", "V_max for V_min", "V_min for V_max"}
    bound = x.K_diag_max * x.V_min - x.K_off_max * x.V_max
    assert sides(swapped["K_diag_max for K_diag_min"])[2] == pytest.approx(bound)


def test_functions_min_and_max_change_places():
    def largest(k):
        return hc.at_least(hc.max(k.F, k.m), 0)

    (swapped,) = [
        m
        for m in mutants_of(Claim("swap", largest, geo.kernels()))
        if m.mutation.kind == "min and max swapped"
    ]
    (relation,) = swapped.relations(geo.kernels().draw({"F": 3, "m": 2}, Streams(0), choice="uniform"))
    assert relation.measured == 2


def test_sizes_change_places_in_helpers_too():
    swapped = variants("coherence", "sizes swapped")
    assert set(swapped) == {"swap F and d", "swap F and m", "swap d and m"}
    assert "log(x.d ** 2 / x.delta)" in swapped["swap F and d"].text
    assert "spread(x, x.F)" in swapped["swap F and d"].text


def test_exponents_are_shifted(x):
    shifted = variants("crosstalk", "exponent shifted")
    E_K, E_v, kappa = x.E_K_tilde, x.E_v_tilde, x.kappa_tilde
    for shift, exponent in {"1/2": 1.5, "1/4": 1.25, "-1/4": 0.75, "-1/2": 0.5}.items():
        bound = sides(shifted[f"kappa_tilde with its exponent shifted by {shift}"])[2]
        assert bound == pytest.approx((E_K * E_v) ** 0.5 * kappa**exponent)
        bound = sides(shifted[f"sqrt(E_K_tilde) with its exponent shifted by {shift}"])[2]
        assert bound == pytest.approx(E_K ** (exponent - 0.5) * E_v**0.5 * kappa)


def test_below_a_root_an_exponent_is_shifted_by_as_much_in_all():
    shifted = variants("constant", "exponent shifted")
    bound = sides(CLAIMS["constant"], C=2.0)[2]
    down = sides(shifted["d - 1 with its exponent shifted by 1/4"], C=2.0)[2]
    assert down == pytest.approx(bound * 3**-0.25)


def test_logarithms_are_dropped():
    (dropped,) = variants("coherence", "logarithm dropped").values()
    assert "log" not in dropped.text and sides(dropped)[2] == pytest.approx((2 / 4) ** 0.5)
    (dropped,) = variants("constant", "logarithm dropped").values()
    assert sides(dropped, C=1.0)[2] == pytest.approx(3**-0.5)


def test_assumptions_are_dropped():
    (dropped,) = variants("signal", "assumption dropped").values()
    assert dropped.given == {} and CLAIMS["signal"].given and not dropped.test_needs


def test_constants_are_halved():
    halved = variants("coherence", "constant halved")
    assert set(halved) == {"halve 2 in 2 * log(F ** 2 / delta)", "halve 1 in 1 - V_min"}
    assert sides(halved["halve 2 in 2 * log(F ** 2 / delta)"])[2] == pytest.approx(
        sides(CLAIMS["coherence"])[2] / 2**0.5
    )
    assert not variants("mean", "constant halved")  # numbers of samples and exponents are no constants


def test_failure_probabilities_are_doubled():
    changed = variants("coherence", "failure probability")
    assert set(changed) == {"double delta in the bound", "double what may fail", "halve what may fail"}
    sizes = CLAIMS["coherence"].family.sizes_at({"F": 6, "d": 4, "m": 8, "delta": 0.1})
    allowed = {words: mutant.allowed_failure(sizes) for words, mutant in changed.items()}
    assert allowed == {
        "double delta in the bound": 0.1,
        "double what may fail": 0.2,
        "halve what may fail": 0.05,
    }
    assert "2 * x.delta" in changed["double delta in the bound"].text
    assert "x.L - _log(2)" in variants("constant", "failure probability")["double delta in the bound"].text


def test_functions_that_allow_failures_keep_their_constants():
    def bound(x, *, C):
        return hc.at_most(x.V_max, C)

    claim = Claim("allow", bound, geo.facts(), fails_at_most=lambda x, C: C * x.delta)
    halved = next(m for m in mutants_of(claim) if m.mutation.words == "halve what may fail")
    assert halved.allowed_failure(claim.family.sizes_at({"delta": 0.5}), {"C": 0.4}) == pytest.approx(0.1)


def test_open_constants_are_left_alone():
    assert not any(words in ("drop C", "square C") for words in variants("constant"))


def test_mutants_are_made_again_from_their_reference():
    for mutant in mutants_of(CLAIMS["coherence"]):
        reference = pickle.loads(pickle.dumps(mutant.reference))
        again = reference.resolve()
        assert (again.id, again.digest, again.text) == (mutant.id, mutant.digest, mutant.text)
    with pytest.raises(HebbcheckError, match="no variant"):
        MutantReference(CLAIMS["coherence"].reference, "power.coherence~gone").resolve()


def test_digests_and_ids_differ():
    made = [m for claim in CLAIMS.values() for m in mutants_of(claim)]
    assert len({m.id for m in made}) == len({m.digest for m in made}) == len(made)
    assert all(m.digest != m.original.digest and m.expect == "holds" and m.proof is None for m in made)


def test_closures_and_functions_without_source():
    factor = 3

    def closed(k):
        return hc.at_most(k.trace, factor * k.F)

    claim = Claim("closed", closed, geo.kernels())
    source = source_of(claim)
    function, _ = source.compiled(())
    kernel = geo.kernels().draw({"F": 3, "m": 2}, Streams(0), choice="uniform")
    assert function(kernel).bound == 9
    nameless = Claim(
        "nameless", lambda k: hc.at_most(k.trace, 1), geo.kernels(), given={"F >= 2": lambda k: k.F >= 2}
    )
    assert source_of(nameless) is None
    assert [m.mutation.kind for m in mutants_of(nameless)] == ["assumption dropped"]
