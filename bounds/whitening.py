"""Kernel whitening (Appendix B.2.4)."""

import hebbcheck as hc
from hebbcheck import geometry as geo


@hc.claim(
    "B.3",
    over=geo.preconditioned(),
    title="Whitening minimises the kernel's Frobenius norm",
    source="Lemma B.3",
)
def whitening_is_optimal(x):
    r"\|\Phi M \Phi^\top\|_F^2 \ge F^2 m \quad \text{for all } M \succeq 0, \ \mathrm{tr}(M \hat\Sigma) = m"
    return hc.at_least(hc.sum(x.K_M**2), x.F**2 * x.m)


@hc.claim(
    "eq16",
    over=geo.preconditioned(),
    title="The trace that the normalisation fixes",
    source="Equation 16",
)
def trace_identity(x):
    r"\tfrac1F \mathrm{tr}\, K_M = \mathrm{tr}(M \hat\Sigma) = m"
    return hc.equal(hc.trace(x.K_M), x.F * x.m)
