"""An end to what may take forever: sympy rewrites some expressions for hours, and a user's function may do anything."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SECONDS = 10.0


class OutOfPatience(BaseException):
    """Raised where the time is over; no `except Exception` on the way swallows it."""


@contextmanager
def patience() -> Iterator[None]:
    """Raises OutOfPatience inside after SECONDS of computing (not of waiting).

    Without effect where there is no such timer: off the main thread and off Unix.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGVTALRM"):
        yield
        return

    def stop(*_: Any) -> None:
        raise OutOfPatience

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
