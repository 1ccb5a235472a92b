"""What becomes of the theorems where things that they take to be independent are not (Appendix B.6, B.9, B.10)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt
from hebbcheck.geometry.shapes import sphere_span

from .entries import narrow_enough, spread
from .noise import isotropic, mutual_coherence, values_alone

SAMPLES = 2000


def allowed(x, values):
    """The right side of equation 70 per L_K eps."""
    return 2 * (1 + mutual_coherence(values)) + sqrt(8 * x.F * x.L / x.d)


@hc.claim(
    "B.62.printed",
    over=geo.family(values_alone, F=[50, 100], d=2, delta=0.1),
    title="Noisy margin as printed: the values are the keys, and the noise knows them",
    source="Theorem B.62, equation 70; K(k, q) = <k, q>, so that L_K = 1 everywhere",
    fails_at_most="delta",
    needs=["B.36.moments"],
    expect="refuted",
    erratum="Nothing says that keys, kernel and noise are independent of the values; with keys that are the values, "
    "noise toward a competitor lowers the margin by eps F/d, not by eps sqrt(F L/d).",
)
def noisy_margin_of_tied_values(x):
    r"""k = v, \ K(k, q) = \langle k, q \rangle, \quad
    \tilde k_i = k_i - \epsilon \frac{v_i - v_j}{\|v_i - v_j\|} \ \Rightarrow \quad
    \gamma_{ij}(k_i) - \gamma_{ij}(\tilde k_i) \le 2(1 + \mu_v) \epsilon + 2\sqrt2\, \epsilon \sqrt{\frac{FL}{d}}"""
    values = np.asarray(x.values)
    gram = values @ values.T
    squares = gram @ gram
    distances = np.sqrt(np.maximum(2 - 2 * gram, 0))
    energies = np.diag(squares)[:, None] + np.diag(squares)[None, :] - 2 * squares
    apart = distances > 0
    return hc.at_most((energies[apart] / distances[apart]).max(), allowed(x, values))


@hc.claim(
    "text.adversarial_noise",
    over=geo.family(values_alone, F=[200, 400], d=16, delta=0.1),
    title="The noise may be chosen after the values",
    source="Theorem B.62, equation 70, with equation 69 read on the realised set",
    fails_at_most="delta",
    needs=["B.36.moments"],
    expect="refuted",
    erratum="A kernel that is L_K-Lipschitz on the keys and queries, and independent of the values, may fall by "
    "L_K eps at one code point for each pattern of signs; noise that knows the values picks the pattern of "
    "<v_i - v_j, v_t>. The bilinear kernel leaves no such choice (B.62.bilinear).",
)
def noisy_margin_of_a_sign_code(x):
    r"""K(k_t, \tilde k_i) = K(k_t, k_i) - L_K \epsilon\, \mathrm{sign} \langle v_i - v_j, v_t \rangle
    \ \Rightarrow\ \gamma_{ij}(k_i) - \gamma_{ij}(\tilde k_i)
    \le L_K \epsilon \left( 2(1 + \mu_v) + 2\sqrt2 \sqrt{\frac{FL}{d}} \right)"""
    values = np.asarray(x.values)
    drops = np.abs((values[0] - values[1:]) @ values.T).sum(axis=1)
    return hc.at_most(drops.max(), allowed(x, values))


def values_and_directions(rng, F, d, delta):
    return {"values": isotropic(rng, F, d), "noise": isotropic(rng, F, d)}


@hc.claim(
    "text.tied_values",
    over=geo.family(values_and_directions, F=[400, 800], d=2, delta=0.1),
    title="The values may be the keys, if the noise is independent of them",
    source="Theorem B.62, equation 70; K(k, q) = <k, q>, so that L_K = 1 everywhere",
    fails_at_most="delta",
    needs=["B.36.moments"],
    expect="refuted",
    erratum="With keys that are the values the sum over t has a mean, eps (F/d) <v_i - v_j, u_i>, which passes "
    "eps sqrt(F L/d) as soon as F is a multiple of d^2 L, whatever the noise u_i.",
)
def noisy_margin_of_tied_values_with_random_noise(x):
    r"""k = v, \ K(k, q) = \langle k, q \rangle, \ \tilde k_i = k_i + \epsilon u_i \ \Rightarrow \quad
    \gamma_{ij}(k_i) - \gamma_{ij}(\tilde k_i) \le 2(1 + \mu_v) \epsilon + 2\sqrt2\, \epsilon \sqrt{\frac{FL}{d}}"""
    values = np.asarray(x.values)
    scores = np.asarray(x.noise) @ (values.T @ values) @ values.T
    return hc.at_most((scores.max(axis=1) - np.diag(scores)).max(), allowed(x, values))


def one_stream(rng, d, m):
    """Entries K_ti for keys and features from generators of one seed: two rows of A are k_t and k_i, unscaled."""
    A, G = rng.standard_normal((2, SAMPLES, m, d))
    keys = A[:, :2] / np.linalg.norm(A[:, :2], axis=2, keepdims=True)
    features = np.einsum("srd,skd->skr", A, keys) * np.einsum("srd,skd->skr", G, keys)
    return {"entries": (features[:, 0] * features[:, 1]).mean(axis=1)}


@hc.claim(
    "text.shared_stream",
    over=geo.family(one_stream, d=2, m=[2, 4]),
    title="Keys and features may share a stream of random numbers",
    source="Lemma B.44, first item, without the independence of keys and features",
    expect="refuted",
    erratum="Keys and features must be independent: a feature row that is parallel to a key makes the entry's mean "
    "1/d + 2(d-1)/(dm).",
)
def mean_of_a_shared_stream(x):
    r"a_t = \|a_t\|\, k_t \ \Rightarrow\ \mathbb E\, \hat K_{ti} = \frac1d"
    return hc.equal(hc.mean(x.entries), 1 / x.d)


@hc.claim(
    "text.shared_stream.mean",
    over=geo.family(one_stream, d=2, m=[2, 4]),
    title="The mean of an entry where keys and features share a stream",
    source="Lemma B.44, first item, for keys that are the directions of feature rows",
)
def mean_of_a_shared_stream_corrected(x):
    r"a_t = \|a_t\|\, k_t \ \Rightarrow\ \mathbb E\, \hat K_{ti} = \frac1d + \frac{2(d-1)}{dm}"
    return hc.equal(hc.mean(x.entries), 1 / x.d + 2 * (x.d - 1) / (x.d * x.m))


def noisy_memory_of_one_stream(rng, F, d, m, eps, delta):
    """The kernel's changes K(k_t, q_i) - K(k_t, k_i) and L_K, where the rows of A are the keys, unscaled."""
    A, G = rng.standard_normal((2, m, d))
    keys = A[np.arange(F) % m] / np.linalg.norm(A[np.arange(F) % m], axis=1, keepdims=True)
    queries = keys + eps * isotropic(rng, F, d)
    at_keys, at_queries = ((points @ A.T) * (points @ G.T) / np.sqrt(m) for points in (keys, queries))
    forms = np.einsum("tr,ra,rb->tab", at_keys, A, G, optimize=True) / np.sqrt(m)
    norms = np.abs(np.linalg.eigvalsh((forms + forms.transpose(0, 2, 1)) / 2))
    slope = 2 * (1 + eps) * norms.max()
    return {"values": isotropic(rng, F, d), "changes": at_keys @ (at_queries - at_keys).T, "slope": slope}


