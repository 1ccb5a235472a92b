"""Hypothesis, so that its draws depend on its seed alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis.internal.conjecture import providers

_one_at_a_time = threading.Lock()


@contextmanager
def steady_draws() -> Iterator[None]:
    """Inside, Hypothesis draws no numbers from the sources of the modules that happen to be imported.

    It would otherwise mix the constants of all local modules into its draws, and an attack would go another way
    in a worker process, after another claim, or under another command.
    """
    with _one_at_a_time:
        usual = providers._get_local_constants
        providers._get_local_constants = providers.Constants
        providers.CONSTANTS_CACHE.cache.clear()
        try:
            yield
        finally:
            providers._get_local_constants = usual
            providers.CONSTANTS_CACHE.cache.clear()
