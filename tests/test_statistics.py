"""The kernels of statistics.py against their slow twins."""

import math
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statistics_twin import MINIMA, OF_PAIRS, Twin, check_kernel, check_summary

from hebbcheck import pairs, screen, statistics, threads
from hebbcheck.arrays import Backend, stream
from hebbcheck.errors import HebbcheckError

MODES = {"direct": {"DIRECT_SIZE": 1 << 30}, "tables": {"DIRECT_SIZE": 0, "ON_DEMAND_SIZE": 1 << 30}}
MODES["screen"] = {"DIRECT_SIZE": 0, "ON_DEMAND_SIZE": 0}
BACKENDS = [Backend(name) for name in ("numpy", "torch", "strict", "jax")]
BACKENDS += [Backend(name, dtype="float32") for name in ("numpy", "torch")]


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def rows_with_norms(rng, count, d, low=-3, high=3):
    return unit(rng.standard_normal((count, d))) * 10.0 ** np.linspace(low, high, count)[:, None]


def rotated(rng, d):
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def mercedes(d, count):
    """A tight frame: d rows of the discrete cosine basis on ``count`` points, unit rows."""
    angles = np.outer(np.arange(count) + 0.5, np.arange(1, d + 1)) * np.pi / count
    return unit(np.cos(angles))


def cases():
    """name -> (kind of kernel, its array, values, map)."""
    rng = stream("statistics", "cases")
    normal = rng.standard_normal
    F, d = 7, 4
    values, keys = normal((F, d)), normal((F, d))
    other = rng.permutation(F)
    near = unit(normal((1, d))) + 1e-9 * normal((F, d))
    aligned = values[2] - values[4]
    flat, twins = np.full((F, F), 0.25) + 0.75 * np.eye(F), np.kron(np.eye(3), np.ones((2, 2)))
    near_twins = np.hstack([np.repeat(np.eye(3), 2, axis=0), 1e-5 * normal((6, 3))])
    found = {
        "random": ("features", normal((F, 9)), values, other),
        "given": ("gram", (lambda Phi: Phi @ Phi.T)(normal((F, 3))), values, other),
        "quadratic": ("quadratic", keys, values, other),
        "duplicate values": ("features", normal((F, 9)), values[[0, 1, 1, 2, 2, 2, 3]], other),
        "duplicate keys": ("quadratic", keys[[0, 0, 0, 1, 1, 2, 3]], values, other),
        "all equal": ("features", np.ones((F, 3)), np.ones((F, d)), other),
        "antipodal": (
            "features",
            np.vstack([keys[:3], -keys[:4]]),
            np.vstack([values[:3], -values[:4]]),
            other,
        ),
        "near-parallel": ("features", normal((F, 9)), near, other),
        "near-parallel keys": ("quadratic", near, values, other),
        "two clusters": ("features", normal((F, 9)), np.vstack([near[:3], -3 * near[:4]]), other),
        "zero vectors": ("features", normal((F, 9)), np.vstack([values[:5], np.zeros((2, d))]), other),
        "zero features": ("features", np.vstack([normal((4, 9)), np.zeros((3, 9))]), values, other),
        "zero kernel": ("gram", np.zeros((F, F)), values, other),
        "mixed norms": ("quadratic", rows_with_norms(rng, F, d), rows_with_norms(rng, F, d), other),
        "mixed norms, linear": ("features", rows_with_norms(rng, F, 3), rows_with_norms(rng, F, d), other),
        "large": ("quadratic", 1e3 * unit(keys), 1e3 * unit(values), other),
        "small": ("quadratic", 1e-3 * unit(keys), 1e-3 * unit(values), other),
        "twice another": ("features", normal((F, 9)), np.vstack([values[:4], 2 * values[:3]]), other),
        "basis": ("features", normal((4, 9)), np.eye(4), np.array([2, 0, 1, 3])),
        "orthonormal": ("features", normal((4, 9)), rotated(rng, 4), np.array([2, 0, 1, 3])),
        "orthonormal keys": ("features", rotated(rng, F), values, other),
        "orthogonal kernel": ("gram", np.eye(F), values, other),
        "one orthant": ("features", np.abs(normal((F, 9))), np.abs(values), other),
        "tight frame": ("quadratic", mercedes(3, F), mercedes(3, F), other),
        "rank one": ("features", normal((F, 1)), values, other),
        "rank one values": ("features", normal((F, 9)), normal((F, 1)) * normal((1, d)), other),
        "aligned": (
            "features",
            values[other] @ np.outer(aligned, aligned) + 1e-3 * normal((F, d)),
            values,
            other,
        ),
        "constant kernel": ("gram", flat, values, other),
        "kernel of twins": ("gram", twins, normal((6, d)), np.arange(6)),
        "kernel near twins": ("features", near_twins, normal((6, d)), np.arange(6)),
        "constant features": ("features", np.linalg.cholesky(flat) @ rotated(rng, F), values, other),
        "one fact": ("features", normal((1, 3)), normal((1, d)), np.array([0])),
        "one fact, three values": ("features", normal((1, 3)), normal((3, d)), np.array([1])),
        "one value": ("features", normal((5, 3)), normal((1, d)), np.zeros(5, dtype=int)),
        "two facts": ("features", normal((2, 3)), normal((2, d)), np.array([1, 0])),
        "three facts": ("features", normal((3, 3)), normal((3, 1)), np.array([1, 2, 0])),
        "any map, fewer values": ("features", normal((9, 5)), normal((4, d)), rng.integers(0, 4, 9)),
        "repeats": ("features", normal((F, 9)), values, np.array([0, 0, 1, 5, 5, 5, 2])),
        "any map, unused": ("quadratic", normal((5, d)), normal((9, d)), np.array([3, 3, 8, 0, 3])),
        "any map, duplicates": ("features", normal((8, 5)), values[[0, 1, 1, 0, 2]], rng.integers(0, 5, 8)),
        "two groups": ("features", normal((6, 5)), normal((2, d)), np.array([0, 1, 1, 1, 1, 1])),
        "injective": ("gram", np.eye(4) + 0.5, normal((6, d)), np.array([5, 1, 0, 2])),
    }
    return found


