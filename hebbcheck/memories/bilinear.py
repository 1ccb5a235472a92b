"""The bilinear features of Lemma B.2: phi(x) = (A x) * (G x) / sqrt(m)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import statistics
from ..exact import definitions, enclosures
from ..functions import max, sqrt
from .base import Memory

if TYPE_CHECKING:
    from ..exact.instances import ExactInstance
    from ..instance import Instance


class Bilinear(Memory):
    """K(x, z) = <phi(x), phi(z)>: the sketch of the quadratic kernel (Section B.2.2)."""

    name = "bilinear"
    draws_features = True

    def features(self, x: Instance, z: Any) -> Any:
        return self.gated(x, z) / sqrt(x.m)

    def gated(self, x: Instance, z: Any) -> Any:
        """(A z) * (G z), N x m: the features without their scale."""
        xp = x.backend.xp
        return xp.matmul(z, x._A.T) * xp.matmul(z, x._G.T)

    def kernel(self, x: Instance) -> Any:
        return statistics.Features(x.Phi)

    def outputs(self, x: Instance) -> Any:
        xp = x.backend.xp
        return xp.matmul(x.Phi, xp.matmul(x.Phi.T, x._codes))

    def cross(self, x: Instance, z: Any) -> Any:
        return x.backend.xp.matmul(x._weights, self.features(x, z).T)

    def lipschitz(self, x: Instance, radius: Any) -> Any:
        """2 radius max_t ||S_t||_op, attained: K(k_t, q) = q^T S_t q, S_t = sym(A^T diag(weights_t) G) / sqrt(m)."""
        A, G, weights = (x.backend.to_numpy(part) for part in (x.A, x.G, x._weights))
        norms = [np.max(np.abs(np.linalg.eigvalsh(S))) for S in _forms(A, G, weights)]
        return 2 * radius * float(np.max(norms)) / sqrt(x.m)

    def exact_gram(self, x: ExactInstance) -> Any:
        return x.per_norms(definitions.gram_of_bilinear(x._A, x._G, x.directions("keys")))

    def exact_lipschitz(self, x: ExactInstance, radius: Any) -> Any:
        norms = [enclosures.operator_norm(S) for S in _forms(x.A, x.G, x._weights)]
        return 2 * radius * max(norms) / sqrt(x.m)


def _forms(A: np.ndarray, G: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """Of each key, the symmetric part of sum_r weights_r a_r g_r^T (d x d)."""
    products = (A.T @ (row[:, None] * G) for row in weights)
    return [(form + form.T) / 2 for form in products]
