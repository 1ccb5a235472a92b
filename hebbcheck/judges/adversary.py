"""Who chooses what: an adversary's choice is made once for a cell, everything else is drawn again for each draw."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Streams
from ..claim import Claim
from ..settings import Settings


class DrawStreams(Streams):
    """The streams of one draw of a cell; the purposes that an adversary chooses have the cell's own streams."""

    def __init__(self, cell: Streams, chosen: tuple[str, ...], *parts: Any) -> None:
        super().__init__(*cell.parts, *parts)
        self.cell = cell
        self.chosen = chosen

    def __call__(self, purpose: str) -> np.random.Generator:
        return self.cell(purpose) if purpose in self.chosen else super().__call__(purpose)


def streams_of(claim: Claim, settings: Settings, cell: tuple[Any, ...], *draw: Any) -> DrawStreams:
    """The streams of a draw (role, index, ...) of a cell (sizes, choice, ...) of a claim."""
    return DrawStreams(Streams("cell", claim.id, settings.seed, *cell), claim.family.chosen, *draw)