@hc.claim(
    "B.62.shared_stream",
    over=geo.family(
        noisy_memory_of_one_stream, F=(3, 32), d=(2, 16), m=(4, 32), eps=(0.1, 1.0), delta=[0.5, 0.1]
    ),
    title="Noisy margin where keys and features share a stream",
    source="Theorem B.62, equation 70: only the values need to be independent of the rest",
    fails_at_most="delta",
    needs=["B.62"],
)
def noisy_margin_of_a_shared_stream(x):
    r"""a_t = \|a_t\|\, k_t \ \Rightarrow\ \gamma_{ij}(\tilde k_i) \ge \gamma_{ij}(k_i) - 2(1 + \mu_v) L_K \epsilon
    - 2\sqrt2\, L_K\, \epsilon \sqrt{\frac{FL}{d}} \quad \text{for all } i, j"""
    values = np.asarray(x.values)
    scores = values @ values.T @ np.asarray(x.changes)
    return hc.at_most((scores - np.diag(scores)).max(), x.slope * x.eps * allowed(x, values))


def kernel_of_one_stream(rng, F, d, m, delta):
    """max |K_ij - 1/d| where the first rows of A are the keys, unscaled; all in coordinates of the keys' span."""
    keys = sphere_span(rng, F, d)
    A, G = rng.standard_normal((2, m, keys.shape[1]))
    A[:F] = keys * np.sqrt(rng.chisquare(d, (F, 1)))
    Phi = (keys @ A.T) * (keys @ G.T)
    deviations = np.abs(Phi @ Phi.T / m - 1 / d)
    return {"deviation": deviations[~np.eye(F, dtype=bool)].max()}


