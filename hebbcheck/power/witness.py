"""What shows, without the judges, that a variant is false: its relation evaluated on many random and hard draws.

For all, identity: an instance that breaks it by far more than rounding does.  Probability: fresh draws of one cell that
fail more often than allowed, at level 1e-7.  Expectation: a mean that is ten standard errors off, twice.  Rate: a ratio
that changes like a power of a size.  Absolute constants: a needed constant that grows like a power of the sizes and
does not slow down over three quadruplings (no finite number of draws proves that one; it is the best evidence there
is).  Nothing is optimised and nothing is fitted: what a judge misses by bad luck is found here, and what only a judge's
search finds is not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
from scipy.stats import binom

from ..arrays import Streams
from ..claim import Claim
from ..evaluation import Value, evaluate
from ..inputs import Raw
from ..judges.adversary import DrawStreams
from ..judges.cell_choice import in_region, seconds_a_draw
from ..judges.search import EXACT_ENTRIES
from ..rounding import Excess, excess, violated
from ..settings import Settings
from ..verdict import Quantifier
from . import needs
from .scales import scaled

MEASURE = "hebbcheck.power.witness:measure"
FAR = 1e-6
"""A relation that is broken by less than this share of its sides is left alone."""
SECONDS = (1.5, 10.0)
"""What the draws of a search may cost, quick and standard, by a model."""
DRAWS = (400, 3000)
CELLS, PILOT, FINALISTS, JUDGED = 60, 10, 3, 400
CELL_LEVEL = 1e-7
CHECKED = 3
"""So many failing draws of a cell are compared with what rounding does to them."""
MEAN_ERRORS, MEAN_SHARE, MEAN_CALLS = 10.0, 0.01, 8
RATE_EXPONENT, RATE_REPEATS = 0.2, 3


def measure(mutant: Claim, settings: Settings, params: dict) -> dict:
    """{"found": what shows that the mutant is false, in words, or None, "draws": how many were made}."""
    search = SEARCHES.get(mutant.quantifier)
    if search is None:
        return {"found": None, "draws": 0}
    streams = Streams("witness", mutant.id, settings.seed)
    found, draws = search(mutant, settings, streams)
    return {"found": found, "draws": draws}


Found = tuple[str | None, int]


def _by_instance(mutant: Claim, settings: Settings, streams: Streams) -> Found:
    """An instance that breaks the relation: small ones and large ones by turns, hard cases in turn."""
    family, rng = mutant.family, streams("sizes")
    left, draws = settings.by_profile(*SECONDS), 0
    choices = itertools.cycle(family.choices)
    for index in range(settings.by_profile(*DRAWS)):
        numbers = family.small_sizes(rng) if index % 2 else family.sample_sizes(rng, settings.profile)
        left -= seconds_a_draw(numbers)
        if left < 0:
            break
        draws += 1
        choice = next(choices)
        drawn = _drawn(mutant, settings, numbers, streams.child(index), choice)
        if drawn is not None and _breaks(mutant, settings, *drawn):
            share = drawn[1].slack / drawn[1].scale
            return f"an instance breaks it: relative slack {share:.2g} at {_said(numbers, choice)}", draws
    return None, draws


def _drawn(
    mutant: Claim,
    settings: Settings,
    numbers: dict,
    streams: Streams,
    choice: str,
    adversary: Streams | None = None,
) -> tuple[Raw, Value] | None:
    """One draw and the relation's value on it, or None where that is no evidence.

    `adversary`: the streams that scales are chosen from, where they are not chosen anew for each draw.
    """
    try:
        raw = scaled(mutant.family, mutant.family.raw(numbers, streams, choice), adversary or streams)
        value = evaluate(mutant, mutant.family.build(raw, settings.arrays, streams))
    except Exception:  # beyond its assumptions a mutant's function may fail as it likes
        return None
    usable = value.admissible and all(map(math.isfinite, (value.slack, value.scale))) and value.scale > 0
    return (raw, value) if usable else None


def _looks_broken(value: Value) -> bool:
    return value.slack < -FAR * value.scale


def _breaks(mutant: Claim, settings: Settings, raw: Raw, value: Value) -> bool:
    """Whether a draw breaks the relation: both sides may be what cancellation left, so that a share decides nothing."""
    if not _looks_broken(value):
        return False
    if raw.entries <= EXACT_ENTRIES:
        return violated(mutant, raw, value, {}, settings.arrays)[0]
    return excess(mutant, raw, value, {}, settings.arrays) >= Excess.BEYOND


def _by_failures(mutant: Claim, settings: Settings, streams: Streams) -> Found:
    """A cell in which more draws fail than allowed."""
    cells = [
        (cell, *_failures(mutant, settings, streams, cell, PILOT, "pilot"))
        for cell in _cells(mutant, settings, streams)
    ]
    draws = sum(trials for _, _, trials in cells)
    cells.sort(key=lambda c: (-c[1] / max(c[2], 1), c[0]["cost"]))
    for cell, pilot_failures, _ in cells[:FINALISTS]:
        if not pilot_failures:
            break
        failures, trials = _failures(mutant, settings, streams, cell, JUDGED, "judged")
        draws += trials
        if trials and binom.sf(failures - 1, trials, cell["allowed"]) < CELL_LEVEL:
            told = f"{failures} of {trials} draws fail where a rate of {cell['allowed']:.3g} is allowed"
            return f"{told}, at {_said(cell['numbers'], cell['choice'])}", draws
    return None, draws


def _cells(mutant: Claim, settings: Settings, streams: Streams) -> Iterator[dict]:
    """Sizes at which something is claimed, hard cases in turn, as far as time goes."""
    family, rng = mutant.family, streams("cells")
    left = settings.by_profile(*SECONDS) / 2
    choices = itertools.cycle(family.choices)
    for index in range(8 * CELLS):
        numbers = family.small_sizes(rng) if index % 4 == 3 else family.sample_sizes(rng, settings.profile)
        sizes, cost = family.sizes_at(numbers), seconds_a_draw(numbers)
        if cost * JUDGED > left or not in_region(mutant, sizes):
            continue
        try:
            allowed = mutant.allowed_failure(sizes)
        except ZeroDivisionError:
            continue
        if allowed < 1:
            left -= cost * PILOT
            yield {"numbers": numbers, "choice": next(choices), "allowed": allowed, "cost": cost}
        if left < 0:
            return


def _failures(
    mutant: Claim, settings: Settings, streams: Streams, cell: dict, draws: int, role: str
) -> tuple[int, int]:
    """(draws that fail, draws that count) of a cell whose adversary chose once."""
    failures = trials = 0
    checked = 0
    fixed = streams.child(sorted(cell["numbers"].items()), cell["choice"])
    for index in range(draws):
        one = DrawStreams(fixed, mutant.family.chosen, role, index)
        drawn = _drawn(mutant, settings, cell["numbers"], one, cell["choice"], fixed)
        if drawn is None:
            continue
        trials += 1
        failed = _looks_broken(drawn[1])
        if failed and checked < CHECKED:
            checked += 1
            failed = excess(mutant, *drawn, {}, settings.arrays) >= Excess.BEYOND
            if not failed:
                return 0, trials
        failures += failed
    return failures, trials


def _by_mean(mutant: Claim, settings: Settings, streams: Streams) -> Found:
    """A geometry on which two independent means are both far off, in the same direction."""
    draws = 0
    for choice, repeat in itertools.product(mutant.family.choices, range(2)):
        geometry = streams.child(choice, repeat)
        numbers = mutant.family.sample_sizes(geometry("sizes"), settings.profile)
        gaps = [_gaps(mutant, settings, numbers, geometry, choice, role) for role in ("first", "second")]
        draws += 2 * MEAN_CALLS
        if all(gap is not None for gap in gaps):
            far = np.logical_and(*(np.abs(gap) > 1 for gap in gaps)) & (gaps[0] * gaps[1] > 0)
            if np.any(far):
                return (
                    f"the mean is more than {MEAN_ERRORS:.0f} standard errors off at {_said(numbers, choice)}",
                    draws,
                )
    return None, draws


def _gaps(mutant: Claim, settings: Settings, numbers: dict, geometry: Streams, choice: str, role: str) -> Any:
    """How far off each relation's mean is on the wrong side, in units of what counts as far; None where undefined."""
    try:
        return _gaps_of(mutant, settings, numbers, geometry, choice, role)
    except Exception:  # beyond its assumptions a mutant's function may fail as it likes
        return None


