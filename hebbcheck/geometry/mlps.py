"""MLPs B phi(x) and the whitened Hebbian memory of their own outputs: the setting of Theorem 3.1 = B.1."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from ..arrays import Streams
from ..drawn import Drawn
from ..errors import HebbcheckError
from ..exact import rational
from ..exact.instances import Exact, as_fractions
from ..inputs import Raw
from ..least_squares import pseudo_inverse
from . import hard
from .family import Family

GATES = ("identity", "relu", "cube")
QUERIES = 4


class MLP(Drawn):
    """phi(x) = (A x) * gate(G x) and MLP(x) = B phi(x), with F stored inputs (the paper's x_i)."""

    @property
    def inputs(self) -> Any:
        """F x d, the stored inputs."""
        return self._shown(self._input("inputs"))

    @property
    def queries(self) -> Any:
        """N x d, other points."""
        return self._shown(self._input("queries"))

    @property
    def A(self) -> Any:
        """m x d, the first factor of the features."""
        return self._shown(self._input("A"))

    @property
    def G(self) -> Any:
        """m x d, the gated factor of the features."""
        return self._shown(self._input("G"))

    @property
    def B(self) -> Any:
        """d x m, the output matrix."""
        return self._shown(self._input("B"))

    @cached_property
    def rank(self) -> int:
        """The rank of the stored features, F x m (in floating point, with the usual cut at eps)."""
        return int(np.linalg.matrix_rank(self.backend.to_numpy(self.phi(self.inputs))))

    def phi(self, z: Any) -> Any:
        """The features of z (N x d): N x m."""
        xp = self.backend.xp
        gated = xp.matmul(z, self._input("G").T)
        if self.raw.memory == "relu":
            gated = xp.where(gated > 0, gated, xp.zeros_like(gated))
        elif self.raw.memory == "cube":
            gated = gated**3
        return xp.matmul(z, self._input("A").T) * gated

    def mlp(self, z: Any) -> Any:
        """B phi(z) for z (N x d): N x d."""
        return self.backend.xp.matmul(self.phi(z), self._input("B").T)

    def kernel(self, z: Any) -> Any:
        """K(x_i, z) = phi(x_i)^T Sigma^+ phi(z), Sigma the stored features' covariance, for z (N x d): F x N."""
        xp = self.backend.xp
        stored = self.phi(self.inputs)
        covariance = xp.matmul(stored.T, stored) / self.F
        return xp.matmul(xp.matmul(stored, pseudo_inverse(covariance)), self.phi(z).T)

    def hebbian(self, z: Any) -> Any:
        """(1/F) sum_i MLP(x_i) K(x_i, z), the whitened Hebbian memory: N x d."""
        return self.backend.xp.matmul(self.kernel(z).T, self.mlp(self.inputs)) / self.F

    def spans(self, z: Any) -> bool:
        """Whether the features of z (N x d) lie in the span of the stored ones (in floating point, as for `rank`)."""
        together = self.backend.xp.concat([self.phi(self.inputs), self.phi(z)])
        return int(np.linalg.matrix_rank(self.backend.to_numpy(together))) == self.rank


class ExactMLP(Exact, MLP):
    """The same in rational arithmetic: floats are dyadic rationals, and nothing here has a root."""

    def phi(self, z: Any) -> Any:
        return self._shown(self._phi(as_fractions(z)))

    def mlp(self, z: Any) -> Any:
        return self._shown(rational.product(self._phi(as_fractions(z)), self._input("B").T))

    def kernel(self, z: Any) -> Any:
        return self._shown(self._kernel(as_fractions(z)))

    def hebbian(self, z: Any) -> Any:
        outputs = rational.product(self._stored, self._input("B").T)
        return self._shown(rational.product(self._kernel(as_fractions(z)).T, outputs) / self._facts)

    def spans(self, z: Any) -> bool:
        return rational.rank(np.concatenate([self._stored, self._phi(as_fractions(z))])) == self.rank

    @cached_property
    def rank(self) -> int:
        return rational.rank(self._stored)

    @cached_property
    def _stored(self) -> np.ndarray:
        return self._phi(self._input("inputs"))

    @property
    def _facts(self) -> int:
        return len(self.raw.arrays["inputs"])

    @cached_property
    def _whitening(self) -> np.ndarray:
        """phi(x_i)^T Sigma^+ in its rows, F x m."""
        stored = self._stored
        inverse = rational.pseudoinverse(rational.product(stored.T, stored), stored.T)
        return rational.product(stored, inverse) * self._facts

    def _kernel(self, z: np.ndarray) -> np.ndarray:
        return rational.product(self._whitening, self._phi(z).T)

    def _phi(self, z: np.ndarray) -> np.ndarray:
        gated = rational.product(z, self._input("G").T)
        if self.raw.memory == "relu":
            gated = gated * (gated > 0)
        elif self.raw.memory == "cube":
            gated = gated**3
        return rational.product(z, self._input("A").T) * gated


class MLPFamily(Family):
    """`mlps(...)`: see there."""

    instance_type = MLP
    exact_type = ExactMLP
    axes: ClassVar = {
        "inputs": ("F", "d"),
        "queries": ("", "d"),
        "A": ("m", "d"),
        "G": ("m", "d"),
        "B": ("d", "m"),
    }

    def __init__(self, gate: str | None, **numbers: Any) -> None:
        if gate is not None and gate not in GATES:
            raise HebbcheckError(
                f"gate={gate!r} is unknown; one of {', '.join(GATES)} is needed; leave it out for all"
            )
        super().__init__("mlps", **numbers)
        self.gates = (gate,) if gate else GATES

    def _parts(self) -> list[str]:
        return [f"gate={' or '.join(self.gates)}"]

    @property
    def choices(self) -> tuple[str, ...]:
        return self.gates

    @property
    def free(self) -> tuple[str, ...]:
        return ("inputs", "queries", "A", "G", "B")

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        shapes = self._shapes(numbers)
        arrays = {name: streams(name).standard_normal(shape) for name, shape in shapes.items()}
        return Raw(dict(numbers), arrays, choice)

    def _shapes(self, numbers: dict[str, float]) -> dict[str, tuple[int, int]]:
        F, d, m = (int(numbers[name]) for name in ("F", "d", "m"))
        return {"inputs": (F, d), "queries": (QUERIES, d), "A": (m, d), "G": (m, d), "B": (d, m)}

    def strategy(self) -> st.SearchStrategy[Raw]:
        sizes = self.attacked_sizes()

        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size) for name, size in sizes.items()}
            shapes = self._shapes(numbers)
            arrays = {name: draw(hard.vectors(*shape)) for name, shape in shapes.items()}
            return Raw(numbers, arrays, draw(st.sampled_from(self.gates)))

        return raws()


def mlps(
    *, gate: str | None = None, F: Any = None, d: Any = None, m: Any = (1, 6), **numbers: Any
) -> MLPFamily:
    """MLPs B ((A x) * gate(G x)) of m features in R^d with F stored inputs; `gate`: identity, relu, cube (or any)."""
    return MLPFamily(gate, F=F, d=d, m=m, **numbers)
