"""Threads: blocks of rows shared out among them serve all operations, those of a library its larger ones alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import array_api_compat
from threadpoolctl import ThreadpoolController


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def available(array: Any) -> int:
    """As many as the array's library uses now on this machine's cores."""
    if array_api_compat.is_numpy_array(array):
        return min((library.num_threads for library in _blas().lib_controllers), default=1)
    return _torch().get_num_threads() if _is_on_torch_cpu(array) else 1


@contextmanager
def one_for_products(array: Any) -> Iterator[None]:
    """The array's library on one thread: small products are no slower, and rounding is the same everywhere."""
    if array_api_compat.is_numpy_array(array):
        if all(library.num_threads == 1 for library in _blas().lib_controllers):
            yield
            return
        with _blas().limit(limits=1):
            yield
    elif _is_on_torch_cpu(array):
        before = _torch().get_num_threads()
        _torch().set_num_threads(1)
        try:
            yield
        finally:
            _torch().set_num_threads(before)
    else:
        yield


def share_out(work: Callable[[slice], Any], parts: list[slice], threads: int, array: Any) -> list[Any]:
    """The work on each part of some array, in order; called within `one_for_products`."""
    if threads == 1 or len(parts) == 1:
        return [work(part) for part in parts]
    # torch keeps the number of its threads thread by thread: new ones have it to learn.
    alone = partial(_torch().set_num_threads, 1) if _is_on_torch_cpu(array) else None
    with ThreadPoolExecutor(min(threads, len(parts)), initializer=alone) as pool:
        return list(pool.map(work, parts))


def _torch() -> Any:
    """torch, which is loaded where there is an array of its."""
    return sys.modules["torch"]


def _is_on_torch_cpu(array: Any) -> bool:
    return array_api_compat.is_torch_array(array) and array.device.type == "cpu"
