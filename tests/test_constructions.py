"""The constructions, against slow definitions: Algorithm 1 as written, dense normal equations, expectations."""

import importlib
import math

import numpy as np
import pytest
import scipy.sparse.linalg as sparse
from drawn_facts import facts, sphere

from hebbcheck import HebbcheckError, memories
from hebbcheck import geometry as geo
from hebbcheck.arrays import BACKENDS, Backend, Streams
from hebbcheck.least_squares import by_cholesky, minimum_norm, pseudo_inverse
from hebbcheck.memories import data_dependent, ntk, readouts
from hebbcheck.memories.construction import normal

WIDTHS = {"quadratic": None}
SKETCHED = ("bilinear", "diagonal", "whitened", "data_dependent")
CLOSED = (*SKETCHED, "quadratic", "ntk")


def algorithm_1(keys, values, mapping, m, mode, ridge, seed=0):
    """(g, B) as the paper prints it, but for the dual branch's ridge."""
    F, d = keys.shape
    A, G = normal("A", seed, m, d), normal("G", seed, m, d)

    def g(x):
        return np.array([(A[r] @ x) * (G[r] @ x) for r in range(m)]) / math.sqrt(m)

    C, Phi = np.array([values[j] for j in mapping]), np.array([g(k) for k in keys])
    B0 = C.T @ Phi / F
    Sigma = Phi.T @ Phi / F
    if mode == "none":
        return g, B0
    if mode == "diag":
        return g, np.array([B0[:, r] / (Sigma[r, r] + ridge) for r in range(m)]).T
    if m <= F:
        return g, B0 @ np.linalg.inv(Sigma + ridge * np.eye(m))
    return g, C.T @ np.linalg.inv(Phi @ Phi.T + ridge * F * np.eye(F)) @ Phi


@pytest.mark.parametrize(("name", "mode"), [("bilinear", "none"), ("diagonal", "diag"), ("whitened", "full")])
@pytest.mark.parametrize("m", [3, 9, 10, 14])
def test_algorithm_1_as_written(name, mode, m):
    keys, values, mapping = facts()
    options = {} if name == "bilinear" else {"ridge": 0.25}
    mlp = memories.build(name, keys, values, mapping, width=m, seed=2, **options)
    g, B = algorithm_1(keys, values, mapping, m, mode, 0.25, seed=2)
    queries = np.random.default_rng(5).standard_normal((4, 4))
    np.testing.assert_allclose(mlp(queries), [B @ g(x) for x in queries], rtol=1e-9)
    assert mlp.parameter_count == m * (4 + 4 + 3)
    assert mlp.settings == {"construction": name, "width": m, "seed": 2, **options} | (
        {"form": None} if name == "whitened" else {}
    )


@pytest.mark.parametrize("ridge", [1e-6, 1e-2, 3.0])
@pytest.mark.parametrize("m", [4, 9, 15])
@pytest.mark.parametrize("name", ["whitened", "data_dependent"])
def test_both_forms_give_the_same_for_the_same_ridge(name, m, ridge):
    keys, values, mapping = facts()
    primal, dual, free = (
        memories.build(name, keys, values, mapping, width=m, ridge=ridge, form=form)
        for form in ("primal", "dual", None)
    )
    np.testing.assert_allclose(primal.B, dual.B, rtol=1e-6, atol=1e-7 * np.abs(primal.B).max())
    np.testing.assert_array_equal(free.B, (dual if m > 9 else primal).B)


def test_the_printed_dual_ridge_would_miss_a_fact():
    Phi, V = np.array([[-2.0, 1, 1], [2, 1, -1]]), np.array([[-2.0, 2], [-1, 0]])
    kept = readouts.whitened(Phi, V, 1.0, "dual")
    np.testing.assert_allclose(kept, readouts.whitened(Phi, V, 1.0, "primal"))
    scores = V @ kept @ Phi.T
    np.testing.assert_allclose(scores.T, [[5, 7 / 6], [0, 1 / 3]], atol=1e-12)
    printed = V @ readouts.whitened(Phi, V, 1.0 / 2, "dual") @ Phi.T  # lambda in the place of lambda F
    np.testing.assert_allclose(printed.T, [[200 / 33, 16 / 11], [20 / 33, 6 / 11]], atol=1e-12)


