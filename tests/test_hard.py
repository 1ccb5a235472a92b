"""`anything` is adversarial: each kind of hard case occurs, in searches and in draws."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings

from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.geometry import hard
from hebbcheck.geometry.facts import _gram


def pairs(rows):
    i, j = np.triu_indices(len(rows), 1)
    return rows[i], rows[j]


def directions(rows):
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)


def tight(rows):
    count, d = rows.shape
    return count > d > 1 and np.allclose(rows.T @ rows, count / d * np.eye(d), atol=1e-9)


def kinds(rows):
    """What is special about a set of vectors."""
    a, b = pairs(rows)
    norms = np.linalg.norm(rows, axis=1)
    some = np.any(a != 0, axis=1)
    apart = np.linalg.norm(directions(a) - directions(b), axis=1)
    return {
        "duplicates": np.any(some & np.all(a == b, axis=1)),
        "antipodal": np.any(some & np.all(a == -b, axis=1)),
        "one twice another": np.any(some & (np.all(a == 2 * b, axis=1) | np.all(2 * a == b, axis=1))),
        "near-parallel": rows.shape[1] > 1 and np.any((apart > 1e-12) & (apart < 1e-6)),
        "a zero vector": np.any(norms == 0),
        "all zero": np.all(norms == 0),
        "norms from 1e-3 to 1e3": norms.min() > 0 and norms.max() > 1e5 * norms.min(),
        "one orthant": len(rows) > 2 and rows.shape[1] > 1 and np.all(rows >= 0) and np.any(rows > 0),
        "a tight frame": tight(rows),
        "rank one": len(rows) > 2 and rows.shape[1] > 1 and np.linalg.matrix_rank(rows) == 1,
        "orthonormal": len(rows) > 1 and np.array_equal(rows @ rows.T, np.eye(len(rows))),
    }


def collect(strategy, examples, look):
    """Every kind that `look` names in some of the examples."""
    found = set()

    @seed(1)
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def see(example):
        found.update(kind for kind, present in look(example).items() if present)

    see()
    return found


def test_each_kind_of_vectors_occurs_in_a_search():
    def look(raw):
        of_keys, of_values = kinds(raw.arrays["keys"]), kinds(raw.arrays["values"])
        return {kind: present or of_values[kind] for kind, present in of_keys.items()}

    family = geo.facts(keys=geo.anything, values=geo.anything)
    assert collect(family.strategy(), 400, look) == set(kinds(np.eye(2)))


def test_facts_of_every_small_size_occur():
    family = geo.facts(keys=geo.anything, values=geo.anything, mapping="any")

    def look(raw):
        F, n = raw.numbers["F"], len(raw.arrays["values"])
        return {
            F: True,
            "more values": n > F,
            "fewer": n < F,
            "one value": n == 1,
            ("d", raw.numbers["d"]): True,
        }

    found = collect(family.strategy(), 300, look)
    assert {1, 2, 3, 12, "more values", "fewer", "one value", ("d", 1), ("d", 2)} <= found


def alignment(raw):
    """The largest |cosine| between a kernel column and <v_a - v_b, v_t> over t != i, of columns with three entries."""
    K = _gram(raw.arrays["keys"], raw.arrays, chosen=True)
    values, codes = raw.arrays["values"], raw.arrays["values"][raw.arrays["map"]]
    best = 0.0
    for i in range(len(K)):
        others = np.delete(np.arange(len(K)), i)
        column = K[others, i]
        if np.sum(np.abs(column) > 1e-9 * np.max(np.abs(column), initial=1e-300)) < 3:
            continue
        for v in values:
            row = codes[others] @ (codes[i] - v)
            norms = np.linalg.norm(row) * np.linalg.norm(column)
            if norms > 0:
                best = max(best, abs(row @ column) / norms)
    return best


@pytest.mark.parametrize("memory", ["bilinear", "quadratic", "kernel"])
def test_planted_alignment_occurs_in_a_search(memory):
    family = geo.facts(keys=geo.anything, values=geo.anything, memory=memory, F=(5, 8), d=(3, 5), m=(2, 5))
    one_point = geo.facts(keys=geo.anything, values=geo.anything, memory=memory)
    assert one_point.exact
    found = collect(
        family.strategy(),
        200,
        lambda raw: {"aligned": alignment(raw) > 1 - 1e-12, "not": alignment(raw) < 0.9},
    )
    assert found == {"aligned", "not"}


@pytest.mark.parametrize("memory", ["quadratic", "kernel"])
def test_planted_alignment_occurs_in_draws(memory):
    family = geo.facts(keys=geo.anything, values=geo.anything, memory=memory)
    choice = f"keys: uniform, values: {hard.ALIGNED}"
    assert choice in family.choices
    x = family.draw({"F": 20, "d": 6, "m": 8, "delta": 0.1}, Streams(0), choice=choice)
    assert x.kappa == pytest.approx(1)
    assert x.V_min > 0  # norms stay equal, so the assumption of the margin bounds holds
    plain = family.draw(
        {"F": 20, "d": 6, "m": 8, "delta": 0.1}, Streams(0), choice="keys: uniform, values: one point"
    )
    assert plain.V_min == 0


@pytest.mark.parametrize("mapping", [np.arange(7), np.array([3, 1, 4, 1, 5, 2, 6])])
def test_aligned_values(mapping):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((7, 3))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    column = rng.uniform(0.1, 1, 7)
    made = hard.aligned(values, mapping, column, 0)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1)
    top = 1 + int(np.argmax(column[1:]))
    w = made[mapping[0]] - made[mapping[top]]
    products = made[mapping[1:]] @ w
    means = [np.mean(column[1:][mapping[1:] == j]) for j in mapping[1:]]
    np.testing.assert_allclose(products / products[0], means / means[0])
    assert np.all(products < 0)


def test_what_cannot_be_aligned_stays():
    values = np.eye(3)
    for column, mapping in (([1.0, 0, 0], [0, 1, 2]), ([1.0, 1, 0], [1, 1, 2])):
        np.testing.assert_array_equal(hard.aligned(values, np.array(mapping), np.array(column), 0), values)
    zeros = np.zeros((3, 2))
    np.testing.assert_array_equal(hard.aligned(zeros, np.arange(3), np.ones(3), 0), zeros)
    assert hard.aligned(np.ones((3, 1)), np.arange(3), np.ones(3), 0).shape == (3, 1)


@pytest.mark.parametrize(("count", "d"), [(1, 1), (2, 1), (3, 2), (12, 5), (5, 12), (200, 16)])
def test_every_hard_case_has_every_size(count, d):
    for name, make in hard.CATALOGUE.items():
        rows = make(np.random.default_rng(0), count, d)
        assert rows.shape == (count, d) and np.all(np.isfinite(rows)), name
        other = make(np.random.default_rng(1), count, d)
        assert np.array_equal(rows, other) == (
            name == "tight frame" or (d == 1 and np.array_equal(rows, other))
        )


def test_hard_cases_are_what_they_are_called():
    made = {name: kinds(make(np.random.default_rng(0), 12, 4)) for name, make in hard.CATALOGUE.items()}
    assert made["one point"]["duplicates"] and made["one point"]["rank one"]
    assert made["antipodal pairs"]["antipodal"] and made["zero vectors"]["a zero vector"]
    assert {"duplicates", "one twice another", "near-parallel"} <= {k for k, v in made["copies"].items() if v}
    assert made["tight frame"]["a tight frame"] and made["one orthant"]["one orthant"]
    assert not any(made["uniform"].values())
    scales = np.linalg.norm(hard.CATALOGUE["norms 1e-3 to 1e3"](np.random.default_rng(0), 400, 4), axis=1)
    assert 1e-3 <= scales.min() < 3e-3 and 3e2 < scales.max() <= 1e3
    for name, norm in (("short vectors", 1 / 1024), ("long vectors", 1024.0)):
        rows = hard.CATALOGUE[name](np.random.default_rng(0), 12, 4)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), norm)
    assert np.linalg.matrix_rank(hard.CATALOGUE["a plane"](np.random.default_rng(0), 12, 4)) == 2


def test_edits_do_what_they_say():
    rows = -np.arange(1.0, 7).reshape(3, 2)
    for edit in hard.EDITS:
        edited = hard._edit(rows, edit, 4, 2)
        assert edited.shape == rows.shape and not np.array_equal(edited, rows), edit
    np.testing.assert_array_equal(rows, -np.arange(1.0, 7).reshape(3, 2))


def test_large_sets_are_searched_too():
    found = collect(
        hard.vectors(40, 200), 30, lambda rows: {rows.shape: True, "finite": np.all(np.isfinite(rows))}
    )
    assert found == {(40, 200), "finite"}
