"""The bilinear construction, and how near its kernel comes to the quadratic one (Sections 4.1, B.2.2)."""

import sympy
from scipy import stats

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import sqrt

small = geo.facts(
    keys=geo.anything, values=geo.anything, mapping="any", F=(1, 16), m=(1, 16), d=(1, 8), noise=1.0
)
"""Anything, asked at points beside the keys."""


def hebbian_mlp(x, scale, readout_codes, z):
    """B (Az * Gz) with entries of A, G of standard deviation `scale` and B = readout_codes^T Phi."""
    A, G = x.A * scale, x.G * scale
    stored = (x.keys @ A.T) * (x.keys @ G.T)
    return ((z @ A.T) * (z @ G.T)) @ (readout_codes.T @ stored).T


@hc.claim(
    "eq7",
    over=small,
    title="The construction is a Hebbian memory of the map",
    source="Equation 7 with entries of variance 1/sqrt(m) and the readout C_f^T Phi, whose rows are v_f(i)",
)
def construction(x):
    r"""B (Az \odot Gz) = \sum_t v_{f(t)} \hat K(k_t, z), \quad
    A_{ij}, G_{ij} \sim N(0, m^{-1/2}), \ B = C_f^\top \Phi"""
    return hc.equal(hebbian_mlp(x, 1 / sqrt(sqrt(x.m)), x.values[x.map], x.queries), x.memory(x.queries))


@hc.claim(
    "eq7.printed",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=(3, 16), m=(1, 16), d=(2, 8)),
    title="The construction, readout as printed",
    source="Equation 7",
    expect="refuted",
    erratum="B = V^T Phi pairs the key k_i with the value v_i and never sees f (nor has a meaning where the numbers of "
    "keys and values differ); C_f^T Phi is meant, with rows v_f(i).",
    needs=["eq7"],
)
def construction_without_the_map(x):
    r"V^\top \Phi\, \phi(z) = \sum_t v_{f(t)} \hat K(k_t, z) \quad \text{for all maps } f"
    return hc.equal(hebbian_mlp(x, 1 / sqrt(sqrt(x.m)), x.values, x.keys), x.memory(x.keys))


@hc.claim(
    "eq7.scale",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any", F=(1, 16), m=(1, 16), d=(1, 8)),
    title="Entries of variance 1/m divide every margin by m",
    source="Equation 7: what its printed variance does to equations 9 and 10",
    needs=["eq7"],
)
def margins_of_the_printed_scale(x):
    r"\gamma_{ij}\big|_{A_{ij}, G_{ij} \sim N(0, 1/m)} = \tfrac1m \gamma_{ij}\big|_{A_{ij}, G_{ij} \sim N(0, m^{-1/2})}"
    printed = x.margins_of(hebbian_mlp(x, 1 / sqrt(x.m), x.values[x.map], x.keys))
    return hc.equal(x.m * printed, x.margins)


@hc.claim(
    "eq8",
    over=small,
    title="The memory's kernel, feature by feature",
    source="Equation 8 with the factor 1/m of Lemma B.2, and v_f(i) for v_i",
    needs=["eq7"],
)
def memory_of_the_sketched_kernel(x):
    r"""H(z) = \sum_{t=1}^F v_{f(t)} \hat K(k_t, z), \quad
    \hat K(k, z) = \frac1m \sum_{r=1}^m \langle A_r, k \rangle \langle A_r, z \rangle
    \langle G_r, k \rangle \langle G_r, z \rangle"""
    xp, z = x.backend.xp, x.queries
    factors = [(x.keys @ M.T)[:, None, :] * (z @ M.T)[None, :, :] for M in (x.A, x.G)]
    kernel = xp.sum(factors[0] * factors[1], axis=2) / x.m
    return hc.equal(kernel.T @ x.values[x.map], x.mlp(z))


@hc.claim(
    "eq8.printed",
    over=geo.vectors(count=2, m=2),
    title="The kernel of entries with variance 1/m sketches the quadratic one",
    source="Equations 7 and 8",
    expect="refuted",
    erratum="With entries of variance 1/m the kernel's mean is <x, z>^2 / m; Lemma B.2 has the variance m^(-1/2).",
    needs=["B.2"],
)
def printed_kernel_is_unbiased(v):
    r"\mathbb E\, \hat K_2(x, z) = \langle x, z \rangle^2 \quad \text{for } A_{ij}, G_{ij} \sim N(0, 1/m)"
    return hc.equal(hc.mean(v.sketched_kernel(samples=20_000, m=v.m) / v.m), (v[0] @ v[1]) ** 2)


def sizes_alone(rng, **sizes):
    return {}


