"""What outputs decode to: margins and stored facts, blockwise on any array library (Definitions 2.1 and 2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import array_api_compat
import numpy as np

SCORES = 1 << 24
"""The most scores that are held at once."""


def margins(outputs: Any, values: Any, mapping: np.ndarray) -> Any:
    """F x (|V| - 1): <v_f(i) - v_j, o_i> for outputs F x d_v, values |V| x d_v and a map (F,).

    The competitors j != f(i) are in increasing order.
    """
    xp, count = array_api_compat.array_namespace(outputs, values), values.shape[0]
    scores = xp.matmul(outputs, values.T)
    own = _own(scores, mapping)
    competitors = np.arange(count - 1)[None, :] + (np.arange(count - 1)[None, :] >= mapping[:, None])
    flat = competitors + count * np.arange(len(mapping))[:, None]
    theirs = xp.reshape(xp.take(xp.reshape(scores, (-1,)), _index(flat, scores), axis=0), competitors.shape)
    return own[:, None] - theirs


def stored(outputs: Any, values: Any, mapping: np.ndarray) -> int:
    """How many facts are decoded strictly: their own value's score is above every other one."""
    xp = array_api_compat.array_namespace(outputs, values)
    return sum(
        int(xp.sum(xp.astype(xp.sum(xp.astype(scores >= own[:, None], xp.int64), axis=1) == 1, xp.int64)))
        for scores, own in _blocks(outputs, values, mapping)
    )


def _blocks(outputs: Any, values: Any, mapping: np.ndarray) -> Iterator[tuple[Any, Any]]:
    """Scores of consecutive facts (rows x |V|) with their own values' scores (rows,)."""
    xp = array_api_compat.array_namespace(outputs, values)
    rows = max(1, SCORES // values.shape[0])
    for start in range(0, len(mapping), rows):
        stop = min(start + rows, len(mapping))
        scores = xp.matmul(outputs[start:stop, :], values.T)
        yield scores, _own(scores, mapping[start:stop])


def _own(scores: Any, mapping: np.ndarray) -> Any:
    xp, count = array_api_compat.array_namespace(scores), scores.shape[1]
    flat = mapping + count * np.arange(len(mapping))
    return xp.take(xp.reshape(scores, (-1,)), _index(flat, scores), axis=0)


def _index(flat: np.ndarray, beside: Any) -> Any:
    xp = array_api_compat.array_namespace(beside)
    return xp.asarray(flat.ravel().astype(np.int64), device=array_api_compat.device(beside))
