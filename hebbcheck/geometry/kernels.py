"""Positive semidefinite kernels of rank at most m (Definition B.33), and their preconditioned forms (Lemma B.3)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from .. import statistics
from ..arrays import Streams
from ..exact import enclosures, rational
from ..exact.instances import ExactInstance
from ..functions import trace
from ..inputs import Raw
from ..instance import Instance
from . import hard
from .family import Family


class KernelInstance(Instance):
    """A Gram matrix alone: K and its statistics, no keys and no values."""

    @cached_property
    def extrema(self) -> dict[str, statistics.Extremum]:
        return statistics.gram_extrema(self._kernel)


class PreconditionedInstance(KernelInstance):
    """Features Phi (F x m) under a preconditioner M = R R^T scaled to tr(M Sigma) = m."""

    @property
    def Sigma(self) -> Any:
        """m x m, the features' covariance Phi^T Phi / F."""
        return self.Phi.T @ self.Phi / self.F

    @property
    def K_M(self) -> Any:
        """F x F, the kernel Phi M Phi^T."""
        root = self._shown(self._input("root"))
        mapped = self.Phi @ root
        return mapped @ mapped.T * (self.m / trace(root.T @ self.Sigma @ root))

    @cached_property
    def rank(self) -> int:
        """The rank of the features (in floating point, with the usual cut at eps)."""
        return len(self._directions)

    @cached_property
    def K_white(self) -> Any:
        """F x F, the fully whitened kernel Phi Sigma^+ Phi^T."""
        directions = self._directions
        return self.backend.asarray(self.F * directions.T @ directions)

    @cached_property
    def _directions(self) -> np.ndarray:
        """rank x F, orthonormal rows that span the features' columns."""
        Phi = self.backend.to_numpy(self.Phi)
        U, s, _ = np.linalg.svd(Phi, full_matrices=False)
        return U.T[s > np.max(s) * max(Phi.shape) * np.finfo(Phi.dtype).eps]


class ExactPreconditionedInstance(ExactInstance, PreconditionedInstance):
    """The same in exact arithmetic."""

    @cached_property
    def rank(self) -> int:
        return rational.rank(self._input("Phi"))

    @cached_property
    def K_white(self) -> Any:
        Phi = self._input("Phi")
        inverse = enclosures.pseudoinverse_of_gram(Phi)
        return self._shown(rational.product(rational.product(Phi, inverse), Phi.T)) * self.F


class Kernels(Family):
    instance_type = KernelInstance
    axes: ClassVar = {"Phi": ("F", "m"), "root": ("m", "m")}

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(hard.CATALOGUE)

    @property
    def free(self) -> tuple[str, ...]:
        return ("Phi", "root")

    @property
    def chosen(self) -> tuple[str, ...]:
        return ("Phi", "root")

    def _shapes(self, numbers: dict[str, float]) -> dict[str, tuple[int, int]]:
        return {"Phi": (int(numbers["F"]), int(numbers["m"]))}

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        shapes = self._shapes(numbers)
        arrays = {name: hard.CATALOGUE[choice](streams(name), *shape) for name, shape in shapes.items()}
        return Raw(dict(numbers), arrays, "kernel")

    def strategy(self) -> st.SearchStrategy[Raw]:
        sizes = self.attacked_sizes()

        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size) for name, size in sizes.items()}
            shapes = self._shapes(numbers)
            arrays = {name: np.asarray(draw(hard.vectors(*shape))) for name, shape in shapes.items()}
            return Raw(numbers, arrays, "kernel")

        return raws()


class Preconditioned(Kernels):
    instance_type = PreconditionedInstance
    exact_type = ExactPreconditionedInstance

    def _shapes(self, numbers: dict[str, float]) -> dict[str, tuple[int, int]]:
        m = int(numbers["m"])
        return {**super()._shapes(numbers), "root": (m, m)}


def kernels(*, F: Any = None, m: Any = None, **numbers: Any) -> Kernels:
    """PSD Gram matrices K = Phi Phi^T of F items and rank at most m."""
    return Kernels("kernels", F=F, m=m, **numbers)


def preconditioned(*, F: Any = None, m: Any = None, **numbers: Any) -> Preconditioned:
    """Features and a PSD preconditioner M with tr(M Sigma) = m: `Phi`, `Sigma` and the kernel `K_M` = Phi M Phi^T."""
    return Preconditioned("preconditioned", F=F, m=m, **numbers)
