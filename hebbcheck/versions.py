"""What a result was computed with."""

from __future__ import annotations

import hashlib
import importlib
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from .arrays import BACKENDS

ENGINE = Path(__file__).parent
THEORY = ("bounds", "reports")
"""Folders that a wheel puts inside the engine's: a claim's own digest speaks for them."""


def versions(backend: str = "numpy") -> dict[str, str]:
    """The versions of hebbcheck, Python and the libraries that a result with this array backend depends on.

    ImportError where the backend's package is missing.
    """
    package = BACKENDS[backend]
    found = {"hebbcheck": package_version(), "python": platform.python_version()}
    found |= {name: installed(name) for name in ("numpy", "scipy", "hypothesis")}
    return found | {package: str(importlib.import_module(package).__version__)}


installed = cache(metadata.version)


@cache
def package_version() -> str:
    """hebbcheck's version, or "source" where it runs from a folder that was never installed."""
    try:
        return metadata.version("hebbcheck")
    except metadata.PackageNotFoundError:
        return "source"


@cache
def engine_digest() -> str:
    """A hash of the engine's Python sources (not of the theory): results of another engine are not reused."""
    digest = hashlib.sha256()
    for path in sorted(ENGINE.rglob("*.py")):
        relative = path.relative_to(ENGINE)
        if relative.parts[0] not in THEORY:
            source = path.read_bytes()
            digest.update(f"{relative.as_posix()}\0{len(source)}\0".encode() + source)
    return digest.hexdigest()
