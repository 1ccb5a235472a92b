"""Exact linear algebra over the rationals: object arrays of Fraction, products and elimination by python-flint."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np


def from_array(array: np.ndarray) -> np.ndarray:
    """The object array of the fractions that an array's entries (floats or ints) are."""
    array = np.asarray(array)
    exact = np.empty(array.size, dtype=object)
    exact[:] = [Fraction(entry) for entry in array.ravel().tolist()]
    return exact.reshape(array.shape)


def product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The matrix product of object arrays: by flint where both hold fractions alone."""
    return _from_flint(_to_flint(A) * _to_flint(B)) if all_fractions(A) and all_fractions(B) else A @ B


def all_fractions(array: np.ndarray) -> bool:
    """Whether every entry is a Fraction."""
    return all(isinstance(entry, Fraction) for entry in array.ravel().tolist())


def rank(matrix: np.ndarray) -> int:
    """The exact rank of an object array of fractions."""
    return _to_flint(matrix).rank() if matrix.size else 0


def pseudoinverse(symmetric: np.ndarray, spanning: np.ndarray) -> np.ndarray:
    """The Moore-Penrose inverse of a symmetric m x m matrix whose range is spanned by the columns of `spanning`.

    With C a basis among those columns, S^+ = C (C^T S C)^(-1) C^T.
    """
    columns = _to_flint(spanning)
    chosen = _pivots(columns)
    if not chosen:
        return np.full(symmetric.shape, Fraction(0), dtype=object)
    C = _to_flint(spanning[:, chosen])
    inner = C.transpose() * _to_flint(symmetric) * C
    return _from_flint(C * inner.inv() * C.transpose())


def _pivots(matrix: flint.fmpq_mat) -> list[int]:
    """The pivot columns of the reduced row echelon form."""
    reduced, found = matrix.rref()
    pivots: list[int] = []
    for column in range(matrix.ncols()):
        if len(pivots) < found and reduced[len(pivots), column] != 0:
            pivots.append(column)
    return pivots


def _to_flint(matrix: np.ndarray) -> flint.fmpq_mat:
    entries = [flint.fmpq(v.numerator, v.denominator) for v in matrix.ravel().tolist()]
    return flint.fmpq_mat(matrix.shape[0], matrix.shape[1], entries)


def _from_flint(matrix: flint.fmpq_mat) -> np.ndarray:
    exact = np.empty(matrix.nrows() * matrix.ncols(), dtype=object)
    exact[:] = [Fraction(int(v.p), int(v.q)) for v in matrix.entries()]
    return exact.reshape(matrix.nrows(), matrix.ncols())
