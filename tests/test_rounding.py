"""What rounding does to a true claim is no violation, wherever the rounding happens; and a violation stays one."""

import numpy as np
import pytest

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.arrays import NUMPY, Streams
from hebbcheck.evaluation import evaluate
from hebbcheck.inputs import Raw
from hebbcheck.rounding import beyond_rounding

KERNELS = geo.kernels()
FACTS = geo.facts(keys=geo.anything, values=geo.anything, noise=(0.0, 0.5))


def grams(facts, features, count=100):
    """Singular kernels with entries of many sizes."""
    rng = np.random.default_rng(0)
    sizes = 10 ** rng.uniform(-16, 2, (count, facts, features))
    numbers = {"F": facts, "m": features}
    return [Raw(numbers, {"Phi": phi}, "kernel") for phi in sizes * rng.choice((-1, 1), sizes.shape)]


DEFICIENT, FACTOR = grams(3, 2), grams(2, 1)


def facts(m, eps=0.1):
    return [FACTS.raw({"F": 8, "d": 8, "m": m, "delta": 0.1, "eps": eps}, Streams(2), FACTS.choices[0])]


def broken(function, raws, family):
    """(how many look broken, how many are by more than rounding)."""
    made = hc.claim("test.rounding", over=family)(function)
    values = [(raw, evaluate(made, family.build(raw, NUMPY))) for raw in raws]
    beyond = [beyond_rounding(made, raw, value, {}, NUMPY) for raw, value in values]
    return sum(value.slack < 0 for _, value in values), sum(beyond)


def eigenvalue(k):
    return np.linalg.eigvalsh(k.K)[0]


def determinant(k):
    return np.linalg.det(k.K)


def shifted(x):
    return (x.margins + 1e6) - 1e6


def absorbed(x):
    return np.linalg.norm(x.queries - x.keys, axis=1)


@pytest.mark.parametrize(
    ("claim", "raws", "family"),
    [
        (lambda k: hc.at_least(eigenvalue(k), 0), DEFICIENT, KERNELS),
        (lambda k: hc.equal(determinant(k), 0), FACTOR, KERNELS),
        (lambda x: hc.equal(shifted(x), x.margins), facts(8), FACTS),
        (lambda x: hc.equal(shifted(x), x.margins), facts(400), FACTS),
        (lambda x: hc.equal(hc.max(shifted(x)), hc.max(x.margins)), facts(400), FACTS),
        (lambda x: hc.equal(absorbed(x), np.full(8, x.eps)), facts(8, 1e-174), FACTS),
    ],
    ids=["eigenvalue", "determinant", "shift", "a shift of many", "of numbers", "absorbed noise"],
)
def test_the_truth_only_looks_broken(claim, raws, family):
    looks, beyond = broken(claim, raws, family)
    assert looks > len(raws) / 20 and beyond == 0


@pytest.mark.parametrize(
    ("claim", "raws", "family"),
    [
        (lambda k: hc.at_least(eigenvalue(k), 1e-9 * float(k.trace)), DEFICIENT, KERNELS),
        (lambda k: hc.equal(determinant(k), 1e-9 * float(k.trace) ** 2), FACTOR, KERNELS),
        (lambda x: hc.equal(x.margins + 1e-9, x.margins), facts(400), FACTS),
        (lambda x: hc.equal(absorbed(x), np.full(8, x.eps * (1 + 1e-9))), facts(8), FACTS),
    ],
    ids=["eigenvalue", "determinant", "numbers of many", "noise"],
)
def test_a_violation_of_a_billionth_is_one(claim, raws, family):
    assert broken(claim, raws, family) == (len(raws), len(raws))


def test_large_instances_are_confirmed_by_balls_where_these_can_decide():
    from hebbcheck.judges.search import Search

    def true(x):
        return hc.at_least((x.E_K + x.E_v) ** 2 - (x.E_K - x.E_v) ** 2, 4 * x.E_K * x.E_v)

    for function, refuted in ((true, False), (lambda x: hc.at_least(x.E_K, 2 * x.E_K), True)):
        search = Search(hc.claim("test.large", over=FACTS)(function), NUMPY, False)
        assert search.see(*facts(40)).broken is refuted and search.exact == refuted
