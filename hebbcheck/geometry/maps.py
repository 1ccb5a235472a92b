"""Maps from facts to values."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from hypothesis import strategies as st

from ..arrays import Streams

MAPPINGS = ("permutation", "identity", "worst", "any")


def drawn_map(
    mapping: str, streams: Streams, gram: Callable[[], np.ndarray], values: np.ndarray, F: int
) -> np.ndarray:
    """(F,) indices of values.  `gram()`: the F x F kernel that the worst map is chosen against."""
    if mapping == "identity":
        return np.arange(F)
    if mapping == "permutation":
        return streams("mapping").permutation(F)
    if mapping == "any":
        return streams("mapping").integers(0, len(values), F)
    return worst_map(gram(), values)


@cache
def attacked_map(mapping: str, F: int, values: int) -> st.SearchStrategy[list[int]]:
    """Permutations of F values, or any maps from F facts to that many values, for Hypothesis to search."""
    if mapping == "permutation":
        return st.permutations(range(F))
    return st.lists(st.integers(0, values - 1), min_size=F, max_size=F)


def worst_map(K: np.ndarray, values: np.ndarray) -> np.ndarray:
    """A permutation chosen against a kernel K (F x F) and values (F x d): one pair's most negative cross-talk.

    By the rearrangement inequality: for the key i with the largest column energy, and the pair of values (a, b) that
    are furthest apart, the others are matched in opposite orders of K_ti and <v_a - v_b, v_t>.
    """
    F = len(K)
    if F < 3:
        return np.arange(F)
    i = int(np.argmax(np.sum(K**2, axis=0) - np.diag(K) ** 2))
    gram = values @ values.T
    distances = np.diag(gram)[:, None] + np.diag(gram)[None, :] - 2 * gram
    a, b = np.unravel_index(int(np.argmax(distances)), distances.shape)
    alignment = gram[a] - gram[b]
    others = np.delete(np.arange(F), i)
    remaining = np.delete(np.arange(F), a)
    mapping = np.empty(F, dtype=np.int64)
    mapping[i] = a
    mapping[others[np.argsort(-K[others, i], kind="stable")]] = remaining[
        np.argsort(alignment[remaining], kind="stable")
    ]
    return mapping


def without_values(mapping: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The map after some values (indices that it does not use) were left out."""
    return mapping - np.searchsorted(np.sort(values), mapping)
