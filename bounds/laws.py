"""Exact laws of the sums that the concentration lemmas speak of, by quadrature and by fast Fourier transforms."""

from functools import cache

import numpy as np
from scipy import fft, special, stats

import hebbcheck as hc

LEVELS = np.concatenate([[1e-3], np.geomspace(0.01, 200, 60)])
"""Exponents u at which tails are compared with exp(-u)."""
SEEN = LEVELS[LEVELS < 25]
"""Those at which tails by Fourier transforms are still exact."""
FROM_ONE = SEEN[SEEN >= 1]


def nothing(rng, **sizes):
    """Statements about a law that is known exactly draw nothing but their sizes."""
    return {}


def tail_at_most(tail, bound):
    """The relation tail <= bound, as a ratio: the tightness reported is then that of the bound, not of deep tails."""
    return hc.at_most(tail / bound, 1)


@cache
def chi_square(D, nodes=1500):
    """Values and weights that integrate the chi-square law with D degrees of freedom to at least exp(-40)."""
    middle, spread = np.sqrt(D), np.sqrt(90)
    points, weights = np.polynomial.legendre.leggauss(nodes)
    low, high = max(0.0, middle - spread), middle + spread
    roots = low + (high - low) * (points + 1) / 2
    masses = weights * (high - low) / 2 * np.exp(stats.chi.logpdf(roots, D))
    return roots**2, masses


def two_level_tail(z, a, D, b, E):
    """P(a Q_D + b Q_E > z) for independent chi-squares, a > 0, b of any sign (z: an array)."""
    values, masses = chi_square(E)
    rest = (np.asarray(z)[:, None] - b * values) / a
    return special.chdtrc(D, np.maximum(rest, 0)) @ masses


class Lattice:
    """A law on the multiples of `step`, from -radius to radius: sums of independent copies by Fourier transforms."""

    def __init__(self, masses, step):
        self.masses, self.step, self.radius = masses, step, len(masses) // 2

    @classmethod
    def of_tail(cls, tail, step, radius):
        """The symmetric law of +-X rounded to the lattice, P(X > x) = tail(x)."""
        edges = (np.arange(radius + 1) + 0.5) * step
        upper = np.concatenate([[1.0], tail(edges)])
        half = -np.diff(upper) / 2
        half[-1] += upper[-1] / 2
        return cls(np.concatenate([half[:0:-1], [2 * half[0]], half[1:]]), step)

    @classmethod
    def of_cdf(cls, cdf, step, radius):
        """The law rounded to the lattice, what lies beyond it put on its ends."""
        edges = (np.arange(-radius, radius) + 0.5) * step
        return cls(np.diff(np.concatenate([[0.0], cdf(edges), [1.0]])), step)

    def sum_tails(self, n, z, centre=0.0):
        """P(S - n centre >= z) and P(S - n centre <= -z) for the sum S of n copies (z: an array).

        What is below the error of the transform, 1e-13 and n 1e-15, is 0.
        """
        size = fft.next_fast_len(2 * len(self.masses), real=True)
        law = fft.irfft(
            fft.rfft(np.roll(np.pad(self.masses, (0, size - len(self.masses))), -self.radius)) ** n, size
        )
        places = fft.fftshift(np.fft.fftfreq(size, 1 / size)) * self.step - n * centre
        law = np.maximum(fft.fftshift(law), 0)
        above = np.concatenate([np.cumsum(law[::-1])[::-1], [0.0]])
        below = np.concatenate([[0.0], np.cumsum(law)])
        z, slack = np.asarray(z), self.step / 2
        upper = above[np.searchsorted(places, z - slack)]
        lower = below[np.searchsorted(places, -z + slack, side="right")]
        least = max(1e-13, n * 1e-15)
        return np.where(upper > least, upper, 0), np.where(lower > least, lower, 0)
