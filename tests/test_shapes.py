"""Shapes: laws of vectors, drawn with and without coordinates, and read from files."""

import json
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy import stats

from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.embeddings import load
from hebbcheck.geometry.files import sizes_of_files
from hebbcheck.geometry.shapes import harmonic_frame, sphere_span, unit_rows

LEVEL = 1e-4
SHAPES = [
    geo.sphere,
    geo.gaussian,
    geo.spiked(3),
    geo.clustered(3),
    geo.low_rank(2),
    geo.tight_frame,
]


def rows(shape, count=40, d=6, seed=0, purpose="keys"):
    return shape.sample(Streams("shape", seed), purpose, count, d)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize(("count", "d"), [(1, 1), (3, 2), (5, 9), (40, 6)])
def test_every_shape_has_every_size(shape, count, d):
    made = rows(shape, count, d)
    assert made.shape == (count, d)
    if shape.unit:
        np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1)
    assert not np.array_equal(made, rows(shape, count, d, seed=1)) or d == 1
    assert not np.array_equal(made, rows(shape, count, d, purpose="values")) or d == 1


def test_names_say_the_parameters():
    assert [repr(s) for s in SHAPES] == [
        *("sphere", "gaussian", "spiked(3)", "clustered(3, 0.5)", "low_rank(2)", "tight_frame")
    ]


def test_moments_of_the_sphere_and_of_gaussians():
    d, count = 5, 3000
    for shape, fourth in ((geo.sphere, 3 / (d * (d + 2))), (geo.gaussian, 3 / d**2)):
        entries = rows(shape, count, d)
        for power, mean in ((1, 0), (2, 1 / d), (4, fourth)):
            sample = (entries**power)[:, 0]
            assert abs(sample.mean() - mean) < stats.norm.isf(LEVEL / 2) * sample.std() / np.sqrt(count)


def test_spiked_vectors_share_a_direction_between_keys_and_values():
    streams = Streams("spike")
    keys, values = (geo.spiked(50).sample(streams, role, 30, 4) for role in ("keys", "values"))
    assert np.min(np.abs(keys @ values.T)) > 0.5 or np.median(np.abs(keys @ values.T)) > 0.98
    np.testing.assert_allclose(rows(geo.spiked(0)), rows(geo.sphere))


def test_clusters_have_that_many_centres():
    made = rows(geo.clustered(4, spread=0.01), 60, 8)
    near = made @ made.T > 0.99
    assert len({tuple(row) for row in near}) == 4


def test_low_rank_vectors_span_that_many_dimensions():
    assert np.linalg.matrix_rank(rows(geo.low_rank(2), 40, 6)) == 2
    assert np.linalg.matrix_rank(rows(geo.low_rank(9), 40, 6)) == 6


@pytest.mark.parametrize(
    ("count", "d"), [(2, 5), (5, 5), (6, 5), (7, 4), (5, 4), (3, 2), (30, 7), (4, 1), (1, 1)]
)
def test_tight_frames_are_tight(count, d):
    for frame in (harmonic_frame(count, d), rows(geo.tight_frame, count, d)):
        np.testing.assert_allclose(np.linalg.norm(frame, axis=1), 1)
        if count >= d:
            np.testing.assert_allclose(frame.T @ frame, count / d * np.eye(d), atol=1e-12)
        else:
            np.testing.assert_allclose(frame @ frame.T, np.eye(count), atol=1e-12)


def test_rotations_are_uniform():
    """The first entry of a rotated basis vector has a symmetric law; without the right signs it has not."""
    signs = [np.sign(geo.tight_frame.sample(Streams(s), "keys", 2, 2)[0, 0]) for s in range(400)]
    assert stats.binomtest(signs.count(1), 400).pvalue > LEVEL


