"""The paper's margin bounds as curves with constants, as its figures fit and as its theorems state them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hebbcheck.fitting import Constant

DELTA = 0.5
"""The failure probability inside L, which the paper's text leaves open and its public release sets so."""

Columns = Mapping[str, np.ndarray]
"""The swept numbers, the sizes and the statistics, one entry a point."""


@dataclass(frozen=True)
class Form:
    """gamma_min as a function of columns and constants; the constants that the paper states carry their
    values.
    """

    text: str
    constants: tuple[Constant, ...]
    curve: Callable[[Columns, Mapping[str, Any]], Any]

    def over(self, columns: Columns) -> Callable[[Mapping[str, Any]], Any]:
        return lambda constants: self.curve(columns, constants)

    @property
    def open(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.constants if c.stated is None)

    @property
    def as_stated(self) -> str:
        """The form in words, with the values that the paper states."""
        stated = ", ".join(f"{c.name} = {c.stated:g}" for c in self.constants if c.stated is not None)
        return f"{self.text} with {stated}" if stated else self.text

    def at(self, columns: Columns, common: float) -> np.ndarray:
        """The stated curve with one common value for the constants that the theorem leaves open."""
        stated = {c.name: common if c.stated is None else c.stated for c in self.constants}
        return np.asarray(self.curve(columns, stated), dtype=float)


def L(columns: Columns, C_L: Any = 2.0) -> Any:
    """log(C_L F^2 / delta), not below 0; C_L is the theorem's C0."""
    return np.log(np.maximum(C_L * columns["F"] ** 2 / DELTA, 1.0))


def sigma2(columns: Columns) -> Any:
    """The exact variance of an off-diagonal kernel entry for isotropic keys (Lemma B.44)."""
    d, m = columns["d"], columns["m"]
    return (d**2 + 6 * d + 17) / (d * (d + 2) * m) + 2 * (d - 1) / (d**2 * (d + 2))


SIGNAL = Constant("signal", stated=1.0)
C = Constant("C")
C_L = Constant("C_L", low=1e-3, start=2.0, stated=2.0, logarithmic=True)

ISOTROPIC = Form(
    "signal - C sqrt(F L(C_L) / (m d))",
    (SIGNAL, C, C_L),
    lambda x, c: c["signal"] - c["C"] * np.sqrt(x["F"] * L(x, c["C_L"]) / (x["m"] * x["d"])),
)
"""Corollary B.31 (Table 2, top left): the signal is 1."""

EXACT_KERNEL = Form(
    "signal - C sqrt(F L(C_L) / d^3)",
    (SIGNAL, C, C_L),
    lambda x, c: c["signal"] - c["C"] * np.sqrt(x["F"] * L(x, c["C_L"]) / x["d"] ** 3),
)
"""Corollary B.31 for infinitely many features: of equation 56 the term in d^3 remains."""


def _equation_56(x: Columns, c: Mapping[str, Any]) -> Any:
    per_width = c["C1"] * np.sqrt(L(x) / x["m"]) + c["C4"] * np.sqrt(L(x) * x["F"] / (x["m"] * x["d"]))
    return (
        1
        - per_width
        - c["C2"] * np.sqrt(L(x) / (x["d"] - 1))
        - c["C3"] * np.sqrt(L(x) * x["F"] / x["d"] ** 3)
    )


EQUATION_56 = Form(
    "1 - C1 sqrt(L/m) - C2 sqrt(L/(d-1)) - C3 sqrt(L F/d^3) - C4 sqrt(L F/(m d))",
    tuple(Constant(name) for name in ("C1", "C2", "C3", "C4")),
    _equation_56,
)
"""Theorem B.30 with all of its terms."""

KEYS_FITTED = Form(
    "signal K_diag_min - C_o K_off_max - C sqrt(E_K L(C_L) / d)",
    (SIGNAL, Constant("C_o"), C, C_L),
    lambda x, c: (
        c["signal"] * x["K_diag_min"]
        - c["C_o"] * x["K_off_max"]
        - c["C"] * np.sqrt(x["E_K"] * L(x, c["C_L"]) / x["d"])
    ),
)
KEYS_STATED = Form(
    "K_diag_min (1 - C1 sqrt(L/(d-1))) - K_off_max - C3 sqrt(E_K L / d)",
    (Constant("C1"), Constant("C3")),
    lambda x, c: (
        x["K_diag_min"] * (1 - c["C1"] * np.sqrt(L(x) / (x["d"] - 1)))
        - x["K_off_max"]
        - c["C3"] * np.sqrt(x["E_K"] * L(x) / x["d"])
    ),
)
"""Equation 46 (Theorem B.28)."""

VALUES_FITTED = Form(
    "signal V_min - (C_B B_Y + C_v sqrt(E_v L_v)) sqrt(L(C_L) / m)",
    (SIGNAL, Constant("C_B"), Constant("C_v"), C_L),
    lambda x, c: (
        c["signal"] * x["V_min"]
        - (c["C_B"] * x["B_Y"] + c["C_v"] * np.sqrt(x["E_v"] * x["L_v"])) * np.sqrt(L(x, c["C_L"]) / x["m"])
    ),
)
VALUES_STATED = Form(
    "(1 - C1 sqrt(L/m)) V_min - C2 (B_Y + sqrt(E_v L_v)) sigma sqrt(L)",
    (Constant("C1"), Constant("C2")),
    lambda x, c: (
        (1 - c["C1"] * np.sqrt(L(x) / x["m"])) * x["V_min"]
        - c["C2"] * (x["B_Y"] + np.sqrt(x["E_v"] * x["L_v"])) * np.sqrt(sigma2(x) * L(x))
    ),
)
"""Equation 51 (Theorem B.29)."""

BOTH_FITTED = Form(
    "signal K_diag_min V_min - C sqrt(E_K E_v) kappa",
    (SIGNAL, C),
    lambda x, c: (
        c["signal"] * x["K_diag_min"] * x["V_min"] - c["C"] * np.sqrt(x["E_K"] * x["E_v"]) * x["kappa"]
    ),
)
BOTH_STATED = Form(BOTH_FITTED.text, (SIGNAL, Constant("C", stated=1.0)), BOTH_FITTED.curve)
"""Equation 44 (Theorem B.25): no constant is left open."""
BOTH_OPEN = Form("K_diag_min V_min - C sqrt(E_K E_v) kappa", (SIGNAL, C), BOTH_FITTED.curve)
"""Equation 44 with a constant that it does not need: how much of its cross-talk term is needed."""
