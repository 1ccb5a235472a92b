"""Readouts B (d_v x m) of given features Phi (F x m) for codes C (F x d_v): the three modes of Algorithm 1.

The ridge means the same in all forms: lambda is added to Sigma = Phi^T Phi / F, which is lambda F added to
Phi Phi^T in the dual form.  (Algorithm 1 prints lambda alone there, so that its ridge jumps by F at m = F.)
"""

from __future__ import annotations

from typing import Any

import array_api_compat

from ..least_squares import pseudo_inverse
from .construction import one_of

FORMS = ("primal", "dual")
RIDGE = 1e-6
"""The paper's ridge (Appendix A.1.1)."""


def hebbian(Phi: Any, C: Any) -> Any:
    """B_0 = C^T Phi / F (equation 12): O(F m d_v)."""
    return C.T @ Phi / Phi.shape[0]


def diagonal(Phi: Any, C: Any, ridge: float) -> Any:
    """B_0 with column r divided by Sigma_rr + ridge (Algorithm 1, mode diag); a column of zeros stays."""
    xp = array_api_compat.array_namespace(Phi)
    scale = xp.sum(Phi * Phi, axis=0) / Phi.shape[0] + ridge
    return hebbian(Phi, C) / xp.where(scale > 0, scale, xp.ones_like(scale))


def whitened(Phi: Any, C: Any, ridge: float, form: str | None = None) -> Any:
    """B_0 (Sigma + ridge)^(-1) (equation 13), which is C^T (Phi Phi^T + ridge F)^(-1) Phi.

    `form`: "primal" (a system of m, O(F m^2 + m^3)) or "dual" (a system of F, O(F^2 m + F^3)); without one, the
    smaller.  Without a ridge, or with one that rounding would swallow, the limit: C^T times the transposed
    pseudoinverse of Phi, by its singular values.
    """
    xp = array_api_compat.array_namespace(Phi)
    F, m = Phi.shape
    if form is not None:
        one_of("form", form, FORMS)
    energies = xp.sum(Phi * Phi, axis=1)
    if ridge * F <= max(F, m) * float(xp.finfo(Phi.dtype).eps) * float(xp.max(energies)):
        return C.T @ pseudo_inverse(Phi).T
    if (form or FORMS[m > F]) == "dual":
        return xp.linalg.solve(_shifted(xp, Phi @ Phi.T, ridge * F), C).T @ Phi
    return xp.linalg.solve(_shifted(xp, Phi.T @ Phi, ridge * F), Phi.T @ C).T


def _shifted(xp: Any, gram: Any, by: float) -> Any:
    return gram + by * xp.eye(gram.shape[0], dtype=gram.dtype, device=array_api_compat.device(gram))
