"""Identities: equalities of numbers or of arrays, exact on small instances, proved by sympy where a proof is given."""

from __future__ import annotations

from collections.abc import Generator

from ..claim import Claim
from ..settings import Settings
from ..sweeps import Task
from ..verdict import Finding, Quantifier
from .for_all import judge_by_search

QUANTIFIER = Quantifier.IDENTITY


def judge(claim: Claim, settings: Settings) -> Generator[list[Task], list[dict], Finding]:
    """As an inequality is judged, with every difference recomputed exactly."""
    return (yield from judge_by_search(claim, settings, identity=True))
