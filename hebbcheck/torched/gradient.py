"""The gradient of the loss of a gated MLP on all facts, written out.

For small memories recording the operations, as automatic differentiation does, costs several times what they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .module import ACTIVATIONS

if TYPE_CHECKING:
    from .training import Task

Parameters = dict[str, torch.Tensor]
ORDER = ("A", "G", "B", "a", "g", "b")


class Weights:
    """Parameters by name as views of one vector, with A above G and a above g: one product serves both."""

    def __init__(self, parts: Parameters) -> None:
        held = {name: parts[name] for name in ORDER if name in parts}
        self.vector = torch.cat([part.reshape(-1) for part in held.values()])
        pieces = self.vector.split([part.numel() for part in held.values()])
        self.parts = {name: piece.view_as(held[name]) for name, piece in zip(held, pieces, strict=True)}
        m, d = held["A"].shape
        self.inner = self.vector[: 2 * m * d].view(2 * m, d)
        after = 2 * m * d + held["B"].numel()
        self.inner_biases = self.vector[after : after + 2 * m] if "a" in held else None


def gradient(task: Task, weights: Weights, into: Weights) -> None:
    """Writes the gradient of `task.loss` at some weights into others of the same shapes."""
    inner = task.keys @ weights.inner.T
    if weights.inner_biases is not None:
        inner += weights.inner_biases
    first, second = inner.chunk(2, dim=1)
    active = ACTIVATIONS[task.plan.gate](first)
    of_units = _of_units(task, active * second, weights.parts, into.parts)
    of_inner = torch.cat([of_units * second * _slope(task.plan.gate, first), of_units * active], dim=1)
    torch.mm(of_inner.T, task.keys, out=into.inner)
    if into.inner_biases is not None:
        torch.sum(of_inner, dim=0, out=into.inner_biases)


def _slope(gate: str, first: torch.Tensor) -> torch.Tensor | float:
    """The derivative of the gate's activation."""
    if gate == "identity":
        return 1.0
    if gate == "relu":
        return (first > 0).to(first.dtype)
    share = torch.sigmoid(first)
    return share * (1 + first * (1 - share))


def _of_units(task: Task, units: torch.Tensor, theta: Parameters, into: Parameters) -> torch.Tensor:
    """The gradient of the hidden units (F x m); writes those of B and b."""
    if task.plan.loss == "mse":
        off = task.outputs_of(units, theta) - task.codes
        return _through_outputs(off.mul_(2 / off.numel()), units, theta, into)
    residual = torch.softmax(task.scores_of(units, theta), dim=1)
    own = task.map[:, None]
    residual.scatter_add_(1, own, torch.full_like(residual[:, :1], -1.0)).mul_(1 / own.shape[0])
    if not task.is_narrow(units):
        return _through_outputs(residual @ task.values, units, theta, into)
    torch.mm(task.values.T, residual.T @ units, out=into["B"])
    if "b" in into:
        torch.mv(task.values.T, residual.sum(dim=0), out=into["b"])
    return residual @ (task.values @ theta["B"])


def _through_outputs(
    of_outputs: torch.Tensor, units: torch.Tensor, theta: Parameters, into: Parameters
) -> torch.Tensor:
    torch.mm(of_outputs.T, units, out=into["B"])
    if "b" in into:
        torch.sum(of_outputs, dim=0, out=into["b"])
    return of_outputs @ theta["B"]
