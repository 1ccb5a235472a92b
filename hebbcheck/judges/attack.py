"""Attacks on a claim that speaks of all instances: Hypothesis, then a local search; and draws at real sizes.

Hypothesis chooses small adversarial instances (`Family.strategy`) with `target` toward the smallest relative slack
(MacIver and Donaldson, "Test-case reduction via test-case generation", 2020), the local search (`descent`) moves the
tightest ones, and a counterexample is shrunk (`shrink`).
"""

from __future__ import annotations

from contextlib import suppress

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase
from hypothesis import given as given_by

from ..arrays import Streams
from ..claim import Claim
from ..inputs import Raw
from ..settings import Settings
from .breaking import breaking
from .descent import descend
from .search import Search, Seen
from .shrink import shrunk
from .steady import steady_draws

SHRINKS = 60
"""How many smaller instances Hypothesis may try after it found a violation; `shrink` does the rest."""
REJECTIONS = 1
"""Instances that miss an assumption are redrawn for at most this multiple of the examples."""


def measure(claim: Claim, settings: Settings, params: dict) -> dict:
    """One attack.  params: examples, steps (of the local search), part, broken (an assumption to break, or None)."""
    broken = params["broken"]
    search = Search(breaking(claim, broken), settings.arrays, params["identity"], lenient=broken is not None)
    streams = Streams("attack", claim.id, settings.seed, params["part"], broken or "")
    _hypothesis(search, int(streams("hypothesis").integers(2**63)), params["examples"])
    if search.found is None:
        _small_draws(search, streams, params["examples"])
    search.lenient = True  # what follows moves instances to places that no strategy would go to
    if search.found is None and not search.identity:
        descend(search, streams("local search"), params["steps"])
    return _report(search, _smallest(search))


def _small_draws(search: Search, streams: Streams, count: int) -> None:
    """Draws at the smallest sizes, more starts for the local search at little cost.

    Ends at the first violation, and at a repetition: the family may hold one instance.
    """
    family, rng, last = search.claim.family, streams("small sizes"), ""
    for index in range(count):
        numbers = family.small_sizes(rng)
        raw = family.raw(numbers, streams.child("small", index), str(rng.choice(family.choices)))
        if raw.digest == last or search.see(raw).broken:
            return
        last = raw.digest


def measure_draws(claim: Claim, settings: Settings, params: dict) -> dict:
    """Draws at the sizes of real use, the first where all, one or none are the largest.  params: draws, identity."""
    search = Search(claim, settings.arrays, params["identity"])
    family, choices = claim.family, claim.family.choices
    extremes = family.extreme_sizes(settings.profile)[: params["draws"] // 2]
    for index in range(params["draws"]):
        streams = Streams("draws", claim.id, settings.seed, index)
        sampled = family.sample_sizes(streams("sizes"), settings.profile)
        numbers = extremes[index] if index < len(extremes) else sampled
        search.see(family.raw(numbers, streams, choices[index % len(choices)]))
    search.lenient = True
    return _report(search, _smallest(search))


def _hypothesis(search: Search, seed: int, examples: int) -> None:
    hunt = _Hunt(search, REJECTIONS * examples)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        print_blob=False,
        phases=(Phase.generate, Phase.target, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given_by(raw=search.claim.family.strategy())
    def attack(raw: Raw) -> None:
        seen = hunt.see(raw)
        if seen.broken:
            raise _Broken
        if hunt.rejects(raw, seen):
            hypothesis.reject()
        if seen.ratio is not None and not seen.degenerate:
            hypothesis.target(float(np.clip(-seen.followed, -1e300, 1e300)), label="relative slack")

    with steady_draws(), suppress(_Broken, hypothesis.errors.Unsatisfiable):
        attack()


class _Hunt:
    """A search as Hypothesis needs it: it says of an instance what it said before, and shrinking comes to an end."""

    def __init__(self, search: Search, rejections: int) -> None:
        self.search, self.rejections = search, rejections
        self.said: dict[str, Seen] = {}
        self.rejected: set[str] = set()
        self.shrinks = 0

    def see(self, raw: Raw) -> Seen:
        digest = raw.digest
        if digest not in self.said:
            self.shrinks += self.search.found is not None
            ended = self.shrinks > SHRINKS
            self.said[digest] = Seen(0.0, degenerate=True) if ended else self.search.see(raw)
        return self.said[digest]

    def rejects(self, raw: Raw, seen: Seen) -> bool:
        """Whether an instance that misses an assumption is redrawn."""
        if seen.ratio is None and len(self.rejected) < self.rejections:
            self.rejected.add(raw.digest)
        return raw.digest in self.rejected


class _Broken(Exception):
    """Raised inside Hypothesis so that it shrinks the violation."""


def _smallest(search: Search) -> Raw | None:
    """A small counterexample where there is one at all."""
    if search.found is None:
        return None
    return shrunk(search.found, search.claim.family, lambda raw: search.see(raw).broken)


def _report(search: Search, smallest: Raw | None) -> dict:
    ratio, raw = search.tightest or (None, None)
    return {
        "tested": search.tested,
        "undefined": search.undefined,
        "seen": search.seen,
        "unmet": search.unmet,
        "beyond_trivial": search.beyond_trivial,
        "violations": search.violations,
        "exact": search.exactly_on(smallest or raw),
        "ratio": ratio,
        "tightest": raw.describe() if raw is not None else None,
        "smallest": smallest.as_json() if smallest is not None else None,
        "worst": search.worst[1].as_json() if search.worst else None,
        "points": search.points,
    }