CASES = cases()
# jax compiles each operation for each shape, which takes seconds for each case: a few of one shape stand for all.
FEW = {("random", "screen"), ("repeats", "tables"), ("random", None)}


def everywhere(*modes):
    """Each case on each backend, in some modes."""
    listed = [
        pytest.param(name, backend, mode, id=f"{name}-{backend.name}-{backend.dtype}-{mode}")
        for name in CASES
        for backend in BACKENDS
        for mode in modes or (None,)
        if (backend.name, mode) != ("strict", "direct")  # strict tables and screen go the same way in the end
        if backend.name != "jax" or (name, mode) in FEW
    ]
    return pytest.mark.parametrize(("name", "backend", "mode"), listed)


def case_of(name):
    return CASES[name] if name in CASES else many(name)


@cache
def twin_of(name, dtype):
    kind, array, values, mapping = case_of(name)
    return Twin(kind, array, values, mapping, 1 / values.shape[1], dtype)


def on(backend, kind, array, values, mapping):
    wrap = {"features": statistics.Features, "gram": statistics.Gram, "quadratic": statistics.Quadratic}[kind]
    return wrap(backend.asarray(array)), backend.asarray(values[mapping]), backend.asarray(values), mapping


def enter(mode, monkeypatch):
    for name, value in MODES[mode].items():
        monkeypatch.setattr(statistics, name, value)


@everywhere(*MODES)
def test_summary_is_its_slow_twin(backend, name, mode, monkeypatch):
    enter(mode, monkeypatch)
    twin = twin_of(name, backend.dtype)
    block = 16 if backend.name == "jax" else 5
    found = statistics.summary(*on(backend, *CASES[name]), 1 / twin.values.shape[1], block=block)
    check_summary(found, twin)


@everywhere()
def test_sparsity_is_its_slow_twin(backend, name, mode):
    twin = twin_of(name, backend.dtype)
    found = statistics.sparsity(*on(backend, *CASES[name])[1:], block=4)
    if not twin.pairs:
        assert found == statistics.Extremum(1.0, ())
        return
    low, high = twin.range_of("L_v")
    assert max(low, 1 - twin.F * twin.eps) <= found.value <= high
    assert abs(found.value - twin.found[found.pair]["L_v"]) <= twin.exact_error[found.pair]["L_v"]


