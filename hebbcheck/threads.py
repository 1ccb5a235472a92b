"""The threads of the BLAS behind numpy: they serve products alone, and blocks shared out among threads serve all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import array_api_compat
from threadpoolctl import ThreadpoolController


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def available(array: Any) -> int:
    """As many as the products of numpy arrays use now; 1 for a library that has its own for everything."""
    if not array_api_compat.is_numpy_array(array):
        return 1
    return min((library.num_threads for library in _blas().lib_controllers), default=1)


def one_for_products(array: Any) -> AbstractContextManager:
    """Products of numpy arrays on one thread: small ones are no slower, and rounding is the same everywhere."""
    return _blas().limit(limits=1) if array_api_compat.is_numpy_array(array) else nullcontext()


def share_out(work: Callable[[slice], Any], parts: list[slice], threads: int) -> list[Any]:
    """The work on each part, in order."""
    if threads == 1 or len(parts) == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(min(threads, len(parts))) as pool:
        return list(pool.map(work, parts))
