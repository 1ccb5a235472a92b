"""Linear algebra with a proof: enclosures of norms and inverses of matrices of fractions and balls."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..functions import max, sqrt, sum
from . import balls, rational
from .balls import Ball


def operator_norm(S: np.ndarray) -> Ball:
    """The largest |eigenvalue| of a symmetric d x d matrix of balls or fractions.

    With approximate eigenpairs (Q, D) in floating point: a Rayleigh quotient bounds it from below, and
    ||Q||^2 max|D| + ||S - Q D Q^T||_F with ||Q||^2 <= 1 + ||Q^T Q - I||_F from above.
    """
    eigenvalues, Q = np.linalg.eigh(midpoints(S))
    leading = int(np.argmax(np.abs(eigenvalues)))
    Q, D = balls.from_array(Q), balls.from_array(eigenvalues)
    q = Q[:, leading]
    lower = abs(q @ S @ q) / (q @ q)
    stretch = 1 + _frobenius(Q.T @ Q - np.eye(len(S), dtype=int).astype(object))
    upper = stretch * abs(D[leading]) + _frobenius(S - (Q * D) @ Q.T)
    return Ball.between(lower, max(lower, upper))


def pseudoinverse_of_gram(P: np.ndarray) -> np.ndarray:
    """(P^T P)^+ (m x m) for P (F x m): in fractions for fractions.

    For balls P must have full rank: balls cannot tell a rank that is not.  Raises Undecided where it may not have.
    """
    if rational.all_fractions(P):
        return rational.pseudoinverse(rational.product(P.T, P), P.T)
    F, m = P.shape
    if m <= F:
        return balls.solve(P.T @ P, np.eye(m, dtype=int))
    half = balls.solve(P @ P.T, P)
    return half.T @ half


def _frobenius(M: np.ndarray) -> Any:
    return sqrt(sum(M * M))


def midpoints(S: np.ndarray) -> np.ndarray:
    """The nearest floats of an array of balls and fractions."""
    mids = [entry.mid if isinstance(entry, Ball) else float(entry) for entry in S.ravel().tolist()]
    return np.array(mids).reshape(S.shape)