@pytest.mark.parametrize(("F", "d", "m"), [(9, 4, 3), (5, 4, 12), (9, 2, 7)])
def test_without_a_ridge_the_readout_is_the_pseudoinverse(F, d, m):
    keys, values, mapping = facts(F, d)
    mlp = memories.build("whitened", keys, values, mapping, width=m, ridge=0)
    C, H = values[mapping], mlp.hidden(keys)
    np.testing.assert_allclose(mlp.B, C.T @ np.linalg.pinv(H).T, rtol=1e-6, atol=1e-9)
    tiny = memories.build("whitened", keys, values, mapping, width=m, ridge=1e-12)
    np.testing.assert_allclose(tiny(keys), mlp(keys), atol=1e-5)


def test_the_quadratic_memory_is_exact():
    keys, values, mapping = facts(F=7, d=5)
    mlp = memories.build("quadratic", keys, values, mapping)
    queries = np.random.default_rng(5).standard_normal((4, 5))
    np.testing.assert_allclose(mlp.hidden(queries) @ mlp.hidden(keys).T, (queries @ keys.T) ** 2, rtol=1e-10)
    expected = [
        sum((k @ q) ** 2 * values[j] for k, j in zip(keys, mapping, strict=True)) / 7 for q in queries
    ]
    np.testing.assert_allclose(mlp(queries), expected, rtol=1e-9)
    assert mlp.width == 15 == memories.build("quadratic", keys, values, mapping, width=15).width
    with pytest.raises(HebbcheckError, match=r"width=14 is not that .* = 15; leave it out"):
        memories.build("quadratic", keys, values, mapping, width=14)


def test_a_wide_sketch_is_nearly_the_quadratic_memory():
    keys, mapping = sphere(6, 4)
    wide = memories.build("bilinear", keys, keys, mapping, width=60_000)
    np.testing.assert_allclose(wide(keys), memories.build("quadratic", keys, keys, mapping)(keys), atol=0.02)


# --- least squares


@pytest.mark.parametrize("shape", [(30, 12), (12, 30), (12, 12)])
@pytest.mark.parametrize("rank", [12, 5])
def test_lsmr_finds_the_minimiser_of_smallest_norm(shape, rank):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    c = rng.standard_normal(shape[0])
    found = minimum_norm(lambda x: M @ x, lambda y: M.T @ y, c, tolerance=1e-12, iterations=2000)
    np.testing.assert_allclose(found.x, np.linalg.pinv(M) @ c, rtol=1e-6, atol=1e-8)
    assert found.residual <= 1e-12
    assert found.residual == pytest.approx(
        np.linalg.norm(M.T @ (c - M @ found.x)) / np.linalg.norm(M.T @ c), rel=0.5
    )
    if shape[0] > shape[1] and rank == 12:
        reference = sparse.lsmr(M, c, atol=1e-14, btol=0, maxiter=1000)[0]
        np.testing.assert_allclose(found.x, reference, rtol=1e-6)


def test_lsmr_at_its_ends():
    M = np.diag([1.0, 1e-3])
    one = minimum_norm(lambda x: M @ x, lambda y: M @ y, np.ones(2), tolerance=1e-14, iterations=1)
    assert one.iterations == 1 and one.residual > 1e-14
    for target in (np.zeros(2), np.array([0.0, 1.0])):
        zero = minimum_norm(lambda x: x * [1, 0], lambda y: y * [1, 0], target, tolerance=1e-9, iterations=9)
        assert zero.residual == 0 and np.all(zero.x == 0)
    exact = minimum_norm(lambda x: x, lambda y: y, np.array([3.0, 4.0]), tolerance=0, iterations=9)
    np.testing.assert_allclose(exact.x, [3, 4])