def test_unit_rows_of_awkward_rows():
    made = unit_rows(np.array([[0.0, 0, 0], [3, 4, 0], [1e-200, 1e-200, 0], [1e200, 0, 0], [5e-324, 0, 0]]))
    np.testing.assert_allclose(
        made, [[1, 0, 0], [0.6, 0.8, 0], [0.5**0.5, 0.5**0.5, 0], [1, 0, 0], [1, 0, 0]], atol=1e-15
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: geo.spiked(-1),
        lambda: geo.spiked(float("nan")),
        lambda: geo.spiked("1"),
        lambda: geo.clustered(0),
        lambda: geo.clustered(2.5),
        lambda: geo.clustered(3, spread=float("inf")),
        lambda: geo.low_rank(0),
        lambda: geo.low_rank(True),
    ],
)
def test_parameters_that_make_no_sense(make):
    with pytest.raises(HebbcheckError, match=r"out of range; .* needed; try"):
        make()


# --- the law of inner products without coordinates


@pytest.mark.parametrize(("count", "d"), [(5, 3), (4, 4), (4, 5), (6, 50)])
def test_spans_have_the_moments_of_the_sphere(count, d):
    grams = np.array([sphere_span(Streams("span", count, d, s)("keys"), count, d) for s in range(1500)])
    assert grams.shape[2] == min(count, d)
    grams = grams @ grams.transpose(0, 2, 1)
    np.testing.assert_allclose(grams[:, range(count), range(count)], 1)
    i, j = np.triu_indices(count, 1)
    checks = 3 * len(i)
    for a, b in zip(i, j, strict=True):
        for power, mean in ((1, 0), (2, 1 / d), (4, 3 / (d * (d + 2)))):
            sample = grams[:, a, b] ** power
            error = sample.std() / np.sqrt(len(sample))
            assert abs(sample.mean() - mean) < stats.norm.isf(LEVEL / 2 / checks) * error, (a, b, power)
    triple = grams[:, 0, 1] * grams[:, 1, 2] * grams[:, 0, 2]  # E = 1/d^2: the rows are jointly uniform
    error = triple.std() / np.sqrt(len(triple))
    assert abs(triple.mean() - 1 / d**2) < stats.norm.isf(LEVEL / 2) * error


ANY = {"keys": geo.anything}


@pytest.mark.parametrize(
    ("shapes", "choice"),
    [
        ({}, ""),
        ({"values": geo.tied}, ""),
        ({"memory": "kernel", **ANY}, "keys: uniform"),
        (ANY, "keys: tight frame"),
        ({"values": geo.anything}, "values: tight frame"),
        ({"values": geo.tight_frame}, ""),
        ({"keys": geo.tight_frame, "values": geo.tied}, ""),
    ],
)
@pytest.mark.parametrize("d", [3, 30])
def test_statistics_have_one_law_with_and_without_coordinates(shapes, choice, d):
    family = geo.facts(**shapes)
    assert family.spans
    names = ("gamma_min", "E_K", "E_v", "kappa", "B_Y", "V_min")
    numbers = {"F": 6, "d": d, "m": 5, "delta": 0.1}

    def sample(spanned):
        draws = [
            family.draw(numbers, Streams("law", spanned, s), choice=choice, spanned=spanned)
            for s in range(300)
        ]
        return {name: [round(getattr(x, name), 9) for x in draws] for name in names}  # a frame's do not vary

    full, span = sample(False), sample(True)
    for name in names:
        assert stats.ks_2samp(full[name], span[name]).pvalue > LEVEL / len(names), name


def test_what_cannot_be_spanned():
    assert not geo.facts(noise=0.5).spans
    assert not geo.facts(values=geo.gaussian).spans
    assert not geo.facts(keys=geo.spiked(1)).spans
    assert not geo.facts(keys=geo.spiked(1), memory="kernel").spans


def test_larger_sets_of_spanned_vectors_nearly_contain_the_smaller_ones():
    few, many = (sphere_span(np.random.default_rng(1), count, 2**20) for count in (5, 9))
    assert np.allclose(few, many[:5, :5], rtol=0, atol=1e-5) and np.max(few[1:, 0]) > 1e-4


