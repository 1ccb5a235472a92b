"""Any positive semidefinite Gram matrix of rank at most m, given by a factor: K = Phi Phi^T (Definition B.33)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import definitions, statistics
from .base import Memory

if TYPE_CHECKING:
    from ..instance import Instance


class Kernel(Memory):
    name = "kernel"

    def stored_features(self, x: Instance) -> Any:
        return x._input("Phi")

    def kernel(self, x: Instance) -> Any:
        if "K" in x.raw.arrays:
            return statistics.Gram(x._input("K"))
        return statistics.Features(x._input("Phi"))

    def exact_gram(self, x: Instance) -> Any:
        if "K" in x.raw.arrays:
            return x._input("K")
        return definitions.gram_of_features(x._input("Phi"))