def _gaps_of(
    mutant: Claim, settings: Settings, numbers: dict, geometry: Streams, choice: str, role: str
) -> np.ndarray | None:
    pools: list[list[np.ndarray]] = []
    for call in range(MEAN_CALLS):
        streams = DrawStreams(geometry, mutant.family.chosen, role, call)
        instance = mutant.family.build(mutant.family.raw(numbers, streams, choice), settings.arrays, streams)
        if not all(mutant.holds_given(instance).values()):
            return None
        pools.append([_differences(relation) for relation in mutant.relations(instance)])
    found = []
    for blocks, relation in zip(zip(*pools, strict=True), mutant.relations(instance), strict=True):
        sample = np.concatenate(blocks)
        mean, error = sample.mean(axis=0), sample.std(axis=0) / math.sqrt(len(sample))
        scale = MEAN_SHARE * max(float(np.max(np.abs(mean))), float(np.max(sample.std(axis=0))) / 10)
        gap = np.ravel(mean / np.maximum(MEAN_ERRORS * error, scale + 1e-300))
        found.append({"at_least": np.minimum(gap, 0), "at_most": np.maximum(gap, 0)}.get(relation.kind, gap))
    return np.concatenate(found)


def _differences(relation: Any) -> np.ndarray:
    """Measured minus bound, a sample a row."""
    left, right = (
        np.asarray(getattr(side, "samples", side), dtype=float)
        for side in (relation.measured, relation.bound)
    )
    difference = left - right
    return difference if difference.ndim else difference[None]


