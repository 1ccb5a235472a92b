"""Bit complexity of the unwhitened construction (Appendix B.2.6, Proposition B.7, Corollary B.8)."""

import math

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, max, sqrt
from hebbcheck.memories.quantised import Grid, outputs, parameters

from .bits import box_constant, margin_of, shapes, size, small_mlps, stored, sum_of_squares
from .parameter_slopes import largest_entry, largest_norm, operator_norm


def algorithm1(x):
    """(A, G, B_0) of Algorithm 1, whose readout carries 1/F."""
    theta = parameters(x)
    return {**theta, "B": theta["B"] / x.F}


def gaussian_norm(x):
    """M_A: what neither |A| nor |G| exceeds, but with probability delta (Davidson and Szarek, 2001)."""
    return x.m**-0.25 * (sqrt(x.m) + sqrt(x.d) + sqrt(2 * log(2 / x.delta)))


def proved_norm(x):
    """M: what no operator norm exceeds for unit keys and values, but with probability delta."""
    return max(gaussian_norm(x), gaussian_norm(x) ** 2)


@hc.claim(
    "B.7.norms",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any", F=(1, 64), d=(1, 32), m=(1, 64)),
    title="Norms of the construction's parts",
    source="Proposition B.7, proof",
    needs=["eq12", "eq19"],
)
def construction_norms(x):
    r"""\|C_f\| \le \sqrt F R_V, \quad \|\Phi\| \le \sqrt F \|A\| \|G\| R_K^2, \quad
    \|B_0\| \le R_V \|A\| \|G\| R_K^2, \quad |T_{ab}| \le \|T\|"""
    host, theta = x.backend.to_numpy, algorithm1(x)
    keys, values = host(x.keys), host(x.values)
    A, G, B = (operator_norm(theta[name]) for name in "AGB")
    R_K, R_V = (float(np.sqrt(np.max(sum_of_squares(rows)))) for rows in (keys, values))
    return [
        hc.at_most(operator_norm(values[x.map]), math.sqrt(x.F) * R_V),
        hc.at_most(operator_norm(host(x.Phi)), math.sqrt(x.F) * A * G * R_K**2),
        hc.at_most(B, R_V * A * G * R_K**2),
        hc.at_most(largest_entry(theta), largest_norm(theta)),
    ]


@hc.claim(
    "B.7",
    over=geo.facts(keys=geo.anything, values=geo.sphere, F=(3, 32), d=(2, 32), m=(4, 64), delta=[0.1, 0.5]),
    title="Dynamic range and Lipschitz constant of the unwhitened construction",
    source="Proposition B.7, corrected: explicit norms, and the Lipschitz constant of the box",
    given={"R_K <= 1": lambda x: max(sum_of_squares(x.keys)) <= 1 + 1e-9},
    fails_at_most="delta",
    needs=["B.7.norms", "eq20"],
)
def range_of_the_construction(x):
    r"""M_A = m^{-1/4} \left( \sqrt m + \sqrt d + \sqrt{2 \log(2/\delta)} \right): \quad
    \|A\|, \|G\| \le M_A, \ \|B_0\| \le M_A^2, \ C_{\mathrm{rng}} \le M = \max(M_A, M_A^2),
    L_\theta = \sqrt3\, C_{\mathrm{rng}}^2\, d \sqrt m \le \sqrt3\, M^2 d \sqrt m"""
    theta, M_A = algorithm1(x), gaussian_norm(x)
    return [
        hc.at_most(max(operator_norm(theta["A"]), operator_norm(theta["G"])), M_A),
        hc.at_most(operator_norm(theta["B"]), M_A**2),
        hc.at_most(largest_entry(theta), proved_norm(x)),
        hc.at_most(box_constant(x, largest_entry(theta)), box_constant(x, proved_norm(x))),
    ]


@hc.claim(
    "B.7.printed",
    over=small_mlps,
    title="The operator norms' Lipschitz constant serves on the box",
    source="Proposition B.7 with equation 20",
    expect="refuted",
    erratum="3 M^2 R_K^2 needs operator norms of at most M, which the box does not give: at its corners the slope is "
    "larger by orders of magnitude.",
)
def box_constant_printed(x):
    r"""\|g_\theta(k_i) - g_{\theta'}(k_i)\|_2 \le 3 M^2 R_K^2 \|\theta - \theta'\|_2
    \quad \text{for } \theta, \theta' \in [-C_{\mathrm{rng}}, C_{\mathrm{rng}}]^P"""
    theta, key = algorithm1(x), x.backend.to_numpy(x.keys)[:1]
    C, row = largest_entry(theta), np.sign(key)
    corner = {"A": C * np.repeat(row, x.m, 0), "G": C * np.repeat(row, x.m, 0), "B": np.full((x.d, x.m), C)}
    inside = {name: 0.999 * part for name, part in corner.items()}
    distance = 0.001 * C * math.sqrt(size(theta))
    change = float(np.linalg.norm(outputs(corner, key) - outputs(inside, key)))
    return hc.at_most(change, 3 * largest_norm(theta) ** 2 * distance)


def worst_direction(x, theta):
    """The unit direction in which the smallest margin falls fastest."""
    keys, values = x.backend.to_numpy(x.keys), x.backend.to_numpy(x.values)
    scores = outputs(theta, keys) @ values.T
    margins = scores[np.arange(len(keys)), x.map][:, None] - scores
    margins[np.arange(len(keys)), x.map] = np.inf
    i, j = np.unravel_index(int(np.argmin(margins)), margins.shape)
    key, towards = keys[i], values[x.map[i]] - values[j]
    left, right, back = theta["A"] @ key, theta["G"] @ key, theta["B"].T @ towards
    gradient = {
        "A": np.outer(back * right, key),
        "G": np.outer(back * left, key),
        "B": np.outer(towards, left * right),
    }
    norm = math.sqrt(math.fsum(float((part**2).sum()) for part in gradient.values()))
    return {name: -part / norm for name, part in gradient.items()}