def dense_fit(keys, codes, A, G):
    """Equations 17 and 18 by the pseudoinverse of a matrix that is written out entry by entry."""
    F, d = keys.shape
    B = codes.T @ ((keys @ A.T) * (keys @ G.T)) / F

    def solve(other):
        M = np.zeros((F, codes.shape[1], len(A), d))
        for i, a, r, p in np.ndindex(M.shape):
            M[i, a, r, p] = (other[r] @ keys[i]) * keys[i, p] * B[a, r]
        return (np.linalg.pinv(M.reshape(F * codes.shape[1], -1), rcond=1e-11) @ codes.ravel()).reshape(
            A.shape
        )

    first = solve(A)
    return solve(first), first


@pytest.mark.parametrize("m", [3, 8, 40])  # overdetermined, and underdetermined: not unique
@pytest.mark.parametrize("small", [0, 1 << 14])
def test_the_data_dependent_fit_is_the_dense_one(monkeypatch, m, small):
    monkeypatch.setattr(data_dependent, "SMALL", small)
    keys, values, mapping = facts(F=9, d=4, d_v=3)
    mlp = memories.build("data_dependent", keys, values, mapping, width=m, tolerance=1e-12)
    A, G = dense_fit(keys, values[mapping], normal("A", 0, m, 4), normal("G", 0, m, 4))
    np.testing.assert_allclose(mlp.G, G, rtol=1e-4, atol=1e-6 * np.abs(G).max())
    np.testing.assert_allclose(mlp.A, A, rtol=1e-3, atol=1e-5 * np.abs(A).max())
    H = mlp.hidden(keys)
    B = values[mapping].T @ H / 9 @ np.linalg.inv(H.T @ H / 9 + 1e-6 * np.eye(m))
    np.testing.assert_allclose(mlp.B, B, rtol=1e-5, atol=1e-6 * np.abs(B).max())


def test_the_data_dependent_solves_satisfy_their_normal_equations():
    keys, mapping = sphere(48, 12)
    mlp = memories.build("data_dependent", keys, keys, mapping, width=16)
    A0, G0, C = normal("A", 0, 16, 12), normal("G", 0, 16, 12), keys[mapping]
    B0 = C.T @ ((keys @ A0.T) * (keys @ G0.T)) / 48
    objective = [
        np.linalg.norm(C - ((keys @ A.T) * (keys @ G.T)) @ B0.T)
        for A, G in ((A0, G0), (A0, mlp.G), (mlp.A, mlp.G))
    ]
    assert objective[0] > objective[1] > objective[2]
    for own, other in ((mlp.G, A0), (mlp.A, mlp.G)):
        P = keys @ other.T
        rest = C - (P * (keys @ own.T)) @ B0.T
        kkt = np.linalg.norm((P * (rest @ B0)).T @ keys) / np.linalg.norm((P * (C @ B0)).T @ keys)
        assert kkt <= 1e-9
    assert set(mlp.settings["residuals"]) == set(mlp.settings["iterations_taken"]) == {"A", "G"}
    assert max(mlp.settings["residuals"].values()) <= mlp.settings["tolerance"] == 1e-10
    assert min(mlp.settings["iterations_taken"].values()) > 0


@pytest.mark.parametrize("m", [19, 24, 28])  # around square, F d_v = m d
def test_near_square_solves_are_those_of_the_singular_values(monkeypatch, m):
    keys, mapping = sphere(24, 6)
    factors = normal("A", 0, m, 6), normal("G", 0, m, 6)
    by_gram = data_dependent.fit(keys, keys[mapping], *factors, 1e-10, 1)
    monkeypatch.setattr(data_dependent, "SMALL", 1 << 21)
    written_out = data_dependent.fit(keys, keys[mapping], *factors, 1e-10, 1)
    assert all(solve.residual < 1e-10 for solve in (*by_gram.solves.values(), *written_out.solves.values()))
    near = 1e-4 * np.abs(written_out.G).max()  # residuals of 1e-10, times the conditioning near square
    np.testing.assert_allclose(by_gram.G, written_out.G, rtol=0, atol=near)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("rank", [12, 5])
