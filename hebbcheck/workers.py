"""One cell, in whichever process; and the processes."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache, lru_cache
from multiprocessing import resource_tracker
from typing import Any, Protocol

import cloudpickle
import loky
from loky.backend.context import LokyContext
from loky.backend.process import LokyProcess
from threadpoolctl import ThreadpoolController

from .errors import HebbcheckError, contained, message_of
from .settings import Settings
from .store import to_json

CELLS_AHEAD = 16
"""Cells handed to the executor ahead of time, for each of its workers: later ones still queue fairly."""
PARENT_SECONDS = 1.0
"""How often a worker looks whether the process that it works for is still there."""


class Subject(Protocol):
    """What is measured: its digest changes with its definition; without a reference it stays here."""

    @property
    def id(self) -> str: ...

    @property
    def digest(self) -> str: ...

    @property
    def reference(self) -> Any: ...


def run_cell(subject: Subject, settings: Settings, measure: str, params: str) -> tuple[str, float]:
    """The result of one cell as JSON, and the seconds it took."""
    module, _, name = measure.partition(":")
    begun = time.perf_counter()
    with contained(subject.id):
        function = getattr(importlib.import_module(module), name)
        _ = settings.arrays.xp  # threads can be limited only in a library that is loaded
        with _libraries(len(sys.modules)).limit(limits=1):
            result = to_json(function(subject, settings, json.loads(params)))
    return result, time.perf_counter() - begun


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:
    """The loaded libraries that use threads, looked for again when more modules are loaded: it takes milliseconds."""
    return ThreadpoolController()


def run_remote_cell(
    reference: Any, digest: str, settings: Settings, measure: str, params: str
) -> tuple[str, float]:
    """The same in a worker process, which looks the subject up and raises only what can be sent back."""
    try:
        subject = _resolved(reference)
        if subject.digest != digest:
            raise HebbcheckError(
                f"{subject.id} was changed during the run, or reads an array that comes out otherwise in each process; "
                "it must stay as it is; run again, or give the array's generator a seed"
            )
        return run_cell(subject, settings, measure, params)
    except Exception as error:
        raise _portable(error) from None


@cache
def _resolved(reference: Any) -> Any:
    return reference.resolve()


def _portable(error: Exception) -> Exception:
    """The exception, or one that says the same where it cannot travel (which would break the whole pool)."""
    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {message_of(error)}")
    return error


def _begin(parent: int) -> None:
    """What a worker does first: Ctrl-C and standard output are its parent's, and it ends when its parent does."""
    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A killed run leaves no workers behind: they would wait for cells for ever."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C waits; a process that is started meanwhile never hears of it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Worker(LokyProcess):
    """A worker that is deaf to Ctrl-C from its first moment and can be killed where there is no pgrep."""

    def start(self) -> None:
        resource_tracker.ensure_running()  # starting it would let the held signals go
        with _interrupts_held():
            super().start()

    def kill(self) -> None:
        self.terminate()


class _Workers(LokyContext):
    Process = _Worker


class Pool:
    """Worker processes of our own, started when needed and again when one dies; or a given executor."""

    def __init__(self, workers: int, given: Executor | None) -> None:
        self.room = CELLS_AHEAD * workers
        self.workers = workers
        self.given = given
        self.own: loky.ProcessPoolExecutor | None = None

    def submit(self, function: Any, *arguments: Any) -> Future:
        if self.given is not None:
            return self.given.submit(function, *arguments)
        if self.own is None:
            # Without pgrep only the worker itself is killed, which is all that is needed.
            warnings.filterwarnings("ignore", message="Failed to kill subprocesses")
            self.own = loky.ProcessPoolExecutor(
                self.workers, context=_Workers(), initializer=_begin, initargs=(os.getpid(),)
            )
        return self.own.submit(function, *arguments)

    def cancel(self, future: Future) -> None:
        """Spare a given executor the work; loky cannot kill its workers while a cancelled future waits."""
        if self.given is not None:
            future.cancel()

    def discard(self, kill: bool = True) -> None:
        """End our own workers, at once or when idle."""
        if self.own is not None:
            own, self.own = self.own, None
            own.shutdown(wait=True, kill_workers=kill)
