"""Full-batch training of a gated MLP on facts, in the facts' array library.

The gradient is written out: for small memories, recording the operations costs several times what they do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import to_host
from .construction import FactTable
from .mlp import GATES, GatedMLP

ORDER = ("A", "G", "B", "a", "g", "b")
Parameters = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """How to train: the options of the construction."""

    gate: str
    loss: str
    steps: int
    margin: float
    learning_rate: float
    final_rate: float
    every: int
    precision: str

    def rate(self, step: int) -> float:
        """The cosine schedule, from learning_rate to final_rate."""
        share = (1 + math.cos(math.pi * step / self.steps)) / 2
        return self.final_rate + (self.learning_rate - self.final_rate) * share


class Weights:
    """Parameters by name as views of one vector, with A above G and a above g: one product serves both."""

    def __init__(self, xp: Any, vector: Any, shapes: dict[str, tuple[int, ...]]) -> None:
        self.vector, self.parts = vector, {}
        start = 0
        for name, shape in shapes.items():
            self.parts[name] = xp.reshape(vector[start : start + math.prod(shape)], shape)
            start += math.prod(shape)
        m, d = shapes["A"]
        self.inner = xp.reshape(vector[: 2 * m * d], (2 * m, d))
        after = 2 * m * d + math.prod(shapes["B"])
        self.inner_biases = vector[after : after + 2 * m] if "a" in shapes else None


@dataclass
class Best:
    """The best iterate so far: most facts stored, then the largest smallest margin."""

    vector: Any
    stored: int = -1
    margin: float = -math.inf
    step: int = 0

    def offer(self, stored: int, margin: float, step: int, vector: Any) -> None:
        if (stored, margin) > (self.stored, self.margin):
            self.stored, self.margin, self.step = stored, margin, step
            self.vector = 1 * vector  # a copy: the descent goes on in place


class Adam:
    """Kingma and Ba, "Adam: a method for stochastic optimization" (2015), with the decay rates proposed there."""

    MEAN, SQUARE, LEAST = 0.9, 0.999, 1e-8

    def __init__(self, vector: Any) -> None:
        self.mean, self.square, self.steps = 0 * vector, 0 * vector, 0

    def step(self, xp: Any, gradient: Any, rate: float) -> Any:
        """What to take from the parameters."""
        self.steps += 1
        self.mean += (1 - self.MEAN) * (gradient - self.mean)
        self.square += (1 - self.SQUARE) * (gradient * gradient - self.square)
        size = xp.sqrt(self.square) / math.sqrt(1 - self.SQUARE**self.steps) + self.LEAST
        return (rate / (1 - self.MEAN**self.steps)) * self.mean / size


class Task:
    """The facts in the training's precision, and a network of some shapes on them."""

    def __init__(self, facts: FactTable, plan: Plan, shapes: dict[str, tuple], precision: str) -> None:
        self.xp, self.plan, self.shapes = facts.xp, plan, shapes
        self.dtype = getattr(self.xp, precision)
        self.limit = 0.9 * math.log(float(self.xp.finfo(self.dtype).max))  # of what exp takes
        self.keys, self.values, self.codes = (
            self.xp.astype(part, self.dtype) for part in (facts.keys, facts.values, facts.codes)
        )
        self.own = facts.index(np.arange(facts.F) * len(facts.values) + facts.map)

    def weights(self, vector: Any) -> Weights:
        """The network's parameters; those of the same vector share its numbers where the precision is the same."""
        return Weights(self.xp, self.xp.astype(vector, self.dtype, copy=False), self.shapes)

    def units(self, w: Weights) -> tuple[Any, Any, Any]:
        """act(A k_i + a) and G k_i + g for every key, each F x m, and what the activation was taken of."""
        inner = self.keys @ w.inner.T
        if w.inner_biases is not None:
            inner += w.inner_biases
        m = inner.shape[1] // 2
        return GATES[self.plan.gate](inner[:, :m]), inner[:, m:], inner[:, :m]

    def outputs(self, units: Any, theta: Parameters) -> Any:
        outputs = units @ theta["B"].T
        return outputs + theta["b"] if "b" in theta else outputs

    def factors(self, units: Any, theta: Parameters) -> tuple[Any, Any, Any]:
        """Of the scores: left (F x k), right (|V| x k) and what b adds (|V|,) or None; k is the lesser of m and d_v."""
        if not self.is_narrow(units):
            return self.outputs(units, theta), self.values, None
        return units, self.values @ theta["B"], self.values @ theta["b"] if "b" in theta else None

    def scores(self, left: Any, right: Any, added: Any) -> Any:
        """F x |V|, <v_j, output at k_i>."""
        scores = left @ right.T
        return scores if added is None else scores + added

    def is_narrow(self, units: Any) -> bool:
        return units.shape[1] <= self.values.shape[1]

    def loss(self, w: Weights) -> float:
        active, second, _ = self.units(w)
        if self.plan.loss == "mse":
            return float(self.xp.mean((self.outputs(active * second, w.parts) - self.codes) ** 2))
        scores = self.scores(*self.factors(active * second, w.parts))
        largest = self.xp.max(scores, axis=1)
        sums = self.xp.sum(self.xp.exp(scores - largest[:, None]), axis=1)
        return float(self.xp.mean(self.xp.log(sums) + largest - self._own(scores)))

    def _own(self, scores: Any) -> Any:
        return self.xp.reshape(scores, (-1,))[self.own]

    def judged(self, w: Weights) -> tuple[int, float]:
        """(facts stored, the smallest margin)."""
        active, second, _ = self.units(w)
        scores = self.scores(*self.factors(active * second, w.parts))
        own = self._own(scores)
        self.xp.reshape(scores, (-1,))[self.own] = -math.inf
        margins = own - self.xp.max(scores, axis=1)
        return int(self.xp.count_nonzero(margins > 0)), float(self.xp.min(margins))

    # -- the gradient ---------------------------------------------------------------------------------------------
    def gradient(self, w: Weights) -> Any:
        """Of the loss, in the order of the weights' vector."""
        xp = self.xp
        active, second, first = self.units(w)
        of_units, *of_last = self._of_units(active * second, w.parts)
        of_first = of_units * second
        slope = _slope(xp, self.plan.gate, first)
        of_inner = xp.concat([of_first if slope is None else of_first * slope, of_units * active], axis=1)
        parts = [of_inner.T @ self.keys, of_last[0]]
        if w.inner_biases is not None:
            parts += [xp.sum(of_inner, axis=0), of_last[1]]
        return xp.concat([xp.reshape(part, (-1,)) for part in parts])

    def _of_units(self, units: Any, theta: Parameters) -> tuple[Any, Any, Any]:
        """The gradients of the hidden units (F x m), of B and of b."""
        if self.plan.loss == "mse":
            off = self.outputs(units, theta) - self.codes
            return self._through_outputs(off * (2 / math.prod(off.shape)), units, theta)
        left, right, added = self.factors(units, theta)
        residual, share = self._residual(left, right, added)
        of_left = (residual @ right) * share[:, None]
        if not self.is_narrow(units):
            return self._through_outputs(of_left, units, theta)
        of_B = self.values.T @ (residual.T @ (left * share[:, None]))
        of_b = self.values.T @ (residual.T @ share) if "b" in theta else None
        return of_left, of_B, of_b

    def _residual(self, left: Any, right: Any, added: Any) -> tuple[Any, Any]:
        """R (F x |V|) and r (F,) with R_ij r_i = (softmax - one hot)_ij / F: passes over F x |V| numbers cost most."""
        xp = self.xp
        scores = self.scores(left, right, added)
        longest = [float(xp.max(xp.vecdot(side, side))) ** 0.5 for side in (left, right)]
        largest = math.prod(longest) + (0.0 if added is None else float(xp.max(xp.abs(added))))
        if not largest + math.log(scores.shape[1]) < self.limit:
            scores -= xp.max(scores, axis=1)[:, None]
            scores = xp.clip(
                scores, min=-self.limit / 2
            )  # subnormal numbers would be slow, and are lost in the sum
        residual = xp.exp(scores)
        sums = residual @ xp.ones_like(residual[0, :])
        xp.reshape(residual, (-1,))[self.own] -= sums
        return residual, 1 / (scores.shape[0] * sums)

    def _through_outputs(self, of_outputs: Any, units: Any, theta: Parameters) -> tuple[Any, Any, Any]:
        of_b = self.xp.sum(of_outputs, axis=0) if "b" in theta else None
        return of_outputs @ theta["B"], of_outputs.T @ units, of_b


