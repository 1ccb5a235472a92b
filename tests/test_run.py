"""Runs: the record of each verdict, what was expected of it, errors that are verdicts, the store."""

import json
import math
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import hebbcheck as hc
from hebbcheck import counterexample
from hebbcheck import geometry as geo
from hebbcheck.judges import attack, judge_of, rate
from hebbcheck.run import Runner
from hebbcheck.settings import LEVEL, Settings
from hebbcheck.store import Store
from hebbcheck.verdict import SCHEMA, Finding, Outcome, Quantifier, as_sentence, passed, strict_json

KERNELS = geo.kernels(F=(1, 6), m=(1, 6))


def welch(k):
    """Welch's bound."""
    return hc.at_least(k.E_K, (k.trace**2 / k.m - k.diag_sq_sum) / k.F)


def too_strong(k):
    r"E_K \ge \operatorname{tr} K"
    return hc.at_least(k.E_K, k.trace)


def claim(function, id="run.claim", over=KERNELS, **options):
    return hc.claim(id, over=over, **options)(function)


@pytest.fixture
def run(tmp_path):
    def runner(*claims, settings=None, **options):
        records = Runner(settings or Settings(), folder=tmp_path / "found", **options).verify(claims)
        return list(records)

    return runner


# --- records


def test_records_follow_the_schema(run):
    for record in run(
        claim(welch, "run.held", title="Welch", source="Lemma 1", proof=[0]),
        claim(too_strong, "run.refuted"),
        claim(welch, "run.vacuous", given={"never": lambda k: k.F < 0}),
        claim(lambda k: hc.at_least(k.nothing, 0), "run.error"),
    ):
        jsonschema.validate(record, SCHEMA)
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert record["verdict"] == {"run.held": "proved"}.get(
            record["id"], record["id"].removeprefix("run.")
        )
        assert record["level"] == LEVEL and record["profile"] == "quick" and record["seed"] == 0
        assert record["reason"].endswith((".", "?")) and record["reason"][0].isupper()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("no constant suffices: C grows", "No constant suffices: C grows."),
        ("a side is None", "A side is None."),
        ("No counterexample.", "No counterexample."),
        ("c = 3 does not cover the larger sizes", "c = 3 does not cover the larger sizes."),
        ("m=0.5 is out of range", "m=0.5 is out of range."),
        ("geo.figure('x') is unknown", "geo.figure('x') is unknown."),
    ],
)
def test_a_reason_is_a_sentence_and_its_symbols_stay(said, sentence):
    assert as_sentence(said) == sentence


def test_the_judge_of_constants_gives_a_sentence_too(run):
    def bounded(k, *, C):
        return hc.at_most(k.E_K, C)

    [record] = run(claim(bounded, fails_at_most=0.1, given={"never": lambda k: k.F < 0}))
    assert record["reason"].startswith("Nothing was claimed") and record["reason"].endswith(".")


def test_a_record_says_what_was_judged(run):
    given = {"V_ij >= 0": lambda k: k.F >= 1}
    made = claim(
        welch, title="Welch", source="Lemma 1", given=given, needs=["run.claim"], proof=[("zero", 0)]
    )
    [record] = run(made, settings=Settings(seed=3))
    expected = {
        "id": "run.claim",
        "title": "Welch",
        "source": "Lemma 1",
        "quantifier": "for all",
        "statement": "Welch's bound.",
        "statement_is_latex": False,
        "theme": "test_run",
        "tags": ["test_run"],
        "needs": ["run.claim"],
        "erratum": None,
        "arithmetic": "exact",
        "seed": 3,
        "backend": "numpy",
        "file": "test_run.py",
        "counterexample": None,
        "replay": None,
        "counterexamples": {},
        "proof": [{"name": "zero", "expression": "0", "vanishes": "yes"}],
    }
    assert {name: record[name] for name in expected} == expected
    assert record["family"] == repr(KERNELS) and record["line"] == made.line
    assert record["assumptions"] == {"V_ij >= 0": {"share_met": 1, "needed": None}}
    assert record["command"].startswith("hebbcheck verify ")
    assert record["command"].endswith("test_run.py::run.claim --seed 3")
    assert record["seconds"] > 0 and record["versions"]["hebbcheck"]
    assert 0 < len(record["points"]) <= 200


def test_a_refutation_leaves_files_that_replay(run, tmp_path):
    made = claim(too_strong)
    [record] = run(made)
    assert record["statement_is_latex"] and record["verdict"] == "refuted" and not record["passed"]
    assert set(record["counterexamples"]) == {"smallest", "worst"}
    for told in record["counterexamples"].values():
        example = counterexample.load(Path(told["file"]))
        assert example.claim == "run.claim" and counterexample.replay(example, made).broken
        assert "F = " in told["text"]
    assert record["counterexample"] == record["counterexamples"]["smallest"]["file"]
    assert shlex.split(record["replay"])[:2] == ["hebbcheck", "replay"]
    assert Path(record["counterexample"]).parent == tmp_path / "found"


def test_infinite_numbers_are_null():
    assert strict_json({"a": [math.inf, (math.nan, 1.5)], 3: -math.inf}) == {
        "a": [None, [None, 1.5]],
        "3": None,
    }
    assert strict_json(Outcome.HELD) == "held"


# --- what is expected


@pytest.mark.parametrize("outcome", Outcome)
def test_what_passes(outcome):
    holds = outcome in ("proved", "held", "supported")
    assert passed(outcome, "holds") == holds
    assert passed(outcome, "refuted") == (outcome == "refuted")
    assert passed(outcome, "vacuous") == (outcome == "vacuous")
    for never in ("inconclusive", "error"):
        assert not passed(never, never)


