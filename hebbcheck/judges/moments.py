"""Means of independent samples, with intervals that skewed samples do not fool.

Moments are merged over blocks (Pebay, "Formulas for robust, one-pass parallel computation of covariances and arbitrary-
order statistical moments", 2008).  The studentised mean of n samples of skewness g is skewed itself by -2 g / sqrt n,
which at level 1e-4 makes the normal interval refute the truth many times too often: squares of Gaussian products, with
g near 100, are the rule here.  Hall's transformation removes the skewness to second order ("On the removal of skewness
by transformation", JRSS B 54, 1992); its interval is longer on the side of the long tail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Moments:
    """Count, mean, and the sums of squares and cubes around it, entry by entry."""

    count: int
    mean: np.ndarray
    squares: np.ndarray
    cubes: np.ndarray

    @classmethod
    def of(cls, samples: np.ndarray) -> Moments:
        """The moments along the first axis."""
        mean = samples.mean(axis=0)
        around = samples - mean
        square = around * around
        return cls(len(samples), mean, square.sum(axis=0), (square * around).sum(axis=0))

    def merged(self, other: Moments) -> Moments:
        """The moments of both sets of samples together."""
        n, m = self.count, other.count
        total, shift = n + m, other.mean - self.mean
        cubes = self.cubes + other.cubes + shift**3 * n * m * (n - m) / total**2
        cubes = cubes + 3 * shift * (n * other.squares - m * self.squares) / total
        squares = self.squares + other.squares + shift**2 * n * m / total
        return Moments(total, self.mean + shift * m / total, squares, cubes)

    @property
    def error(self) -> np.ndarray:
        """The standard error of the mean."""
        return np.sqrt(self.squares / max(self.count - 1, 1) / self.count)

    @property
    def dominance(self) -> float:
        """|Skewness| over sqrt n: 0 for a normal law, 1 where one sample makes all of the variance."""
        variance = float(self.squares) / self.count
        skewness = float(self.cubes) / self.count / variance**1.5 if variance > 0 else 0.0
        return abs(skewness) / self.count**0.5

    def interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Hall's interval of the mean; each limit is missed with probability level / 2."""
        z = float(stats.norm.isf(level / 2))
        variance = self.squares / self.count
        safe = np.where(variance > 0, variance, 1.0)
        skew = np.where(variance > 0, self.cubes / self.count / safe**1.5, 0.0) / np.sqrt(self.count)
        return self.mean - _back(z, skew) * self.error, self.mean - _back(-z, skew) * self.error


def _back(z: float, skew: np.ndarray) -> np.ndarray:
    """Hall's monotone cubic t + a t^2 / 3 + a^2 t^3 / 27 + a / 6, solved for t; a: skewness over sqrt n."""
    a = np.where(np.abs(skew) < 1e-6, 1e-6, skew)
    return 3 / a * (np.cbrt(1 + a * (z - a / 6)) - 1)
