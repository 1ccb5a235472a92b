"""Constants by least squares and as bounds, R^2, exponents, and intervals.

A curve fitted to measurements answers one of three questions, and each has its function here: `as_fitted`
(all constants free), `as_stated` (the constants that the theorem fixes stay fixed) and `as_bound` (the
smallest constants for which the curve lies on the right side).  Everything is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, stats

from .errors import HebbcheckError

Form = Callable[[Mapping[str, Any]], Any]
"""constants -> prediction at every point.  A constant is a number, or an array with one value a point."""

SEARCH_SCALES = (1.0, 1e-3, 1e3, 1e6)
"""Searches start from the constants' starting values times each of these; the best fit counts."""
RANK_TOLERANCE = 1e-6
"""Directions of the constants that change the curve by less, relative to others, are not identified."""
TAKES_PART = 0.1
"""The smallest weight with which a constant belongs to a direction that is not identified."""
SAME_CURVE = 1e-9
"""Fits whose R^2 differ by no more than this are the same curve."""
LEAST, LARGEST = 1e-12, 1e12
"""Where constants are searched, unless they say otherwise."""


@dataclass(frozen=True)
class Constant:
    """A constant of a form: its range, where searches start, and the value that the theorem states, if any.

    `logarithmic`: searched on a logarithmic scale (needs low > 0).
    """

    name: str
    low: float = 0.0
    high: float = LARGEST
    start: float = 1.0
    stated: float | None = None
    logarithmic: bool = False


@dataclass(frozen=True)
class Fit:
    """A curve fitted to points: constants, prediction, R^2, and the share of the points that it lies above.

    `confounded`: groups of constants that the points do not identify separately (a group of one has no
    influence).
    """

    constants: dict[str, float]
    predicted: np.ndarray
    r2: float
    share_above: float
    confounded: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Bound:
    """A curve as a bound.  `value`: the smallest common value of the open constants (inf: none is enough).

    `needed`: the value that each point needs; `held`: the share of points on the right side; `mean_gap`: the
    mean distance to the points; `held_out`: constants from the calibration points, the share of the others
    that holds.
    """

    value: float
    constants: dict[str, float]
    predicted: np.ndarray
    needed: np.ndarray
    held: float
    mean_gap: float
    held_out: float


class Interval(NamedTuple):
    value: float
    low: float
    high: float


def r_squared(measured: Any, predicted: Any, weights: Any = None) -> float:
    """1 - (weighted) residual sum of squares over that about the (weighted) mean; NaN for equal measurements."""
    measured, predicted = np.asarray(measured, dtype=float), np.asarray(predicted, dtype=float)
    weights = np.ones_like(measured) if weights is None else np.asarray(weights, dtype=float)
    spread = weights @ (measured - np.average(measured, weights=weights)) ** 2
    return float(1 - weights @ (measured - predicted) ** 2 / spread) if spread > 0 else float("nan")


def as_fitted(form: Form, constants: Sequence[Constant], measured: Any, weights: Any = None) -> Fit:
    """The form with all its constants free in their ranges: least squares, weighted where weights are given.

    Of constants that the points do not identify separately, the last one gets its starting value.
    """
    measured = _finite("measurements", measured)
    root = np.ones_like(measured) if weights is None else np.sqrt(_finite("weights", weights))
    low, high = ([_to_search(c, getattr(c, end)) for c in constants] for end in ("low", "high"))

    def residuals(x: np.ndarray) -> np.ndarray:
        return root * (_predict(form, _from_search(constants, x), measured) - measured)

    best: Any = None
    for scale in SEARCH_SCALES if constants else ():
        start = np.array([_to_search(c, np.clip(c.start * scale, c.low, c.high)) for c in constants])
        if not np.all(np.isfinite(residuals(start))):
            continue
        found = optimize.least_squares(
            residuals,
            start,
            bounds=(low, high),
            x_scale="jac",
            ftol=1e-14,
            xtol=1e-12,
            gtol=1e-14,
            max_nfev=400,
        )
        best = found if best is None or found.cost < best.cost * (1 - 1e-9) else best
    if constants and best is None:
        raise HebbcheckError(
            "the form is not finite wherever the search starts; finite predictions are needed"
        )
    values = _from_search(constants, best.x) if constants else {}
    fit = _fit(form, values, measured, weights, confounded(form, values))
    return _settled(fit, form, constants, measured, weights)


