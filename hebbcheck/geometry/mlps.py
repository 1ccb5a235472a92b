"""MLPs B phi(x) and the whitened Hebbian memory of their own outputs: the setting of Theorem 3.1 = B.1."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from .. import rational
from ..arrays import Streams
from ..errors import HebbcheckError
from ..instance import Instance, Raw
from . import hard
from .family import Family

GATES = ("identity", "relu", "cube")
QUERIES = 4


class MLP(Instance):
    """phi(x) = (A x) * gate(G x) and MLP(x) = B phi(x), with F stored inputs (the paper's x_i)."""

    @property
    def inputs(self) -> Any:
        """F x d, the stored inputs."""
        return self._input("inputs")

    @property
    def queries(self) -> Any:
        """N x d, other points."""
        return self._input("queries")

    @property
    def B(self) -> Any:
        """d x m, the output matrix."""
        return self._input("B")

    @property
    def rank(self) -> int:
        """The rank of the stored features, F x m (in floating point, with the usual cut at eps)."""
        return int(np.linalg.matrix_rank(self.backend.to_numpy(self.phi(self.inputs))))

    def phi(self, z: Any) -> Any:
        """The features of z (N x d): N x m."""
        xp = self.backend.xp
        gated = xp.matmul(z, self._G.T)
        if self.raw.memory == "relu":
            gated = xp.where(gated > 0, gated, xp.zeros_like(gated))
        elif self.raw.memory == "cube":
            gated = gated**3
        return xp.matmul(z, self._A.T) * gated

    def mlp(self, z: Any) -> Any:
        """B phi(z) for z (N x d): N x d."""
        return self.backend.xp.matmul(self.phi(z), self.B.T)

    def hebbian(self, z: Any) -> Any:
        """(1/F) sum_i MLP(x_i) phi(x_i)^T Sigma^+ phi(z), Sigma the stored features' covariance: N x d."""
        xp = self.backend.xp
        stored = self.phi(self.inputs)
        covariance = xp.matmul(stored.T, stored) / self.F
        weights = xp.matmul(self.mlp(self.inputs).T, stored) / self.F
        return xp.matmul(xp.matmul(self.phi(z), xp.linalg.pinv(covariance)), weights.T)


class ExactMLP(MLP):
    """The same in rational arithmetic: floats are dyadic rationals, and nothing here has a root."""

    def _input(self, name: str) -> Any:
        return rational.from_array(self.raw.arrays[name])

    @property
    def rank(self) -> int:
        return rational.rank(self.phi(self.inputs))

    def phi(self, z: Any) -> Any:
        gated = z @ self._G.T
        if self.raw.memory == "relu":
            gated = np.where(gated > 0, gated, Fraction(0))
        elif self.raw.memory == "cube":
            gated = gated**3
        return (z @ self._A.T) * gated

    def mlp(self, z: Any) -> Any:
        return self.phi(z) @ self.B.T

    def hebbian(self, z: Any) -> Any:
        stored = self.phi(self.inputs)
        share = Fraction(1, int(self.F))
        covariance = stored.T @ stored * share
        weights = self.mlp(self.inputs).T @ stored * share
        return self.phi(z) @ rational.pseudoinverse(covariance, stored.T) @ weights.T


class MLPFamily(Family):
    instance_type = MLP
    exact_type = ExactMLP

    def __init__(self, gate: str | None, **numbers: Any) -> None:
        if gate is not None and gate not in GATES:
            raise HebbcheckError(f"gate={gate!r} is unknown; choose one of {', '.join(GATES)}")
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
        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size.attack()) for name, size in self.sizes.items()}
            shapes = self._shapes(numbers)
            arrays = {name: np.asarray(draw(hard.vectors(*shape))) for name, shape in shapes.items()}
            return Raw(numbers, arrays, draw(st.sampled_from(self.gates)))

        return raws()


def mlps(
    *, gate: str | None = None, F: Any = None, d: Any = None, m: Any = (1, 6), **numbers: Any
) -> MLPFamily:
    """MLPs B ((A x) * gate(G x)) of m features in R^d with F stored inputs; `gate`: identity, relu, cube (or any)."""
    return MLPFamily(gate, F=F, d=d, m=m, **numbers)
