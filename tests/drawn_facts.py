"""Facts for tests of the constructions."""

import numpy as np


def facts(F=9, d=4, d_v=3, count=None, seed=0):
    """Normal keys and values, and any map."""
    rng = np.random.default_rng(seed)
    count = count or F
    return rng.standard_normal((F, d)), rng.standard_normal((count, d_v)), rng.integers(0, count, F)


def sphere(F, d, seed=0):
    """Keys on the sphere and a permutation."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((F, d))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), rng.permutation(F)
