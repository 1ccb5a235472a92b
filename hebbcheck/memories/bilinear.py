"""The bilinear features of Lemma B.2: phi(x) = (A x) * (G x) / sqrt(m)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import definitions, statistics
from .base import Memory

if TYPE_CHECKING:
    from ..instance import Instance


class Bilinear(Memory):
    """K(x, z) = <phi(x), phi(z)>: the sketch of the quadratic kernel (Section B.2.2)."""

    name = "bilinear"
    draws_features = True

    def features(self, x: Instance, z: Any) -> Any:
        xp = x.backend.xp
        return xp.matmul(z, x._A.T) * xp.matmul(z, x._G.T) / float(x.m) ** 0.5

    def kernel(self, x: Instance) -> Any:
        return statistics.Features(x.Phi)

    def outputs(self, x: Instance) -> Any:
        xp = x.backend.xp
        return xp.matmul(x.Phi, xp.matmul(x.Phi.T, x._codes))

    def cross(self, x: Instance, z: Any) -> Any:
        return x.backend.xp.matmul(x.Phi, self.features(x, z).T)

    def lipschitz(self, x: Instance, radius: float) -> float:
        """2 radius max_t ||A_t||_op, attained: K(k_t, q) = q^T A_t q with A_t symmetric."""
        A, G, Phi = (x.backend.to_numpy(part) for part in (x._A, x._G, x.Phi))
        products = (A[:, :, None] * G[:, None, :]).reshape(len(A), -1)
        forms = (Phi @ products / float(x.m) ** 0.5).reshape(len(Phi), A.shape[1], A.shape[1])
        spectrum = np.linalg.eigvalsh((forms + forms.transpose(0, 2, 1)) / 2)
        return 2 * radius * float(np.max(np.abs(spectrum)))

    def exact_gram(self, x: Instance) -> Any:
        return definitions.gram_of_bilinear(x._A, x._G, x._keys)

    def exact_features(self, x: Instance, z: Any) -> Any:
        return definitions.bilinear_features(x._A, x._G, z)
