"""The data-dependent construction (Appendix B.2.5)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo


def features(keys: np.ndarray, A: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Phi(A, G) = (K A^T) * (K G^T), n x m (without 1/sqrt m)."""
    return (keys @ A.T) * (keys @ G.T)


def raw_readout(codes: np.ndarray, Phi: np.ndarray) -> np.ndarray:
    """B_0 = C_f^T Phi / n, d_c x m."""
    return codes.T @ Phi / len(codes)


def objective(codes: np.ndarray, keys: np.ndarray, A: np.ndarray, G: np.ndarray, B: np.ndarray) -> float:
    """||C_f - Phi(A, G) B^T||_F^2."""
    return float(np.sum((codes - features(keys, A, G) @ B.T) ** 2))


RANK = 1e-9
"""Singular values that are smaller than this share of the largest one count as 0."""


def factor_system(keys: np.ndarray, held: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Row (i, c) of M free = C reads sum_r B_cr <held_r, k_i> <free_r, k_i> = C_ic: n d_c x m d."""
    return np.einsum("cr,ir,ij->icrj", B, keys @ held.T, keys).reshape(len(keys) * len(B), held.size)


def best_factor(codes: np.ndarray, keys: np.ndarray, held: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The factor (m x d) of least norm that minimises the objective with the other factor and B held."""
    system = factor_system(keys, held, B)
    inverse = np.linalg.pinv(system, rcond=RANK)
    once = inverse @ codes.ravel()
    rest = codes.ravel() - system @ once  # of ill-conditioned systems one solve leaves more than rounding
    return (once + inverse @ rest).reshape(held.shape)


def has_a_clear_rank(system: np.ndarray) -> bool:
    """Whether no singular value is so small that floats do not show whether it is 0."""
    sizes = np.linalg.svd(system, compute_uv=False)
    return not np.any((sizes > 1e-3 * RANK * sizes[0]) & (sizes < 1e3 * RANK * sizes[0]))


def ridge_readout(codes: np.ndarray, Phi: np.ndarray, ridge: float) -> np.ndarray:
    """B_0 (Phi^T Phi / n + ridge I)^-1, d_c x m (equation 13), as the ridge regression that it solves."""
    n, m = Phi.shape
    system = np.vstack([Phi / np.sqrt(n), np.sqrt(ridge) * np.eye(m)])
    targets = np.vstack([codes / np.sqrt(n), np.zeros((m, codes.shape[1]))])
    return np.linalg.lstsq(system, targets, rcond=None)[0].T


small = {"F": (2, 12), "d": (2, 6), "m": (2, 16)}
facts = geo.facts(keys=geo.sphere, values=geo.sphere, **small)


def start(x):
    """(C_f, K, A_0, G_0, B_0)."""
    codes, keys, A, G = (np.asarray(x.backend.to_numpy(part)) for part in (x.values, x.keys, x.A, x.G))
    codes = codes[x.map]
    return codes, keys, A, G, raw_readout(codes, features(keys, A, G))


def solved(x):
    """(C_f, K, A_0, G_0, B_0, G_1, A_1), of the minimisers the ones of least norm."""
    codes, keys, A, G, B = start(x)
    G1 = best_factor(codes, keys, A, B)
    return codes, keys, A, G, B, G1, best_factor(codes, keys, G1, B)


def first_is_clear(x):
    _, keys, A, _, B = start(x)
    return has_a_clear_rank(factor_system(keys, A, B))


def second_is_clear(x):
    _, keys, _, _, B, G1, _ = solved(x)
    return has_a_clear_rank(factor_system(keys, G1, B))


first_rank = {"rank of the first system is clear": first_is_clear}
ranks = {**first_rank, "rank of the second system is clear": second_is_clear}


def squared(matrix):
    return float(np.sum(matrix**2))


@hc.claim(
    "eq17",
    over=facts,
    title="The gates' least-squares solve",
    source="Equation 17",
    given=first_rank,
)
def gates_solve(x):
    r"""J(A_0, G) - J(A_0, G_1) = \|\Phi(A_0, G - G_1) B_0^\top\|_F^2 \quad \text{for all } G, \quad
    J(A, G) = \|C_f - \Phi(A, G) B_0^\top\|_F^2"""
    codes, keys, A, G, B = start(x)
    G1 = best_factor(codes, keys, A, B)
    excess = [
        objective(codes, keys, A, other, B) - objective(codes, keys, A, G1, B) for other in (G, A, 0 * G)
    ]
    moved = [squared(features(keys, A, other - G1) @ B.T) for other in (G, A, 0 * G)]
    return hc.equal(np.array(excess), np.array(moved))


@hc.claim(
    "eq18",
    over=facts,
    title="The other factor's least-squares solve",
    source="Equation 18",
    given=ranks,
    needs=["eq17"],
)
def factor_solve(x):
    r"J(A, G_1) - J(A_1, G_1) = \|\Phi(A - A_1, G_1) B_0^\top\|_F^2 \quad \text{for all } A"
    codes, keys, A, _, B, G1, A1 = solved(x)
    excess = [
        objective(codes, keys, other, G1, B) - objective(codes, keys, A1, G1, B) for other in (A, 0 * A)
    ]
    moved = [squared(features(keys, other - A1, G1) @ B.T) for other in (A, 0 * A)]
    return hc.equal(np.array(excess), np.array(moved))


@hc.claim(
    "eq18.chain",
    over=facts,
    title="Each step of the construction lowers its objective",
    source="Equations 17 and 18, and the ridge readout that follows them",
    given=ranks,
    needs=["eq17", "eq18", "eq13"],
)
def monotone_chain(x):
    r"""J(A_0, G_0, B_0) \ge J(A_0, G_1, B_0) \ge J(A_1, G_1, B_0), \quad
    \tfrac1n J(A_1, G_1, B_\lambda) + \lambda \|B_\lambda\|_F^2 \le \tfrac1n J(A_1, G_1, B_0) + \lambda \|B_0\|_F^2"""
    codes, keys, A, G, B, G1, A1 = solved(x)
    ridge = 1e-3
    last = ridge_readout(codes, features(keys, A1, G1), ridge)
    objectives = [objective(codes, keys, *factors, B) for factors in ((A, G), (A, G1), (A1, G1))]
    final = objective(codes, keys, A1, G1, last) / x.F + ridge * squared(last)
    return [
        hc.at_least(objectives[0], objectives[1]),
        hc.at_least(objectives[1] + squared(codes), objectives[2] + squared(codes)),
        hc.at_most(final, objectives[2] / x.F + ridge * squared(B)),
    ]


@hc.claim(
    "eq17.unique",
    over=facts,
    title="The minimisers of equation 17 give one construction",
    source="Equation 17, G_1 in the argmin",
    expect="refuted",
    erratum="The least-squares problem has many minimisers, which give different predictors off the stored keys: the "
    "construction is determined only with a choice, such as the one of least norm.",
)
def one_minimiser(x):
    r"\Phi(A_0, G_1)(z)\, B_0^\top = \Phi(A_0, G_1')(z)\, B_0^\top \quad \text{for } G_1, G_1' \text{ in the argmin}"
    codes, keys, A, G, B = start(x)
    least = best_factor(codes, keys, A, B)
    other = G + best_factor(codes - features(keys, A, G) @ B.T, keys, A, B)
    query = np.ones((1, keys.shape[1])) / 2
    return hc.equal(features(query, A, other) @ B.T, features(query, A, least) @ B.T)


@hc.claim(
    "eq17.interpolates",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=[3, 6], d=[3, 4], m=[6, 12]),
    title="With enough features the first solve interpolates",
    source="Equation 17, for F at most m and at most d(d+1)/2, the dimension of quadratic forms; but for one draw in "
    "20, whose system may be ill-conditioned",
    given={"F <= m": lambda x: x.F <= x.m, "F <= d(d+1)/2": lambda x: x.F <= x.d * (x.d + 1) / 2},
    fails_at_most=0.05,
    needs=["eq17"],
)
def interpolation(x):
    r"F \le \min\left( m, \tfrac{d(d+1)}2 \right) \ \Rightarrow\ J(A_0, G_1, B_0) \le 10^{-9} \|C_f\|_F^2"
    codes, keys, A, _, B = start(x)
    left = objective(codes, keys, A, best_factor(codes, keys, A, B), B)
    return hc.at_most(left, 1e-9 * squared(codes))


