import io
import os
import signal
import sqlite3
import subprocess
import sys
import time
import types
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import loky
import numpy as np
import pytest
from rich.console import Console
from threadpoolctl import threadpool_info

from hebbcheck.errors import HebbcheckError
from hebbcheck.progress import LineProgress, Progress, RichProgress
from hebbcheck.settings import Settings
from hebbcheck.store import Store
from hebbcheck.sweeps import Job, Reference, Task, cell_digest, run_jobs
from hebbcheck.versions import engine_digest, versions

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Subject:
    """A subject that is found again by its name; a process in `strangers` finds another definition."""

    id: str
    digest: str = "1"
    here: bool = False

    @property
    def reference(self):
        return None if self.here else Origin(self.id, self.digest)


@dataclass(frozen=True)
class Origin:
    id: str
    digest: str

    def resolve(self):
        return Subject(self.id, "2" if self.id == "changed" else self.digest)


class Stubborn(Exception):
    """Pickles, and cannot be read back."""

    def __init__(self, a, b):
        super().__init__(f"{a} {b}")


def measure(subject, settings, params):
    """The cell of all tests: notes that it ran, then does what its parameters say."""
    if "log" in params:
        with open(params["log"], "a") as log:
            log.write(f"{subject.id} {params['n']}\n")
    time.sleep(params.get("sleep", 0))
    match params.get("act"):
        case "raise":
            raise ZeroDivisionError(f"cell {params['n']}")
        case "stubborn":
            raise Stubborn("really", "stubborn")
        case "exit":
            sys.exit(0)
        case "interrupt":
            raise KeyboardInterrupt
        case "die":
            while "after" in params and not os.path.exists(params["after"]):
                time.sleep(0.01)
            os._exit(3)
        case "die once" if not os.path.exists(params["flag"]):
            Path(params["flag"]).touch()
            os._exit(3)
        case "wait" if not os.path.exists(params["flag"]):
            time.sleep(60)
        case "matrix":
            a = np.random.default_rng(params["n"]).standard_normal((300, 300))
            return {
                "sum": float((a @ a).sum()),
                "threads": sorted({i["num_threads"] for i in threadpool_info()}),
            }
        case "types":
            return {"tuple": (1, np.float64(0.1)), "dict": {3: "three"}, "pair": str(params["pair"])}
    return {"subject": subject.id, "n": params["n"], "seed": settings.seed, "pid": os.getpid()}


def task(n, **params):
    return Task(f"{__name__}:measure", {"n": n, **params})


def chain(batches):
    """A generator that asks for the batches one after the other and returns all results."""
    results = []
    for batch in batches:
        results.append((yield batch))
    return results


@pytest.fixture(scope="module")
def workers():
    """Two worker processes that most tests share, because starting them is slow."""
    with loky.ProcessPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(params=["here", "workers"])
def how(request):
    """Where the cells run: options of run_jobs."""
    if request.param == "here":
        return {}
    return {"jobs_in_parallel": 2, "executor": request.getfixturevalue("workers")}


def job(name, *batches, work=None, **subject):
    return Job(Subject(name, **subject), Settings(seed=5), work or chain(batches))


def outcomes(jobs, **options):
    return {j.subject.id: outcome for j, outcome in run_jobs(jobs, **options)}


def ran(log: Path) -> list[str]:
    return sorted(log.read_text().split("\n")[:-1]) if log.exists() else []


def test_results_come_back_in_order_and_batch_by_batch(how):
    found = outcomes(
        [job("a", [task(2, sleep=0.05), task(1), task(2)], [], [task(3)]), job("b", [task(4)]), job("c")],
        **how,
    )
    assert [[cell["n"] for cell in batch] for batch in found["a"]] == [[2, 1, 2], [], [3]]
    assert {(cell["subject"], cell["seed"]) for batch in found["a"] for cell in batch} == {("a", 5)}
    assert (found["b"][0][0]["subject"], found["c"]) == ("b", [])
    here = {cell["pid"] for batch in found["a"] for cell in batch} == {os.getpid()}
    assert here == (not how)


