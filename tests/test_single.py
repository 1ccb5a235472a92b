"""Single instances from given arrays."""

import numpy as np
import pytest

from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo


def test_an_instance_from_arrays():
    keys, values = np.eye(3), np.array([[1.0, 0, 0], [0, 2, 0]])
    family = geo.instance(keys, values, map=[0, 1, 1])
    keys[0, 0] = 9  # the instance has its own copy
    x = next(family.probes())
    np.testing.assert_array_equal(x.K, np.eye(3))
    np.testing.assert_array_equal(x.margins, [[1], [4], [4]])
    assert (x.F, x.d, x.m, x.delta) == (3, 3, 3, 0.1)
    given_K = geo.instance(np.eye(3), np.eye(3), K=2 * np.eye(3))
    assert next(given_K.probes()).trace == 6 and next(given_K.probes()).raw.memory == "kernel"
    featured = geo.instance(np.eye(3), np.eye(3), A=np.ones((5, 3)), G=np.ones((5, 3)), delta=0.02)
    x = next(featured.probes())
    np.testing.assert_allclose(x.K, np.ones((3, 3)))
    assert x.m == 5 and x.delta == 0.02 and x.Phi.shape == (3, 5)
    assert featured.fingerprint != given_K.fingerprint


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (dict(keys=[1, 2]), "keys has shape"),
        (dict(keys=[]), "keys has shape"),
        (dict(keys=[[1, 2], [3]]), "keys is no array"),
        (dict(keys="ab"), "keys is no array"),
        (dict(values=[[np.nan, 1]]), "values has NaN"),
        (dict(values=[[np.inf, 1]]), "values has NaN"),
        (dict(values=np.eye(3)), "one length d"),
        (dict(values=np.ones((3, 2))), "a map is needed"),
        (dict(map=[0, 1, 1]), "2 whole numbers"),
        (dict(map=[0.0, 1.0]), "2 whole numbers"),
        (dict(map=[0, 2]), "points to value 2 of 2"),
        (dict(map=[0, -1]), "points to value -1"),
        (dict(A=np.ones((3, 2))), "both"),
        (dict(A=np.ones((3, 2)), G=np.ones((2, 2))), "check their shapes"),
        (dict(A=np.ones((3, 3)), G=np.ones((3, 3))), "m x 2"),
        (dict(K=np.ones((2, 3))), "K has shape"),
        (dict(K=[[1, 2], [3, 4]]), "not symmetric"),
        (dict(K=[[1, 2], [2, 1]]), "eigenvalue -1"),
        (dict(K=np.eye(2), A=np.ones((3, 2)), G=np.ones((3, 2))), "both given"),
        (dict(delta=2), "between 0 and 1"),
    ],
)
def test_instances_from_arrays_that_make_no_sense(wrong, said):
    with pytest.raises(HebbcheckError) as error:
        geo.instance(**{"keys": np.eye(2), "values": np.eye(2), **wrong})
    assert said in str(error.value) and "\n" not in str(error.value)
