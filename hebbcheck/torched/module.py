"""A gated MLP as a torch module."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from ..arrays import alike
from ..memories.mlp import BIASES, GatedMLP

ACTIVATIONS = {"identity": lambda t: t, "relu": functional.relu, "swish": functional.silu}


def hidden(x: torch.Tensor, theta: dict[str, Any], gate: str) -> torch.Tensor:
    """act(A x + a) * (G x + g) for x (N x d): N x m; biases that are not in theta are none."""
    first = functional.linear(x, theta["A"], theta.get("a"))
    return ACTIVATIONS[gate](first) * functional.linear(x, theta["G"], theta.get("g"))


class Module(nn.Module):
    """x -> B (act(A x + a) * (G x + g)) + b, its parameters named as in `GatedMLP`."""

    def __init__(self, mlp: GatedMLP) -> None:
        super().__init__()
        self.gate, self.settings, self._made = mlp.gate, dict(mlp.settings), mlp.digest
        for name in ("A", "G", "B", *BIASES):
            part = mlp.parameters.get(name)
            self.register_parameter(name, None if part is None else nn.Parameter(_tensor(part)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """... x d -> ... x d_v."""
        theta = self._theta()
        return functional.linear(hidden(x, theta, self.gate), theta["B"], theta.get("b"))

    def memory(self) -> GatedMLP:
        """The memory that the module is now, with tensors of its own; a changed one says only from what it began."""
        theta = {name: part.detach().clone() for name, part in self._theta().items()}
        memory = GatedMLP(**theta, gate=self.gate, settings=dict(self.settings))
        if memory.digest == self._made:
            return memory
        return replace(memory, settings={"changed_from": memory.settings})

    def _theta(self) -> dict[str, torch.Tensor]:
        """What stands for each parameter now: tied, pruned or parametrised ones are no parameters of their own."""
        parts = {name: getattr(self, name) for name in ("A", "G", "B", *BIASES)}
        return {name: part for name, part in parts.items() if part is not None}


def _tensor(part: Any) -> torch.Tensor:
    """The module's own copy of a parameter."""
    if isinstance(part, torch.Tensor):
        return part.detach().clone()
    return alike(part, torch.empty(0, dtype=getattr(torch, str(part.dtype)))).clone()
