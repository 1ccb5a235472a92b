"""Any positive semidefinite Gram matrix, given by a factor Phi (F x m, Definition B.33) or as the matrix K (F x F)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import statistics
from ..exact import definitions
from .base import Memory

if TYPE_CHECKING:
    from ..exact.instances import ExactInstance
    from ..instance import Instance


class Kernel(Memory):
    name = "kernel"

    def stored_features(self, x: Instance) -> Any:
        return x._input("Phi")

    def kernel(self, x: Instance) -> Any:
        if "K" in x.raw.arrays:
            return statistics.Gram(x._input("K"))
        return statistics.Features(x._input("Phi"))

    def exact_gram(self, x: ExactInstance) -> Any:
        if "K" in x.raw.arrays:
            return x._input("K")
        return definitions.gram_of_features(x._input("Phi"))
