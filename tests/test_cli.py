"""The command line: what it prints, what it writes, and its exit codes."""

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import jsonschema
import pytest

from hebbcheck import cli, discovery
from hebbcheck.verdict import SCHEMA

SMALL = Path(__file__).parent / "claims" / "claims_small.py"
MIXED = """
import hebbcheck as hc
from hebbcheck import geometry as geo

@hc.claim("mix.true", over=geo.facts(), title="Signal plus cross-talk", source="Eq. (1)")
def true(x):
    "The margin is signal plus cross-talk."
    return hc.equal(x.margins, x.signal + x.crosstalk)

@hc.claim("mix.false", over=geo.kernels(), title="A trace", needs=["mix.true"])
def false(k):
    "The trace is at most a half."
    return hc.at_most(k.trace, 0.5)
"""
SLOW = """
import time
import hebbcheck as hc
from hebbcheck import geometry as geo

def declare(name):
    @hc.claim(name, over=geo.facts(F=4, d=(3, 5), m=4), fails_at_most=0.5)
    def seldom(x):
        time.sleep(0.004)
        return hc.at_most(x.K[0, 0], 20)
    return seldom

claims = [declare(f"slow.{i}") for i in range(2)]
"""
FIGURE = """
from hebbcheck.figure import Figure, Summary

def cells(settings):
    return [{"n": n} for n in range(3)]

def measure(settings, params):
    return {"height": params["n"] + settings.seed}

def summarise(settings, cells, results):
    rows = [[c["n"], r["height"] / 3] for c, r in zip(cells, results)]
    heights = {"height": results[0]["height"]}
    return Summary(heights, [heights], {"columns": ["n", "a third"], "rows": rows}, [], ["a note"])

toy = Figure("toy", "A toy", "Figure 0", "Heights", cells, measure, summarise)
"""


class Told:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        self.lines = out.splitlines()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with two claims files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "claims_mixed.py").write_text(MIXED)
    (tmp_path / "claims_slow.py").write_text(SLOW)
    (tmp_path / "figure_toy.py").write_text(FIGURE)
    return tmp_path


@pytest.fixture
def hebbcheck(capsys):
    """Run a command in this process, without worker processes."""

    def run(*arguments: str) -> Told:
        measuring = arguments and arguments[0] in ("verify", "reproduce") and "--jobs" not in arguments
        code = cli.run([*arguments, *(["--jobs", "1"] if measuring else [])])
        return Told(code, *capsys.readouterr())

    return run


def process(*arguments: str, **options) -> subprocess.Popen:
    """The same in a process of its own."""
    command = [sys.executable, "-c", "from hebbcheck.cli import main; main()", *arguments]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    # A job in the background ignores Ctrl-C, and so would what it starts.
    listens = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=listens,
        **options,
    )


def refused(told: Told) -> str:
    """The one line of a command that could not be used."""
    assert told.code == 2 and told.out == ""
    (line,) = told.err.splitlines()
    assert line.startswith("hebbcheck: ") and "Traceback" not in line
    return line


def test_without_a_command_it_says_what_there_is(hebbcheck):
    told = hebbcheck()
    assert told.code == 0 and told.err == ""
    for name in ("list", "show", "verify", "reproduce", "report", "power", "replay", "diff"):
        assert re.search(rf"^  {name} ", told.out, re.MULTILINE)


def test_list_names_every_claim_of_a_file(hebbcheck):
    told = hebbcheck("list", "claims_mixed.py")
    assert told.code == 0
    assert [line.split()[0] for line in told.lines] == ["id", "mix.false", "mix.true"]
    assert told.lines[1].split("  ")[-1] == "A trace" and "for all" in told.lines[1]


def test_list_without_words_is_the_paper_and_errata_only_those(hebbcheck):
    every = json.loads(hebbcheck("list", "--json").out)
    wrong = json.loads(hebbcheck("list", "--json", "--errata").out)
    assert {"B.34", "B.34.diagonal.printed"} <= {claim["id"] for claim in every}
    wrong_ids = [claim["id"] for claim in wrong]
    assert set(wrong_ids) == {claim["id"] for claim in every if claim["erratum"]} and len(wrong) < len(every)
    assert len(wrong_ids) == len(set(wrong_ids))
    assert hebbcheck("list", "claims_mixed.py", "--errata").out == "no claim has an erratum\n"


