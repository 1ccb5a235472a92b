"""Statements in expectation: `hc.mean(samples)` against a bound, by pooled sampling with an interval.

On each geometry (parallel, orthogonal, generic, ... pairs) the claim is called again and again with fresh streams; the
mean has a normal interval at the level divided by the number of geometries and entries (the samples have moments of
all orders, and a cell holds some 10^5 of them).  Refuted if the interval lies wholly on the wrong side on one geometry.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np
from scipy import stats

from ..arrays import Streams
from ..claim import Claim, Mean, Relation
from ..errors import HebbcheckError
from ..proofs import check_proof
from ..settings import LEVEL, Settings
from ..sweeps import Task
from ..verdict import Finding, Outcome, Quantifier

QUANTIFIER = Quantifier.EXPECTATION
PRECISE = 0.02
"""Supported only where every interval's half-width is below this multiple of the samples' standard deviation."""


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """Sample on every kind of geometry; a proof makes `supported` to `proved`."""
    repeats = settings.by_profile(2, 6)
    cells = [(choice, repeat) for choice in claim.family.choices for repeat in range(repeats)]
    samples = settings.by_profile(200_000, 2_000_000)
    tasks = [
        Task("hebbcheck.judges.expectation:measure", {"choice": c, "repeat": r, "samples": samples})
        for c, r in cells
    ]
    results = yield tasks
    return _finding(claim, results, check_proof(claim))


def measure(claim: Claim, settings: Settings, params: dict) -> dict:
    """Pooled moments of each relation's samples on one geometry.  params: choice, repeat, samples."""
    where = Streams("expectation", claim.id, settings.seed, params["choice"], params["repeat"])
    numbers = claim.family.sample_sizes(where("sizes"), settings.profile)
    raw = claim.family.raw(numbers, where, params["choice"])
    pools: list[_Pool] = []
    call = 0
    while not pools or min(pool.count for pool in pools) < params["samples"]:
        instance = claim.family.build(raw, settings.arrays, where.child("samples", call))
        try:
            met = claim.holds_given(instance)
            if not all(met.values()):
                return {"numbers": numbers, "unmet": [name for name, ok in met.items() if not ok]}
            relations = claim.relations(instance)
        except ZeroDivisionError:
            return {"numbers": numbers, "undefined": True}
        pools = pools or [_Pool(r.kind) for r in relations]
        for pool, relation in zip(pools, relations, strict=True):
            pool.add(relation)
        call += 1
    return {
        "numbers": numbers,
        "choice": params["choice"],
        "entries": [e for p in pools for e in p.entries()],
    }


