"""The construction as an algorithm: readouts, ridge whitening and its two forms (Algorithm 1, Appendix B.2.3-B.2.4)."""

import numpy as np
import sympy

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import solve, sqrt

drawn = {
    "keys": geo.anything,
    "values": geo.anything,
    "memory": "kernel",
    "mapping": "any",
    "ridge": (0.01, 2.0),
    "F": (1, 8),
    "m": (1, 8),
}
features = geo.facts(**drawn)
"""Features Phi (F x m), codes and a ridge lambda; more features than facts, and fewer."""


stretched = geo.facts(**drawn, stretch=(0.1, 10.0))
"""The same, and the factor by which the first feature is rescaled."""


def codes(x):
    """C_f (F x d), row i the value of fact i."""
    return x.backend.xp.take(x.values, x.backend.asarray(x.map), axis=0)


def eye(x, size):
    return x.backend.asarray(np.eye(size))


def primal(x, ridge):
    """C^T Phi (Phi^T Phi + F ridge I)^-1, transposed (m x d): B_lambda of equation 13."""
    gram = x.Phi.T @ x.Phi
    return solve(gram + x.F * ridge * eye(x, gram.shape[0]), x.Phi.T @ codes(x))


def dual(x, ridge):
    """C^T (Phi Phi^T + ridge I)^-1 Phi, transposed (m x d): equation 14."""
    gram = x.Phi @ x.Phi.T
    return x.Phi.T @ solve(gram + ridge * eye(x, gram.shape[0]), codes(x))


def norm_squared(matrix):
    return hc.sum(matrix**2)


@hc.claim(
    "alg1",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any"),
    title="Algorithm 1 without whitening is the Hebbian memory, divided by F",
    source="Algorithm 1, mode none; equation 12",
)
def raw_construction(x):
    r"""c(z) = \tfrac1F C_f^\top \Phi\, g(z) = \tfrac1F \sum_{i=1}^F v_{f(i)} \hat K(k_i, z), \quad
    F\, \gamma_{ij}(\text{Algorithm 1}) = \gamma_{ij}"""
    readout = codes(x).T @ x.Phi / x.F
    return hc.equal(x.F * x.margins_of(x.Phi @ readout.T), x.margins)


@hc.claim(
    "alg1.diag",
    over=stretched,
    title="Diagonal whitening undoes a rescaling of a feature",
    source="Algorithm 1, mode diag, at ridge 0",
    given={"no feature vanishes": lambda x: hc.min(column_energies(x.Phi)) > 0},
)
def diagonal_whitening(x):
    r"""c(k_t) = \tfrac1F \sum_{r=1}^m \frac{(C_f^\top \Phi)_{:,r}\, \Phi_{tr}}{\hat\Sigma_{rr}}
    \quad \text{is the same for } \Phi D, \ D \text{ diagonal and invertible}"""
    ones, none = [1] * (x.Phi.shape[1] - 1), [0] * x.Phi.shape[1]
    rescaled = diagonally_whitened(x, [x.stretch, *ones], none)
    return hc.equal(rescaled, diagonally_whitened(x, [1, *ones], none))


def column_energies(Phi):
    return [hc.sum(Phi[:, r] ** 2) for r in range(Phi.shape[1])]


def diagonally_whitened(x, scales, ridges):
    """F x d: what the diagonally whitened construction with features Phi diag(scales) returns at the keys."""
    total = 0 * codes(x)
    for r, (scale, ridge) in enumerate(zip(scales, ridges, strict=True)):
        feature = x.Phi[:, r] * scale
        variance = hc.sum(feature**2) / x.F + ridge
        total = total + feature[:, None] * (feature @ codes(x))[None, :] / (x.F * variance)
    return total


@hc.claim(
    "alg1.diag.ridge",
    over=features,
    title="Diagonal whitening solves a ridge regression on each feature alone",
    source="Algorithm 1, mode diag, with its ridge lambda > 0",
    needs=["eq12"],
)
def diagonal_ridge(x):
    r"""B_{:,r} = \frac{B_{0,:,r}}{\hat\Sigma_{rr} + \lambda} \ \Rightarrow
    \sum_r \left( J_r(B_{0,:,r}) - J_r(B_{:,r}) \right)
    = \sum_r (\hat\Sigma_{rr} + \lambda) \|B_{0,:,r} - B_{:,r}\|^2 \ge 0, \quad
    J_r(b) = \tfrac1F \|C_f - \Phi_{:,r} b^\top\|_F^2 + \lambda \|b\|^2"""
    gained, moved = 0, 0
    for r, energy in enumerate(column_energies(x.Phi)):
        feature, variance = x.Phi[:, r][:, None], energy / x.F + x.ridge
        raw = feature.T @ codes(x) / x.F
        best = raw / variance
        gained = gained + ridge_objective(x, feature, raw) - ridge_objective(x, feature, best)
        moved = moved + variance * norm_squared(raw - best)
    return hc.equal(gained, moved)


