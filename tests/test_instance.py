"""Instances in floating point against what the definitions say, attribute by attribute."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from test_definitions import dense

from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo
from hebbcheck.arrays import Backend, Streams
from hebbcheck.drawn import CoordinatesNeeded, DrawnAttribute, MissingInput, UnknownAttribute
from hebbcheck.inputs import Raw

NUMBERS = {"F": 6, "d": 4, "m": 5, "delta": 0.1, "eps": 0.25}
TABLE = (
    *(
        "F",
        "d",
        "m",
        "delta",
        "L",
        "keys",
        "values",
        "map",
        "K",
        "trace",
        "diag_sq_sum",
        "margins",
        "gamma_min",
    ),
    *("signal", "crosstalk", "signal_absorbed", "crosstalk_absorbed", "s_min", "z_max"),
    *("K_diag_min", "K_diag_max", "K_off_max", "V_min", "V_max", "E_K", "E_K_tilde", "E_K_centered", "E_v"),
    *(
        "E_v_tilde",
        "kappa",
        "kappa_tilde",
        "kappa_centered",
        "kappa_eff",
        "B_Y",
        "L_v",
        "mu",
        "sigma2",
        "P_key",
    ),
    *("P_val", "P_align", "S_sig", "A", "G", "B", "Phi", "eps", "queries", "margins_noisy", "L_K"),
)
"""The attributes of the design's table, but for the two functions mlp and memory."""
MEMORIES = ("bilinear", "diagonal", "quadratic", "whitened")


def draw(memory="bilinear", seed=0, choice="", **changes):
    numbers = {**NUMBERS, **{k: v for k, v in changes.items() if k in NUMBERS}}
    shapes = {k: v for k, v in changes.items() if k not in NUMBERS}
    family = geo.facts(memory=memory, noise=0.25, **shapes)
    return family.draw(numbers, Streams("instance", seed), choice=choice or family.choices[0])


def features(x, z):
    """phi, row by row, from Lemma B.2."""
    rows = [[(a @ q) * (g @ q) / math.sqrt(x.m) for a, g in zip(x.A, x.G, strict=True)] for q in z]
    return np.array(rows)


def kernel(x, memory, left, right):
    """K(left_t, right_n), from each construction's definition."""
    if memory == "quadratic":
        return np.array([[(k @ q) ** 2 for q in right] for k in left])
    Phi, queries = features(x, left), features(x, right)
    if memory == "diagonal":
        return Phi / np.sum(features(x, x.keys) ** 2, axis=0) @ queries.T
    middle = np.linalg.pinv(Phi.T @ Phi) if memory == "whitened" else np.eye(int(x.m))
    return Phi @ middle @ queries.T


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize(
    "shapes", [{}, {"mapping": "any", "values": geo.gaussian}, {"values": geo.tied, "F": 9}]
)
def test_every_statistic_is_the_definitions(memory, shapes):
    for seed in range(4):
        x = draw(memory, seed, **shapes)
        K = kernel(x, memory, x.keys, x.keys)
        np.testing.assert_allclose(x.K, K, atol=1e-10)
        for name, value in dense(K, x.values, x.map, 1 / x.d).items():
            np.testing.assert_allclose(getattr(x, name), value, rtol=1e-7, atol=1e-10, err_msg=name)


def test_the_attributes_of_the_table_exist():
    x = draw()
    for name in TABLE:
        assert getattr(x, name) is not None
    for name in ("keys", "values", "noise", "queries"):
        assert getattr(x, name).shape == (6, 4)
    assert x.A.shape == x.G.shape == (5, 4)
    assert x.B.shape == (4, 5) and x.Phi.shape == (6, 5) and x.K.shape == (6, 6)
    assert x.margins_noisy.shape == x.margins.shape == (6, 5)


