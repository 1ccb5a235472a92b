"""A few vectors, and independent draws of the sketched kernel of the first two (Lemma B.2, Lemma B.44)."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from ..arrays import Streams
from ..errors import HebbcheckError
from ..instance import ExactInstance, Instance, Raw
from . import hard
from .family import Family
from .shapes import unit_rows

ANGLES = ("generic", "parallel", "orthogonal", "opposite", "generic, norms 0.5 to 2", "a zero vector")


class Vectors(Instance):
    """v[0], v[1], ... are the vectors (d each); `v.sketched_kernel(samples, m)` draws the kernel of the first two."""

    def __getitem__(self, index: int) -> Any:
        return self.all[index, ...]

    @property
    def all(self) -> Any:
        """count x d, one vector a row."""
        return self._input("vectors")

    def sketched_kernel(self, samples: int, m: int = 1) -> Any:
        """(samples,): independent draws of K-hat(x, z) = (1/m) sum_r <a_r, x><g_r, x><a_r, z><g_r, z>.

        a_r, g_r ~ N(0, I).  Drawn in the plane of x and z, at a cost free of d.
        """
        if self._streams is None:
            raise HebbcheckError(
                "sketched_kernel draws samples, and this instance has no streams; use geo.vectors"
            )
        x, z = self.raw.arrays["vectors"][:2]
        plane = np.linalg.qr(np.stack([x, z], axis=1))[0].T
        coordinates = plane @ np.stack([x, z], axis=1)
        total = np.zeros(samples)
        a, g = self._streams("A"), self._streams("G")
        for _ in range(m):
            left = a.standard_normal((samples, len(plane))) @ coordinates
            right = g.standard_normal((samples, len(plane))) @ coordinates
            total += (left * right).prod(axis=1)
        return self.backend.asarray(total / m)

    def isotropic_kernel(self, samples: int, m: int = 1) -> Any:
        """(samples,): independent draws of K-hat(x, z) for x, z independent and uniform on the sphere of R^d."""
        if self._streams is None:
            raise HebbcheckError(
                "isotropic_kernel draws samples, and this instance has no streams; use geo.vectors"
            )
        a, g = self._streams("A"), self._streams("G")
        cosine = np.sqrt(self._streams("vectors").beta(0.5, (self.d - 1) / 2, samples))
        total = np.zeros(samples)
        for _ in range(int(m)):
            left, right = (_gaussian_pair(rng, cosine) for rng in (a, g))
            total += left * right
        return self.backend.asarray(total / m)


def _gaussian_pair(rng: np.random.Generator, cosine: np.ndarray) -> np.ndarray:
    """<a, x><a, z> for a ~ N(0, I) and unit x, z with these inner products."""
    along, across = rng.standard_normal((2, len(cosine)))
    return along * (cosine * along + np.sqrt(1 - cosine**2) * across)


class ExactVectors(ExactInstance):
    def __getitem__(self, index: int) -> Any:
        return self.all[index, ...]

    @property
    def all(self) -> Any:
        return self._input("vectors")


class VectorFamily(Family):
    instance_type = Vectors
    exact_type = ExactVectors

    def __init__(self, count: int, **numbers: Any) -> None:
        if count < 1:
            raise HebbcheckError(
                f"count={count!r} is no number of vectors; a whole number from 1 up is needed"
            )
        super().__init__("vectors", **numbers)
        self.count = count

    def _parts(self) -> list[str]:
        return [f"count={self.count}"]

    @property
    def choices(self) -> tuple[str, ...]:
        return ANGLES if self.count >= 2 else ("generic", "a zero vector")

    @property
    def free(self) -> tuple[str, ...]:
        return ("vectors",)

    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        rng = streams("vectors")
        d = int(numbers["d"])
        rows = unit_rows(rng.standard_normal((self.count, d)))
        if choice == "parallel":
            rows[1] = rows[0]
        elif choice == "opposite":
            rows[1] = -rows[0]
        elif choice == "orthogonal" and d > 1:
            rows[1] = unit_rows((rows[1] - (rows[1] @ rows[0]) * rows[0])[None])[0]
        elif choice == "a zero vector":
            rows[-1] = 0
        elif choice.endswith("norms 0.5 to 2"):
            rows *= rng.uniform(0.5, 2, (self.count, 1))
        return Raw(dict(numbers), {"vectors": rows}, "quadratic")

    def strategy(self) -> st.SearchStrategy[Raw]:
        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size.attack()) for name, size in self.sizes.items()}
            return Raw(numbers, {"vectors": draw(hard.vectors(self.count, int(numbers["d"])))}, "quadratic")

        return raws()


def vectors(*, count: int, d: Any = None, **numbers: Any) -> VectorFamily:
    """`count` vectors of R^d: v[0], v[1], ...; parallel, orthogonal, opposite and generic ones."""
    return VectorFamily(count, d=d, **numbers)