def test_a_later_batch_may_depend_on_the_results_of_an_earlier_one():
    def bisect():
        low, high = 0, 64
        while high - low > 1:
            [cell] = yield [task((low + high) // 2)]
            low, high = (cell["n"], high) if cell["n"] <= 37 else (low, cell["n"])
        return low

    assert outcomes([job("a", work=bisect())]) == {"a": 37}


def test_results_do_not_depend_on_how_many_run_in_parallel(workers):
    def jobs():
        return [job(name, [task(n, act="matrix") for n in range(3)]) for name in "ab"]

    alone, together = outcomes(jobs()), outcomes(jobs(), jobs_in_parallel=2, executor=workers)
    assert alone == together
    assert {t for batch in together.values() for cell in batch[0] for t in cell["threads"]} == {1}


def test_fresh_and_stored_results_are_the_same_json(tmp_path):
    with Store.open(tmp_path / "s.db") as store:
        fresh, stored = (outcomes([job("a", [task(0, act="types", pair=(1, 2))])], store=store) for _ in "ab")
    assert fresh == stored == {"a": [[{"tuple": [1, 0.1], "dict": {"3": "three"}, "pair": "[1, 2]"}]]}


def test_stored_cells_are_not_measured_again(tmp_path, how):
    log = tmp_path / "log"

    def jobs(last):
        return [job(name, [task(n, log=str(log)) for n in range(last)]) for name in "ab"]

    with Store.open(tmp_path / "s.db") as store:
        first = outcomes(jobs(2), **how, store=store)
        second = outcomes(jobs(3), **how, store=store)
        assert ran(log) == [f"{s} {n}" for s in "ab" for n in range(3)]
        assert {s: batch[0][:2] for s, batch in second.items()} == {s: batch[0] for s, batch in first.items()}
        outcomes(jobs(1), **how, store=store, resume=False)
        assert len(ran(log)) == 8


def test_an_exception_in_a_cell_is_raised_in_the_generator(how, tmp_path):
    log = str(tmp_path / "log")

    def careful():
        try:
            yield [
                task(0),
                task(1, act="raise", sleep=0.2),
                task(2, act="stubborn"),
                task(3, log=log, sleep=0.5),
            ]
        except ZeroDivisionError as error:
            [cell] = yield [task(7)]
            return str(error), cell["n"]

    found = outcomes(
        [job("careful", work=careful()), job("careless", [task(1, act="raise")]), job("good", [task(1)])],
        **how,
    )
    assert found["careful"] == ("cell 1", 7)
    assert isinstance(found["careless"], ZeroDivisionError)
    assert found["good"][0][0]["n"] == 1


@pytest.mark.parametrize(
    ("act", "message"), [("stubborn", "really stubborn"), ("exit", "bad tried to end the process")]
)
def test_odd_exceptions_harm_only_their_own_job(how, act, message):
    found = outcomes([job("bad", [task(0, act=act)]), job("good", [task(n) for n in range(5)])], **how)
    assert isinstance(found["bad"], Exception)
    assert message in str(found["bad"])
    assert [cell["n"] for cell in found["good"][0]] == list(range(5))


def test_a_generator_that_fails_or_exits_is_an_outcome():
    def fails():
        raise ValueError("in the judge")
        yield

    def exits():
        yield [task(0)]
        sys.exit(0)

    def unspeakable():
        yield [task(0, what=object())]

    works = {"fails": fails(), "exits": exits(), "unspeakable": unspeakable()}
    found = outcomes([job(name, work=work) for name, work in works.items()])
    assert {name: type(error) for name, error in found.items()} == {
        "fails": ValueError,
        "exits": RuntimeError,
        "unspeakable": TypeError,
    }


def test_a_dead_worker_harms_only_the_job_that_kills_it_again(tmp_path):
    flag = str(tmp_path / "flag")  # the one that dies once has begun: it would have its turn alone otherwise
    jobs = [
        job("unlucky", [task(0, act="die once", flag=flag), task(1)]),
        job("deadly", [task(0, act="die", after=flag), task(1)]),
        job("good", [task(n) for n in range(6)], [task(9)]),
    ]
    found = outcomes(jobs, jobs_in_parallel=2)
    assert "terminated" in str(found["deadly"])
    assert [cell["n"] for cell in found["unlucky"][0]] == [0, 1]
    assert [[cell["n"] for cell in batch] for batch in found["good"]] == [list(range(6)), [9]]


def test_a_broken_executor_that_was_given_is_the_outcome():
    class Broken(ThreadPoolExecutor):
        def submit(self, *_):
            raise BrokenExecutor("gone")

    assert str(outcomes([job("a", [task(0)])], executor=Broken())["a"]) == "gone"


def test_a_subject_without_reference_stays_in_this_process(workers):
    jobs = [job("local", [task(n) for n in range(3)], here=True), job("far", [task(0)])]
    found = outcomes(jobs, executor=workers)
    assert {cell["pid"] for cell in found["local"][0]} == {os.getpid()}
    assert found["far"][0][0]["pid"] != os.getpid()


def test_a_subject_that_changed_meanwhile_is_not_measured(workers):
    found = outcomes([job("changed", [task(0)])], executor=workers)
    assert isinstance(found["changed"], HebbcheckError)
    assert "changed during the run" in str(found["changed"])


class Recorder(ThreadPoolExecutor):
    """A given executor of one thread that notes in which order it is asked."""

    def __init__(self):
        super().__init__(1)
        self.asked: list[str] = []

    def submit(self, function, reference, *rest) -> Future:
        self.asked.append(reference.id)
        return super().submit(function, reference, *rest)


def test_a_given_executor_is_shared_fairly_and_left_open():
    with Recorder() as executor:
        jobs = [
            job("long", [task(n) for n in range(200)]),
            job("two", [task(0), task(1)]),
            job("one", [task(0)]),
        ]
        order = [j.subject.id for j, _ in run_jobs(jobs, executor=executor)]
        assert executor.asked[:5] == ["long", "two", "one", "long", "two"]
        assert order == ["one", "two", "long"]
        assert ThreadPoolExecutor.submit(executor, int, "3").result() == 3


def test_closing_the_iterator_keeps_what_is_finished(tmp_path):
    log = tmp_path / "log"
    jobs = [job(name, [task(n, log=str(log), sleep=0.02) for n in range(10)]) for name in "abc"]
    with Store.open(tmp_path / "s.db") as store, closing(run_jobs(jobs, store=store)) as finished:
        next(finished)
        assert store.cell(cell_digest(jobs[0].subject, jobs[0].settings, task(9, log=str(log), sleep=0.02)))
    assert ran(log) == [f"a {n}" for n in range(10)]


PROGRAM = """
import sys
import hebbcheck.sweeps
from test_sweeps import Store, job, outcomes, task
hebbcheck.sweeps.engine_digest = lambda: "the same engine, whoever edits it meanwhile"
path, log, parallel = sys.argv[1:]
with Store.open(path) as store:
    batches = [[task(10 * b + n, log=log, sleep=0.03) for n in range(5)] for b in range(3)]
    slow = job("slow", [task(0, log=log, act="wait", flag=path + ".go")])
    jobs = [job("a", *batches), job("b", *batches), slow]
    found = outcomes(jobs, jobs_in_parallel=int(parallel), store=store)
print({name: [[cell["n"] for cell in batch] for batch in found[name]] for name in ("a", "b", "slow")})
"""
EXPECTED = {s: [[10 * b + n for n in range(5)] for b in range(3)] for s in "ab"} | {"slow": [[0]]}


def program(folder: Path, parallel: int) -> subprocess.Popen:
    # A job in the background ignores Ctrl-C, and so would what it starts.
    listens = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder / "s.db"), str(folder / "log"), str(parallel)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), str(HERE.parent)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listens,
    )


