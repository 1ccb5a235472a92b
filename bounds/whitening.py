"""Kernel whitening (Section 4.3, Appendix B.2.4)."""

import numpy as np
import sympy

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, max, min, sqrt

from .welch import kernels

preconditioned = geo.preconditioned()
sketches = geo.facts(keys=geo.sphere, values=geo.sphere, F=[32, 64], d=[8, 32], m=[4, 16], delta=0.1)


def diagonal(K):
    return [K[i, i] for i in range(K.shape[0])]


def energies(K):
    """E_K(i) for each i."""
    return [hc.sum(K[:, i] ** 2) - K[i, i] ** 2 for i in range(K.shape[0])]


def leverages(x):
    """Pi_ii, Pi the projector on the span of the features' columns."""
    return [entry / x.F for entry in diagonal(x.K_white)]


@hc.claim(
    "eq15",
    over=kernels,
    title="Key crowding is at most the kernel's squared norm",
    source="Equation 15",
)
def crowding(k):
    r"E_K \le \|K\|_F^2"
    return hc.at_most(k.E_K, hc.sum(k.K**2))


def _rank_one():
    """E_K(i) = (K^2)_ii - K_ii^2 = h p - h^2 for K = v v^T, p = |v|^2, h = v_i^2."""
    p, h = sympy.symbols("p h")
    return [("p^2/4 - (h p - h^2) = (p/2 - h)^2", p**2 / 4 - (h * p - h**2) - (p / 2 - h) ** 2)]


@hc.claim(
    "eq15.sharp",
    over=kernels,
    title="Key crowding is at most a quarter of the squared operator norm",
    source="Equation 15, sharpened by Popoviciu's inequality",
)
def crowding_sharp(k):
    r"E_K \le \tfrac14 \|K\|_{\mathrm{op}}^2"
    return hc.at_most(k.E_K, k.K_op**2 / 4)


@hc.claim(
    "eq15.extremal",
    over=geo.kernels(F=(2, 32), m=1),
    title="The sharp bound is attained by kernels of rank one",
    source="Equation 15, equality case",
    proof=_rank_one,
    needs=["eq15.sharp"],
)
def crowding_attained(k):
    r"K = v v^\top \ \Rightarrow\ \tfrac14 \|K\|_{\mathrm{op}}^2 - E_K(i) = \left( \tfrac12 \|v\|^2 - v_i^2 \right)^2"
    gaps = [(k.trace / 2 - entry) ** 2 for entry in diagonal(k.K)]
    return [hc.equal(k.trace**2 / 4 - energy, gap) for energy, gap in zip(energies(k.K), gaps, strict=True)]


@hc.claim(
    "eq16",
    over=preconditioned,
    title="The trace that the normalisation fixes",
    source="Equation 16",
)
def trace_identity(x):
    r"\tfrac1F \mathrm{tr}\, K_M = \mathrm{tr}(M \hat\Sigma) = m"
    return hc.equal(hc.trace(x.K_M), x.F * x.m)


@hc.claim(
    "B.3",
    over=preconditioned,
    title="Whitening minimises the kernel's Frobenius norm",
    source="Lemma B.3",
    given={"the covariance is invertible": lambda x: x.rank == x.m},
    needs=["eq15", "eq16"],
)
def whitening_is_optimal(x):
    r"""\|\Phi M \Phi^\top\|_F^2 \ge \|K_{\mathrm{white}}\|_F^2 = F^2 m \ge E_K(K_{\mathrm{white}})
    \quad \text{for all } M \succeq 0, \ \mathrm{tr}(M \hat\Sigma) = m"""
    return [
        hc.at_least(hc.sum(x.K_M**2), x.F**2 * x.m),
        hc.equal(hc.sum(x.K_white**2), x.F**2 * x.m),
        hc.at_most(max(energies(x.K_white)), x.F**2 * x.m),
    ]


