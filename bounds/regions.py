"""Which of the paper's experiments lie where Theorems B.29 and B.30 apply (Appendix A against Appendix B.8)."""

import functools
import math

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log

ANY_WIDTH = 65536
"""Where a width was searched for, every width up to this one counts."""


def spaced(low, high, count):
    return np.unique(np.round(np.geomspace(low, high, count)))


def loads(d):
    """F = alpha d^2, the loads of the capacity sweeps."""
    return [int(alpha * d**2) for alpha in (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)]


OUTSIDE = {
    "margin in m, beta and noise": ([128, 256], [64], [*spaced(64, 1024, 30)]),
    "margin in F, exact kernel": (spaced(32, 2048, 30), [32], range(1, ANY_WIDTH)),
    "Transformer at a given width": ([2048], [128], range(16, 257)),
    "capacity of MLPs": (loads(64), [64], range(1, ANY_WIDTH)),
    "capacity of MLPs, d = 90": (loads(90), [90], range(1, ANY_WIDTH)),
    "capacity of MLPs, d = 128": (loads(128), [128], range(1, ANY_WIDTH)),
    "editing": ([16384], [256], [512, 1024]),
}
"""Sizes (F, d, m) of experiments, all combinations of each."""

MARGIN_IN_F = (spaced(32, 512, 30), [64], [512])
"""The bilinear sweep over F of Figure 4."""


def admissible(F, d, m, L):
    """F >= 2L and L^3 <= m <= d^2 / L, entry by entry."""
    return (F >= 2 * L) & (m >= L**3) & (m <= d**2 / L)


def admitted(sizes, delta, C0):
    """How many combinations of the sizes the theorem speaks of."""
    return int(np.sum(inside(sizes, delta, C0)))


def inside(sizes, delta, C0):
    """Which combinations of the sizes the theorem speaks of, (F, d, m) a number each."""
    F, d, m = (np.asarray(list(values), float) for values in sizes)
    F, d, m = F[:, None, None], d[None, :, None], m[None, None, :]
    return admissible(F, d, m, log(C0 * F**2 / delta))


@functools.cache
def counts(delta, C0):
    return {name: admitted(sizes, delta, C0) for name, sizes in OUTSIDE.items()}


def experiments(rng, delta, C0):
    return {"outside": list(counts(delta, C0).values()), "margin_in_F": admitted(MARGIN_IN_F, delta, C0)}


every_reading = geo.family(experiments, delta=[0.5, 0.1, 0.01], C0=[1, 2])
"""The failure probability and the constant in L, which the paper leaves open."""


@hc.claim(
    "text.regions",
    over=every_reading,
    title="Most experiments lie outside the region of the isotropic margin bound",
    source="Theorem B.30 against the margin sweeps in m, beta, noise and (exact kernel) F, the Transformer of A.4.4, "
    "the capacity of MLPs and the editing; those of text.regions.exception and text.regions.transformer excepted",
)
def experiments_lie_outside(x):
    r"F \ge 2L, \ L^3 \le m \le d^2/L \quad \text{for none of these experiments' sizes}"
    return hc.equal(x.outside, 0 * x.outside)


@hc.claim(
    "text.regions.exception",
    over=every_reading,
    title="Two points of one sweep lie inside",
    source="Theorem B.30 against Figure 4",
)
def two_points_inside(x):
    r"d = 64, \ m = 512: \quad \text{two of 30 points if} \ \delta = \tfrac12, \ C_0 = 1, \ \text{else none}"
    return hc.equal(x.margin_in_F, 2 if x.delta == 0.5 and x.C0 == 1 else 0)


TRANSFORMER = {
    "capacity, F = 64": ([64], [128], range(1, ANY_WIDTH + 1)),
    "capacity, F = 128": ([128], [128], range(1, ANY_WIDTH + 1)),
    "capacity, F from 256 on": ([2**k for k in range(8, 14)], [128], range(1, ANY_WIDTH + 1)),
    "training accuracy, m up to 352": (range(1, 65537), [128], [44, 88, 176, 352]),
    "training accuracy, m = 704": (range(1, 65537), [128], [704]),
    "training accuracy, m = 1408": (range(1, 65537), [128], [1408]),
    "margin on Qwen3's embeddings": (range(4, 129), [1024], [1024]),
}
"""Experiments that have sizes inside, some of them in one reading only."""


@functools.cache
def extremes(delta, C0):
    """The smallest and the largest F and m of the sizes inside, zeros where there are none."""
    found = [np.nonzero(inside(sizes, delta, C0)) for sizes in TRANSFORMER.values()]
    sizes = [[np.asarray(list(values)) for values in each] for each in TRANSFORMER.values()]
    ends = [
        (F[f].min(), F[f].max(), m[k].min(), m[k].max()) if len(f) else (0, 0, 0, 0)
        for (F, _, m), (f, _, k) in zip(sizes, found, strict=True)
    ]
    return tuple(ends)


