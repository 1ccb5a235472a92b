"""The isotropic baselines that the penalties are measured by (Section 4.2.2)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .scaling import unit
from .sphere import values_only


def value_energies(rng, F, d):
    """|(<v_1 - v_2, v_t>)_{t > 1}|^2 in independent draws of F values."""
    values = unit(rng.standard_normal((4000, F, d)))
    products = np.matmul(values[:, 1:], (values[:, 0] - values[:, 1])[..., None])
    return {"energies": np.sum(products**2, axis=(1, 2))}


few_values = geo.family(value_energies, F=[4, 12], d=[4, 16])


@hc.claim(
    "text.P_val",
    over=few_values,
    title="The value energy of a pair, isotropic values",
    source="Section 4.2.2, the baseline of P_val, exact",
)
def value_energy(x):
    r"\mathbb E \sum_{t \ne i} \langle v_i - v_j, v_t \rangle^2 = \frac{2(F-2)}{d} + 1 + \frac1d"
    return hc.equal(hc.mean(x.energies), 2 * (x.F - 2) / x.d + 1 + 1 / x.d)


@hc.claim(
    "text.P_val.printed",
    over=geo.family(value_energies, F=4, d=4),
    title="The value energy of a pair, as printed",
    source="Section 4.2.2, the baseline F/d of P_val",
    expect="refuted",
    erratum="For isotropic values the energy of a pair is 2(F - 2)/d + 1 + 1/d in the mean: a difference of two "
    "has squared length 2, and the competitor itself adds 1; P_val is about sqrt(2 + d/F), not 1.",
    needs=["text.P_val"],
)
def value_energy_as_printed(x):
    r"\mathbb E \sum_{t \ne i} \langle v_i - v_j, v_t \rangle^2 \le \frac{F}{d}"
    return hc.at_most(hc.mean(x.energies), x.F / x.d)


@hc.claim(
    "text.P_key",
    over=geo.vectors(count=1, d=(2, 64), m=[4, 16]),
    title="The kernel energy of a column, isotropic keys",
    source="Section 4.2.2, the baseline of P_key, exact, for one of its F - 1 entries",
    needs=["B.44.variance"],
)
def kernel_energy(v):
    r"m\, \mathbb E\, \hat K_{ti}^2 = 1 + \frac4d + \frac{9 + 3m}{d(d+2)}"
    samples = v.isotropic_kernel(samples=20_000, m=v.m)
    return hc.equal(hc.mean(v.m * samples**2), 1 + 4 / v.d + (9 + 3 * v.m) / (v.d * (v.d + 2)))


@hc.claim(
    "text.P_key.printed",
    over=geo.vectors(count=1, d=2, m=4),
    title="The kernel energy of a column, as printed",
    source="Section 4.2.2, the baseline F/m of P_key: 1/m for each entry of a column",
    expect="refuted",
    erratum="An entry of isotropic keys has m times the second moment 1 + 4/d + (9 + 3m)/(d(d+2)): their P_key grows "
    "like sqrt(1 + 3m/d^2), and F/m is the baseline for m far below d^2 alone.",
    needs=["text.P_key"],
)
def kernel_energy_as_printed(v):
    r"m\, \mathbb E\, \hat K_{ti}^2 \le 1"
    samples = v.isotropic_kernel(samples=20_000, m=v.m)
    return hc.at_most(hc.mean(v.m * samples**2), 1)


@hc.claim(
    "text.S_sig",
    over=geo.facts(values=geo.sphere, memory="quadratic"),
    title="The signal's baseline, as the text has it",
    source="Section 4.2.2, text: the signal relative to 1 - log(F)/d",
    fails_at_most="delta",
    expect="refuted",
    erratum="The definition has 1 - sqrt(log F / d), the text 1 - log(F)/d; isotropic values have V_min near "
    "1 - 2 sqrt(log F / d), so the text's is not the order of the loss.",
    needs=["text.S_sig.corrected"],
)
def separation_of_isotropic_values(x, *, C):
    r"V_{\min} \ge 1 - C\, \frac{L}{d} \quad \text{for isotropic values}"
    return hc.at_least(x.V_min, 1 - C * x.L / x.d)


@hc.claim(
    "text.S_sig.corrected",
    over=values_only,
    title="The signal's baseline, corrected",
    source="Section 4.2.2, the baseline of S_sig, with the constant that the cap bound proves",
    fails_at_most="delta",
    needs=["B.37"],
)
def separation_of_isotropic_values_corrected(x):
    r"V_{\min} \ge 1 - \sqrt{\frac{2 \log(F^2/\delta)}{d}} \quad \text{for isotropic values}"
    return hc.at_least(x.V_min, 1 - sqrt(2 * log(x.F**2 / x.delta) / x.d))


@hc.claim(
    "text.P_align",
    over=geo.facts(keys=geo.sphere, values=geo.sphere, F=[64, 128, 256, 512], d=16, m=64, delta=0.5),
    title="The baseline of the alignment penalty",
    source="Section 4.2.2, the baseline of P_align, for isotropic keys and values",
    needs=["B.42"],
)
def coupling_of_isotropic_facts(x):
    r"\kappa = \Theta\left( \sqrt{\frac{\log F}{F}} \right)"
    return hc.scales_as(x.kappa, sqrt(log(x.F) / x.F))