@pytest.mark.parametrize("values", [geo.sphere, geo.tight_frame, geo.anything])
def test_a_large_d_costs_nothing(values):
    family = geo.facts(values=values)
    for choice in family.choices:
        x = family.draw({"F": 8, "d": 2**30, "m": 4, "delta": 0.1}, Streams(0), choice=choice, spanned=True)
        assert max(array.size for array in x.raw.arrays.values()) == 64
        assert values is geo.anything or x.V_min == pytest.approx(1, abs=1e-3)


# --- files


@pytest.fixture
def table(tmp_path):
    def write(name, array, **more):
        path = tmp_path / name
        if path.suffix == ".npy":
            np.save(path, array, **more)
        elif path.suffix == ".npz":
            np.savez(path, **({"rows": array} if not isinstance(array, dict) else array))
        else:
            from safetensors.numpy import save_file

            save_file({"rows": array} if not isinstance(array, dict) else array, path)
        return path

    return write


ROWS = np.random.default_rng(0).standard_normal((30, 7)) * 5


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_files_of_every_kind(table, suffix, dtype):
    path = table(f"t.{suffix}", ROWS.astype(dtype))
    loaded = load(path)
    assert loaded.dtype == dtype
    np.testing.assert_array_equal(loaded, ROWS.astype(dtype))
    with pytest.raises(ValueError, match="read-only"):
        loaded[0, 0] = 1
    as_they_are = rows(geo.file(path, normalize=False), 30, 7)
    assert as_they_are.dtype == np.float64
    np.testing.assert_array_equal(
        np.sort(as_they_are, axis=0), np.sort(ROWS.astype(dtype).astype(float), axis=0)
    )
    np.testing.assert_allclose(np.linalg.norm(rows(geo.file(path), 30, 7), axis=1), 1)


def test_bfloat16(tmp_path):
    path = tmp_path / "b.safetensors"
    header = json.dumps({"rows": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}).encode()
    bits = (np.array([1.5, -2, 3, 0.25], np.float32).view(np.uint32) >> 16).astype("<u2").tobytes()
    path.write_bytes(struct.pack("<Q", len(header)) + header + bits)
    np.testing.assert_array_equal(load(path), [[1.5, -2], [3, 0.25]])


def test_rows_are_drawn_without_replacement_and_independently_for_keys_and_values(table):
    family = geo.facts(
        keys=geo.file(table("t.npy", ROWS)), values=geo.file(table("v.npy", -ROWS)), memory="quadratic"
    )
    raw = family.raw({"F": 30, "d": 7, "m": 3, "delta": 0.1}, Streams(0))
    assert len(np.unique(raw.arrays["keys"], axis=0)) == 30
    assert not np.allclose(raw.arrays["keys"], -raw.arrays["values"])
    assert raw.unit == {"keys", "values"}
    plain = geo.facts(keys=geo.file(table("t.npy", ROWS), normalize=False), values=geo.sphere)
    assert plain.raw({"F": 3, "d": 7, "m": 3, "delta": 0.1}, Streams(0)).unit == {"values"}
    assert "file(t.npy, normalize=False)" in repr(plain)


def test_a_file_sets_the_sizes(table):
    small, large = table("s.npy", ROWS), table("l.npy", np.ones((2000, 7)))
    family = geo.facts(keys=geo.file(small))
    assert family.sizes["d"].given == 7 and family.sizes["F"].given == (3, 30)
    assert geo.facts(keys=geo.file(large)).sizes["F"].given is None
    assert geo.facts(keys=geo.file(small), F=5, d=7).sizes["F"].given == 5
    assert geo.capacity(values=geo.file(small)).sizes["d"].given == 7
    assert sizes_of_files((geo.sphere,), None, None) == (None, None)
    with pytest.raises(HebbcheckError, match=r"lengths \[3, 7\]"):
        geo.facts(keys=geo.file(small), values=geo.file(table("w.npy", np.ones((9, 3)))))


