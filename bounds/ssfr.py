"""Synthetic sequential factual recall and the attention noise ceiling (Definitions 3.2 and 5.1).

One attention head without positional encodings reads: junk prefix, key, junk suffix, query token.  The query token
comes last, so the causal mask hides nothing from it, and the output there depends on how often each junk token occurs
and on nothing else.  A position's weight is w = exp(score), and with counts c_j the output is

    o(c) = residual + (w_k y_k + w_q y_q + sum_j c_j w_j y_j) / (w_k + w_q + sum_j c_j w_j).
"""

import itertools

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo

from .noise import isotropic

small = {"F": (2, 4), "d": (2, 6), "V": (1, 3), "J": [2, 4], "residual": [0, 1]}
"""F keys, V junk tokens, J of them in a sequence, with or without a residual connection."""


def blocks(rng, F, d, V, J, residual):
    """Token embeddings (keys, junk, query token) and one head: near a head that copies the key, or any at all."""
    tokens = isotropic(rng, F + V + 1, d)
    sharpness, mixing = rng.uniform(0, 3), rng.choice([0.0, 0.3, 1.0])
    head = {name: rng.standard_normal((d, d)) / np.sqrt(d) for name in ("W_Q", "W_K", "W_V", "W_O")}
    near = {name: np.eye(d) + mixing * head[name] for name in ("W_V", "W_O")}
    towards = sharpness * np.outer(tokens[-1], tokens[:F].sum(axis=0))
    scores = {"W_Q": np.eye(d), "W_K": towards + mixing * head["W_K"]}
    return {"tokens": tokens, "values": isotropic(rng, F, d), **near, **scores}


def rms_normed(rows):
    return rows / np.sqrt(np.mean(rows**2, axis=-1, keepdims=True))


def on_the_sphere(rows):
    """Unit-RMSNorm: the projection to the unit sphere."""
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def forward(x, sequences):
    """N x d: what attention gives the MLP at the last position of each of N sequences of tokens (N x T)."""
    embedded = np.asarray(x.tokens)[sequences]
    queries, keys, values = (rms_normed(embedded) @ np.asarray(W) for W in (x.W_Q, x.W_K, x.W_V))
    scores = np.einsum("ntd,nsd->nts", queries, keys) / np.sqrt(x.d)
    length = sequences.shape[1]
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    attended = np.einsum("nts,nsd->ntd", weights / weights.sum(axis=2, keepdims=True), values) @ x.W_O
    return (x.residual * embedded + attended)[:, -1]


def output_at(x, i, counts):
    """N x d: o(c) for key i and N vectors of junk counts (N x V)."""
    normed, F = rms_normed(np.asarray(x.tokens)), int(x.F)
    weights = np.exp(normed @ np.asarray(x.W_K) @ (np.asarray(x.W_Q).T @ normed[-1]) / np.sqrt(x.d))
    present = np.zeros((len(counts), len(normed)))
    present[:, i] = present[:, -1] = 1
    present[:, F:-1] = counts
    mixed = (present * weights) @ (normed @ x.W_V @ x.W_O) / (present @ weights)[:, None]
    return x.residual * np.asarray(x.tokens)[-1] + mixed


def all_contexts(x):
    """V^J x J: every string of junk tokens."""
    return np.array(list(itertools.product(range(x.V), repeat=x.J))).reshape(-1, x.J) + x.F


def sequences(x, i, split):
    """V^J x (J + 2): every context around key i, `split` junk tokens before it."""
    junk, last = all_contexts(x), len(x.tokens) - 1
    key, query = (np.full((len(junk), 1), token) for token in (i, last))
    return np.hstack([junk[:, :split], key, junk[:, split:], query])


