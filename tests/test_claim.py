"""Claims: what is declared, what is read off it, and what is refused, in one line each."""

import numpy as np
import pytest

import hebbcheck as hc
from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.claim import Mean, Relation, collected
from hebbcheck.drawn import DrawnAttribute
from hebbcheck.verdict import Quantifier

FACTS = geo.facts()


def declare(function=None, id="test.claim", over=FACTS, **more):
    function = function or (lambda x: hc.at_least(x.gamma_min, 0))
    return hc.claim(id, over=over, **more)(function)


def draw(**numbers):
    return FACTS.draw({"F": 5, "d": 4, "m": 6, "delta": 0.1, **numbers}, Streams("claim"))


# --- what is read off a claim


def with_constants(x, *, C, C2):
    r"\gamma \ge C"
    return hc.at_least(x.gamma_min, C)


@pytest.mark.parametrize(
    ("function", "more", "quantifier"),
    [
        (lambda x: hc.equal(x.margins, x.signal + x.crosstalk), {}, Quantifier.IDENTITY),
        (lambda x: [hc.equal(x.E_K, x.E_K), hc.at_least(x.E_K, 0)], {}, Quantifier.FOR_ALL),
        (lambda x: hc.at_least(x.gamma_min, 0), {}, Quantifier.FOR_ALL),
        (lambda x: hc.at_least(x.gamma_min, 0), {"fails_at_most": "delta"}, Quantifier.PROBABILITY),
        (lambda x: hc.at_least(x.gamma_min, 0), {"fails_at_most": 0.1}, Quantifier.PROBABILITY),
        (lambda x: hc.at_least(x.gamma_min, 0), {"fails_at_most": lambda s: 1 / s.F}, Quantifier.PROBABILITY),
        (with_constants, {}, Quantifier.CONSTANTS),
        (with_constants, {"fails_at_most": "delta"}, Quantifier.CONSTANTS),
        (lambda x: hc.scales_as(x.E_K, x.F), {}, Quantifier.RATE),
        (
            lambda v: hc.equal(hc.mean(v.sketched_kernel(10)), 1),
            {"over": geo.vectors(count=2)},
            Quantifier.EXPECTATION,
        ),
        (lambda f: hc.at_least(f.r2, 0.9), {"over": geo.figure("fig2b")}, Quantifier.REPORTED),
    ],
)
def test_the_quantifier(function, more, quantifier):
    assert declare(function, **more).quantifier is quantifier


def test_constants_statement_and_whereabouts():
    made = declare(with_constants)
    assert made.constants == ("C", "C2")
    assert made.statement == r"\gamma \ge C" and made.statement_is_latex
    assert made.file == __file__ and made.theme == "test_claim" and made.module == __name__
    assert made.line == with_constants.__code__.co_firstlineno
    assert made in collected() and declare().statement == ""
    assert declare(erratum="wrong", expect="refuted").tags == ("test_claim", "erratum")


def test_the_quantifier_is_probed_where_the_assumptions_hold():
    def only_with_positive_margin(x):
        if not x.gamma_min > 0:
            raise ValueError("no margin")
        return hc.equal(x.E_K, x.E_K)

    made = declare(only_with_positive_margin, given={"stored": lambda x: x.gamma_min > 0})
    assert made.quantifier is Quantifier.IDENTITY
    with pytest.raises(ZeroDivisionError):  # where none meets them, the function is tried on all
        _ = declare(lambda x: hc.at_least(1 / 0, 1), given={"never": lambda x: False}).quantifier
    with pytest.raises(HebbcheckError, match="divides by zero"):
        _ = declare(lambda x: hc.at_least(1 / 0, 1)).quantifier


def test_relations():
    made = declare(lambda x: (hc.at_least(x.F, 3), hc.at_most(x.F, 9, trivial=12)))
    one, two = made.relations(draw())
    assert (one.kind, one.measured, one.bound, one.slack()) == ("at_least", 5, 3, 2)
    assert (two.kind, two.slack(), two.trivial) == ("at_most", 4, 12)
    assert hc.equal(np.array([1, 2]), np.array([1, 4])).slack().tolist() == [0, -2]
    assert not hc.equal(1, 1).in_expectation and hc.at_most(1, hc.mean([1])).in_expectation


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "nothing"),
        (True, "a bool"),
        ([], "an empty list"),
        ([hc.equal(1, 1), None], "nothing"),
        (0.5, "a float"),
    ],
)
def test_functions_that_return_no_relation(returned, said):
    with pytest.raises(HebbcheckError, match=f"'test.claim' returned {said}; a relation"):
        declare(lambda x: returned).relations(draw())


