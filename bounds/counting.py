"""How many bits it takes to store every map: counting (Theorem 2.4, Appendix B.1)."""

import itertools
import math
from fractions import Fraction

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log

MOST_BITS = 11
"""Classes have at most 2^11 settings: all of them are enumerated."""


def lookup(maps, bits, weights):
    """A class that writes maps down: setting s stores the one of number s, settings x facts indices of values."""
    return maps[np.arange(2 ** (bits * weights)) % len(maps)]


def every_map(facts, values):
    return np.array(list(itertools.product(range(values), repeat=facts)))


def every_injection(facts, values):
    return np.array(list(itertools.permutations(range(values), facts))).reshape(-1, facts)


def on_the_circle(count):
    """Values that can all be decoded, count x 2."""
    angles = 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def words(count, bits):
    """ceil(log2(count) / bits), in whole numbers: how many words of so many bits tell `count` things apart."""
    return -(-(count - 1).bit_length() // bits)


def gated_outputs(rng, facts, bits):
    """The bilinear MLPs x -> B (Ax * Gx), R -> R^2, m = 1, on a grid of 2^b levels: four parameters."""
    levels = np.linspace(-1, 1, 2**bits)
    A, G, B1, B2 = (grid.ravel() for grid in np.meshgrid(*[levels] * 4, indexing="ij"))
    hidden = (A * G)[:, None] * rng.standard_normal(facts) ** 2
    return np.stack([hidden * B1[:, None], hidden * B2[:, None]], axis=2)


def quantised_class(rng, facts, values, bits, spare):
    """Every setting of a class of W parameters of b bits: its outputs at the keys, settings x facts x 2, and values.

    Bilinear MLPs on a grid, maps or injections written down with about as many bits as they need, or anything: small
    whole numbers, so that scores tie.
    """
    kind = int(rng.integers(4))
    maps = every_injection(facts, values) if kind == 1 and facts <= values else every_map(facts, values)
    weights = min(max(words(len(maps), bits) + spare, 0), MOST_BITS // bits)
    if kind < 2:
        embeddings = on_the_circle(values)
        outputs = embeddings[lookup(maps, bits, weights)]
    elif kind == 2 and 4 * bits <= MOST_BITS:
        embeddings, outputs, weights = rng.standard_normal((values, 2)), gated_outputs(rng, facts, bits), 4
    else:
        embeddings = rng.integers(-2, 3, (values, 2)).astype(float)
        outputs = rng.integers(-2, 3, (2 ** (bits * weights), facts, 2)).astype(float)
    return {"outputs": outputs, "embeddings": embeddings, "weights": weights}


quantised = geo.family(quantised_class, facts=(1, 3), values=(1, 4), bits=(1, 3), spare=(-1, 3))


def stores(x, maps, outputs=None):
    """settings x maps: which setting stores which map (Definition 2.1)."""
    scores = np.asarray(x.outputs if outputs is None else outputs) @ np.asarray(x.embeddings).T
    rivals = np.where(np.eye(x.values, dtype=bool), -np.inf, scores[..., None, :])
    decodes = scores > rivals.max(axis=-1)
    return np.all(decodes[:, np.arange(x.facts), maps], axis=2)


def all_maps(x):
    return every_map(x.facts, x.values)


def injections(x):
    return every_injection(x.facts, x.values)


def every(maps):
    """The assumption that the class stores each of these maps by some setting."""
    return lambda x: len(maps(x)) > 0 and bool(stores(x, maps(x)).any(axis=0).all())


def table(rng, facts, values, bits, repeated):
    """Values on the circle, the last repeating the first if so asked; one alone repeats none."""
    embeddings = on_the_circle(values)
    if repeated:
        embeddings[-1] = embeddings[0]
    return {"embeddings": embeddings, "infinite": repeated and values > 1}


def cost(x, most):
    """The least W up to `most` with which each map is stored by a table of W words; infinite where there is none."""
    for weights in range(most + 1):
        outputs = np.asarray(x.embeddings)[lookup(all_maps(x), x.bits, weights)]
        if stores(x, all_maps(x), outputs).any(axis=0).all():
            return weights
    return math.inf


@hc.claim(
    "2.3",
    over=geo.family(table, facts=(1, 3), values=(1, 4), bits=(1, 3), repeated=[0, 1]),
    title="Fact-storage cost, by its definition: a table attains the counting bound",
    source="Definition 2.3, equation 3, where the class of W parameters is fixed before the map is; "
    "the minimum over nothing, as for repeated values, is infinite",
    needs=["2.1"],
)
def cost_of_a_table(x):
    r"""W = \min \{ W : \forall f\ \exists \theta \in \{0, 1\}^{bW},\ g_\theta \text{ stores } f \}
    = \left\lceil \frac{|K| \log_2 |V|}{b} \right\rceil, \quad W = \infty \text{ if } v_a = v_c,\ a \ne c"""
    least = words(x.values**x.facts, x.bits)
    return hc.equal(float(cost(x, least + 1)), math.inf if x.infinite else float(least))


@hc.claim(
    "2.4.settings",
    over=quantised,
    title="A setting stores at most one map",
    source="Appendix B.1: the step from behaviours to fact sets, by the strict inequality of Definition 2.1",
    needs=["2.1"],
)
def one_map_a_setting(x):
    r"""\#\{ f : g_\theta \text{ stores } f \} \le 1, \quad
    \#\{ f : \exists \theta,\ g_\theta \text{ stores } f \} \le 2^{bW}"""
    stored = stores(x, all_maps(x))
    return [
        hc.at_most(int(stored.sum(axis=1).max()), 1),
        hc.at_most(int(stored.any(axis=0).sum()), 2 ** (x.bits * x.weights)),
    ]


@hc.claim(
    "2.4",
    over=quantised,
    title="Information-theoretic lower bound",
    source="Theorem 2.4, as an inequality of whole numbers",
    given={"every map is stored": every(all_maps)},
    needs=["2.4.settings"],
)
def counting_bound(x):
    r"2^{bW} \ge |V|^{|K|}, \quad W \ge \left\lceil \frac{|K| \log_2 |V|}{b} \right\rceil"
    return [
        hc.at_least(2 ** (x.bits * x.weights), x.values**x.facts),
        hc.at_least(x.weights, words(x.values**x.facts, x.bits)),
    ]


@hc.claim(
    "2.4.injections",
    over=quantised,
    title="Lower bound for injective maps alone",
    source="Theorem 2.4 for a restricted family; permutations where |K| = |V|",
    given={"every injection is stored": every(injections)},
    needs=["2.4.settings"],
)
def counting_injections(x):
    r"2^{bW} \ge \frac{|V|!}{(|V| - |K|)!}"
    return hc.at_least(2 ** (x.bits * x.weights), math.perm(x.values, x.facts))


@hc.claim(
    "2.4.share",
    over=quantised,
    title="Lower bound for a share of the maps",
    source="Theorem 2.4 where a class stores a share of all maps",
    given={"some map is stored": lambda x: bool(stores(x, all_maps(x)).any())},
    needs=["2.4.settings"],
)
def counting_a_share(x):
    r"bW \ge |K| \log_2 |V| - \log_2 \frac{1}{s}, \quad s = \#\{ f \text{ stored} \} / |V|^{|K|}"
    share = stores(x, all_maps(x)).any(axis=0).mean()
    return hc.at_least(x.bits * x.weights, x.facts * math.log2(x.values) + math.log2(share) - 1e-12)


def facts_alone(rng, F):
    return {}


@hc.claim(
    "2.4.permutations",
    over=geo.family(facts_alone, F=(1, 10**9)),
    title="Bits for all permutations",
    source="Theorem 2.4 for bijections, explicit",
    needs=["2.4.injections"],
)
def bits_of_permutations(x):
    r"F \log_2 F - F \log_2 e \le \log_2 F! \le F \log_2 F"
    bits, most = math.lgamma(x.F + 1) / math.log(2), x.F * math.log2(x.F)
    return [hc.at_least(bits, most - x.F * math.log2(math.e)), hc.at_most(bits, most)]


def some_map(rng, F):
    return {"map": rng.integers(F, size=F)}


def one_number(x):
    """The map as the digits of one number in [0, 1), base F."""
    return sum(Fraction(int(value), int(x.F) ** (i + 1)) for i, value in enumerate(x.map))


def read_off(theta, F):
    """The map that the number theta stores: its digits, each the index of a value that is returned."""
    for _ in range(F):
        theta *= F
        yield int(theta)
        theta -= int(theta)


@hc.claim(
    "text.optimal",
    over=geo.family(some_map, F=(2, 128)),
    title="F log F real parameters are information-theoretically optimal",
    source="Sections 1 and 4.3, Corollaries 4.4 and 4.5, Theorem 5.2",
    given={"one real number stores the map": lambda x: list(read_off(one_number(x), x.F)) == x.map.tolist()},
    expect="refuted",
    erratum="Theorem 2.4 counts bits, the capacities count real parameters: one real number stores every map. "
    "No model in the paper has both bounds: F log F bits from below, F log F log d bits from above.",
    needs=["2.4", "4.4"],
)
def real_parameters(x, *, C):
    r"W \ge \frac1C F \log F \text{ real parameters, whatever the class}"
    parameters = 1
    return hc.at_least(C * parameters, x.F * log(x.F))


@hc.claim(
    "text.optimal.signs",
    over=geo.family(facts_alone, F=(64, 2**30)),
    title="Sign patterns ask cubic outputs for F/2 real parameters, not F log F",
    source="What counting gives for Corollary 4.4: Warren's bound (4 e D N / W)^W on the sign patterns of N "
    "polynomials of degree D = 3 in W variables, N = F^2 (F - 1) / 2, against F^F maps",
)
def sign_patterns(x):
    r"""W_0 = \min \left\{ W : \left( \frac{12 e N}{W} \right)^W \ge F^F \right\}, \quad
    \frac{F}{3} \le W_0 \le \frac{F}{2}, \quad N = \frac{F^2 (F-1)}{2}"""
    count = fewest_parameters(x.F)
    return [hc.at_least(3 * count, x.F), hc.at_most(2 * count, x.F)]


def fewest_parameters(F):
    """The least W with enough sign patterns, by bisection: their number grows with W up to 12 N."""
    products = F * F * (F - 1) // 2
    low, high = 0, F
    while high - low > 1:
        middle = (low + high) // 2
        enough = middle * math.log(12 * math.e * products / middle) >= F * math.log(F)
        low, high = (low, middle) if enough else (middle, high)
    return high
