"""What rounding does to a true claim is no violation, wherever the rounding happens; and a violation stays one."""

import itertools

import numpy as np
import pytest
from judging import judged

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck.arrays import NUMPY, Streams
from hebbcheck.evaluation import evaluate
from hebbcheck.inputs import Raw
from hebbcheck.rounding import Excess, excess

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
    beyond = [(excess(made, raw, value, {}, NUMPY) >= Excess.BEYOND) for raw, value in values]
    return sum(value.slack < 0 for _, value in values), sum(beyond)


def eigenvalue(k):
    return np.linalg.eigvalsh(k.K)[0]


def determinant(k):
    return np.linalg.det(k.K)


def shifted(x):
    return (x.margins + 1e6) - 1e6


def distance(x):
    return 1 + np.linalg.norm(shifted(x) - x.margins)


def negative_eigenvalues(k):
    return np.sum(np.linalg.eigvalsh(k.K) < 0)


def absorbed(x):
    return np.linalg.norm(x.queries - x.keys, axis=1)


@pytest.mark.parametrize(
    ("claim", "raws", "family"),
    [
        (lambda k: hc.at_least(eigenvalue(k), 0), DEFICIENT, KERNELS),
        (lambda k: hc.equal(determinant(k), 0), FACTOR, KERNELS),
        (lambda k: hc.equal(negative_eigenvalues(k), 0), grams(24, 2, 8), KERNELS),
        (lambda x: hc.equal(shifted(x), x.margins), facts(8), FACTS),
        (lambda x: hc.equal(shifted(x), x.margins), facts(400), FACTS),
        (lambda x: hc.equal(hc.max(shifted(x)), hc.max(x.margins)), facts(400), FACTS),
        (lambda x: hc.equal(distance(x), 1), facts(8), FACTS),
        (lambda x: hc.equal(distance(x), 1), facts(400), FACTS),
        (lambda x: hc.equal(absorbed(x), np.full(8, x.eps)), facts(8, 1e-174), FACTS),
    ],
    ids=[
        *(
            "eigenvalue",
            "determinant",
            "number of negative eigenvalues",
            "shift",
            "a shift of many",
            "of numbers",
            "the norm of many shifts",
        ),
        *("and of more", "absorbed noise"),
    ],
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


def ridges(seed, d, norm, rank=3):
    """Features of so large a norm that a ridge is nearly absorbed, with d-dimensional values."""
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((rank, 2 * rank))
    arrays = {
        "keys": np.eye(rank, d),
        "values": rng.standard_normal((rank, d)),
        "Phi": norm * Phi / np.linalg.norm(Phi, axis=1, keepdims=True),
        "map": np.arange(rank),
    }
    return Raw({"F": rank, "d": d, "m": 2 * rank, "delta": 0.1, "ridge": 1.0}, arrays, "kernel")


@pytest.mark.parametrize("d", [40, 635, 5000])
@pytest.mark.parametrize("norm", [1.0, 1e3, 1e5])
@pytest.mark.parametrize(("factor", "broken"), [(1.0, False), (1 + 1e-3, True)])
def test_equality_of_ill_conditioned_solutions_is_decided_exactly_at_any_size(d, norm, factor, broken):
    """The largest of many rounding errors hardly changes when inputs are moved."""
    from hebbcheck.bounds.algorithm import dual, features, primal

    from hebbcheck.judges.search import Search

    def same(x):
        return hc.equal(dual(x, x.F * x.ridge), factor * primal(x, x.ridge))

    def as_far(x):
        size = hc.sqrt(hc.sum(primal(x, x.ridge) ** 2))
        return hc.equal(size + hc.max(hc.abs(dual(x, x.F * x.ridge) - factor * primal(x, x.ridge))), size)

    for function, seed in itertools.product((same, as_far), range(1 if broken else 6)):
        search = Search(hc.claim("test.ridge", over=features)(function), NUMPY, True)
        assert search.see(ridges(seed, d, norm)).broken is broken


def matrices(rng, n, c):
    """A matrix of condition about 10^c, vectors, and a rectangular one."""
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    return {
        "A": (U * np.geomspace(1, 10.0**-c, n)) @ V,
        "b": rng.standard_normal(n),
        "X": rng.standard_normal((n, n // 2)),
    }


def residual(v):
    return np.asarray(v.A) @ np.linalg.solve(np.asarray(v.A), np.asarray(v.b)) - np.asarray(v.b)


def projector_gap(v):
    Q, _ = np.linalg.qr(np.asarray(v.X))
    P = Q @ Q.T
    return float(np.linalg.norm(P @ P - P))


RESIDUALS = {
    "of a solution": lambda v: hc.equal(residual(v), 0),
    "its norm": lambda v: hc.at_most(float(np.linalg.norm(residual(v))), 0),
    "of a projector": lambda v: hc.equal(projector_gap(v), 0),
    "its mean": lambda v: hc.at_most(float(np.mean(np.abs(residual(v)))), 0),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", RESIDUALS)
def test_a_residual_that_is_zero_but_for_rounding_is_zero(name, dtype):
    family = geo.family(matrices, n=(4, 40), c=[1, 3])
    made = hc.claim("test.residual", over=family)(RESIDUALS[name])
    assert judged(made, dtype=dtype).outcome != "refuted"


def systems(rng, n, c):
    """A matrix of which half of the singular values are 1, half 10^-c, and many solutions."""
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    values = np.where(np.arange(n) % 2, 10.0**-c, 1.0)
    return {"A": (U * values) @ V, "X": rng.standard_normal((n, 200))}


def recovered(v):
    distance = np.linalg.norm(np.linalg.solve(v.A, v.A @ v.X) - v.X)
    return hc.equal(1 + distance / np.linalg.norm(v.X), 1)


def inverted(v):
    size = np.linalg.norm(v.X)
    return hc.equal(np.linalg.norm(v.A @ (np.linalg.inv(v.A) @ v.X) - v.X) + size, size)


@pytest.mark.parametrize("c", [9.0, 10.0])
@pytest.mark.parametrize("form", [recovered, inverted])
def test_where_single_precision_is_meaningless_a_small_violation_is_none(form, c):
    family = geo.family(systems, n=(20, 60), c=c)
    assert judged(hc.claim("test.systems", over=family)(form)).outcome == "held"


def test_a_residual_that_is_not_zero_is_refuted():
    family = geo.family(matrices, n=(4, 40), c=[1, 3])

    def almost(gap):
        return lambda v: hc.at_most(np.linalg.norm(residual(v) + gap * np.asarray(v.b)), 0)

    for gap in (1e-6, 1e-3):
        assert judged(hc.claim("test.gap", over=family)(almost(gap))).outcome == "refuted"


@pytest.mark.parametrize("largest", [np.max, lambda a: max(a.ravel()), lambda a: sorted(a.ravel())[-1]])
def test_functions_that_compare_equal_numbers_are_judged_in_floats(largest):
    """Cosines stand in their matrix twice; balls cannot tell which of two equal ones is larger."""
    family = geo.facts(keys=geo.sphere, values=geo.sphere, F=(4, 12), d=(3, 8))

    def cosines(x):
        return largest(x.keys @ x.keys.T - 2 * np.eye(len(x.keys)))

    def below(bound):
        return lambda x: hc.at_most(cosines(x), bound)

    for bound, outcome in ((0.01, "refuted"), (1.0, "held")):
        assert judged(hc.claim("test.cosines", over=family)(below(bound))).outcome == outcome


def test_large_instances_are_confirmed_by_balls_where_these_can_decide():
    from hebbcheck.judges.search import Search

    def true(x):
        return hc.at_least((x.E_K + x.E_v) ** 2 - (x.E_K - x.E_v) ** 2, 4 * x.E_K * x.E_v)

    for function, refuted in ((true, False), (lambda x: hc.at_least(x.E_K, 2 * x.E_K), True)):
        search = Search(hc.claim("test.large", over=FACTS)(function), NUMPY, False)
        assert search.see(*facts(40)).broken is refuted and search.exact == refuted
