"""MLPs are Hebbians (Section 3.1, Appendix B.2.1)."""

import sympy

import hebbcheck as hc
from hebbcheck import geometry as geo


def _whitening_undoes_the_covariance():
    """W = (1/F) sum_i y_i phi_i^T = B Sigma, and B Sigma Sigma^-1 phi = B phi, for generic 2 x 2 matrices, F = 3."""
    B, stored = sympy.Matrix(2, 2, sympy.symbols("b0:4")), sympy.Matrix(3, 2, sympy.symbols("p0:6"))
    query = sympy.Matrix(2, 1, sympy.symbols("q0:2"))
    outputs = stored * B.T
    covariance = stored.T * stored / 3
    weights = outputs.T * stored / 3
    return [
        ("W = B Sigma", weights - B * covariance),
        (
            "W adj(Sigma) phi = det(Sigma) B phi",
            weights * covariance.adjugate() * query - covariance.det() * B * query,
        ),
    ]


@hc.claim(
    "B.1",
    over=geo.mlps(),
    title="MLPs are Hebbians",
    source="Theorem B.1",
    given={"the feature covariance is invertible": lambda x: x.rank == x.m},
    proof=_whitening_undoes_the_covariance,
)
def mlps_are_hebbians(x):
    r"\frac1F \sum_{i=1}^F \mathrm{MLP}(x_i)\, \phi(x_i)^\top \hat\Sigma^{-1} \phi(z) = \mathrm{MLP}(z)"
    return hc.equal(x.hebbian(x.queries), x.mlp(x.queries))


@hc.claim(
    "B.1.stored",
    over=geo.mlps(),
    title="With the pseudo-inverse, at the stored inputs",
    source="Theorem B.1, corrected for a singular covariance",
    needs=["B.1"],
)
def hebbian_at_stored_inputs(x):
    r"\frac1F \sum_{i=1}^F \mathrm{MLP}(x_i)\, \phi(x_i)^\top \hat\Sigma^{+} \phi(x_t) = \mathrm{MLP}(x_t)"
    return hc.equal(x.hebbian(x.inputs), x.mlp(x.inputs))


@hc.claim(
    "B.1.any",
    over=geo.mlps(),
    title="Any MLP is a Hebbian memory",
    source="Section 3.1",
    expect="refuted",
    erratum="Without an invertible feature covariance the memory sees only the span of the stored features, "
    "and differs from the MLP elsewhere.",
)
def any_mlp_is_hebbian(x):
    r"\frac1F \sum_{i=1}^F \mathrm{MLP}(x_i)\, \phi(x_i)^\top \hat\Sigma^{+} \phi(z) = \mathrm{MLP}(z)"
    return hc.equal(x.hebbian(x.queries), x.mlp(x.queries))


@hc.claim(
    "3.1",
    over=geo.mlps(),
    title="MLPs as kernel Hebbians",
    source="Theorem 3.1, on the stored features' span: an invertible covariance is the case where that is everything",
    given={"phi(z) lies in the stored features' span": lambda x: x.spans(x.queries)},
    needs=["B.1"],
)
def mlps_as_kernel_hebbians(x):
    r"""\mathrm{MLP}(z) = \frac1F \sum_{i=1}^F \mathrm{MLP}(x_i)\, K(x_i, z), \quad
    K(x, z) = \phi(x)^\top \hat\Sigma^{+} \phi(z), \quad \phi(x) = (Ax) \odot \sigma(Gx)"""
    return hc.equal(x.hebbian(x.queries), x.mlp(x.queries))


@hc.claim(
    "3.1.projector",
    over=geo.mlps(),
    title="The whitened kernel on the stored points is F times a projector",
    source="Theorem 3.1",
    needs=["3.1"],
)
def whitened_gram_is_a_projector(x):
    r"K^2 = F K, \quad \mathrm{tr}\, K = F\, \mathrm{rank}\, \Phi"
    K = x.kernel(x.inputs)
    return [hc.equal(K @ K, x.F * K), hc.equal(hc.trace(K), x.F * x.rank)]


@hc.claim(
    "3.1.wide",
    over=geo.mlps(gate="identity", d=(1, 4), m=(1, 16)),
    title="Bilinear features are never linearly independent beyond d(d+1)/2",
    source="Theorem 3.1: where its assumption can be met, for the identity as gate",
)
def bilinear_features_span_quadratic_forms(x):
    r"\mathrm{rank}\, \Phi \le \min\left( F, m, \tfrac{d(d+1)}{2} \right)"
    return hc.at_most(x.rank, hc.min(x.F, x.m, x.d * (x.d + 1) / 2))
