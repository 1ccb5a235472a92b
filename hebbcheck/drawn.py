"""What a claim's function is called with: the sizes alone, or something drawn; errors say what is missing and why."""

from __future__ import annotations

import difflib
from functools import cached_property
from typing import Any

from .arrays import NUMPY, Backend, Streams
from .errors import HebbcheckError
from .functions import log
from .inputs import Raw

C0 = 2
"""The absolute constant inside L = log(C0 F^2 / delta)."""
FOLLOWING = ("L", "mu", "sigma2")
"""Attributes that follow from the numbers alone: they are worked out once for each set of numbers."""


class UnknownAttribute(HebbcheckError, AttributeError):
    """An attribute that the instance does not have."""


class MissingInput(HebbcheckError):
    """An attribute that is made of something that the instance's family does not draw."""


class DrawnAttribute(HebbcheckError):
    """A drawn quantity was asked for where only the sizes are known."""


class CoordinatesNeeded(HebbcheckError):
    """Coordinates were asked for of vectors that are known through their inner products only."""


class Sizes:
    """What is known before anything is drawn: the sizes and what follows from them.

    `drawn`: the type of the instances that will be drawn, whose other attributes are not known yet.
    """

    def __init__(self, numbers: dict[str, Any], drawn: type | None = None) -> None:
        self.numbers = numbers
        self._drawn = drawn

    @property
    def numbers(self) -> dict[str, Any]:
        """The sizes and other numbers by name: attributes too, where the type declares none of that name."""
        return self.__dict__["_numbers"]

    @numbers.setter
    def numbers(self, numbers: dict[str, Any]) -> None:
        held = self.__dict__
        for stale in (*held.get("_numbers", ()), *FOLLOWING):
            held.pop(stale, None)
        held["_numbers"] = numbers
        held.update({name: value for name, value in numbers.items() if not hasattr(type(self), name)})

    def __getattr__(self, name: str) -> Any:
        declared = getattr(type(self), name, None)
        if isinstance(declared, cached_property | property):
            return self._once_more(name, declared)
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.numbers:
            return self.numbers[name]
        if self._drawn is not None and hasattr(self._drawn, name):
            raise DrawnAttribute(
                f"{name!r} is a drawn quantity; a failure probability may depend on the sizes alone; "
                "use F, d, m, delta, L, mu or sigma2"
            )
        known = sorted({n for n in dir(type(self)) if not n.startswith("_")} | set(self._names()))
        close = [n for n in known if n.lower() == name.lower()]
        close = close or difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(known)}"
        raise UnknownAttribute(f"the instance has no attribute {name!r}; {hint}")

    def _names(self) -> list[str]:
        """The attributes that are not declared by the type."""
        return list(self.numbers)

    def _once_more(self, name: str, declared: Any) -> Any:
        """An attribute failed with an AttributeError, which Python hides: find out what it said."""
        try:
            return (declared.func if isinstance(declared, cached_property) else declared.fget)(self)
        except AttributeError as error:
            said = str(error).removeprefix("the instance has ")
            raise MissingInput(
                f"the instance has no {name}, which is made of other attributes: {said}"
            ) from None

    @cached_property
    def L(self) -> Any:
        """log(C0 F^2 / delta), natural, C0 = 2 (Theorem B.17)."""
        return log(C0 * self.F**2 / self.delta)

    @cached_property
    def mu(self) -> Any:
        """1/d, the mean of an off-diagonal kernel entry for isotropic keys (Lemma B.44)."""
        return 1 / self.d

    @cached_property
    def sigma2(self) -> Any:
        """The exact variance of an off-diagonal entry of the bilinear kernel, isotropic keys (Lemma B.44)."""
        d, m = self.d, self.m
        return (d**2 + 6 * d + 17) / (d * (d + 2) * m) + 2 * (d - 1) / (d**2 * (d + 2))


class Drawn(Sizes):
    """Something drawn: its raw inputs on a backend, and the streams that further samples come from."""

    def __init__(self, raw: Raw, backend: Backend = NUMPY, streams: Streams | None = None) -> None:
        super().__init__(raw.numbers)
        self.raw = raw
        self.backend = backend.suited_to(raw.entries)
        self._streams = streams

    def _input(self, name: str) -> Any:
        """One of the raw arrays, on the backend."""
        if name not in self.raw.arrays:
            hint = "try noise= in geo.facts" if name == "noise" else "state it over a family that draws it"
            raise MissingInput(
                f"the instance has no {name}; its family draws {', '.join(self.raw.arrays) or 'no arrays'}; {hint}"
            )
        return self.backend.asarray(self.raw.arrays[name])

    def _shown(self, array: Any) -> Any:
        """An array as claims see it."""
        return array

    def gaussians(self, name: str, *shape: int) -> Any:
        """Independent N(0, 1) numbers of this shape, from the instance's stream of this name: samples for hc.mean."""
        return self.backend.asarray(self._sampling("gaussians")(name).standard_normal(shape))

    def _sampling(self, what: str) -> Streams:
        """The streams that independent samples come from."""
        if self._streams is None:
            raise HebbcheckError(
                f"{what} draws samples; this instance came without random streams; state it with hc.mean"
            )
        return self._streams
