"""The search for a counterexample: Hypothesis with `target` toward the smallest relative slack, then a local search.

Hypothesis chooses small adversarial instances (`Family.strategy`); a violation counts only after it was decided
exactly (`evaluation.violated`).  Sources: MacIver and Donaldson, "Test-case reduction via test-case generation" (2020),
for the search and the shrinking; the local search is a (1+1) evolution strategy with a success-based step size.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase
from hypothesis import given as given_by

from ..arrays import Backend, Streams
from ..claim import Claim
from ..errors import HebbcheckError
from ..evaluation import ULP_FACTOR, Decision, Value, as_computed, decide, evaluate, rounding, violated
from ..geometry.shapes import unit_rows
from ..instance import Raw
from ..settings import Settings
from .steady import steady_draws

SHRINKS = 400
"""How many smaller instances are tried after a violation was found."""
POINTS = 40
EXACT_IDENTITIES = 40
"""Identities are recomputed exactly on this many instances of an attack, and wherever they look broken."""


@dataclass
class Search:
    """What an attack saw: counts, the worst admissible instance, violations."""

    claim: Claim
    backend: Backend
    identity: bool
    lenient: bool = False
    """Whether a function that fails makes an instance undefined: without an assumption it may have no value."""
    tested: int = 0
    undefined: int = 0
    unmet: dict[str, int] = field(default_factory=dict)
    beyond_trivial: int = 0
    violations: int = 0
    float_only: int = 0
    exact: int = 0
    worst: tuple[float, Raw] | None = None
    smallest: Raw | None = None
    broken: tuple[float, Raw] | None = None
    points: list[dict] = field(default_factory=list)

    def see(self, raw: Raw) -> tuple[float | None, bool]:
        """(relative slack of an admissible instance or None, whether it violates the claim)."""
        value = self._evaluate(raw)
        if not value.admissible:
            self.undefined += not value.defined
            for name, met in value.met.items():
                self.unmet[name] = self.unmet.get(name, 0) + (not met)
            return None, False
        self.tested += 1
        self.beyond_trivial += value.beyond_trivial
        self.note(raw, value)
        if not self._suspicious(raw, value):
            self.remember(value.ratio, raw)
            return value.ratio, False
        broken, exactly = violated(self.claim, raw, value, {}, self.backend)
        self.exact += exactly
        self.float_only += not exactly
        if not broken:
            self.remember(min(abs(value.ratio), 1e-12) if not self.identity else 0.0, raw)
            return (0.0 if exactly else value.ratio), False
        self.violations += 1
        if self.broken is None or value.ratio < self.broken[0]:
            self.broken = (value.ratio, raw)
        return value.ratio, True

    def _evaluate(self, raw: Raw) -> Value:
        try:
            return evaluate(self.claim, self.claim.family.build(raw, self.backend), {})
        except (HebbcheckError, ValueError):
            if self.lenient:
                return Value(False, {})
            raise

    def _suspicious(self, raw: Raw, value: Value) -> bool:
        if not self.identity:
            return value.slack < 0
        return self.exact < EXACT_IDENTITIES or -value.slack > 1e6 * self.backend.eps * value.scale

    def remember(self, ratio: float, raw: Raw) -> None:
        if self.worst is None or ratio < self.worst[0]:
            self.worst = (ratio, raw)

    def note(self, raw: Raw, value: Value) -> None:
        if len(self.points) < POINTS and np.isfinite(value.measured) and np.isfinite(value.bound):
            self.points.append({"measured": value.measured, "bound": value.bound, **_plain(raw.numbers)})


class _Broken(Exception):
    """Raised inside Hypothesis so that it shrinks the violation."""


def measure(claim: Claim, settings: Settings, params: dict) -> dict:
    """One attack.  params: examples, steps (of the local search), part, dropped (the assumption left out, or None)."""
    attacked = without(claim, params["dropped"]) if params["dropped"] else claim
    search = Search(attacked, settings.arrays, params["identity"], lenient=params["dropped"] is not None)
    streams = Streams("attack", claim.id, settings.seed, params["part"], params["dropped"] or "")
    _hypothesis(search, int(streams("hypothesis").integers(2**63)), params["examples"])
    if search.smallest is None:
        _descend(search, streams("local search"), params["steps"])
    return {**_report(search), "exactly": _balls_enter(search)}


def _balls_enter(search: Search) -> bool:
    """Whether the claim can be decided in ball arithmetic, tried on the worst instance."""
    raw = search.smallest or (search.worst[1] if search.worst else None)
    return (
        raw is not None and decide(search.claim, as_computed(raw, search.backend)) is not Decision.FLOAT_ONLY
    )


def without(claim: Claim, assumption: str) -> Claim:
    """The claim with one named assumption dropped."""
    return replace(claim, given={name: test for name, test in claim.given.items() if name != assumption})


def _hypothesis(search: Search, seed: int, examples: int) -> None:
    spent = 0

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
        nonlocal spent
        if search.smallest is not None:
            spent += 1
            if spent > SHRINKS and not _same(raw, search.smallest):
                return
        ratio, broken = search.see(raw)
        if broken:
            search.smallest = raw
            raise _Broken
        if ratio is None:
            hypothesis.reject()
        hypothesis.target(float(np.clip(-ratio, -1e300, 1e300)), label="relative slack")

    with steady_draws(), suppress(_Broken, hypothesis.errors.Unsatisfiable):
        attack()


def _same(a: Raw, b: Raw) -> bool:
    return a.numbers == b.numbers and all(np.array_equal(a.arrays[name], b.arrays[name]) for name in a.arrays)


def _descend(search: Search, rng: np.random.Generator, steps: int) -> None:
    """Move the worst instance's inputs at random and keep what brings it nearer to a violation."""
    free = [name for name in search.claim.family.free if search.worst and name in search.worst[1].arrays]
    if search.worst is None or not free or search.identity:
        return
    best, raw = search.worst
    width = 0.3
    for _ in range(steps):
        if best <= 0 or width < 1e-9:
            return
        moved = _moved(raw, str(rng.choice(free)), rng, width)
        ratio, broken = search.see(moved)
        if broken:
            search.smallest = moved
            return
        better = ratio is not None and ratio < best
        if better:
            best, raw = ratio, moved
        width *= 1.5 if better else 0.9