def until_it_measures(folder: Path, cells: int) -> None:
    deadline = time.monotonic() + 60
    while len(ran(folder / "log")) < cells:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def check_resumed(folder: Path, parallel: int) -> None:
    """After the program was stopped: run to its end it measures what is not in the store, and only that."""
    Store.open(folder / "s.db").close()
    [(stored,)] = sqlite3.connect(folder / "s.db").execute("SELECT count(*) FROM cells")
    begun = len(ran(folder / "log"))
    assert begun - 4 <= stored < 31
    (folder / "s.db.go").touch()
    output, errors = program(folder, parallel).communicate(timeout=60)
    assert (output.strip(), errors) == (str(EXPECTED), "")
    assert len(ran(folder / "log")) - begun == 31 - stored
    assert len(set(ran(folder / "log"))) == 31


@pytest.mark.parametrize("parallel", [1, 2])
def test_a_killed_run_resumes_with_the_same_result(tmp_path, parallel):
    run = program(tmp_path, parallel)
    until_it_measures(tmp_path, 8)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    check_resumed(tmp_path, parallel)


def test_ctrl_c_stops_quickly_and_quietly_and_loses_nothing(tmp_path):
    run = program(tmp_path, 2)
    until_it_measures(tmp_path, 8)
    begun = time.monotonic()
    os.killpg(run.pid, signal.SIGINT)
    output, errors = run.communicate(timeout=50)
    assert time.monotonic() - begun < 30
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert (output, run.returncode) == ("", -signal.SIGINT)
    check_resumed(tmp_path, 1)