def as_stated(
    form: Form,
    constants: Sequence[Constant],
    measured: Any,
    given: Mapping[str, float] | None = None,
    weights: Any = None,
) -> Fit:
    """The form with the stated constants, and those of `given`, held at their values; the rest is fitted."""
    held = _stated(constants) | dict(given or {})
    free = [c for c in constants if c.name not in held]
    fit = as_fitted(lambda values: form({**held, **values}), free, measured, weights)
    return Fit({**held, **fit.constants}, fit.predicted, fit.r2, fit.share_above, fit.confounded)


def as_bound(
    form: Form,
    constants: Sequence[Constant],
    measured: Any,
    *,
    side: str = "below",
    share: float = 1.0,
    calibration: Any = None,
) -> Bound:
    """The smallest common value of the open constants with which the curve is a bound on the points.

    The constants that the theorem states keep their values.  `side`: "below" (a lower bound) or "above";
    raising the open constants must move the curve that way.  `share`: of the points that must hold.
    `calibration`: a mask of the points that calibrate the held-out test (default: every other one).
    """
    measured = _finite("measurements", measured)
    held = _stated(constants)
    open_names = [c.name for c in constants if c.name not in held]
    sign = {"below": 1.0, "above": -1.0}[side]

    def predict(common: Any) -> np.ndarray:
        return _predict(form, {**held, **dict.fromkeys(open_names, common)}, measured)

    needed = _needed(lambda common: sign * (measured - predict(common)), measured.shape, bool(open_names))
    value = _cover(needed, share)
    predicted = predict(value if np.isfinite(value) else LARGEST)
    mask = np.arange(measured.size) % 2 == 0 if calibration is None else np.asarray(calibration, dtype=bool)
    if mask.all() or not mask.any():
        raise HebbcheckError(
            "the held-out test has points on one side only; calibration must mark some, not all"
        )
    return Bound(
        value=value,
        constants={**held, **dict.fromkeys(open_names, value)},
        predicted=predicted,
        needed=needed,
        held=float(np.mean(needed <= value)) if np.isfinite(value) else float(np.mean(np.isfinite(needed))),
        mean_gap=float(np.mean(sign * (measured - predicted))),
        held_out=float(np.mean(needed[~mask] <= _cover(needed[mask], share))),
    )