def _slope(xp: Any, gate: str, first: Any) -> Any:
    """The derivative of the gate's activation; None for 1."""
    if gate == "identity":
        return None
    if gate == "relu":
        return xp.astype(first > 0, first.dtype)
    share = 1 / (1 + xp.exp(-first))
    return share * (1 + first * (1 - share))


@np.errstate(over="ignore", invalid="ignore")
def train(facts: FactTable, theta: dict[str, np.ndarray], plan: Plan) -> GatedMLP:
    """The trained memory in float64, the best iterate of a descent that may diverge; settings say what was reached."""
    theta = {name: theta[name] for name in ORDER if name in theta}
    shapes = {name: part.shape for name, part in theta.items()}
    task, check = (Task(facts, plan, shapes, precision) for precision in (plan.precision, "float64"))
    start = facts.held(np.concatenate([part.ravel() for part in theta.values()]))
    best, steps = _descend(task, check, task.xp.astype(start, task.dtype))
    final = check.weights(best.vector)
    stored, margin = check.judged(final)
    reached = {
        "steps_taken": steps,
        "best_step": best.step,
        "stored": stored / facts.F,
        "margin_reached": margin if math.isfinite(margin) else None,
        "loss_reached": check.loss(final),
    }
    host = {name: facts.held(np.array(to_host(part))) for name, part in final.parts.items()}
    return GatedMLP(**host, gate=plan.gate, settings=reached)


def _descend(task: Task, check: Task, vector: Any) -> tuple[Best, int]:
    """(the best iterate, the steps taken)."""
    plan, best, weights, adam = task.plan, Best(vector), task.weights(vector), Adam(vector)
    for step in range(plan.steps + 1):
        if step % plan.every == 0 or step == plan.steps:
            stored, margin = task.judged(weights)
            best.offer(stored, margin, step, vector)
            if margin > plan.margin and check.judged(check.weights(vector))[1] > plan.margin:
                best.offer(stored, math.inf, step, vector)
                return best, step
        if step < plan.steps:
            vector -= adam.step(task.xp, task.gradient(weights), plan.rate(step))
    return best, plan.steps