@hc.claim(
    "B.7.near",
    over=small_mlps,
    title="Parameters near a storing MLP's store too",
    source="Proposition B.7, repaired: the operator norms' Lipschitz constant holds near theta; unit keys and values",
    given=stored,
    needs=["B.4", "B.5.sharp", "B.7.norms"],
)
def near_parameters(x):
    r"""\|\tilde\theta - \theta\|_2 \le \frac{\gamma_0}{12 M^2 R_K^2 R_V} \ \Rightarrow
    \gamma_{\min}(\tilde\theta) \ge \frac{\gamma_0}{2}"""
    theta = parameters(x)
    radius = x.gamma_min / (12 * largest_norm(theta) ** 2)
    moved = {name: theta[name] + radius * part for name, part in worst_direction(x, theta).items()}
    return hc.at_least(margin_of(x, moved), x.gamma_min / 2)


def written(x, theta, C, N):
    """(the margin after the parameters were written on the grid and read, the bits that it took)."""
    grid = Grid(C, N)
    code = grid.encode(theta)
    return margin_of(x, grid.decode(code, shapes(theta))), 8 * len(code) - 7


def bits_each(N):
    return math.ceil(math.log2(2 * N + 1))


@hc.claim(
    "B.8.bits",
    over=small_mlps,
    title="Bounded-bit implementation, with operator norms",
    source="Theorem B.6 with Proposition B.7, repaired: the printed Lipschitz constant, near theta; unit keys and "
    "values",
    given=stored,
    needs=["B.7.near"],
)
def bits_from_operator_norms(x):
    r"""N = \left\lceil 6 C M^2 R_K^2 R_V \sqrt P / \gamma_0 \right\rceil
    \ \Rightarrow\ \gamma_{\min}(\tilde\theta) \ge \tfrac{\gamma_0}{2},
    \mathrm{Bits} \le P \lceil \log_2(2N+1) \rceil"""
    theta = parameters(x)
    C, M, P = largest_entry(theta), largest_norm(theta), size(theta)
    N = math.ceil(6 * C * M**2 * math.sqrt(P) / x.gamma_min)
    margin, bits = written(x, theta, C, N)
    return [hc.at_least(margin, x.gamma_min / 2), hc.at_most(bits, P * bits_each(N))]


@hc.claim(
    "B.8",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=[8, 16], d=16, m=[64, 128], delta=[0.1, 0.5]),
    title="Bits of the unwhitened construction, isotropic keys and values",
    source="Corollary B.8, with explicit constants: Algorithm 1 with its factor 1/F",
    given=stored,
    fails_at_most="delta",
    needs=["B.7", "B.8.bits", "alg1"],
)
def bits_of_the_construction(x):
    r"""N = \left\lceil 6 M^3 \sqrt{3md}\, \frac{F}{\gamma_{\min}} \right\rceil \ \Rightarrow
    \gamma_{\min}(\tilde\theta) \ge \frac{\gamma_{\min}(\theta)}{2}, \quad
    \mathrm{Bits} \le 3md\, \lceil \log_2(2N+1) \rceil"""
    theta, margin = algorithm1(x), x.gamma_min / x.F
    M = proved_norm(x)
    C = max(M, largest_entry(theta))
    N = math.ceil(6 * M**3 * math.sqrt(3 * x.m * x.d) / abs(margin))
    kept, bits = written(x, theta, C, N)
    return [
        hc.at_most(largest_entry(theta), M),
        hc.at_least(kept, margin / 2),
        hc.at_most(bits, 3 * x.m * x.d * bits_each(N)),
    ]


@hc.claim(
    "B.8.printed",
    over=geo.facts(
        keys=geo.sphere, values=geo.sphere, memory="quadratic", d=64, F=[16, 32, 64, 128, 256], m=64
    ),
    title="Algorithm 1 has a margin of constant order",
    source="Corollary B.8: constant slack margin and Algorithm 1, here at unlimited width",
    expect="refuted",
    erratum="Algorithm 1's readout carries 1/F, so its margin falls like 1/F; the bits grow by log F = O(log d) only.",
)
def margin_of_algorithm1(x):
    r"\gamma_{\min}(\text{Algorithm 1}) = \Theta(1)"
    return hc.scales_as(x.gamma_min / x.F, 1.0)


def _regime(rng, d, alpha):
    """F = d^alpha facts, md = 8 F log(F/delta), delta = 1/d; margin 0.1/F."""
    F = round(d**alpha)
    budget = F * math.log(F * d)
    m = math.ceil(8 * budget / d)
    M_A = m**-0.25 * (math.sqrt(m) + math.sqrt(d) + math.sqrt(2 * math.log(2 * d)))
    N = math.ceil(6 * max(M_A, M_A**2) ** 3 * math.sqrt(3 * m * d) * F / 0.1)
    return {"bits": float(3 * m * d * bits_each(N)), "budget": budget}


@hc.claim(
    "eq22",
    over=geo.family(_regime, d=(16, 2**20), alpha=(1.0, 2.0)),
    title="The order of the number of bits",
    source="Equation 22, from the explicit bound: F = d^alpha, md = 8 F log(F/delta), delta = 1/d, margin 0.1/F",
    needs=["B.8"],
)
def order_of_the_bits(x, *, C):
    r"3md\, \lceil \log_2(2N+1) \rceil \le C\, F \log(F/\delta) \log d"
    return hc.at_most(x.bits, C * x.budget * math.log(x.d))
