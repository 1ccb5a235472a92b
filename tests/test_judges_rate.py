"""The judge of rates: exponents with intervals; rivals are reported and never decide."""

import math

import numpy as np
import pytest
from judging import judged

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt
from hebbcheck.errors import HebbcheckError
from hebbcheck.judges import rate
from hebbcheck.settings import LEVEL, Settings


def noisy(rng, F, d=1.0):
    """Proportional to F log F / d, up to ten percent."""
    return {"W": F * math.log(F) / d * rng.uniform(0.9, 1.1), "u": rng.random()}


ONE = geo.family(noisy, F=(16, 4096))
TWO = geo.family(noisy, F=[16, 64, 256, 1024], d=(8, 512))


def claim(function, over=ONE, **options):
    return hc.claim(f"rate.{function.__name__}", over=over, **options)(function)


def scales(prediction):
    def as_predicted(x):
        return hc.scales_as(x.W, prediction(x))

    return as_predicted


# --- verdicts


def test_supported():
    finding = judged(claim(scales(lambda x: 7 * x.F * log(x.F))))
    assert finding.outcome == "supported" and finding.instances == 30
    [(name, exponent)] = finding.exponents.items()
    assert name == "F" and exponent["low"] < 0 < exponent["high"] and abs(exponent["value"]) < 0.02
    assert "level 0.0001" in finding.reason and "within 0.25 of 0" in finding.reason


def test_refuted_beyond_a_quarter():
    finding = judged(claim(scales(lambda x: x.F**1.5)))
    assert finding.outcome == "refuted" and "further than 0.25 from 0" in finding.reason
    assert finding.exponents["F"]["high"] < -0.25
    assert judged(claim(scales(lambda x: sqrt(x.F)))).outcome == "refuted"


def test_each_size_that_varies_has_its_exponent():
    right = judged(claim(scales(lambda x: x.F * log(x.F) / x.d), TWO))
    assert right.outcome == "supported" and set(right.exponents) == {"F", "d"}
    wrong = judged(claim(scales(lambda x: x.F * log(x.F)), TWO))
    assert wrong.outcome == "refuted" and abs(wrong.exponents["F"]["value"]) < 0.05
    assert wrong.exponents["d"]["value"] == pytest.approx(-1, abs=0.05)


def test_several_relations():
    def both(x):
        return [hc.scales_as(x.W, x.F * log(x.F)), hc.scales_as(x.W / x.F, log(x.F))]

    def second_is_wrong(x):
        return [hc.scales_as(x.W, x.F * log(x.F)), hc.scales_as(x.W / x.F, x.F)]

    assert set(judged(claim(both)).exponents) == {"F (1)", "F (2)"}
    assert judged(claim(second_is_wrong)).outcome == "refuted"


def test_inconclusive_where_intervals_reach_beyond():
    def scattered(rng, F):
        return {"W": F * math.exp(3 * rng.standard_normal())}

    finding = judged(claim(scales(lambda x: x.F), geo.family(scattered, F=(16, 4096))))
    assert finding.outcome == "inconclusive" and "larger sizes" in finding.reason


def test_inconclusive_where_no_size_varies():
    finding = judged(claim(scales(lambda x: x.F), geo.family(noisy, F=64)))
    assert finding.outcome == "inconclusive" and "No size varies" in finding.reason


def test_only_positive_finite_sides_count():
    def sometimes(x):
        measured = x.W if x.u < 0.6 else (-1.0 if x.u < 0.8 else math.nan)
        return hc.scales_as(measured, x.F * log(x.F))

    finding = judged(claim(sometimes))
    assert (
        finding.outcome == "supported"
        and finding.undefined + finding.instances == 30
        and finding.undefined > 3
    )
    never = judged(claim(scales(lambda x: -x.F)))
    assert never.outcome == "vacuous" and "positive" in never.reason and never.undefined == 30


def test_assumptions():
    finding = judged(claim(scales(lambda x: x.F * log(x.F)), given={"F >= 100": lambda x: x.F >= 100}))
    assert finding.outcome == "supported" and finding.instances == 20 and finding.undefined == 0
    assert finding.assumptions["F >= 100"]["share_met"] == pytest.approx(2 / 3)
    assert finding.assumptions["F >= 100"]["needed"] == "no counterexample without it"
    assert judged(claim(scales(lambda x: x.F), given={"never": lambda x: x.F < 0})).outcome == "vacuous"


