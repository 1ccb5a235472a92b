"""What a search for counterexamples has seen: counts, the tightest instances, violations that were decided.

A violation seen in floating point counts only after it was decided: in ball arithmetic from the exact inputs where
the instance is small, beyond any rounding otherwise (`evaluation.violated`).  What a float32 backend says of an
instance is first recomputed in float64.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import NUMPY, Backend
from ..claim import Claim
from ..errors import HebbcheckError
from ..evaluation import EQUAL, MOST_EXACT, Decision, Value, as_computed, decide, evaluate
from ..inputs import Raw
from ..rounding import Excess, excess, violated

EXACT_ENTRIES = 500
"""Instances made from more numbers than this are judged against rounding first: balls may take seconds."""
EXACT_IDENTITIES = 30
"""Identities are recomputed exactly on this many instances of a search, and wherever they look broken."""
EXACT_TIES = 50
"""And inequalities that rounding alone may break, as those that equality attains, on this many."""
MOST_DOUBTED, DOUBTS = 100_000, 4
"""Balls decide, slow as they are, on instances made from up to so many numbers where floating point leaves a doubt;
on so many of those that rounding may have broken."""
POINTS = 100
NEAREST = 4
"""How many of the tightest instances, of different sizes, are kept as starts of the local search."""
EQUALITIES = 2
"""How many instances that attain equality are kept as well: many of those are degenerate."""


@dataclass(frozen=True)
class Seen:
    """One instance: its relative slack (None where it is no evidence), and whether it violates the claim.

    `degenerate`: nothing is known of how near it is to a violation, as where both sides are 0 or infinite.
    `further`: the smallest relative slack of the relations that do not attain equality.
    """

    ratio: float | None
    broken: bool = False
    degenerate: bool = False
    further: float = math.inf

    @property
    def followed(self) -> float:
        """The relative slack that a search follows: of the relations that are not attained, if there are any.

        Of several relations one may be attained on all instances; a search that followed it would attack no other.
        """
        if self.ratio is None:
            return math.inf
        return self.further if self.ratio <= EQUAL and self.further < math.inf else self.ratio


@dataclass
class Search:
    """A claim under attack on a backend.  `lenient`: a function that fails makes an instance undefined."""

    claim: Claim
    backend: Backend
    identity: bool
    lenient: bool = False
    tested: int = 0
    undefined: int = 0
    seen: int = 0
    """Instances on which the assumptions had a truth value; `unmet`: on how many of them each failed."""
    unmet: dict[str, int] = field(default_factory=dict)
    beyond_trivial: int = 0
    violations: int = 0
    exact: int = 0
    ties: int = 0
    doubts: int = 0
    nearest: dict[str, tuple[float, Raw]] = field(default_factory=dict)
    equal: deque[Raw] = field(default_factory=lambda: deque(maxlen=EQUALITIES))
    found: Raw | None = None
    """The violation with the fewest numbers."""
    worst: tuple[float, Raw] | None = None
    """The violation with the most negative relative slack."""
    points: list[dict] = field(default_factory=list)

    def see(self, raw: Raw) -> Seen:
        """Evaluate one instance and note what it says."""
        value = self._evaluate(raw, self.backend)
        self.seen += bool(value.met)
        if not value.admissible:
            self._note_inadmissible(value)
            return Seen(None)
        self.tested += 1
        self.beyond_trivial += value.beyond_trivial
        self._note_point(raw, value)
        if self._suspicious(value) and self._is_violation(raw, value):
            return self._note_violation(raw, value)
        ratio = value.ratio if value.slack >= 0 or self.identity else self._rounded(value)
        says = value.scale > 0 and math.isfinite(value.measured) and math.isfinite(value.bound)
        if ratio is None or not says:
            return Seen(0.0, degenerate=True)
        seen = Seen(ratio, further=value.further)
        if not self.identity:
            self._note_near(seen, raw)
        return seen

    def _rounded(self, value: Value) -> float | None:
        """The relative slack that only rounding made negative: 0, or unknown where it is far below."""
        return 0.0 if value.ratio > -1e4 * self.backend.eps else None

    @property
    def tightest(self) -> tuple[float, Raw] | None:
        """(relative slack, instance): the violation that is worst, else the instance nearest to one."""
        equal = ((0.0, raw) for raw in self.equal)
        return self.worst or next(equal, None) or next(iter(self.closest()), None)

    def closest(self) -> list[tuple[float, Raw]]:
        """The instances nearest to breaking a relation that they do not attain, the nearest first."""
        return sorted(self.nearest.values(), key=lambda near: near[0])

    def exactly_on(self, raw: Raw | None) -> bool:
        """Whether the claim is decided in ball arithmetic on an instance (None: whether it was on any)."""
        if raw is None:
            return self.exact > 0
        if raw.entries > EXACT_ENTRIES:
            return False
        return decide(self.claim, raw) is not Decision.FLOAT_ONLY

    def _evaluate(self, raw: Raw, backend: Backend) -> Value:
        try:
            return evaluate(self.claim, self.claim.family.build(raw, backend), {})
        except (HebbcheckError, ValueError):
            if self.lenient:
                return Value(False, {})
            raise

    def _suspicious(self, value: Value) -> bool:
        if not self.identity:
            return value.slack < 0 and (self.ties < EXACT_TIES or self._rounded(value) is None)
        return self.exact < EXACT_IDENTITIES or -value.slack > 1e6 * self.backend.eps * value.scale

    def _is_violation(self, raw: Raw, value: Value) -> bool:
        backend = self.backend
        if backend.dtype != "float64":
            backend = NUMPY
            value = self._evaluate(raw, backend)
            if not value.admissible or (value.slack >= 0 and not self.identity):
                return False
        if raw.entries > EXACT_ENTRIES:
            return self._decided(raw, excess(self.claim, raw, value, {}, backend), backend)
        self.ties += not self.identity and self._rounded(value) is not None
        broken, exactly = violated(self.claim, raw, value, {}, backend)
        self.exact += exactly
        return broken

    def _decided(self, raw: Raw, broken: Excess, backend: Backend) -> bool:
        """Whether a large instance violates the claim, by balls where floating point leaves a doubt.

        Of violations that rounding did not make the first is confirmed; later ones are in its company.
        """
        plain, doubtful = broken is Excess.PLAIN, broken is Excess.DOUBTFUL
        self.doubts += doubtful
        if broken is Excess.NONE or (doubtful and self.doubts > DOUBTS):
            return False
        if raw.entries > (MOST_EXACT if plain else MOST_DOUBTED) or (self.found is not None and not doubtful):
            return not doubtful
        decision = decide(self.claim, as_computed(raw, backend))
        self.exact += decision is not Decision.FLOAT_ONLY
        return decision is Decision.VIOLATED or (decision is Decision.FLOAT_ONLY and not doubtful)

    def _note_inadmissible(self, value: Value) -> None:
        self.undefined += not value.defined
        for name, met in value.met.items():
            self.unmet[name] = self.unmet.get(name, 0) + (not met)

    def _note_violation(self, raw: Raw, value: Value) -> Seen:
        self.violations += 1
        if self.found is None or raw.entries <= self.found.entries:
            self.found = raw
        if self.worst is None or value.ratio < self.worst[0]:
            self.worst = (value.ratio, raw)
        return Seen(value.ratio, broken=True)

    def _note_near(self, seen: Seen, raw: Raw) -> None:
        """Keep the tightest instance of each set of sizes, for the tightest few of these."""
        if seen.ratio == 0:
            self.equal.append(raw)
        if seen.followed == 0:
            return
        sizes = raw.describe()
        if seen.followed < self.nearest.get(sizes, (math.inf,))[0]:
            self.nearest[sizes] = (seen.followed, raw)
        if len(self.nearest) > NEAREST:
            del self.nearest[max(self.nearest, key=lambda key: self.nearest[key][0])]

    def _note_point(self, raw: Raw, value: Value) -> None:
        if len(self.points) < POINTS and np.isfinite(value.measured) and np.isfinite(value.bound):
            self.points.append({"measured": value.measured, "bound": value.bound, **plain(raw.numbers)})


def plain(numbers: dict[str, Any]) -> dict[str, float]:
    """Numbers as JSON has them."""
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in numbers.items()}
