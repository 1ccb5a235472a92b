"""What every construction provides: the kernel of its features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import HebbcheckError

if TYPE_CHECKING:
    from ..exact.instances import ExactInstance
    from ..instance import Instance
    from .units import Sketched


class Memory:
    """A Hebbian memory sum_t v_f(t) K(k_t, .): everything the statistics need of its kernel K.

    Arrays are the instance's: its backend's, or object arrays of balls and fractions for an exact one.
    """

    name: ClassVar[str] = ""
    draws_features: ClassVar[bool] = False
    """Whether the construction is made of A and G (m x d)."""
    units_of: ClassVar[type[Sketched] | None] = None
    """The hidden units of given rows of A and G, where they are the same at every width."""

    def fit(self, x: Instance) -> Any:
        """What the construction solves for on the instance's facts, once: it is the instance's `_fitted`."""
        return None

    def kernel(self, x: Instance) -> Any:
        """The Gram matrix on the keys, by rows (a `statistics.Kernel`)."""
        raise self._lacks("kernel")

    def features(self, x: Instance, z: Any) -> Any:
        """phi of the queries z (N x d): N x m."""
        raise self._lacks("finite features")

    def stored_features(self, x: Instance) -> Any:
        """phi of the keys: F x m."""
        return self.features(x, x._keys)

    def weights(self, x: Instance) -> Any:
        """F x m: what the features of a query are paired with, K(k_t, z) = <weights_t, phi(z)>."""
        return x.Phi

    def exact_weights(self, x: ExactInstance) -> Any:
        """The weights of an exact instance."""
        return x.Phi

    def cross(self, x: Instance, z: Any) -> Any:
        """F x N: K(k_t, z_n)."""
        raise self._lacks("kernel at other queries")

    def outputs(self, x: Instance) -> Any:
        """F x d: what the memory returns at each key, sum_t v_f(t) K(k_t, k_i)."""
        return x.backend.xp.matmul(x.K, x._codes)

    def lipschitz(self, x: Instance, radius: Any) -> Any:
        """The largest Lipschitz constant of q -> K(k_t, q) on the centred ball of this radius."""
        raise self._lacks("Lipschitz constant")

    def exact_gram(self, x: ExactInstance) -> Any:
        """F x F: the Gram matrix, in fractions where it is rational, in balls where not."""
        raise self._lacks("exact kernel")

    def exact_lipschitz(self, x: ExactInstance, radius: Any) -> Any:
        """A ball that holds the Lipschitz constant."""
        raise self._lacks("exact Lipschitz constant")

    def _lacks(self, what: str) -> HebbcheckError:
        return HebbcheckError(
            f"the memory {self.name!r} has no {what}; one is needed here; try memory='bilinear'"
        )