@everywhere()
def test_pairwise_is_its_slow_twin(backend, name, mode, monkeypatch):
    monkeypatch.setattr(statistics, "PAIRWISE_SIZE", 130)
    twin = twin_of(name, backend.dtype)
    for statistic in statistics.PAIRWISE:
        found = backend.to_numpy(statistics.pairwise(*on(backend, *CASES[name]), statistic))
        assert found.shape == (twin.F, twin.n - 1)
        for k, (i, j) in enumerate(twin.pairs):
            error = abs(found.ravel()[k] - twin.found[i, j][statistic])
            assert error <= twin.exact_error[i, j][statistic], (statistic, i, j)


def many(name):
    """More facts than a block or a tile holds: (kernel, array, values, map)."""
    rng = stream("statistics", "many", name)
    F, d = 24, 5
    values, Phi = rng.standard_normal((F, d)), rng.standard_normal((F, 12))
    if name == "clustered":
        values = np.repeat(values[:6], 4, axis=0) + 1e-6 * values
    if name == "spiked":
        values, Phi = values + 30 * rng.standard_normal((1, d)), Phi + 30 * rng.standard_normal((1, 12))
    if name == "duplicates":
        values[7], Phi[3], Phi[20] = values[19], Phi[21], 0
    mapping = rng.integers(0, F, F) if name == "any map" else rng.permutation(F)
    return "features", Phi, values, mapping


MANY = ("isotropic", "clustered", "spiked", "duplicates", "any map")
dtypes = pytest.mark.parametrize("dtype", ["float64", "float32"])


@dtypes
@pytest.mark.parametrize("name", MANY)
def test_blocks_and_tiles_fit_together(name, dtype, monkeypatch):
    monkeypatch.setattr(screen, "TILE_COLUMNS", 7)
    monkeypatch.setattr(threads, "available", lambda array: 2)
    monkeypatch.setattr(pairs, "DEFINITION_SIZE", 500)
    monkeypatch.setattr(statistics, "SPARSITY_SIZE", 300)
    case = many(name)
    twin = twin_of(name, dtype)
    for mode in ("screen", "tables"):
        enter(mode, monkeypatch)
        check_summary(statistics.summary(*on(Backend(dtype=dtype), *case), twin.mu, block=8), twin)
    low, high = twin.range_of("L_v")
    assert low <= statistics.sparsity(*on(Backend(dtype=dtype), *case)[1:], block=5).value <= high


@dtypes
@pytest.mark.parametrize("name", [*CASES, *MANY])
def test_tables_are_right_wherever_they_vouch_for_it(name, dtype):
    twin = twin_of(name, dtype)
    kernel, codes, values, mapping = on(Backend(dtype=dtype), *case_of(name))
    p = pairs.Problem(codes, values, mapping, float(twin.mu))
    tables = pairs.Tables(p, pairs.Rows(kernel, np.arange(p.F), kernel.diagonal(), float(twin.mu)))
    for statistic in pairs.SENSES:
        table, unreliable = tables[statistic], tables.unreliable(statistic)
        for pair in twin.pairs:
            error = abs(unscaled(p, statistic, table[pair]) - twin.found[pair][statistic])
            assert unreliable[pair] or error <= twin.error[pair][statistic], (statistic, pair)
        assert name not in SOUND or not unreliable[tuple(np.transpose(twin.pairs))].any()


SOUND = ("random", "given", "quadratic", "isotropic", "large", "small", "any map", "repeats", "one orthant")
COUPLED = ("kappa", "kappa_eff")  # quotients, which small denominators widen
BOUNDED = ("E_K_tilde", "E_K_centered", "kappa_tilde", "kappa_centered")


def widening(p, name, statistic, tile):
    """What rounding in tiles of a dtype may widen a bound by, relative to the statistic's size."""
    rounding = (p.codes.shape[1] + 8) * float(np.finfo(tile).eps)
    if name in SOUND:
        return (1024 if statistic in COUPLED else 128) * rounding
    return 1 / screen.SURE if statistic in COUPLED else max(128 * rounding, math.sqrt(p.eps))


