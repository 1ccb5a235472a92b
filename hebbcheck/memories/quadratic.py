"""The exact quadratic kernel K2(x, z) = <x, z>^2: the infinitely wide bilinear memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import statistics
from ..exact import definitions
from ..functions import max
from .base import Memory

if TYPE_CHECKING:
    from ..exact.instances import ExactInstance
    from ..instance import Instance


class Quadratic(Memory):
    name = "quadratic"

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
