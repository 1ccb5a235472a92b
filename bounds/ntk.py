"""The NTK baseline (Appendix B.3)."""

import numpy as np
import sympy

import hebbcheck as hc
from hebbcheck import geometry as geo

tiny = geo.facts(keys=geo.sphere, values=geo.sphere, memory="quadratic", F=[3, 4], d=[2, 3])
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
    over=geo.vectors(count=2),
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
    """samples x d: what the NTK MLP of one hidden unit returns at a query, each sample with its own w_r and p_r.

    Units are independent and averaged, so the mean at any width m is the mean of one unit.
    """
    up = ((gates @ keys.T) * (directions @ codes.T)) @ keys
    hidden = relu(gates @ query) * (up @ query)
    return directions * hidden[:, None]


def expected(x, query, keys, codes):
    """(1 / (2 d)) sum_i c_f(i) <k_i, z>^2."""
    return codes.T @ ((keys @ query) ** 2) / (2 * x.d)


def stored_codes(x):
    """C_f (F x d)."""
    return x.backend.xp.take(x.values, x.backend.asarray(x.map), axis=0)


def setting(x):
    """(query, keys, codes, gates): the query is between two keys, none of the keys."""
    keys, codes = x.keys, stored_codes(x)
    query = (keys[0, :] + 2 * keys[1, :]) / 3
    return query, keys, codes, x.gaussians("gates", SAMPLES, keys.shape[1])


@hc.claim(
    "text.ntk",
    over=tiny,
    title="In expectation the NTK baseline of degree 1 is the quadratic Hebbian memory",
    source="Appendix B.3, with isotropic output directions",
    needs=["text.ntk.gate", "B.2"],
)
def quadratic_in_expectation(x):
    r"""\mathbb E\, c_{\mathrm{NTK}}(z) = \frac1{2 d_c} \sum_{i=1}^F c_{f(i)} \langle k_i, z \rangle^2
    \quad \text{for } p_r \text{ uniform on the sphere}"""
    query, keys, codes, gates = setting(x)
    directions = x.gaussians("directions", *gates.shape)
    directions = directions / hc.sqrt((directions**2) @ x.backend.asarray(np.ones((gates.shape[1], 1))))
    return hc.equal(hc.mean(outputs(query, keys, codes, gates, directions)), expected(x, query, keys, codes))


@hc.claim(
    "text.ntk.printed",
    over=tiny,
    title="In expectation the NTK baseline is quadratic, for output directions of norm 1",
    source="Appendix B.3, p_r with norm 1, here all equal to e_1",
    expect="refuted",
    erratum="Norm 1 is not enough: with p_r = e_1 for all r every other coordinate of the codes is lost; "
    "the directions must be isotropic.",
)
def quadratic_in_expectation_printed(x):
    r"""\|p_r\|_2 = 1 \ \Rightarrow\
    \mathbb E\, c_{\mathrm{NTK}}(z) = \frac1{2 d_c} \sum_{i=1}^F c_{f(i)} \langle k_i, z \rangle^2"""
    query, keys, codes, gates = setting(x)
    directions = x.backend.asarray(np.eye(gates.shape[1])[np.zeros(SAMPLES, dtype=int)])
    return hc.equal(hc.mean(outputs(query, keys, codes, gates, directions)), expected(x, query, keys, codes))


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
    gates, directions, codes = x.A, x.G, stored_codes(x)
    up = ((x.keys @ gates.T) * (codes @ directions.T)).T @ x.keys / x.m
    at_keys, at_opposites = (relu(z @ gates.T) * (z @ up.T) @ directions for z in (x.keys, -x.keys))
    return hc.equal(at_keys, at_opposites)