@hc.claim(
    "text.offdiagonal",
    over=geo.family(sizes_alone, d=(4, 2**20)),
    title="Off-diagonal entries of the quadratic kernel have size 1/d with high probability",
    source="Text after Lemma B.2",
    expect="refuted",
    erratum="d K_2 has a limit law, chi-square with one degree of freedom, which has mass near 0 and far out: only "
    "the mean 1/d and the standard deviation below sqrt(2)/d are of that size.",
    needs=["text.offdiagonal.law"],
)
def size_of_an_entry(x, *, C):
    r"\Pr\left( \tfrac{1}{Cd} \le \langle k_t, k_i \rangle^2 \le \tfrac{C}{d} \right) \ge 1 - \tfrac1d"
    low, high = stats.beta.ppf([1 / (2 * x.d), 1 - 1 / (2 * x.d)], *squared_cosine(x.d))
    return [hc.at_least(C * x.d * float(low), 1), hc.at_most(x.d * float(high), C)]


def squared_cosine(d):
    """The parameters of the law of <k_t, k_i>^2 for independent uniform unit vectors: Beta(1/2, (d-1)/2)."""
    return 0.5, (d - 1) / 2


@hc.claim(
    "text.offdiagonal.law",
    over=geo.family(sizes_alone, d=(3, 2**20), t=(1e-3, 60.0)),
    title="The law of an off-diagonal entry of the quadratic kernel",
    source="Text after Lemma B.2, corrected, by the exact law Beta(1/2, (d-1)/2)",
)
def law_of_an_entry(x):
    r"""\left| \Pr( d\, \langle k_t, k_i \rangle^2 \le t ) - \Pr( \chi^2_1 \le t ) \right| \le \frac{0.35}{d}, \quad
    \mathbb E \langle k_t, k_i \rangle^2 = \tfrac1d, \quad \mathrm{sd} \le \tfrac{\sqrt 2}{d}"""
    law = squared_cosine(x.d)
    gap = abs(float(stats.beta.cdf(x.t / x.d, *law) - stats.chi2.cdf(x.t, 1)))
    return [
        hc.at_most(gap, 0.35 / x.d),
        hc.at_most(abs(x.d * float(stats.beta.mean(*law)) - 1), 1e-9),
        hc.at_most(x.d * float(stats.beta.std(*law)), sqrt(2)),
    ]


@hc.claim(
    "text.m_d2",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=200, d=16, m=16**2),
    title="From m = d^2 on the sketch's margin is no worse than the exact kernel's",
    source="Text after Lemma B.2, at m = d^2, in half of all draws",
    fails_at_most=0.5,
    expect="refuted",
    erratum="At m = d^2 the sketch adds half of the variance that the off-diagonal entries have, at m = c d^2 a share "
    "1/(2c) of it: the margin is lower, and comes near the exact kernel's only as m / d^2 grows.",
    needs=["text.m_d2.variance"],
)
def margin_no_worse_than_exact(x):
    r"\gamma_{\min}(\hat K) \ge \gamma_{\min}(K_2) \quad \text{for } m \ge d^2"
    return hc.at_least(x.gamma_min, x.replace(memory="quadratic").gamma_min)


def _variances():
    d, m = sympy.symbols("d m", positive=True)
    exact = 2 * (d - 1) / (d**2 * (d + 2))
    sigma2 = (d**2 + 6 * d + 17) / (d * (d + 2) * m) + exact
    return [
        ("sigma^2 = Var K_2 (1 + m_0/m)", sigma2 - exact * (1 + d * (d**2 + 6 * d + 17) / (2 * (d - 1)) / m))
    ]


@hc.claim(
    "text.m_d2.variance",
    over=geo.vectors(count=1, d=(2, 10**4), m=(1, 10**9)),
    title="What sketching adds to the variance of an entry",
    source="Text after Lemma B.2, exact: the sketch's part is as large as the kernel's own at m_0, about d^2/2",
    given={"d >= 2": lambda v: v.d >= 2},
    proof=_variances,
    needs=["B.44.variance"],
)
def variance_of_sketching(v):
    r"""\sigma^2 = \frac{2(d-1)}{d^2 (d+2)} \left( 1 + \frac{m_0}{m} \right), \quad
    m_0 = \frac{d (d^2 + 6d + 17)}{2 (d-1)} \ge \frac{d^2}{2}"""
    own, m_0 = 2 * (v.d - 1) / (v.d**2 * (v.d + 2)), v.d * (v.d**2 + 6 * v.d + 17) / (2 * (v.d - 1))
    return [
        hc.at_most(v.sigma2, own * (1 + m_0 / v.m)),
        hc.at_least(v.sigma2, own * (1 + m_0 / v.m)),
        hc.at_least(m_0, v.d**2 / 2),
    ]
