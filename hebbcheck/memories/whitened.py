"""The fully whitened construction (Algorithm 1, Section B.2.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .. import statistics
from .bilinear import Bilinear

if TYPE_CHECKING:
    from ..instance import Instance


class Whitened(Bilinear):
    """K_white / F = Phi (Phi^T Phi)^+ Phi^T: the projector on the span of the feature columns."""

    name = "whitened"

    def kernel(self, x: Instance) -> Any:
        return statistics.Features(x.backend.asarray(self._whitened(x)[0]))

    def outputs(self, x: Instance) -> Any:
        Phi, codes = x.backend.to_numpy(x.Phi), x.backend.to_numpy(x._codes)
        if Phi.shape[0] > Phi.shape[1]:
            try:
                readout = cho_solve(cho_factor(Phi.T @ Phi), Phi.T @ codes)
                return x.backend.asarray(Phi @ readout)
            except np.linalg.LinAlgError:
                pass  # not positive definite in floating point: the basis below drops the null space
        basis = self._whitened(x)[0]
        return x.backend.asarray(basis @ (basis.T @ codes))

    def cross(self, x: Instance, z: Any) -> Any:
        basis, transform = self._whitened(x)
        features = x.backend.to_numpy(self.features(x, z))
        return x.backend.asarray(basis @ (features @ transform).T)

    def _whitened(self, x: Instance) -> tuple[np.ndarray, np.ndarray]:
        """An orthonormal basis Q (F x r) of the span of Phi's columns, and T (m x r) with Phi T = Q."""
        Phi = x.backend.to_numpy(x.Phi)
        cut = max(Phi.shape) * np.finfo(Phi.dtype).eps
        if Phi.shape[0] >= Phi.shape[1]:
            Q, R = np.linalg.qr(Phi)
            diagonal = np.abs(np.diag(R))
            if diagonal.min() > np.sqrt(cut) * diagonal.max():
                return Q, np.linalg.inv(R)
        U, s, Vt = np.linalg.svd(Phi, full_matrices=False)
        kept = s > s[0] * cut
        return U[:, kept], Vt[kept].T / s[kept]

    def lipschitz(self, x: Instance, radius: float) -> float:
        raise self._lacks("Lipschitz constant")

    def exact_gram(self, x: Instance) -> Any:
        raise self._lacks("exact kernel")