PAPER = """
import hebbcheck as hc
from hebbcheck import geometry as geo

def declare(id, needs=(), **more):
    @hc.claim(id, over=geo.kernels(), needs=needs, **more)
    def positive(k):
        return hc.at_least(k.m, 1)

wrong = dict(expect="refuted", erratum="It is not.")
declare("eq5", source="Eq. (5)")
declare("B.10", needs=["B.2"])
declare("B.2", source="Lemma B.2")
declare("B.2.printed", source="Lemma B.2", **wrong)
declare("B.10.printed", source="Theorem B.10", **wrong)
declare("text.any", source="Section 5", **wrong)
declare("4.1", source="Theorem 4.1", needs=["B.10", "B.lost", "B.34"])
declare("4.1.printed", source="Theorem 4.1", **wrong)
"""


def test_list_is_in_the_order_of_the_numbers(hebbcheck, tmp_path):
    (tmp_path / "claims_paper.py").write_text(PAPER)
    told = hebbcheck("list", "claims_paper.py")
    ids = [line.split()[0] for line in told.lines[1:]]
    assert ids == ["4.1", "4.1.printed", "B.2", "B.2.printed", "B.10", "B.10.printed", "eq5", "text.any"]
    facts = json.loads(hebbcheck("list", "claims_paper.py", "--json").out)
    assert [claim["id"] for claim in facts] == ids
    wanted = {"id", "title", "source", "quantifier", "theme", "expect", "erratum", "needs", "constants"}
    assert wanted | {"file", "line"} <= facts[0].keys() and facts[0]["needs"] == ["B.10", "B.lost", "B.34"]


def test_errata_are_listed_by_their_weight(hebbcheck, tmp_path):
    (tmp_path / "claims_paper.py").write_text(PAPER)
    told = json.loads(hebbcheck("list", "claims_paper.py", "--errata", "--json").out)
    found = [(claim["id"], claim["corrected"], claim["dependents"]) for claim in told]
    assert found == [
        ("B.10.printed", "B.10", 1),
        ("4.1.printed", "4.1", 0),
        ("B.2.printed", "B.2", 2),
        ("text.any", None, 0),
    ]
    plain = hebbcheck("list", "claims_paper.py::B.2.printed", "--errata")
    assert plain.lines[1].split(maxsplit=3) == ["B.2.printed", "B.2", "2", "It is not."]


@pytest.mark.parametrize("command", ["list claims_paper.py --json", "verify claims_paper.py::4.1 --json -"])
def test_needs_that_no_claim_has_are_a_warning(hebbcheck, tmp_path, command):
    (tmp_path / "claims_paper.py").write_text(PAPER)
    told = hebbcheck(*command.split())
    assert told.code == 0 and json.loads(told.out)
    warnings = [line for line in told.err.splitlines() if "warning" in line]
    assert warnings == ["hebbcheck: warning: no claim is called 'B.lost', which 4.1 needs"]


def test_show_tells_the_statement_and_the_last_verdict(hebbcheck):
    assert "last verdict: none" in hebbcheck("show", "claims_mixed.py::mix.true").out
    hebbcheck("verify", "claims_mixed.py")
    told = hebbcheck("show", "claims_mixed.py::mix.false")
    assert told.code == 0
    for part in (
        "The trace is at most a half.",
        "needs: mix.true",
        "last verdict: refuted",
        "hebbcheck replay",
    ):
        assert part in told.out


def test_verify_exits_0_when_all_got_what_was_expected(hebbcheck):
    told = hebbcheck("verify", f"{SMALL}::small.decomposition", f"{SMALL}::small.trace")
    assert told.code == 0
    assert told.lines[0].startswith("pass  small.decomposition  held  (identity)  ")
    assert told.lines[1].startswith("pass  small.trace  refuted as expected  (for all)  ")
    assert re.fullmatch(r"2 claims in .*: all got what was expected", told.lines[2])
    assert [line.partition(":")[0] for line in told.err.splitlines()] == [
        "[1/2] small.decomposition",
        "[2/2] small.trace",
    ]


