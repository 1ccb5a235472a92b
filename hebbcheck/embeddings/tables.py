"""Tables of embeddings from npy, npz and safetensors files.  Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import safetensors

from ..errors import HebbcheckError

Result = TypeVar("Result")

SAFETENSORS = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "<i1",
    "U8": "<u1",
}
"""numpy's names of the dtypes; numpy has no bfloat16, whose bits are the upper half of a float32's."""


def load(path: str | Path) -> np.ndarray:
    """The table in a file: rows are embeddings (rows x d, finite numbers, in the file's own dtype).

    A npz or safetensors file must hold exactly one matrix.  Raises HebbcheckError for anything else.
    """
    return _at_present(_load, path)


def zero_rows(path: str | Path) -> int:
    """How many rows of a file's table are zero."""
    return _at_present(_zero_rows, path)


def content_digest(path: str | Path) -> str:
    """Names the contents of a file: it changes whenever they do."""
    return _at_present(_digest, path)


def _at_present(read: Callable[[Path, int, int], Result], path: str | Path) -> Result:
    """A cached reading of a file, made anew when the file has changed."""
    path = Path(path)
    try:
        resolved, stat = path.resolve(), path.stat()
    except (OSError, ValueError) as error:
        raise HebbcheckError(
            f"{path} cannot be read ({_said(error)}); a file of embeddings is needed; check the path"
        ) from None
    return read(resolved, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4)
def _load(path: Path, _modified: int, _size: int) -> np.ndarray:
    table = _only_matrix(path, _read(path))
    if table.dtype.kind not in "fiu":
        raise HebbcheckError(
            f"{path} holds {table.dtype} entries; real numbers are needed; convert it to float32"
        )
    if 0 in table.shape:
        raise HebbcheckError(
            f"{path} holds an empty table {table.shape}; at least one row is needed; write it again"
        )
    if not np.all(np.isfinite(table)):
        raise HebbcheckError(
            f"{path} has NaN or infinite entries; finite numbers are needed; drop those rows"
        )
    table.setflags(write=False)
    return table


@lru_cache(maxsize=16)
def _zero_rows(path: Path, modified: int, size: int) -> int:
    return int(np.sum(~np.any(_load(path, modified, size) != 0, axis=1)))


@lru_cache(maxsize=16)
def _digest(path: Path, _modified: int, _size: int) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _read(path: Path) -> dict[str, np.ndarray]:
    readers = {".npy": _read_npy, ".npz": _read_npz, ".safetensors": _read_safetensors}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise HebbcheckError(f"{path} is of no known kind; npy, npz or safetensors is needed; convert it")
    try:
        return reader(path)
    except Exception as error:  # what readers raise on damaged files ranges from MemoryError to TokenError
        raise HebbcheckError(
            f"{path} cannot be used ({_said(error)}); a table of numbers as its name says is needed; write it again"
        ) from None


def _said(error: Exception) -> str:
    return " ".join(str(getattr(error, "strerror", None) or error).split()) or type(error).__name__


def _read_npy(path: Path) -> dict[str, np.ndarray]:
    return {path.stem: np.load(path, allow_pickle=False)}


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _read_safetensors(path: Path) -> dict[str, np.ndarray]:
    return as_arrays(path.read_bytes())


def as_arrays(content: bytes) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file's bytes, by name; bfloat16 becomes float32."""
    return {name: _tensor(name, given) for name, given in safetensors.deserialize(content)}


def _tensor(name: str, given: dict) -> np.ndarray:
    if given["dtype"] not in SAFETENSORS:
        raise ValueError(f"{name} is of dtype {given['dtype']}")
    array = np.frombuffer(given["data"], dtype=SAFETENSORS[given["dtype"]])
    if given["dtype"] == "BF16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return array.reshape(given["shape"])


def _only_matrix(path: Path, arrays: dict[str, np.ndarray]) -> np.ndarray:
    matrices = [a for a in arrays.values() if a.ndim == 2]
    if len(matrices) != 1:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items()) or "nothing"
        raise HebbcheckError(f"{path} holds {shapes}; exactly one matrix is needed; save the rows alone")
    return matrices[0]
