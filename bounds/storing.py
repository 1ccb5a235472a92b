"""What it means to store facts: storage, margin, cost, and the two model classes (Section 2)."""

import itertools

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo

any_facts = geo.facts(
    keys=geo.anything, values=geo.anything, memory="quadratic", mapping="any", F=(1, 12), d=(1, 6)
)
"""Any keys, any values, any map: also zero and repeated vectors, one value alone, values that nobody asks for."""


def decoded(scores):
    """For each row of scores the entry of largest softmax probability; -1 where that is not one alone."""
    return [
        next(
            (
                j
                for j, own in enumerate(row)
                if all(_likelier(own, row, t) for t in range(len(row)) if t != j)
            ),
            -1,
        )
        for row in scores.tolist()
    ]


def _likelier(own, row, other):
    """Softmax probabilities are in the ratio of the exponentials of the scores."""
    return hc.exp(row[other] - own) < 1


def indicator(tests):
    return np.array([int(bool(test)) for test in tests])


@hc.claim(
    "2.1",
    over=any_facts,
    title="To be stored is to be decoded",
    source="Definition 2.1, equation 1, with softmax decoding of the likeliest value",
)
def storage_is_greedy_decoding(x):
    r"""\langle g(k_i), v_{f(i)} \rangle > \langle g(k_i), v_j \rangle \ \forall j \ne f(i)
    \iff f(i) = \arg\max_j \mathrm{softmax}(V g(k_i))_j \ \text{alone}"""
    outputs = x.memory(x.keys)
    stored = indicator(all(margin > 0 for margin in row) for row in x.margins_of(outputs).tolist())
    read = decoded(outputs @ x.values.T)
    return hc.equal(stored, indicator(j == f for j, f in zip(read, x.map.tolist(), strict=True)))


@hc.claim(
    "2.2",
    over=any_facts,
    title="The margin, and that a positive one stores the facts",
    source="Definition 2.2, equation 2; over no competitors the minimum is infinite",
    needs=["2.1"],
)
def positive_margin_is_storage(x):
    r"""\gamma_{ij} = \langle g(k_i), v_{f(i)} \rangle - \langle g(k_i), v_j \rangle, \quad
    \gamma_{\min} > 0 \iff g \text{ stores } f"""
    outputs = x.memory(x.keys)
    read = decoded(outputs @ x.values.T)
    return [
        hc.equal(x.margins, x.margins_of(outputs)),
        hc.equal(x.gamma_min, hc.min(x.margins)),
        hc.equal(indicator([x.gamma_min > 0]), indicator([read == x.map.tolist()])),
    ]


@hc.claim(
    "2.2.items",
    over=any_facts,
    title="Competitors counted as items",
    source="Equation 24, read for any map",
    expect="refuted",
    erratum="Equation 24 lets the competitor run over items; where two keys share a value its margin is 0 though both "
    "are stored. Competitors are the values other than f(i), as in equation 2; the two agree for injective maps alone.",
    needs=["2.2"],
)
def items_as_competitors(x):
    r"\min_{i \ne t} \langle v_{f(i)} - v_{f(t)}, g(k_i) \rangle > 0 \iff g \text{ stores } f"
    codes = x.values[x.map]
    scores = x.memory(x.keys) @ codes.T
    margins = [row[i] - s for i, row in enumerate(scores.tolist()) for t, s in enumerate(row) if t != i]
    return hc.equal(indicator([hc.min(margins) > 0]), indicator([x.stores_all]))


def value_between_others(rng, d, count):
    """Values of which the last lies in the convex hull of the others (or is one of them), and any output."""
    values = rng.standard_normal((count, d)) * 10.0 ** rng.integers(-2, 3, (count, 1))
    weights = rng.dirichlet(np.full(count - 1, 10.0 ** rng.uniform(-2, 1)))
    values[-1] = weights @ values[:-1]
    direction = values[-1] if rng.integers(2) else rng.standard_normal(d)
    return {"values": values, "output": direction * 10.0 ** rng.integers(-2, 3)}