def test_verify_exits_1_and_names_what_did_not(hebbcheck):
    told = hebbcheck("verify", "claims_mixed.py")
    assert told.code == 1
    assert told.lines[1].startswith("FAIL  mix.false  refuted unexpectedly  (for all)  ")
    assert told.lines[2].startswith("      hebbcheck replay .hebbcheck/counterexamples/mix.false")
    assert told.lines[3].endswith("1 got what was expected, 1 did not: mix.false (refuted unexpectedly)")


def test_json_holds_the_records_in_the_order_of_the_claims(hebbcheck, folder):
    assert hebbcheck("verify", "claims_mixed.py", "--jobs", "2", "--json", "out.json").code == 1
    records = json.loads(Path("out.json").read_text())
    assert [record["id"] for record in records] == ["mix.true", "mix.false"]
    for record in records:
        jsonschema.validate(record, SCHEMA)
    assert not [path for path in folder.iterdir() if path.suffix == ".part"]


def test_the_number_of_jobs_and_the_company_of_a_claim_change_nothing(hebbcheck):
    """Also an attack's draws, which Hypothesis would let depend on the modules that are imported."""
    again = ("--no-resume", "--json")
    hebbcheck("verify", "claims_mixed.py", "--jobs", "2", *again, "workers.json")
    hebbcheck("verify", str(SMALL) + "::small.trace", "claims_mixed.py", *again, "here.json")
    workers, here = (_without_times(json.loads(Path(f).read_text())) for f in ("workers.json", "here.json"))
    assert workers == here[1:]


def test_json_on_standard_output_is_alone(hebbcheck):
    told = hebbcheck("verify", "claims_mixed.py", "--json", "-", "--html", "page")
    assert told.code == 1 and told.err == ""
    assert [record["passed"] for record in json.loads(told.out)] == [True, False]
    assert Path("page/index.html").is_file()


