"""The summary statistics of keys and values (Appendix B.5): what their definitions promise."""

import numpy as np

import hebbcheck as hc
from hebbcheck import abs, max, min, sqrt, sum
from hebbcheck import geometry as geo

small = geo.facts(
    keys=geo.anything, values=geo.anything, memory="kernel", F=(1, 8), d=(1, 6), m=(1, 6), mapping="identity"
)
"""Few facts, so that every sum can be written out; competitors are the other facts."""

arbitrary = geo.facts(keys=geo.anything, values=geo.anything, memory="kernel")


def differences(x):
    """{(i, j): [<v_i - v_j, v_t> for all t]} over the pairs i != j, each by its definition."""
    values = [x.values[i, :] for i in range(len(x.map))]
    inner = [[sum(v * w) for w in values] for v in values]
    return {(i, j): [a - b for a, b in zip(inner[i], inner[j], strict=True)] for i, j in pairs(x)}


def pairs(x):
    facts = range(len(x.map))
    return [(i, j) for i in facts for j in facts if j != i]


def others(x, *left_out):
    return [t for t in range(len(x.map)) if t not in left_out]


def energy(entries):
    return sum([entry * entry for entry in entries])


def cosine(left, right):
    """|<left, right>| / (|left| |right|), and 0 where that is 0/0."""
    norms = energy(left), energy(right)
    if not (norms[0] > 0 and norms[1] > 0):
        return 0
    return abs(sum([a * b for a, b in zip(left, right, strict=True)])) / (sqrt(norms[0]) * sqrt(norms[1]))


def parts(x, absorbed):
    """[(column of the kernel, value differences)] of each pair, over t != i, and t != j too where absorbed."""
    found = []
    for (i, j), row in differences(x).items():
        kept = others(x, i, j) if absorbed else others(x, i)
        found.append(([x.K[t, i] for t in kept], [row[t] for t in kept]))
    return found


@hc.claim("B.9", over=small, title="Diagonal and off-diagonal kernel extremes", source="Definition B.9")
def kernel_extremes(x):
    r"K_{\min}^{\mathrm{diag}} = \min_i \hat K_{ii}, \quad K_{\max}^{\mathrm{off}} = \max_{i \ne j} |\hat K_{ij}|"
    return [
        hc.equal(x.K_diag_min, min([x.K[i, i] for i in others(x)])),
        hc.equal(x.K_off_max, max([abs(x.K[i, j]) for i, j in pairs(x)])),
    ]


@hc.claim(
    "B.9.range",
    over=geo.kernels(),
    title="No entry of a kernel exceeds its diagonal",
    source="Definition B.9, for a positive semidefinite kernel",
    needs=["B.9"],
)
def kernel_extremes_in_order(k):
    r"0 \le K_{\min}^{\mathrm{diag}}, \quad K_{\max}^{\mathrm{off}} \le K_{\max}^{\mathrm{diag}}"
    return [hc.at_least(k.K_diag_min, 0), hc.at_most(k.K_off_max, k.K_diag_max)]


@hc.claim("B.10", over=small, title="Kernel column energy", source="Definition B.10")
def column_energy(x):
    r"E_K = \max_i \sum_{t \ne i} \hat K_{ti}^2"
    return hc.equal(x.E_K, max([energy([x.K[t, i] for t in others(x, i)]) for i in others(x)]))


@hc.claim(
    "B.10.range",
    over=geo.kernels(),
    title="The column energy lies between its largest term and F - 1 times that",
    source="Definition B.10; the lower bound is equation 50",
    needs=["B.10"],
)
def column_energy_in_order(k):
    r"(K_{\max}^{\mathrm{off}})^2 \le E_K \le (F - 1) (K_{\max}^{\mathrm{off}})^2"
    return [hc.at_least(k.E_K, k.K_off_max**2), hc.at_most(k.E_K, (k.F - 1) * k.K_off_max**2)]


