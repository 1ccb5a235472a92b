"""The constructions, against their definitions; bits that are really written."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hebbcheck import HebbcheckError, memories
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.memories import Memory
from hebbcheck.memories.quantised import FloatingPoint, Grid, outputs, parameters


def draw(memory, F=6, d=4, m=5, seed=0, **shapes):
    family = geo.facts(memory=memory, **shapes)
    return family.draw(
        {"F": F, "d": d, "m": m, "delta": 0.1}, Streams(memory, seed), choice=family.choices[0]
    )


def test_memories_are_found_by_name_and_by_themselves():
    for name in ("bilinear", "data_dependent", "diagonal", "quadratic", "whitened", "kernel"):
        assert memories.named(name).name == name
    with pytest.raises(
        HebbcheckError, match="choose one of bilinear, data_dependent, diagonal, kernel, quadratic, whitened"
    ):
        memories.named("hebbian")


def test_what_a_memory_lacks_is_said():
    x = draw("quadratic")
    for use in (lambda: x.Phi, lambda: x.B, lambda: x.mlp(x.keys)):
        with pytest.raises(HebbcheckError, match=r"'quadratic' has no finite features.*try"):
            use()
    kernel = draw("kernel")
    with pytest.raises(HebbcheckError, match="no kernel at other queries"):
        kernel.memory(kernel.keys)
    with pytest.raises(HebbcheckError, match="no Lipschitz constant"):
        _ = kernel.L_K
    bare = Memory()
    for use in (bare.kernel, bare.exact_gram):
        with pytest.raises(HebbcheckError, match="has no"):
            use(x)
    with pytest.raises(HebbcheckError, match="has no"):
        bare.exact_lipschitz(x, 1.0)


def test_a_wide_sketch_is_the_quadratic_kernel():
    wide = draw("bilinear", m=40_000)
    np.testing.assert_allclose(wide.K, (wide.keys @ wide.keys.T) ** 2, atol=0.15)


@pytest.mark.parametrize(("F", "m", "rank"), [(8, 3, 3), (5, 9, 5), (8, 8, 8)])
def test_the_whitened_kernel_is_a_projector(F, m, rank):
    x = draw("whitened", F=F, m=m)
    np.testing.assert_allclose(x.K @ x.K, x.K, atol=1e-9)
    assert x.trace == pytest.approx(rank)
    np.testing.assert_allclose(x.K @ x.Phi, x.Phi, atol=1e-9)


def test_a_rank_deficient_sketch_is_whitened_on_its_span():
    x = draw("whitened", F=9, d=2, m=7)  # the quadratic forms of the plane have dimension 3
    assert np.linalg.matrix_rank(x.Phi) == 3 and x.trace == pytest.approx(3)
    np.testing.assert_allclose(x.memory(x.keys), x.K.T @ x.values[x.map], atol=1e-9)
    np.testing.assert_allclose(x.mlp(x.keys), x.memory(x.keys), atol=1e-8)
    zero = x.replace(keys=np.zeros((9, 2)))
    assert zero.trace == 0 and not zero.stores_all and np.all(zero.memory(x.keys) == 0)


@pytest.mark.parametrize(
    "memory", ["bilinear", "data_dependent", "diagonal", "quadratic", "whitened", "kernel"]
)
def test_outputs_at_the_keys_are_sums_over_facts(memory):
    for shapes in ({"F": 9, "m": 4}, {"F": 4, "m": 9}):
        x = draw(memory, **shapes, mapping="any")
        expected = [sum(x.K[t, i] * x.values[x.map[t]] for t in range(x.F)) for i in range(x.F)]
        np.testing.assert_allclose(x._memory.outputs(x), expected, atol=1e-9)


def test_outputs_survive_a_singular_whitening():
    x = draw("whitened", F=9, d=2, m=4)
    expected = x.K.T @ x.values[x.map]
    np.testing.assert_allclose(x._memory.outputs(x), expected, atol=1e-6)


# --- bits


def test_parameters_give_the_memory():
    x = draw("bilinear", mapping="any")
    np.testing.assert_allclose(outputs(parameters(x), x.keys), x.mlp(x.keys))
    assert [part.shape for part in parameters(x).values()] == [(5, 4), (5, 4), (4, 5)]


@settings(max_examples=60)
@given(st.integers(1, 2**20), st.floats(1e-3, 1e3), st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_numbers_are_rounded_to_the_nearest_of_the_grid(N, C, shares):
    grid, numbers = Grid(C, N), C * np.array(shares)
    code = grid.encode({"a": numbers})
    assert len(code) == math.ceil(len(shares) * grid.bits / 8)
    decoded = grid.decode(code, {"a": numbers.shape})["a"]
    assert np.all(np.abs(decoded) <= C)
    assert np.all(np.abs(decoded - numbers) <= C / (2 * N) * (1 + 1e-9) + 1e-12 * C)
    steps = decoded / C * N
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)
    assert 2 ** (grid.bits - 1) < 2 * N + 1 <= 2**grid.bits


def test_many_arrays_in_one_code():
    theta = {"A": np.array([[1.0, -1], [0.5, 0]]), "B": np.array([0.25, -0.75, 1])}
    grid = Grid(1.0, 4)
    decoded = grid.decode(grid.encode(theta), {name: part.shape for name, part in theta.items()})
    for name, part in theta.items():
        np.testing.assert_array_equal(decoded[name], part)
    assert len(grid.encode(theta)) == 4 and grid.bits == 4  # 7 numbers of 4 bits


def test_the_finest_grid():
    grid = Grid(1.0, 2**52 - 1)
    numbers = np.array([1.0, -1.0, 1 / 3])
    np.testing.assert_allclose(
        grid.decode(grid.encode({"a": numbers}), {"a": (3,)})["a"], numbers, atol=1e-15
    )


@pytest.mark.parametrize(("C", "N"), [(0, 4), (-1, 4), (math.inf, 4), (math.nan, 4), (1, 0), (1, 2**52)])
def test_grids_that_there_are_not(C, N):
    with pytest.raises(HebbcheckError, match="impossible"):
        Grid(C, N)


def test_numbers_outside_the_box():
    with pytest.raises(HebbcheckError, match="lies outside"):
        Grid(1.0, 4).encode({"a": np.array([1.5])})


@pytest.mark.parametrize("t", [0, 3, 20])
@pytest.mark.parametrize("C", [0.3, 1.0, 5.0])
def test_floating_point_truncates_within_the_box(t, C):
    rng = np.random.default_rng(t)
    numbers = np.concatenate([C * rng.uniform(-1, 1, 200), C * 2.0 ** -rng.uniform(0, 40, 200), [C, -C, 0.0]])
    code = FloatingPoint(C, t)
    codes = code.encode({"A": numbers})
    decoded = code.decode(codes, {"A": numbers.shape})["A"]
    assert codes.min() >= 0 and codes.max() < 2**code.bits
    assert np.all(np.abs(decoded) <= np.abs(numbers)) and np.all(np.abs(numbers - decoded) < C * 2.0**-t)
    assert np.all(decoded * numbers >= 0)
    again = code.decode(code.encode({"A": decoded}), {"A": numbers.shape})["A"]
    assert np.array_equal(again[np.abs(decoded) >= C * 2.0**-t], decoded[np.abs(decoded) >= C * 2.0**-t])


@pytest.mark.parametrize(("C", "t"), [(0, 3), (math.inf, 3), (1, -1), (1, 53)])
def test_floating_point_that_there_is_not(C, t):
    with pytest.raises(HebbcheckError, match="impossible"):
        FloatingPoint(C, t)


@pytest.mark.parametrize("memory", ["bilinear", "diagonal", "whitened", "data_dependent"])
def test_the_parameters_of_a_memory_give_its_outputs(memory):
    x = geo.facts(memory=memory).draw({"F": 9, "d": 5, "m": 4}, Streams("parameters", memory))
    np.testing.assert_allclose(outputs(parameters(x), x.keys), x.mlp(x.keys), rtol=1e-9, atol=1e-12)


def test_a_memory_without_factors_has_no_parameters():
    x = geo.facts(memory="quadratic").draw({"F": 9, "d": 5}, Streams("parameters"))
    with pytest.raises(HebbcheckError, match="no parameters A and G"):
        parameters(x)