PRINTING = """
import hebbcheck as hc
from hebbcheck import geometry as geo

print("loading")

@hc.claim("talks", over=geo.kernels(F=3, m=2))
def talks(k):
    print("judging")
    return hc.at_least(k.E_K, 0)
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_a_claims_file_prints_does_not_get_into_the_records(folder, jobs):
    Path("claims_talking.py").write_text(PRINTING)
    out, err = process("verify", "claims_talking.py", "--json", "-", "--jobs", jobs).communicate()
    assert [record["verdict"] for record in json.loads(out)] == ["held"]
    assert "loading" in err and "judging" in err


def test_the_command_in_a_record_runs_that_claim_again(hebbcheck):
    record = json.loads(hebbcheck("verify", "claims_mixed.py", "--seed", "7", "--json", "-").out)[1]
    program, *arguments = record["command"].split()
    assert program == "hebbcheck"
    again = json.loads(hebbcheck(*arguments, "--json", "-").out)
    for name in ("seconds", "versions"):
        again[0].pop(name), record.pop(name)
    assert again == [record]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("verfy", "No such command 'verfy'"),
        ("verify --backend fortran", "'fortran' is not one of 'numpy'"),
        ("verify --backend cupy", "needs the package cupy"),
        ("verify --device cuda", "has no device 'cuda'"),
        ("verify --jobs 0", "--jobs"),
        ("verify --seed -1", "--seed"),
        ("verify --profile", "--profile"),
        ("verify nothing.like.it", "no claim has the id"),
        ("verify missing.py", "missing.py does not exist"),
        ("verify broken.py", "broken.py does not import"),
        ("verify claims_mixed.py::mix.tru", "did you mean mix.true"),
        ("verify claims_mixed.py --json none/out.json", "there is no folder"),
        ("verify claims_mixed.py --json .", "it is a folder"),
        ("verify claims_mixed.py --html claims_mixed.py", "claims_mixed.py cannot be made"),
        ("verify claims_mixed.py --store claims_mixed.py", "not a SQLite database"),
        ("verify claims_mixed.py --dask tcp://127.0.0.1:1", "Dask|distributed"),
        ("reproduce", "no figure was named"),
        ("reproduce fig0", "no figure has the id 'fig0'"),
        ("report", "there is no store"),
        ("report --store claims_mixed.py", "not a SQLite database"),
        ("replay missing.npz", "missing.npz does not exist"),
        ("replay claims_mixed.py", "claims_mixed.py"),
        ("diff 1 2", "there is no store"),
        ("diff claims_mixed.py missing.json", "no file of verdicts"),
        ("diff missing.json 2.json", "missing.json cannot be read"),
        ("show nothing.like.it", "no claim has the id"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_code_2(hebbcheck, command, words):
    Path("broken.py").write_text("import hebbcheck\nraise ValueError('two\\nlines')\n")
    assert re.search(words, refused(hebbcheck(*command.split())))
    assert not Path(".hebbcheck").exists()


def test_a_defect_is_one_line_too(hebbcheck, monkeypatch):
    monkeypatch.setattr(discovery, "select", lambda words: 1 / 0)
    assert "ZeroDivisionError" in refused(hebbcheck("list"))


def test_a_backend_whose_package_is_missing_is_refused_before_anything_runs(hebbcheck, monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_strict", None)
    assert "pip install array-api-strict" in refused(hebbcheck("verify", "--backend", "strict"))


def test_replay_says_whether_a_counterexample_still_breaks_its_claim(hebbcheck, folder):
    hebbcheck("verify", "claims_mixed.py")
    (file,) = Path(".hebbcheck/counterexamples").glob("mix.false.*.smallest.npz")
    told = hebbcheck("replay", str(file))
    assert told.code == 0 and "bound: 0.5" in told.out
    assert "the claim is broken (in ball arithmetic" in told.out
    source = Path("claims_mixed.py")
    source.write_text(MIXED.replace("k.trace, 0.5", "k.trace, 10 * k.trace + 1"))
    told = hebbcheck("replay", str(file))
    assert told.code == 1 and "the claim is not broken" in told.out
    source.write_text(MIXED.replace("(k):", "(k, *, C):"))
    assert "cannot be computed" in refused(hebbcheck("replay", str(file)))
    source.write_text(MIXED.replace("mix.false", "mix.other"))
    assert "has no claim 'mix.false' any more" in refused(hebbcheck("replay", str(file)))


def test_replay_finds_a_claims_file_that_was_moved_here(hebbcheck, folder, monkeypatch):
    hebbcheck("verify", "claims_mixed.py")
    (file,) = Path(".hebbcheck/counterexamples").resolve().glob("mix.false.*.smallest.npz")
    (folder / "new").mkdir()
    Path("claims_mixed.py").rename("new/claims_mixed.py")
    monkeypatch.chdir("new")
    assert hebbcheck("replay", str(file)).code == 0


def test_replay_of_a_draw_that_may_fail_does_not_call_the_claim_broken(hebbcheck):
    Path("claims_draw.py").write_text(
        "import hebbcheck as hc\nfrom hebbcheck import geometry as geo\n"
        "@hc.claim('draw.half', over=geo.family(lambda rng, n: {'u': rng.random()}, n=9), fails_at_most=0.1)\n"
        "def half(x):\n    return hc.at_most(x.u, 0.5)\n"
    )
    assert hebbcheck("verify", "claims_draw.py").code == 1
    (file,) = Path(".hebbcheck/counterexamples").glob("draw.half.*.smallest.npz")
    told = hebbcheck("replay", str(file))
    assert told.code == 0 and "the relation fails on this draw, as it may now and then" in told.out


def test_diff_tells_what_changed_between_two_runs_of_the_store(hebbcheck):
    source = Path("claims_mixed.py")
    hebbcheck("verify", "claims_mixed.py")
    source.write_text(MIXED.replace("k.trace, 0.5", "k.trace, k.trace + 1"))
    hebbcheck("verify", "claims_mixed.py")
    better = hebbcheck("diff", "1", "2")
    assert better.code == 0
    assert better.lines == [
        "changed mix.false refuted (not as expected) -> held (as expected)",
        "1 claims unchanged, 1 different, 0 worse",
    ]
    worse = hebbcheck("diff", "2", "1")
    assert worse.code == 1 and worse.lines[0].startswith("worse mix.false held (as expected) -> refuted")
    assert hebbcheck("diff", "1", "1").lines == ["2 claims unchanged, 0 different, 0 worse"]
    assert "no run 7 that judged claims; it has 1, 2;" in refused(hebbcheck("diff", "1", "7"))


def test_diff_of_a_damaged_file_is_one_line(hebbcheck):
    base = json.loads(hebbcheck("verify", "claims_mixed.py::mix.true", "--json", "-").out)[0]
    Path("damaged.json").write_text(json.dumps([{**base, "constants": [1]}]))
    told = hebbcheck("diff", "damaged.json", "damaged.json")
    assert "is no file of verdicts" in refused(told)


def test_diff_of_files_tells_constants_added_and_removed_claims(hebbcheck):
    base = json.loads(hebbcheck("verify", "claims_mixed.py::mix.true", "--json", "-").out)[0]

    def write(name, **claims):
        constants = {id: {"C": {"value": value, "low": 0.0, "high": 9.0}} for id, value in claims.items()}
        records = [{**base, "id": id, "constants": constants[id]} for id in claims]
        Path(name).write_text(json.dumps(records))

    write("a.json", same=1.0, moved=1.0, gone=1.0)
    write("b.json", same=1.00001, moved=1.25, new=2.0)
    told = hebbcheck("diff", "a.json", "b.json")
    assert told.code == 1
    assert told.lines == [
        "worse gone gone; it was held",
        "changed moved C 1 -> 1.25",
        "added new held (as expected)",
        "1 claims unchanged, 3 different, 1 worse",
    ]


def test_report_is_made_from_the_store(hebbcheck):
    hebbcheck("verify", "claims_mixed.py")
    told = hebbcheck("report")
    assert told.code == 0 and told.out == "hebbcheck-report/index.html\n"
    assert "The trace is at most a half." in Path("hebbcheck-report/index.html").read_text()


def test_reproduce_prints_the_table_of_a_figure(hebbcheck):
    told = hebbcheck("reproduce", "./figure_toy.py", "--seed", "4", "--json", "out.json")
    assert told.code == 0
    assert told.lines[0].startswith("toy  A toy (")
    assert told.lines[1:5] == ["n  a third", "0  1.333", "1  1.667", "2  2"]
    assert told.lines[5] == "  a note"
    assert json.loads(Path("out.json").read_text())[0]["attributes"] == {"height": 4}


def test_a_figure_that_fails_is_a_verdict_of_its_claims_and_spares_the_others(hebbcheck):
    claim = """
