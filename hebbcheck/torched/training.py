"""Full-batch training of a gated MLP on facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ..arrays import to_host
from ..memories.construction import FactTable
from ..memories.mlp import GatedMLP
from .module import hidden

Parameters = dict[str, torch.Tensor]


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
            copy = {name: part.detach().clone() for name, part in theta.items()}
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
        """F x |V|, <v_j, output at k_i>, by the cheaper order of products."""
        units = hidden(self.keys, theta, self.plan.gate)
        if units.shape[1] > self.values.shape[1]:
            return self.outputs(theta) @ self.values.T
        scores = units @ (self.values @ theta["B"]).T
        return scores + self.values @ theta["b"] if "b" in theta else scores

    def outputs(self, theta: Parameters) -> torch.Tensor:
        return functional.linear(hidden(self.keys, theta, self.plan.gate), theta["B"], theta.get("b"))

    def loss(self, theta: Parameters) -> torch.Tensor:
        if self.plan.loss == "mse":
            return functional.mse_loss(self.outputs(theta), self.codes)
        return functional.cross_entropy(self.scores(theta), self.map)

    @torch.no_grad()
    def judged(self, theta: Parameters) -> tuple[int, float]:
        """(facts stored, the smallest margin)."""
        scores = self.scores(theta)
        own = scores.gather(1, self.map[:, None])
        margins = own[:, 0] - scores.scatter(1, self.map[:, None], -math.inf).max(dim=1).values
        return int((margins > 0).sum()), float(margins.min())


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
    for part in theta.values():
        part.requires_grad_(True)
    plan, best = task.plan, Best()
    optimiser = torch.optim.Adam(theta.values(), lr=plan.learning_rate)
    for step in range(plan.steps + 1):
        if step % plan.every == 0 or step == plan.steps:
            stored, margin = task.judged(theta)
            best.offer(stored, margin, step, theta)
            if margin > plan.margin and _finished(check, theta, plan):
                best.offer(stored, math.inf, step, theta)
                return best, step
        if step < plan.steps:
            _step(optimiser, plan.rate(step), lambda: task.loss(theta))
    return best, plan.steps


def _finished(check: Task, theta: Parameters, plan: Plan) -> bool:
    return check.judged({name: part.double() for name, part in theta.items()})[1] > plan.margin


def _step(optimiser: torch.optim.Optimizer, rate: float, loss: Callable[[], torch.Tensor]) -> None:
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    loss().backward()
    optimiser.step()


def _tensor(part: Any, dtype: torch.dtype, device: Any = None) -> torch.Tensor:
    """A tensor of numpy's or torch's array, on its device or a given one."""
    if not isinstance(part, torch.Tensor):
        part = torch.as_tensor(to_host(part))
    return part.to(device or part.device, dtype)
