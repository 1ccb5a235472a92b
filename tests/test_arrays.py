"""Backends, and streams that are independent by construction."""

import itertools

import numpy as np
import pytest
from scipy import stats

from hebbcheck import HebbcheckError, arrays
from hebbcheck import geometry as geo
from hebbcheck.arrays import NUMPY, Backend, Streams, key_of, stream
from hebbcheck.settings import Settings

NUMBERS = {"F": 24, "d": 5, "m": 24, "delta": 0.1, "eps": 0.5}


def first(streams, purpose="keys"):
    return streams(purpose).standard_normal(8).tolist()


# --- streams


@pytest.mark.parametrize("choice", [{}, {"mapping": "any"}, {"memory": "whitened"}, {"keys": geo.gaussian}])
@pytest.mark.parametrize("spanned", [False, True])
def test_no_feature_row_is_a_key_or_a_value(choice, spanned):
    """In public code for the paper one seed fed keys and features: their rows were equal up to the norm."""
    family = geo.facts(**choice)
    if spanned and not family.spans:
        return
    raw = family.raw(NUMBERS, Streams(42), spanned=spanned)
    arrays = {name: raw.arrays[name] for name in ("keys", "values", "A", "G")}
    for (left, a), (right, b) in itertools.combinations(arrays.items(), 2):
        a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
        if a.shape[1] == b.shape[1]:  # spans may differ in dimension
            assert np.max(np.abs(a @ b.T)) < 1 - 1e-6, (left, right)


def test_every_purpose_has_a_stream_of_its_own():
    family = geo.facts(mapping="any", noise=0.5)
    seen = []

    class Watched(Streams):
        def __call__(self, purpose):
            seen.append(purpose)
            return super().__call__(purpose)

    family.raw(NUMBERS, Watched("claim", 0))
    assert len(seen) == len(set(seen)) and {"keys", "values", "A", "G", "mapping", "noise", "count"} == set(
        seen
    )
    draws = [first(Streams("claim", 0), purpose) for purpose in seen]
    assert len({tuple(d) for d in draws}) == len(draws)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((42,), (42, 0)),
        ((42, 0), (42, 1)),
        ((1, 23), (12, 3)),
        (("B.1",), ("B.2",)),
        (("a", "b"), ("ab",)),
        (({"F": 3, "d": 4},), ({"F": 4, "d": 3},)),
        ((1,), ("1",)),
        ((1,), (True,)),
        ((1,), (1.5,)),
        ((None,), ("",)),
        (("keys",), ("keys", "keys")),
    ],
)
def test_streams_of_different_names_differ(one, other):
    assert key_of(*one) != key_of(*other)
    assert first(Streams(*one)) != first(Streams(*other))


def test_streams_of_one_name_are_the_same_wherever_they_are_made():
    cell = {"F": 3, "d": 4}
    numpyish = {"d": np.int64(4), "F": np.int32(3)}
    assert first(Streams("B.1", cell, 0)) == first(Streams("B.1", numpyish, np.int64(0)))
    assert first(Streams("B.1").child(cell, 0)) == first(Streams("B.1", cell, 0))
    assert len(key_of("a")) == 16
    with pytest.raises(TypeError, match="random stream"):
        key_of({1, 2})


def test_draws_do_not_depend_on_what_was_drawn_before():
    family = geo.facts()
    alone = family.raw(NUMBERS, Streams("claim", 3)).arrays
    streams = Streams("claim", 3)
    for index in range(3):
        family.raw(NUMBERS, Streams("claim", index))
    streams("A").standard_normal(100)
    again = family.raw(NUMBERS, streams).arrays
    assert all(np.array_equal(alone[name], again[name]) for name in alone)


def test_keys_do_not_depend_on_the_memory_nor_on_its_width():
    one = geo.facts().raw(NUMBERS, Streams(0)).arrays
    other = geo.facts(memory="quadratic").raw({**NUMBERS, "m": 3}, Streams(0)).arrays
    assert all(np.array_equal(one[name], other[name]) for name in ("keys", "values", "map"))


def test_many_streams_look_like_independent_normals():
    """The first numbers of neighbouring seeds and purposes: normal, and uncorrelated between purposes."""
    draws = np.array(
        [[first(Streams("claim", s), p)[0] for p in ("keys", "values", "A", "G")] for s in range(800)]
    )
    assert stats.kstest(draws.ravel(), "norm").pvalue > 1e-4
    correlations = np.corrcoef(draws.T)[np.triu_indices(4, 1)]
    assert np.max(np.abs(correlations)) < stats.norm.isf(1e-4 / 12) / np.sqrt(800)


def test_philox_is_the_generator():
    assert type(stream("x").bit_generator).__name__ == "Philox"


# --- backends


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        (dict(name="tensorflow"), "unknown"),
        (dict(dtype="float16"), "unknown"),
        (dict(device="cuda"), "no device"),
        (dict(name="strict", device="cuda"), "no device"),
    ],
)
def test_backends_that_there_are_not(backend, said):
    with pytest.raises(HebbcheckError, match=said):
        Backend(**backend)


@pytest.mark.parametrize("name", ["numpy", "strict", "torch", "jax"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays_there_and_back(name, dtype):
    pytest.importorskip({"strict": "array_api_strict"}.get(name, name))
    backend = Backend(name, dtype=dtype)
    host = np.array([[1.5, -0.1], [np.pi, 1e-30]])
    there = backend.asarray(host)
    back = backend.to_numpy(there)
    assert back.dtype == dtype and there.shape == (2, 2)
    np.testing.assert_array_equal(back, host.astype(dtype))
    whole = backend.to_numpy(backend.asarray(np.array([3, 2**40])))
    assert whole.dtype == np.int64 and whole.tolist() == [3, 2**40]
    assert backend.eps == np.finfo(dtype).eps
    backend.check()


def test_torch_without_cuda_says_so():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    with pytest.raises(HebbcheckError, match="no CUDA device"):
        Backend("torch", "cuda").check()
    with pytest.raises(HebbcheckError, match="no device 'nonsense'"):
        Backend("torch", "nonsense").check()


def test_a_backend_without_its_package_says_so(monkeypatch):
    import importlib

    def missing(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(
        HebbcheckError, match=r"needs the package array_api_strict.*pip install array-api-strict"
    ):
        _ = Backend("strict").xp


def test_numpy_arrays_of_the_right_dtype_are_not_copied():
    array = np.ones((2, 2))
    assert NUMPY.asarray(array) is array


# --- settings


@pytest.mark.parametrize(
    "wrong", [dict(profile="fast"), dict(backend="np"), dict(dtype="half"), dict(seed=1.5), dict(seed=True)]
)
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(HebbcheckError, match=";"):
        Settings(**wrong)


def test_settings_by_profile():
    assert [Settings(profile=p).by_profile(1, 2) for p in ("quick", "standard", "paper")] == [1, 2, 2]
    assert Settings(profile="paper").by_profile(1, 2, 3) == 3
    assert Settings(seed=5).as_dict() == {
        "profile": "quick",
        "seed": 5,
        "backend": "numpy",
        "device": "cpu",
        "dtype": "float64",
    }


def test_jax_computes_only_instances_that_are_large_enough(monkeypatch):
    raw = geo.facts().raw(NUMBERS, Streams("small"))
    jax = Backend("jax", dtype="float32")
    assert geo.facts().build(raw, jax).backend == Backend("numpy", dtype="float32")
    monkeypatch.setattr(arrays, "COMPILED", raw.entries)
    assert geo.facts().build(raw, jax).backend == jax
    assert geo.facts().build(raw, Backend("strict")).backend == Backend("strict")
