"""What a family of instances is: one declaration, a sampler at any size and a Hypothesis strategy for attacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st

from ..arrays import NUMPY, Backend, Streams
from ..drawn import Sizes
from ..errors import HebbcheckError
from ..exact.instances import ExactInstance
from ..inputs import Raw
from ..instance import Instance
from ..verdict import Quantifier
from .shapes import unit_rows
from .sizes import Size

ATTEMPTS = 12
"""How many small instances a claim's function is tried on."""
RESERVED = ("numbers", "raw", "backend")
SEEDS = st.integers(0, 2**32 - 1)
"""Seeds that Hypothesis chooses, for streams of their own."""


class Family:
    """Base of all families.  A subclass says how raw inputs are drawn (`raw`) and attacked (`strategy`)."""

    quantifier: Quantifier | None = None
    """The quantifier of every claim over this family, where the family decides it."""
    exact: bool = True
    """Whether instances can be recomputed in ball arithmetic from their raw inputs."""
    instance_type: type[Any] = Instance
    """The type of the instances, constructed from raw inputs, a backend and streams."""
    exact_type: type[Any] = ExactInstance
    """The type of instances in ball arithmetic, constructed from raw inputs."""
    axes: ClassVar[dict[str, tuple[str, ...]]] = {}
    """The sizes along the axes of an instance's arrays ("" for an axis that has none), for shrinking."""

    def __init__(self, name: str, **numbers: Any) -> None:
        self.name = name
        self.sizes = {key: Size(key, value) for key, value in numbers.items()}
        for key in numbers:
            self._check_name(key)

    def _check_name(self, name: str) -> None:
        """A number must not hide behind an attribute that instances have anyway, nor look like a size misspelt."""
        if name in RESERVED or hasattr(self.instance_type, name):
            raise HebbcheckError(
                f"{name}= is an attribute that {self.name} computes; a number needs a name of its own; rename it"
            )
        twins = [other for other in self.sizes if other != name and other.lower() == name.lower()]
        if twins and name not in ("F", "d", "m", "delta", "eps"):
            raise HebbcheckError(
                f"{name}= is not {twins[0]}=; {self.name} has both now; did you mean {twins[0]}=?"
            )

    def __repr__(self) -> str:
        given = [f"{key}={size.given}" for key, size in self.sizes.items() if size.given is not None]
        return f"{self.name}({', '.join([*self._parts(), *given])})"

    def _parts(self) -> list[str]:
        return []

    @property
    def fingerprint(self) -> str:
        """Changes with whatever instances are drawn from: the declaration, and the contents of files and arrays."""
        return repr(self)

    # -- what subclasses provide ----------------------------------------------------------------------------------
    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        """Raw inputs of these sizes.  `choice`: one of `choices`, what an adversary picked."""
        raise NotImplementedError

    def strategy(self) -> st.SearchStrategy[Raw]:
        """Small adversarial raw inputs."""
        raise NotImplementedError

    @property
    def choices(self) -> tuple[str, ...]:
        """The hard cases that a draw of any size may be made from; ("",) where nothing is chosen."""
        return ("",)

    @property
    def spans(self) -> bool:
        """Whether inner products can be drawn without coordinates, at a cost free of d."""
        return False

    @property
    def least(self) -> dict[str, int]:
        """The smallest usual sizes, where they are not 1."""
        return {}

    @property
    def free(self) -> tuple[str, ...]:
        """The arrays that an attack may perturb: floats are moved, whole numbers change places."""
        return ()

    @property
    def chosen(self) -> tuple[str, ...]:
        """The purposes of the streams that an adversary chooses from, before anything else is drawn."""
        return ()

    # -- what they inherit ----------------------------------------------------------------------------------------
    def draw(
        self,
        numbers: dict[str, float],
        streams: Streams,
        backend: Backend = NUMPY,
        choice: str = "",
        spanned: bool = False,
    ) -> Any:
        """One instance of these sizes from independent streams."""
        return self.build(self.raw(numbers, streams, choice, spanned), backend, streams)

    def build(self, raw: Raw, backend: Backend = NUMPY, streams: Streams | None = None) -> Any:
        """The instance made from raw inputs, in floating point."""
        return self.instance_type(raw, backend, streams)

    def build_exactly(self, raw: Raw) -> Any:
        """The instance made from raw inputs, in ball arithmetic."""
        return self.exact_type(raw)

    def sizes_at(self, numbers: dict[str, float]) -> Sizes:
        """The view of the sizes alone."""
        return Sizes(numbers, self.instance_type)

    def sample_sizes(self, rng: np.random.Generator, profile: str = "quick") -> dict[str, float]:
        """Numbers for one draw."""
        return {name: size.sample(rng, profile) for name, size in self.sizes.items()}

    def extreme_sizes(self, profile: str = "quick") -> list[dict[str, float]]:
        """The largest numbers that a draw may have, then one of them alone beside the smallest others, then these."""
        bounds = {name: size.bounds(profile) for name, size in self.sizes.items()}
        least, most = ({name: both[k] for name, both in bounds.items()} for k in (0, 1))
        alone = [{**least, name: most[name]} for name, size in self.sizes.items() if size.integer]
        made = [most, *alone, least]
        return [numbers for k, numbers in enumerate(made) if numbers not in made[:k]]

    def small_sizes(self, rng: np.random.Generator) -> dict[str, float]:
        """Numbers for an attack, the smallest sizes the likeliest."""
        while True:
            numbers = {name: size.small(rng) for name, size in self.sizes.items()}
            if self.allows(numbers):
                return numbers

    def attacked_sizes(self) -> dict[str, st.SearchStrategy[float]]:
        """Small numbers for Hypothesis, never below `least` unless the claim's author asked for them."""
        return {name: size.attack(self.least.get(name, 1)) for name, size in self.sizes.items()}

    def allows(self, numbers: dict[str, float]) -> bool:
        """Whether instances of these sizes belong to the family."""
        return all(size.allows(numbers[name]) for name, size in self.sizes.items())

    def counts(self, raw: Raw) -> dict[str, int]:
        """How many facts, dimensions, features, ... an instance has: what a smaller one may have fewer of."""
        return {name: int(raw.numbers[name]) for name, size in self.sizes.items() if size.integer}

    def without(self, raw: Raw, size: str, indices: np.ndarray) -> Raw | None:
        """The instance without some of its facts, dimensions or features; None where that leaves the family."""
        numbers = dict(raw.numbers)
        if size in numbers:
            numbers[size] = int(numbers[size]) - len(indices)
        if not self.allows(numbers):
            return None
        arrays = dict(raw.arrays)
        for name in arrays:
            for axis, along in enumerate(self.axes.get(name, ())):
                arrays[name] = np.delete(arrays[name], indices, axis) if along == size else arrays[name]
            if name in raw.unit:
                arrays[name] = unit_rows(arrays[name])
        return replace(raw, numbers=numbers, arrays=arrays)

    def probes(self) -> Iterator[Any]:
        """A few small instances, to see what kind of relation a claim returns."""
        for attempt in range(ATTEMPTS):
            numbers = {name: size.probe(attempt) for name, size in self.sizes.items()}
            choice = self.choices[attempt % len(self.choices)]
            yield self.draw(numbers, Streams("probe", self.name, attempt), choice=choice)