def test_numbers_that_follow_from_others():
    x = draw()
    assert pytest.approx(math.log(2 * 36 / 0.1)) == x.L
    assert x.mu == 0.25
    assert x.sigma2 == pytest.approx((16 + 24 + 17) / (4 * 6 * 5) + 2 * 3 / (16 * 6))
    assert x.P_key == pytest.approx(math.sqrt(x.E_K * 5 / 6))
    assert x.P_val == pytest.approx(math.sqrt(x.E_v * 4 / 6))
    assert x.P_align == pytest.approx(x.kappa * math.sqrt(6 / math.log(6)))
    assert x.S_sig == pytest.approx(x.K_diag_min * x.V_min / (1 - math.sqrt(math.log(6) / 4)))


@pytest.mark.parametrize("memory", MEMORIES)
def test_the_mlp_is_the_memory_and_the_memory_the_sum_over_facts(memory):
    x = draw(memory, mapping="any")
    K = kernel(x, memory, x.keys, x.queries)
    outputs = np.array([sum(K[t, n] * x.values[x.map[t]] for t in range(6)) for n in range(6)])
    np.testing.assert_allclose(x.memory(x.queries), outputs, atol=1e-10)
    if memory != "quadratic":
        np.testing.assert_allclose(x.mlp(x.queries), outputs, atol=1e-10)
        np.testing.assert_allclose(x.mlp(x.keys), features(x, x.keys) @ x.B.T, atol=1e-12)
    np.testing.assert_allclose(x.margins_of(x.memory(x.keys)), x.margins, atol=1e-10)
    expected = [
        [o @ (x.values[f] - v) for j, v in enumerate(x.values) if j != f]
        for o, f in zip(outputs, x.map, strict=True)
    ]
    np.testing.assert_allclose(x.margins_noisy, expected, atol=1e-10)


def test_queries_lie_at_distance_eps():
    x = draw()
    np.testing.assert_allclose(np.linalg.norm(x.queries - x.keys, axis=1), 0.25)


@pytest.mark.parametrize("memory", MEMORIES)
def test_the_lipschitz_constant_bounds_all_slopes_and_is_attained(memory):
    x = draw(memory, keys=geo.gaussian)
    radius = np.linalg.norm(x.keys, axis=1).max() + 0.25
    rng = np.random.default_rng(0)
    ball = rng.standard_normal((4000, 4))
    ball *= radius * rng.uniform(0.8, 1, (4000, 1)) / np.linalg.norm(ball, axis=1, keepdims=True)
    step = 1e-4 * rng.standard_normal((4000, 4))
    change = np.abs(x._memory.cross(x, ball) - x._memory.cross(x, ball + step)) / np.linalg.norm(step, axis=1)
    assert change.max() <= x.L_K * (1 + 1e-3)
    slopes = []
    for t in range(6):  # K(k_t, q) = q^T S q; read S off the kernel itself
        unit = np.eye(4)
        S = np.zeros((4, 4))
        for a, b in itertools.product(range(4), range(4)):
            plus, minus = (x._memory.cross(x, (unit[a] + s * unit[b])[None])[t, 0] for s in (1, -1))
            S[a, b] = (plus - minus) / 4
        slopes.append(2 * radius * np.abs(np.linalg.eigvalsh(S)).max())
    assert pytest.approx(max(slopes), rel=1e-9) == x.L_K


@pytest.mark.parametrize("F", [1, 2, 3])
def test_small_and_empty_sets(F):
    x = draw(F=F, d=1, keys=geo.anything, values=geo.anything, choice="keys: uniform, values: clusters")
    assert x.margins.shape == (F, F - 1)
    if F == 1:
        assert x.gamma_min == x.s_min == x.V_min == math.inf
        assert x.z_max == x.V_max == x.E_K == x.E_v == x.K_off_max == x.kappa == x.B_Y == x.kappa_eff == 0
        assert x.L_v == 1
        with pytest.raises(ZeroDivisionError):
            _ = x.P_align
    if F == 2:
        assert x.z_max == x.E_K_tilde == x.E_v_tilde == x.kappa_tilde == x.kappa_centered == 0
        assert x.L_v == 1
    for name in TABLE:
        if (F, name) not in [(1, "P_align"), (3, "S_sig")]:
            getattr(x, name)


def test_one_value_for_all_facts():
    x = geo.instance(keys=np.eye(3), values=[[1.0, 0, 0]], map=[0, 0, 0]).build(
        geo.instance(keys=np.eye(3), values=[[1.0, 0, 0]], map=[0, 0, 0]).given
    )
    assert x.margins.shape == (3, 0)
    assert x.gamma_min == math.inf and x.z_max == 0 and x.stores_all