def outputs(x):
    """F x V^J x d: the MLP's inputs for every key and context, the junk split in halves."""
    return np.stack([forward(x, sequences(x, i, x.J // 2)) for i in range(x.F)])


def vertices(x):
    """F x V x d: the MLP's inputs where all junk tokens are equal."""
    return np.stack([output_at(x, i, x.J * np.eye(int(x.V))) for i in range(x.F)])


def deviations(x, queries):
    """F x N: the distances of the queries (F x N x d) from their keys."""
    return np.linalg.norm(queries - np.asarray(x.tokens)[: x.F, None], axis=-1)


over = geo.family(blocks, **small)


@hc.claim(
    "3.2",
    over=geo.family(blocks, **{**small, "J": [2, 4, 6], "V": (1, 2)}),
    title="A sequence of SSFR is known by its junk counts",
    source="Definition 3.2 (J even), without positional encodings (Section A.1.2)",
)
def counts_decide(x):
    r"""o(j_1 \ldots j_{J/2}\, k_i\, j_{J/2+1} \ldots j_J\, q)
    = \frac{w_k y_k + w_q y_q + \sum_j c_j w_j y_j}{w_k + w_q + \sum_j c_j w_j} \quad \text{with junk counts } c"""
    counts = np.stack([(all_contexts(x) == x.F + j).sum(axis=1) for j in range(x.V)], axis=1)
    return hc.equal(outputs(x), np.stack([output_at(x, i, counts) for i in range(x.F)]))


@hc.claim(
    "3.2.split",
    over=over,
    title="The split into prefix and suffix does not matter",
    source="Definition 3.2 and Section A.2.1, which split the junk in two ways",
    needs=["3.2"],
)
def split_is_irrelevant(x):
    r"""\max_{j} \|o(j_1 \ldots j_s\, k_i\, j_{s+1} \ldots j_J\, q) - k_i\|
    \text{ is the same for every split } 0 \le s \le J"""
    ceilings = [
        deviations(x, np.stack([forward(x, sequences(x, i, s)) for i in range(x.F)])).max(axis=1)
        for s in range(x.J + 1)
    ]
    return hc.equal(np.stack(ceilings), np.stack([ceilings[0]] * len(ceilings)))


@hc.claim(
    "5.1",
    over=over,
    title="The attention noise ceiling is attained where all junk tokens are equal",
    source="Definition 5.1 for one attention head, its raw output",
    needs=["3.2"],
)
def ceiling_at_vertices(x):
    r"""\varepsilon_{\mathrm{attn}} = \max_i \max_{c} \|o_i(c) - k_i\| = \max_i \max_j \|o_i(J e_j) - k_i\|"""
    return hc.equal(deviations(x, outputs(x)).max(axis=1), deviations(x, vertices(x)).max(axis=1))


def unit_ceilings(x):
    """(over all contexts, over the vertices) after unit-RMSNorm, for each key."""
    return tuple(deviations(x, on_the_sphere(o)).max(axis=1) for o in (outputs(x), vertices(x)))


@hc.claim(
    "5.1.unit",
    over=over,
    title="The ceiling after unit-RMSNorm",
    source="Definition 5.1 for what the MLP sees",
    given={"the vertices are within 90 degrees": lambda x: unit_ceilings(x)[1].max() <= 2**0.5},
    needs=["5.1"],
)
def unit_ceiling_at_vertices(x):
    r"""\max_j \left\| \tfrac{o_i(J e_j)}{\|o_i(J e_j)\|} - k_i \right\| \le \sqrt2 \ \Rightarrow \quad
    \max_c \left\| \tfrac{o_i(c)}{\|o_i(c)\|} - k_i \right\|
    = \max_j \left\| \tfrac{o_i(J e_j)}{\|o_i(J e_j)\|} - k_i \right\|"""
    return hc.equal(*unit_ceilings(x))


@hc.claim(
    "5.1.unit.printed",
    over=over,
    title="The ceiling after unit-RMSNorm, always",
    source="Definition 5.1 for what the MLP sees",
    expect="refuted",
    erratum="Beyond 90 degrees the superlevel sets of the angle are not convex: a mixture of junk tokens can lie "
    "farther from the key than each of them alone.",
)
def unit_ceiling_always_at_vertices(x):
    r"""\max_c \left\| \tfrac{o_i(c)}{\|o_i(c)\|} - k_i \right\|
    = \max_j \left\| \tfrac{o_i(J e_j)}{\|o_i(J e_j)\|} - k_i \right\|"""
    return hc.equal(*unit_ceilings(x))


def decoded_margins(x, queries):
    """F x N: the least margin of each query (F x N x d) in the quadratic memory of the keys and values."""
    keys, values = np.asarray(x.tokens)[: x.F], np.asarray(x.values)
    scores = (queries @ keys.T) ** 2 @ (values @ values.T)
    others = np.where(np.eye(int(x.F), dtype=bool)[:, None, :], -np.inf, scores).max(axis=2)
    return np.einsum("ini->in", scores) - others


@hc.claim(
    "5.1.margin",
    over=over,
    title="The least margin over all contexts is attained where all junk tokens are equal",
    source="Section 5.1, the margin of an attention block's queries in the quadratic memory",
    expect="refuted",
    erratum="The margin is quadratic in the query: its least value over the contexts may lie at a mixture of "
    "junk tokens.",
)
def margin_at_vertices(x):
    r"\min_c \gamma_{ij}(o_i(c)) = \min_j \gamma_{ij}(o_i(J e_j))"
    return hc.equal(*(decoded_margins(x, o).min(axis=1) for o in (outputs(x), vertices(x))))


@hc.claim(
    "text.noise_floor",
    over=over,
    title="The attention noise ceiling is the mean deviation over contexts",
    source="Section A.4.1, which averages sampled deviations, against Definition 5.1",
    expect="refuted",
    erratum="An average over contexts is not the ceiling of Definition 5.1, which is the largest deviation.",
)
def mean_deviation(x):
    r"\max_c \|o_i(c) - k_i\| = \mathrm{mean}_c\, \|o_i(c) - k_i\|"
    return hc.equal(deviations(x, outputs(x)).max(axis=1), deviations(x, outputs(x)).mean(axis=1))


@hc.claim(
    "5.2.block",
    over=over,
    title="A block decodes every context where its margin passes the ceiling",
    source="Theorem 5.2, corrected, for attention, unit-RMSNorm and the exact quadratic memory, whose Lipschitz "
    "constant on the unit sphere is at most 2 |V| |K|",
    needs=["5.2"],
)
def block_margin(x):
    r"""\gamma_{ij}(q) \ge \gamma_{\min} - 2 D_V \|V\| \|K\|\, \varepsilon_{\mathrm{attn}}
    \quad \text{for all contexts, } q = \tfrac{o_i(c)}{\|o_i(c)\|}"""
    keys, values, queries = np.asarray(x.tokens)[: x.F], np.asarray(x.values), on_the_sphere(outputs(x))
    diameter = np.linalg.norm(values[:, None] - values[None, :], axis=2).max()
    lipschitz = 2 * np.linalg.norm(values, 2) * np.linalg.norm(keys, 2)
    clean = decoded_margins(x, keys[:, None]).min()
    loss = diameter * lipschitz * deviations(x, queries).max()
    return hc.at_least(decoded_margins(x, queries).min(), clean - loss)