def confounded(form: Form, values: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    """The groups of constants that cannot be told apart at these values, from the null space of the Jacobian.

    Columns are relative changes (absolute ones at 0), scaled to a common length.
    """
    names = list(values)
    columns = [_derivative(form, values, name) for name in names]
    lengths = [float(np.linalg.norm(column)) for column in columns]
    longest = max(lengths, default=0.0)
    idle = [
        (name,) for name, length in zip(names, lengths, strict=True) if length <= RANK_TOLERANCE * longest
    ]
    active = [i for i, length in enumerate(lengths) if length > RANK_TOLERANCE * longest]
    if len(active) < 2:
        return tuple(idle)
    matrix = np.stack([columns[i] / lengths[i] for i in active], axis=1)
    _, singular, right = np.linalg.svd(matrix, full_matrices=True)
    singular = np.pad(singular, (0, len(active) - len(singular)))
    groups = []
    for direction in right[singular <= RANK_TOLERANCE * singular[0]]:
        groups.append(
            tuple(names[i] for i, weight in zip(active, direction, strict=True) if abs(weight) > TAKES_PART)
        )
    return (*idle, *groups)


def exponent(size: Any, measured: Any, weights: Any = None, level: float = 0.05) -> Interval:
    """The slope of log measured against log size by least squares, with its 1 - level confidence interval.

    For positive numbers, at least three of them.  `weights`: inverse variances of log measured, up to a
    factor.
    """
    x, y = np.log(_positive("sizes", size)), np.log(_positive("measurements", measured))
    if x.size < 3 or np.ptp(x) == 0:
        raise HebbcheckError(f"an exponent needs three points at different sizes; got {x.size}")
    from statsmodels.regression.linear_model import WLS  # takes seconds to import

    fit = WLS(y, np.stack([np.ones_like(x), x], axis=1), 1.0 if weights is None else weights).fit()
    low, high = fit.conf_int(alpha=level)[1]
    return Interval(float(fit.params[1]), float(low), float(high))


def student(samples: Any, level: float = 0.05) -> Interval:
    """The mean of independent samples with its two-sided 1 - level Student t interval (infinite for one)."""
    samples = _finite("samples", samples)
    mean = float(np.mean(samples))
    if samples.size < 2:
        return Interval(mean, -np.inf, np.inf)
    half = float(stats.t.isf(level / 2, samples.size - 1) * np.std(samples, ddof=1) / np.sqrt(samples.size))
    return Interval(mean, mean - half, mean + half)


def _needed(slack: Callable[[Any], np.ndarray], shape: tuple[int, ...], open_constants: bool) -> np.ndarray:
    """The smallest common constant that each point needs for a slack of 0 or more: bisection, all at once."""
    holds_at_zero = slack(0.0) >= 0
    if not open_constants:
        return np.where(holds_at_zero, 0.0, np.inf)
    low, high = np.full(shape, np.log(LEAST)), np.full(shape, np.log(LARGEST))
    holds_at_last = slack(np.exp(high)) >= 0
    for _ in range(80):
        middle = (low + high) / 2
        holds = slack(np.exp(middle)) >= 0
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return np.where(holds_at_zero, 0.0, np.where(holds_at_last, np.exp(high), np.inf))


def _cover(needed: np.ndarray, share: float) -> float:
    """The smallest of the values that is at least as large as a share of them."""
    if not 0 < share <= 1:
        raise HebbcheckError(f"share={share!r} is no share of points; a number above 0 and up to 1 is needed")
    count = int(np.ceil(share * needed.size - 1e-9))
    return float(np.sort(needed)[max(count, 1) - 1])


def _settled(fit: Fit, form: Form, constants: Sequence[Constant], measured: np.ndarray, weights: Any) -> Fit:
    """The fit with a confounded constant at its starting value, where the curve stays the same."""
    for group in fit.confounded:
        if len(group) < 2:
            continue
        held = {c.name: c.start for c in constants if c.name == group[-1]}
        rest = as_stated(form, [replace(c, stated=None) for c in constants], measured, held, weights)
        if rest.r2 >= fit.r2 - SAME_CURVE:
            values = {c.name: rest.constants[c.name] for c in constants}
            return replace(rest, constants=values, confounded=fit.confounded)
    return fit


def _fit(form: Form, values: dict[str, float], measured: np.ndarray, weights: Any, groups: Any) -> Fit:
    predicted = _predict(form, values, measured)
    return Fit(
        values,
        predicted,
        r_squared(measured, predicted, weights),
        float(np.mean(predicted > measured)),
        groups,
    )


def _stated(constants: Sequence[Constant]) -> dict[str, float]:
    return {c.name: c.stated for c in constants if c.stated is not None}


def _predict(form: Form, values: Mapping[str, Any], measured: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.asarray(form(values), dtype=float), measured.shape)


def _derivative(form: Form, values: Mapping[str, float], name: str) -> np.ndarray:
    step = 1e-4 * (abs(values[name]) or 1.0)
    up, down = ({**values, name: values[name] + sign * step} for sign in (1, -1))
    return np.atleast_1d(np.asarray(form(up), dtype=float) - np.asarray(form(down), dtype=float)) / 2e-4


def _to_search(constant: Constant, value: float) -> float:
    return float(np.log(value)) if constant.logarithmic else float(value)


def _from_search(constants: Sequence[Constant], x: np.ndarray) -> dict[str, float]:
    return {c.name: float(np.exp(v) if c.logarithmic else v) for c, v in zip(constants, x, strict=True)}


def _finite(what: str, values: Any) -> np.ndarray:
    values = np.asarray(values, dtype=float)
    if values.size == 0 or not np.all(np.isfinite(values)):
        raise HebbcheckError(
            f"the {what} are empty or not all finite; a fit needs finite numbers; leave others out"
        )
    return values


def _positive(what: str, values: Any) -> np.ndarray:
    values = _finite(what, values)
    if np.any(values <= 0):
        raise HebbcheckError(f"the {what} are not all positive; logarithms and ratios need positive numbers")
    return values
