"""The fully whitened construction (Algorithm 1, Section B.2.4)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .. import statistics
from ..checks import finite_number
from ..exact import enclosures
from ..functions import sqrt
from . import readouts
from .bilinear import Bilinear
from .construction import FactTable
from .mlp import GatedMLP
from .units import Orthonormal, Sketched

if TYPE_CHECKING:
    from ..exact.instances import ExactInstance
    from ..instance import Instance


class Whitened(Bilinear):
    """K_white / F = Phi (Phi^T Phi)^+ Phi^T: the projector on the span of the feature columns.

    As an MLP: random features with the readout B_0 (Sigma + ridge)^(-1) (mode full; cost in `readouts.whitened`).
    """

    name = "whitened"
    units_of: ClassVar[type[Sketched] | None] = Orthonormal

    def construct(
        self,
        facts: FactTable,
        *,
        width: int | None,
        seed: int,
        ridge: float = readouts.RIDGE,
        form: str | None = None,
    ) -> GatedMLP:
        ridge = finite_number("ridge", ridge, least=0)
        return self._sketched(facts, width, seed, partial(readouts.whitened, ridge=ridge, form=form))

    def kernel(self, x: Instance) -> Any:
        return statistics.Features(x.backend.asarray(self._basis(x)[0]))

    def weights(self, x: Instance) -> Any:
        """Phi (Phi^T Phi)^+."""
        basis, transform = self._basis(x)
        return x.backend.asarray(basis @ transform.T)

    def outputs(self, x: Instance) -> Any:
        Phi, codes = x.backend.to_numpy(x.Phi), x.backend.to_numpy(x._codes)
        if Phi.shape[0] > Phi.shape[1]:
            try:
                readout = cho_solve(cho_factor(Phi.T @ Phi), Phi.T @ codes)
                return x.backend.asarray(Phi @ readout)
            except np.linalg.LinAlgError:
                pass  # not positive definite in floating point: the basis below drops the null space
        basis = self._basis(x)[0]
        return x.backend.asarray(basis @ (basis.T @ codes))

    def exact_gram(self, x: ExactInstance) -> Any:
        gated = self.gated(x, x._keys)
        return gated @ enclosures.pseudoinverse_of_gram(gated) @ gated.T

    def exact_weights(self, x: ExactInstance) -> Any:
        gated = self.gated(x, x._keys)
        return gated @ enclosures.pseudoinverse_of_gram(gated) * sqrt(x.m)

    def _basis(self, x: Instance) -> tuple[np.ndarray, np.ndarray]:
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