@hc.claim(
    "2.3.hull",
    over=geo.family(value_between_others, d=(1, 8), count=(2, 12)),
    title="A value between others is never decoded, at any cost",
    source="Definition 2.3: where the minimum is over nothing",
)
def value_in_the_hull(x):
    r"""v_j \in \mathrm{conv} \{ v_i : i \ne j \}
    \ \Rightarrow\ \langle g, v_j \rangle \le \max_{i \ne j} \langle g, v_i \rangle"""
    scores = x.values @ x.output
    return hc.at_most(scores[-1], np.max(scores[:-1]))


@hc.claim(
    "2.3.antipodal",
    over=geo.mlps(gate="identity"),
    title="A bilinear MLP gives opposite keys one value, and the zero key none, at any cost",
    source="Definition 2.3 for the class of Section 4.1",
    needs=["eq4"],
)
def opposite_keys(x):
    r"\mathrm{MLP}(-x) = \mathrm{MLP}(x), \quad \mathrm{MLP}(0) = 0 \quad \text{for } \sigma = \mathrm{id}"
    answer = x.mlp(x.queries)
    return [hc.equal(x.mlp(-x.queries), answer), hc.equal(x.mlp(0 * x.queries), 0 * answer)]


@hc.claim(
    "eq4",
    over=geo.mlps(),
    title="Gated MLPs, unit by unit",
    source="Equation 4",
)
def gated_mlp(x):
    r"""\mathrm{MLP}(x) = B \left( (Ax) \odot \sigma(Gx) \right)
    = \sum_{r=1}^m B_{:r}\, \langle A_r, x \rangle\, \sigma(\langle G_r, x \rangle)"""
    rows = [_unit_by_unit(x, z) for z in x.queries]
    return hc.equal(np.array(rows), x.mlp(x.queries))


def _unit_by_unit(x, z):
    gates = {"identity": lambda u: u, "relu": lambda u: u if u > 0 else 0 * u, "cube": lambda u: u * u * u}
    units = [hc.sum(a * z) * gates[x.raw.memory](hc.sum(g * z)) for a, g in zip(x.A, x.G, strict=True)]
    return [hc.sum(weight * unit for weight, unit in zip(row, units, strict=True)) for row in x.B]


def linear_outputs(x):
    """F x d: W k_i for the memory W = sum_t v_f(t) k_t^T."""
    W = x.values[x.map].T @ x.keys
    return x.keys @ W.T


@hc.claim(
    "eq5",
    over=geo.facts(
        keys=geo.tight_frame, values=geo.gaussian, memory="quadratic", mapping="any", F=(1, 8), d=(8, 16)
    ),
    title="The linear Hebbian memory, orthonormal keys",
    source="Equation 5, with the conditions under which it stores every map",
    needs=["2.2", "eq6"],
)
def linear_memory(x):
    r"""W = \sum_t v_{f(t)} k_t^\top, \ \langle k_t, k_i \rangle = \mathbf 1_{t=i}
    \ \Rightarrow\ \gamma_{\min} = \min_{i,\, j \ne f(i)} \langle v_{f(i)} - v_j, v_{f(i)} \rangle"""
    return hc.equal(hc.min(x.margins_of(linear_outputs(x))), x.V_min)


@hc.claim(
    "eq5.printed",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="quadratic", F=(1, 8), d=(1, 8)),
    title="The linear Hebbian memory stores any fact set",
    source="Equation 5",
    given={"keys differ, and so do values": lambda x: _distinct(x.keys) and _distinct(x.values)},
    expect="refuted",
    erratum="Keys that are not orthonormal interfere, and a value may have a larger product with another than with "
    "itself: equation 5 needs orthonormal keys and <v_i - v_j, v_i> > 0.",
    needs=["eq5"],
)
def linear_memory_stores_anything(x):
    r"W = \sum_t v_{f(t)} k_t^\top \text{ stores } f: \ \gamma_{\min} \ge 0"
    return hc.at_least(hc.min(x.margins_of(linear_outputs(x))), 0)


def _distinct(rows):
    return all(hc.sum((one - other) ** 2) > 0 for one, other in itertools.combinations(rows, 2))