@hc.claim("B.11", over=small, title="Value separability", source="Definition B.11")
def separability(x):
    r"""V_{\min} = \min_{i \ne j} \langle v_i - v_j, v_i \rangle, \quad
    V_{\max} = \max_{i \ne j} |\langle v_i - v_j, v_j \rangle| = \max_{i \ne j} |\langle v_i - v_j, v_i \rangle|"""
    rows = differences(x)
    own = [row[i] for (i, _), row in rows.items()]
    return [
        hc.equal(x.V_min, min(own)),
        hc.equal(x.V_max, max([abs(row[j]) for (_, j), row in rows.items()])),
        hc.equal(x.V_max, max([abs(v) for v in own])),
    ]


@hc.claim(
    "B.11.range",
    over=arbitrary,
    title="Separability in order",
    source="Definition B.11; the second inequality is used in the proof of Theorem B.29",
    given={"F >= 2": lambda x: x.F >= 2},
    needs=["B.11"],
)
def separability_in_order(x):
    r"V_{\min} \le V_{\max} \le \sqrt{E_v}"
    return [hc.at_most(x.V_min, x.V_max), hc.at_most(x.V_max**2, x.E_v)]


@hc.claim(
    "eq40",
    over=geo.facts(keys=geo.sphere, values=geo.sphere),
    title="Values of one norm meet the positivity condition",
    source="Equation 40, Appendix B.7",
    needs=["B.11"],
)
def positivity(x):
    r"\|v_i\| = r \ \text{for all } i \ \Rightarrow\ V_{ij} = r^2 - \langle v_i, v_j \rangle \ge 0"
    return hc.at_least(x.V_min, 0)


@hc.claim("B.12", over=small, title="Mean competitor alignment", source="Definition B.12")
def mean_alignment(x):
    r"""B_Y = \max_{i \ne j} \left| \sum_{t \ne i, j} \langle v_i - v_j, v_t \rangle \right|
    = \max_{i \ne j} \left| \langle v_i - v_j, S \rangle - \|v_i\|^2 + \|v_j\|^2 \right|, \quad S = \sum_t v_t"""
    rows = differences(x)
    norms = [energy(x.values[i, :]) for i in others(x)]
    return [
        hc.equal(x.B_Y, max([abs(sum([row[t] for t in others(x, i, j)])) for (i, j), row in rows.items()])),
        hc.equal(x.B_Y, max([abs(sum(row) - norms[i] + norms[j]) for (i, j), row in rows.items()])),
    ]


@hc.claim(
    "B.12.unit",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=(3, 24), d=(2, 16), m=(1, 8), mapping="identity"),
    title="Mean competitor alignment of unit vectors",
    source="Definition B.12, values of norm one",
    needs=["B.12"],
)
def mean_alignment_of_unit_vectors(x):
    r"B_Y = \max_i \langle v_i, S \rangle - \min_i \langle v_i, S \rangle"
    along = [sum([sum(x.values[i, :] * x.values[t, :]) for t in others(x)]) for i in others(x)]
    return hc.equal(x.B_Y, max(along) - min(along))


@hc.claim("B.13", over=small, title="Value-difference energy", source="Definition B.13")
def difference_energy(x):
    r"E_v = \max_{i \ne j} \sum_{t \ne i} \langle v_i - v_j, v_t \rangle^2"
    return hc.equal(x.E_v, max([energy(Y) for _, Y in parts(x, absorbed=False)]))


@hc.claim(
    "B.13.range",
    over=arbitrary,
    title="What the competitor adds to the energies",
    source="Definition B.13 and equation 34",
    needs=["B.13", "eq34"],
)
def energies_in_order(x):
    r"""\tilde E_v \le E_v \le \tilde E_v + V_{\max}^2, \quad
    \tilde E_K \le E_K \le \tilde E_K + (K_{\max}^{\mathrm{off}})^2"""
    return [
        hc.at_most(x.E_v_tilde, x.E_v),
        hc.at_most(x.E_v, x.E_v_tilde + x.V_max**2),
        hc.at_most(x.E_K_tilde, x.E_K),
        hc.at_most(x.E_K, x.E_K_tilde + x.K_off_max**2),
    ]


