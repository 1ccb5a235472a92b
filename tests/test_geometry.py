"""Families: sizes, draws, attacks, maps, and what they refuse."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from scipy import stats

from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo
from hebbcheck.arrays import NUMPY, Streams
from hebbcheck.drawn import DrawnAttribute, MissingInput, UnknownAttribute
from hebbcheck.geometry.maps import worst_map
from hebbcheck.geometry.sizes import Size

NUMBERS = {"F": 8, "d": 4, "m": 6, "delta": 0.1}
FAMILIES = {
    "facts": geo.facts(),
    "anything": geo.facts(keys=geo.anything, values=geo.anything, mapping="any", noise=(0.1, 1)),
    "kernel memory": geo.facts(keys=geo.anything, memory="kernel"),
    "whitened": geo.facts(memory="whitened", values=geo.tied, mapping="worst"),
    "kernels": geo.kernels(),
    "preconditioned": geo.preconditioned(),
    "vectors": geo.vectors(count=3, m=4),
    "one vector": geo.vectors(count=1),
    "mlps": geo.mlps(),
    "custom": geo.family(lambda rng, k, t: {"x": rng.standard_normal(k), "y": t}, k=(2, 5), t=(0.0, 1.0)),
    "instance": geo.instance(np.eye(3), np.eye(3)),
}


def examples(family, count=30):
    found = []

    @seed(3)
    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(family.strategy())
    def see(raw):
        found.append(raw)

    see()
    return found


# --- what all families do


@pytest.mark.parametrize("name", FAMILIES)
def test_probes_draws_and_attacks_build(name):
    family = FAMILIES[name]
    assert len(list(family.probes())) >= 1
    rng = np.random.default_rng(0)
    for choice in family.choices:
        numbers = family.sample_sizes(rng)
        numbers.update(
            {k: min(v, 20) for k, v in numbers.items() if k in ("F", "d", "m")} if name != "instance" else {}
        )
        one, two = (family.raw(numbers, Streams("t", 0), choice) for _ in range(2))
        assert one.digest == two.digest
        assert family.draw(numbers, Streams("t", 0), choice=choice).raw.digest == one.digest
    for raw in examples(family):
        assert family.build(raw).numbers == raw.numbers
        if family.exact:
            assert family.build_exactly(raw).raw is raw
    assert set(family.free) <= {
        "map",
        "keys",
        "values",
        "A",
        "G",
        "B",
        "Phi",
        "root",
        "noise",
        "vectors",
        "inputs",
        "queries",
    }
    assert isinstance(repr(family), str) and family.fingerprint


@pytest.mark.parametrize("name", ["facts", "anything", "kernel memory", "kernels", "mlps", "vectors"])
def test_attacks_keep_to_the_sizes(name):
    for raw in examples(FAMILIES[name], 60):
        F, d, m = (raw.numbers.get(k) for k in ("F", "d", "m"))
        for array, shape in {
            "keys": (F, d),
            "A": (m, d),
            "G": (m, d),
            "Phi": (F, m),
            "noise": (F, d),
        }.items():
            if array in raw.arrays and "queries" not in raw.arrays:
                assert raw.arrays[array].shape == shape
        if "map" in raw.arrays:
            assert raw.arrays["map"].shape == (F,) and raw.arrays["map"].dtype.kind == "i"
            assert raw.arrays["map"].min() >= 0 and raw.arrays["map"].max() < len(raw.arrays["values"])
        assert all(np.all(np.isfinite(a)) for a in raw.arrays.values())


def test_sampled_shapes_start_at_three_facts_and_two_dimensions():
    sampled = examples(geo.facts(), 60)
    assert min(r.numbers["F"] for r in sampled) == 3 and min(r.numbers["d"] for r in sampled) == 2
    chosen = examples(geo.facts(keys=geo.anything), 60)
    assert min(r.numbers["F"] for r in chosen) == 1 and min(r.numbers["d"] for r in chosen) == 1
    assert min(r.numbers["F"] for r in examples(geo.facts(F=(2, 4)), 30)) == 2
    drawn = [geo.facts().sample_sizes(np.random.default_rng(s)) for s in range(200)]
    assert (
        min(n["F"] for n in drawn) >= 3
        and min(n["d"] for n in drawn) >= 4
        and max(n["m"] for n in drawn) <= 512
    )


def test_the_adversary_chooses_features_with_the_keys():
    def normal(raw):
        return (
            all(stats.kstest(raw.arrays[n].ravel(), "norm").pvalue > 1e-6 for n in "AG")
            and raw.arrays["A"].all()
        )

    assert all(normal(r) for r in examples(geo.facts(values=geo.anything, m=12, d=8), 30))
    assert not all(normal(r) for r in examples(geo.facts(keys=geo.anything, m=12, d=8), 30))


# --- facts


def test_defaults():
    family = geo.facts()
    assert repr(family) == "facts(keys=sphere, values=sphere, memory=bilinear)"
    raw = family.raw(NUMBERS, Streams(0))
    assert raw.unit == {"keys", "values"} and raw.memory == "bilinear" and not raw.spanned
    assert sorted(raw.arrays["map"]) == list(range(8))
    assert not np.array_equal(raw.arrays["map"], np.arange(8))


def test_tied_values_are_the_keys():
    x = geo.facts(values=geo.tied).draw(NUMBERS, Streams(0))
    np.testing.assert_array_equal(x.values, x.keys)
    assert x.raw.unit == {"keys", "values"}


@pytest.mark.parametrize(
    ("family", "free"),
    [
        (geo.facts(), {"keys", "values"}),
        (geo.facts(values=geo.tied), set()),
        (geo.facts(values=geo.low_rank(2)), {"keys"}),
        (geo.facts(keys=geo.tight_frame, values=geo.anything), {"values"}),
        (geo.facts(keys=geo.clustered(2), values=geo.gaussian), {"values"}),
        (geo.facts(mapping="worst"), set()),
    ],
)
def test_a_local_search_stays_in_the_family(family, free):
    assert set(family.free) - {"map", "A", "G", "Phi", "noise"} == free


def test_structure_that_floats_do_not_hold_is_not_recomputed_exactly():
    assert geo.facts().exact and geo.facts(keys=geo.anything, values=geo.spiked(1)).exact
    assert not geo.facts(keys=geo.tight_frame).exact and not geo.facts(values=geo.low_rank(2)).exact


def test_maps():
    identity = geo.facts(mapping="identity").raw(NUMBERS, Streams(0)).arrays
    assert identity["map"].tolist() == list(range(8))
    any_map = [geo.facts(mapping="any").raw(NUMBERS, Streams(s)).arrays for s in range(60)]
    assert {len(a["values"]) for a in any_map} == set(range(1, 11))
    assert any(len(set(a["map"].tolist())) < min(8, len(a["values"])) for a in any_map)
    tied = geo.facts(mapping="any", values=geo.tied).raw(NUMBERS, Streams(0)).arrays
    assert len(tied["values"]) == 8


@pytest.mark.parametrize("shapes", [{"F": 48, "d": 12}, {"F": 24, "d": 5}, {"F": 30, "d": 4}])
@pytest.mark.parametrize("memory", ["quadratic", "kernel", "bilinear"])
def test_the_worst_map_is_worse_than_random_ones(memory, shapes):
    numbers = {"m": 200 if memory == "bilinear" else 10, "delta": 0.1, **shapes}
    worse = 0
    for s in range(20):
        margins = [
            geo.facts(keys=geo.anything, memory=memory, mapping=mapping)
            .draw(numbers, Streams("worst", s), choice="keys: uniform")
            .gamma_min
            for mapping in ("worst", "permutation")
        ]
        worse += margins[0] < margins[1]
    assert stats.binomtest(worse, 20, alternative="greater").pvalue < 1e-4


def test_the_worst_map_minimises_the_cross_talk_of_its_pair():
    rng = np.random.default_rng(0)
    for F in (1, 2, 3, 4, 5):
        keys, values = rng.standard_normal((2, F, 3))
        K = (keys @ keys.T) ** 2
        found = worst_map(K, values)
        assert sorted(found) == list(range(F))
        if F < 3:
            continue
        i = int(np.argmax(np.sum(K**2, axis=0) - np.diag(K) ** 2))
        a = found[i]
        others = [t for t in range(F) if t != i]

        def crosstalk(mapping, b, i=i, a=a, others=others, K=K, values=values):
            return sum(K[t, i] * (values[a] - values[b]) @ values[mapping[t]] for t in others)

        b = min((j for j in range(F) if j != a), key=lambda j: -np.linalg.norm(values[a] - values[j]))
        every = [p for p in itertools.permutations(range(F)) if p[i] == a]
        assert crosstalk(found, b) == pytest.approx(min(crosstalk(p, b) for p in every))


def test_noise():
    raw = geo.facts(noise=0.5).raw({**NUMBERS, "eps": 0.5}, Streams(0))
    np.testing.assert_allclose(np.linalg.norm(raw.arrays["noise"], axis=1), 1)
    assert "noise" in raw.unit and "noise" not in geo.facts().raw(NUMBERS, Streams(0)).unit
    eps = [geo.facts(noise=(0.1, 2)).sample_sizes(np.random.default_rng(s))["eps"] for s in range(50)]
    assert 0.1 <= min(eps) < 0.3 and 1.8 < max(eps) <= 2


def test_a_further_keyword_is_a_number_that_varies():
    family = geo.facts(t=(0.02, 0.98), k=[1, 2])
    drawn = [family.sample_sizes(np.random.default_rng(s)) for s in range(50)]
    assert (
        min(n["t"] for n in drawn) < 0.1
        and max(n["t"] for n in drawn) > 0.9
        and {n["k"] for n in drawn} == {1, 2}
    )
    x = family.draw({**NUMBERS, "t": 0.5, "k": 1}, Streams(0))
    assert x.t == 0.5 and x.k == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (dict(keys="sphere"), "no shape"),
        (dict(values=geo.spiked), "no shape"),
        (dict(keys=geo.tied), "try values=geo.tied"),
        (dict(memory="bilnear"), "choose one of"),
        (dict(mapping="bijective"), "one of permutation"),
        (dict(F=0), "whole number from 1"),
        (dict(F=-3), "whole number from 1"),
        (dict(F=2.5), "whole number from 1"),
        (dict(F=True), "finite numbers"),
        (dict(F="8"), "finite numbers"),
        (dict(F=float("nan")), "finite numbers"),
        (dict(d=math.inf), "finite numbers"),
        (dict(F=(10, 5)), "low <= high"),
        (dict(F=(5,)), "low <= high"),
        (dict(F=(1, 2, 3)), "low <= high"),
        (dict(F=()), "low <= high"),
        (dict(F=[]), "needs an entry"),
        (dict(F=[3, 0]), "whole number from 1"),
        (dict(F=range(3)), "finite numbers"),
        (dict(delta=1.5), "between 0 and 1"),
        (dict(delta=0), "between 0 and 1"),
        (dict(noise=-0.1), "not negative"),
        (dict(noise="much"), "finite numbers"),
        (dict(f=8), "did you mean F=?"),
        (dict(Delta=0.1), "did you mean delta=?"),
        (dict(K=3), "computes"),
        (dict(L=3), "computes"),
        (dict(raw=3), "computes"),
        (dict(maping="any"), "finite numbers"),
    ],
)
def test_declarations_that_make_no_sense(wrong, said):
    with pytest.raises(HebbcheckError) as error:
        geo.facts(**wrong)
    assert said in str(error.value) and "\n" not in str(error.value) and ";" in str(error.value)


# --- sizes


def test_sizes_of_a_draw():
    rng = np.random.default_rng(0)
    many = [Size("F").sample(rng) for _ in range(2000)]
    assert all(isinstance(v, int) for v in many) and min(many) == 3 and 250 < max(many) <= 256
    assert abs(np.median(many) - math.sqrt(3 * 256)) < 4  # log-uniform
    assert max(Size("F").sample(rng, "standard") for _ in range(300)) > 256
    assert {Size("F", (2, 4)).sample(rng) for _ in range(60)} == {2, 3, 4}
    assert (
        Size("F", 7).sample(rng) == 7 and Size("F", 7.0).given == 7 and isinstance(Size("F", 7.0).given, int)
    )
    assert {Size("delta").sample(rng) for _ in range(60)} == {0.5, 0.1, 0.02}
    assert isinstance(Size("F", np.int64(7)).given, int) and isinstance(
        Size("t", np.float32(0.5)).given, float
    )
    assert {Size("k", (0, 2), whole=True).sample(rng) for _ in range(60)} == {0, 1, 2}


@pytest.mark.parametrize(
    ("size", "low", "high"),
    [
        (Size("F"), 1, 12),
        (Size("d"), 1, 8),
        (Size("F", (5, 100)), 5, 12),
        (Size("F", (50, 100)), 50, 50),
        (Size("F", (2, 4)), 2, 4),
        (Size("F", 40), 40, 40),
    ],
)
def test_sizes_of_an_attack(size, low, high):
    seen = []

    @settings(max_examples=60)
    @given(size.attack())
    def see(value):
        seen.append(value)

    see()
    assert (min(seen), max(seen)) == (low, high)


# --- kernels, vectors


def test_kernels_have_that_rank():
    for choice in geo.kernels().choices:
        x = geo.kernels().draw({"F": 9, "m": 3}, Streams(0), choice=choice)
        assert np.linalg.matrix_rank(x.K) <= 3 and np.linalg.eigvalsh(x.K)[0] > -1e-9 * x.K_diag_max


def test_preconditioned_kernels_are_normalised():
    for choice in geo.preconditioned().choices:
        x = geo.preconditioned().draw({"F": 9, "m": 3}, Streams(0), choice=choice)
        try:
            assert np.trace(x.K_M) == pytest.approx(27)
        except ZeroDivisionError:
            assert not np.any(x.Phi @ x.raw.arrays["root"])


@pytest.mark.parametrize("choice", geo.preconditioned().choices)
@pytest.mark.parametrize("m", [3, 12])
def test_the_whitened_kernel_projects_on_the_features(choice, m):
    x = geo.preconditioned().draw({"F": 9, "m": m}, Streams(0), choice=choice)
    Pi = x.K_white / 9
    np.testing.assert_allclose(Pi @ Pi, Pi, atol=1e-9)
    np.testing.assert_allclose(Pi @ x.Phi, x.Phi, atol=1e-9 * np.abs(x.Phi).max())
    assert x.rank == np.linalg.matrix_rank(x.Phi) == round(np.trace(Pi))
    assert x.K_op == pytest.approx(np.linalg.norm(x.Phi, 2) ** 2)


def test_gaussians_are_independent_and_the_instances_own():
    x = geo.facts(F=3, d=4, m=5).draw({"F": 3, "d": 4, "m": 5, "delta": 0.1}, Streams(2))
    first, again, other = x.gaussians("w", 2000, 3), x.gaussians("w", 2000, 3), x.gaussians("p", 2000, 3)
    assert np.array_equal(first, again) and first.shape == (2000, 3)
    assert abs(np.corrcoef(first.ravel(), other.ravel())[0, 1]) < 0.06 and abs(first.var() - 1) < 0.1


def test_vectors():
    family = geo.vectors(count=2, m=4)
    seen = {}
    for choice in family.choices:
        v = family.draw({"d": 5, "m": 4}, Streams(1), choice=choice)
        seen[choice] = (v[0] @ v[0], v[1] @ v[1], v[0] @ v[1])
        assert v.m == 4 and v.mu == 0.2 and v.all.shape == (2, 5) and v[-1] is not None and len(list(v)) == 2
        with pytest.raises(HebbcheckError, match="no vector 2"):
            _ = v[2]
    np.testing.assert_allclose(seen["parallel"], 1)
    np.testing.assert_allclose(seen["opposite"], (1, 1, -1))
    np.testing.assert_allclose(seen["orthogonal"], (1, 1, 0), atol=1e-15)
    assert seen["a zero vector"][1] == 0 and 0.25 <= seen["generic, norms 0.5 to 2"][0] <= 4
    with pytest.raises(UnknownAttribute):
        _ = v.gamma_min


@pytest.mark.parametrize("choice", geo.vectors(count=2).choices)
@pytest.mark.parametrize(("d", "m"), [(1, 1), (6, 3)])
def test_sketched_kernels_have_the_moments_of_the_lemma(choice, d, m):
    v = geo.vectors(count=2).draw({"d": d}, Streams("sketch", d, m), choice=choice)
    sample = v.sketched_kernel(samples=40_000, m=m)
    x, z, r = v[0] @ v[0], v[1] @ v[1], v[0] @ v[1]
    error = max(sample.std() / 200, 1e-12)
    assert abs(sample.mean() - r**2) < stats.norm.isf(1e-4 / 2) * error
    variance = (x * z + r**2) * (x * z + 3 * r**2) / m
    squares = (sample - r**2) ** 2
    assert abs(squares.mean() - variance) < stats.norm.isf(1e-4 / 2) * max(squares.std() / 200, 1e-12)


@pytest.mark.parametrize(("d", "m"), [(1, 1), (2, 1), (8, 4)])
def test_isotropic_kernels_have_the_moments_of_the_lemma(d, m):
    v = geo.vectors(count=1, m=m).draw({"d": d, "m": m}, Streams("iso", d), choice="generic")
    sample = v.isotropic_kernel(samples=40_000, m=m)
    for values, expected in ((sample, v.mu), ((sample - v.mu) ** 2, v.sigma2)):
        assert abs(values.mean() - expected) < stats.norm.isf(1e-4 / 2) * values.std() / 200


def test_samples_are_fresh_with_fresh_streams():
    family = geo.vectors(count=2)
    raw = family.raw({"d": 3}, Streams(0))
    one, two, again = (family.build(raw, NUMPY, Streams(0).child(s)).sketched_kernel(50) for s in (0, 1, 0))
    assert not np.array_equal(one, two) and np.array_equal(one, again)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda: geo.vectors(count=0), "count=0"),
        (lambda: geo.vectors(count="two"), "count='two'"),
        (
            lambda: (
                geo.vectors(count=2).build(geo.vectors(count=2).raw({"d": 3}, Streams(0))).sketched_kernel(9)
            ),
            "streams",
        ),
        (lambda: geo.vectors(count=1).draw({"d": 3}, Streams(0)).sketched_kernel(9), "only one"),
        (lambda: geo.vectors(count=2).draw({"d": 3}, Streams(0)).sketched_kernel(0), "samples=0"),
        (lambda: geo.vectors(count=2).draw({"d": 3}, Streams(0)).isotropic_kernel(5, m=0), "m=0"),
        (lambda: geo.mlps(gate="gelu"), "gate='gelu'"),
        (lambda: geo.figure(""), "names no figure"),
        (lambda: list(geo.figure("fig2b").probes()), "hebbcheck reproduce fig2b"),
        (lambda: geo.capacity(memory="quadratic"), "no width"),
        (lambda: geo.capacity(m=8), "computes"),
        (lambda: geo.capacity().strategy(), "measured by search"),
    ],
)
def test_uses_that_make_no_sense(use, said):
    with pytest.raises(HebbcheckError, match=said):
        use()


def test_figures_results_are_attributes():
    results = geo.figure("fig2b").replicate({"r2_fitted": 0.98})
    assert results.r2_fitted == 0.98
    with pytest.raises(UnknownAttribute, match="did you mean 'r2_fitted'"):
        _ = results.r2_fited
    with pytest.raises(UnknownAttribute):
        _ = results.gamma_min


# --- MLPs


@pytest.mark.parametrize("gate", ["identity", "relu", "cube"])
def test_mlps_are_what_the_theorem_says(gate):
    family = geo.mlps(gate=gate)
    x = family.draw({"F": 9, "d": 3, "m": 4}, Streams(0), choice=gate)
    act = {"identity": lambda u: u, "relu": lambda u: max(u, 0.0), "cube": lambda u: u**3}[gate]
    phi = np.array([[(a @ z) * act(g @ z) for a, g in zip(x.A, x.G, strict=True)] for z in x.queries])
    np.testing.assert_allclose(x.phi(x.queries), phi)
    np.testing.assert_allclose(x.mlp(x.queries), phi @ x.B.T)
    stored = x.phi(x.inputs)
    Sigma = sum(np.outer(p, p) for p in stored) / 9
    weights = sum(np.outer(x.mlp(x.inputs)[i], stored[i]) for i in range(9)) / 9
    np.testing.assert_allclose(x.hebbian(x.queries), phi @ np.linalg.pinv(Sigma) @ weights.T, rtol=1e-6)
    np.testing.assert_allclose(x.kernel(x.queries), stored @ np.linalg.pinv(Sigma) @ phi.T, rtol=1e-6)
    assert x.rank == 4 and x.spans(x.queries)
    few = family.draw({"F": 2, "d": 3, "m": 4}, Streams(0), choice=gate)
    assert few.spans(few.inputs) and not few.spans(few.queries)


# --- families of one's own


def test_a_family_of_ones_own():
    def draw(rng, k, t):
        return {"x": rng.standard_normal(k), "map": np.arange(k), "K": 2.0, "d": t, "count": k}

    family = geo.family(draw, k=(2, 5), t=(0.5, 1.5))
    x = family.draw({"k": 3, "t": 0.5}, Streams(0))
    assert x.x.shape == (3,) and x.map.tolist() == [0, 1, 2] and x.map.dtype.kind == "i"
    assert x.K == 2 and x.d == 0.5 and x.mu == 2 and x.t == 0.5 and isinstance(x.count, int)
    assert all(isinstance(r.numbers["k"], int) for r in examples(family))
    assert {family.sample_sizes(np.random.default_rng(s))["k"] for s in range(60)} == {2, 3, 4, 5}
    assert not family.exact
    with pytest.raises(UnknownAttribute, match="did you mean 'count'"):
        _ = x.coun
    with pytest.raises(MissingInput, match=r"no L.*'F'"):
        _ = x.L
    with pytest.raises(UnknownAttribute):
        _ = family.sizes_at({"k": 3, "t": 0.5}).x


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, "NoneType"),
        ([1, 2], "list"),
        ({1: 2}, "the names 1"),
        ({"_x": 2}, "the names '_x'"),
        ({"raw": 2, "x": 1}, "the names 'raw', 'x'"),
        ({"two words": 2}, "two words"),
        ({"x": "text"}, "attribute x is a str"),
        ({"x": 1j}, "attribute x is a complex"),
        ({"x": [[1], [1, 2]]}, "attribute x is a list"),
        ({"x": None}, "attribute x is a NoneType"),
    ],
)
def test_families_that_return_no_attributes(result, said):
    with pytest.raises(HebbcheckError, match=said):
        geo.family(lambda rng: result).draw({}, Streams(0))


def test_a_family_needs_a_function():
    with pytest.raises(HebbcheckError, match="draws nothing"):
        geo.family({"x": 1})
    with pytest.raises(HebbcheckError, match=r"cannot be called with a generator and F, k \(missing.*'d'\)"):
        geo.family(lambda rng, F, k, d: {}, F=3, k=2)
    with pytest.raises(HebbcheckError, match=r"and F \(got an unexpected keyword argument 'F'\)"):
        geo.family(lambda rng: {}, F=3)


# --- capacity


def test_capacity_instances():
    family = geo.capacity(memory="whitened", d=8, F=[6, 12])
    c = family.draw({"F": 12, "d": 8}, Streams(0))
    assert 3 * c.m * 8 == c.W and c.replace(m=c.m).stores_all
    assert not family.exact and not family.spans and repr(family).startswith("capacity(")
    with pytest.raises(DrawnAttribute):
        _ = family.sizes_at({"F": 6, "d": 8}).W
    assert next(family.probes()).W > 0