def test_cholesky_with_refinement_finds_the_minimiser_of_smallest_norm(dual, rank):
    rng = np.random.default_rng(0)
    M = rng.standard_normal((14, rank)) @ rng.standard_normal((rank, 12))
    c = M @ rng.standard_normal(12) if dual else rng.standard_normal(14)
    found = by_cholesky(
        M @ M.T if dual else M.T @ M, lambda x: M @ x, lambda y: M.T @ y, c, dual=dual, tolerance=1e-13
    )
    np.testing.assert_allclose(found.x, np.linalg.pinv(M) @ c, rtol=1e-2, atol=1e-2 if rank == 5 else 1e-8)
    assert found.residual < 1e-10
    shaken = by_cholesky(
        np.diag([1.0, -1e-12]),
        lambda x: x * [1, 0],
        lambda y: y * [1, 0],
        np.ones(2),
        dual=dual,
        tolerance=1e-12,
    )
    np.testing.assert_allclose(shaken.x, [1, 0], atol=1e-9)
    with pytest.raises(HebbcheckError, match="not positive semidefinite"):
        by_cholesky(np.diag([1.0, -1]), lambda x: x, lambda y: y, np.ones(2), dual=dual, tolerance=1e-12)
    zero = by_cholesky(np.eye(2), lambda x: x, lambda y: y, np.zeros(2), dual=dual, tolerance=0)
    assert zero.residual == 0 and np.all(zero.x == 0)


def test_a_solve_that_does_not_converge_is_an_error_and_an_instance_takes_what_there_is(monkeypatch):
    keys, mapping = sphere(24, 6)
    monkeypatch.setattr(data_dependent, "DENSE", 10)
    monkeypatch.setattr(data_dependent, "WRITTEN_OUT", 10)
    with pytest.raises(
        HebbcheckError, match=r"solve for G reached .* in 3 iterations; 1.0e-10 is needed.*= 24"
    ):
        memories.build("data_dependent", keys, keys, mapping, width=20, iterations=3)
    monkeypatch.setattr(data_dependent, "PATIENCE", 3)
    numbers = {"F": 24, "d": 6, "m": 20, "delta": 0.1}
    x = geo.facts(memory="data_dependent").draw(numbers, Streams("patience"))
    np.testing.assert_allclose(x.K @ x.K, x.K, atol=1e-7)


def test_fitting_stores_more_than_whitening_and_that_more_than_the_raw_sketch():
    keys, mapping = sphere(96, 32)

    def least(name):
        return next(
            m
            for m in range(4, 2000, 4)
            if memories.build(name, keys, keys, mapping, width=m).stores(keys, keys, mapping)
        )

    fitted, whitened, raw = least("data_dependent"), least("whitened"), least("bilinear")
    assert 1.5 * fitted < whitened and 1.5 * whitened < raw


# --- NTK


def ntk_slow(keys, values, mapping, m, seed=0):
    """Section B.3 as written, degree 1."""
    W, P = normal("W", seed, m, keys.shape[1]), normal("P", seed, m, values.shape[1])
    P = (P / np.linalg.norm(P, axis=1, keepdims=True)).T
    H, C = keys @ W.T, values[mapping]
    up = (H * (C @ P)).T @ keys / m
    return lambda x: P @ (np.maximum(W @ x, 0) * (up @ x))


def test_the_ntk_is_section_b_3():
    keys, values, mapping = facts()
    mlp, slow = memories.build("ntk", keys, values, mapping, width=7), ntk_slow(keys, values, mapping, 7)
    np.testing.assert_allclose(mlp(keys), [slow(x) for x in keys], rtol=1e-10)
    assert mlp.gate == "relu" and mlp.parameter_count == 7 * 11
    assert mlp.settings == {"construction": "ntk", "width": 7, "seed": 0, "degree": 1, "gate": "relu"}


