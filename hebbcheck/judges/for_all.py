"""For all instances: an inequality without constants, refuted by one instance, proved by sympy where it has a proof."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from ..claim import Claim
from ..proofs import Step, check_proof
from ..settings import Settings
from ..sweeps import Task
from ..verdict import Finding, Outcome, Quantifier, nothing_judged
from .breaking import need

QUANTIFIER = Quantifier.FOR_ALL


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """Attack the claim, draw at larger sizes, and attack it once more without each of its assumptions."""
    return (yield from judge_by_search(claim, settings, identity=False))


def judge_by_search(
    claim: Claim, settings: Settings, identity: bool
) -> Generator[list[Task], list[dict], Finding]:
    """What identities and inequalities have in common: the search decides, a proof makes `held` to `proved`."""
    attacks = list(_attacks(settings, identity, None))
    draws = list(_draws(settings, identity)) if claim.family.name != "instance" else []
    questioned = claim.given if claim.test_needs else ()
    broken = {name: list(_attacks(settings, identity, name)) for name in questioned}
    results = yield attacks + draws + [task for group in broken.values() for task in group]
    found = results[: len(attacks) + len(draws)]
    rest = iter(results[len(found) :])
    needed = {name: _needed([next(rest) for _ in group]) for name, group in broken.items()}
    return _finding(claim, found, needed, check_proof(claim))


def _attacks(settings: Settings, identity: bool, broken: str | None) -> Iterator[Task]:
    for part in range(1 if broken else settings.by_profile(1, 2)):
        yield Task(
            "hebbcheck.judges.attack:measure",
            {
                "part": part,
                "examples": settings.by_profile(120, 160) // (2 if broken else 1),
                "steps": settings.by_profile(1500, 2000) // (2 if broken else 1),
                "broken": broken,
                "identity": identity,
            },
        )


def _draws(settings: Settings, identity: bool) -> Iterator[Task]:
    draws = settings.by_profile(18, 24)
    yield Task("hebbcheck.judges.attack:measure_draws", {"draws": draws, "identity": identity})


def _needed(results: list[dict]) -> str | None:
    return need(any(r["violations"] for r in results), sum(r["tested"] for r in results))


def _finding(
    claim: Claim, found: list[dict], needed: dict[str, str | None], proof: list[Step] | None
) -> Finding:
    tested = sum(r["tested"] for r in found)
    violations = sum(r["violations"] for r in found)
    ratios = [(r["ratio"], r["tightest"]) for r in found if r["ratio"] is not None]
    tightest = min(ratios, key=lambda pair: pair[0], default=(None, None))
    seen = sum(r["seen"] for r in found)
    unmet = {name: sum(r["unmet"].get(name, 0) for r in found) for name in claim.given}
    finding = Finding(
        outcome=Outcome.HELD,
        reason="",
        instances=tested,
        undefined=sum(r["undefined"] for r in found),
        violations=violations,
        tightness={"ratio": tightest[0], "instance": tightest[1]},
        assumptions={
            name: {"share_met": 1 - unmet[name] / seen if seen else None, "needed": needed.get(name)}
            for name in claim.given
        },
        points=[point for r in found for point in r["points"]][:200],
        proof=[step.as_dict() for step in proof] if proof is not None else None,
    )
    _decide(finding, found, proof, sum(r["beyond_trivial"] for r in found))
    finding.arithmetic = "exact" if any(r["exact"] for r in found) else "float only"
    return finding


def _decide(finding: Finding, found: list[dict], proof: list[Step] | None, beyond_trivial: int) -> None:
    broken = [r for r in found if r["violations"]]
    failed = [step.name for step in proof or [] if not step.vanishes]
    if broken:
        smallest = min(broken, key=lambda r: _entries(r["smallest"]))
        worst = min(broken, key=lambda r: r["ratio"])
        finding.counterexamples = {"smallest": smallest["smallest"], "worst": worst["worst"]}
        finding.outcome = Outcome.REFUTED
        exactly = "confirmed exactly" if smallest["exact"] else "far beyond rounding"
        told = f"smallest: {_sizes(smallest)}; relative slack {worst['ratio']:.3g} at worst"
        finding.reason = f"An instance breaks it, {exactly} ({told})."
    elif finding.instances == 0:
        finding.outcome = Outcome.VACUOUS
        finding.reason = nothing_judged("instance", finding.undefined, finding.assumptions)
    elif beyond_trivial == finding.instances:
        finding.outcome = Outcome.VACUOUS
        finding.reason = f"The bound never passed the trivial value on {finding.instances} instances."
    elif failed:
        finding.outcome = Outcome.INCONCLUSIVE
        missing = f"the proof's step {failed[0]!r} does not vanish"
        finding.reason = f"No counterexample in {finding.instances} instances, but {missing}."
    elif proof:
        finding.outcome = Outcome.PROVED
        finding.reason = (
            f"Proved symbolically in {len(proof)} step{'s' * (len(proof) > 1)}; no counterexample in "
            f"{finding.instances} instances."
        )
    else:
        finding.reason = f"No counterexample in {finding.instances} instances, searched adversarially."


def _entries(raw: dict[str, Any]) -> int:
    return sum(len(array["data"]) for array in raw["arrays"].values())


def _sizes(result: dict) -> str:
    return ", ".join(f"{name}={value:.4g}" for name, value in result["smallest"]["numbers"].items())