def ridge_objective(x, Phi, readout):
    """(1/F) |C - Phi B^T|^2 + ridge |B|^2 for features Phi and the transposed readout B^T (one row a feature)."""
    return norm_squared(codes(x) - Phi @ readout) / x.F + x.ridge * norm_squared(readout)


@hc.claim(
    "alg1.diag.ridge.scale",
    over=stretched,
    title="A ridge under diagonal whitening is one relative to the square of the feature's scale",
    source="Algorithm 1, mode diag, with its ridge lambda > 0",
    needs=["alg1.diag"],
)
def diagonal_ridge_of_a_rescaled_feature(x):
    r"""c_\lambda(k_t) = \tfrac1F \sum_{r=1}^m
    \frac{(C_f^\top \Phi)_{:,r}\, \Phi_{tr}}{\hat\Sigma_{rr} + \lambda / D_r^2}
    \quad \text{for the features } \Phi D, \ D \text{ diagonal and invertible}"""
    ones = [1] * (x.Phi.shape[1] - 1)
    ridges = [x.ridge for _ in ones]
    rescaled = diagonally_whitened(x, [x.stretch, *ones], [x.ridge, *ridges])
    return hc.equal(rescaled, diagonally_whitened(x, [1, *ones], [x.ridge / x.stretch**2, *ridges]))


@hc.claim(
    "eq12",
    over=features,
    title="The raw readout and the covariance",
    source="Equation 12",
)
def raw_readout(x):
    r"""B_0 = \tfrac1F C_f^\top \Phi = \tfrac1F \sum_i c_{f(i)} g(k_i)^\top, \quad
    \hat\Sigma = \tfrac1F \Phi^\top \Phi, \quad \mathrm{tr}\,\hat\Sigma = \tfrac1F \mathrm{tr}\,K"""
    C = codes(x)
    summed = sum(C[i, :][:, None] * x.Phi[i, :][None, :] for i in range(len(x.map)))
    covariance = x.Phi.T @ x.Phi / x.F
    return [hc.equal(summed / x.F, C.T @ x.Phi / x.F), hc.equal(hc.trace(covariance), x.trace / x.F)]


def _normal_equations():
    """A convex quadratic in the readout b of one output, whose gradient vanishes at the ridge readout."""
    Phi, c = sympy.Matrix(3, 2, sympy.symbols("p0:6")), sympy.Matrix(3, 1, sympy.symbols("c0:3"))
    b, ridge = sympy.Matrix(2, 1, sympy.symbols("b0:2")), sympy.Symbol("lambda")
    residual = c - Phi * b
    objective = (residual.T * residual)[0] / 3 + ridge * (b.T * b)[0]
    gradient = sympy.Matrix([sympy.diff(objective, entry) for entry in b])
    return [
        (
            "grad J / 2 = (Sigma + lambda I) b - B_0",
            gradient / 2 - (Phi.T * Phi / 3 + ridge * sympy.eye(2)) * b + Phi.T * c / 3,
        )
    ]


@hc.claim(
    "eq13",
    over=features,
    title="The ridge-whitened readout solves a ridge regression",
    source="Equation 13",
    proof=_normal_equations,
    needs=["eq12"],
)
def ridge_readout(x):
    r"""B_\lambda = B_0 (\hat\Sigma + \lambda I)^{-1} \ \Rightarrow
    J(B) - J(B_\lambda) = \tfrac1F \|\Phi (B - B_\lambda)^\top\|_F^2 + \lambda \|B - B_\lambda\|_F^2 \ge 0,
    \quad J(B) = \tfrac1F \|C_f - \Phi B^\top\|_F^2 + \lambda \|B\|_F^2"""
    best, raw = primal(x, x.ridge), x.Phi.T @ codes(x) / x.F
    excess = ridge_objective(x, x.Phi, raw) - ridge_objective(x, x.Phi, best)
    return hc.equal(excess, norm_squared(x.Phi @ (raw - best)) / x.F + x.ridge * norm_squared(raw - best))


def _push_through():
    """(Phi^T Phi + c I) Phi^T = Phi^T (Phi Phi^T + c I), for generic 3 x 2 features: the two inverses agree."""
    Phi, c = sympy.Matrix(3, 2, sympy.symbols("p0:6")), sympy.Symbol("c")
    left = (Phi.T * Phi + c * sympy.eye(2)) * Phi.T
    return [
        ("(Phi^T Phi + c) Phi^T = Phi^T (Phi Phi^T + c)", left - Phi.T * (Phi * Phi.T + c * sympy.eye(3)))
    ]