def test_zero_over_zero():
    family = geo.instance(keys=np.zeros((3, 2)), values=np.ones((3, 2)))
    x = family.build(family.given)
    assert x.kappa == x.kappa_tilde == x.kappa_centered == x.kappa_eff == 0
    assert x.L_v == 1 and x.gamma_min == 0 and not x.stores_all


@pytest.mark.parametrize("memory", MEMORIES)
def test_stores_all_says_whether_all_margins_are_positive(memory):
    stored = []
    for seed in range(30):
        x = draw(memory, seed, F=5, d=6, m=12)
        stored.append(x.stores_all)
        assert stored[-1] == (x.gamma_min > 0)
    assert len(set(stored)) == 2 or memory == "whitened"


@settings(max_examples=40)
@given(geo.facts(keys=geo.anything, values=geo.anything, mapping="any", noise=0.5).strategy())
def test_every_attribute_has_a_value_on_awkward_instances(raw):
    x = geo.facts(noise=0.5).build(raw)
    for name in TABLE:
        try:
            value = np.asarray(getattr(x, name), dtype=float)
        except ZeroDivisionError:
            assert name in ("P_align", "S_sig", "mu", "sigma2")
            continue
        assert not np.any(np.isnan(value)) or name == "S_sig"


# --- the same draw, changed


def test_another_memory_on_the_same_draw():
    x = draw()
    other = x.replace(memory="quadratic")
    np.testing.assert_array_equal(other.keys, x.keys)
    np.testing.assert_allclose(other.K, (x.keys @ x.keys.T) ** 2)
    assert type(other) is type(x) and x.raw.memory == "bilinear"


def test_features_are_drawn_where_a_memory_needs_them():
    family = geo.facts(memory="quadratic")
    x = family.draw({**NUMBERS}, Streams("q"))
    sketch = x.replace(memory="bilinear")
    assert sketch.A.shape == (5, 4)
    same = geo.facts(memory="bilinear").draw({**NUMBERS}, Streams("q"))
    np.testing.assert_array_equal(sketch.A, same.A)
    np.testing.assert_array_equal(sketch.K, same.K)


def test_widths_are_nested():
    x = draw(m=8)
    wide, narrow = x.replace(m=20), x.replace(m=3)
    assert (wide.m, narrow.m, x.m) == (20, 3, 8)
    for name in ("A", "G"):
        np.testing.assert_array_equal(getattr(wide, name)[:8], getattr(x, name))
        np.testing.assert_array_equal(getattr(narrow, name), getattr(x, name)[:3])
    np.testing.assert_array_equal(draw(m=20).A, wide.A)
    np.testing.assert_array_equal(wide.replace(m=8).K, x.K)


def test_an_adversarys_features_stay_when_further_ones_are_drawn():
    raw = draw(m=2).raw.with_array("A", np.ones((2, 4)))
    x = geo.facts().build(raw)
    wide, again = x.replace(m=5), geo.facts().build(raw).replace(m=5)
    np.testing.assert_array_equal(wide.A[:2], np.ones((2, 4)))
    np.testing.assert_array_equal(wide.A, again.A)
    assert len(np.unique(wide.A[2:])) == 12


def test_other_keys():
    x = draw()
    doubled = x.replace(keys=2 * x.keys, memory="quadratic")
    np.testing.assert_allclose(doubled.K, 16 * x.replace(memory="quadratic").K)
    assert "keys" not in doubled.raw.unit and "keys" in x.raw.unit


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"keys": np.ones((5, 4))}, "shape"),
        ({"memory": "bilnear"}, "unknown"),
        ({"memory": "kernel"}, "Gram matrix of its own"),
        ({"m": 0}, "whole number"),
        ({"m": 2.5}, "whole number"),
        ({"m": True}, "whole number"),
    ],
)
def test_changes_that_make_no_sense(change, said):
    with pytest.raises(HebbcheckError, match=said):
        draw().replace(**change)


# --- errors that explain


