"""The results of a figure's sweep, for claims "as reported"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..drawn import Sizes
from ..errors import HebbcheckError
from ..verdict import Quantifier
from .family import Family


class Results(Sizes):
    """The numbers that a figure's summary returned, as attributes."""


class FigureFamily(Family):
    """One instance a replicate of the figure's protocol, with the attributes that its summary returned."""

    quantifier = Quantifier.REPORTED
    exact = False
    instance_type = Results

    def __init__(self, id: str) -> None:
        if not isinstance(id, str) or not id:
            raise HebbcheckError(
                f"figure({id!r}) names no figure; a figure's id is needed; try geo.figure('fig2b')"
            )
        super().__init__(f"figure {id}")
        self.id = id

    def replicate(self, attributes: dict[str, float]) -> Sizes:
        """An instance with these attributes."""
        return Results(attributes)

    def probes(self) -> Iterator[Any]:
        raise HebbcheckError(
            f"the figure {self.id} has not been reproduced; its results are needed; try hebbcheck reproduce {self.id}"
        )


def figure(id: str) -> FigureFamily:
    """The results of a figure's sweep: `fig.r2_fitted` and the like, one instance a replicate of the protocol."""
    return FigureFamily(id)
