"""Full-batch training of a gated MLP on facts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ..arrays import to_host
from ..memories.construction import FactTable
from ..memories.mlp import GatedMLP
from .gradient import Parameters, Weights, gradient
from .module import hidden


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


@dataclass
class Best:
    """The best iterate so far: most facts stored, then the largest smallest margin."""

    stored: int = -1
    margin: float = -math.inf
    step: int = 0
    theta: Parameters = field(default_factory=dict)

    def offer(self, stored: int, margin: float, step: int, theta: Parameters) -> None:
        if (stored, margin) > (self.stored, self.margin):
            copy = {name: part.clone() for name, part in theta.items()}
            self.stored, self.margin, self.step, self.theta = stored, margin, step, copy


class Task:
    """The facts as tensors in the training's precision."""

    def __init__(self, facts: FactTable, plan: Plan, dtype: torch.dtype) -> None:
        self.keys, self.values, self.codes = (
            _tensor(part, dtype) for part in (facts.keys, facts.values, facts.codes)
        )
        self.map = torch.as_tensor(facts.map, device=self.keys.device)
        self.plan = plan

    def scores(self, theta: Parameters) -> torch.Tensor:
        """F x |V|, <v_j, output at k_i>."""
        return self.scores_of(hidden(self.keys, theta, self.plan.gate), theta)

    def scores_of(self, units: torch.Tensor, theta: Parameters) -> torch.Tensor:
        """The same from the hidden units, by the cheaper order of products."""
        if not self.is_narrow(units):
            return self.outputs_of(units, theta) @ self.values.T
        scores = units @ (self.values @ theta["B"]).T
        return scores + self.values @ theta["b"] if "b" in theta else scores

    def is_narrow(self, units: torch.Tensor) -> bool:
        return units.shape[1] <= self.values.shape[1]

    def outputs_of(self, units: torch.Tensor, theta: Parameters) -> torch.Tensor:
        return functional.linear(units, theta["B"], theta.get("b"))

    def loss(self, theta: Parameters) -> torch.Tensor:
        units = hidden(self.keys, theta, self.plan.gate)
        if self.plan.loss == "mse":
            return functional.mse_loss(self.outputs_of(units, theta), self.codes)
        return functional.cross_entropy(self.scores_of(units, theta), self.map)

    def judged(self, theta: Parameters) -> tuple[int, float]:
        """(facts stored, the smallest margin)."""
        scores = self.scores(theta)
        own = scores.gather(1, self.map[:, None])
        margins = own[:, 0] - scores.scatter(1, self.map[:, None], -math.inf).max(dim=1).values
        return int((margins > 0).sum()), float(margins.min())


@torch.no_grad()
def train(facts: FactTable, theta: dict[str, np.ndarray], plan: Plan) -> GatedMLP:
    """The trained memory in float64, in the facts' array library; its settings say what was reached."""
    task, check = (Task(facts, plan, getattr(torch, kind)) for kind in (plan.precision, "float64"))
    parameters = {
        name: _tensor(part.copy(), task.keys.dtype, task.keys.device) for name, part in theta.items()
    }
    best, steps = _descend(task, check, parameters)
    host = {name: facts.held(to_host(part).astype(np.float64)) for name, part in best.theta.items()}
    final = {name: part.double() for name, part in best.theta.items()}
    stored, margin = check.judged(final)
    reached = {
        "steps_taken": steps,
        "best_step": best.step,
        "stored": stored / facts.F,
        "margin_reached": margin if math.isfinite(margin) else None,
        "loss_reached": float(check.loss(final)),
    }
    return GatedMLP(**host, gate=plan.gate, settings=reached)


def _descend(task: Task, check: Task, theta: Parameters) -> tuple[Best, int]:
    """(the best iterate, the steps taken)."""
    weights, slopes = Weights(theta), Weights(theta)
    weights.vector.grad = slopes.vector
    plan, best = task.plan, Best()
    optimiser = torch.optim.Adam([weights.vector], lr=plan.learning_rate, fused=True)
    for step in range(plan.steps + 1):
        if step % plan.every == 0 or step == plan.steps:
            stored, margin = task.judged(weights.parts)
            best.offer(stored, margin, step, weights.parts)
            if margin > plan.margin and _finished(check, weights.parts, plan):
                best.offer(stored, math.inf, step, weights.parts)
                return best, step
        if step < plan.steps:
            gradient(task, weights, into=slopes)
            optimiser.param_groups[0]["lr"] = plan.rate(step)
            optimiser.step()
    return best, plan.steps


def _finished(check: Task, theta: Parameters, plan: Plan) -> bool:
    return check.judged({name: part.double() for name, part in theta.items()})[1] > plan.margin


def _tensor(part: Any, dtype: torch.dtype, device: Any = None) -> torch.Tensor:
    """A tensor of numpy's or torch's array, on its device or a given one."""
    if not isinstance(part, torch.Tensor):
        part = torch.as_tensor(to_host(part))
    return part.to(device or part.device, dtype)