def effective_sparsity(Y):
    """|Y|_1^2 / |Y|_2^2, and 1 where that is 0/0."""
    squares = energy(Y)
    return sum([abs(y) for y in Y]) ** 2 / squares if squares > 0 else 1


@hc.claim("B.14", over=small, title="Value sparsity", source="Definition B.14, with the convention 0/0 = 1")
def value_sparsity(x):
    r"L_v = \max_{i \ne j} \|Y^{(ij)}\|_1^2 / \|Y^{(ij)}\|_2^2, \quad L_v = 1 \ \text{where it is} \ 0/0"
    return hc.equal(x.L_v, max([1, *[effective_sparsity(Y) for _, Y in parts(x, absorbed=True)]]))


@hc.claim(
    "B.14.range",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="kernel", F=(1, 48), d=(1, 32), m=(1, 12)),
    title="Value sparsity lies between 1 and F - 2",
    source="Definition B.14, with the convention 0/0 = 1",
    given={"F >= 3": lambda x: x.F >= 3},
    needs=["B.14"],
)
def value_sparsity_range(x):
    r"1 \le L_v \le F - 2"
    return [hc.at_least(x.L_v, 1), hc.at_most(x.L_v, x.F - 2)]


@hc.claim(
    "B.14.attained",
    over=geo.instance(keys=[[1, 0], [0, 1], [1, 1], [1, -1]], values=[[1, 0], [-1, 0], [0, 1], [0, -1]]),
    title="The cross-polytope attains the largest value sparsity",
    source="Definition B.14",
    needs=["B.14.range"],
)
def largest_value_sparsity(x):
    r"v = \pm e_1, \pm e_2: \quad L_v = F - 2 = 2"
    return hc.equal(x.L_v, x.F - 2)


@hc.claim(
    "B.14.printed",
    over=small,
    title="Value sparsity is defined by its ratio",
    source="Definition B.14",
    given={"F >= 2": lambda x: x.F >= 2},
    expect="refuted",
    erratum="Where all differences of a pair vanish (F = 2, equal values, orthonormal values) the ratio is 0/0; the "
    "convention L_v = 1 is only found inside a later proof.",
)
def value_sparsity_printed(x):
    r"\|Y^{(ij)}\|_2 > 0 \quad \text{for all } i \ne j"
    return hc.at_least(min([1 if energy(Y) > 0 else 0 for _, Y in parts(x, absorbed=True)]), 1)


@hc.claim("B.15", over=small, title="Coupling factor", source="Definition B.15, with the convention 0/0 = 0")
def coupling(x):
    r"""\kappa = \max_{i \ne j} \frac{\left| \sum_{t \ne i} \hat K_{ti} \langle v_i - v_j, v_t \rangle \right|}
    {\sqrt{E_K(i)} \sqrt{E_v(i, j)}}, \quad \text{0 where it is} \ 0/0"""
    return hc.equal(x.kappa, max([cosine(*part) for part in parts(x, absorbed=False)]))


@hc.claim(
    "B.15.range",
    over=arbitrary,
    title="Coupling factors lie between 0 and 1",
    source="Definition B.15 and equation 33",
    needs=["B.15"],
)
def coupling_range(x):
    r"0 \le \kappa \le 1, \quad 0 \le \tilde\kappa \le 1"
    return [hc.at_most(abs(2 * kappa - 1), 1) for kappa in (x.kappa, x.kappa_tilde)]


@hc.claim(
    "B.15.pair",
    over=geo.facts(keys=geo.anything, values=geo.anything, memory="kernel", F=2, d=(1, 8), m=(1, 8)),
    title="Two facts are always coupled completely",
    source="Definition B.15: one collinear pair suffices, whatever its sign",
    given={"K_12 != 0": lambda x: x.K_off_max > 0, "E_v > 0": lambda x: x.E_v > 0},
    needs=["B.15"],
)
def coupling_of_two(x):
    r"F = 2, \ \hat K_{12} \ne 0, \ E_v > 0 \ \Rightarrow\ \kappa = 1"
    return hc.equal(x.kappa, 1)