def test_ctrl_c_in_a_cell_of_this_process_ends_the_run(tmp_path):
    jobs = [job("a", [task(0), task(1, act="interrupt"), task(2)])]
    with Store.open(tmp_path / "s.db") as store:
        with pytest.raises(KeyboardInterrupt):
            list(run_jobs(jobs, store=store))
        digests = [cell_digest(jobs[0].subject, jobs[0].settings, task(n)) for n in (0, 2)]
        assert [store.cell(digest) is not None for digest in digests] == [True, False]


def test_a_digest_speaks_for_all_that_a_result_depends_on(monkeypatch):
    base = (Subject("a", "1"), Settings(), Task("m:f", {"F": 8, "d": 4}))
    others = [
        (Subject("b", "1"), *base[1:]),
        (Subject("a", "2"), *base[1:]),
        (base[0], Settings(seed=1), base[2]),
        (base[0], Settings(dtype="float32"), base[2]),
        (*base[:2], Task("m:g", {"F": 8, "d": 4})),
        (*base[:2], Task("m:f", {"F": 8, "d": 5})),
    ]
    assert len({cell_digest(*parts) for parts in [base, *others]}) == 7
    first = cell_digest(*base)
    assert first == cell_digest(*base[:2], Task("m:f", {"d": 4, "F": 8}))
    monkeypatch.setattr("hebbcheck.sweeps.versions", lambda backend: {"scipy": "another"})
    assert first != cell_digest(*base)


def test_a_reference_finds_its_subject_again(monkeypatch):
    claims = {"file.py": [Subject("A.1"), Subject("A.2")]}
    fake = types.SimpleNamespace(load=claims.__getitem__)
    monkeypatch.setitem(sys.modules, "hebbcheck.discovery", fake)
    assert Reference("claim", "file.py", "A.2").resolve() == Subject("A.2")
    with pytest.raises(HebbcheckError, match=r"file\.py has no claim 'B' any more"):
        Reference("claim", "file.py", "B").resolve()


class Told(Progress):
    def __init__(self):
        self.events = []

    def started(self, total_jobs):
        self.events.append(total_jobs)

    def cell_done(self, subject_id, cached, seconds):
        self.events.append((subject_id, cached, seconds >= 0.02))

    def job_done(self, subject_id):
        self.events.append(subject_id)

    def finished(self):
        self.events.append("end")


def test_progress_hears_of_every_cell_and_job(tmp_path):
    with Store.open(tmp_path / "s.db") as store:
        first, second = Told(), Told()
        for told, more in ((first, []), (second, [task(1, sleep=0.03)])):
            list(run_jobs([job("a", [task(0, sleep=0.02), *more])], store=store, progress=told))
    assert first.events == [1, ("a", False, True), "a", "end"]
    assert second.events == [1, ("a", True, False), ("a", False, True), "a", "end"]


def test_plain_lines_and_bars(capsys, tmp_path):
    screen = io.StringIO()
    bar = RichProgress(Console(file=screen, force_terminal=True, width=100))
    with Store.open(tmp_path / "s.db") as store:
        list(run_jobs([job("a", [task(0)])], store=store, progress=LineProgress()))
        list(
            run_jobs(
                [job("[b]", [task(1)]), job("a", [task(0), task(1)])], store=store, progress=LineProgress()
            )
        )
        list(run_jobs([job("a", [task(0)]), job("[b]", [task(1)])], store=store, progress=bar))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "[1/1] a: 1 cells in 0.0 s",
        "[1/2] [b]: 1 cells in 0.0 s",
        "[2/2] a: 1 cells in 0.0 s, 1 from the store",
    ]
    assert "2/2" in screen.getvalue()
    assert "[b]" in screen.getvalue()


def test_time_is_counted():
    timed = job("a", [task(0, sleep=0.03), task(1, sleep=0.03)])
    list(run_jobs([timed]))
    assert 0.06 <= timed.seconds < 1


def test_versions():
    found = versions("strict")
    assert found["numpy"] == np.__version__
    assert set(found) == {"hebbcheck", "python", "numpy", "scipy", "hypothesis", "array_api_strict"}
    assert all(text and isinstance(text, str) for text in found.values())


def test_the_engine_digest_follows_the_sources(tmp_path, monkeypatch):
    digests = []
    monkeypatch.setattr("hebbcheck.versions.ENGINE", tmp_path)
    for name, text in (("a.py", "1"), ("a.py", "2"), ("judges/b.py", "2"), ("bounds/c.py", "3")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        digests.append(engine_digest.__wrapped__())
    assert len(set(digests[:3])) == 3
    assert digests[2] == digests[3]