@hc.claim(
    "B.38.printed",
    over=geo.family(kernel_of_one_stream, F=8, d=(16, 2**30), m=8, delta=0.5),
    title="Off-diagonal entries, isotropic keys that share a stream with the features",
    source="Lemma B.38, equation 60, whose text does not ask for keys that are independent of the features",
    given=narrow_enough,
    fails_at_most="delta",
    needs=["text.shared_stream.mean"],
    expect="refuted",
    erratum="Keys and features must be independent, as in Theorem B.19 and Lemma B.46: isotropic keys that are the "
    "directions of feature rows have entries of the order sqrt(d)/m, beyond any multiple of the bound.",
)
def off_diagonal_of_a_shared_stream(x, *, C):
    r"""a_t = \|a_t\|\, k_t \ \Rightarrow\ \max_{i \ne j} | \hat K_{ij} - \tfrac1d |
    \le C \left( \sigma \sqrt L + \frac{L^2}m \right) \quad (m \le d^2/L)"""
    return hc.at_most(x.deviation, C * spread(x))


def keys_beside_the_features(rng, F, m, delta):
    """The least K_ii of keys that are uniform among the unit vectors orthogonal to the rows of A, d = m + F."""
    A, G = rng.standard_normal((2, m, m + F))
    free = np.linalg.qr(A.T, mode="complete")[0][:, m:]
    keys = isotropic(rng, F, F) @ free.T
    return {"K_diag_min": (((keys @ A.T) * (keys @ G.T)) ** 2).sum(axis=1).min() / m}


@hc.claim(
    "B.39.printed",
    over=geo.family(keys_beside_the_features, F=4, m=128, delta=0.5),
    title="Uniform lower bound on the diagonal, for keys that know the features",
    source="Lemma B.39, equation 63 with C_1 = 4: it asks for unit keys, and these are isotropic, one by one",
    fails_at_most="delta",
    needs=["B.39"],
    expect="refuted",
    erratum="Keys and features must be independent: for m < d some unit keys are orthogonal to all rows of A, and "
    "have K_ii = 0.",
)
def diagonal_of_keys_beside_the_features(x):
    r"""\langle a_r, k_i \rangle = 0 \ \Rightarrow\ K_{\min}^{\mathrm{diag}} = 0
    \ge 1 - 4 \sqrt{\frac{\log(F/\delta)}m}"""
    return hc.at_least(x.K_diag_min, 1 - 4 * sqrt(log(x.F / x.delta) / x.m))


def leaning_values(rng, F, delta):
    """Values that lean to the side of their keys: the clean margin, and where noise takes the first fact's margin to 0.

    k_t = (k_1 + s_t u)/2 + g_t / sqrt 2 and v_t = s_t w / sqrt 2 + h_t / sqrt 2, s_t = 1 for half of the facts t > 1
    and -1 for the others; k_1, u and the g_t orthonormal, and so v_1, w and the h_t (d = F + 1); the exact kernel.
    One fact that is left over is g_t, h_t.  At q = k_1 + eps u, s_t = 1, the margin of n facts with s_t is
    gamma_1t = 1 - (1 + eps)^2 / 8 - n eps / 4; all other margins are 3/8 at least, which eps = 0 attains.
    """
    slope = (2 * ((F - 1) // 2) + 1) / 4
    radius = 7 / 4 / (slope + np.sqrt(slope**2 + 7 / 16))
    return {"clean": 3 / 8, "radius": radius, "lipschitz": 2 * (1 + radius)}


@hc.claim(
    "B.64.printed",
    over=geo.family(leaning_values, F=(9, 2**30), delta=0.5),
    title="How much noise keeps the margin positive, whatever the values",
    source="Corollary B.64, equation 76, which does not say with what probability; here L_bil on the ball of the noise",
    given={"F L >= d": lambda x: x.F * x.L >= x.F + 1},
    expect="refuted",
    erratum="Equation 76 suffices on the event of Corollary B.63 only, of probability 1 - delta: for values that lean "
    "to the side of their keys noise of the order 1/F takes the margin to 0, whatever the constant.",
    needs=["B.64"],
)
def permitted_noise_of_leaning_values(x, *, C):
    r"""\frac{\gamma_{\min}}{C\, L_{\mathrm{bil}}} \sqrt{\frac{d}{FL}} \le \epsilon_{\mathrm{crit}}
    = \min \left\{ \epsilon : \gamma_{1j}(k_1 + \epsilon u) \le 0 \right\}, \quad d = F + 1, \quad
    \hat K = K_2, \ \gamma_{\min} = \tfrac38"""
    return hc.at_most(x.clean / (C * x.lipschitz) * sqrt((x.F + 1) / (x.F * x.L)), x.radius)
