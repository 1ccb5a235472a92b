"""The exact quadratic kernel K2(x, z) = <x, z>^2: the infinitely wide bilinear memory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import statistics
from ..errors import HebbcheckError
from ..exact import definitions
from ..functions import max
from . import readouts
from .base import Memory
from .construction import Construction, FactTable
from .mlp import GatedMLP

if TYPE_CHECKING:
    from ..exact.instances import ExactInstance
    from ..instance import Instance


class Quadratic(Memory, Construction):
    """As an MLP: of all products x_p x_q, p <= q, of width d (d + 1) / 2.  O(F d^2 d_v)."""

    name = "quadratic"
    free_width = False

    def construct(self, facts: FactTable, *, width: int | None, seed: int) -> GatedMLP:
        first, second = np.triu_indices(facts.d)
        if width not in (None, len(first)):
            raise HebbcheckError(
                f"width={width} is not that of the exact quadratic kernel, d (d + 1) / 2 = {len(first)}; leave it out"
            )
        unit = np.eye(facts.d)
        A = facts.held(unit[first])
        G = facts.held(unit[second] * np.where(first == second, 1.0, math.sqrt(2.0))[:, None])
        Phi = (facts.keys @ A.T) * (facts.keys @ G.T)
        return GatedMLP(A, G, readouts.hebbian(Phi, facts.codes))

    def kernel(self, x: Instance) -> Any:
        return statistics.Quadratic(x._keys)

    def cross(self, x: Instance, z: Any) -> Any:
        return x.backend.xp.matmul(x._keys, z.T) ** 2

    def lipschitz(self, x: Instance, radius: Any) -> Any:
        """2 radius max_t |k_t|^2, since K(k_t, q) = q^T k_t k_t^T q."""
        keys = x.backend.to_numpy(x._keys)
        return 2 * radius * float(np.max(np.sum(keys**2, axis=1)))

    def exact_gram(self, x: ExactInstance) -> Any:
        return x.per_norms(definitions.quadratic_gram(x.directions("keys")))

    def exact_lipschitz(self, x: ExactInstance, radius: Any) -> Any:
        return 2 * radius * max([(key * key).sum() for key in x._keys])
