"""The adversary of bounds.quadrics against brute force."""

import importlib

import numpy as np
import pytest
from scipy.optimize import minimize

from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams

quadrics = importlib.import_module("hebbcheck.bounds.quadrics")


def drawn(seed, F=4, d=3, m=9, mapping="identity"):
    family = geo.facts(mapping=mapping, noise=0.4)
    return family.draw({"F": F, "d": d, "m": m, "delta": 0.1, "eps": 0.4}, Streams(seed))


@pytest.mark.parametrize("mapping", ["identity", "permutation", "any"])
def test_forms_give_the_margins_of_keys_and_queries(mapping):
    x = drawn(0, mapping=mapping)
    keys, S = quadrics.forms_of(x)
    for points, margins in ((keys, x.margins), (x.queries, x.margins_noisy)):
        np.testing.assert_allclose(np.einsum("ia,ijab,ib->ij", points, S, points), margins, atol=1e-12)


def extreme(form, key, radius, start):
    """The least q^T form q on the ball around the key that a local search finds."""
    found = minimize(
        lambda u: (key + u) @ form @ (key + u),
        start,
        jac=lambda u: 2 * form @ (key + u),
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda u: radius**2 - u @ u, "jac": lambda u: -2 * u},
    )
    return found.fun if found.x @ found.x <= radius**2 * (1 + 1e-6) else np.inf


@pytest.mark.parametrize("seed", range(3))
def test_the_worst_drop_is_what_local_searches_reach(seed):
    keys, S = quadrics.forms_of(drawn(seed))
    drops = quadrics.worst_drop(S, keys, 0.4)
    rng = np.random.default_rng(seed)
    for i, j in np.ndindex(drops.shape):
        starts = 0.2 * rng.standard_normal((8, keys.shape[1]))
        least = min(extreme(S[i, j], keys[i], 0.4, start) for start in starts)
        assert drops[i, j] == pytest.approx(keys[i] @ S[i, j] @ keys[i] - least, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_at_the_critical_radius_the_worst_margin_is_zero(seed):
    keys, S = quadrics.forms_of(drawn(seed))
    margins = np.einsum("ia,ijab,ib->ij", keys, S, keys)
    radii = quadrics.critical_radius(S, keys)
    assert np.all(radii[margins <= 0] == 0) and np.any(margins > 0)
    for i, j in zip(*np.nonzero(margins > 0), strict=True):
        left = (
            margins[i, j] - quadrics.worst_drop(S[i : i + 1, j : j + 1], keys[i : i + 1], radii[i, j])[0, 0]
        )
        assert left == pytest.approx(0, abs=1e-8)


def test_hard_cases():
    """Keys without a component along the most negative direction, and forms without a negative direction."""
    key = np.array([[1.0, 0.0]])
    saddle, round_one = np.diag([1.0, -4.0])[None, None], np.eye(2)[None, None]
    # (1 + a)^2 - 4 b^2 with a^2 + b^2 = r^2: the nearest zero is at a = -1/5, b = 2/5.
    assert quadrics.critical_radius(saddle, key)[0, 0] == pytest.approx(np.sqrt(0.2))
    assert quadrics.critical_radius(round_one, key)[0, 0] == pytest.approx(1)
    assert quadrics.worst_drop(round_one, key, 0.5)[0, 0] == pytest.approx(0.75)
    # 1 - (1 + a)^2 + 4 b^2 on the unit ball is largest at a = -1/5: 1 - 0.64 + 3.84.
    assert quadrics.worst_drop(saddle, key, 1.0)[0, 0] == pytest.approx(4.2)
