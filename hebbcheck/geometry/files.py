"""Real embeddings as keys or values: the shape `file`, and what its table means for the sizes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Streams
from ..embeddings import content_digest, load, zero_rows
from ..errors import HebbcheckError
from .shapes import Shape, unit_rows
from .sizes import DRAWS, GROWTH

MOST_FACTS = GROWTH * DRAWS["F"][1]
"""The number of facts up to which a file's rows limit the default range of F."""


class File(Shape):
    """Rows of a table of embeddings."""

    @property
    def path(self) -> Path:
        return self.parameters["path"]

    @property
    def fingerprint(self) -> str:
        return content_digest(self.path)

    def __repr__(self) -> str:
        return f"file({self.path.name}{'' if self.unit else ', normalize=False'})"


def file(path: str | Path, normalize: bool = True) -> Shape:
    """Rows of a file of embeddings (npy, npz, safetensors), drawn without replacement; `normalize`: to norm one."""
    path = Path(path)

    def sample(streams: Streams, purpose: str, count: int, d: int) -> np.ndarray:
        table = load(path)
        if count > len(table):
            raise HebbcheckError(
                f"{path} has {len(table)} rows; {count} are needed; try F={len(table)} or fewer"
            )
        if d != table.shape[1]:
            raise HebbcheckError(
                f"{path} has rows of length {table.shape[1]} where d is {d}; they must agree; try d={table.shape[1]}"
            )
        if normalize and zero_rows(path):
            raise HebbcheckError(
                f"{path} has {zero_rows(path)} zero rows; rows that can be normalised are needed; "
                "drop those rows or try normalize=False"
            )
        chosen = streams(f"{purpose} rows").choice(len(table), size=count, replace=False)
        rows = table[chosen].astype(np.float64)
        return unit_rows(rows) if normalize else rows

    return File("file", sample, unit=normalize, parameters={"path": path})


def sizes_of_files(shapes: Iterable[Shape], F: Any, d: Any) -> tuple[Any, Any]:
    """F and d as given; where they are not, d is the length of the files' rows, and F at most their number.

    Raises HebbcheckError where the files have rows of different lengths.
    """
    tables = [load(shape.path) for shape in shapes if isinstance(shape, File)]
    if not tables:
        return F, d
    widths = sorted({table.shape[1] for table in tables})
    if len(widths) > 1:
        raise HebbcheckError(
            f"the files have rows of lengths {widths}; keys and values need one length; try files of one model"
        )
    rows = min(len(table) for table in tables)
    if F is None and rows < MOST_FACTS:
        F = (min(DRAWS["F"][0], rows), rows)
    return F, widths[0] if d is None else d