@hc.claim(
    "B.15.printed",
    over=small,
    title="The coupling factor is defined by its ratio",
    source="Definition B.15",
    given={"F >= 2": lambda x: x.F >= 2},
    expect="refuted",
    erratum="For a key whose column of the kernel vanishes, and for equal values, the ratio is 0/0; a convention is "
    "given for the truncated factor (equation 33) but not here.",
)
def coupling_printed(x):
    r"E_K(i) > 0, \quad E_v(i, j) > 0 \quad \text{for all } i \ne j"
    defined = [energy(X) > 0 and energy(Y) > 0 for X, Y in parts(x, absorbed=False)]
    return hc.at_least(min([1 if both else 0 for both in defined]), 1)


@hc.claim(
    "eq34",
    over=small,
    title="The truncated statistics",
    source="Equations 28 to 34",
)
def truncated(x):
    r"""\tilde z_{\max} = \max_{i \ne j} |\langle X^{(ij)}, Y^{(ij)} \rangle|, \quad
    \tilde E_K = \max_{i \ne j} \|X^{(ij)}\|_2^2, \ \tilde E_v = \max_{i \ne j} \|Y^{(ij)}\|_2^2, \quad
    \tilde\kappa = \max_{i \ne j} \frac{|\langle X^{(ij)}, Y^{(ij)} \rangle|}{\|X^{(ij)}\|_2 \|Y^{(ij)}\|_2}"""
    found = parts(x, absorbed=True)
    products = [sum([a * b for a, b in zip(X, Y, strict=True)]) for X, Y in found]
    return [
        hc.equal(x.z_max, max([abs(z) for z in products])),
        hc.equal(x.E_K_tilde, max([energy(X) for X, _ in found])),
        hc.equal(x.E_v_tilde, max([energy(Y) for _, Y in found])),
        hc.equal(x.kappa_tilde, max([cosine(X, Y) for X, Y in found])),
    ]


@hc.claim(
    "eq37",
    over=small,
    title="The absorbed signal",
    source="Equations 27 and 37 to 39",
    given={"F >= 2": lambda x: x.F >= 2},
    needs=["B.11"],
)
def absorbed_signal(x):
    r"""\tilde s_{\min} = \min_{i \ne j} \left( \hat K_{ii} V_{ij} + \hat K_{ji} B_{ij} \right), \quad
    V_{ij} = \langle v_i - v_j, v_i \rangle, \ B_{ij} = \langle v_i - v_j, v_j \rangle = -V_{ji}"""
    rows = differences(x)
    signals = [x.K[i, i] * row[i] + x.K[j, i] * row[j] for (i, j), row in rows.items()]
    mirrored = [hc.equal(row[j], -rows[j, i][j]) for (i, j), row in rows.items()]
    return [hc.equal(x.s_min, min(signals)), *mirrored]


def two_profiles(rng, n):
    """|Y|_1^2 / |Y|_2^2 of n Cauchy variables, which have heavy tails, and of n Gaussian ones."""
    return {
        name: float(np.sum(np.abs(Y)) ** 2 / np.sum(Y**2))
        for name, Y in {"heavy": rng.standard_cauchy(n), "light": rng.standard_normal(n)}.items()
    }


@hc.claim(
    "text.L_v",
    over=geo.family(two_profiles, n=[64, 512]),
    title="Heavy tails of the value differences raise the value sparsity",
    source="Definition B.14, text: L_v amplifies cross-talk where the inner products have heavy tails; in half of all "
    "draws",
    fails_at_most=0.5,
    expect="refuted",
    erratum="Heavy tails concentrate the energy on few competitors, which makes L_v small: it is F - 2 where the "
    "energy is spread evenly, as the sentence before says.",
    needs=["B.14.range"],
)
def heavy_tails_raise_the_sparsity(x):
    r"\frac{\|Y\|_1^2}{\|Y\|_2^2} \text{ of Cauchy variables} \ \ge \ \text{that of Gaussian ones}"
    return hc.at_least(x.heavy, x.light)
