"""Linear least squares with a matrix of unknowns, given as an operator, on any array library."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import array_api_compat
import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .arrays import alike, to_host
from .errors import HebbcheckError

SHIFTS = (1e-13, 1e-11, 1e-9, 1e-7)
"""tau of `by_cholesky`, relative to the largest diagonal entry: the first that suffices."""
ROUNDS = 200
Operator = Callable[[Any], Any]


@dataclass(frozen=True)
class Solution:
    """The unknowns, with ||M^T (c - M x)|| / ||M^T c|| as measured at them, and the iterations that they took."""

    x: Any
    residual: float
    iterations: int


def pseudo_inverse(matrix: Any) -> Any:
    """The Moore-Penrose inverse; singular values below eps times the longer side times the largest count as zero.

    Where the library's own decomposition does not converge (torch's may not, where singular values repeat), numpy's in
    float64 serves.  Of a matrix that is not finite all entries are NaN.
    """
    xp = array_api_compat.array_namespace(matrix)
    if not bool(xp.all(xp.isfinite(matrix))):
        return xp.full_like(matrix.T, xp.nan)
    try:
        return xp.linalg.pinv(matrix)
    except Exception as error:
        if not type(error).__name__.endswith("LinAlgError"):  # each library has one of its own
            raise
    cut = max(matrix.shape) * float(xp.finfo(matrix.dtype).eps)
    return alike(np.linalg.pinv(to_host(matrix).astype(np.float64), rtol=cut), matrix)


def minimum_norm(
    forward: Operator, adjoint: Operator, target: Any, *, tolerance: float, iterations: int
) -> Solution:
    """Of the minimisers of ||c - M x||_F the one of smallest norm, by LSMR from zero (Fong and Saunders 2011).

    `forward` is x -> M x, `adjoint` is y -> M^T y, `target` is c.  Each iteration applies both once; their number
    grows with the condition number of M.  Every iterate lies in the range of M^T, hence the smallest norm.  The
    residual of the normal equations is measured, and where rounding kept it above `tolerance` the rest is solved for
    once more; the iterations of all rounds together are at most `iterations`.
    """
    gradient = adjoint(target)
    scale, x, spent, measured = _norm(gradient), gradient * 0, 0, 1.0
    if scale == 0:
        return Solution(x, 0.0, 0)
    rest = target
    while spent < iterations and measured > tolerance:
        step, count = _lsmr(forward, adjoint, rest, tolerance * scale, iterations - spent)
        x, spent = x + step, spent + count
        rest = target - forward(x)
        before, measured = measured, _norm(adjoint(rest)) / scale
        if measured > before / 2:
            break
    return Solution(x, measured, spent)


def by_cholesky(
    gram: Any, forward: Operator, adjoint: Operator, target: Any, *, dual: bool, tolerance: float
) -> Solution:
    """The same from the Gram matrix, M^T M or (`dual`) M M^T of the flattened unknowns: for ill-conditioned problems.

    Iterated Tikhonov: x grows by M^T (M M^T + tau)^(-1) (c - M x) = (M^T M + tau)^(-1) M^T (c - M x), tau of the size
    of rounding, so that it stays in the range of M^T.  The dual form is accurate where c is in the range of M.
    A Gram matrix of n rows costs n^3 / 3 operations.
    """
    xp, solve = array_api_compat.array_namespace(gram), _nearly(gram)

    def step(rest: Any) -> Any:
        known = rest if dual else adjoint(rest)
        grown = xp.reshape(solve(xp.reshape(known, (-1,))), known.shape)
        return adjoint(grown) if dual else grown

    found = measured(step(target), forward, adjoint, target, 0)
    for _ in range(ROUNDS):
        if found.residual <= tolerance:
            break
        better = measured(found.x + step(target - forward(found.x)), forward, adjoint, target, 0)
        if better.residual >= found.residual:
            break
        found = better
    return found


def _nearly(gram: Any) -> Operator:
    """y -> (gram + tau)^(-1) y with the first tau that makes it positive definite in floating point."""
    xp, size = array_api_compat.array_namespace(gram), gram.shape[0]
    largest = float(xp.max(xp.linalg.diagonal(gram))) or 1.0
    eye = xp.eye(size, dtype=gram.dtype, device=array_api_compat.device(gram))
    if not array_api_compat.is_numpy_array(gram):
        inverse = xp.linalg.inv(gram + SHIFTS[0] * largest * eye)
        return lambda y: inverse @ y
    for shift in SHIFTS:
        try:
            factor = cho_factor(
                gram + shift * largest * eye, lower=True, overwrite_a=True, check_finite=False
            )
        except np.linalg.LinAlgError:
            continue
        return lambda y, factor=factor: cho_solve(factor, y, check_finite=False)  # type: ignore[misc]
    raise HebbcheckError(
        "a Gram matrix is not positive semidefinite; that of real numbers is needed; check them"
    )


def measured(x: Any, forward: Operator, adjoint: Operator, target: Any, iterations: int) -> Solution:
    """Unknowns that were found in any way, with the residual of their normal equations."""
    scale = _norm(adjoint(target))
    return Solution(x, _norm(adjoint(target - forward(x))) / scale if scale else 0.0, iterations)


def _lsmr(forward: Operator, adjoint: Operator, target: Any, goal: float, iterations: int) -> tuple[Any, int]:
    """(x, iterations): LSMR until the norm of M^T (c - M x) is `goal` by its recurrence."""
    u, beta = _unit(target)
    v, alpha = _unit(adjoint(u))
    x, h, h_bar = v * 0, v, v * 0
    zeta_bar, alpha_bar = alpha * beta, alpha
    rho = rho_bar = c_bar = 1.0
    s_bar = 0.0
    for count in range(1, iterations + 1):
        u, beta = _unit(forward(v) - alpha * u)
        v, alpha = _unit(adjoint(u) - beta * v)
        rho_old, rho_bar_old = rho, rho_bar
        rho = math.hypot(alpha_bar, beta)
        theta, theta_bar = beta / rho * alpha, s_bar * rho
        alpha_bar = alpha_bar / rho * alpha
        turned = c_bar * rho
        rho_bar = math.hypot(turned, theta)
        c_bar, s_bar = turned / rho_bar, theta / rho_bar
        zeta, zeta_bar = c_bar * zeta_bar, -s_bar * zeta_bar
        h_bar = h - h_bar * (theta_bar * rho / (rho_old * rho_bar_old))
        x = x + (zeta / (rho * rho_bar)) * h_bar
        h = v - (theta / rho) * h
        if abs(zeta_bar) <= goal:
            return x, count
    return x, iterations


def _unit(array: Any) -> tuple[Any, float]:
    """The array divided by its norm, and its norm; zero stays zero."""
    norm = _norm(array)
    return (array / norm if norm > 0 else array), norm


def _norm(array: Any) -> float:
    """The Frobenius norm."""
    xp = array_api_compat.array_namespace(array)
    return math.sqrt(float(xp.sum(array * array)))
