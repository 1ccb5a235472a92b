"""Claims for the tests of the referee's power: small ones, with everything in them that can be changed."""

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

kernel = geo.facts(keys=geo.anything, values=geo.anything, memory="kernel")


@hc.claim("power.crosstalk", over=kernel)
def crosstalk(x):
    "Cross-talk is at most energy times energy times coupling."
    return hc.at_most(x.z_max, sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde)


@hc.claim("power.signal", over=kernel, given={"V_ij >= 0": lambda x: x.V_min >= 0})
def signal(x):
    "The signal of the smallest entries."
    return hc.at_least(x.s_min, x.K_diag_min * x.V_min - x.K_off_max * x.V_max)


@hc.claim("power.decomposition", over=geo.facts(F=(3, 8), d=4, m=8))
def decomposition(x):
    "The margin is signal plus cross-talk."
    return hc.equal(x.margins, x.signal + x.crosstalk)


def spread(x, size):
    """A helper that the bound is built with."""
    return sqrt(2 * log(x.F**2 / x.delta) / size)


@hc.claim(
    "power.coherence",
    over=geo.facts(F=(3, 64), d=(4, 64), m=8),
    given={"F >= 3": lambda x: x.F >= 3},
    fails_at_most="delta",
)
def coherence(x):
    "Isotropic values are nearly orthogonal."
    return hc.at_most(1 - x.V_min, spread(x, x.d))


@hc.claim(
    "power.constant",
    over=geo.facts(),
    given={"F >= 3": lambda x: x.F >= 3, "d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
)
def constant(x, *, C):
    "The same with an open constant."
    return hc.at_most(1 - x.V_min, C * sqrt(x.L / (x.d - 1)), trivial=2)


@hc.claim("power.mean", over=geo.vectors(count=2))
def mean(v):
    "The sketched kernel is unbiased."
    return hc.equal(hc.mean(v.sketched_kernel(samples=20_000)), (v[0] @ v[1]) ** 2)


@hc.claim("power.rate", over=geo.facts(F=[8, 16, 32, 64, 128], d=8, m=8, delta=0.1))
def rate(x):
    "The logarithm of the number of pairs."
    return hc.scales_as(x.L, log(x.F))


@hc.claim("power.wrong", over=geo.kernels(), expect="refuted", erratum="Kernels need not be normalised.")
def wrong(k):
    "The trace is at most F."
    return hc.at_most(k.trace, k.F)