def _moved(raw: Raw, name: str, rng: np.random.Generator, width: float) -> Raw:
    rows = raw.arrays[name].copy()
    scale = float(np.max(np.abs(rows), initial=0.0)) or 1.0
    row = int(rng.integers(len(rows)))
    rows[row] += width * scale * rng.standard_normal(rows.shape[1:])
    return raw.with_array(name, unit_rows(rows) if name in raw.unit else rows)


def _plain(numbers: dict[str, Any]) -> dict[str, float]:
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in numbers.items()}


def _report(search: Search) -> dict:
    ratio, raw = search.broken or search.worst or (None, None)
    return {
        "tested": search.tested,
        "undefined": search.undefined,
        "unmet": search.unmet,
        "beyond_trivial": search.beyond_trivial,
        "violations": search.violations,
        "float_only": search.float_only,
        "exact": search.exact,
        "ratio": ratio,
        "tightest": raw.describe() if raw is not None else None,
        "smallest": search.smallest.as_json() if search.smallest is not None else None,
        "worst": search.broken[1].as_json() if search.broken else None,
        "points": search.points,
    }


def measure_draws(claim: Claim, settings: Settings, params: dict) -> dict:
    """Draws at the sizes of real use, judged against rounding.  params: draws, part, identity."""
    search = Search(claim, settings.arrays, params["identity"])
    for index in range(params["draws"]):
        streams = Streams("draws", claim.id, settings.seed, params["part"], index)
        numbers = claim.family.sample_sizes(streams("sizes"), settings.profile)
        choices = claim.family.choices
        _see_draw(search, claim.family.raw(numbers, streams, choices[index % len(choices)]))
    return _report(search)


def _see_draw(search: Search, raw: Raw) -> None:
    value = evaluate(search.claim, search.claim.family.build(raw, search.backend), {})
    if not value.admissible:
        search.undefined += not value.defined
        for name, met in value.met.items():
            search.unmet[name] = search.unmet.get(name, 0) + (not met)
        return
    search.tested += 1
    search.beyond_trivial += value.beyond_trivial
    search.float_only += 1
    search.note(raw, value)
    if value.slack >= -_tolerance(search, raw, value):
        search.remember(max(value.ratio, 0.0), raw)
        return
    search.violations += 1
    if search.smallest is None or raw.entries < search.smallest.entries:
        search.smallest = raw
    if search.broken is None or value.ratio < search.broken[0]:
        search.broken = (value.ratio, raw)


def _tolerance(search: Search, raw: Raw, value: Value) -> float:
    """What rounding may do: eps times the length of the sums, or a multiple of the effect of one-ulp changes."""
    plain = 64 * search.backend.eps * sum(max(a.shape) for a in raw.arrays.values() if a.ndim) * value.scale
    if value.slack >= -plain:
        return plain
    return max(plain, ULP_FACTOR * rounding(search.claim, raw, {}, search.backend))
