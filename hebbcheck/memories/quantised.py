"""Parameters written in bits, encoded and decoded for real, on a grid or as floats (Theorem B.6, corrected)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import HebbcheckError
from . import named
from .bilinear import Bilinear

if TYPE_CHECKING:
    from ..instance import Instance

Parameters = dict[str, np.ndarray]


@dataclass(frozen=True)
class Grid:
    """The 2N + 1 multiples of C/N in [-C, C]: each number is rounded to the nearest and never leaves the box."""

    C: float
    N: int

    def __post_init__(self) -> None:
        if not (self.C > 0 and math.isfinite(self.C) and 1 <= self.N < 2**52):
            raise HebbcheckError(
                f"a grid with C={self.C}, N={self.N} is impossible; C > 0 and 1 <= N < 2^52 are needed"
            )

    @property
    def bits(self) -> int:
        """Bits for one number."""
        return math.ceil(math.log2(2 * self.N + 1))

    def encode(self, parameters: Parameters) -> bytes:
        """All numbers, `bits` each, most significant first, in the parameters' order."""
        flat = np.concatenate([array.ravel() for array in parameters.values()])
        if not np.all(np.abs(flat) <= self.C):
            raise HebbcheckError(
                f"a parameter lies outside [-{self.C}, {self.C}]; choose C as the largest magnitude"
            )
        levels = np.clip(np.rint(flat / self.C * self.N), -self.N, self.N).astype(np.int64) + self.N
        places = np.arange(self.bits - 1, -1, -1)
        return np.packbits((levels[:, None] >> places & 1).astype(np.uint8).ravel()).tobytes()

    def decode(self, code: bytes, shapes: dict[str, tuple[int, ...]]) -> Parameters:
        """The numbers of a code, as arrays of these shapes."""
        count = sum(math.prod(shape) for shape in shapes.values())
        unpacked = np.unpackbits(np.frombuffer(code, dtype=np.uint8), count=count * self.bits)
        places = 2.0 ** np.arange(self.bits - 1, -1, -1)
        flat = (unpacked.reshape(count, self.bits) @ places - self.N) * (self.C / self.N)
        return _shaped(flat, shapes)


@dataclass(frozen=True)
class FloatingPoint:
    """Numbers +-1.b_1..b_t 2^e of magnitude at most C, truncated toward zero; below C 2^-t they become 0 (equation 21).

    The error is below C 2^-t, and nothing leaves the box.  A code is a sign, one of t + 2 exponents (one means 0) and
    t bits.
    """

    C: float
    t: int

    def __post_init__(self) -> None:
        if not (self.C > 0 and math.isfinite(self.C) and 0 <= self.t <= 52):
            raise HebbcheckError(
                f"floating point with C={self.C}, t={self.t} is impossible; C > 0 and 0 <= t <= 52 are needed"
            )

    @property
    def exponent_bits(self) -> int:
        return math.ceil(math.log2(self.t + 2))

    @property
    def bits(self) -> int:
        """Bits for one number."""
        return 1 + self.exponent_bits + self.t

    def encode(self, parameters: Parameters) -> np.ndarray:
        """All numbers as codes below 2^bits, in the parameters' order."""
        flat = np.concatenate([array.ravel() for array in parameters.values()])
        if not np.all(np.abs(flat) <= self.C):
            raise HebbcheckError(
                f"a parameter lies outside [-{self.C}, {self.C}]; choose C as the largest magnitude"
            )
        mantissa, exponent = np.frexp(np.abs(flat))
        fraction = np.floor(np.ldexp(2 * mantissa - 1, self.t)).astype(np.int64)
        below = self._top - exponent.astype(np.int64)
        zero = np.abs(flat) < math.ldexp(self.C, -self.t)
        below, fraction = np.where(zero, self.t + 1, below), np.where(zero, 0, fraction)
        return (((flat < 0).astype(np.int64) << self.exponent_bits | below) << self.t) | fraction

    def decode(self, codes: np.ndarray, shapes: dict[str, tuple[int, ...]]) -> Parameters:
        """The numbers of these codes, as arrays of these shapes."""
        fraction = np.ldexp((codes & (1 << self.t) - 1).astype(float), -self.t)
        below = codes >> self.t & (1 << self.exponent_bits) - 1
        sign = np.where(codes >> self.t + self.exponent_bits, -1.0, 1.0)
        magnitudes = np.ldexp(1 + fraction, self._top - 1 - below)
        return _shaped(np.where(below == self.t + 1, 0.0, sign * magnitudes), shapes)

    @property
    def _top(self) -> int:
        """One more than the largest exponent: C = mantissa 2^top with a mantissa in [1/2, 1)."""
        return math.frexp(self.C)[1]


def _shaped(flat: np.ndarray, shapes: dict[str, tuple[int, ...]]) -> Parameters:
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])[:-1]
    parts = np.split(flat, ends)
    return {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}


def parameters(x: Instance) -> Parameters:
    """theta = (A, G, B) with g(z) = B ((A z) * (G z)): the sketch's factors carry m^(-1/4) each (Proposition B.7).

    A and G are the factors of the instance's memory, the fitted ones of a data-dependent memory.
    """
    memory = named(x.raw.memory)
    if not isinstance(memory, Bilinear):
        raise HebbcheckError(
            f"the memory {x.raw.memory!r} has no parameters A and G; a bilinear one is needed; try memory='bilinear'"
        )
    scale = float(x.m) ** -0.25
    host = x.backend.to_numpy
    A, G = (scale * host(factor) for factor in memory.factors(x))
    return {"A": A, "G": G, "B": host(x.B)}


def outputs(theta: Parameters, keys: np.ndarray) -> np.ndarray:
    """F x d_v: what the MLP with these parameters returns at the keys (equation 19)."""
    return ((keys @ theta["A"].T) * (keys @ theta["G"].T)) @ theta["B"].T
