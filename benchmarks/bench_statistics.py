"""Speed and memory of the statistics, as ratios measured in one run:

    pytest benchmarks/bench_statistics.py -s

Rates count the useful flops 2 F^2 (m + 4 d).  The two sides of a ratio are timed in turn and their best times
compared, so that other load on the machine, which comes and goes, costs neither side.
"""

import math
import time
import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hebbcheck import statistics
from hebbcheck.arrays import Backend, stream

D, M = 64, 512


def instance(F, backend):
    """Bilinear features of spherical keys, spherical values, a permutation."""
    rng = stream("bench", F)
    keys, values = (x / np.linalg.norm(x, axis=1)[:, None] for x in rng.standard_normal((2, F, D)))
    A, G = rng.standard_normal((2, M, D))
    mapping = rng.permutation(F)
    Phi = (keys @ A.T) * (keys @ G.T) / math.sqrt(M)
    return backend.asarray(Phi), backend.asarray(values[mapping]), backend.asarray(values), mapping


def summarise(Phi, codes, values, mapping):
    return statistics.summary(statistics.Features(Phi), codes, values, mapping, 1 / D)


def best_times(*functions, rounds, clock=time.perf_counter):
    """Of each function, the shortest of some calls made in turn, after one to warm up."""
    best = [math.inf] * len(functions)
    for round_ in range(rounds + 1):
        for k, function in enumerate(functions):
            started = clock()
            function()
            if round_:
                best[k] = min(best[k], clock() - started)
    return best


def show(benchmark, target, **measured):
    benchmark.extra_info.update(measured, target=target)
    print(f"\n  {', '.join(f'{name} {value:.3g}' for name, value in measured.items())}  (target: {target})")


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_rate_of_a_matrix_product(benchmark, name):
    backend, F = Backend(name), 4096
    arrays = instance(F, backend)
    left, right = (backend.asarray(x) for x in stream("bench", "product").standard_normal((2, 2048, 2048)))
    functions = (lambda: summarise(*arrays), lambda: left @ right)
    flops = np.array([2 * F**2 * (M + 4 * D), 2 * 2048**3])
    rates = flops / best_times(*functions, rounds=8)
    with threadpool_limits(
        limits=1
    ):  # processor time on one thread: what other load on the machine leaves alone
        on_one = flops / best_times(*functions, rounds=3, clock=time.process_time)
    show(
        benchmark,
        "share >= 0.5",
        share=rates[0] / rates[1],
        share_on_one_thread=on_one[0] / on_one[1],
        rate=rates[0],
        rate_of_product=rates[1],
    )
    benchmark.pedantic(summarise, args=arrays, rounds=3)


def test_growth(benchmark):
    sizes = (1024, 2048, 4096, 8192, 16384)
    arrays = {F: instance(F, Backend()) for F in sizes}
    seconds = {F: best_times(lambda a=arrays[F]: summarise(*a), rounds=3)[0] for F in sizes}
    exponent = math.log(seconds[16384] / seconds[1024]) / math.log(16)
    show(benchmark, "exponent <= 2.1", exponent=exponent, **{f"seconds_{F}": s for F, s in seconds.items()})
    benchmark.pedantic(summarise, args=arrays[4096], rounds=3)


def test_peak_memory(benchmark):
    arrays = instance(16384, Backend())
    tracemalloc.start()
    summarise(*arrays)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    show(benchmark, "below 1 GB", peak_extra_GB=peak / 1e9)
    benchmark.pedantic(summarise, args=arrays, rounds=1)


def test_against_the_dense_definition(benchmark):
    Phi, codes, values, mapping = instance(512, Backend())

    def everything():
        return summarise(Phi, codes, values, mapping), statistics.sparsity(codes, values, mapping)

    (seconds,) = best_times(everything, rounds=20)
    started = time.perf_counter()
    expected = dense(Phi @ Phi.T, codes, 1 / D)
    dense_seconds = time.perf_counter() - started
    (found, L_v) = everything()
    for name, value in expected.items():
        assert np.isclose((found | {"L_v": L_v})[name].value, value, rtol=1e-11), name
    show(
        benchmark,
        "speedup >= 100",
        speedup=dense_seconds / seconds,
        seconds=seconds,
        dense_seconds=dense_seconds,
    )
    benchmark.pedantic(everything, rounds=5)


def dense(K, C, mu):
    """Every definition as it is written, on arrays F x F x F of pairs (i, j) by facts t, for a bijection."""
    F = len(C)
    facts = np.arange(F)
    w = C[:, None, :] - C[None, :, :]
    Y = np.einsum("ijd,td->ijt", w, C, optimize=True)
    pair = facts[:, None] != facts[None, :]
    off = np.broadcast_to((facts[None, :] != facts[:, None])[:, None, :], Y.shape)
    tilde = off & (facts[None, None, :] != facts[None, :, None])
    X = np.broadcast_to(K[:, None, :], Y.shape)
    V, U = np.einsum("iji->ij", Y), np.einsum("ijj->ij", Y)
    diagonal = np.diagonal(K)
    crosstalk, absorbed = (np.where(on, X * Y, 0).sum(axis=2) for on in (off, tilde))
    centered = np.where(tilde, (X - mu) * Y, 0).sum(axis=2)
    E_K, E_K_tilde = (np.where(on, X**2, 0).sum(axis=2) for on in (off, tilde))
    E_K_centered = np.where(tilde, (X - mu) ** 2, 0).sum(axis=2)
    E_v, E_v_tilde = (np.where(on, Y**2, 0).sum(axis=2) for on in (off, tilde))
    E_v[~pair] = E_v_tilde[~pair] = 1  # no pairs
    signal = diagonal[:, None] * V

    def largest(table):
        return abs(table[pair]).max()

    return {
        "gamma_min": (signal + crosstalk)[pair].min(),
        "s_min": (signal + K * U)[pair].min(),
        "z_max": largest(absorbed),
        "K_diag_min": diagonal.min(),
        "K_diag_max": diagonal.max(),
        "K_off_max": largest(K),
        "V_min": V[pair].min(),
        "V_max": largest(U),
        "E_K": largest(E_K),
        "E_K_tilde": largest(E_K_tilde),
        "E_K_centered": largest(E_K_centered),
        "E_v": largest(E_v),
        "E_v_tilde": largest(E_v_tilde),
        "kappa": largest(crosstalk / np.sqrt(E_K * E_v)),
        "kappa_tilde": largest(absorbed / np.sqrt(E_K_tilde * E_v_tilde)),
        "kappa_centered": largest(centered / np.sqrt(E_K_centered * E_v_tilde)),
        "kappa_eff": largest(centered / np.sqrt(E_v_tilde)),
        "B_Y": largest(np.where(tilde, Y, 0).sum(axis=2)),
        "L_v": largest(np.where(tilde, abs(Y), 0).sum(axis=2) ** 2 / E_v_tilde),
    }
