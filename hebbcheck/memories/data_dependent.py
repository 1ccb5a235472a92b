"""The data-dependent construction (Section B.2.5): both factors are fitted to the facts, then whitened."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import array_api_compat
import numpy as np

from ..checks import finite_number, whole_number
from ..errors import HebbcheckError
from ..least_squares import Solution, by_cholesky, measured, minimum_norm, pseudo_inverse
from . import readouts
from .construction import FactTable, needed_width
from .mlp import GatedMLP
from .units import Sketched
from .whitened import Whitened

if TYPE_CHECKING:
    from ..instance import Instance

TOLERANCE = 1e-10
ITERATIONS = 20_000
SMALL, WRITTEN_OUT = 1 << 14, 1 << 21
"""The entries (F d_v m d) of a least-squares matrix whose singular values are worked out: at once, or at last."""
DENSE, SQUARE = 4096, 1.25
"""Where the smaller of F d_v and m d is at most DENSE, its Gram matrix is factorised: at once for shapes nearer to
square than SQUARE, which are ill-conditioned, for others if iterating does not converge."""
PATIENCE = 2_000
"""The iterations of an instance's solves, which stop there at the residual that they have reached."""


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
    several minimisers the one of smallest norm.  Building one raises HebbcheckError where a solve does not converge.
    In exact instances the solves are those of floating point, and what follows from the fitted factors is exact.
    """

    name = "data_dependent"
    units_of: ClassVar[type[Sketched] | None] = None  # every width has its own fit
    cheaper: ClassVar[dict[str, Any]] = {"tolerance": 1e-3}

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
        _check_converged(fitted, tolerance, facts)
        Phi = (facts.keys @ fitted.A.T) * (facts.keys @ fitted.G.T)
        measured = {
            "residuals": {factor: solve.residual for factor, solve in fitted.solves.items()},
            "iterations_taken": {factor: solve.iterations for factor, solve in fitted.solves.items()},
        }
        return GatedMLP(
            fitted.A, fitted.G, readouts.whitened(Phi, facts.codes, ridge, form), settings=measured
        )

    def saturated(self, facts: FactTable, ridge: float = readouts.RIDGE, **options: Any) -> int | None:
        """Features that span the quadratic forms on the keys have one projector, whatever they were fitted to."""
        small = finite_number("ridge", ridge, least=0) <= readouts.RIDGE
        return min(facts.F, facts.d * (facts.d + 1) // 2) if small else None

    def fit(self, x: Instance) -> tuple[np.ndarray, np.ndarray]:
        codes = x._floats("values")[x.map]
        fitted = fit(x._floats("keys"), codes, x._floats("A"), x._floats("G"), TOLERANCE, PATIENCE)
        return fitted.A, fitted.G

    def factors(self, x: Instance) -> tuple[Any, Any]:
        A, G = x._fitted
        return x._held(A), x._held(G)


def _check_converged(fitted: Fit, tolerance: float, facts: FactTable) -> None:
    for factor, solve in fitted.solves.items():
        if not math.isfinite(solve.residual):
            raise HebbcheckError(
                f"the solve for {factor} gave numbers that are not finite; keys and values of ordinary size are "
                "needed; try dividing them by their largest norm"
            )
        if solve.residual > tolerance:
            raise HebbcheckError(
                f"the solve for {factor} reached the residual {solve.residual:.1e} in {solve.iterations} iterations; "
                f"{tolerance:.1e} is needed, and widths near F d_v / d = {facts.F * facts.d_v // facts.d} converge "
                "slowly; try another width, iterations= or tolerance="
            )


def fit(keys: Any, codes: Any, A: Any, G: Any, tolerance: float, iterations: int) -> Fit:
    """The two least-squares solves for keys F x d, codes F x d_v, random A, G m x d.

    Each solve has m d unknowns and F d_v equations.  An iteration of LSMR costs 4 F m (d + d_v) operations, in O(F m)
    memory; about a hundred of them solve the normal equations to the relative residual `tolerance` where m is far from
    F d_v / d, and thousands do not close to it.  There, if it is not too large, the smaller Gram matrix is factorised
    (n = min(m d, F d_v): n^3 / 3 operations and n^2 memory).  The residuals that were reached are in the solutions.
    """
    B = readouts.hebbian((keys @ A.T) * (keys @ G.T), codes)
    first = _solve(keys, codes, A, B, tolerance, iterations)
    second = _solve(keys, codes, first.x, B, tolerance, iterations)
    return Fit(second.x, first.x, {"G": first, "A": second})


def _solve(keys: Any, codes: Any, other: Any, B: Any, tolerance: float, iterations: int) -> Solution:
    """The m x d factor X that minimises ||C - ((K other^T) * (K X^T)) B^T||_F, of smallest norm."""
    P = keys @ other.T

    def forward(X: Any) -> Any:
        return (P * (keys @ X.T)) @ B.T

    def adjoint(Y: Any) -> Any:
        return (P * (Y @ B)).T @ keys

    def by_singular_values() -> Solution:
        return measured(_by_singular_values(keys, codes, P, B), forward, adjoint, codes, 0)

    def by_gram_matrix() -> Solution:
        gram = _dual_gram(keys, P, B) if columns > rows else _gram(keys, P, B)
        return by_cholesky(gram, forward, adjoint, codes, dual=columns > rows, tolerance=tolerance)

    def by_iterating() -> Solution:
        return minimum_norm(forward, adjoint, codes, tolerance=tolerance, iterations=iterations)

    rows, columns = int(np.prod(codes.shape)), int(np.prod(other.shape))
    fewer, more = sorted((rows, columns))
    ways = [by_iterating]
    if fewer <= DENSE:
        ways = [by_gram_matrix, by_iterating] if more <= SQUARE * fewer else [by_iterating, by_gram_matrix]
    if rows * columns <= WRITTEN_OUT:
        ways.insert(0 if rows * columns <= SMALL else len(ways), by_singular_values)
    return _first_good(ways, tolerance)


def _first_good(ways: list[Callable[[], Solution]], tolerance: float) -> Solution:
    """The first solution whose residual is at most `tolerance`, or that of the smallest residual."""
    tried: list[Solution] = []
    for way in ways:
        tried.append(way())
        if tried[-1].residual <= tolerance:
            return tried[-1]
    return min(tried, key=lambda solution: solution.residual)


def _by_singular_values(keys: Any, codes: Any, P: Any, B: Any) -> Any:
    """The same from the matrix itself, F d_v x m d, and its pseudoinverse."""
    xp, (F, m), (d_v, d) = array_api_compat.array_namespace(keys), P.shape, (B.shape[0], keys.shape[1])
    features = xp.reshape(P[:, :, None] * keys[:, None, :], (F, 1, m, d))
    matrix = xp.reshape(features * xp.reshape(B, (1, d_v, m, 1)), (F * d_v, m * d))
    return xp.reshape(pseudo_inverse(matrix) @ xp.reshape(codes, (F * d_v,)), (m, d))


def _gram(keys: Any, P: Any, B: Any) -> Any:
    """M^T M, m d x m d: <b_r, b_s> sum_i P_ir P_is k_i k_i^T in block (r, s), O(F (m d)^2)."""
    xp, (F, m), d = array_api_compat.array_namespace(keys), P.shape, keys.shape[1]
    rows = xp.reshape(P[:, :, None] * keys[:, None, :], (F, m * d))
    blocks = xp.reshape(rows.T @ rows, (m, d, m, d)) * xp.reshape(B.T @ B, (m, 1, m, 1))
    return xp.reshape(blocks, (m * d, m * d))


def _dual_gram(keys: Any, P: Any, B: Any) -> Any:
    """M M^T, F d_v x F d_v: <k_i, k_j> sum_r P_ir P_jr b_r b_r^T in block (i, j), O(m (F d_v)^2)."""
    xp, (F, m), d_v = array_api_compat.array_namespace(keys), P.shape, B.shape[0]
    rows = xp.reshape(P[:, None, :] * B[None, :, :], (F * d_v, m))
    blocks = xp.reshape(rows @ rows.T, (F, d_v, F, d_v)) * xp.reshape(keys @ keys.T, (F, 1, F, 1))
    return xp.reshape(blocks, (F * d_v, F * d_v))