def _by_ratio(mutant: Claim, settings: Settings, streams: Streams) -> Found:
    """A size along which the ratio of measured to predicted changes like a power, from end to end."""
    family = mutant.family
    ends = {name: size.bounds(settings.profile) for name, size in family.sizes.items()}
    moving = [name for name, (low, high) in ends.items() if high >= 4 * low > 0 and name != "delta"]
    fixed = {name: size.sample(streams("sizes"), settings.profile) for name, size in family.sizes.items()}
    fixed |= {name: ends[name][0] for name in moving}
    for name in moving:
        low, high = (
            [
                _ratio(mutant, settings, {**fixed, name: value}, streams.child(name, end, r))
                for r in range(RATE_REPEATS)
            ]
            for end, value in enumerate(ends[name])
        )
        exponent = math.log(median(high) / median(low)) / math.log(ends[name][1] / ends[name][0])
        if abs(exponent) > RATE_EXPONENT:
            return f"the ratio changes like {name}^{exponent:.2f}", 2 * RATE_REPEATS
    return None, 2 * RATE_REPEATS * len(moving)


def _ratio(mutant: Claim, settings: Settings, numbers: dict, streams: Streams) -> float:
    drawn = _drawn(mutant, settings, numbers, streams, mutant.family.choices[0])
    if drawn is None or not drawn[1].bound:
        return math.nan
    ratio = drawn[1].measured / drawn[1].bound
    return ratio if 0 < ratio < math.inf else math.nan


def _by_need(mutant: Claim, settings: Settings, streams: Streams) -> Found:
    """A ladder of sizes up which the needed constant grows and does not slow down."""
    return needs.growing(mutant, settings, streams, settings.by_profile(*SECONDS))


def _said(numbers: dict, choice: str) -> str:
    sizes = ", ".join(f"{name}={value:.4g}" for name, value in numbers.items())
    return f"{sizes}, {choice}" if choice else sizes


SEARCHES: dict[Quantifier, Callable[[Claim, Settings, Streams], Found]] = {
    Quantifier.IDENTITY: _by_instance,
    Quantifier.FOR_ALL: _by_instance,
    Quantifier.PROBABILITY: _by_failures,
    Quantifier.EXPECTATION: _by_mean,
    Quantifier.RATE: _by_ratio,
    Quantifier.CONSTANTS: _by_need,
}
