"""A few vectors, and independent draws of the sketched kernel of the first two (Lemma B.2, Lemma B.44)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from ..arrays import Streams
from ..checks import whole_number
from ..drawn import Drawn
from ..errors import HebbcheckError
from ..exact.instances import Exact
from ..inputs import Raw
from . import hard
from .family import Family
from .shapes import unit_rows

ANGLES = ("generic", "parallel", "orthogonal", "opposite", "generic, norms 0.5 to 2", "a zero vector")


class NoSuchVector(HebbcheckError, IndexError):
    """An index beyond the vectors that there are."""


class Vectors(Drawn):
    """v[0], v[1], ... are the vectors (d each); `v.sketched_kernel(samples, m)` draws the kernel of the first two."""

    def __getitem__(self, index: int) -> Any:
        count = len(self.raw.arrays["vectors"])
        if not -count <= index < count:
            raise NoSuchVector(
                f"there is no vector {index}; there are {count}; try geo.vectors(count={index + 1})"
            )
        return self.all[index, ...]

    @property
    def all(self) -> Any:
        """count x d, one vector a row."""
        return self._shown(self._input("vectors"))

    def sketched_kernel(self, samples: int, m: int = 1) -> Any:
        """(samples,): independent draws of K-hat(x, z) = (1/m) sum_r <a_r, x><g_r, x><a_r, z><g_r, z>.

        x, z are the first two vectors; a_r, g_r ~ N(0, I).  Drawn in the plane of x and z, at a cost free of d.
        """
        streams, pair = self._sampling("sketched_kernel"), self.raw.arrays["vectors"][:2].T
        if pair.shape[1] < 2:
            raise HebbcheckError(
                "sketched_kernel pairs two vectors; there is only one; try geo.vectors(count=2)"
            )
        coordinates = np.linalg.qr(pair)[1]
        a, g = streams("A"), streams("G")
        total = np.zeros(whole_number("samples", samples))
        for _ in range(whole_number("m", m)):
            left, right = (rng.standard_normal((samples, len(coordinates))) @ coordinates for rng in (a, g))
            total += (left * right).prod(axis=1)
        return self.backend.asarray(total / int(m))

    def isotropic_kernel(self, samples: int, m: int = 1) -> Any:
        """(samples,): independent draws of K-hat(x, z) for x, z independent and uniform on the sphere of R^d."""
        streams = self._sampling("isotropic_kernel")
        a, g = streams("A"), streams("G")
        total = np.zeros(whole_number("samples", samples))
        cosine = _cosines(streams("vectors"), int(self.d), samples)
        for _ in range(whole_number("m", m)):
            left, right = (_gaussian_pair(rng, cosine) for rng in (a, g))
            total += left * right
        return self.backend.asarray(total / int(m))


class ExactVectors(Exact, Vectors):
    """The same vectors as balls."""


def _cosines(rng: np.random.Generator, d: int, samples: int) -> np.ndarray:
    """|<x, z>| of independent uniform unit vectors: its square is Beta(1/2, (d - 1)/2)."""
    return np.sqrt(rng.beta(0.5, (d - 1) / 2, samples)) if d > 1 else np.ones(samples)


def _gaussian_pair(rng: np.random.Generator, cosine: np.ndarray) -> np.ndarray:
    """<a, x><a, z> for a ~ N(0, I) and unit x, z with these inner products."""
    along, across = rng.standard_normal((2, len(cosine)))
    return along * (cosine * along + np.sqrt(1 - cosine**2) * across)


class VectorFamily(Family):
    """`vectors(...)`: see there."""

    instance_type = Vectors
    exact_type = ExactVectors
    axes: ClassVar = {"vectors": ("", "d")}

    def __init__(self, count: int, **numbers: Any) -> None:
        super().__init__("vectors", **numbers)
        self.count = whole_number("count", count)

    def _parts(self) -> list[str]:
        return [f"count={self.count}"]

    @property
    def choices(self) -> tuple[str, ...]:
        return ANGLES if self.count >= 2 else ("generic", "a zero vector")

    @property
    def free(self) -> tuple[str, ...]:
        return ("vectors",)

    @property
    def chosen(self) -> tuple[str, ...]:
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
        return Raw(dict(numbers), {"vectors": rows}, "vectors")

    def strategy(self) -> st.SearchStrategy[Raw]:
        sizes = self.attacked_sizes()

        @st.composite
        def raws(draw: st.DrawFn) -> Raw:
            numbers = {name: draw(size) for name, size in sizes.items()}
            return Raw(numbers, {"vectors": draw(hard.vectors(self.count, int(numbers["d"])))}, "vectors")

        return raws()


def vectors(*, count: int, d: Any = None, **numbers: Any) -> VectorFamily:
    """`count` vectors of R^d: v[0], v[1], ...; parallel, orthogonal, opposite and generic ones."""
    return VectorFamily(count, d=d, **numbers)