def transformers(rng, delta, C0):
    return {"ends": np.array(extremes(delta, C0), float)}


@hc.claim(
    "text.regions.transformer",
    over=geo.family(transformers, delta=0.5, C0=1),
    title="Small fact sets of the Transformers at d = 128, and of Qwen3's embeddings, lie inside",
    source="Theorem B.30 against A.4.3, A.5.1 and A.5.2 (whose keys are not isotropic), in the widest reading, "
    "delta = 1/2 and C0 = 1; at delta = 0.01 only A.5.1 at m = 1408 has any",
)
def transformer_sizes_inside(x):
    r"""\text{A.4.3: } F = 64, 732 \le m \le 1818; \ F = 128, 1124 \le m \le 1575. \quad
    \text{A.5.1: } 11 \le F \le 24, 60, 192 \text{ at } m \le 352, \ 704, \ 1408. \quad
    \text{A.5.2: } d = m = 1024, 11 \le F \le 109"""
    expected = [
        (64, 64, 732, 1818),
        (128, 128, 1124, 1575),
        (0, 0, 0, 0),
        (11, 24, 176, 352),
        (11, 60, 704, 704),
        (11, 192, 1408, 1408),
        (11, 109, 1024, 1024),
    ]
    return hc.equal(np.asarray(x.ends), np.array(expected, float))


@hc.claim(
    "text.regions.printed",
    over=every_reading,
    title="The isotropic bound is tested where it is stated",
    source="Section 4.3, Figures 2b and 4",
    expect="refuted",
    erratum="At d = 64 the assumptions m >= L^3 and m <= d^2/L exclude each other for all but the smallest loads, so "
    "the experiments test the form of the bound outside the region of the theorem.",
)
def experiments_lie_inside(x):
    r"F \ge 2L, \ L^3 \le m \le d^2/L \quad \text{for all points of the sweep over} \ F"
    return hc.at_least(x.margin_in_F, len(MARGIN_IN_F[0]))


FACTS = (256, 1024, 4096, 16384)
"""Numbers of facts at which the smallest dimension is tabulated."""

SMALLEST_DIMENSIONS = {
    (0.5, 1): (139, 212, 301, 405),
    (0.1, 1): (180, 262, 359, 472),
    (0.01, 1): (247, 342, 452, 577),
    (0.5, 2): (156, 233, 325, 433),
    (0.1, 2): (199, 285, 386, 502),
    (0.01, 2): (269, 368, 482, 611),
}
"""At each of FACTS, by (delta, C0)."""

SMALLEST_FACT_SETS = {
    (0.5, 1): 5884,
    (0.1, 1): 8483,
    (0.01, 1): 13084,
    (0.5, 2): 6944,
    (0.1, 2): 9755,
    (0.01, 2): 14684,
}
"""By (delta, C0)."""


def at_least_width(F, d, delta, C0, largest=math.inf):
    """Whether m = ceil(L^3), up to the largest, is inside: where it is not, no width is."""
    L = log(C0 * F**2 / delta)
    width = np.ceil(L**3)
    return admissible(F, d, width, L) & (width <= largest)


def smallest(rng, delta, C0):
    """The least d with which the least width is inside, for each of FACTS; the least F with such m and d at most F."""
    every = np.arange(4, 20001)
    dimensions = [every[at_least_width(F, every, delta, C0)][0] for F in FACTS]
    return {"dimensions": dimensions, "facts": every[at_least_width(every, every, delta, C0, every)][0]}


@hc.claim(
    "text.regions.smallest",
    over=geo.family(smallest, delta=[0.5, 0.1, 0.01], C0=[1, 2]),
    title="Where the regions of the isotropic bounds begin",
    source="Theorem B.30 and, with m, d <= F, Corollaries B.31 and B.32 and Table 2, top left",
)
def regions_begin(x):
    r"""\min \{ d : F \ge 2L, L^3 \le m \le d^2/L \} \in [139, 611] \ \text{for } 256 \le F \le 16384, \quad
    \min \{ F : F \ge 2L, L^3 \le m \le d^2/L, m \le F, d \le F \} \in [5884, 14684]"""
    reading = (float(x.delta), int(x.C0))
    return [
        hc.equal(np.asarray(x.dimensions), np.array(SMALLEST_DIMENSIONS[reading])),
        hc.equal(x.facts, SMALLEST_FACT_SETS[reading]),
    ]
