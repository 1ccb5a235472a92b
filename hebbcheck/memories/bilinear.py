"""The bilinear features of Lemma B.2, phi(x) = (A x) * (G x) / sqrt(m), and their Hebbian readout (Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .. import statistics
from ..exact import definitions, enclosures
from ..functions import max, sqrt
from . import readouts
from .base import Memory
from .construction import Construction, FactTable, needed_width
from .mlp import GatedMLP
from .units import Drawn, Sketched, Units

if TYPE_CHECKING:
    from ..exact.instances import ExactInstance
    from ..instance import Instance


class Bilinear(Memory, Construction):
    """K(x, z) = <phi(x), phi(z)>: the sketch of the quadratic kernel (Section B.2.2).

    As an MLP: A, G iid N(0, 1), the readout C^T Phi / F (mode none).  O(F m (d + d_v)).
    """

    name = "bilinear"
    draws_features = True
    units_of: ClassVar[type[Sketched] | None] = Sketched

    def construct(self, facts: FactTable, *, width: int | None, seed: int) -> GatedMLP:
        return self._sketched(facts, width, seed, readouts.hebbian)

    def units(self, facts: FactTable, seed: int, **options: Any) -> Units | None:
        return None if self.units_of is None else self.units_of(facts, Drawn(facts, seed, "A", "G"))

    def even(self, **options: Any) -> bool:
        return True

    def _sketched(
        self, facts: FactTable, width: int | None, seed: int, readout: Callable[[Any, Any], Any]
    ) -> GatedMLP:
        """The MLP of random features; B carries the features' 1/sqrt(m)."""
        m = needed_width(self.name, width)
        A, G = (facts.normal(factor, seed, m, facts.d) for factor in ("A", "G"))
        Phi = (facts.keys @ A.T) * (facts.keys @ G.T) / math.sqrt(m)
        return GatedMLP(A, G, readout(Phi, facts.codes) / math.sqrt(m))

    def factors(self, x: Instance) -> tuple[Any, Any]:
        """A and G of an instance (m x d)."""
        return x._A, x._G

    def features(self, x: Instance, z: Any) -> Any:
        return self.gated(x, z) / sqrt(x.m)

    def gated(self, x: Instance, z: Any) -> Any:
        """(A z) * (G z), N x m: the features without their scale."""
        xp, (A, G) = x.backend.xp, self.factors(x)
        return xp.matmul(z, A.T) * xp.matmul(z, G.T)

    def kernel(self, x: Instance) -> Any:
        return statistics.Features(x.Phi)

    def outputs(self, x: Instance) -> Any:
        xp = x.backend.xp
        return xp.matmul(x.Phi, xp.matmul(x.Phi.T, x._codes))

    def cross(self, x: Instance, z: Any) -> Any:
        return x.backend.xp.matmul(x._weights, self.features(x, z).T)

    def lipschitz(self, x: Instance, radius: Any) -> Any:
        """2 radius max_t ||S_t||_op, attained: K(k_t, q) = q^T S_t q, S_t = sym(A^T diag(weights_t) G) / sqrt(m)."""
        x._need_coordinates("L_K")
        A, G, weights = (x.backend.to_numpy(part) for part in (*self.factors(x), x._weights))
        norms = [np.max(np.abs(np.linalg.eigvalsh(S))) for S in _forms(A, G, weights)]
        return 2 * radius * float(np.max(norms)) / sqrt(x.m)

    def exact_gram(self, x: ExactInstance) -> Any:
        return x.per_norms(definitions.gram_of_bilinear(*self.factors(x), x.directions("keys")))

    def exact_lipschitz(self, x: ExactInstance, radius: Any) -> Any:
        norms = [enclosures.operator_norm(S) for S in _forms(*self.factors(x), x._weights)]
        return 2 * radius * max(norms) / sqrt(x.m)


def _forms(A: np.ndarray, G: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    """Of each key, the symmetric part of sum_r weights_r a_r g_r^T (d x d)."""
    products = (A.T @ (row[:, None] * G) for row in weights)
    return [(form + form.T) / 2 for form in products]