@pytest.mark.parametrize(
    ("gate", "degree"), [("relu", 0), ("relu", 1), ("relu", 2), ("relu", 4), ("identity", 1)]
)
def test_the_ntk_in_expectation(gate, degree):
    keys, mapping = sphere(3, 3)
    values = np.random.default_rng(1).standard_normal((3, 2))
    m, blocks = 40_000, 12
    found = [
        memories.build("ntk", keys, values, mapping, width=m, seed=s, gate=gate, degree=degree)(keys)
        for s in range(blocks)
    ]
    c = abs(ntk.coefficient(gate, degree))
    expected = c / 2 * (keys @ keys.T) ** (degree + 1) @ values[mapping]
    errors = np.std(found, axis=0, ddof=1) / math.sqrt(blocks)
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < 6 * errors)
    assert errors.max() < 0.2 * np.abs(expected).max()


def test_the_ntk_of_degree_one_in_expectation_at_any_lengths():
    keys, values, mapping = facts(F=3, d=3, d_v=2)
    found = [memories.build("ntk", keys, values, mapping, width=40_000, seed=s)(2 * keys) for s in range(12)]
    expected = (2 * keys @ keys.T) ** 2 @ values[mapping] / (2 * 2)
    errors = np.std(found, axis=0, ddof=1) / math.sqrt(12)
    assert np.all(np.abs(np.mean(found, axis=0) - expected) < 6 * errors)


def test_hermite_coefficients_of_the_gates():
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    for degree in range(6):
        basis = ntk.hermite(degree, nodes)
        np.testing.assert_allclose(
            basis, np.polynomial.hermite_e.hermeval(nodes, [0] * degree + [1]), rtol=1e-9
        )
        relu = weights @ (np.maximum(nodes, 0) * basis)
        assert ntk.coefficient("relu", degree) == pytest.approx(relu, abs=0.02)
        assert ntk.coefficient("identity", degree) == pytest.approx(weights @ (nodes * basis), abs=1e-9)
    for gate, degree in (("relu", 3), ("identity", 2)):
        with pytest.raises(HebbcheckError, match=f"{gate}.* no Hermite component of degree {degree}"):
            memories.build("ntk", np.eye(3), np.eye(3), width=4, degree=degree, gate=gate)


