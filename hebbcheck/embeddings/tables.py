"""Tables of embeddings from npy, npz and safetensors files.  Nothing is ever unpickled."""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from ..errors import HebbcheckError


def load(path: str | Path) -> np.ndarray:
    """The table in a file: rows are embeddings (rows x d, finite floats, in the file's own dtype).

    An npz or safetensors file must hold exactly one matrix.  Raises HebbcheckError for anything else.
    """
    path = Path(path)
    try:
        stat = path.stat()
    except OSError as error:
        raise HebbcheckError(
            f"{path} cannot be read ({error.strerror}); a file of embeddings is needed"
        ) from None
    return _load(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=4)
def _load(path: Path, _modified: int, _size: int) -> np.ndarray:
    table = _only_matrix(path, _read(path))
    if table.dtype.kind not in "fiu":
        raise HebbcheckError(
            f"{path} holds {table.dtype} entries; real numbers are needed; convert it to float32"
        )
    if 0 in table.shape:
        raise HebbcheckError(
            f"{path} holds an empty table of shape {table.shape}; at least one row is needed"
        )
    if not np.all(np.isfinite(table)):
        raise HebbcheckError(
            f"{path} has NaN or infinite entries; finite numbers are needed; drop those rows"
        )
    table.setflags(write=False)
    return table


def _read(path: Path) -> dict[str, np.ndarray]:
    readers = {".npy": _read_npy, ".npz": _read_npz, ".safetensors": load_file}
    reader = readers.get(path.suffix)
    if reader is None:
        raise HebbcheckError(f"{path} is of no known kind; npy, npz or safetensors is needed; convert it")
    try:
        return reader(path)
    except (ValueError, OSError, EOFError, KeyError, TypeError, zipfile.BadZipFile, SafetensorError) as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise HebbcheckError(
            f"{path} is damaged or not what its name says ({what}); write it again"
        ) from None


def _read_npy(path: Path) -> dict[str, np.ndarray]:
    return {path.stem: np.load(path, allow_pickle=False)}


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _only_matrix(path: Path, arrays: dict[str, np.ndarray]) -> np.ndarray:
    matrices = {name: a for name, a in arrays.items() if a.ndim == 2}
    if len(matrices) != 1:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items()) or "nothing"
        raise HebbcheckError(f"{path} holds {shapes}; exactly one matrix is needed; save the rows alone")
    return next(iter(matrices.values()))
