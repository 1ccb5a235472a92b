"""A small true claim of each kind: what every backend must agree on."""

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt


@hc.claim("small.decomposition", over=geo.facts(), title="The margin is signal plus cross-talk")
def decomposition(x):
    r"\gamma_{ij} = s_{ij} + z_{ij}"
    return hc.equal(x.margins, x.signal + x.crosstalk)


@hc.claim(
    "small.margin",
    over=geo.facts(keys=geo.anything, values=geo.anything),
    given={"V_ij >= 0": lambda x: x.V_min >= 0},
    title="The margin, whatever the keys and values",
    needs=["small.decomposition"],
)
def margin(x):
    r"\gamma_{\min} \ge K_{\min}^{\mathrm{diag}} V_{\min} - \sqrt{E_K} \sqrt{E_v}\, \kappa"
    return hc.at_least(x.gamma_min, x.K_diag_min * x.V_min - sqrt(x.E_K * x.E_v) * x.kappa)


@hc.claim(
    "small.trace",
    over=geo.kernels(),
    title="The trace is at most F",
    expect="refuted",
    erratum="Kernels need not be normalised.",
)
def trace(k):
    r"\operatorname{tr} K \le F"
    return hc.at_most(k.trace, k.F)


@hc.claim("small.unbiased", over=geo.vectors(count=2), title="The sketched kernel is unbiased")
def unbiased(v):
    r"\mathbb E\, \hat K(x, z) = \langle x, z \rangle^2"
    return hc.equal(hc.mean(v.sketched_kernel(samples=20_000)), (v[0] @ v[1]) ** 2)


@hc.claim(
    "small.markov",
    over=geo.facts(F=8, d=(4, 16), m=(16, 64)),
    fails_at_most=0.5,
    title="Markov's inequality for a diagonal entry",
)
def markov(x):
    r"\Pr(K_{11} \ge 2) \le \tfrac12"
    return hc.at_most(x.K[0, 0], 2)


@hc.claim(
    "small.competitor",
    over=geo.facts(values=geo.sphere, F=(8, 128), d=8, m=8),
    fails_at_most="delta",
    title="Unit values differ by a bounded amount",
)
def competitor(x, *, C):
    r"\max_{i \ne j} |\langle v_i - v_j, v_j \rangle| \le C"
    return hc.at_most(x.V_max, C)


@hc.claim(
    "small.logarithm",
    over=geo.facts(F=[8, 16, 32, 64, 128], d=8, m=8, delta=0.1),
    title="The logarithm of the number of pairs",
)
def logarithm(x):
    r"L = \Theta(\log F)"
    return hc.scales_as(x.L, log(x.F))