def test_an_erratum_passes_by_being_refuted(run):
    options = {"expect": "refuted", "erratum": "The trace is no lower bound."}
    right, wrong = run(claim(too_strong, "run.a", **options), claim(welch, "run.b", **options))
    assert right["passed"] and right["expected"] == "refuted"
    assert right["erratum"] == "The trace is no lower bound." and "erratum" in right["tags"]
    assert not wrong["passed"] and wrong["verdict"] == "held"


def test_what_is_expected_may_depend_on_the_profile(run):
    made = claim(welch, given={"never": lambda k: k.F < 0}, expect={"quick": "vacuous", "standard": "holds"})
    [record] = run(made)
    assert record["expected"] == "vacuous" and record["passed"]
    assert made.expected("standard") == "holds" and made.expected("paper") == "holds"


# --- errors


def test_errors_are_verdicts_and_the_run_goes_on(run):
    def explode(k):
        raise RuntimeError("out\nof order")

    records = run(
        claim(explode, "run.a"),
        claim(lambda k: 3, "run.b"),
        claim(lambda k: hc.at_least(k.E_k, 0), "run.c"),
        claim(welch, "run.d", proof=lambda: []),
        claim(welch, "run.e"),
    )
    assert [r["verdict"] for r in records] == ["error"] * 4 + ["held"]
    assert not any(r["passed"] for r in records[:4]) and all("\n" not in r["reason"] for r in records)
    for record, said in zip(
        records, ("RuntimeError: out of order", "relation", "did you mean", "no step"), strict=False
    ):
        assert said in record["reason"]


def test_a_proof_that_fails_supports_no_statement_in_probability(run):
    (record,) = run(claim(welch, "run.chance", fails_at_most=0.5, proof=[("wrong", 1)]))
    assert record["verdict"] == "inconclusive" and "'wrong' does not vanish" in record["reason"]
    assert record["proof"] == [{"name": "wrong", "expression": "1", "vanishes": "no"}]


@pytest.mark.parametrize("ending", [SystemExit(3), GeneratorExit(), pytest.skip.Exception("no")])
def test_what_would_end_the_process_is_a_verdict_wherever_the_claim_is_called(run, ending):
    """Its quantifier is read off its relation, which is asked for again when the record is written."""

    def end(k):
        raise ending

    [record] = run(claim(end))
    assert record["verdict"] == "error" and type(ending).__name__ in record["reason"]


def test_an_exception_that_cannot_say_what_it_is_is_a_verdict(run):
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no words")

    def fail(k):
        raise Mute

    [record] = run(claim(fail))
    assert record["verdict"] == "error" and record["reason"] == "Mute: no message."


def test_a_claim_that_needs_an_unknown_one_is_judged(run):
    [record] = run(claim(welch, needs=["run.nowhere"]))
    assert record["passed"] and record["needs"] == ["run.nowhere"]


def test_a_counterexample_says_what_was_measured_and_what_the_bound_was(run):
    [record] = run(claim(too_strong))
    for found in record["counterexamples"].values():
        assert found["measured"] < found["bound"]


# --- store


def test_a_second_run_measures_nothing_again(run, tmp_path, monkeypatch):
    with Store.open(tmp_path / "store.db") as store:
        [first] = run(claim(too_strong), store=store)
        monkeypatch.setattr(attack, "measure", lambda *_: pytest.fail("measured again"))
        monkeypatch.setattr(attack, "measure_draws", lambda *_: pytest.fail("measured again"))
        [again] = run(claim(too_strong), store=store)
        assert {**first, "seconds": 0} == {**again, "seconds": 0}
        assert [r["verdict"] for r in store.verdicts()] == ["refuted"] and len(store.runs()) == 2


# --- judges


def test_results_of_data_that_changed_are_measured_again(tmp_path):
    file, data = tmp_path / "claims_data.py", tmp_path / "data.npy"
    file.write_text(
        "import hebbcheck as hc, numpy as np\nfrom pathlib import Path\nfrom hebbcheck import geometry as geo\n"
        'data = np.load(Path(__file__).with_name("data.npy"))\n'
        'def some(rng, n):\n    return {"x": rng.choice(data, n)}\n'
        '@hc.claim("data.positive", over=geo.family(some, n=(2, 9)))\n'
        "def positive(x):\n    return hc.at_least(x.x, 0)\n"
    )
    digests = []
    for sign in (1, -1):
        np.save(data, sign * np.arange(5.0))
        command = f"from hebbcheck.discovery import load; print(load({str(file)!r})[0].digest)"
        digests.append(subprocess.run([sys.executable, "-c", command], capture_output=True, text=True).stdout)
    assert len(set(digests)) == 2 and all(digests)


def test_a_figure_that_is_not_to_be_found_is_the_error_of_its_claim_alone(run):
    lost = hc.claim("lost", over=geo.figure("fig_none"))(lambda fig: hc.at_least(fig.r2, 0.5))
    found = hc.claim("found", over=geo.kernels())(lambda k: hc.at_least(k.trace, 0))
    records = {r["id"]: r for r in run(lost, found)}
    assert records["lost"]["verdict"] == "error" and "fig_none" in records["lost"]["reason"]
    assert records["found"]["passed"]


def test_every_quantifier_has_a_judge():
    assert {judge_of(q).__module__.rsplit(".", 1)[-1] for q in Quantifier} == {
        "identity",
        "for_all",
        "expectation",
        "probability",
        "constants",
        "rate",
        "reported",
    }
    assert judge_of(Quantifier.RATE) is rate.judge


def test_a_finding_starts_empty():
    finding = Finding(Outcome.SUPPORTED, "It holds.")
    assert finding.points == [] and finding.tightness == {"ratio": None, "instance": None}
    assert finding.r2 == {"fitted": None, "stated": None} and finding.failures is None