@pytest.mark.parametrize("name", ["bilinear", "whitened", "data_dependent", "ntk"])
def test_facts_too_large_for_floating_point_are_refused(name):
    with pytest.raises(HebbcheckError, match="not finite"), np.errstate(all="ignore"):
        memories.build(name, np.eye(4) * 1e200, np.eye(4) * 1e200, width=5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_parameters_that_the_tables_precision_cannot_hold_are_refused(scale):
    keys, values = (np.eye(4) * scale).astype(np.float32), np.eye(4, dtype=np.float32)
    with pytest.raises(HebbcheckError, match="B whose entries are not finite or vanish in float32"):
        memories.build("bilinear", keys, values, width=5)


def test_a_residual_that_is_not_finite_is_not_small():
    keys = np.random.default_rng(0).standard_normal((6, 4))
    with pytest.raises(HebbcheckError, match="not finite"), np.errstate(all="ignore"):
        memories.build("data_dependent", keys * 1e50, keys, width=8, ridge=0)


@pytest.mark.parametrize("ridge", [1e-18, 1e-300])
@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_a_ridge_that_rounding_swallows_is_none(form, ridge, library):
    keys = np.eye(6)[:4]
    if library == "torch":
        keys = pytest.importorskip("torch").asarray(keys)
    for width in (2, 9):
        one, none = (
            memories.build("whitened", keys, keys, width=width, form=form, ridge=r) for r in (ridge, 0)
        )
        np.testing.assert_allclose(np.asarray(one(keys)), np.asarray(none(keys)), atol=1e-9)


def test_options_of_numpys_are_saved_as_numbers(tmp_path):
    keys = np.eye(4)
    mlp = memories.build("gd", keys, keys, width=np.array(4), steps=np.int64(3), biases=np.True_)
    mlp.save(tmp_path / "m.safetensors")
    assert memories.load(tmp_path / "m.safetensors").settings["steps"] == 3
    whitened = memories.build("whitened", keys, keys, width=4, ridge=np.float32(0.5))
    whitened.save(tmp_path / "w.safetensors")
    assert memories.load(tmp_path / "w.safetensors").settings["ridge"] == 0.5


@pytest.mark.parametrize("width", [2**62, 10**30])
def test_widths_that_fit_no_array_are_refused(width):
    with pytest.raises(HebbcheckError, match="out of range"):
        memories.build("bilinear", np.eye(3), np.eye(3), width=width)


def test_what_a_memory_cannot_decode_is_said_in_a_line():
    keys = np.eye(3)
    mlp = memories.build("bilinear", keys, keys, width=8)
    for asked, values, mapping in (
        (keys, keys, [[1], [2, 0]]),
        (np.zeros((0, 3)), keys, np.zeros(0, int)),
        (keys, keys * np.nan, None),
    ):
        with pytest.raises(HebbcheckError, match=r"; .*needed; "):
            mlp.stores(asked, values, mapping)


def test_whole_numbers_are_queries():
    keys = np.array([[1, 0], [0, 2], [-1, 1]])
    mlp = memories.build("bilinear", keys, np.eye(3), width=40)
    np.testing.assert_array_equal(mlp(keys), mlp(keys.astype(float)))


# --- the pseudo-inverse


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_a_decomposition_that_does_not_converge_is_done_by_another_library(name, dtype, monkeypatch):
    pytest.importorskip(name)
    backend = Backend(name, dtype=dtype)
    thin = np.random.default_rng(5).standard_normal((7, 3))
    matrix = backend.asarray(thin @ thin.T)
    straight = backend.to_numpy(pseudo_inverse(matrix))
    LinAlgError = importlib.import_module(name).linalg.LinAlgError

    def gives_up(matrix):
        raise LinAlgError("the algorithm failed to converge")

    monkeypatch.setattr(backend.xp.linalg, "pinv", gives_up)
    again = pseudo_inverse(matrix)
    assert again.dtype == matrix.dtype
    scale = np.finfo(dtype).eps * np.linalg.cond(thin) ** 4
    np.testing.assert_allclose(backend.to_numpy(again), straight, atol=scale * np.abs(straight).max())


# --- what all have in common


@pytest.mark.parametrize("name", ["bilinear", "diagonal", "whitened", "ntk"])
def test_features_are_nested_in_the_width(name):
    keys, values, mapping = facts()
    narrow, wide = (memories.build(name, keys, values, mapping, width=m) for m in (5, 12))
    np.testing.assert_array_equal(narrow.A, wide.A[:5])
    np.testing.assert_allclose(narrow.G, wide.G[:5], rtol=1e-12)
    assert not np.array_equal(memories.build(name, keys, values, mapping, width=5, seed=1).A, narrow.A)


@pytest.mark.parametrize("name", CLOSED)
def test_tensors_and_single_precision(name):
    torch = pytest.importorskip("torch")
    keys, values, mapping = facts()
    reference = memories.build(name, keys, values, mapping, width=WIDTHS.get(name, 6))
    tensors = memories.build(
        name,
        torch.tensor(keys, requires_grad=True),
        torch.tensor(values),
        torch.tensor(mapping),
        width=WIDTHS.get(name, 6),
    )
    assert isinstance(tensors.B, torch.Tensor) and tensors.B.dtype == torch.float64
    np.testing.assert_allclose(tensors(keys), reference(keys), rtol=1e-6, atol=1e-9)
    single = memories.build(
        name, *(p.astype(np.float32) for p in (keys, values)), mapping, width=WIDTHS.get(name, 6)
    )
    assert single.A.dtype == single.B.dtype == np.float32
    np.testing.assert_allclose(
        single(keys), reference(keys), rtol=0.01, atol=1e-3 * np.abs(reference(keys)).max()
    )


@pytest.mark.parametrize("name", CLOSED)
def test_built_memories_come_back_from_files(tmp_path, name):
    keys, values, mapping = facts()
    mlp = memories.build(name, keys, values, mapping, width=WIDTHS.get(name, 6))
    mlp.save(tmp_path / "m.safetensors")
    again = memories.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(again.margins(keys, values, mapping), mlp.margins(keys, values, mapping))
    assert again.settings == mlp.settings and again.settings["construction"] == name
    options = {n: v for n, v in again.settings.items() if n in memories.constructions()[name]}
    width = WIDTHS.get(name, again.settings["width"])
    same = memories.build(name, keys, values, mapping, width=width, seed=again.settings["seed"], **options)
    np.testing.assert_array_equal(same.B, mlp.B)


@pytest.mark.parametrize("name", [*SKETCHED, "quadratic"])
def test_a_construction_is_the_memory_of_an_instance(monkeypatch, name):
    x = geo.facts(memory=name, mapping="any", keys=geo.gaussian).draw(
        {"F": 7, "d": 4, "m": 5, "delta": 0.1}, Streams("same", name)
    )
    m = 10 if name == "quadratic" else 5
    options = {} if name in ("bilinear", "quadratic") else {"ridge": 0}
    random = {"A": x._input("A"), "G": x._input("G")} if name != "quadratic" else {}
    monkeypatch.setattr(memories.construction, "normal", lambda purpose, *sizes: random[purpose])
    mlp = memories.build(name, x.keys, x.values, x.map, width=m, **options)
    scale = 7 if name in ("bilinear", "quadratic") else 1  # Algorithm 1 divides by F
    np.testing.assert_allclose(scale * mlp.margins(x.keys, x.values, x.map), x.margins, rtol=1e-6, atol=1e-8)
    assert mlp.stores(x.keys, x.values, x.map) == x.stores_all
    assert np.all(np.linalg.eigvalsh(x.K) > -1e-9)


@pytest.mark.parametrize("name", ["diagonal", "data_dependent"])
@pytest.mark.parametrize("backend", ["torch", "strict"])
def test_backends_agree_on_fitted_memories(name, backend):
    pytest.importorskip(BACKENDS[backend])
    family = geo.facts(memory=name, noise=0.1)
    raw = family.raw({"F": 7, "d": 4, "m": 5, "delta": 0.1, "eps": 0.1}, Streams("backends"))
    x, other = family.build(raw), family.build(raw, Backend(backend))
    for statistic in ("gamma_min", "E_K", "kappa", "trace", "L_K", "stores_all"):
        assert getattr(other, statistic) == pytest.approx(getattr(x, statistic), rel=1e-7), statistic
    margins = np.asarray(other.backend.to_numpy(other.margins_noisy))
    np.testing.assert_allclose(margins, x.margins_noisy, rtol=1e-6, atol=1e-8)


def test_capacities_of_fitted_memories_are_measured():
    family = geo.capacity(memory="data_dependent", d=8, F=12)
    x = family.draw({"F": 12, "d": 8, "delta": 0.1}, Streams("capacity"))
    wider = geo.capacity(memory="whitened", d=8, F=12).draw(
        {"F": 12, "d": 8, "delta": 0.1}, Streams("capacity")
    )
    assert x.m <= wider.m and x.replace(m=x.m).stores_all


@pytest.mark.parametrize("name", ["ntk", "gd"])
def test_what_has_no_kernel_says_what_to_use(name):
    with pytest.raises(
        HebbcheckError, match=rf"{name}' is no memory of an instance.*memories.build\('{name}'"
    ):
        geo.facts(memory=name)


def test_the_list_of_constructions():
    listed = memories.constructions()
    assert set(listed) == {*CLOSED, "gd"}
    assert listed["whitened"] == {"ridge": 1e-6, "form": None} and listed["bilinear"] == {}


K, V = np.eye(3) + 0.5, np.eye(3)


def _changed(array, index, value):
    array = array.copy()
    array[index] = value
    return array


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (("whitend", K, V), {"width": 4}, "no construction is called 'whitend'; did you mean whitened?"),
        (("zzz", K, V), {"width": 4}, "choose one of bilinear"),
        (("whitened", K, V), {"width": 4, "rigde": 1}, "no option 'rigde'; did you mean ridge?"),
        (("bilinear", K, V), {"width": 4, "ridge": 1}, "'bilinear' has no option 'ridge'; it has none"),
        (("whitened", K, V), {}, "one is needed; try width=64"),
        (("whitened", K, V), {"width": 0}, "width=0 is out of range"),
        (("whitened", K, V), {"width": 2.5}, "width=2.5 is out of range"),
        (("whitened", K, V), {"width": 4, "seed": -1}, "seed=-1 is out of range"),
        (("whitened", K, V), {"width": 4, "ridge": -1}, "ridge=-1 is out of range"),
        (("whitened", K, V), {"width": 4, "form": "both"}, "form='both' is unknown; 'primal' or 'dual'"),
        (("ntk", K, V), {"width": 4, "degree": 1.5}, "degree=1.5 is out of range"),
        (("ntk", K, V), {"width": 4, "gate": "swish"}, "'relu' or 'identity' is needed"),
        (("gd", K, V), {"width": 4, "gate": "gelu"}, "gate='gelu' is unknown"),
        (("gd", K, V), {"width": 4, "loss": "hinge"}, "'cross_entropy' or 'mse' is needed"),
        (("gd", K, V), {"width": 4, "biases": 1}, "biases=1 is neither True nor False"),
        (("gd", K, V), {"width": 4, "learning_rate": "x"}, "learning_rate='x' is out of range"),
        (("whitened", K[:0], V), {"width": 4}, r"the keys have shape \(0, 3\)"),
        (("whitened", K[0], V), {"width": 4}, r"the keys have shape \(3,\)"),
        (("whitened", [[1, 2], [3]], V), {"width": 4}, "the keys are no matrix"),
        (("whitened", K, V * np.nan), {"width": 4}, "the values have NaN"),
        (("whitened", K.astype(complex), V), {"width": 4}, "the keys have dtype complex128"),
        (("whitened", K.astype(np.float16), V), {"width": 4}, "the keys have dtype float16"),
        ((["bilinear"], K, V), {"width": 4}, r"no construction is called \['bilinear'\]"),
        (("whitened", K, V), {"width": 4, "form": np.ones(2)}, "is unknown; 'primal' or 'dual'"),
        (("whitened", np.ma.masked_less(K, 1), V), {"width": 4}, "entries without a value"),
        (("whitened", K, V > 0), {"width": 4}, "the values have dtype bool"),
        (("whitened", _changed(K, 1, 0), V), {"width": 4}, "row 1 of the keys is zero"),
        (("whitened", K, _changed(V, 2, 0)), {"width": 4}, "row 2 of the values is zero"),
        (("whitened", K, V[:2]), {"width": 4}, "a map is needed"),
        (("whitened", K, V, [0, 1]), {"width": 4}, r"map has dtype int64 and shape \(2,\)"),
        (("whitened", K, V, [0, 1, 3]), {"width": 4}, "points to value 3 of 3"),
        (("whitened", K, V, [0.0, 1, 2]), {"width": 4}, "map has dtype float64"),
    ],
)
def test_what_cannot_be_built_is_said_in_one_line(given, options, said):
    with pytest.raises(HebbcheckError, match=said) as error:
        memories.build(*given, **options)
    assert "\n" not in str(error.value)


def test_one_library_is_needed():
    torch = pytest.importorskip("torch")
    with pytest.raises(HebbcheckError, match="one library and device is needed"):
        memories.build("whitened", torch.tensor(K), V, width=4)


def test_running_out_of_memory_is_an_error(monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(readouts, "hebbian", fail)
    with pytest.raises(HebbcheckError, match="'bilinear' of width 4 for 3 facts ran out of memory"):
        memories.build("bilinear", K, V, width=4)
