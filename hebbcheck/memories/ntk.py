"""The NTK construction of Nichani, Lee and Bietti (2024), as Section B.3 describes it, of any Hermite degree."""

from __future__ import annotations

import math
from typing import Any

from ..checks import whole_number
from ..errors import HebbcheckError
from .construction import Construction, FactTable, needed_width, one_of
from .mlp import GATES, GatedMLP
from .units import Drawn, Units


class NTK(Construction):
    """P (act(W x) * (U x)) with U = (He_k(K W^T) * (C P))^T K / m: rows of W iid N(0, 1), columns of P on the sphere.

    With c_k = E act(g) He_k(g), E act(<w, x>) He_k(<w, k_i>) is c_k <x, k_i>^k for unit vectors, so that the
    expectation over W and P is (c_k / d_v) sum_i v_f(i) <k_i, x>^(k+1) for unit x and keys; for degree one c_1 = 1/2,
    and it is so for all.  Where c_k is negative, U has the opposite sign.  He_k is taken of each key's direction, times
    its length.  B carries the factor 1/m, so that W, U and P are nested in the width.  O(F m (d + d_v)).
    """

    name = "ntk"
    no_kernel = "its kernel is matrix-valued; try memories.build('ntk', ...) on an instance's facts"

    def construct(
        self, facts: FactTable, *, width: int | None, seed: int, degree: int = 1, gate: str = "relu"
    ) -> GatedMLP:
        rule = Rule(facts, degree, gate)
        m = needed_width(self.name, width)
        W = facts.normal("W", seed, m, facts.d)
        up, P = rule(W, facts.normal("P", seed, m, facts.d_v))
        return GatedMLP(W, up, P.T / m, gate=gate)

    def units(
        self, facts: FactTable, seed: int, degree: int = 1, gate: str = "relu", **options: Any
    ) -> Units:
        return Hidden(facts, seed, Rule(facts, degree, gate))

    def even(self, gate: str = "relu", **options: Any) -> bool:
        return gate == "identity"


class Rule:
    """How the rows of U and of P follow from Gaussian rows."""

    def __init__(self, facts: FactTable, degree: int, gate: str) -> None:
        self.facts, self.gate = facts, one_of("gate", gate, ("relu", "identity"))
        self._degree = whole_number("degree", degree, least=0)
        self._sign = _sign(self.gate, self._degree)

    def __call__(self, W: Any, P: Any) -> tuple[Any, Any]:
        """U (m x d) and P with unit rows (m x d_v) for W (m x d) and any P (m x d_v)."""
        facts, norm = self.facts, self.facts.xp.linalg.vector_norm
        P = P / norm(P, axis=1, keepdims=True)
        lengths = norm(facts.keys, axis=1, keepdims=True)
        H = lengths * hermite(self._degree, facts.keys / lengths @ W.T)
        return self._sign * (H * (facts.codes @ P.T)).T @ facts.keys, P


class Hidden(Units):
    """The NTK's hidden units."""

    def __init__(self, facts: FactTable, seed: int, rule: Rule) -> None:
        self._rule, self._drawn = rule, Drawn(facts, seed, "W", "P")

    def take(self, count: int) -> tuple[Any, Any]:
        facts = self._rule.facts
        W, P = self._drawn.rows(count, facts.d, facts.d_v)
        up, P = self._rule(W, P)
        return GATES[self._rule.gate](facts.keys @ W.T) * (facts.keys @ up.T), P


def coefficient(gate: str, degree: int) -> float:
    """E act(g) He_k(g) for a standard normal g: act's k-th Hermite coefficient times k!."""
    if gate == "identity":
        return float(degree == 1)
    if degree <= 1:
        return 0.5 if degree else 1 / math.sqrt(2 * math.pi)
    return hermite(degree - 2, 0.0) / math.sqrt(2 * math.pi)  # ReLU'' is a point mass at 0


def hermite(degree: int, t: Any) -> Any:
    """He_k(t), the probabilists' Hermite polynomial, of a number or an array."""
    before, value = t * 0, t * 0 + 1
    for k in range(degree):
        before, value = value, t * value - k * before
    return value


def _sign(gate: str, degree: int) -> int:
    value = coefficient(gate, degree)
    if value == 0:
        raise HebbcheckError(
            f"the gate {gate!r} has no Hermite component of degree {degree}, so that nothing would be stored; "
            "degree 1, or with 'relu' an even one, is needed; try degree=1"
        )
    return 1 if value > 0 else -1
