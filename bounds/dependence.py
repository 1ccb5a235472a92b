"""What becomes of the theorems where things that they take to be independent are not (Appendix B.6, B.9, B.10)."""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import sqrt

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