@pytest.mark.parametrize(
    "dtype, tile", [("float64", "float64"), ("float64", "float32"), ("float32", "float32")]
)
@pytest.mark.parametrize("name", [*CASES, *MANY])
def test_screen_is_right_wherever_it_vouches_for_it(name, dtype, tile, monkeypatch):
    monkeypatch.setattr(screen, "TILE_COLUMNS", 7)
    if tile == dtype:
        monkeypatch.setattr(screen.Screen, "dtypes", lambda screen: [np.dtype(dtype)])
    twin = twin_of(name, dtype)
    kernel, codes, values, mapping = on(Backend(dtype=dtype), *case_of(name))
    p = pairs.Problem(codes, values, mapping, float(twin.mu))
    if not p.bijective:
        return
    reach = screen.optimistic(p, kernel, kernel.diagonal(), 5)
    unsure = np.isinf(reach["gamma_min"])
    assert name not in SOUND or not unsure.any()
    for statistic in OF_PAIRS:
        sense = -1 if statistic in MINIMA else 1
        size = max((abs(twin.found[pair][statistic]) for pair in twin.pairs), default=0)
        for i in np.flatnonzero(~unsure):
            best = max(sense * twin.found[i, j][statistic] for j in range(p.n) if j != mapping[i])
            error = max(twin.error[i, j][statistic] for j in range(p.n) if j != mapping[i])
            ahead = sense * unscaled(p, statistic, reach[statistic][i]) - best
            assert ahead >= -error, (statistic, i)
            far = widening(p, name, statistic, tile) * size
            assert statistic in BOUNDED or ahead <= error + far, (statistic, i)