@hc.claim(
    "eq17.scale",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, **small, factor=(0.1, 10.0)),
    title="The default ridge means the same at every scale of the features",
    source="Appendix B.2.5: features without 1/sqrt m, and an absolute ridge of 1e-6",
    expect="refuted",
    erratum="A ridge that is an absolute number is not invariant when A is rescaled, and equation 17's features lack "
    "the 1/sqrt m of equation 12: the ridge means something else in the two constructions.",
    needs=["eq17.scale.free"],
)
def scale_invariance(x):
    r"B_\lambda(c\Phi)\, c\,\Phi^\top = B_\lambda(\Phi)\, \Phi^\top, \quad \lambda = 10^{-6}"
    codes, keys, A, G, _ = start(x)
    scaled, plain = features(keys, x.factor * A, G), features(keys, A, G)
    return hc.equal(
        ridge_readout(codes, scaled, 1e-6) @ scaled.T, ridge_readout(codes, plain, 1e-6) @ plain.T
    )


@hc.claim(
    "eq17.scale.free",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, **small, factor=(0.1, 10.0)),
    title="A ridge in proportion to the covariance's trace means the same at every scale",
    source="Appendix B.2.5, corrected: lambda = tr(Sigma) / 1000",
)
def scale_invariance_of_a_relative_ridge(x):
    r"""B_{\lambda(c\Phi)}(c\Phi)\, c\,\Phi^\top = B_{\lambda(\Phi)}(\Phi)\, \Phi^\top, \quad
    \lambda(\Phi) = \frac{\mathrm{tr}\, \hat\Sigma}{1000}"""
    codes, keys, A, G, _ = start(x)
    plain, scaled = features(keys, A, G), features(keys, x.factor * A, G)
    fits = [ridge_readout(codes, Phi, np.sum(Phi**2) / len(Phi) / 1000) @ Phi.T for Phi in (scaled, plain)]
    return hc.equal(*fits)


def margin_of(x, outputs):
    return hc.min(x.margins_of(x.backend.asarray(outputs)))


@hc.claim(
    "text.data_dependent",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=24, d=8, m=12),
    title="Least squares raises the margin above that of the whitened construction",
    source="Section 4.3, data-dependent construction: least squares maximises the margin",
    expect="refuted",
    erratum="Least squares fits the codes and does not maximise the margin: on some sets the whitened construction's "
    "margin is larger.",
)
def margin_of_the_fit(x):
    r"\gamma_{\min}(\Phi_1 B_\lambda^\top) \ge \gamma_{\min}(\Phi_0 B_\lambda(\Phi_0)^\top), \quad \lambda = 10^{-6}"
    codes, keys, A, G, _, G1, A1 = solved(x)
    fitted, plain = features(keys, A1, G1), features(keys, A, G)
    return hc.at_least(
        margin_of(x, fitted @ ridge_readout(codes, fitted, 1e-6).T),
        margin_of(x, plain @ ridge_readout(codes, plain, 1e-6).T),
    )
