"""The examples of claims files: the true ones pass, the near misses are refuted, each as its quantifier says."""

from pathlib import Path

import pytest
from judging import judged

from hebbcheck.discovery import load
from hebbcheck.verdict import HOLDS

CLAIMS = Path(__file__).parent / "claims"
QUANTIFIERS = {
    "decomposition": "identity",
    "margin": "for all",
    "welch": "for all",
    "unbiased": "expectation",
    "diagonal": "probability >= 1 - delta",
    "coherence": "absolute constants",
    "energy": "absolute constants",
    "capacity": "rate",
}


SLOW = {"wrong.capacity": pytest.mark.calibration}
"""It measures what example.capacity measures."""


def of(file):
    return [pytest.param(claim, id=claim.id, marks=SLOW.get(claim.id, ())) for claim in load(CLAIMS / file)]


@pytest.mark.parametrize("claim", of("claims_example.py"))
def test_true_examples_hold(claim):
    assert claim.quantifier == QUANTIFIERS[claim.id.removeprefix("example.")]
    finding = judged(claim)
    assert finding.outcome in HOLDS, finding.reason


@pytest.mark.parametrize("claim", of("wrong_claims.py"))
def test_wrong_examples_are_refuted(claim):
    assert claim.quantifier == QUANTIFIERS[claim.id.removeprefix("wrong.")]
    finding = judged(claim)
    assert finding.outcome == "refuted", finding.reason
    assert ("smallest" in finding.counterexamples) == (claim.quantifier in ("identity", "for all"))


def test_each_quantifier_has_an_example():
    assert {claim.quantifier for claim in load(CLAIMS / "claims_example.py")} == set(QUANTIFIERS.values())
