"""The smallest width that stores all facts."""

import numpy as np
import pytest

from hebbcheck import HebbcheckError
from hebbcheck import geometry as geo
from hebbcheck.arrays import Streams
from hebbcheck.capacity import smallest_width


def stored(x, widest):
    return [x.replace(m=m).gamma_min > 0 for m in range(1, widest + 1)]


@pytest.mark.parametrize("memory", ["whitened", "bilinear"])
@pytest.mark.parametrize(("F", "d"), [(3, 4), (5, 4), (8, 6), (12, 5)])
def test_the_search_agrees_with_trying_every_width(memory, F, d):
    family = geo.capacity(memory=memory)
    for seed in range(4):
        c = family.draw({"F": F, "d": d}, Streams("capacity", memory, seed))
        if memory == "bilinear" and not c.replace(memory="quadratic").stores_all:
            continue
        every = stored(c, 3 * c.m)
        assert every[c.m - 1] and (c.m == 1 or not every[c.m - 2])
        if every == sorted(every):  # once stored, always stored: then there is no other answer
            assert c.m == every.index(True) + 1
        assert 3 * c.m * d == c.W


def test_storing_is_monotone_often_enough_for_the_test_above_to_mean_something():
    family = geo.capacity(memory="whitened")
    monotone = 0
    for seed in range(12):
        every = stored(family.draw({"F": 6, "d": 5}, Streams("monotone", seed)), 8)
        monotone += every == sorted(every)
    assert monotone >= 4


def test_features_are_nested_so_that_widths_can_be_compared():
    c = geo.capacity().draw({"F": 5, "d": 4}, Streams(0))
    narrow, wide = c.replace(m=7), c.replace(m=100)
    for name in ("A", "G"):
        np.testing.assert_array_equal(getattr(wide, name)[:7], getattr(narrow, name))
    np.testing.assert_array_equal(narrow.keys, wide.keys)


class Threshold:
    """Stores from some width on; counts how often it is asked."""

    def __init__(self, least, F=64, d=16):
        self.least, self.F, self.d, self.asked, self.width = least, F, d, [], 0

    def replace(self, m):
        self.asked.append(m)
        self.width = m
        return self

    @property
    def stores_all(self):
        return self.width >= self.least


@pytest.mark.parametrize("least", [1, 2, 3, 43, 44, 45, 63, 64, 65, 1000, 2**17 - 1, 2**17])
def test_any_threshold_is_found_in_a_few_steps(least):
    x = Threshold(least)
    assert smallest_width(x) == least
    assert len(x.asked) == len(set(x.asked)) <= 40


def test_no_width_that_stores():
    with pytest.raises(HebbcheckError, match=r"no width up to 131072 .*try fewer facts"):
        smallest_width(Threshold(2**17 + 1))
    with pytest.raises(HebbcheckError, match="no width up to 1024 "):
        smallest_width(Threshold(10**9, F=2**17))
    duplicates = geo.facts(keys=geo.anything).draw(
        {"F": 4, "d": 3, "m": 2, "delta": 0.1}, Streams(0), choice="keys: one point"
    )
    with pytest.raises(HebbcheckError, match="no width"):
        smallest_width(Never(duplicates))


class Never:
    """An instance whose keys are equal: no width is worth trying at full size here."""

    def __init__(self, x):
        self.x, self.F, self.d = x, 2**20, x.d

    def replace(self, m):
        return self.x.replace(m=m)