@hc.claim(
    "eq14",
    over=features,
    title="The dual form with ridge F lambda is the primal with ridge lambda",
    source="Equations 13 and 14, corrected",
    proof=_push_through,
    needs=["eq13"],
)
def dual_is_primal(x):
    r"C_f^\top (\Phi \Phi^\top + \lambda F I_F)^{-1} \Phi = B_0 (\hat\Sigma + \lambda I_m)^{-1}"
    return hc.equal(dual(x, x.F * x.ridge), primal(x, x.ridge))


@hc.claim(
    "eq14.printed",
    over=features,
    title="The primal and the dual form are equivalent up to scaling",
    source="Text after equation 14",
    expect="refuted",
    erratum="With the same ridge in both they are not proportional: the dual's ridge must be F times the primal's.",
)
def dual_is_primal_printed(x):
    r"""\langle P, D \rangle^2 = \|P\|_F^2 \|D\|_F^2, \quad P = B_0 (\hat\Sigma + \lambda I)^{-1},
    \ D = C_f^\top (\Phi \Phi^\top + \lambda I)^{-1} \Phi"""
    P, D = primal(x, x.ridge), dual(x, x.ridge)
    return hc.equal(hc.sum(P * D) ** 2, norm_squared(P) * norm_squared(D))


@hc.claim(
    "eq14.storage",
    over=geo.instance(
        keys=[[1, 0], [0, 1]],
        values=[[-2, 2], [-1, 0]],
        A=[[-2, 2], [1, 1], [1, -1]],
        G=[[1, 1], [1, 1], [1, 1]],
    ),
    title="The primal and the dual form with one ridge store the same sets",
    source="Text after equation 14, at ridge 1/m",
    given={"the primal form stores every fact": lambda x: stored_margin(x, primal) > 0},
    expect="refuted",
    erratum="With the same ridge in both, the primal form stores sets that the dual one misses, so Algorithm 1 jumps "
    "where m passes F.",
)
def dual_stores_what_primal_stores(x):
    r"""\gamma_{\min}(P) > 0 \ \Rightarrow\ \gamma_{\min}(D) \ge 0, \quad P = B_0 (\hat\Sigma + \lambda I)^{-1},
    \ D = C_f^\top (\Phi \Phi^\top + \lambda I)^{-1} \Phi"""
    return hc.at_least(stored_margin(x, dual), 0)


def stored_margin(x, form):
    return hc.min(x.margins_of(x.Phi @ form(x, 1 / x.m)))


def inverse_gram(x):
    """The inverse of the smaller of Phi^T Phi and Phi Phi^T."""
    gram = x.Phi.T @ x.Phi if x.Phi.shape[1] <= x.Phi.shape[0] else x.Phi @ x.Phi.T
    return solve(gram, eye(x, gram.shape[0]))


def unregularised(x):
    """C_f^T Phi^+, transposed (m x d), for features of full rank."""
    if x.Phi.shape[1] <= x.Phi.shape[0]:
        return inverse_gram(x) @ (x.Phi.T @ codes(x))
    return x.Phi.T @ (inverse_gram(x) @ codes(x))


@hc.claim(
    "eq14.limit",
    over=features,
    title="Without a ridge both forms tend to the readout of the pseudo-inverse",
    source="Equations 13 and 14, lambda to 0, for features of full rank",
    needs=["eq14"],
)
def small_ridge(x):
    r"""\|B_\lambda - C_f^\top \Phi^+\|_F \le \lambda F\, \|G^{-1}\|_F\, \|C_f^\top \Phi^+\|_F, \quad
    G = \Phi^\top \Phi \text{ or } \Phi \Phi^\top \text{, the smaller}"""
    limit = unregularised(x)
    allowed = x.ridge * x.F * sqrt(norm_squared(inverse_gram(x)) * norm_squared(limit))
    return [
        hc.at_most(sqrt(norm_squared(primal(x, x.ridge) - limit)), allowed),
        hc.at_most(sqrt(norm_squared(dual(x, x.F * x.ridge) - limit)), allowed),
    ]


@hc.claim(
    "alg1.full",
    over=geo.facts(
        keys=geo.anything, values=geo.anything, memory="kernel", mapping="any", F=(1, 8), m=(1, 8)
    ),
    title="Full whitening without a ridge decodes by the projector on the features",
    source="Algorithm 1, mode full, at ridge 0, for features of full rank",
    needs=["eq14.limit", "text.projector"],
)
def full_whitening(x):
    r"c(k_i) = \sum_t c_{f(t)} \Pi_{ti}, \quad \Pi = \Phi \Phi^+"
    Pi = projector(x)
    return [hc.equal(x.Phi @ unregularised(x), Pi @ codes(x)), hc.equal(Pi @ Pi, Pi)]


def projector(x):
    if x.Phi.shape[1] <= x.Phi.shape[0]:
        return x.Phi @ inverse_gram(x) @ x.Phi.T
    return eye(x, x.Phi.shape[0])
