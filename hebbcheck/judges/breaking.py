"""Whether an assumption is needed: the claim, on instances that break it."""

from __future__ import annotations

from dataclasses import replace

from ..claim import Claim


def breaking(claim: Claim, assumption: str | None) -> Claim:
    """The claim on the instances that break one of its assumptions and meet the others; the claim itself for None."""
    if assumption is None:
        return claim
    test = claim.given[assumption]
    return replace(claim, given={**claim.given, assumption: lambda x: not claim.call(test, x)})


def need(counterexample: bool, instances: int) -> str | None:
    """What a record says of an assumption; None where no instance broke it and met the others."""
    if counterexample:
        return "needed: counterexample"
    return "no counterexample without it" if instances else None
