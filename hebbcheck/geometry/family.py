"""What a family of instances is: one declaration, a sampler at any size and a Hypothesis strategy for attacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ..arrays import NUMPY, Backend, Streams
from ..instance import ExactInstance, Instance, Raw, Sizes
from ..verdict import Quantifier
from .sizes import Size


class Family:
    """Base of all families.  A subclass says how raw inputs are drawn (`raw`) and attacked (`strategy`)."""

    quantifier: Quantifier | None = None
    """The quantifier of every claim over this family, where the family decides it."""
    exact = True
    """Whether instances can be recomputed in ball arithmetic from their raw inputs."""
    instance_type: type[Instance] = Instance
    exact_type: type[ExactInstance] = ExactInstance

    def __init__(self, name: str, **numbers: Any) -> None:
        self.name = name
        self.sizes = {key: Size(key, value) for key, value in numbers.items()}

    def __repr__(self) -> str:
        given = [f"{key}={size.given}" for key, size in self.sizes.items() if size.given is not None]
        return f"{self.name}({', '.join([*self._parts(), *given])})"

    def _parts(self) -> list[str]:
        return []

    # -- what subclasses provide ----------------------------------------------------------------------------------
    def raw(
        self, numbers: dict[str, float], streams: Streams, choice: str = "", spanned: bool = False
    ) -> Raw:
        """Raw inputs of these sizes.  `choice`: one of `choices()`, what an adversary picked."""
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
    def free(self) -> tuple[str, ...]:
        """The arrays that an attack may perturb."""
        return ()

    # -- what they inherit ----------------------------------------------------------------------------------------
    def draw(
        self,
        numbers: dict[str, float],
        streams: Streams,
        backend: Backend = NUMPY,
        choice: str = "",
        spanned: bool = False,
    ) -> Instance:
        """One instance of these sizes from independent streams."""
        return self.build(self.raw(numbers, streams, choice, spanned), backend, streams)

    def build(self, raw: Raw, backend: Backend = NUMPY, streams: Streams | None = None) -> Instance:
        return self.instance_type(raw, backend, streams)

    def build_exactly(self, raw: Raw) -> ExactInstance:
        return self.exact_type(raw)

    def sizes_at(self, numbers: dict[str, float]) -> Sizes:
        """The view of the sizes alone."""
        return Sizes(numbers)

    def sample_sizes(self, rng: np.random.Generator, profile: str = "quick") -> dict[str, float]:
        return {name: size.sample(rng, profile) for name, size in self.sizes.items()}

    def probes(self) -> Iterator[Instance]:
        """A few small instances, to see what kind of relation a claim returns."""
        for attempt in range(8):
            streams = Streams("probe", self.name, attempt)
            rng = streams("sizes")
            numbers = {}
            for name, size in self.sizes.items():
                low = size.bounds()[0]
                small = {"F": 5, "d": 4, "m": 6}.get(name, low)
                fixed = size.listed is not None or size.given is not None
                numbers[name] = size.sample(rng) if size.listed else (low if fixed else small)
            yield self.draw(numbers, streams, choice=self.choices[attempt % len(self.choices)])