@hc.claim(
    "B.3.singular",
    over=preconditioned,
    title="The smallest Frobenius norm, whatever the covariance's rank",
    source="Lemma B.3 for a covariance of rank r, where the minimiser is (m/r) Sigma^+",
    given={"r >= 1": lambda x: x.rank >= 1},
    needs=["eq16", "text.projector"],
)
def whitening_is_optimal_singular(x):
    r"""\|\Phi M \Phi^\top\|_F^2 \ge \frac{F^2 m^2}{r} = \left\| \tfrac mr \Phi \hat\Sigma^+ \Phi^\top \right\|_F^2
    \quad \text{for all } M \succeq 0, \ \mathrm{tr}(M \hat\Sigma) = m"""
    least = x.F**2 * x.m**2 / x.rank
    return [hc.at_least(hc.sum(x.K_M**2), least), hc.equal(hc.sum(x.K_white**2) * x.m**2 / x.rank**2, least)]


@hc.claim(
    "B.3.wide",
    over=preconditioned,
    title="The whitened kernel's average self-kernel, whatever the rank",
    source="Equation 16 for more features than facts, as in equation 14",
    expect="refuted",
    given={"r >= 1": lambda x: x.rank >= 1},
    erratum="Without an invertible covariance the whitened kernel's average self-kernel is its rank r, not m, so it "
    "breaks the normalisation of equation 16 and is no candidate.",
)
def whitening_normalised(x):
    r"\tfrac1F \mathrm{tr}(\Phi \hat\Sigma^+ \Phi^\top) = m"
    return hc.equal(hc.trace(x.K_white), x.F * x.m)


@hc.claim(
    "text.projector",
    over=preconditioned,
    title="The whitened kernel is F times a projector",
    source="Appendix B.2.4, the displays of K_white",
)
def projector(x):
    r"""\Pi = \tfrac1F K_{\mathrm{white}} = \Pi^2, \quad \mathrm{tr}\,\Pi = \mathrm{rank}\,\hat\Sigma, \quad
    \Pi \Phi = \Phi, \quad E_K(i) = F^2\, \Pi_{ii} (1 - \Pi_{ii}) \le \tfrac14 F^2"""
    Pi = x.K_white / x.F
    crowding = [x.F**2 * h * (1 - h) for h in leverages(x)]
    same = [hc.equal(a, b) for a, b in zip(energies(x.K_white), crowding, strict=True)]
    return [hc.equal(Pi @ Pi, Pi), hc.equal(hc.trace(Pi), x.rank), hc.equal(Pi @ x.Phi, x.Phi), *same]


@hc.claim(
    "text.projector.crowding",
    over=preconditioned,
    title="Key crowding of the whitened kernel",
    source="Appendix B.2.4 with equation 15, sharpened",
    needs=["text.projector", "eq15.sharp"],
)
def projector_crowding(x):
    r"E_K(K_{\mathrm{white}}) \le \tfrac14 F^2"
    return hc.at_most(max(energies(x.K_white)), x.F**2 / 4)


def normalised_crowding(x):
    """P_key^2 = E_K m / F of the raw and of the whitened kernel, both scaled to an average self-kernel of 1."""
    raw = max(energies(x.K)) / (hc.trace(x.K) / x.F) ** 2
    white = max(energies(x.K_white)) / (hc.trace(x.K_white) / x.F) ** 2
    return raw * x.m / x.F, white * x.m / x.F


@hc.claim(
    "text.whitening",
    over=preconditioned,
    title="Whitening reduces the key crowding penalty",
    source="Section 4.3, kernel-whitened construction; Appendix B.2.4",
    given={"the covariance is invertible": lambda x: x.rank == x.m},
    expect="refuted",
    erratum="Lemma B.3 minimises an upper bound of E_K; where some keys nearly coincide, or one direction's "
    "features are large and rare, whitening raises E_K itself, without limit.",
)
def whitening_reduces_crowding(x):
    r"P_{\mathrm{key}}(K_{\mathrm{white}}) \le P_{\mathrm{key}}(K_{\mathrm{raw}}) \quad \text{at equal } \mathrm{tr}\,K"
    raw, white = normalised_crowding(x)
    return hc.at_most(white, raw)


def _copies(rng, n):
    """n copies of one unit feature vector, two of an orthogonal one: E_K raw and whitened, at equal trace."""
    Phi = np.array([[1.0, 0.0]] * n + [[0.0, 1.0]] * 2)
    white = Phi @ np.diag((n + 2) / 2 / np.array([n, 2])) @ Phi.T
    crowdings = [(K**2).sum(axis=0) - np.diag(K) ** 2 for K in (Phi @ Phi.T, white)]
    return {"plain": np.max(crowdings[0]), "white": np.max(crowdings[1])}