@pytest.mark.parametrize("common", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("small, mu", [(1.0, 0.1), (1e-3, 0.1), (1e-3, 0.0), (1.0, 1e5)])
def test_bounds_from_float32_are_no_closer_than_exact_ones(common, small, mu):
    """Nearly opposite values with a common part, on a kernel with one: all is then a small difference of large sums.

    Where half of the features are small, competitors decide their signals; where mu is large, the shifts decide.
    """
    rng, F = stream("statistics", "common", common), 1200
    other = unit(rng.standard_normal((F // 2, 7)))
    opposite = np.vstack([other, -other]) + 1e-4 * rng.standard_normal((F, 7))
    values = unit(np.hstack([np.full((F, 1), common), opposite]))
    Phi = np.hstack([np.full((F, 1), 3 * common), rng.standard_normal((F, 5))])
    Phi[::2] *= small
    p, kernel = pairs.Problem(values, values, np.arange(F), mu), statistics.Features(Phi)
    fast = screen.optimistic(p, kernel, kernel.diagonal(), 128)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen.Screen, "dtypes", lambda screen: [np.dtype("float64")])
        patch.setattr(screen, "_errors", no_errors)
        exact = screen.optimistic(p, kernel, kernel.diagonal(), 128)
    sure = np.isfinite(fast["kappa"]) & np.isfinite(exact["kappa"])
    assert common > 1 or sure.all()
    for statistic, bounds in exact.items():
        sense = statistics.sense(statistic)
        rounding = 1e-12 * np.max(np.abs(bounds[sure]), initial=0)
        assert np.all(sense * (fast[statistic] - bounds)[sure] >= -rounding), statistic


def no_errors(xp, columns, rows, off):
    names = ("gram", "signal", "crosstalk", "competitor", "absorbed", "centered", "energy")
    return dict.fromkeys(names, 0 * off)


@pytest.mark.parametrize("power", [-120, 120])
def test_the_screen_depends_on_no_units(power):
    """Features of any size: the products of what float32 holds neither overflow nor underflow."""
    kind, Phi, values, mapping = many("isotropic")
    reach = {}
    for exponent in (0, power):
        kernel, codes, held, f = on(Backend(), kind, Phi * 2.0**exponent, values, mapping)
        p = pairs.Problem(codes, held, f, 4.0**exponent / 16)
        reach[exponent] = screen.optimistic(p, kernel, kernel.diagonal(), 5)
    for statistic, bounds in reach[0].items():
        units = 4.0 ** (power * screen.IN_THE_KERNEL.get(statistic, 0))
        assert np.isfinite(bounds).all() and np.array_equal(reach[power][statistic], bounds * units)


def unscaled(p, statistic, value):
    return float(value) / p.scale ** statistics.SENSES[statistic][1]


entries = st.sampled_from([0.0, 1.0, -1.0, 2.0, 0.1, -0.3, 1 / 3, 1e-3, 1e3, 1 + 2**-40])


@st.composite
def instances(draw):
    F, n, d, m = (draw(st.integers(1, 5)) for _ in range(4))
    injective = draw(st.booleans())
    n = F if injective else n

    def matrix(rows, columns):
        drawn = draw(st.lists(entries, min_size=rows * columns, max_size=rows * columns))
        return np.reshape(drawn, (rows, columns))

    kind = draw(st.sampled_from(["features", "quadratic"]))
    mapping = (
        draw(st.permutations(range(F)))
        if injective
        else draw(st.lists(st.integers(0, n - 1), min_size=F, max_size=F))
    )
    return kind, matrix(F, m), matrix(n, d), np.array(mapping), draw(st.sampled_from(list(MODES)))


@settings(max_examples=150)
@given(instances())
def test_drawn_instances_are_their_slow_twins(instance):
    *case, mode = instance
    twin = Twin(*case, 0.25, "float64")
    with pytest.MonkeyPatch.context() as patch:
        enter(mode, patch)
        check_summary(statistics.summary(*on(Backend(), *case), 0.25, block=2), twin)


ZEROS = {
    "basis": ("E_v_tilde", "kappa_tilde", "kappa_centered", "kappa_eff", "B_Y", "z_max"),
    "orthonormal": ("E_v_tilde", "kappa_tilde", "kappa_centered", "kappa_eff", "B_Y", "z_max"),
    "all equal": ("gamma_min", "V_min", "E_v", "E_v_tilde", "kappa", "kappa_tilde", "kappa_eff", "B_Y"),
    "orthonormal keys": ("E_K", "E_K_tilde", "K_off_max", "kappa", "kappa_tilde", "z_max"),
    "orthogonal kernel": ("E_K", "E_K_tilde", "K_off_max", "kappa", "kappa_tilde", "z_max"),
    "constant features": ("E_K_centered", "kappa_centered", "kappa_eff"),
    "constant kernel": ("E_K_centered", "kappa_centered", "kappa_eff"),
    "two facts": ("E_K_tilde", "E_v_tilde", "kappa_tilde", "kappa_centered", "kappa_eff", "z_max", "B_Y"),
    "zero kernel": ("E_K", "E_K_tilde", "kappa", "kappa_tilde", "z_max", "gamma_min"),
}


@pytest.mark.parametrize("backend", BACKENDS[:3] + BACKENDS[4:], ids=lambda b: f"{b.name}-{b.dtype}")
@pytest.mark.parametrize("name", ZEROS)
@pytest.mark.parametrize("mode", MODES)
def test_what_is_zero_by_definition_is_zero(backend, name, mode, monkeypatch):
    """Also where its floating-point terms are not: there noise over noise would pass for a coupling."""
    enter(mode, monkeypatch)
    kernel, codes, values, mapping = on(backend, *CASES[name])
    found = statistics.summary(kernel, codes, values, mapping, 1 / values.shape[1], block=5)
    assert {statistic: found[statistic].value for statistic in ZEROS[name]} == dict.fromkeys(ZEROS[name], 0.0)
    if "E_v_tilde" in ZEROS[name]:
        assert statistics.sparsity(codes, values, mapping).value == 1


def test_screening_leaves_few_rows(monkeypatch):
    rng = stream("statistics", "few rows")
    Phi, values = rng.standard_normal((256, 128)), unit(rng.standard_normal((256, 32)))
    seen = []

    class Counted(statistics.Rows):
        def __init__(self, kernel, index, *rest):
            seen.extend(index.tolist())
            super().__init__(kernel, index, *rest)

    monkeypatch.setattr(statistics, "Rows", Counted)
    statistics.summary(statistics.Features(Phi), values, values, np.arange(256), 1 / 32)
    assert 0 < len(set(seen)) < 64


@pytest.mark.parametrize("injective", [True, False])
def test_memory_is_that_of_blocks(injective):
    F, d = 3000, 8
    rng = stream("statistics", "memory")
    values, Phi = rng.standard_normal((F if injective else 100, d)), rng.standard_normal((F, 4))
    mapping = rng.permutation(F) if injective else rng.integers(0, 100, F)
    tracemalloc.start()
    statistics.summary(statistics.Features(Phi), values[mapping], values, mapping, 1 / d, block=32)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * F**2 / 2


@dtypes
def test_kernel_alone(dtype):
    for name in ("random", "given", "mixed norms", "orthonormal keys", "one fact"):
        twin = twin_of(name, dtype)
        kernel = on(Backend(dtype=dtype), *CASES[name])[0]
        check_kernel(statistics.gram_extrema(kernel, block=3), twin)


def test_kernels_agree_row_by_row():
    keys = stream("statistics", "kernels").standard_normal((6, 3))
    for kernel, K in (
        (statistics.Features(keys), keys @ keys.T),
        (statistics.Quadratic(keys), (keys @ keys.T) ** 2),
        (statistics.Gram(keys @ keys.T), keys @ keys.T),
    ):
        assert np.allclose(kernel.rows(1, 4), K[1:4], rtol=1e-14)
        assert np.allclose(kernel.take(np.array([5, 0])), K[[5, 0]], rtol=1e-14)
        assert np.allclose(kernel.diagonal(), np.diagonal(K), rtol=1e-14)
        assert np.allclose(statistics.Kernel.take(kernel, np.array([5, 0])), K[[5, 0]], rtol=1e-14)


@pytest.fixture
def two_threads():
    """torch on two threads, whatever was left of them; (who set their number, to what) as it happens."""
    torch = pytest.importorskip("torch")
    before, told = torch.get_num_threads(), []
    torch.set_num_threads(2)
    with pytest.MonkeyPatch.context() as patch:
        set_them = torch.set_num_threads
        patch.setattr(
            torch, "set_num_threads", lambda n: (told.append((threading.get_ident(), n)), set_them(n))
        )
        yield torch, told
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_threads_are_as_many_afterwards(name, two_threads):
    torch, _ = two_threads
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "available", lambda array: 2)
        enter("screen", patch)
        statistics.summary(*on(Backend(name), *many("isotropic")), 0.1, block=8)
    with ThreadPoolExecutor(1) as fresh:
        assert torch.get_num_threads() == fresh.submit(torch.get_num_threads).result() == 2


def test_shared_work_is_on_one_thread_of_torch_each(two_threads):
    torch, told = two_threads
    array = torch.ones(4)
    with threads.one_for_products(array):
        parts = [slice(k, k + 1) for k in range(8)]
        workers = threads.share_out(lambda part: threading.get_ident(), parts, 2, array)
    assert {(worker, 1) for worker in workers} <= set(told)


def test_a_given_matrix_is_not_written_to():
    K = np.eye(70) + 0.5
    before = K.copy()
    values = stream("statistics", "gram").standard_normal((70, 3))
    statistics.summary(statistics.Gram(K), values, values, np.arange(70), 0.1)
    assert np.array_equal(K, before)


def test_unusable_input_is_explained():
    kernel, codes, values, mapping = on(Backend(), *CASES["random"])
    with pytest.raises(HebbcheckError, match=r"map of shape \(7,\) for 7 codes and 3 values"):
        statistics.summary(kernel, codes, values[:3], mapping, 0.1)
    with pytest.raises(HebbcheckError, match="kernel of 7 facts"):
        statistics.summary(kernel, codes[:2], values[:2], np.array([0, 1]), 0.1)
    with pytest.raises(HebbcheckError, match="no pairwise statistic 'margin'; try one of margins, "):
        statistics.pairwise(kernel, codes, values, mapping, "margin")


@pytest.mark.parametrize("backend", BACKENDS, ids=str)
def test_what_overflows_is_no_number(backend):
    huge = 1e10 if backend.dtype == "float32" else 1e90
    keys, values = (
        np.array([[huge, 0.0], [0.6, 0.8], [0.0, 1.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]),
    )
    kernel = statistics.Quadratic(backend.asarray(keys))
    held = backend.asarray(values)
    with np.errstate(all="ignore"):
        found = statistics.summary(kernel, held, held, np.arange(3), 0.5)
        alone = statistics.gram_extrema(kernel)
    lost = {name for name, e in found.items() if math.isnan(e.value)}
    assert lost == found.keys() - set(statistics.OF_VALUES)
    assert all(math.isnan(e.value) for e in alone.values())


@pytest.mark.parametrize("name", ["random", "duplicate values", "isotropic", "clustered", "any map"])
def test_statistics_do_not_depend_on_what_else_is_asked(name):
    def fresh():
        return statistics.summary(*on(Backend(), *case_of(name)), 0.25)

    whole = dict(fresh())
    assert set(whole) == {
        *pairs.SENSES,
        *statistics.OF_ROWS,
        "K_diag_min",
        "K_diag_max",
        "trace",
        "diag_sq_sum",
    }
    for statistic in whole:
        alone = fresh()
        assert statistic in alone and alone[statistic] == whole[statistic]
    with pytest.raises(KeyError):
        fresh()["E_Q"]