def test_an_assumption_is_needed_if_the_rate_fails_where_it_is_broken():
    kinked = geo.family(lambda rng, F: {"W": max(F, 500) * rng.uniform(0.9, 1.1)}, F=(16, 2**17))
    given = {"F >= 500": lambda x: x.F >= 500, "F > 0": lambda x: x.F > 0}
    finding = judged(claim(scales(lambda x: x.F), kinked, given=given))
    assert finding.outcome == "supported"
    needed = [facts["needed"] for facts in finding.assumptions.values()]
    assert needed == ["needed: counterexample", None]


def test_other_relations_are_an_error():
    def mixed(x):
        return [hc.scales_as(x.W, x.F), hc.at_least(x.W, 0)]

    with pytest.raises(HebbcheckError, match="two claims"):
        judged(claim(mixed))


def test_an_exact_rate_has_no_width():
    finding = judged(claim(lambda x: hc.scales_as(3 * x.F, x.F)))
    assert finding.outcome == "supported" and abs(finding.exponents["F"]["value"]) < 1e-9


# --- rivals


def test_rivals_are_reported():
    finding = judged(claim(scales(lambda x: x.F**1.5 * log(x.F))))
    assert "prediction times F^-1/2" in finding.notes[0] and finding.outcome == "refuted"


def test_rivals_never_decide():
    def nearly(rng, F):
        return {"W": F**1.2}

    finding = judged(claim(scales(lambda x: x.F), geo.family(nearly, F=(16, 4096))))
    assert finding.outcome == "supported" and finding.exponents["F"]["value"] == pytest.approx(0.2, abs=1e-6)


# --- grid and fit


def test_the_grid():
    def sides(x):
        return hc.scales_as(1.0, 1.0)

    listed = rate.grid(claim(sides, geo.capacity(F=[4, 8], d=[16, 32, 64], memory="bilinear")), Settings())
    assert {(n["F"], n["d"]) for n in listed} == {(F, d) for F in (4, 8) for d in (16, 32, 64)}
    spaced = rate.grid(claim(sides, geo.family(noisy, F=(4, 4096))), Settings())
    assert [n["F"] for n in spaced] == [4, 16, 64, 256, 1024, 4096]
    assert len(rate.grid(claim(sides, geo.facts()), Settings())) == 3**3
    assert all(n["delta"] == 0.1 for n in rate.grid(claim(sides, geo.facts()), Settings()))
    unit = rate.grid(claim(sides, geo.facts(F=4, d=4, m=4, t=(0.0, 1.0))), Settings())
    assert [n["t"] for n in unit] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])


def test_exponents_by_hand():
    rng = np.random.default_rng(0)
    F, d = np.repeat([4.0, 16.0, 64.0], 8), np.tile([2.0, 8.0], 12)
    logs = 0.3 * np.log(F) - 0.7 * np.log(d) + 0.05 * rng.standard_normal(24)
    found = rate.exponents({"F": list(F), "d": list(d)}, list(np.exp(logs)), 0.05)
    design = np.stack([np.ones(24), np.log(F), np.log(d)], axis=1)
    solution, [rss], _, _ = np.linalg.lstsq(design, logs, rcond=None)
    covariance = rss / 21 * np.linalg.inv(design.T @ design)
    for k, name in enumerate(("F", "d"), start=1):
        half = 2.0796138 * math.sqrt(covariance[k, k])
        assert found[name]["value"] == pytest.approx(solution[k])
        assert found[name]["low"] == pytest.approx(solution[k] - half)
        assert found[name]["high"] == pytest.approx(solution[k] + half)


def test_the_level_is_shared_among_the_exponents():
    finding = judged(claim(scales(lambda x: x.F * log(x.F) / x.d), TWO))
    sizes = {n: [p[n] for p in finding.points] for n in ("F", "d")}
    ratios = [p["measured"] / p["bound"] for p in finding.points]
    assert finding.exponents == rate.exponents(sizes, ratios, LEVEL / 2)


def test_numbers_too_large_for_a_float_are_no_evidence_and_no_error():
    finding = judged(claim(scales(lambda x: math.exp(x.F))))
    assert (
        finding.outcome == "refuted" and finding.undefined == 10
    )  # half of the sizes lie below log of the largest