@hc.claim(
    "text.whitening.factor",
    over=geo.family(_copies, n=(2, 128)),
    title="Whitening reduces the key crowding penalty up to an absolute factor",
    source="Section 4.3, kernel-whitened construction",
    expect="refuted",
    erratum="With n copies of one key and two of another, E_K grows from n - 1 to (n + 2)^2 / 16 at equal trace.",
)
def whitening_reduces_crowding_up_to_a_factor(x, *, C):
    r"E_K(K_{\mathrm{white}}) \le C\, E_K(K_{\mathrm{raw}}) \quad \text{at equal } \mathrm{tr}\,K"
    return hc.at_most(x.white, C * x.plain)


@hc.claim(
    "text.whitening.storage",
    over=geo.instance(
        keys=[[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        values=[[0, -1, 0], [-2, 1, 0], [1, -1, 0]],
        A=[[3, 0, 1], [2, 3, 0]],
        G=[[1, 1, 1], [1, 1, 1]],
    ),
    title="What the raw construction stores, the whitened one stores",
    source="Section 4.3, kernel-whitened construction",
    given={"the raw construction stores every fact": lambda x: x.gamma_min > 0},
    expect="refuted",
    erratum="Whitening can destroy storage: some sets that the raw construction stores, of random sketches too, the "
    "whitened one misses.",
)
def whitening_keeps_storage(x):
    r"\gamma_{\min}(K_{\mathrm{raw}}) > 0 \ \Rightarrow\ \gamma_{\min}(K_{\mathrm{white}}) \ge 0"
    return hc.at_least(x.replace(memory="whitened").gamma_min, 0)


@hc.claim(
    "text.whitening.sketch",
    over=sketches,
    title="Whitening reduces the key crowding penalty of random sketches",
    source="Section 4.3, kernel-whitened construction, on isotropic keys with F >= 2m, in 19 of 20 draws",
    given={"F >= 2 m": lambda x: x.F >= 2 * x.m},
    fails_at_most=0.05,
)
def whitening_reduces_crowding_of_sketches(x):
    r"""\frac{E_K(K_{\mathrm{white}})}{(\mathrm{tr}\,K_{\mathrm{white}})^2}
    \le \frac{E_K(K_{\mathrm{raw}})}{(\mathrm{tr}\,K_{\mathrm{raw}})^2}"""
    white = x.replace(memory="whitened")
    return hc.at_most(white.E_K / white.trace**2, x.E_K / x.trace**2)


def coherence(x):
    """mu, which no two values' inner product exceeds, but with probability delta / 2."""
    return sqrt(2 * log(2 * x.F**2 / x.delta) / x.d)


def certificate(x):
    """min_i of (Pi_ii - Pi_max^off) sqrt(1 - mu) - mu sqrt(2 Pi_ii (1 - Pi_ii))."""
    mu = coherence(x)
    return min([(h - x.K_off_max) * sqrt(1 - mu) - mu * sqrt(2 * h * (1 - h)) for h in diagonal(x.K)])


@hc.claim(
    "text.whitening.certificate",
    over=geo.facts(
        keys=geo.sphere, values=geo.sphere, memory="whitened", F=40, d=512, m=[34, 36], delta=[0.1, 0.5]
    ),
    title="A certificate of storage for the whitened construction",
    source="Appendix B.2.4 with sub-Gaussian constants; isotropic values, independent of keys and features",
    given={"the certificate is positive": lambda x: certificate(x) > 0},
    fails_at_most="delta",
    needs=["text.projector", "eq6"],
)
def whitened_storage(x):
    r"""c := \min_i \left[ \sqrt{1 - \mu} \left( \Pi_{ii} - \Pi_{\max}^{\mathrm{off}} \right)
    - \mu \sqrt{2 \Pi_{ii} (1 - \Pi_{ii})} \right] > 0
    \ \Rightarrow\ \gamma_{\min} \ge \sqrt{1 - \mu}\, c > 0, \quad \mu = \sqrt{\tfrac2d \log \tfrac{2F^2}{\delta}}"""
    return hc.at_least(x.gamma_min, sqrt(1 - coherence(x)) * certificate(x))
