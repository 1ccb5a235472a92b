"""Cross-talk bounds (Appendix B.6)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import abs, log, max, sqrt, sum
from hebbcheck import geometry as geo

from .geometry import cosine, energy, parts

kernel_first = geo.facts(keys=geo.anything, values=geo.sphere, memory="kernel")
"""An arbitrary kernel, fixed before the isotropic values are drawn."""


@hc.claim(
    "B.16",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="kernel"),
    title="Cross-talk, arbitrary keys and values",
    source="Theorem B.16",
    needs=["eq34"],
)
def crosstalk(x):
    r"\tilde z_{\max} \le \sqrt{\tilde E_K} \sqrt{\tilde E_v}\, \tilde\kappa"
    return hc.at_most(x.z_max, sqrt(x.E_K_tilde) * sqrt(x.E_v_tilde) * x.kappa_tilde)


@hc.claim(
    "B.17",
    over=kernel_first,
    title="Cross-talk, arbitrary keys, isotropic values",
    source="Theorem B.17",
    given={"F >= 3": lambda x: x.F >= 3, "d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.16", "B.41", "B.42"],
)
def crosstalk_isotropic_values(x, *, C1, C2, C3):
    r"""\tilde E_v \le C_1 \frac{(F-2)+L}{d-1}, \quad \tilde\kappa \le C_2 \sqrt{\frac{L}{F-2}}, \quad
    \tilde z_{\max} \le C_3 \sqrt{\tilde E_K} \sqrt{\frac{L}{d-1}} \sqrt{1 + \frac{L}{F-2}}"""
    spread = sqrt(x.L / (x.d - 1)) * sqrt(1 + x.L / (x.F - 2))
    return [
        hc.at_most(x.E_v_tilde, C1 * (x.F - 2 + x.L) / (x.d - 1)),
        hc.at_most(x.kappa_tilde, C2 * sqrt(x.L / (x.F - 2)), trivial=1),
        hc.at_most(x.z_max, C3 * sqrt(x.E_K_tilde) * spread),
    ]


@hc.claim(
    "B.17.simple",
    over=geo.facts(keys=geo.sphere, values=geo.sphere),
    title="Cross-talk, isotropic values: simple form",
    source="Theorem B.17, last display, on the bilinear kernel of spherical keys",
    given={"F - 2 >= L": lambda x: x.F - 2 >= x.L, "d >= 2": lambda x: x.d >= 2},
    fails_at_most="delta",
    needs=["B.17"],
)
def crosstalk_isotropic_values_simple(x, *, C):
    r"\tilde z_{\max} \le C \sqrt{\tilde E_K} \sqrt{\frac{L}{d}}"
    return hc.at_most(x.z_max, C * sqrt(x.E_K_tilde * x.L / x.d))


@hc.claim(
    "B.17.explicit",
    over=kernel_first,
    title="Cross-talk, arbitrary keys, isotropic values, with constants that are proved",
    source="Theorem B.17 with sub-Gaussian constants",
    given={"F >= 3": lambda x: x.F >= 3},
    fails_at_most="delta",
    needs=["B.36.moments"],
)
def crosstalk_isotropic_values_explicit(x):
    r"\tilde z_{\max} \le 2\sqrt2 \sqrt{\tilde E_K} \sqrt{\frac{\log(2F^2/\delta)}{d}}"
    return hc.at_most(x.z_max, sqrt(8 * x.E_K_tilde * log(2 * x.F**2 / x.delta) / x.d))


centred = geo.facts(
    keys=geo.anything,
    values=geo.anything,
    memory="kernel",
    mapping="identity",
    F=(1, 5),
    d=(1, 4),
    m=(1, 4),
    centre=(-2.0, 2.0),
)
"""Few facts, so that every sum can be written out, and any centre mu."""


def residuals(x):
    """E_K, kappa and kappa_eff of the columns less the centre, X - mu 1."""
    found = [([k - x.centre for k in X], Y) for X, Y in parts(x, absorbed=True)]
    E_K = max([0, *[energy(X) for X, _ in found]])
    kappa = max([0, *[cosine(X, Y) for X, Y in found]])
    return E_K, kappa, max([0, *[sqrt(energy(X)) * cosine(X, Y) for X, Y in found]])


@hc.claim(
    "B.18",
    over=centred,
    title="Cross-talk, mean and residual",
    source="Lemma B.18, with 0/0 = 0",
    needs=["B.18.decomposition", "B.12", "eq34"],
)
def mean_and_residual(x):
    r"""\tilde z_{\max} \le |\mu| B_Y + \sqrt{E_K^\circ} \sqrt{\tilde E_v}\, \kappa^\circ
    \quad \text{for every} \ \mu"""
    E_K, kappa, _ = residuals(x)
    return hc.at_most(x.z_max, abs(x.centre) * x.B_Y + sqrt(E_K) * sqrt(x.E_v_tilde) * kappa)


@hc.claim(
    "B.18.effective",
    over=centred,
    title="Cross-talk, mean and residual, with the effective coupling",
    source="Lemma B.18, last display, with 0/0 = 0",
    needs=["B.18.decomposition"],
)
def effective_coupling(x):
    r"""\tilde z_{\max} \le |\mu| B_Y + \sqrt{\tilde E_v}\, \kappa_{\mathrm{eff}}^\circ, \quad
    \kappa_{\mathrm{eff}}^\circ \le \sqrt{E_K^\circ}\, \kappa^\circ \quad \text{for every} \ \mu"""
    E_K, kappa, effective = residuals(x)
    return [
        hc.at_most(x.z_max, abs(x.centre) * x.B_Y + sqrt(x.E_v_tilde) * effective),
        hc.at_most(effective, sqrt(E_K) * kappa),
    ]


@hc.claim(
    "B.18.decomposition",
    over=centred,
    title="Any multiple of the all-ones column may be split off",
    source="Lemma B.18, first display",
)
def centred_decomposition(x):
    r"""\tilde z_{ij} = \mu \langle 1, Y^{(ij)} \rangle + \langle X^{(ij)} - \mu 1, Y^{(ij)} \rangle
    \quad \text{for every} \ \mu"""
    found = parts(x, absorbed=True)
    return [
        hc.equal(
            sum([k * y for k, y in zip(X, Y, strict=True)]),
            x.centre * sum(Y) + sum([(k - x.centre) * y for k, y in zip(X, Y, strict=True)]),
        )
        for X, Y in found
    ] or [hc.equal(0, 0)]


def crosstalk_of(gram, K):
    """(z_max, truncated E_K) of a kernel K and the values' Gram matrix, both F x F."""
    off = K - np.diag(np.diag(K))
    sums = gram @ off
    own = np.diag(gram)
    z = np.diag(sums)[:, None] - sums.T
    competitor = off * (gram - own[None, :])
    z = np.abs(z - competitor)
    np.fill_diagonal(z, 0)
    energies = np.sum(off**2, axis=0)[:, None] - off**2
    np.fill_diagonal(energies, 0)
    return float(z.max()), float(energies.max())


def kernel_of_the_values(rng, F, d, delta):
    """The linear kernel of isotropic values: z_ij adds F / d terms of one sign."""
    values = rng.standard_normal((F, d))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    gram = values @ values.T
    z_max, E_K_tilde = crosstalk_of(gram, gram)
    return {"z_max": z_max, "E_K_tilde": E_K_tilde}


@hc.claim(
    "B.17.printed",
    over=geo.family(kernel_of_the_values, F=(128, 512), d=(4, 16), delta=[0.5, 0.1]),
    title="Cross-talk, isotropic values, whatever the kernel",
    source="Theorem B.17, last display, with the constant that independence allows",
    fails_at_most="delta",
    expect="refuted",
    erratum="An arbitrary kernel must not depend on the values: <v_t, v_i>, of rank d, aligns all cross-talk.",
)
def crosstalk_isotropic_values_printed(x):
    r"\tilde z_{\max} \le 2\sqrt2 \sqrt{\tilde E_K} \sqrt{\frac{\log(2F^2/\delta)}{d}}"
    return hc.at_most(x.z_max, sqrt(8 * x.E_K_tilde * log(2 * x.F**2 / x.delta) / x.d))
