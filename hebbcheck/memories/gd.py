"""Memories trained by gradient descent (Appendix A.1.1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import Streams
from ..checks import finite_number, whole_number
from ..errors import HebbcheckError
from . import training
from .construction import Construction, FactTable, needed_width, one_of
from .mlp import GATES, GatedMLP

LOSSES = ("cross_entropy", "mse")


class GD(Construction):
    """A gated MLP trained on all facts at once by Adam with a cosine rate, until every margin exceeds `margin`.

    `gate`: "identity" (bilinear, the paper's), "relu" or "swish"; `loss`: "cross_entropy" of the scores <v_j, output>,
    or "mse" against the codes, the mean over entries; `precision`: the dtype of training.  Initial weights are uniform
    within 1/sqrt(fan-in), their first rows the same for every width up to scale.  The best iterate is kept: most facts
    stored, then the largest smallest margin, judged every `every` steps; an iterate counts as finished when its margins
    in float64 do.  O(F m (d + d_v) + F |V| min(m, d_v)) a step.
    A seed gives the same memory again on the same machine with the same number of threads.
    """

    name = "gd"
    stops_early = True
    no_kernel = "a trained MLP has no kernel of its own; try memories.build('gd', ...) on an instance's facts"

    def construct(
        self,
        facts: FactTable,
        *,
        width: int | None,
        seed: int,
        gate: str = "identity",
        biases: bool = False,
        loss: str = "cross_entropy",
        steps: int = 10_000,
        margin: float = 0.0,
        learning_rate: float = 1e-3,
        final_rate: float = 1e-6,
        every: int = 10,
        precision: str = "float32",
    ) -> GatedMLP:
        m = needed_width(self.name, width)
        plan = training.Plan(
            gate=one_of("gate", gate, GATES),
            loss=one_of("loss", loss, LOSSES),
            steps=whole_number("steps", steps),
            margin=finite_number("margin", margin),
            learning_rate=finite_number("learning_rate", learning_rate, least=0),
            final_rate=finite_number("final_rate", final_rate, least=0),
            every=whole_number("every", every),
            precision=one_of("precision", precision, ("float32", "float64")),
        )
        if not isinstance(biases, bool):
            raise HebbcheckError(f"biases={biases!r} is neither True nor False; one of them is needed")
        return training.train(facts, initial(facts.d, facts.d_v, m, seed, biases), plan)

    def even(self, gate: str = "identity", biases: bool = False, **options: Any) -> bool:
        return gate == "identity" and not biases


def initial(d: int, d_v: int, m: int, seed: int, biases: bool) -> dict[str, np.ndarray]:
    """Untrained parameters: each uniform within 1/sqrt(the number of inputs of its layer)."""

    def uniform(purpose: str, shape: tuple[int, ...], inputs: int) -> np.ndarray:
        return Streams("memory", seed)(purpose).uniform(-1, 1, shape) / math.sqrt(inputs)

    theta: dict[str, Any] = {"A": uniform("A", (m, d), d), "G": uniform("G", (m, d), d)}
    theta["B"] = uniform("B", (m, d_v), m).T
    if biases:
        theta.update(a=uniform("a", (m,), d), g=uniform("g", (m,), d), b=uniform("b", (d_v,), m))
    return theta
