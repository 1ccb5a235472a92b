"""The power of the judge of absolute constants: `pytest -m calibration tests/test_calibration_constants.py`.

Each form is true as it stands.  With a power of a size taken away from its bound it is false, and the constant that it
needs grows with that exponent.  The table in docs/calibration-constants.md is written by the run.
"""

import time
from collections import Counter
from pathlib import Path

import pytest
from judging import judged

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.claim import Claim
from hebbcheck.verdict import Outcome

pytestmark = pytest.mark.calibration

TABLE = Path(__file__).parent.parent / "docs" / "calibration-constants.md"
SEEDS = range(5)
EXPONENTS = (0.05, 0.1, 0.25, 0.5)


def coherence(x, C):
    return hc.at_most(1 - x.V_min, C * hc.sqrt(x.L / (x.d - 1)))


def alignment(x, C):
    return hc.at_most(x.B_Y, C * hc.sqrt(x.F * x.L / x.d))


def signal(x, C):
    noise = C * hc.sqrt(x.L / (x.d - 1))
    return hc.at_least(x.s_min, x.K_diag_min * (1 - noise) - x.K_off_max * (1 + noise))


def margin(x, C):
    noise, energy = hc.sqrt(x.L / (x.d - 1)), hc.sqrt(x.E_K * x.L / (x.d - 1) * (1 + x.L / (x.F - 2)))
    return hc.at_least(x.gamma_min, x.K_diag_min * (1 - C * noise) - x.K_off_max - C * energy)


ANY_KEYS = geo.facts(keys=geo.anything)
FORMS = {
    "coherence of values (B.37)": (coherence, geo.facts(), ("d", "F")),
    "mean alignment (B.40)": (alignment, geo.facts(), ("d", "F")),
    "signal, any keys (B.22)": (signal, ANY_KEYS, ("d",)),
    "margin, any keys (B.28)": (margin, ANY_KEYS, ("d",)),
}


def claim_of(name, size, exponent):
    form, family, _ = FORMS[name]

    def weakened(x, *, C):
        return form(x, C / float(getattr(x, size)) ** exponent)

    return Claim(f"{name}, {size}^-{exponent}", weakened, family, fails_at_most="delta")


def outcomes(name, size, exponent):
    """How often each outcome, over the seeds."""
    found = Counter(judged(claim_of(name, size, exponent), seed=seed).outcome for seed in SEEDS)
    print(name, size, exponent, dict(found), flush=True)
    return found


def cell_of(found):
    return "/".join(str(found[o]) for o in (Outcome.SUPPORTED, Outcome.REFUTED, Outcome.INCONCLUSIVE))


def write(rows, seconds):
    """The document."""
    head = ["form", "size", "true", *(f"exponent {e}" for e in EXPONENTS)]
    lines = [
        "# How often the judge of absolute constants errs",
        "",
        f"Supported / refuted / inconclusive over {len(SEEDS)} seeds, quick profile, float64, numpy; "
        f"about {seconds:.1f} s a verdict.",
        "Each form is true; with the power of a size taken away from its bound, the constant that it needs grows with "
        "that exponent.",
        "Written by `pytest -m calibration tests/test_calibration_constants.py`.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]
    TABLE.write_text("\n".join(lines))


def test_power_against_the_error_in_the_exponent():
    start, rows, table = time.process_time(), [], {}
    for name, (_, _, sizes) in FORMS.items():
        true = outcomes(name, sizes[0], 0.0)
        for size in sizes:
            found = [outcomes(name, size, exponent) for exponent in EXPONENTS]
            table[name, size] = {0.0: true, **dict(zip(EXPONENTS, found, strict=True))}
            rows.append([name, size, cell_of(true), *map(cell_of, found)])
    verdicts = len(SEEDS) * (len(FORMS) + len(EXPONENTS) * len(rows))
    write(rows, (time.process_time() - start) / verdicts)
    assert all(counts[0.0][Outcome.REFUTED] == 0 for counts in table.values())
    for (name, size), counts in table.items():
        assert all(counts[exponent][Outcome.SUPPORTED] == 0 for exponent in (0.25, 0.5))
        if size == "d" and FORMS[name][1] is not ANY_KEYS:
            assert all(counts[exponent][Outcome.REFUTED] == len(SEEDS) for exponent in (0.1, 0.25, 0.5))
