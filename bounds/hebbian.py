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
    source="Theorem 3.1, Theorem B.1",
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
