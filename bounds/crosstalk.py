"""Cross-talk bounds (Appendix B.6)."""

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

kernel_first = geo.facts(keys=geo.anything, values=geo.sphere, memory="kernel")
"""An arbitrary kernel, fixed before the isotropic values are drawn."""


@hc.claim(
    "B.16",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="kernel"),
    title="Cross-talk, arbitrary keys and values",
    source="Theorem B.16",
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
    needs=["B.16"],
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
    needs=["B.16"],
)
def crosstalk_isotropic_values_explicit(x):
    r"\tilde z_{\max} \le 2\sqrt2 \sqrt{\tilde E_K} \sqrt{\frac{\log(2F^2/\delta)}{d}}"
    return hc.at_most(x.z_max, sqrt(8 * x.E_K_tilde * log(2 * x.F**2 / x.delta) / x.d))