def test_given_may_name_constants_and_keep_defaults():
    scale = 7

    def test(x, C, limit=scale):
        return limit >= x.F and C > 1

    made = declare(with_constants, given={"scaled": test})
    assert made.holds_given(draw(), {"C": 2.0}) == {"scaled": True}
    assert made.holds_given(draw(), {"C": 1.0}) == {"scaled": False}
    assert made.holds_given(draw()) == {"scaled": False}  # constants are 1 unless given


@pytest.mark.filterwarnings("error")
def test_numbers_that_are_not_finite_are_for_the_judges_and_print_no_warning():
    claim = declare(
        lambda x: hc.at_least(np.log(x.margins - x.margins), np.float64(1) / np.float64(0)),
        given={"overflows": lambda x: np.exp(np.float64(1000)) > x.d},
    )
    assert claim.holds_given(draw()) == {"overflows": True}
    assert np.all(claim.relations(draw())[0].measured == -np.inf)


def test_allowed_failures():
    sizes = FACTS.sizes_at({"F": 5, "d": 4, "m": 6, "delta": 0.02})
    assert declare(fails_at_most="delta").allowed_failure(sizes) == 0.02
    assert declare(fails_at_most=0.3).allowed_failure(sizes) == 0.3
    assert declare(fails_at_most=lambda s: hc.min(1.0, s.F / 10)).allowed_failure(sizes) == 0.5
    assert (
        declare(with_constants, fails_at_most=lambda s, C: C / s.F).allowed_failure(sizes, {"C": 2.0}) == 0.4
    )
    with pytest.raises(DrawnAttribute, match="sizes alone"):
        declare(fails_at_most=lambda s: s.E_K).allowed_failure(sizes)


def test_expectations_by_profile():
    made = declare(expect={"quick": "vacuous", "paper": "refuted"}, erratum="It is wrong.")
    assert [made.expected(p) for p in ("quick", "standard", "paper")] == ["vacuous", "holds", "refuted"]


def test_one_needed_claim_is_a_list_of_one():
    assert declare(needs="B.16").needs == ("B.16",) and declare(needs=["a", "b"]).needs == ("a", "b")


# --- what is refused


def two_instances(x, y):
    return hc.equal(1, 1)


def with_default(x, *, C=2):
    return hc.equal(1, C)


def anything(*args):
    return hc.equal(1, 1)


def options(x, **kw):
    return hc.equal(1, 1)


@pytest.mark.parametrize(
    ("function", "more", "said"),
    [
        (None, dict(id=""), "the id is no word"),
        (None, dict(id="two words"), "the id is no word"),
        (None, dict(id=3), "the id is no word"),
        (None, dict(over=geo.facts), "over= is no family"),
        (None, dict(over=None), "over= is no family"),
        (None, dict(over=geo.sphere), "over= is no family"),
        (two_instances, {}, "must take one instance"),
        (lambda: 1, {}, "must take one instance"),
        (lambda x, C=1: 1, {}, "must take one instance"),
        (anything, {}, r"takes \* or \*\* arguments"),
        (options, {}, r"takes \* or \*\* arguments"),
        (with_default, {}, "C has a default"),
        (len, {}, "a function of one instance is needed"),
        (None, dict(expect="hold"), "expect='hold' is unknown"),
        (None, dict(expect=["holds"]), "unknown"),
        (None, dict(expect={"fast": "holds"}), "profile 'fast'"),
        (None, dict(expect={"quick": "maybe"}), "expect='maybe'"),
        (None, dict(expect="refuted"), "needs an erratum"),
        (None, dict(expect={"paper": "refuted"}), "needs an erratum"),
        (None, dict(given=lambda x: True), "given= must map names"),
        (None, dict(given={"d >= 2": True}), "given= must map names"),
        (None, dict(given={2: lambda x: True}), "given= must map names"),
        (None, dict(given={"t": lambda: True}), "takes no instance"),
        (None, dict(given={"t": lambda x, C: True}), "takes C"),
        (None, dict(fails_at_most="0.1"), "fails_at_most='0.1' is unknown"),
        (None, dict(over=geo.kernels(), fails_at_most="delta"), "the family draws no delta"),
        (None, dict(fails_at_most=1.5), "no probability"),
        (None, dict(fails_at_most=-0.1), "no probability"),
        (None, dict(fails_at_most=True), "unknown"),
        (None, dict(fails_at_most=float("nan")), "no probability"),
        (None, dict(fails_at_most=lambda: 0.1), "takes no instance"),
        (None, dict(title=3), "title= is a int"),
        (None, dict(erratum=["no"]), "erratum= is a list"),
        (None, dict(proof="obvious"), "proof= is neither"),
        (None, dict(needs=[3]), "needs= must name claims"),
    ],
)
def test_declarations_that_make_no_sense(function, more, said):
    before = len(collected())
    with pytest.raises(HebbcheckError, match=said) as error:
        declare(function, **more)
    assert "\n" not in str(error.value) and str(error.value).startswith("claim ")
    assert len(collected()) == before


