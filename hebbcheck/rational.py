"""Exact linear algebra over the rationals: object arrays of Fraction, elimination by python-flint."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np


def from_array(array: np.ndarray) -> np.ndarray:
    """A float array as an object array of the fractions that its entries are."""
    array = np.asarray(array)
    entries = [Fraction(float(v)) for v in array.ravel()]
    return np.array(entries, dtype=object).reshape(array.shape)


def rank(matrix: np.ndarray) -> int:
    """The exact rank of an object array of fractions."""
    return _to_flint(matrix).rank() if matrix.size else 0


def pseudoinverse(symmetric: np.ndarray, spanning: np.ndarray) -> np.ndarray:
    """The Moore-Penrose inverse of a symmetric m x m matrix whose range is spanned by the columns of `spanning`.

    With C a basis among those columns, S^+ = C (C^T S C)^(-1) C^T.
    """
    chosen = _independent_columns(spanning)
    if not chosen:
        return np.full(symmetric.shape, Fraction(0), dtype=object)
    C = spanning[:, chosen]
    inner = _to_flint(C.T @ symmetric @ C).inv()
    return C @ _from_flint(inner) @ C.T


def _independent_columns(matrix: np.ndarray) -> list[int]:
    """The pivot columns of the reduced row echelon form."""
    reduced, found = _to_flint(matrix).rref()
    pivots, row = [], 0
    for column in range(matrix.shape[1]):
        if row < found and reduced[row, column] != 0:
            pivots.append(column)
            row += 1
    return pivots


def _to_flint(matrix: np.ndarray) -> flint.fmpq_mat:
    entries = [flint.fmpq(v.numerator, v.denominator) for v in matrix.ravel()]
    return flint.fmpq_mat(*matrix.shape, entries)


def _from_flint(matrix: flint.fmpq_mat) -> np.ndarray:
    entries = [Fraction(int(v.p), int(v.q)) for v in matrix.entries()]
    return np.array(entries, dtype=object).reshape(matrix.nrows(), matrix.ncols())
