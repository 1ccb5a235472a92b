"""The diagonally whitened construction (Algorithm 1, mode diag)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import statistics
from ..checks import finite_number
from ..functions import sqrt
from . import readouts
from .bilinear import Bilinear
from .construction import FactTable
from .mlp import GatedMLP
from .units import Scaled, Sketched

if TYPE_CHECKING:
    from ..exact.instances import ExactInstance
    from ..instance import Instance


class Diagonal(Bilinear):
    """K / F = Phi D^(-1) Phi^T, D the diagonal of Phi^T Phi: every feature has energy one over the keys.

    As an MLP: random features with B_0's column r divided by Sigma_rr + ridge.  O(F m (d + d_v)).
    """

    name = "diagonal"
    units_of: ClassVar[type[Sketched] | None] = Scaled

    def construct(
        self, facts: FactTable, *, width: int | None, seed: int, ridge: float = readouts.RIDGE
    ) -> GatedMLP:
        ridge = finite_number("ridge", ridge, least=0)
        return self._sketched(facts, width, seed, partial(readouts.diagonal, ridge=ridge))

    def kernel(self, x: Instance) -> Any:
        return statistics.Features(x.Phi / x.backend.xp.sqrt(self._energies(x)))

    def weights(self, x: Instance) -> Any:
        """Phi D^(-1)."""
        return x.Phi / self._energies(x)

    def outputs(self, x: Instance) -> Any:
        xp = x.backend.xp
        return xp.matmul(x.Phi, xp.matmul(x._weights.T, x._codes))

    def exact_gram(self, x: ExactInstance) -> Any:
        gated = self.gated(x, x._keys)
        return gated / _exact_energies(gated) @ gated.T

    def exact_weights(self, x: ExactInstance) -> Any:
        gated = self.gated(x, x._keys)
        return gated / _exact_energies(gated) * sqrt(x.m)

    def _energies(self, x: Instance) -> Any:
        """The diagonal of Phi^T Phi, with 1 for a feature that vanishes on all keys."""
        xp = x.backend.xp
        energies = xp.sum(x.Phi * x.Phi, axis=0)
        return xp.where(energies > 0, energies, xp.ones_like(energies))


def _exact_energies(gated: np.ndarray) -> np.ndarray:
    energies = (gated * gated).sum(axis=0)
    vanish = np.array([all(entry == 0 for entry in column) for column in gated.T])
    return np.where(vanish, 1, energies)