def test_a_misspelt_attribute_suggests_the_nearest():
    with pytest.raises(UnknownAttribute, match="did you mean 'gamma_min'"):
        _ = draw().gama_min
    with pytest.raises(UnknownAttribute, match="did you mean 'E_K'"):
        _ = draw().E_k
    assert not hasattr(draw(), "gama_min")


def test_what_the_family_does_not_draw():
    x = geo.facts(memory="quadratic").draw(NUMBERS, Streams(0))
    with pytest.raises(MissingInput, match=r"no noise.*try noise="):
        _ = x.margins_noisy
    with pytest.raises(HebbcheckError, match="no finite features"):
        _ = x.Phi
    kernel = geo.kernels().draw({"F": 3, "m": 2}, Streams(0), choice="uniform")
    for name in ("gamma_min", "keys", "map", "margins", "L_v"):
        with pytest.raises(MissingInput):
            getattr(kernel, name)
    with pytest.raises(MissingInput, match="'delta'"):
        _ = kernel.L


def test_sizes_alone_do_not_know_what_is_drawn():
    sizes = geo.facts().sizes_at(NUMBERS)
    assert sizes.L > 0 and sizes.mu == 0.25 and sizes.sigma2 > 0
    for name in ("E_K", "keys", "gamma_min"):
        with pytest.raises(DrawnAttribute, match="sizes alone"):
            getattr(sizes, name)
    with pytest.raises(UnknownAttribute):
        _ = sizes.nonsense


def test_an_error_inside_an_attribute_is_not_hidden():
    class Wrong(type(draw())):
        @property
        def broken(self):
            return self.values.no_such_thing

    with pytest.raises(MissingInput, match="no_such_thing"):
        _ = Wrong(draw().raw).broken


def test_inputs_go_through_json_exactly():
    import json

    raw = draw(mapping="any").raw
    again = Raw.from_json(json.loads(json.dumps(raw.as_json())))
    assert again.digest == raw.digest and again.unit == raw.unit and again.memory == raw.memory
    moved = raw.arrays["keys"].copy()
    moved[0, 0] = np.nextafter(moved[0, 0], 2)
    assert raw.with_array("keys", moved).digest != raw.digest


# --- backends


@pytest.mark.parametrize("backend", ["strict", "torch", "jax"])
@pytest.mark.parametrize("memory", MEMORIES)
def test_all_backends_give_the_same(backend, memory, monkeypatch):
    pytest.importorskip({"strict": "array_api_strict"}.get(backend, backend))
    monkeypatch.setattr("hebbcheck.arrays.COMPILED", 0)
    family = geo.facts(memory=memory, noise=0.25, mapping="any")
    raw = family.raw(NUMBERS, Streams("backends"))
    here, there = family.build(raw), family.build(raw, Backend(backend))
    few = ("keys", "K", "B", "Phi", "margins_noisy", "stores_all", "L_K", "L")
    for name in few if backend == "jax" else (*TABLE, "stores_all"):  # jax compiles each operation
        if memory == "quadratic" and name in ("A", "G", "B", "Phi"):
            continue
        value = getattr(there, name)
        value = (
            np.asarray(value)
            if isinstance(value, float | int | np.ndarray)
            else there.backend.to_numpy(value)
        )
        np.testing.assert_allclose(value, getattr(here, name), rtol=1e-8, atol=1e-11, err_msg=name)


# --- inner products without coordinates


def test_coordinates_of_a_span_cannot_be_read():
    x = geo.facts().draw({**NUMBERS, "d": 1000}, Streams(0), spanned=True)
    assert x.K.shape == (6, 6) and x.d == 1000 and x.gamma_min < 2 and x.stores_all in (True, False)
    for name in ("keys", "values", "A", "G", "B", "queries", "margins_noisy", "L_K"):
        with pytest.raises(CoordinatesNeeded):
            getattr(x, name)
    for use in (x.mlp, x.memory, x.margins_of, lambda z: x.replace(keys=z)):
        with pytest.raises(CoordinatesNeeded):
            use(np.zeros((6, 6)))
    assert x.replace(m=3).Phi.shape == (6, 3)
