"""Claims that are nearly true: each is false, and differs from a true one by a factor, a term or an assumption."""

import hebbcheck as hc
from hebbcheck import exp, log, sqrt
from hebbcheck import geometry as geo

given_kernel = geo.facts(keys=geo.anything, values=geo.anything, memory="kernel")
kernel_first = geo.facts(keys=geo.anything, values=geo.sphere, memory="kernel")
kernels = geo.kernels()
positive = {"V_ij >= 0": lambda x: x.V_min >= 0}


# For all instances.
@hc.claim("near.crosstalk.squared", over=given_kernel)
def crosstalk_squared(x):
    "Cross-talk with the coupling squared."
    return hc.at_most(x.z_max, sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde**2)


@hc.claim("near.crosstalk.99", over=given_kernel)
def crosstalk_99(x):
    "Cross-talk, one percent too small."
    return hc.at_most(x.z_max, 0.99 * sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde)


@hc.claim("near.crosstalk.kappa", over=given_kernel)
def crosstalk_kappa(x):
    "Cross-talk with the coupling that counts the competitor."
    return hc.at_most(x.z_max, sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa)


@hc.claim("near.crosstalk.centred", over=given_kernel)
def crosstalk_centred(x):
    "Cross-talk with the energy of the centred kernel."
    return hc.at_most(x.z_max, sqrt(x.E_K_centered) * sqrt(x.E_v_tilde) * x.kappa_tilde)


@hc.claim("near.margin.maximum", over=given_kernel, given=positive)
def margin_maximum(x):
    "The margin bound with V_max for V_min."
    return hc.at_least(x.gamma_min, x.K_diag_min * x.V_max - sqrt(x.E_K) * sqrt(x.E_v) * x.kappa)


@hc.claim("near.margin.assumption", over=given_kernel)
def margin_assumption(x):
    "The margin bound without its assumption."
    return hc.at_least(x.gamma_min, x.K_diag_min * x.V_min - sqrt(x.E_K) * sqrt(x.E_v) * x.kappa)


@hc.claim("near.margin.competitor", over=given_kernel, given=positive)
def margin_competitor(x):
    "The margin bound with the competitor absorbed and its term forgotten."
    penalty = sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde
    return hc.at_least(x.gamma_min, x.K_diag_min * x.V_min - penalty)


@hc.claim("near.signal.minimum", over=given_kernel, given=positive)
def signal_minimum(x):
    "The signal bound with V_min for V_max."
    return hc.at_least(x.s_min, x.K_diag_min * x.V_min - x.K_off_max * x.V_min)


@hc.claim("near.signal.assumption", over=given_kernel)
def signal_assumption(x):
    "The signal bound without its assumption."
    return hc.at_least(x.s_min, x.K_diag_min * x.V_min - x.K_off_max * x.V_max)


@hc.claim("near.welch.105", over=kernels)
def welch_105(k):
    "Welch's bound with a trace that is five percent too large."
    return hc.at_least(k.E_K, (1.05 * k.trace**2 / k.m - k.diag_sq_sum) / k.F)


@hc.claim("near.welch.half", over=kernels)
def welch_half(k):
    "Welch's bound with half a fact less."
    return hc.at_least(k.E_K, (k.trace**2 / k.m - k.diag_sq_sum) / (k.F - 0.5))


@hc.claim("near.whitening", over=geo.preconditioned())
def whitening(x):
    "The whitened norm, one percent too large."
    return hc.at_least(hc.sum(x.K_M**2), 1.01 * x.F**2 * x.m)


@hc.claim("near.order", over=geo.vectors(count=1, d=(2, 10**6), m=(1, 10**6)))
def order(v):
    "The order of the variance with 5 % more than its limit for large sizes."
    return hc.at_least(v.sigma2, 1.05 * (1 / v.d**2 + 1 / v.m))


@hc.claim(
    "near.robust",
    over=geo.facts(keys=geo.anything, values=geo.anything, noise=1.0),
    given={
        "gamma_0 > 0": lambda x: x.gamma_min > 0,
        "R_V > 0": lambda x: hc.max([hc.sum(v * v) for v in x.values]) > 0,
    },
)
def robust(x):
    "Perturbed outputs with a radius that is a third too large."
    radius = x.gamma_min / (3 * sqrt(hc.max([hc.sum(v * v) for v in x.values])))
    return hc.at_least(hc.min(x.margins_of(x.mlp(x.keys) + x.noise * radius)), x.gamma_min / 2)


# Identities.
@hc.claim("near.absorbed", over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any"))
def absorbed(x):
    "The competitor's term in neither sum."
    return hc.equal(x.margins, x.signal + x.crosstalk_absorbed)


@hc.claim("near.hebbian", over=geo.mlps())
def hebbian(x):
    "Any MLP is a Hebbian memory, whatever its feature covariance."
    return hc.equal(x.hebbian(x.queries), x.mlp(x.queries))


# In expectation.
@hc.claim("near.mean", over=geo.vectors(count=2))
def mean(v):
    "Ten percent of bias."
    return hc.equal(hc.mean(v.sketched_kernel(samples=20_000)), 1.1 * (v[0] @ v[1]) ** 2)


@hc.claim("near.variance", over=geo.vectors(count=2, m=4))
def variance(v):
    "The variance with 2 for 3."
    norms, inner = (v[0] @ v[0]) * (v[1] @ v[1]), (v[0] @ v[1]) ** 2
    deviations = v.sketched_kernel(samples=20_000, m=4) - inner
    return hc.equal(hc.mean(v.m * deviations**2), (norms + inner) * (norms + 2 * inner))


# With a stated probability.
@hc.claim("near.coherence", over=kernel_first, fails_at_most="delta")
def coherence(x):
    "The signal bound with a quarter of the variance that its logarithm needs."
    eps_v = sqrt(0.5 * log(x.F**2 / x.delta) / x.d)
    return hc.at_least(x.s_min, x.K_diag_min * (1 - eps_v) - x.K_off_max * (1 + eps_v))


@hc.claim("near.logarithm", over=kernel_first, fails_at_most="delta", given={"F >= 3": lambda x: x.F >= 3})
def logarithm(x):
    "Cross-talk without its logarithm."
    return hc.at_most(x.z_max, sqrt(8 * x.E_K_tilde / x.d))


@hc.claim("near.diagonal", over=geo.facts(), fails_at_most=lambda x: min(1.0, x.F * exp(-x.m * 0.25 / 2)))
def diagonal(x):
    "The diagonal's tail with an exponent eight times too large."
    return hc.at_least(x.K_diag_min, 0.5)


# Rates.
@hc.claim(
    "near.rate", over=geo.family(lambda rng, F: {"W": F * log(F) * rng.uniform(0.9, 1.1)}, F=(16, 4096))
)
def rate(x):
    "The square root of a size too much."
    return hc.scales_as(x.W, x.F**1.5)
