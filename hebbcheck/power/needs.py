"""The constant that draws need, up ladders of growing sizes, by bisection: no more is asked than whether it grows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Streams
from ..claim import Claim
from ..evaluation import evaluate
from ..judges.cell_choice import in_region
from ..judges.ladders.budget import draw_seconds
from ..settings import Settings
from .scales import scaled

GROWING = (("d",), ("F",), ("m",), ("F", "d"), ("d", "m"), ("F", "m"), ("F", "d", "m"))
STARTS = (8, 32)
STEP, MOST_RUNGS, RUNGS = 4, 12, 4
"""Sizes grow by the step; the last so many rungs that can be afforded are looked at."""
DRAWS, CHOICES = 5, 4
SHARE = 0.02
"""The share of the time that the largest rung's draws may take."""
ENDS = (2.0**-40, 2.0**70)
"""Constants beyond count as 0 and as infinite."""
EXPONENT = 0.15
"""The least growth of each step, as a power of the sizes."""
STEADY = 0.7
"""The last step's growth over the first one's: constants that only drift level off."""


class Ladder(NamedTuple):
    names: tuple[str, ...]
    choice: str
    rungs: list[dict[str, float]]


def growing(mutant: Claim, settings: Settings, streams: Streams, seconds: float) -> tuple[str | None, int]:
    """(a ladder up which the needed constant grows like a power and does not slow down, or None; the draws made)."""
    draws = 0
    for ladder in _ladders(mutant, settings, streams, seconds):
        needs = []
        for numbers in ladder.rungs:
            shared = streams.child(*ladder[:2])  # by all rungs, so that what differs is the sizes
            found = [
                _need(mutant, settings, numbers, shared.child(i), ladder.choice, shared) for i in range(DRAWS)
            ]
            draws += DRAWS
            known = [need for need in found if need is not None]
            needs.append(median(known) if len(known) > DRAWS // 2 else math.nan)
        told = _growth(ladder, needs)
        if told is not None:
            return told, draws
    return None, draws


def _growth(ladder: Ladder, needs: list[float]) -> str | None:
    where = ", ".join(f"{name}={value:.4g}" for name, value in ladder.rungs[-1].items())
    at = f"up to {where}{', ' if ladder.choice else ''}{ladder.choice}"
    if needs[-1] == math.inf:
        return f"no constant suffices, {at}"
    if not all(0 < need < math.inf for need in needs):
        return None
    steps = [math.log(b / a) for a, b in itertools.pairwise(needs)]
    if min(steps) < EXPONENT * math.log(STEP) or steps[-1] < STEADY * steps[0]:
        return None
    exponent = steps[-1] / math.log(STEP)
    sizes = " and ".join(ladder.names)
    return f"the needed constant grows from {needs[0]:.3g} to {needs[-1]:.3g} like {sizes} to the {exponent:.2f}, {at}"


def _ladders(mutant: Claim, settings: Settings, streams: Streams, seconds: float) -> Iterator[Ladder]:
    family = mutant.family
    choices = [str(c) for c in streams("choices").permutation(list(family.choices))][:CHOICES]
    for names, start in itertools.product(GROWING, STARTS):
        if not all(name in family.sizes and family.sizes[name].listed is None for name in names):
            continue
        rungs = list(_rungs(mutant, settings, streams, names, start, seconds))[-RUNGS:]
        if len(rungs) == RUNGS:
            for choice in choices:
                yield Ladder(names, choice, rungs)


def _rungs(
    mutant: Claim, settings: Settings, streams: Streams, names: tuple[str, ...], start: int, seconds: float
) -> Iterator[dict[str, float]]:
    """Sizes from the start up, as long as they are the family's, meet the assumptions and can be afforded."""
    family = mutant.family
    base = {name: size.sample(streams("numbers"), settings.profile) for name, size in family.sizes.items()}
    for name, size in family.sizes.items():
        if size.integer and size.listed is None:
            low, high = size.given or (start, start)
            base[name] = int(min(max(start, low), high))
    for step in range(MOST_RUNGS):
        numbers = {**base, **{name: base[name] * STEP**step for name in names}}
        affordable = DRAWS * draw_seconds(family, numbers, family.spans) < SHARE * seconds
        if not family.allows(numbers) or not affordable:
            return
        if in_region(mutant, family.sizes_at(numbers)):
            yield numbers


def _need(
    mutant: Claim, settings: Settings, numbers: dict, streams: Streams, choice: str, adversary: Streams
) -> float | None:
    """The smallest number s with which one draw meets the relations; None where it is no evidence.

    Constants that weaken the bound when raised are s, the others 1/s.  `adversary`: the streams of the scales.
    """
    family = mutant.family
    try:
        raw = scaled(family, family.raw(numbers, streams, choice, family.spans), adversary)
        instance = family.build(raw, settings.arrays, streams)
        signs = {name: _sign(mutant, instance, name) for name in mutant.constants}
        return None if 0 in signs.values() else _bisected(mutant, instance, signs)
    except Exception:  # beyond its assumptions a mutant's function may fail as it likes
        return None


def _bisected(mutant: Claim, instance: Any, signs: dict[str, int]) -> float | None:
    holds = [_holds(mutant, instance, signs, end) for end in ENDS]
    if None in holds or (holds[0] and not holds[1]):
        return None
    if holds[0] or not holds[1]:
        return 0.0 if holds[0] else math.inf
    low, high = (math.log(end) for end in ENDS)
    while high - low > 1e-3:
        between = (low + high) / 2
        enough = _holds(mutant, instance, signs, math.exp(between))
        low, high = (low, between) if enough else (between, high)
    return math.exp(high)


def _sign(mutant: Claim, instance: Any, name: str) -> int:
    """1 if raising a constant weakens the relations that it is in, -1 if lowering it does, 0 if each does some."""
    usual = dict.fromkeys(mutant.constants, 1.0)
    low, high = (
        [np.min(relation.slack()) for relation in mutant.relations(instance, **usual | {name: value})]
        for value in (0.5, 2.0)
    )
    moves = {int(np.sign(b - a)) for a, b in zip(low, high, strict=True) if a != b}
    return (moves.pop() if moves else 1) if len(moves) < 2 else 0


def _holds(mutant: Claim, instance: Any, signs: dict[str, int], s: float) -> bool | None:
    """Whether the relations hold at s; None where they have no value."""
    value = evaluate(mutant, instance, {name: s if sign > 0 else 1 / s for name, sign in signs.items()})
    return value.slack >= -1e-9 * value.scale if value.admissible else None
