"""How often the referee errs: `pytest -m calibration tests/test_calibration.py`.

Each verdict is kept in .hebbcheck/calibration.jsonl the moment it is reached, under a digest of the engine, so that a
run that was ended goes on where it was.  The table in docs/calibration.md is written by the run.
"""

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from judging import judged

from hebbcheck.discovery import load
from hebbcheck.verdict import HOLDS
from hebbcheck.versions import engine_digest

pytestmark = pytest.mark.calibration

CLAIMS = Path(__file__).parent / "claims"
KEPT = Path(".hebbcheck") / "calibration.jsonl"
TABLE = Path(__file__).parent.parent / "docs" / "calibration.md"
SEEDS = {"claims_example.py": 50, "wrong_claims.py": 20, "near_misses.py": 10}


def kept():
    """{(claim, seed): outcome} of this engine."""
    if not KEPT.exists():
        return {}
    rows = [json.loads(line) for line in KEPT.read_text().splitlines()]
    return {(r["claim"], r["seed"]): r["outcome"] for r in rows if r["engine"] == engine_digest()}


def outcomes(name):
    """{claim: Counter of outcomes} over the seeds of a file of claims."""
    done, counts = kept(), {}
    KEPT.parent.mkdir(exist_ok=True)
    for claim in load(CLAIMS / name):
        counts[claim] = Counter()
        for seed in range(SEEDS[name]):
            if (claim.id, seed) not in done:
                keep(claim, seed)
            counts[claim][kept()[claim.id, seed]] += 1
    return counts


def keep(claim, seed):
    start = time.process_time()
    outcome = str(judged(claim, seed=seed).outcome)
    seconds = round(time.process_time() - start, 2)
    row = {"engine": engine_digest(), "claim": claim.id, "seed": seed, "outcome": outcome, "seconds": seconds}
    with KEPT.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(f"{claim.id} seed {seed}: {outcome} ({seconds} s)", flush=True)


def write_table(name, counts):
    """The table of one file of claims, between its marks in the document."""
    rows = ["| claim | quantifier | holds | refuted | other |", "|---|---|---|---|---|"]
    for claim, found in counts.items():
        holds = sum(found[outcome] for outcome in HOLDS)
        other = ", ".join(f"{n} {o}" for o, n in sorted(found.items()) if o not in {*HOLDS, "refuted"})
        rows.append(f"| {claim.id} | {claim.quantifier} | {holds} | {found['refuted']} | {other or '-'} |")
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    before, rest = TABLE.read_text().split(begin)
    table = "\n".join([f"{SEEDS[name]} seeds, quick profile, float64, level 1e-4.", "", *rows])
    TABLE.write_text(f"{before}{begin}{table}\n{end}{rest.split(end)[1]}")


def test_true_claims_are_refuted_at_most_once():
    counts = outcomes("claims_example.py")
    write_table("claims_example.py", counts)
    assert sum(found["refuted"] for found in counts.values()) <= 1
    assert all(found["error"] == 0 for found in counts.values())


def test_wrong_claims_are_refuted():
    counts = outcomes("wrong_claims.py")
    write_table("wrong_claims.py", counts)
    assert {claim.id: found["refuted"] for claim, found in counts.items() if found["refuted"] < 19} == {}


def test_near_misses_are_refuted():
    counts = outcomes("near_misses.py")
    write_table("near_misses.py", counts)
    assert {claim.id: found["refuted"] for claim, found in counts.items() if found["refuted"] < 8} == {}
