"""The results of a figure's sweep, for claims "as reported"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import HebbcheckError
from ..instance import Sizes
from ..verdict import Quantifier
from .family import Family


class FigureFamily(Family):
    """One instance a replicate of the figure's protocol, with the attributes that its summary returned."""

    quantifier = Quantifier.REPORTED
    exact = False

    def __init__(self, id: str) -> None:
        if not isinstance(id, str) or not id:
            raise HebbcheckError(f"figure({id!r}) needs a figure's id; try geo.figure('fig2b')")
        super().__init__(f"figure {id}")
        self.id = id

    def replicate(self, attributes: dict[str, float]) -> Sizes:
        """An instance with these attributes."""
        return Sizes(attributes)

    def probes(self) -> Iterator[Any]:
        raise HebbcheckError(f"the figure {self.id} has results only after it was reproduced")


def figure(id: str) -> FigureFamily:
    """The results of a figure's sweep: `fig.r2_fitted` and the like, one instance a replicate of the protocol."""
    return FigureFamily(id)