@pytest.mark.parametrize(
    "use",
    [
        lambda m: m + 1,
        lambda m: 2 * m,
        lambda m: -m,
        lambda m: abs(m),
        lambda m: m**2,
        lambda m: 1 / m,
        lambda m: m[0],
        lambda m: float(m),
        lambda m: m > 1,
        lambda m: np.ones(3) * m,
        lambda m: np.sqrt(m),
        lambda m: hc.sqrt(m),
    ],
)
def test_a_mean_inside_an_expression_is_refused(use):
    with pytest.raises((HebbcheckError, TypeError)) as error:
        use(hc.mean(np.ones(4)))
    assert "hc.mean" in str(error.value) or "Mean" in str(error.value)


def test_the_package_offers_what_claims_are_written_with():
    for name in hc.__all__:
        assert getattr(hc, name) is not None
    assert isinstance(hc.mean([1, 2]), Mean) and isinstance(hc.scales_as(1, 2), Relation)
    with pytest.raises(AttributeError, match="no attribute 'at_leest'"):
        _ = hc.at_leest


# --- what a stored result depends on


FILE = """
import hebbcheck as hc
from hebbcheck import geometry as geo
{imports}

@hc.claim("digest.claim", over={family})
def claim(k):
    return hc.at_least(k.E_K, 0)
"""


def digest(tmp_path, family="geo.kernels()", imports="", helper="LIMIT = 1"):
    from hebbcheck.discovery import load

    (tmp_path / "helper.py").write_text(helper)
    (tmp_path / "c.py").write_text(FILE.format(family=family, imports=imports))
    return load(tmp_path / "c.py")[0].digest


def test_the_digest_changes_with_the_file_what_it_imports_and_the_family(tmp_path):
    first = digest(tmp_path)
    assert first == digest(tmp_path)
    assert first == digest(tmp_path, helper="LIMIT = 2")  # not imported
    assert first != digest(tmp_path, family="geo.kernels(F=3)")
    helped = digest(tmp_path, imports="from helper import LIMIT")
    (tmp_path / "helper.py").write_text("LIMIT = 3")
    from hebbcheck.discovery import load

    load(tmp_path / "c.py")[0].__dict__.pop("digest", None)
    assert load(tmp_path / "c.py")[0].digest != helped


def test_the_digest_changes_with_the_embeddings(tmp_path):
    path = tmp_path / "e.npy"
    digests = set()
    for scale in (1.0, 2.0):
        np.save(path, scale * np.eye(4))
        digests.add(declare(over=geo.facts(keys=geo.file(path))).digest)
        digests.add(declare(over=geo.instance(scale * np.eye(2), np.eye(2))).digest)
    assert len(digests) == 4


def test_a_claim_without_a_file_has_a_digest_and_no_reference():
    names = {}
    exec(compile("def f(x):\n    return 1", "<typed in>", "exec"), names)
    made = declare(names["f"])
    assert len(made.digest) == 64 and made.reference is None and made.theme == ""
    assert declare().reference.resolve is not None
