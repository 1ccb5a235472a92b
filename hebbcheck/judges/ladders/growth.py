"""How a needed constant grows along a ladder: local exponents, and what growth is still to come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from .build import Ladder
from .centres import Centres
from .windows import middle_window, top_window

RESAMPLES = 10_000
MOST_IDLE = 0.1
"""Where more draws than this share need no constant at all, the needed constant is only just emerging, as a difference
of sides that nearly balance: its logarithm grows fast, whatever becomes of it, and does not tell how it goes on."""


@dataclass(frozen=True)
class Slope:
    """A local exponent: weighted least squares over a window, as a functional of the centres."""

    value: float
    error: float
    functional: np.ndarray
    freedom: int

    def low(self, level: float) -> float:
        return self.value - float(student.isf(level, self.freedom)) * self.error

    def high(self, level: float) -> float:
        return self.value + float(student.isf(level, self.freedom)) * self.error


@dataclass(frozen=True)
class Growth:
    """A ladder's growth.

    `slope`: local exponent b at the top, in the ladder's scale (log size, or log L); `in_size`: the same in log size.
    `remaining`: (low, value, high), the growth of log C still to come (Aitken's extrapolation of the rises of the two
    windows), inf if it does not decay.  `top`: (log C at the top rung, its standard error).
    """

    slope: Slope
    in_size: Slope
    remaining: tuple[float, float, float]
    top: tuple[float, float]
    length: float

    @property
    def ahead(self) -> float:
        """log C where the ladder is extended over its own length again, by its exponent or as far as it still grows."""
        return self.top[0] + min(max(self.in_size.value, 0.0) * self.length, self.remaining[2])


def growth_of(ladder: Ladder, centres: Centres, tails: tuple[float, float]) -> Growth | None:
    """The growth at a ladder's top; None where fewer than three rungs there have a centre."""
    place = {rung: k for k, rung in enumerate(centres.rungs)}
    sizes = ladder.log_sizes
    top = [place[k] for k in top_window(sizes) if k in place]
    middle = [place[k] for k in middle_window(sizes) if k in place]
    if len(top) < 3 or centres.rungs[-1] != len(sizes) - 1:
        return None
    scale = np.array([ladder.scale[k] for k in centres.rungs])
    logs = np.array([sizes[k] for k in centres.rungs])
    slope, in_size = slope_of(scale, centres, top), slope_of(logs, centres, top)
    width = logs[top[-1]] - logs[top[0]]
    if len(middle) >= 2:
        below = slope_of(logs, centres, middle)
        functionals = np.stack([in_size.functional, below.functional]) * width
        low, value, high = _remaining(functionals, centres, tails)
        emerging = max(centres.idle[k] for k in (*top, *middle)) > MOST_IDLE
        turning = below.value < 0  # it fell before it rose: what it does next, two windows do not tell
        remaining = (0.0 if emerging or turning else low, value, high)
    else:
        remaining = (0.0, np.inf, np.inf)
    end = len(centres.rungs) - 1
    top_value = (float(centres.y[end]), centres.error(end))
    return Growth(slope, in_size, remaining, top_value, sizes[-1] - sizes[0])


def slope_of(x: np.ndarray, centres: Centres, window: list[int]) -> Slope:
    weights = 1 / np.diag(centres.covariance)[window]
    centred = x[window] - np.sum(weights * x[window]) / np.sum(weights)
    functional = np.zeros(len(x))
    functional[window] = weights * centred / np.sum(weights * centred**2)
    error = float(np.sqrt(functional @ centres.covariance @ functional))
    freedom = min(centres.kept[k] for k in window) - 1
    return Slope(float(functional @ centres.y), error, functional, max(freedom, 2))


def _remaining(
    functionals: np.ndarray, centres: Centres, tails: tuple[float, float]
) -> tuple[float, float, float]:
    """Aitken's extrapolation from the rises of the top window and of the one below, with a bootstrap interval."""
    rises = functionals @ centres.y
    covariance = functionals @ centres.covariance @ functionals.T
    noise = np.random.default_rng(0).multivariate_normal(rises, covariance, RESAMPLES, method="cholesky")
    drawn = np.array([aitken(upper, lower) for upper, lower in noise])
    low, high = np.quantile(drawn, [tails[0], 1 - tails[1]], method="inverted_cdf")
    return float(low), aitken(*rises), float(high)


def aitken(upper: float, lower: float) -> float:
    """The sum of all further rises of a geometric sequence that rose by `lower` and then by `upper`."""
    if upper <= 0:
        return 0.0
    if lower <= upper:
        return np.inf
    ratio = upper / lower
    return float(upper * ratio / (1 - ratio))
