"""Memories as safetensors files.  Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from ..arrays import to_host
from ..embeddings.tables import as_arrays
from ..errors import HebbcheckError, message_of
from .mlp import BIASES, GatedMLP

FORMAT = "hebbcheck memory 1"


def save(mlp: GatedMLP, path: str | Path) -> None:
    """Writes the memory; a file that was there is replaced at once or not at all."""
    path = _path(path)
    tensors = {name: np.ascontiguousarray(to_host(part)) for name, part in mlp.parameters.items()}
    try:
        metadata = {"format": FORMAT, "gate": mlp.gate, "settings": json.dumps(mlp.settings, sort_keys=True)}
    except (TypeError, ValueError) as error:
        raise HebbcheckError(
            f"the settings cannot be written ({message_of(error)}); JSON values are needed; replace others"
        ) from None
    _check_numbers(tensors)
    metadata["digest"] = _digest(tensors, metadata)
    try:
        _write(safetensors.numpy.save(tensors, metadata), path)
    except OSError as error:
        raise HebbcheckError(
            f"{path} cannot be written ({error.strerror or error}); a file in a folder that exists is needed"
        ) from None


def _write(content: bytes, path: Path) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_bytes(content)
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def load(path: str | Path) -> GatedMLP:
    """The memory in a file that `GatedMLP.save` wrote, as numpy arrays.

    Raises HebbcheckError for a file that is missing, damaged, or something else.
    """
    path = _path(path)
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise HebbcheckError(
            f"{path} cannot be read ({said}); a memory's file is needed; check the path"
        ) from None
    try:
        tensors, metadata = as_arrays(content), _metadata(content)
    except Exception as error:  # what readers raise on damaged files has no bound
        raise HebbcheckError(
            f"{path} is no safetensors file ({message_of(error) or type(error).__name__}); "
            "one that GatedMLP.save wrote is needed; save the memory again"
        ) from None
    try:
        return _memory(tensors, metadata)
    except HebbcheckError as error:
        raise HebbcheckError(f"{path} holds no memory: {error}") from None


def _metadata(content: bytes) -> dict[str, str]:
    """The text that a safetensors file carries; its header is JSON after its length in eight bytes."""
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]).get("__metadata__", {})


def _memory(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> GatedMLP:
    if metadata.get("format") != FORMAT:
        raise HebbcheckError(
            f"its format is {metadata.get('format')!r}; {FORMAT!r} is needed; save it with GatedMLP.save"
        )
    names = {"A", "G", "B"}
    if not names <= tensors.keys() <= names | BIASES.keys():
        raise HebbcheckError(
            f"it has the tensors {', '.join(sorted(tensors))}; A, G, B and biases a, g, b are needed"
        )
    _check_numbers(tensors)
    memory = GatedMLP(
        **tensors, gate=metadata.get("gate", ""), settings=_settings(metadata.get("settings", ""))
    )
    if metadata.get("digest") != _digest(tensors, metadata):
        raise HebbcheckError(
            "it was changed after it was saved; an unchanged file is needed; save the memory again"
        )
    return memory


def _check_numbers(tensors: dict[str, np.ndarray]) -> None:
    for name, tensor in tensors.items():
        if tensor.dtype.kind != "f" or not np.all(np.isfinite(tensor)):
            raise HebbcheckError(
                f"{name} has {tensor.dtype} entries, not all of them finite numbers; finite floats are needed"
            )


def _digest(tensors: dict[str, np.ndarray], metadata: dict[str, str]) -> str:
    """Names all that a file holds."""
    state = hashlib.blake2b(digest_size=16)
    said = {name: text for name, text in metadata.items() if name != "digest"}
    state.update(json.dumps(said, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        state.update(f" {name} {tensor.dtype} {tensor.shape} ".encode() + tensor.tobytes())
    return state.hexdigest()


def _path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike) or not Path(path).name:
        raise HebbcheckError(f"{path!r} is no file's path; one is needed; try 'memory.safetensors'")
    return Path(path)


def _settings(text: str) -> dict[str, Any]:
    try:
        settings = json.loads(text)
    except ValueError:
        settings = None
    if not isinstance(settings, dict):
        raise HebbcheckError("its settings are no JSON object; they are needed; save the memory again")
    return settings
