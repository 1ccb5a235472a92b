"""The referee's power: what shows that a variant is false, the trials, what is told of them, the command."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from judging import judged

import hebbcheck as hc
from hebbcheck import cli, sqrt
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.claim import Claim
from hebbcheck.discovery import load
from hebbcheck.judges import judge_of
from hebbcheck.power import needs, witness
from hebbcheck.power.fates import Fate
from hebbcheck.power.mutants import mutants_of
from hebbcheck.power.scales import scaled
from hebbcheck.power.summary import counts, summary, survivors
from hebbcheck.power.trials import judgeable, trials
from hebbcheck.progress import Progress
from hebbcheck.run import Runner
from hebbcheck.settings import Settings
from hebbcheck.store import Store

FILE = Path(__file__).parent / "claims" / "power_claims.py"
CLAIMS = {c.id.removeprefix("power."): c for c in load(FILE)}
QUICK = Settings()


def found(claim):
    """What shows that a claim is false, in words, or None."""
    return witness.measure(claim, QUICK, {})["found"]


def variant(name, words):
    return next(m for m in mutants_of(CLAIMS[name]) if m.mutation.words == words)


# --- witnesses


def test_an_instance_shows_that_an_inequality_is_false():
    told = found(variant("crosstalk", "flip z_max <= ..."))
    assert told.startswith("an instance breaks it: relative slack -") and "keys: " in told
    assert found(CLAIMS["crosstalk"]) is None and found(CLAIMS["decomposition"]) is None
    assert found(variant("decomposition", "drop the term signal"))


def test_failures_show_that_a_chance_is_too_small():
    told = found(variant("coherence", "flip 1 - V_min <= ..."))
    assert "draws fail where a rate of" in told
    assert found(CLAIMS["coherence"]) is None


def test_means_show_a_bias():
    def biased(v):
        return hc.equal(hc.mean(v.sketched_kernel(samples=20_000)), 1.1 * (v[0] @ v[1]) ** 2)

    assert "standard errors off" in found(Claim("biased", biased, geo.vectors(count=2)))
    assert found(CLAIMS["mean"]) is None


def test_ratios_show_another_rate():
    assert found(variant("rate", "log(F) with its exponent shifted by 1/2")).startswith(
        "the ratio changes like F^"
    )
    assert found(CLAIMS["rate"]) is None


def test_growing_needs_show_that_no_constant_is_enough():
    told = found(variant("constant", "d - 1 with its exponent shifted by 1/4"))
    assert "needed constant grows" in told and " d" in told
    assert found(CLAIMS["constant"]) is None


def test_needs_of_one_draw():
    def upper(x, *, C):
        return hc.at_most(x.n, C * 4)

    def lower(x, *, C):
        return hc.at_most(C * x.n, 4)

    def never(x, *, C):
        return hc.at_most(x.n, -C)

    family = geo.family(lambda rng, n: {"twice": 2 * n}, n=(1, 64))
    need = {
        f.__name__: needs._need(
            Claim("need", f, family), QUICK, {"n": 8}, needs.Streams(0), "", needs.Streams(1)
        )
        for f in (upper, lower, never)
    }
    assert need["upper"] == pytest.approx(2, rel=2e-3)
    assert need["lower"] == pytest.approx(2, rel=2e-3)
    assert need["never"] == float("inf")


@pytest.mark.parametrize(
    ("grown", "told"),
    [([1, 2, 4, 8], True), ([1, 1.1, 1.15, 1.16], False), ([1, 2, 3, 3.1], False), ([0, 1, 2, 4], False)],
)
def test_growth_that_levels_off_is_no_witness(grown, told):
    ladder = needs.Ladder(("d",), "", [{"d": 4.0**i} for i in range(4)])
    assert (needs._growth(ladder, grown) is not None) is told


def test_other_scales_are_drawn_too():
    def unscaled(x):
        return hc.at_most(x.z_max, sqrt(x.E_K_tilde * x.E_v_tilde) * hc.max(x.E_K_tilde, 1e-4))

    over = geo.facts(keys=geo.anything, values=geo.sphere, memory="kernel")
    raws = [
        scaled(
            over, over.raw({"F": 4, "d": 4, "m": 4, "delta": 0.1}, Streams(i), "keys: uniform"), Streams(i)
        )
        for i in range(20)
    ]
    norms = {round(float(np.log2(np.linalg.norm(raw.arrays["Phi"][0])))) for raw in raws}
    assert norms == {-10, 0, 10}
    assert {round(float(np.linalg.norm(raw.arrays["values"][0])), 6) for raw in raws} == {1.0}
    assert found(Claim("unscaled", unscaled, over)) is not None


# --- trials


@pytest.fixture(scope="module")
def tried():
    chosen = [CLAIMS[name] for name in ("crosstalk", "signal", "decomposition")]
    return list(trials(Runner(QUICK), chosen, 3, {}))


def test_most_false_variants_are_caught(tried):
    caught = [t for t in tried if t.fate is Fate.CAUGHT]
    assert len(caught) >= 8 and all(t.verdict == "refuted" for t in caught)
    assert not any(t.fate in (Fate.MISSED, Fate.BROKEN) for t in tried)


def test_at_most_so_many_variants_of_a_claim_are_judged(tried):
    judged = [t.mutant.original.id for t in tried if t.verdict is not None]
    assert [judged.count(f"power.{name}") for name in ("crosstalk", "signal", "decomposition")] == [3, 3, 2]
    assert all(t.fate in ("equivalent", "weaker") for t in tried if t.verdict is None)


def test_a_trial_as_a_record(tried):
    record = tried[0].record()
    assert json.loads(json.dumps(record)) == record
    assert record["id"] == f"{record['claim']}~{record['change']}" and record["seconds"] >= 0


def test_trials_resume_from_the_store(tmp_path):
    chosen, measured = [CLAIMS["crosstalk"]], []

    class Count(Progress):
        def cell_done(self, subject_id, cached, seconds):
            measured.append(cached)

    with Store.open(tmp_path / "store.db") as store:
        first = [t.record() for t in trials(Runner(QUICK, store, progress=Count()), chosen, 1, {})]
        assert not any(measured)
        measured.clear()
        again = [t.record() for t in trials(Runner(QUICK, store, progress=Count()), chosen, 1, {})]
        assert all(measured) and store.verdicts() == []
    strip = [[{k: v for k, v in r.items() if k != "seconds"} for r in records] for records in (first, again)]
    assert strip[0] == strip[1]


def test_workers_make_the_mutants_again():
    here = {t.mutant.id: (t.fate, t.reason) for t in trials(Runner(QUICK), [CLAIMS["decomposition"]], 2, {})}
    there = {
        t.mutant.id: (t.fate, t.reason)
        for t in trials(Runner(QUICK, jobs=2), [CLAIMS["decomposition"]], 2, {})
    }
    assert here == there


def test_variants_that_cannot_be_judged_are_broken():
    def sliced(k):
        return hc.at_most(k.trace, hc.sum(k.K[:, 0]) + hc.trace(k.K * k.F))

    claim = Claim("sliced", sliced, geo.kernels(F=(2, 4), m=(2, 4)))
    fates = {t.mutant.mutation.words: t.fate for t in trials(Runner(QUICK), [claim], None, {})}
    assert fates["drop K"] is Fate.BROKEN


def test_claims_without_wrong_variants():
    assert judgeable(CLAIMS["wrong"], QUICK) == "it is expected to be refuted"
    assert judgeable(CLAIMS["crosstalk"], QUICK) is None
    unjudgeable = Claim("nothing", lambda k: k.nothing, geo.kernels())
    assert judgeable(unjudgeable, QUICK).startswith("it cannot be judged")


# --- what is told


def record(fate, **changes):
    told = {
        "fate": fate,
        "kind": "a",
        "claim": "c",
        "quantifier": "for all",
        "seconds": 1.0,
        "id": "c~x",
        "reason": "",
    }
    return told | changes


def test_shares_count_what_is_certainly_false():
    records = [
        record(f) for f in ("caught", "caught", "caught", "missed", "undetermined", "weaker", "broken")
    ]
    total = counts(records)
    assert total["share"] == 0.75 and total["least"] == 0.6
    assert total["mutants"] == 7 and total["seconds"] == 7
    assert counts([])["share"] is None and counts([record("undetermined")])["share"] is None


def test_survivors_are_told_by_what_they_mean():
    records = [record(f) for f in ("weaker", "caught", "undetermined", "missed", "equivalent", "broken")]
    fates = [r["fate"] for r in survivors(records)]
    assert fates == ["missed", "undetermined", "broken", "equivalent", "weaker"]


def test_a_summary_has_both_tables():
    records = [record("caught"), record("missed", kind="b", claim="d")]
    told = summary(records, {"e": "no"}, QUICK)
    assert told["kinds"]["b"]["missed"] == told["claims"]["c"]["caught"] == 1
    assert told["needed"] == 0.85 and summary([], {}, Settings("standard"))["needed"] == 0.95
    assert told["skipped"] == {"e": "no"} and told["profile"] == "quick"


# --- the command


@pytest.fixture
def power(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(FILE, tmp_path / "power_claims.py")

    def run(*arguments):
        code = cli.run(["power", *arguments, "--jobs", "1"])
        return code, *capsys.readouterr()

    return run


def test_the_command(power):
    code, out, err = power("power_claims.py::power.crosstalk", "--limit", "2", "--json", "told.json")
    assert code == 0 and "of 2 variants that are certainly false were caught (100%; 85% needed)" in out
    assert "caught of false" in out and "[2/2] power.crosstalk~" in err
    told = json.loads(Path("told.json").read_text())
    assert told["total"]["caught"] == 2 and len(told["mutants"]) == told["total"]["mutants"]


def test_the_command_fails_where_too_few_are_caught(power, monkeypatch):
    monkeypatch.setattr("hebbcheck.power.summary.ENOUGH", (1.01, 1.01))
    code, out, _ = power("power_claims.py::power.decomposition", "--limit", "1")
    assert code == 1 and "101% needed" in out


def test_the_command_needs_claims_that_hold(power):
    code, _, err = power("power_claims.py::power.wrong")
    assert code == 2 and "no claim has wrong variants (power.wrong: it is expected to be refuted)" in err


def test_variants_of_a_claim_that_is_refuted_itself_say_nothing(power, tmp_path):
    (tmp_path / "false.py").write_text(
        "import hebbcheck as hc\nfrom hebbcheck import geometry as geo\n"
        "@hc.claim('power.false', over=geo.facts(keys=geo.sphere, values=geo.sphere))\n"
        "def crowded(x):\n    return hc.at_most(x.E_K, x.F / x.d ** 3)\n"
    )
    code, out, _ = power("false.py", "--limit", "2")
    assert code == 1 and "no variants of power.false: it is refuted itself: An instance breaks it" in out


def test_json_alone_on_standard_output(power):
    code, out, err = power("power_claims.py::power.decomposition", "--limit", "1", "--json", "-")
    assert code == 0 and json.loads(out)["total"]["caught"] == 1 and err == ""


def test_the_report_shows_the_table(power):
    assert power("power_claims.py::power.crosstalk", "--limit", "1")[0] == 0
    assert cli.run(["report"]) == 0
    page = Path("hebbcheck-report/index.html").read_text()
    assert "The power of the referee" in page and "caught of false" in page


def test_the_need_of_assumptions_is_not_asked_for():
    for name in ("signal", "coherence"):
        quiet = replace(CLAIMS[name], test_needs=False)
        tasks = next(judge_of(quiet.quantifier)(quiet, QUICK))
        assert not any(task.params.get("broken") for task in tasks)
    usual = next(judge_of(CLAIMS["signal"].quantifier)(CLAIMS["signal"], QUICK))
    assert any(task.params.get("broken") for task in usual)
    assert judged(replace(CLAIMS["signal"], test_needs=False)).assumptions["V_ij >= 0"]["needed"] is None
