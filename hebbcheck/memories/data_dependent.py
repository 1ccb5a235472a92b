"""The data-dependent construction (Section B.2.5): both factors are fitted to the facts, then whitened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

from ..checks import finite_number, whole_number
from ..errors import HebbcheckError
from ..least_squares import Solution, measured, minimum_norm
from . import readouts
from .construction import FactTable, needed_width
from .mlp import GatedMLP
from .whitened import Whitened

if TYPE_CHECKING:
    from ..instance import Instance

TOLERANCE = 1e-10
ITERATIONS = 20_000
SMALL, DENSE = 1 << 14, 1 << 22
"""The most entries (F d_v m d) of a least-squares matrix that is solved by its singular values at once, and where
iterating does not converge."""


@dataclass(frozen=True)
class Fit:
    """The fitted factors (m x d) and the two solves that made them."""

    A: Any
    G: Any
    solves: dict[str, Solution]


class DataDependent(Whitened):
    """The whitened kernel of features (A_1 x) * (G_1 x) / sqrt(m), A_1 and G_1 fitted to keys and codes.

    From random A_0, G_0 and their Hebbian readout B_0 = C^T Phi(A_0, G_0) / F (no 1/sqrt(m) here), G_1 minimises
    ||C - Phi(A_0, G) B_0^T||_F and then A_1 minimises ||C - Phi(A, G_1) B_0^T||_F (equations 17 and 18); among
    several minimisers the one of smallest norm.  In exact instances the solves are those of floating point, and what
    follows from the fitted factors is exact.
    """

    name = "data_dependent"

    def construct(
        self,
        facts: FactTable,
        *,
        width: int | None,
        seed: int,
        ridge: float = readouts.RIDGE,
        form: str | None = None,
        tolerance: float = TOLERANCE,
        iterations: int = ITERATIONS,
    ) -> GatedMLP:
        ridge = finite_number("ridge", ridge, least=0)
        tolerance = finite_number("tolerance", tolerance, least=0)
        iterations = whole_number("iterations", iterations)
        m = needed_width(self.name, width)
        A, G = (facts.normal(factor, seed, m, facts.d) for factor in ("A", "G"))
        fitted = fit(facts.keys, facts.codes, A, G, tolerance, iterations)
        Phi = (facts.keys @ fitted.A.T) * (facts.keys @ fitted.G.T)
        measured = {
            "residuals": {factor: solve.residual for factor, solve in fitted.solves.items()},
            "iterations_taken": {factor: solve.iterations for factor, solve in fitted.solves.items()},
        }
        return GatedMLP(
            fitted.A, fitted.G, readouts.whitened(Phi, facts.codes, ridge, form), settings=measured
        )

    def fit(self, x: Instance) -> tuple[np.ndarray, np.ndarray]:
        codes = x._floats("values")[x.map]
        fitted = fit(x._floats("keys"), codes, x._floats("A"), x._floats("G"), TOLERANCE, ITERATIONS)
        return fitted.A, fitted.G

    def factors(self, x: Instance) -> tuple[Any, Any]:
        A, G = x._fitted
        return x._held(A), x._held(G)


def fit(keys: Any, codes: Any, A: Any, G: Any, tolerance: float, iterations: int) -> Fit:
    """The two least-squares solves for keys F x d, codes F x d_v, random A, G m x d.

    Each solve has m d unknowns and F d_v equations and costs 4 F m (d + d_v) operations an iteration, in F m numbers of
    memory; its normal equations are solved to the relative residual `tolerance`.  The iterations are about a hundred
    where m is far from F d_v / d and thousands close to it.  Raises HebbcheckError where they do not suffice.
    """
    B = readouts.hebbian((keys @ A.T) * (keys @ G.T), codes)
    first = _solve("G", keys, codes, A, B, tolerance, iterations)
    second = _solve("A", keys, codes, first.x, B, tolerance, iterations)
    return Fit(second.x, first.x, {"G": first, "A": second})


def _solve(
    factor: str, keys: Any, codes: Any, other: Any, B: Any, tolerance: float, iterations: int
) -> Solution:
    """The m x d factor X that minimises ||C - ((K other^T) * (K X^T)) B^T||_F, of smallest norm."""
    P = keys @ other.T

    def forward(X: Any) -> Any:
        return (P * (keys @ X.T)) @ B.T

    def adjoint(Y: Any) -> Any:
        return (P * (Y @ B)).T @ keys

    def dense(iterations: int) -> Solution:
        return measured(_by_singular_values(keys, codes, P, B), forward, adjoint, codes, iterations)

    entries = int(np.prod(codes.shape)) * int(np.prod(other.shape))
    if entries <= SMALL:
        return dense(0)
    solution = minimum_norm(forward, adjoint, codes, tolerance=tolerance, iterations=iterations)
    if solution.residual <= tolerance:
        return solution
    if entries <= DENSE:
        return dense(solution.iterations)
    slow = codes.shape[0] * codes.shape[1] // keys.shape[1]
    raise HebbcheckError(
        f"the solve for {factor} reached the residual {solution.residual:.1e} in {solution.iterations} iterations; "
        f"{tolerance:.1e} is needed, and widths near F d_v / d = {slow} are slow; "
        "try another width, iterations= or tolerance="
    )


def _by_singular_values(keys: Any, codes: Any, P: Any, B: Any) -> Any:
    """The same from the matrix itself, F d_v x m d, and its pseudoinverse."""
    xp, (F, m), (d_v, d) = array_api_compat.array_namespace(keys), P.shape, (B.shape[0], keys.shape[1])
    features = xp.reshape(P[:, :, None] * keys[:, None, :], (F, 1, m, d))
    matrix = xp.reshape(features * xp.reshape(B, (1, d_v, m, 1)), (F * d_v, m * d))
    return xp.reshape(xp.linalg.pinv(matrix) @ xp.reshape(codes, (F * d_v,)), (m, d))