class _Pool:
    """The differences measured - bound over all calls: count, mean and variance of each entry."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.count = 0
        self.mean: Any = 0.0
        self.squares: Any = 0.0
        self.sides: tuple[Any, Any] = (0.0, 0.0)

    def add(self, relation: Relation) -> None:
        left, right = _samples(relation.measured), _samples(relation.bound)
        difference = left - right
        if not np.all(np.isfinite(difference)):
            raise HebbcheckError(
                "a sample is NaN or infinite; an expectation needs finite samples; check the formula"
            )
        total = self.count + len(difference)
        mean = difference.mean(axis=0)
        shift = mean - self.mean
        self.squares = (
            self.squares
            + ((difference - mean) ** 2).sum(axis=0)
            + shift**2 * self.count * len(difference) / total
        )
        self.mean = self.mean + shift * len(difference) / total
        self.sides = tuple(
            side + (new.mean(axis=0) - side) * len(difference) / total
            for side, new in zip(self.sides, (left, right), strict=True)
        )
        self.count = total

    def entries(self) -> list[dict]:
        deviation = np.sqrt(self.squares / max(self.count - 1, 1))
        columns = np.broadcast_arrays(self.mean, deviation, *self.sides)
        return [
            {
                "kind": self.kind,
                "count": self.count,
                "gap": float(g),
                "sd": float(s),
                "left": float(a),
                "right": float(b),
            }
            for g, s, a, b in zip(*(column.ravel() for column in columns), strict=True)
        ]


def _samples(side: Any) -> np.ndarray:
    """Samples along the first axis; a number stands for itself."""
    if isinstance(side, Mean):
        array = np.asarray(_host(side.samples), dtype=float)
        if array.ndim == 0 or len(array) < 2:
            raise HebbcheckError("hc.mean needs an array of at least two samples along its first axis")
        return array
    return np.asarray(_host(side), dtype=float)[None]


def _host(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)


def _finding(claim: Claim, results: list[dict], proof: list | None) -> Finding:
    entries = [
        {**e, "numbers": r["numbers"], "choice": r["choice"]} for r in results for e in r.get("entries", [])
    ]
    finding = Finding(Outcome.SUPPORTED, "", undefined=sum(bool(r.get("undefined")) for r in results))
    finding.assumptions = {
        name: {"share_met": 1 - np.mean([name in r.get("unmet", []) for r in results]), "needed": None}
        for name in claim.given
    }
    if not entries:
        finding.outcome, finding.reason = Outcome.VACUOUS, "No geometry met the assumptions."
        return finding
    quantile = float(stats.norm.isf(LEVEL / (2 * len(entries))))
    for e in entries:
        e["half"] = quantile * e["sd"] / math.sqrt(e["count"])
        e["broken"] = _broken(e)
    finding.instances = sum(e["count"] for e in entries)
    finding.points = [_point(e) for e in entries][:200]
    broken = [e for e in entries if e["broken"] > 0]
    finding.violations = len(broken)
    finding.proof = [step.as_dict() for step in proof] if proof is not None else None
    _decide(finding, entries, broken, proof)
    return finding


def _broken(e: dict) -> float:
    """By how much the interval misses the claim (0: it does not); rounding of exact equalities is no miss."""
    slack = 1e-9 * max(abs(e["left"]), abs(e["right"]))
    if e["kind"] == "equal":
        return max(abs(e["gap"]) - e["half"] - slack, 0.0)
    return max((-e["gap"] if e["kind"] == "at_least" else e["gap"]) - e["half"] - slack, 0.0)


def _decide(finding: Finding, entries: list[dict], broken: list[dict], proof: list | None) -> None:
    level = f"level {LEVEL:g} over {len(entries)} geometries"
    vague = [e for e in entries if e["half"] > PRECISE * e["sd"]]
    failed = [step.name for step in proof or [] if not step.vanishes]
    if broken:
        e = max(broken, key=lambda e: e["broken"] / (e["half"] + 1e-300))
        finding.outcome = Outcome.REFUTED
        finding.reason = (
            f"The mean is {e['left']:.5g} where {e['right']:.5g} is claimed, off by {e['gap']:.3g} +- {e['half']:.2g} "
            f"({e['choice'] or 'drawn'} geometry, {_sizes(e)}; {e['count']} samples, {level})."
        )
    elif failed:
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"Sampling does not contradict it, but the proof's step {failed[0]!r} does not vanish."
        )
    elif proof:
        finding.outcome = Outcome.PROVED
        finding.reason = (
            f"Proved symbolically ({len(proof)} steps); {finding.instances} samples agree ({level})."
        )
    elif vague:
        finding.outcome = Outcome.INCONCLUSIVE
        finding.reason = (
            f"Too few samples: an interval is wider than {PRECISE:.0%} of the standard deviation."
        )
    else:
        worst = max(entries, key=lambda e: e["half"])
        finding.reason = (
            f"{finding.instances} samples agree on {len(entries)} geometries; a bias above {worst['half']:.2g} would "
            f"have been seen anywhere ({level})."
        )


def _sizes(e: dict) -> str:
    return ", ".join(f"{name}={value:.4g}" for name, value in e["numbers"].items())


def _point(e: dict) -> dict:
    return {
        "measured": e["left"],
        "bound": e["right"],
        "half_width": e["half"],
        "geometry": e["choice"],
        **e["numbers"],
    }
