"""The two windows of a ladder in which growth is measured: its top 40% in log size, and as much below."""

from __future__ import annotations

SHARE = 0.4
LEAST = 3
SLACK = 1e-9


def top_window(log_sizes: list[float]) -> list[int]:
    """The rungs in the top window, at least three."""
    found = _between(log_sizes, 0.0, SHARE)
    return found if len(found) >= LEAST else list(range(len(log_sizes)))[-LEAST:]


def middle_window(log_sizes: list[float]) -> list[int]:
    """The rungs in the window of equal width below it; one rung may belong to both."""
    width = log_sizes[-1] - log_sizes[top_window(log_sizes)[0]]
    span = log_sizes[-1] - log_sizes[0]
    return _between(log_sizes, width / span, 2 * width / span) if span > 0 else []


def _between(log_sizes: list[float], near: float, far: float) -> list[int]:
    top, span = log_sizes[-1], log_sizes[-1] - log_sizes[0]
    return [k for k, x in enumerate(log_sizes) if near * span - SLACK <= top - x <= far * span + SLACK]
