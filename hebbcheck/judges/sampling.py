"""Samples of a statement in expectation on one geometry: what adversaries choose stays, all else is drawn again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Streams
from ..claim import Claim, Mean, Relation
from ..errors import HebbcheckError
from ..settings import Settings
from .adversary import DrawStreams
from .breaking import breaking
from .moments import Moments

MOST_CALLS = 3000
"""Calls of the claim's function for one cell; a statement is cheap to judge if each draws thousands of samples."""
EMPTY_CALLS = 30
"""A geometry on which so many calls in a row miss the assumptions is given up."""


def measure(claim: Claim, settings: Settings, params: dict) -> dict:
    """Moments of measured - bound on one geometry.

    params: choice, repeat (of the geometry), samples, role (a name for fresh streams), broken (an assumption or None).
    """
    judged = breaking(claim, params["broken"])
    geometry = Streams("expectation", claim.id, settings.seed, params["choice"], params["repeat"])
    numbers = claim.family.sample_sizes(geometry("sizes"), settings.profile)
    pools: list[Pool] = []
    told = {"numbers": numbers, "choice": params["choice"], "undefined": 0, "unmet": []}
    for call in range(MOST_CALLS):
        if (pools and pools[0].count >= params["samples"]) or (not pools and call >= EMPTY_CALLS):
            break
        streams = DrawStreams(geometry, claim.family.chosen, params["role"], call)
        raw = claim.family.raw(numbers, streams, params["choice"])
        found = _sides(judged, claim.family.build(raw, settings.arrays, streams))
        if found is None:
            told["undefined"] += 1
            continue
        told["unmet"], pairs = found
        pools = pools or [Pool(relation) for relation, _, _ in pairs]
        for pool, (_, left, right) in zip(pools, pairs, strict=bool(pairs)):
            pool.add(left, right)
    entries = [entry for index, pool in enumerate(pools) for entry in pool.entries(index)]
    return {**told, "entries": entries}


Pair = tuple[Relation, np.ndarray, np.ndarray]


def _sides(claim: Claim, instance: Any) -> tuple[list[str], list[Pair]] | None:
    """(assumptions that are missed, each relation with the samples of both sides); None where that is undefined."""
    try:
        unmet = [name for name, met in claim.holds_given(instance).items() if not met]
        relations = [] if unmet else claim.relations(instance)
    except ArithmeticError:
        return None
    if any(not r.in_expectation or r.kind == "scales_as" for r in relations):
        raise HebbcheckError(
            f"claim {claim.id!r} mixes hc.mean with another kind of statement; at_least, at_most or equal of means "
            "is needed; make two claims of it"
        )
    pairs = [(r, _samples(r.measured), _samples(r.bound)) for r in relations]
    defined = all(np.all(np.isfinite(side)) for _, *sides in pairs for side in sides)
    return (unmet, pairs) if defined else None


class Pool:
    """One relation's samples over all calls: moments of the difference, and the means of both sides."""

    def __init__(self, relation: Relation) -> None:
        self.kind, self.trivial = relation.kind, relation.trivial
        self.moments: Moments | None = None
        self.sides: Any = (0.0, 0.0)
        self.binary = True  # all samples of means are 0 or 1, and all numbers stay as they are
        self.plain = [not isinstance(side, Mean) for side in (relation.measured, relation.bound)]

    @property
    def count(self) -> int:
        return self.moments.count if self.moments else 0

    def add(self, left: np.ndarray, right: np.ndarray) -> None:
        """More samples of both sides."""
        if not self._match(left, right):
            raise HebbcheckError(
                f"the sides of a relation in expectation have shapes {left.shape} and {right.shape} (samples first); "
                "they must match; try hc.mean, and the same number of samples, on both sides"
            )
        new = Moments.of(left - right)
        for side, plain, before in zip((left, right), self.plain, self.sides, strict=True):
            same = self.moments is None or np.array_equal(side[0], before)
            self.binary = self.binary and bool(same if plain else np.all((side == 0) | (side == 1)))
        share = new.count / (self.count + new.count)
        self.sides = tuple(
            side + (block.mean(axis=0) - side) * share
            for side, block in zip(self.sides, (left, right), strict=True)
        )
        self.moments = self.moments.merged(new) if self.moments else new

    def _match(self, left: np.ndarray, right: np.ndarray) -> bool:
        """Whether the samples are of entries of one shape, as many on both sides; a number serves any."""
        entries = {side.shape[1:] for side, plain in zip((left, right), self.plain, strict=True) if not plain}
        entries |= {side.shape[1:] for side in (left, right) if side.shape[1:]}
        return len(entries) == 1 and len({len(side) for side in (left, right) if len(side) > 1}) == 1

    @property
    def named(self) -> np.ndarray:
        """The size of the number that the claim says the mean is; 0 where it names none."""
        sizes = [np.abs(side) for side, plain in zip(self.sides, self.plain, strict=True) if plain]
        return np.asarray(sizes[0] if len(sizes) == 1 else 0.0)

    @property
    def event(self) -> str:
        """The side that is the mean of an event (samples 0 and 1), where the other side is a number."""
        return ("right" if self.plain[0] else "left") if self.binary and sum(self.plain) == 1 else ""

    @property
    def beyond(self) -> bool:
        """Whether the bound says nothing: the measured side can never pass `trivial` anyway."""
        if self.trivial is None:
            return False
        bound = self.sides[1]
        return bool(np.all(bound >= self.trivial if self.kind == "at_most" else bound <= self.trivial))

    def entries(self, relation: int) -> list[dict]:
        """Each entry of the relation (one for a number) as JSON."""
        m = self.moments
        assert m is not None
        columns = np.broadcast_arrays(m.mean, m.squares, m.cubes, *self.sides, self.named)
        names = ("gap", "squares", "cubes", "left", "right", "named")
        shared = {
            "relation": relation,
            "kind": self.kind,
            "count": m.count,
            "beyond": self.beyond,
            "event": self.event,
        }
        return [
            shared | {name: float(v) for name, v in zip(names, values, strict=True)}
            for values in zip(*(column.ravel() for column in columns), strict=True)
        ]


def _samples(side: Any) -> np.ndarray:
    """Samples along the first axis; a number (or an array of numbers) is one sample of itself."""
    if isinstance(side, Mean):
        array = np.asarray(_host(side.samples), dtype=float)
        if array.ndim == 0 or len(array) < 2:
            raise HebbcheckError("hc.mean needs an array of at least two samples along its first axis")
        return array
    return np.asarray(_host(side), dtype=float)[None]


def _host(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)