import hebbcheck as hc
from hebbcheck import geometry as geo

@hc.claim("toy.height", over=geo.figure("toy"))
def height(fig):
    return hc.at_least(fig.height, 0)
"""
    Path("figure_toy.py").write_text(FIGURE.replace('params["n"] +', "1 / 0 +") + claim)
    told = hebbcheck("verify", "./figure_toy.py", "claims_mixed.py::mix.true")
    assert told.code == 1 and len(told.lines) == 3
    assert any(re.search(r"^FAIL  toy\.height  error .*ZeroDivisionError", line) for line in told.lines)
    told = hebbcheck("reproduce", "./figure_toy.py")
    assert told.code == 2 and "ZeroDivisionError" in told.err.splitlines()[-1] and "Traceback" not in told.err


def test_a_pipe_gets_plain_lines_that_are_not_wrapped(folder):
    out, err = process("verify", "claims_mixed.py", "--jobs", "1").communicate(timeout=60)
    assert "\x1b" not in out + err and "\r" not in out + err
    assert len(out.splitlines()) == 4 and len(err.splitlines()) == 2


def test_a_narrow_terminal_gets_wrapped_lines_in_colour(folder):
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": "40", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    command = [sys.executable, "-c", "from hebbcheck.cli import main; main()", "verify", "claims_mixed.py"]
    running = subprocess.Popen(
        [*command, "--jobs", "1"], stdout=follower, stderr=follower, stdin=follower, env=environment
    )
    os.close(follower)
    text = _everything(leader)
    assert running.wait(timeout=60) == 1
    assert "\x1b[" in text
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
    assert max(len(line) for line in re.split(r"[\r\n]+", plain)) <= 40
    assert re.search(r"FAIL  mix\.false  refuted unexpectedly", plain)


def _everything(descriptor: int) -> str:
    parts = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # the other side is closed
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


def test_nobody_reading_on_is_no_error(folder):
    running = process("list")
    running.stdout.close()
    assert running.stderr.read() == "" and running.wait(timeout=60) == 141


def _until_measured(running: subprocess.Popen, cells: int) -> None:
    """Wait until so many cells are in the store."""
    for _ in range(600):
        assert running.poll() is None, running.stderr.read()
        if Path(".hebbcheck/store.db").exists() and len(_cells()) >= cells:
            return
        time.sleep(0.05)
    raise AssertionError("nothing was measured in half a minute")


def _cells() -> dict[str, str]:
    """When each cell of the store was measured."""
    address = f"file:{Path('.hebbcheck/store.db')}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=10)
    try:
        return dict(connection.execute("SELECT digest, created FROM cells"))
    finally:
        connection.close()


def _without_times(records: list[dict]) -> list[dict]:
    return [{k: v for k, v in record.items() if k not in ("seconds", "command")} for record in records]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_ended_goes_on_where_it_was(hebbcheck, how):
    running = process("verify", "claims_slow.py", "--jobs", "2")
    _until_measured(running, 3)
    running.send_signal(how)
    _, err = running.communicate(timeout=30)
    if how == signal.SIGINT:
        assert running.returncode == 130
        last = err.splitlines()[-1]
        assert last.startswith("hebbcheck: interrupted; what was measured is in .hebbcheck/store.db")
        assert "Traceback" not in err
    before = _cells()
    assert hebbcheck("verify", "claims_slow.py", "--json", "resumed.json").code == 0
    after = _cells()
    assert len(after) > len(before) >= 3 and before.items() <= after.items()
    hebbcheck("verify", "claims_slow.py", "--json", "whole.json", "--store", "other/store.db")
    resumed, whole = (_without_times(json.loads(Path(f).read_text())) for f in ("resumed.json", "whole.json"))
    assert resumed == whole


def test_no_resume_measures_again(hebbcheck):
    command = ("verify", "claims_mixed.py::mix.false")
    hebbcheck(*command)
    assert "0 cells in 0.0 s, 2 from the store" in hebbcheck(*command).err
    assert "from the store" not in hebbcheck(*command, "--no-resume").err


def test_a_dask_cluster_gives_the_same_verdicts(hebbcheck):
    distributed = pytest.importorskip("distributed")
    command = ("verify", "claims_mixed.py", "--json")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        assert hebbcheck(*command, "dask.json", "--dask", cluster.scheduler_address).code == 1
    hebbcheck(*command, "here.json", "--store", "other/store.db")
    dask, here = (_without_times(json.loads(Path(f).read_text())) for f in ("dask.json", "here.json"))
    for record in dask + here:
        for name in ("counterexample", "counterexamples", "replay"):  # beside each store
            record.pop(name)
    assert dask == here


def test_text_from_a_claims_file_cannot_steer_the_terminal(hebbcheck):
    Path("claims_odd.py").write_text(
        textwrap.dedent(
            """
            import hebbcheck as hc
            from hebbcheck import geometry as geo

            @hc.claim("odd\\x1b[31m", over=geo.facts(F=3), title="[bold]a\\x1b]0;b\\x07 [/bold] :smile:")
            def odd(x):
                return hc.at_least(x.F, 1)
            """
        )
    )
    told = hebbcheck("list", "claims_odd.py")
    assert "\x1b" not in told.out and "\x07" not in told.out
    assert "odd?[31m" in told.out and "[bold]a?]0;b? [/bold] :smile:" in told.out
    assert "\x1b" not in hebbcheck("verify", "claims_odd.py").out
