"""What a claim is made of: its file, those beside it that it imports, and the arrays that it reads."""

from __future__ import annotations

import ast
import hashlib
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path


def sources(path: Path) -> list[Path]:
    """The file and the files of its folder and below that it imports, directly or through one another, sorted.

    Imports are read, not run; a file that is no Python stands for itself.
    """
    path = path.resolve()
    found, waiting = {path}, [path]
    while waiting:
        new = set(_imported(waiting.pop(), path.parent)) - found
        found |= new
        waiting += new
    return sorted(found)


def digest(path: Path) -> str:
    """Changes whenever one of the file's sources does."""
    state = hashlib.sha256()
    for source in sources(path):
        state.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return state.hexdigest()


def data_digest(*functions: Callable) -> str:
    """Changes whenever an array does that one of the functions names in its module, or encloses."""
    state = hashlib.sha256()
    for function in filter(inspect.isfunction, map(inspect.unwrap, functions)):
        read = inspect.getclosurevars(function)
        for name, value in sorted({**read.globals, **read.nonlocals}.items()):
            if hasattr(value, "tobytes") and hasattr(value, "dtype"):  # pytest loads this without numpy
                state.update(f"{name} {value.dtype} {value.shape}".encode() + value.tobytes())
    return state.hexdigest()


def _imported(path: Path, folder: Path) -> Iterator[Path]:
    for base, name in _imports(path, path.stat().st_mtime_ns):
        target = base.joinpath(*name.split(".")) if name else base
        for candidate in (target.with_name(f"{target.name}.py"), target / "__init__.py"):
            if candidate.is_relative_to(folder) and candidate.is_file():
                yield candidate


@lru_cache(maxsize=512)
def _imports(path: Path, _modified: int) -> list[tuple[Path, str]]:
    """(folder, dotted name) of everything that a file imports and that might be a file beside it."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []
    found: list[tuple[Path, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(path.parent, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = path.parents[max(node.level - 1, 0)]
            prefix = f"{node.module}." if node.module else ""
            found += [(base, node.module or "")]
            found += [(base, f"{prefix}{alias.name}") for alias in node.names]
    return found
