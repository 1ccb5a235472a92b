"""The NTK baseline (Appendix B.3)."""

import numpy as np
import sympy

import hebbcheck as hc
from hebbcheck import geometry as geo

two_facts = geo.vectors(count=4, d=2)
"""Two keys and their two codes, in every position."""
SAMPLES = 20_000


def _half_a_gaussian():
    """w = g x/|x| + h: E relu(|x| g) (<x,k>/|x| g + h') with h' independent of g and centred."""
    r, norm = sympy.symbols("r n", positive=True)
    g = sympy.Symbol("g", real=True)
    density = sympy.exp(-(g**2) / 2) / sympy.sqrt(2 * sympy.pi)
    along = sympy.integrate(norm * g * (r / norm) * g * density, (g, 0, sympy.oo))
    across = sympy.integrate(norm * g * density, (g, 0, sympy.oo)) * sympy.integrate(
        g * density, (g, -sympy.oo, sympy.oo)
    )
    return [("E relu(w.x)(w.k) = <x,k>/2", along + across - r / 2)]


@hc.claim(
    "text.ntk.gate",
    over=geo.vectors(count=2, d=(1, 8)),
    title="A rectified gate keeps half of the inner product",
    source="Appendix B.3, degree 1",
    proof=_half_a_gaussian,
)
def gated_product(v):
    r"\mathbb E_w \, \mathrm{ReLU}(\langle w, x \rangle) \langle w, k \rangle = \tfrac12 \langle x, k \rangle"
    w = v.gaussians("w", SAMPLES, v.all.shape[1])
    gated = w @ v[0]
    return hc.equal(hc.mean((gated + abs(gated)) * (w @ v[1]) / 2), v[0] @ v[1] / 2)


def relu(array):
    return (array + abs(array)) / 2


def outputs(query, keys, codes, gates, directions):
    """samples x d: what NTK MLPs of one hidden unit (gates, directions: samples x d) return at a query.

    An MLP's units are independent and averaged: the mean is the same at every width.
    """
    up = ((gates @ keys.T) * (directions @ codes.T)) @ keys
    return directions * (relu(gates @ query) * (up @ query))[:, None]


def expected(query, keys, codes):
    """(1 / (2 d)) sum_i c_f(i) <k_i, z>^2."""
    return codes.T @ ((keys @ query) ** 2) / (2 * codes.shape[1])


@hc.claim(
    "text.ntk",
    over=two_facts,
    title="In expectation the NTK baseline of degree 1 is the quadratic Hebbian memory",
    source="Appendix B.3, with isotropic output directions",
    needs=["text.ntk.gate", "B.2"],
)
def quadratic_in_expectation(v):
    r"""\mathbb E\, c_{\mathrm{NTK}}(z) = \frac1{2 d_c} \sum_{i=1}^F c_{f(i)} \langle k_i, z \rangle^2
    \quad \text{for } p_r \text{ uniform on the sphere}"""
    parts = (4 * v[0] + v[1]) / 5, v.all[:2, :], v.all[2:, :]
    gates, directions = (v.gaussians(name, SAMPLES, 2) for name in ("gates", "directions"))
    directions = directions / hc.sqrt((directions**2) @ v.backend.asarray(np.ones((2, 1))))
    return hc.equal(hc.mean(outputs(*parts, gates, directions)), expected(*parts))


@hc.claim(
    "text.ntk.printed",
    over=geo.instance(keys=[[1, 0], [0, 1]], values=[[1, 1], [1, -1]]),
    title="In expectation the NTK baseline is quadratic, for output directions of norm 1",
    source="Appendix B.3, p_r with norm 1, here all equal to e_1",
    expect="refuted",
    erratum="Norm 1 is not enough: with p_r = e_1 for all r every other coordinate of the codes is lost; "
    "the directions must be isotropic.",
)
def quadratic_in_expectation_printed(x):
    r"""\|p_r\|_2 = 1 \ \Rightarrow
    \mathbb E\, c_{\mathrm{NTK}}(z) = \frac1{2 d_c} \sum_{i=1}^F c_{f(i)} \langle k_i, z \rangle^2"""
    parts = x.keys[0, :], x.keys, x.values
    directions = x.backend.asarray(np.tile([1.0, 0.0], (SAMPLES, 1)))
    return hc.equal(hc.mean(outputs(*parts, x.gaussians("gates", SAMPLES, 2), directions)), expected(*parts))


@hc.claim(
    "text.ntk.bilinear",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=(3, 12), d=(2, 8), m=(2, 16)),
    title="The NTK baseline is a bilinear MLP, and so an even function",
    source="Appendix B.3: the realised model remains a gated bilinear MLP",
    expect="refuted",
    erratum="With a ReLU gate it is a gated MLP but not bilinear: bilinear MLPs are even, and it is not.",
)
def even_function(x):
    r"c_{\mathrm{NTK}}(-z) = c_{\mathrm{NTK}}(z)"
    gates, directions = x.A, x.G
    codes = x.backend.xp.take(x.values, x.backend.asarray(x.map), axis=0)
    up = ((x.keys @ gates.T) * (codes @ directions.T)).T @ x.keys / x.m
    at_keys, at_opposites = (relu(z @ gates.T) * (z @ up.T) @ directions for z in (x.keys, -x.keys))
    return hc.equal(at_keys, at_opposites)
