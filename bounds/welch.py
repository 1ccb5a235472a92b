"""What no kernel of rank m can beat: Welch's bound (Appendix B.8.6)."""

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, max, sqrt

kernels = geo.kernels()


def diagonal_deviation(k):
    """The smallest eps_diag with K_ii in [1 - eps_diag, 1 + eps_diag]."""
    return max(1 - k.K_diag_min, k.K_diag_max - 1)


def from_the_diagonal(k):
    eps = diagonal_deviation(k)
    return hc.at_least(k.E_K, k.F * (1 - eps) ** 2 / k.m - (1 + eps) ** 2)


@hc.claim(
    "B.34.norm",
    over=kernels,
    title="Frobenius norm of a kernel of rank m",
    source="Lemma B.34, first display",
)
def frobenius(k):
    r"\|K\|_F^2 \ge \frac{(\operatorname{tr} K)^2}{m}"
    return hc.at_least(hc.sum(k.K**2), k.trace**2 / k.m)


@hc.claim(
    "B.34",
    over=kernels,
    title="Welch lower bound for kernels of rank m",
    source="Lemma B.34, second display",
    needs=["B.34.norm"],
)
def welch(k):
    r"E_K \ge \frac1F \left( \frac{(\operatorname{tr} K)^2}{m} - \sum_i K_{ii}^2 \right)"
    return hc.at_least(k.E_K, (k.trace**2 / k.m - k.diag_sq_sum) / k.F)


@hc.claim(
    "B.34.diagonal",
    over=kernels,
    title="Welch lower bound from the diagonal's deviation",
    source="Lemma B.34, third display, corrected",
    given={"eps_diag <= 1": lambda k: diagonal_deviation(k) <= 1},
    needs=["B.34"],
)
def welch_from_diagonal(k):
    r"""E_{\mathrm{col}} \ge \frac{F (1 - \varepsilon)^2}{m} - (1 + \varepsilon)^2,
    \quad \varepsilon = \max_i |K_{ii} - 1| \le 1"""
    return from_the_diagonal(k)


@hc.claim(
    "B.34.printed",
    over=kernels,
    title="Welch lower bound from the diagonal's deviation, as printed",
    source="Lemma B.34, third display",
    expect="refuted",
    erratum="For a deviation above 1 the trace bound tr K >= F (1 - eps) is negative and must not be squared.",
)
def welch_from_diagonal_printed(k):
    r"""E_{\mathrm{col}} \ge \frac{F (1 - \varepsilon)^2}{m} - (1 + \varepsilon)^2,
    \quad \varepsilon = \max_i |K_{ii} - 1|"""
    return from_the_diagonal(k)


@hc.claim(
    "B.35",
    over=geo.facts(
        keys=geo.anything, values=geo.sphere, memory="kernel", F=(32, 512), d=(12, 256), m=(2, 32)
    ),
    title="Kernels that do not know the values cannot beat their own cross-talk",
    source="Corollary B.35, first display, with constant 1 where the square root dominates",
    given={
        "diagonal within 1/2 of 1": lambda x: x.K_diag_min >= 0.5 and x.K_diag_max <= 1.5,
        "F >= 8 m": lambda x: x.F >= 8 * x.m,
        "4 log F <= d <= F": lambda x: 4 * log(x.F) <= x.d <= x.F,
    },
    fails_at_most="delta",
    needs=["B.34"],
)
def unbeatable(x):
    r"\gamma_{\min} \le K_{\max}^{\mathrm{diag}} - \sqrt{\frac{E_{\mathrm{col}} \log F}{d}}"
    return hc.at_most(x.gamma_min, x.K_diag_max - sqrt(x.E_K * log(x.F) / x.d))
