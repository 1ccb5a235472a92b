"""The data-dependent construction: each factor in turn by least squares (Appendix B.2.5, equations 17 and 18)."""

from __future__ import annotations

import numpy as np


def features(keys: np.ndarray, A: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Phi(A, G) = (K A^T) * (K G^T), n x m (without 1/sqrt m)."""
    return (keys @ A.T) * (keys @ G.T)


def raw_readout(codes: np.ndarray, Phi: np.ndarray) -> np.ndarray:
    """B_0 = C_f^T Phi / n, d_c x m."""
    return codes.T @ Phi / len(codes)


def objective(codes: np.ndarray, keys: np.ndarray, A: np.ndarray, G: np.ndarray, B: np.ndarray) -> float:
    """||C_f - Phi(A, G) B^T||_F^2."""
    return float(np.sum((codes - features(keys, A, G) @ B.T) ** 2))


def best_factor(codes: np.ndarray, keys: np.ndarray, held: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The factor (m x d) of least norm that minimises the objective with the other factor and B held.

    Row (i, c) of the system reads sum_r B_cr <held_r, k_i> <free_r, k_i> = C_ic.
    """
    n, d = keys.shape
    m, outputs = len(held), len(B)
    gates = keys @ held.T
    system = np.einsum("cr,ir,ij->icrj", B, gates, keys).reshape(n * outputs, m * d)
    return np.linalg.lstsq(system, codes.ravel(), rcond=None)[0].reshape(m, d)


def ridge_readout(codes: np.ndarray, Phi: np.ndarray, ridge: float) -> np.ndarray:
    """B_0 (Phi^T Phi / n + ridge I)^-1, d_c x m (equation 13), as the ridge regression that it solves."""
    n, m = Phi.shape
    system = np.vstack([Phi / np.sqrt(n), np.sqrt(ridge) * np.eye(m)])
    targets = np.vstack([codes / np.sqrt(n), np.zeros((m, codes.shape[1]))])
    return np.linalg.lstsq(system, targets, rcond=None)[0].T
