"""Counterexamples as files."""

import json
from pathlib import Path

import numpy as np
import pytest

import hebbcheck as hc
from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo
from hebbcheck.counterexample import load, replay, save
from hebbcheck.evaluation import Decision
from hebbcheck.inputs import Raw
from hebbcheck.settings import Settings

FAMILY = geo.facts(keys=geo.anything, values=geo.anything)
RAW = Raw(
    {"F": 2, "d": 1, "m": 1, "delta": 0.1},
    {
        "keys": np.array([[1.0], [0.1]]),
        "values": np.array([[1.0], [2.0]]),
        "A": np.ones((1, 1)),
        "G": np.ones((1, 1)),
        "map": np.array([0, 1]),
    },
)


def claim(function, id="test.broken", over=FAMILY, **more):
    return hc.claim(id, over=over, **more)(function)


WRONG = claim(lambda x: hc.at_least(x.gamma_min, 0))
RIGHT = claim(lambda x: hc.at_least(x.K_diag_min, 0), "test.right")


@pytest.fixture
def saved(tmp_path):
    return save(tmp_path / "new" / "folder", WRONG, Settings(seed=3), "smallest", RAW.as_json())


def test_there_and_back(saved):
    example = load(saved)
    assert (example.claim, example.kind, example.origin) == ("test.broken", "smallest", __file__)
    assert example.settings == Settings(seed=3).as_dict()
    assert example.raw.digest == RAW.digest and example.raw.arrays["map"].dtype.kind == "i"
    assert saved.name == "test.broken.quick.numpy-float64.3.smallest.npz"
    with np.load(saved, allow_pickle=False) as archive:
        assert set(archive.files) == {"header", *(f"array_{name}" for name in RAW.arrays)}


def test_units_and_spans_are_kept(tmp_path):
    raw = Raw(RAW.numbers, RAW.arrays, "whitened", frozenset({"keys", "values"}), spanned=True)
    again = load(save(tmp_path, WRONG, Settings(), "worst", raw.as_json())).raw
    assert again.digest == raw.digest


def test_the_papers_claims_are_found_by_module(tmp_path):
    from hebbcheck.discovery import select

    path = save(tmp_path, select(["B.16"])[0], Settings(), "worst", RAW.as_json())
    assert load(path).origin == "hebbcheck.bounds.crosstalk"


def test_names_of_any_id_differ_and_are_files(tmp_path):
    ids = ["a/b", "a_b", "a:b", "x" * 300, "x" * 301, "höhe"]
    paths = {save(tmp_path, claim(lambda x: 1, id), Settings(), "worst", RAW.as_json()) for id in ids}
    assert len(paths) == len(ids) and all(p.parent == tmp_path and len(p.name) < 160 for p in paths)
    assert {load(p).claim for p in paths} == set(ids)


def test_replaying():
    assert replay(_example(), WRONG).broken
    told = replay(_example(), WRONG)
    assert told.decision is Decision.VIOLATED and told.measured < 0 and told.ratio < 0
    held = replay(_example(), RIGHT)
    assert not held.broken and held.decision is Decision.HOLDS
    unmet = replay(_example(), claim(lambda x: hc.at_least(0, 1), given={"never": lambda x: False}))
    assert not unmet.broken and unmet.decision is Decision.UNMET


def _example(raw=RAW):
    from hebbcheck.counterexample import Counterexample

    return Counterexample(raw, "test.broken", __file__, Settings().as_dict(), "worst")


def test_replaying_in_floating_point_allows_for_rounding():
    def norm(x):
        return float(np.linalg.norm(np.asarray(x.values)))

    barely = claim(lambda x: hc.at_most(norm(x) * (1 + 2e-16), norm(x)))
    clearly = claim(lambda x: hc.at_most(norm(x) * (1 + 1e-8), norm(x)))
    assert replay(_example(), barely).decision is Decision.FLOAT_ONLY
    assert not replay(_example(), barely).broken and replay(_example(), clearly).broken
    large = Raw(RAW.numbers, {**RAW.arrays, "spare": np.zeros(5000)})
    assert (
        replay(_example(large), WRONG).broken
        and replay(_example(large), WRONG).decision is Decision.FLOAT_ONLY
    )


def rewritten(path, **changes):
    with np.load(path) as archive:
        header = json.loads(str(archive["header"]))
        arrays = {name: archive[name] for name in archive.files if name != "header"}
    header.update(changes)
    np.savez(path, header=np.array(json.dumps(header)), **arrays)
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"format": "hebbcheck counterexample 9"},
        {"numbers": [1, 2]},
        {"numbers": {"F": "two"}},
        {"claim": 3},
        {"settings": {"profile": "quick", "speed": 9}},
        {"settings": {"profile": "fast"}},
        {"settings": None},
        {"unit": 4},
    ],
)
def test_headers_that_make_no_sense(saved, change):
    with pytest.raises(HebbcheckError, match="no counterexample file; one that hebbcheck verify wrote"):
        load(rewritten(saved, **change))


def test_files_that_are_none(tmp_path, saved):
    whole = saved.read_bytes()
    contents = [
        b"",
        b"nonsense",
        whole[: len(whole) // 2],
        whole[:200] + b"\0" * 200 + whole[400:],
        b"PK\x03\x04",
    ]
    for content in contents:
        saved.write_bytes(content)
        with pytest.raises(HebbcheckError, match="no counterexample file"):
            load(saved)
    np.save(tmp_path / "array.npz", np.ones(3))
    (tmp_path / "array.npz.npy").rename(tmp_path / "a.npz")
    np.savez(tmp_path / "other.npz", x=np.ones(3))
    np.savez(tmp_path / "pickled.npz", header=np.array([{}], dtype=object), allow_pickle=True)
    for name in ("a.npz", "other.npz", "pickled.npz"):
        with pytest.raises(HebbcheckError, match="no counterexample file"):
            load(tmp_path / name)
    with pytest.raises(HebbcheckError, match="does not exist"):
        load(tmp_path / "none.npz")
    with pytest.raises(HebbcheckError, match="no counterexample file"):
        load(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(HebbcheckError, match="cannot be written"):
        save(Path(blocked) / "folder", WRONG, Settings(), "worst", RAW.as_json())
