"""Which of the paper's experiments lie where Theorems B.29 and B.30 apply (Appendix A against Appendix B.8)."""

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
    F, d, m = (np.asarray(list(values), float) for values in sizes)
    F, d, m = F[:, None, None], d[None, :, None], m[None, None, :]
    return int(np.sum(admissible(F, d, m, log(C0 * F**2 / delta))))


def experiments(rng, delta, C0):
    counts = {name: admitted(sizes, delta, C0) for name, sizes in OUTSIDE.items()}
    return {"outside": list(counts.values()), "margin_in_F": admitted(MARGIN_IN_F, delta, C0)}


every_reading = geo.family(experiments, delta=[0.5, 0.1, 0.01], C0=[1, 2])
"""The failure probability and the constant in L, which the paper leaves open."""


@hc.claim(
    "text.regions",
    over=every_reading,
    title="The experiments lie outside the region of the isotropic margin bound",
    source="Theorem B.30 against Appendices A.2 to A.4; the sweep over F at d = 64 excepted",
)
def experiments_lie_outside(x):
    r"F \ge 2L, \ L^3 \le m \le d^2/L \quad \text{for none of the experiments' sizes}"
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