def test_facts_on_a_file_are_searched(table):
    family = geo.facts(keys=geo.file(table("t.npy", ROWS)), values=geo.anything)

    @settings(max_examples=10, suppress_health_check=list(HealthCheck))
    @given(family.strategy())
    def check(raw):
        assert raw.arrays["keys"].shape == (raw.numbers["F"], 7)
        assert raw.unit == {"keys"}
        assert family.build(raw).kappa <= 1

    check()


def test_a_changed_file_is_read_again_and_changes_the_fingerprint(table):
    import os

    path = table("t.npy", ROWS)
    family = geo.facts(keys=geo.file(path))
    before = family.fingerprint
    assert before == geo.facts(keys=geo.file(path)).fingerprint
    table("t.npy", ROWS + 1)
    os.utime(path, ns=(1, 1))
    np.testing.assert_array_equal(load(path), ROWS + 1)
    assert family.fingerprint != before


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("n.npy", np.array([[1.0, np.nan]]), "NaN or infinite"),
        ("i.npy", np.array([[1.0, np.inf]]), "NaN or infinite"),
        ("e.npy", np.empty((0, 3)), "empty"),
        ("o.npy", np.ones(3), "one matrix"),
        ("c.npy", np.ones((2, 2), complex), "real numbers"),
        ("b.npy", np.ones((2, 2), bool), "real numbers"),
        ("s.npy", np.array([["a", "b"]]), "real numbers"),
        ("p.npy", np.array([[{}, 1]], dtype=object), "pickle"),
        ("p.npz", np.array([[{}, 1]], dtype=object), "pickle"),
        ("t.npz", {"a": np.ones((2, 2)), "b": np.ones((2, 2))}, "exactly one matrix"),
        ("t.safetensors", {"a": np.ones((2, 2)), "b": np.ones((2, 2))}, "exactly one matrix"),
    ],
)
def test_files_that_hold_no_table(table, name, content, said):
    path = table(name, content, **({"allow_pickle": True} if name == "p.npy" else {}))
    with pytest.raises(HebbcheckError, match=said) as error:
        load(path)
    assert "\n" not in str(error.value) and str(error.value).count(";") == 2


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_damaged_files(table, suffix):
    path = table(f"t.{suffix}", ROWS)
    whole = path.read_bytes()
    for damaged in (b"", b"nonsense", whole[: len(whole) // 2], whole[:60] + b"\xff" * 40 + whole[100:]):
        path.write_bytes(damaged)
        try:
            load(path)  # a flipped byte of the data may go unseen
        except HebbcheckError as error:
            assert "cannot be used" in str(error) or "NaN" in str(error) or "matrix" in str(error)


def test_files_that_are_none(tmp_path):
    for path in (tmp_path / "none.npy", tmp_path, tmp_path / "t.csv"):
        with pytest.raises(HebbcheckError):
            load(path)
    (tmp_path / "t.csv").write_text("1,2")
    with pytest.raises(HebbcheckError, match="no known kind"):
        load(tmp_path / "t.csv")


def test_rows_that_do_not_do(table):
    path = table("z.npy", np.vstack([ROWS, np.zeros((1, 7))]))
    with pytest.raises(HebbcheckError, match="31 rows; 40 are needed"):
        rows(geo.file(path), 40, 7)
    with pytest.raises(HebbcheckError, match="try d=7"):
        rows(geo.file(path), 3, 8)
    with pytest.raises(HebbcheckError, match="1 zero rows"):
        rows(geo.file(path), 3, 7)
    assert rows(geo.file(path, normalize=False), 31, 7).shape == (31, 7)


def test_the_token_table_of_wordllama():
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("wordllama")
    if spec is None:
        pytest.skip("wordllama is not installed")
    path = next(Path(spec.submodule_search_locations[0]).rglob("*.safetensors"))
    family = geo.facts(keys=geo.file(path), values=geo.file(path, normalize=False))
    x = family.draw({"F": 50, "d": 256, "m": 64, "delta": 0.1}, Streams(0))
    assert load(path).shape == (32000, 256) and load(path).dtype == np.float16
    assert np.linalg.norm(x.values, axis=1).max() > 2 and x.kappa <= 1
