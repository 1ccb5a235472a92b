"""The centre of a cell's needed constants, with each draw's share in its error.

Trimmed means of log needed constants with Yuen's standard error (Yuen 1974, "The two-sample trimmed t for unequal
population variances"), written as a sum of one contribution a draw, so that the covariance of two cells that share
random numbers is known too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TRIM = 0.25
NOISE = 0.2
"""Draws that need less than this share of the cell's upper quartile count as needing this share: where many draws need
next to nothing, their logarithms are mostly noise."""
MODEL_ERROR = 0.004
"""Added to each centre's standard error: no ladder follows a power law exactly."""
FEWEST = 8
BOOTSTRAPS = 200


@dataclass(frozen=True)
class Centres:
    """The centres of a ladder's cells that have one.

    `rungs`: their numbers; `y`: centres of log needed constant; `covariance`, with the model error on its diagonal;
    `kept`: how many draws each trimmed mean rests on; `slack`: rungs where most draws need no constant at all;
    `idle`: the share of such draws on each of `rungs`.
    """

    rungs: list[int]
    y: np.ndarray
    covariance: np.ndarray
    kept: list[int]
    slack: list[int]
    idle: list[float]

    def error(self, k: int) -> float:
        return float(np.sqrt(self.covariance[k, k]))


def log_of(needed: list[float]) -> np.ndarray:
    """log of needed constants: -inf where none is needed, NaN where a draw is no evidence."""
    values = np.asarray([np.nan if v is None else v for v in needed], dtype=float)
    with np.errstate(divide="ignore"):
        return np.log(values)


def middle_of(cell: np.ndarray) -> float:
    """The trimmed mean alone, -inf where nothing is needed; NaN with too few draws."""
    valid = np.sort(cell[~np.isnan(cell)])
    if len(valid) < FEWEST:
        return float("nan")
    cut = int(TRIM * len(valid))
    return float(np.mean(valid[cut : len(valid) - cut]))


def centres_of(cells: list[np.ndarray]) -> Centres:
    """The centres of a ladder's cells, given the log needed constants of each: the middle half of the draws counts."""
    rungs, y, parts, kept, slack, idle = [], [], [], [], [], []
    width = max((len(cell) for cell in cells), default=0)
    for k, cell in enumerate(cells):
        quartile = _upper_quartile(cell)
        if np.isneginf(quartile):
            slack.append(k)
            continue
        middle = _trimmed(np.maximum(cell, quartile + np.log(NOISE)))
        if middle is not None:
            rungs.append(k)
            y.append(middle[0])
            parts.append(np.pad(middle[1], (0, width - len(cell))))
            kept.append(middle[2])
            idle.append(float(np.mean(np.isneginf(cell[~np.isnan(cell)]))))
    influence = np.array(parts).reshape(len(rungs), width)
    covariance = influence @ influence.T + MODEL_ERROR**2 * np.eye(len(rungs))
    return Centres(rungs, np.array(y), covariance, kept, slack, idle)


def tail_centres(cells: list[np.ndarray], allowed: tuple[float, ...]) -> Centres:
    """The constants needed with each of several failure probabilities, of one cell, with bootstrap covariance.

    `cells`: the log needed constants of the same draws at each probability.
    """
    together = np.array(cells)
    together = together[:, ~np.any(np.isnan(together), axis=0)]
    count = together.shape[1]
    if count < FEWEST:
        return Centres([], np.array([]), np.empty((0, 0)), [], [], [])
    places = [count - 1 - int(p * count) for p in allowed]
    y = np.sort(together, axis=1)[range(len(places)), places]
    kept = [k for k, value in enumerate(y) if np.isfinite(value)]
    slack = [k for k, value in enumerate(y) if np.isneginf(value)]
    rng = np.random.default_rng(0)
    samples = np.empty((BOOTSTRAPS, len(kept)))
    for b in range(BOOTSTRAPS):
        drawn = together[:, rng.integers(count, size=count)]
        for column, k in enumerate(kept):
            samples[b, column] = np.partition(drawn[k], places[k])[places[k]]
    samples = np.where(np.isfinite(samples), samples, y[kept])
    covariance = np.cov(samples, rowvar=False).reshape(len(kept), len(kept)) + MODEL_ERROR**2 * np.eye(
        len(kept)
    )
    return Centres(kept, y[kept], covariance, [count] * len(kept), slack, [0.0] * len(kept))


def _upper_quartile(cell: np.ndarray) -> float:
    valid = np.sort(cell[~np.isnan(cell)])
    return float(valid[int((1 - TRIM) * len(valid))]) if len(valid) >= FEWEST else float("nan")


def _trimmed(cell: np.ndarray) -> tuple[float, np.ndarray, int] | None:
    """(trimmed mean, contribution of each draw to its error, draws kept); None where the middle is not finite."""
    valid = ~np.isnan(cell)
    ordered = np.sort(cell[valid])
    cut = int(TRIM * len(ordered))
    middle = ordered[cut : len(ordered) - cut]
    if len(ordered) < FEWEST or not np.all(np.isfinite(middle)):
        return None
    winsorised = np.clip(cell, middle[0], middle[-1])
    deviations = np.where(valid, winsorised - np.mean(winsorised[valid]), 0.0)
    return float(np.mean(middle)), deviations / np.sqrt(len(middle) * (len(middle) - 1)), len(middle)
