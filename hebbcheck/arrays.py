"""Array backends, devices and dtypes; counter-based random streams.

Every random number is drawn on the host in float64 and then moved, so all backends see the same numbers.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat
import numpy as np

from .errors import HebbcheckError

BACKENDS = {
    "numpy": "numpy",
    "strict": "array_api_strict",
    "torch": "torch",
    "jax": "jax",
    "cupy": "cupy",
}
COMPILED = 1 << 17
"""From so many numbers on jax pays: it compiles each operation for each new shape, which takes it seconds."""
DTYPES = ("float64", "float32")


@dataclass(frozen=True)
class Backend:
    """An array library, a device and a dtype: where the statistics are computed."""

    name: str = "numpy"
    device: str = "cpu"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if self.name not in BACKENDS:
            raise HebbcheckError(f"backend {self.name!r} is unknown; choose one of {', '.join(BACKENDS)}")
        if self.dtype not in DTYPES:
            raise HebbcheckError(f"dtype {self.dtype!r} is unknown; choose one of {', '.join(DTYPES)}")
        if self.device != "cpu" and self.name not in ("torch", "jax", "cupy"):
            raise HebbcheckError(
                f"backend {self.name!r} has no device {self.device!r}; it runs on cpu; try --backend torch"
            )

    @cached_property
    def xp(self) -> Any:
        """The array namespace."""
        try:
            module = importlib.import_module(BACKENDS[self.name])
        except ImportError:
            raise HebbcheckError(
                f"backend {self.name!r} needs the package {BACKENDS[self.name]}, which is not installed; "
                f"try pip install {BACKENDS[self.name].replace('_', '-')}"
            ) from None
        if self.name == "jax":
            module.config.update("jax_enable_x64", True)
            return importlib.import_module("jax.numpy")
        if self.name == "strict":
            return module
        return array_api_compat.array_namespace(module.empty(0) if self.name != "cupy" else module.zeros(0))

    @cached_property
    def _device(self) -> Any:
        if self.name == "torch":
            torch = importlib.import_module("torch")
            if self.device.startswith("cuda") and not torch.cuda.is_available():
                raise HebbcheckError("no CUDA device is visible to torch; try --device cpu")
            try:
                return torch.device(self.device)
            except RuntimeError:
                raise HebbcheckError(f"torch knows no device {self.device!r}; try cpu or cuda") from None
        if self.name == "jax":
            jax = importlib.import_module("jax")
            kind = "gpu" if self.device.startswith("cuda") else self.device
            try:
                return jax.devices(kind)[0]
            except RuntimeError:
                raise HebbcheckError(f"jax sees no device {self.device!r}; try --device cpu") from None
        return None

    @property
    def eps(self) -> float:
        """The unit roundoff's double: the gap between 1 and the next number of this dtype."""
        return float(np.finfo(self.dtype).eps)

    def suited_to(self, entries: int) -> Backend:
        """Where an instance made from so many numbers is computed: a small one with numpy in the place of jax."""
        small = self.name == "jax" and entries < COMPILED
        return Backend("numpy", dtype=self.dtype) if small else self

    def check(self) -> None:
        """Raises HebbcheckError where the package, the device or the dtype on it is missing."""
        try:
            self.asarray(np.zeros(1))
        except HebbcheckError:
            raise
        except Exception as error:  # libraries differ in what they raise for a device that is not there
            raise HebbcheckError(
                f"backend {self.name!r} cannot hold {self.dtype} arrays on device {self.device!r} "
                f"({type(error).__name__}: {error}); try --device cpu or another --backend"
            ) from error

    def asarray(self, host: np.ndarray) -> Any:
        """A host array on this backend: floats become this backend's dtype, integers int64."""
        host = np.asarray(host)
        xp = self.xp
        dtype = xp.int64 if host.dtype.kind in "iu" else getattr(xp, self.dtype)
        if self.name == "numpy":
            return np.asarray(host, dtype=dtype)
        host = np.ascontiguousarray(host, dtype=np.int64 if host.dtype.kind in "iu" else self.dtype)
        if self._device is None:
            return xp.asarray(host, dtype=dtype)
        return xp.asarray(host, dtype=dtype, device=self._device)

    def to_numpy(self, array: Any) -> np.ndarray:
        """The array on the host."""
        if self.name == "torch":
            return array.detach().cpu().numpy()
        if self.name == "cupy":
            return array.get()
        return np.asarray(array)


NUMPY = Backend()


def to_host(array: Any) -> np.ndarray:
    """Any library's array on the host, without its gradient; numpy has no bfloat16, which becomes float32."""
    if array_api_compat.is_torch_array(array):
        array = array.detach().cpu()
        return (array.float() if str(array.dtype) == "torch.bfloat16" else array).numpy()
    return array.get() if array_api_compat.is_cupy_array(array) else np.asarray(array)


def alike(array: Any, model: Any) -> Any:
    """An array of numbers in the model's library and dtype, on its device."""
    xp = array_api_compat.array_namespace(model)
    device = array_api_compat.device(model)
    return xp.asarray(to_host(array), dtype=model.dtype, device=device)


def key_of(*parts: Any) -> bytes:
    """A 128-bit key for JSON-able parts: equal only if the parts are."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=_plain)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be part of a random stream's key")


def stream(*parts: Any) -> np.random.Generator:
    """An independent generator named by its parts (claim, cell, seed, purpose): Philox, 128-bit key."""
    return np.random.Generator(np.random.Philox(key=int.from_bytes(key_of(*parts), "little")))


class Streams:
    """The independent streams of one draw, one for each purpose ("keys", "values", "A", "G", "noise", ...)."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __call__(self, purpose: str) -> np.random.Generator:
        return stream(*self.parts, purpose)

    def child(self, *more: Any) -> Streams:
        return Streams(*self.parts, *more)
