"""The capacity search against plain bisection on [1, 65536], as ratios measured in one run:

    pytest benchmarks/bench_capacity.py -s

Both sides answer by integers, on the same facts and weights, in processor time on one thread.  Work is the number of
hidden units that were computed on all keys.  gd is compared with two bisections: with the paper's, whose training goes
on until the loss is 1e-7 (five minutes), and with one that stops as soon as all facts are stored (there most of the
time of either search goes into the widths that fail, which take all of their steps, so that little can be saved).
"""

import math
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from hebbcheck import capacity, memories
from hebbcheck.arrays import Streams
from hebbcheck.geometry import sphere

WIDEST = 65536


def instance(F, d, seed):
    """Tied spherical keys and values, a random permutation."""
    streams = Streams("bench", seed)
    keys = sphere.sample(streams, "keys", F, d)
    return keys, keys, streams("map").permutation(F)


def bisected(name, facts, seed, **options):
    """(the answer, the widths that were built): the plain bisection."""
    low, high, built = 0, WIDEST, []
    while high - low > 1:
        middle = (low + high) // 2
        built.append(middle)
        stored = memories.build(name, *facts, width=middle, seed=seed, **options).stores(*facts)
        low, high = (low, middle) if stored else (middle, high)
    return high, built


def timed(function):
    started = time.process_time()
    result = function()
    return result, time.process_time() - started


PAPER_LOSS = 1e-7


def at_loss(loss, F):
    """The margin at which the cross entropy of a fact is at most this loss."""
    return math.log((F - 1) / math.expm1(loss))


@pytest.mark.parametrize(
    ("name", "F", "d", "seeds", "plainly"),
    [
        ("bilinear", 512, 64, 3, {}),
        ("diagonal", 512, 64, 3, {}),
        ("whitened", 512, 64, 3, {}),
        ("ntk", 512, 64, 3, {}),
        ("data_dependent", 128, 32, 2, {}),
        ("gd", 16, 8, 1, {"margin": at_loss(PAPER_LOSS, 16)}),
        ("gd", 48, 16, 1, {}),
    ],
)
def test_against_plain_bisection(benchmark, name, F, d, seeds, plainly):
    measured, answers = [], []
    with threadpool_limits(limits=1):
        memories.build(name, *instance(4, 3, 0), width=2)
        for seed in range(seeds):
            facts = instance(F, d, seed)
            found, seconds = timed(lambda: capacity.of(name, *facts, seed=seed, widest=WIDEST))  # noqa: B023
            (plain, built), plain_seconds = timed(lambda: bisected(name, facts, seed, **plainly))  # noqa: B023
            measured.append((sum(built) / found.units, plain_seconds / seconds, seconds, plain_seconds))
            answers.append((found.width, plain))
        work, speedup, seconds, plain_seconds = np.mean(measured, axis=0)
        stopped = f", until margins are {plainly['margin']:.3g}" if plainly else ""
        told = ", ".join(f"{mine}" if mine == plain else f"{mine} ({plain})" for mine, plain in answers)
        benchmark.extra_info.update(work=work, speedup=speedup, answers=told, target="both >= 10")
        print(
            f"\n  {name}, F = {F}, d = {d}{stopped}: {work:.3g} times less work, {speedup:.3g} times less time "
            f"({seconds:.3g} s, {plain_seconds:.3g} s); widths, and bisected ones where they differ: {told}"
        )
        for (mine, plain), facts_seed in zip(answers, range(seeds), strict=True):
            assert (
                mine == plain
                or mine < plain
                or passed_over(name, instance(F, d, facts_seed), mine, facts_seed)
            )
        benchmark.pedantic(capacity.of, args=(name, *instance(F, d, 0)), kwargs={"widest": WIDEST}, rounds=1)


def passed_over(name, facts, width, seed):
    """Whether a width is as good an answer as a smaller one that bisection came upon: it stores, its neighbour not."""
    near, nearer = (
        memories.build(name, *facts, width=m, seed=seed).stores(*facts) for m in (width, width - 1)
    )
    return near and not nearer
