"""The first width that stores all facts, of memories whose hidden units are the same at every width."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import to_host
from .construction import FactTable
from .units import Units


@dataclass(frozen=True)
class First:
    """The smallest width that stores all facts (None: none does), the widths judged, and the units computed.

    `judged`: width -> whether it stores all facts.
    """

    width: int | None
    judged: dict[int, bool]
    units: int


def first_storing(
    units: Units,
    facts: FactTable,
    widest: int,
    further: int = 0,
    confirmed: Callable[[int], bool] = lambda m: True,
    blocks: tuple[int, int] = (32, 1024),
) -> First:
    """The smallest width up to `widest` that stores all facts, and whether the `further` next ones do.

    A pair of a fact and a competitor whose margin is not positive rules a width out, and a pair's margin at every width
    is one running sum: so each width that is judged yields pairs that rule out many more, and only widths that none of
    the known pairs rules out are judged.  Nothing is assumed of widths in between.  O(F m (d + d_v)) operations for all
    widths up to the answer m, and 2 F |V| d_v for each that is judged.  `confirmed`: whether the memory as it is built
    stores them too, which rounding may prevent where a margin is nearly zero.
    """
    known, done = Witnesses(facts), 0
    judged: dict[int, bool] = {}
    outputs = facts.codes * 0
    while done < widest:
        count = min(max(blocks[0], min(done // 4, blocks[1])), widest - done)
        Phi, B = units.take(count)
        if Phi.shape[1] == 0:
            break
        ruled_out = known.rule_out(outputs, Phi, B)
        while not ruled_out.all():
            r = int(np.argmin(ruled_out))
            reached = outputs + Phi[:, : r + 1] @ B[: r + 1, :]
            found, m = known.learn(reached), done + r + 1
            judged[m] = not found and confirmed(m)
            if judged[m]:
                taken = done + Phi.shape[1]
                later, more = _later(
                    units, known, reached, (Phi[:, r + 1 :], B[r + 1 :, :]), min(further, widest - m)
                )
                judged |= {m + k: stored for k, stored in enumerate(later, 1)}
                return First(m, judged, taken + more)
            if found:
                ruled_out |= known.rule_out(outputs, Phi, B, newest=found)
            ruled_out[r] = True
        outputs = outputs + Phi @ B
        done += Phi.shape[1]
    return First(None, judged, done)


def _later(
    units: Units, known: Witnesses, outputs: Any, left: tuple[Any, Any], count: int
) -> tuple[list[bool], int]:
    """Whether the next `count` widths store all facts, and how many units they took beyond those `left`."""
    (Phi, B), stored = left, []
    taken = 0
    for _ in range(count):
        if Phi.shape[1] == 0:
            Phi, B = units.take(1)
            taken += Phi.shape[1]
        if Phi.shape[1] == 0:  # no further unit changes anything
            stored.append(True)
            continue
        outputs = outputs + Phi[:, :1] @ B[:1, :]
        Phi, B = Phi[:, 1:], B[1:, :]
        stored.append(not known.learn(outputs))
    return stored, taken


class Witnesses:
    """Pairs (fact, competitor) that kept widths from storing."""

    LEARNT, KEPT = 48, 192

    def __init__(self, facts: FactTable) -> None:
        self._facts = facts
        self._pairs = np.zeros((0, 2), dtype=np.int64)

    def learn(self, outputs: Any) -> int:
        """The number of new pairs (the worst) at these outputs: none where all facts are stored."""
        facts = self._facts
        rows = np.arange(facts.F)
        scores = np.array(to_host(outputs @ facts.values.T))
        own = scores[rows, facts.map].copy()
        scores[rows, facts.map] = -np.inf
        rivals = scores.argmax(axis=1)
        margins = own - scores[rows, rivals]
        if np.all(margins > 0):
            return 0
        worst = np.argsort(margins, kind="stable")[: self.LEARNT]
        worst = worst[~(margins[worst] > 0)]
        new = np.stack([worst, rivals[worst]], axis=1)
        self._pairs = np.concatenate([new, self._pairs])[: self.KEPT]
        return len(new)

    def rule_out(self, outputs: Any, Phi: Any, B: Any, newest: int | None = None) -> np.ndarray:
        """Which of the next widths, outputs + Phi[:, :r] B[:r] with r = 1, 2, ..., a pair keeps from storing."""
        pairs = self._pairs[:newest]
        if not len(pairs):
            return np.zeros(Phi.shape[1], dtype=bool)
        xp = self._facts.xp
        facts, rivals = (self._facts.index(column) for column in pairs.T)
        apart = xp.take(self._facts.codes, facts, axis=0) - xp.take(self._facts.values, rivals, axis=0)
        steps = to_host(xp.take(Phi, facts, axis=0) * (apart @ B.T))
        before = to_host(xp.sum(xp.take(outputs, facts, axis=0) * apart, axis=1))
        return np.any(~(before[:, None] + np.cumsum(steps, axis=1) > 0), axis=0)
