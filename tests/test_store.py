import json
import math
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbcheck.errors import HebbcheckError
from hebbcheck.store import Store, to_json

CELL = {
    "subject": "A.1",
    "measure": "m:f",
    "params": {"F": 8},
    "settings": {"seed": 3, "backend": "numpy"},
    "versions": {"python": "3.11"},
    "seconds": 0.25,
}


def save(store: Store, digest: str, result: dict) -> None:
    store.save_cell(digest, **CELL, result=result)


def tree(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sub folder #1?" / "store.db"


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A store of some pages, cleanly closed, alone in its folder."""
    file = tmp_path / "full" / "store.db"
    with Store.open(file) as store:
        run = store.start_run("verify", {}, {})
        for i in range(300):
            save(store, f"cell{i}", {"values": [i + 0.5] * 40})
            store.save_verdict(run, {"id": f"claim{i}"})
    return file


def test_a_cell_comes_back_from_a_new_process(path):
    with Store.open(path) as store:
        assert store.cell("a") is None
        save(store, "a", {"x": [1, 2.5, None, "é", {"y": True}]})
        save(store, "b", {"x": 1})
        save(store, "b", {"x": 2})
    with Store.open(path) as store:
        assert store.cell("a") == {"x": [1, 2.5, None, "é", {"y": True}]}
        assert store.cell("b") == {"x": 2}
    assert [p.name for p in path.parent.iterdir()] == ["store.db"]


def test_a_row_tells_how_the_cell_was_made(path):
    with Store.open(path) as store:
        save(store, "a", {"x": 1})
    names = "subject measure params settings versions seconds"
    row = sqlite3.connect(path).execute(f"SELECT {names.replace(' ', ', ')} FROM cells").fetchone()
    found = dict(zip(names.split(), row, strict=True))
    for name in ("params", "settings", "versions"):
        found[name] = json.loads(found[name])
    assert found == CELL


@given(st.lists(st.floats(), max_size=5))
def test_floats_round_trip_exactly(numbers):
    back = json.loads(to_json({"x": numbers}))["x"]
    assert np.array(back).tobytes() == np.array(numbers, dtype=float).tobytes() or any(
        map(math.isnan, numbers)
    )
    assert all(a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(back, numbers, strict=True))


def test_infinities_nan_and_extremes_survive_the_file(path):
    numbers = [math.inf, -math.inf, math.nan, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2]
    with Store.open(path) as store:
        save(store, "a", {"x": numbers})
    with Store.open(path) as store:
        assert np.array(store.cell("a")["x"]).tobytes() == np.array(numbers).tobytes()


def test_numpy_scalars_are_numbers_and_other_objects_are_refused():
    scalars = {"b": np.float32(0.5), "a": np.int64(3), "c": np.bool_(True)}
    assert to_json(scalars) == '{"b":0.5,"a":3,"c":true}'
    assert to_json(scalars, canonical=True) == '{"a":3,"b":0.5,"c":true}'
    with pytest.raises(TypeError, match="ndarray is not JSON"):
        to_json({"a": np.zeros(2)})


@pytest.mark.parametrize("kind", ["verdict", "figure"])
def test_records_by_run_and_the_latest_of_each(path, kind):
    with Store.open(path) as store:
        save_record, records = getattr(store, f"save_{kind}"), getattr(store, f"{kind}s")
        first, second = (store.start_run(c, {"seed": 0}, {"python": "3"}) for c in ("one", "two"))
        save_record(first, {"id": "A", "n": 1})
        save_record(first, {"id": "B", "n": 2})
        save_record(second, {"id": "A", "n": 3})
        save_record(second, {"id": "C", "n": 4})
        save_record(second, {"id": "C", "n": 5})
        assert [r["n"] for r in records(first)] == [1, 2]
        assert [r["n"] for r in records(second)] == [3, 5]
        assert [r["n"] for r in records()] == [2, 3, 5]
        assert records(99) == []


def test_runs(path):
    with Store.open(path) as store:
        first = store.start_run("verify \udcff 'B.*'", {"seed": 7}, {"numpy": "2"})
        second = store.start_run("reproduce", {}, {})
        store.save_verdict(first, {"id": "A"})
        store.save_verdict(first, {"id": "B"})
        store.finish_run(first)
        done, cut = store.runs()
    assert (done["id"], done["command"], done["settings"]) == (first, "verify \udcff 'B.*'", {"seed": 7})
    assert (done["versions"], done["verdicts"]) == ({"numpy": "2"}, 2)
    assert done["started"] <= done["finished"]
    assert (cut["id"], cut["finished"], cut["verdicts"]) == (second, None, 0)


def sqlite_file(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in ("CREATE TABLE cells (x)", *statements):
        connection.execute(statement)
    connection.close()


FOREIGN = {
    "text": lambda p: p.write_text("my notes\n" * 50),
    "empty": lambda p: p.write_bytes(b""),
    "short": lambda p: p.write_bytes(b"SQLite format 3\0"),
    "other application": lambda p: sqlite_file(p, "PRAGMA application_id = 77"),
    "other application in WAL": lambda p: sqlite_file(p, "PRAGMA journal_mode = WAL"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_refused_and_untouched(tmp_path, kind):
    path = tmp_path / "store.db"
    FOREIGN[kind](path)
    before = tree(tmp_path)
    with pytest.raises(HebbcheckError, match=r"left as it is.*--store") as error:
        Store.open(path)
    assert "\n" not in str(error.value)
    assert tree(tmp_path) == before


def test_another_schema_version_is_refused_and_untouched(full):
    connection = sqlite3.connect(full)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = tree(full.parent)
    with pytest.raises(HebbcheckError, match="schema version 99"):
        Store.open(full)
    assert tree(full.parent) == before


def damage(path: Path, at: float, with_bytes: bytes) -> None:
    data = bytearray(path.read_bytes())
    start = int(len(data) * at)
    data[start : start + len(with_bytes)] = with_bytes
    path.write_bytes(data)


DAMAGE = {
    "cut in half": lambda p: os.truncate(p, p.stat().st_size // 2),
    "cut by whole pages": lambda p: os.truncate(p, p.stat().st_size - 4096),
    "cut by a few bytes": lambda p: os.truncate(p, p.stat().st_size - 100),
    "only its header": lambda p: os.truncate(p, 100),
    "zeros in the first page": lambda p: damage(p, 0, p.read_bytes()[:100] + bytes(3900)),
    "zeros in the middle": lambda p: damage(p, 0.5, bytes(5000)),
    "noise in the middle": lambda p: damage(p, 0.5, np.random.default_rng(0).bytes(5000)),
    "one digit": lambda p: p.write_bytes(p.read_bytes().replace(b"[123.5,", b"[124.5,", 1)),
    "a lost table": lambda p: sqlite3.connect(p).execute("DROP TABLE figures").connection.close(),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_store_is_refused_and_untouched(full, kind):
    whole = full.read_bytes()
    DAMAGE[kind](full)
    assert full.read_bytes() != whole
    before = tree(full.parent)
    with pytest.raises(HebbcheckError, match=r"is damaged.*--store") as error:
        Store.open(full)
    assert "\n" not in str(error.value)
    assert tree(full.parent) == before


def test_folders_pipes_and_files_as_folders_are_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    for name, message in (("", "not a file"), ("pipe", "not a file"), ("file/store.db", "cannot be used")):
        with pytest.raises(HebbcheckError, match=message):
            Store.open(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "pipe"]


def test_two_at_a_time(path):
    with Store.open(path) as one, Store.open(path) as other:
        save(one, "a", {"x": 1})
        assert other.cell("a") == {"x": 1}
        save(other, "b", {"x": 2})
        assert one.cell("b") == {"x": 2}


WRITER = """
import sys
from hebbcheck.store import Store
path, name, last = sys.argv[1:]
with Store.open(path) as store:
    run = store.start_run(name, {}, {})
    for i in range(200):
        store.save_cell(f"{name}{i}", subject=name, measure="m", params={}, settings={}, versions={},
                        seconds=0.0, result={"i": i})
        store.save_verdict(run, {"id": f"{name}{i}"})
        if last == "die" and i == 150:
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
"""


def writer(path: Path, name: str, last: str = "") -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, last])


def test_processes_create_and_fill_one_store_together(path):
    writers = [writer(path, name) for name in "abc"]
    assert [w.wait(60) for w in writers] == [0, 0, 0]
    with Store.open(path) as store:
        assert all(store.cell(f"{name}{i}") == {"i": i} for name in "abc" for i in range(200))
        assert sorted((r["command"], r["verdicts"]) for r in store.runs()) == [(n, 200) for n in "abc"]
    assert [p.name for p in path.parent.iterdir()] == ["store.db"]


def test_a_killed_writer_loses_nothing_that_was_saved(path):
    assert writer(path, "a", "die").wait(60) == -9
    assert path.with_name("store.db-wal").stat().st_size > 0
    with Store.open(path) as store:
        assert [store.cell(f"a{i}") is not None for i in (0, 150, 151)] == [True, True, False]
        assert store.runs()[0]["finished"] is None
        save(store, "more", {"x": 1})
    with Store.open(path) as store:
        assert store.cell("more") == {"x": 1}


def test_damage_beside_a_killed_writers_log_is_refused_and_untouched(full):
    assert writer(full, "a", "die").wait(60) == -9
    damage(full, 0.5, bytes(5000))
    before = tree(full.parent)
    assert "store.db-wal" in before
    with pytest.raises(HebbcheckError, match="is damaged"):
        Store.open(full)
    after = tree(full.parent)
    assert [after[name] == before[name] for name in ("store.db", "store.db-wal")] == [True, True]
    assert set(after) == set(before)
