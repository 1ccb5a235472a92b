"""Margins as quadratic forms of the query, and the noise that an adversary needs (Appendix B.10).

The adversary sees keys, values and features, and moves the query anywhere within eps of its key.
"""

import numpy as np

import hebbcheck as hc
from hebbcheck import geometry as geo
from hebbcheck import log, sqrt

from .noise import SIMPLE, coherence, common

HALVINGS = 60
"""Bisections of the secular equations, beyond the precision of a float."""

attacked = geo.facts(mapping="identity", noise=(0.05, 1.0), F=(3, 12), d=(2, 8), m=(4, 32), delta=[0.5, 0.2])
"""Keys and features independent of the isotropic values; queries anywhere within eps of their keys."""

stored = {"gamma_min > 0": lambda x: x.gamma_min > 0}


def forms(x):
    """F x d x d: the symmetric A_t with K(k_t, q) = q^T A_t q, of the bilinear memory."""
    A, G, Phi = (np.asarray(x.backend.to_numpy(part)) for part in (x.A, x.G, x.Phi))
    products = np.einsum("tr,ra,rb->tab", Phi, A, G, optimize=True) / np.sqrt(len(A))
    return (products + products.transpose(0, 2, 1)) / 2


def margin_forms(values, mapping, kernel_forms):
    """F x (|V| - 1) x d x d: S_ij with gamma_ij(q) = q^T S_ij q; competitors j != f(i) in increasing order."""
    scores = np.einsum("at,tbc->abc", values @ values[mapping].T, kernel_forms, optimize=True)
    competitors = np.arange(len(values) - 1)[None, :] + (np.arange(len(values) - 1) >= mapping[:, None])
    return scores[mapping][:, None] - scores[competitors]


def forms_of(x):
    """(keys F x d, S_ij F x (|V| - 1) x d x d) of an instance."""
    keys, values = (np.asarray(x.backend.to_numpy(part)) for part in (x.keys, x.values))
    return keys, margin_forms(values, x.map, forms(x))


def spectrum(S, keys):
    """(eigenvalues of each S_ij, the coordinates of k_i in its eigenvectors)."""
    eigenvalues, axes = np.linalg.eigh(S)
    return eigenvalues, np.einsum("ijba,ib->ija", axes, keys)


def bisected(low, high, rises):
    """The ends of the interval where `rises` turns from true to false, entry by entry."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        up = rises(middle)
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    return low, high


def worst_drop(S, keys, eps):
    """The largest gamma_ij(k_i) - gamma_ij(q) over |q - k_i| <= eps (F x (|V| - 1)).

    By strong duality of the trust region: the least sum_a (s_a k_a)^2 / (s_a + mu) + mu eps^2 over mu with
    S + mu >= 0.  Every mu gives an upper bound.
    """
    s, k = spectrum(S, keys)
    slopes = (s * k) ** 2
    least = np.maximum(0, -s.min(axis=-1))
    enough = least + np.sqrt(slopes.sum(axis=-1)) / eps

    def steps(mu, power):
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = slopes / (s + mu[..., None]) ** power
        return np.where(slopes > 0, terms, 0).sum(axis=-1)

    mu = bisected(least, enough, lambda mu: steps(mu, 2) > eps**2)[1]
    return steps(mu, 1) + mu * eps**2


def critical_radius(S, keys):
    """The distance of k_i from the queries with gamma_ij(q) <= 0 (F x (|V| - 1)).

    The nearest one solves (1 + lam S) q = k with 1 + lam S >= 0 and q^T S q = 0; it is never farther than 0 is.
    """
    s, k = spectrum(S, keys)
    most_negative, size = np.maximum(0, -s.min(axis=-1)), np.abs(s).max(axis=-1)
    falls = most_negative > 1e-12 * size
    with np.errstate(divide="ignore", invalid="ignore"):

        def margin(lam):
            return (s * (k / (1 + lam[..., None] * s)) ** 2).sum(axis=-1)

        top = np.where(falls, 1 / most_negative, 1e12 / size)
        lam = bisected(np.zeros_like(top), top, lambda lam: margin(lam) > 0)[0]
        moved = ((lam[..., None] * s * k / (1 + lam[..., None] * s)) ** 2).sum(axis=-1)
        along = np.where(falls, np.maximum(margin(lam), 0) / most_negative, 0)
        nearest = np.minimum(np.sqrt(moved + along), sqrt_of_squares(keys)[:, None])
        return np.where(margin(np.zeros_like(top)) <= 0, 0, nearest)


def sqrt_of_squares(rows):
    return np.sqrt((rows**2).sum(axis=-1))


def spectral_norm(symmetric):
    """The operator norm of symmetric matrices (... x d x d)."""
    return np.abs(np.linalg.eigvalsh(symmetric)).max(axis=-1)


@hc.claim(
    "eq69",
    over=geo.facts(keys=geo.anything, noise=(0.1, 2.0), F=(1, 8), d=(1, 6), m=(1, 8)),
    title="Lipschitz stability of the bilinear kernel",
    source="Equation 69, on the ball that holds the keys and the noisy queries",
)
def lipschitz_kernel(x):
    r"""|K(k_t, \tilde k_i) - K(k_t, k_i)| \le L_K \|\tilde k_i - k_i\|, \quad
    L_K = 2 (R_K + \epsilon) \max_t \|A_t\|, \quad K(k_t, q) = q^\top A_t q"""
    features = ((x.queries @ x.A.T) * (x.queries @ x.G.T)) / sqrt(x.m)
    return hc.at_most(hc.max(abs(x.Phi @ features.T - x.K)), x.L_K * x.eps)


@hc.claim(
    "eq69.attained",
    over=geo.facts(noise=(0.1, 2.0), F=(3, 8), d=(2, 6), m=(1, 8)),
    title="The Lipschitz constant of the bilinear kernel is attained",
    source="Equation 69: two queries along the top eigenvector of the largest form, at the radii R and (1 - h) R",
    needs=["eq69"],
)
def lipschitz_constant_attained(x):
    r"""\frac{|K(k_t, R u) - K(k_t, (1 - h) R u)|}{h R} = \left(1 - \frac h2\right) L_K, \quad
    L_K = 2R \max_t \|A_t\|, \quad R = 1 + \epsilon"""
    kernel_forms = forms(x)
    t = int(np.argmax(spectral_norm(kernel_forms)))
    eigenvalues, axes = np.linalg.eigh(kernel_forms[t])
    u, h, radius = axes[:, np.argmax(np.abs(eigenvalues))], 0.01, 1 + x.eps
    near, far = ((r * u) @ kernel_forms[t] @ (r * u) for r in ((1 - h) * radius, radius))
    return hc.equal(abs(far - near) / (h * radius), (1 - h / 2) * x.L_K)


@hc.claim(
    "eq69.sphere",
    over=geo.facts(noise=(0.1, 4.0), F=(3, 8), d=(2, 6), m=(1, 8)),
    title="Lipschitz stability on the unit sphere",
    source="Equation 69, for queries that are normalised before they reach the MLP",
    needs=["eq69"],
)
def lipschitz_kernel_on_the_sphere(x):
    r"""|K(k_t, q) - K(k_t, q')| \le \max_t \left( \lambda_{\max}(A_t) - \lambda_{\min}(A_t) \right) \|q - q'\|,
    \quad \|q\| = \|q'\| = 1"""
    keys, queries = (np.asarray(x.backend.to_numpy(part)) for part in (x.keys, x.queries))
    queries = queries / sqrt_of_squares(queries)[:, None]
    kernel_forms = forms(x)
    at = [np.einsum("tab,na,nb->tn", kernel_forms, q, q) for q in (keys, queries)]
    slope = np.ptp(np.linalg.eigvalsh(kernel_forms), axis=-1).max()
    return hc.at_most(np.abs(at[1] - at[0]), slope * sqrt_of_squares(queries - keys)[None, :] + 0 * at[0])


@hc.claim(
    "B.62.adversarial",
    over=attacked,
    title="Margin under noise chosen after the values",
    source="Theorem B.62 for the bilinear kernel, all queries at once: matrix Hoeffding with the proxy 1/d",
    fails_at_most="delta",
    needs=["B.36.moments", "B.62"],
)
def adversarial_margin(x):
    r"""\gamma_{ij}(q) \ge \gamma_{ij}(k_i) - \epsilon(2 + \epsilon) \left[ (1 + \mu_v)(\|A_i\| + \|A_j\|)
    + \sqrt{\tfrac8d \left\| \sum_t A_t^2 \right\| \log \tfrac{2dF^2}{\delta}} \right]
    \quad \text{for all } i, j \text{ and all } q, \ \|q - k_i\| \le \epsilon"""
    keys, S = forms_of(x)
    kernel_forms, norms = forms(x), spectral_norm(forms(x))
    total = spectral_norm(np.einsum("tab,tbc->ac", kernel_forms, kernel_forms))
    own = np.array([[norms[i] + norms[j] for j in range(len(norms)) if j != i] for i in range(len(norms))])
    chaos = sqrt(8 * total * log(2 * x.d * x.F**2 / x.delta) / x.d)
    allowed = x.eps * (2 + x.eps) * ((1 + coherence(x)) * own + chaos)
    return hc.at_most(worst_drop(S, keys, x.eps), allowed)


@hc.claim(
    "B.62.bilinear",
    over=attacked,
    title="For the bilinear kernel the noise may be chosen after the values",
    source="Theorem B.62, equation 70, for all queries at once",
    fails_at_most="delta",
    needs=["B.62.adversarial", "eq69"],
)
def adversarial_margin_lipschitz(x):
    r"""\gamma_{ij}(q) \ge \gamma_{ij}(k_i) - 2(1 + \mu_v) L_K \epsilon - 2\sqrt2\, L_K\, \epsilon
    \sqrt{\frac{FL}{d}} \quad \text{for all } i, j \text{ and all } q, \ \|q - k_i\| \le \epsilon"""
    keys, S = forms_of(x)
    allowed = 2 * (1 + coherence(x)) + sqrt(8 * x.F * x.L / x.d)
    return hc.at_most(worst_drop(S, keys, x.eps).max(), x.L_K * x.eps * allowed)


def permitted_noise(x):
    """The eps with eps L_bil(eps) = gamma_min / C_2 sqrt(d/(F L)), for L_bil(eps) = (1 + eps) L_bil(0)."""
    slope = 2 * spectral_norm(forms(x)).max()
    ratio = x.gamma_min / (SIMPLE * slope) * sqrt(x.d / (x.F * x.L))
    return (sqrt(1 + 4 * ratio) - 1) / 2


@hc.claim(
    "B.64",
    over=geo.facts(mapping="identity", noise=1.0, F=(4, 8), d=(12, 20), m=(64, 128), delta=[0.5, 0.2]),
    title="How much noise keeps the margin positive",
    source="Corollary B.64, on the event of Corollary B.63, at the largest eps that it permits",
    given={**stored, **common},
    fails_at_most="delta",
    needs=["B.63"],
)
def positive_noisy_margin(x):
    r"""\epsilon = \frac{\gamma_{\min}(k)}{(4 + 2\sqrt2)\, L_{\mathrm{bil}}(\epsilon)} \sqrt{\frac{d}{FL}}
    \ \Rightarrow\ \gamma_{\min}(\tilde k) \ge 0"""
    queries = x.keys + permitted_noise(x) * x.noise
    return hc.at_least(hc.min(x.margins_of(x.memory(queries))), 0)


@hc.claim(
    "B.64.adversarial",
    over=geo.facts(mapping="identity", F=(3, 6), d=(6, 8), m=(32, 64), delta=[0.5, 0.2]),
    title="The permitted noise lies below the least that an adversary needs",
    source="Corollary B.64, against the exact distance of the keys from the sign changes of the margins",
    given={**stored, **common},
    fails_at_most="delta",
    needs=["B.64", "B.62.bilinear"],
)
def permitted_noise_is_below_critical(x):
    r"""\epsilon = \frac{\gamma_{\min}(k)}{(4 + 2\sqrt2)\, L_{\mathrm{bil}}(\epsilon)} \sqrt{\frac{d}{FL}}
    \le \epsilon_{\mathrm{crit}}, \quad
    \epsilon_{\mathrm{crit}} = \min_{i, j} \min \left\{ \|q - k_i\| : \gamma_{ij}(q) \le 0 \right\}"""
    keys, S = forms_of(x)
    return hc.at_most(permitted_noise(x), critical_radius(S, keys).min())


@hc.claim(
    "eq11.sharp",
    over=geo.facts(keys=geo.anything, values=geo.anything, mapping="any", F=(1, 6), d=(1, 6), m=(1, 12)),
    title="A radius from the margins' forms, for every query",
    source="Section 5.1, equation 11, without isotropy and without a kernel's Lipschitz constant",
    given=stored,
)
def radius_from_forms(x):
    r"""\|q - k_i\| \le \frac{\sqrt{\|S_{ij} k_i\|^2 + \gamma_{ij} \|S_{ij}\|} - \|S_{ij} k_i\|}{\|S_{ij}\|}
    \ \Rightarrow\ \gamma_{ij}(q) \ge 0, \quad \gamma_{ij}(q) = q^\top S_{ij}\, q"""
    keys, S = forms_of(x)
    slope, norm = sqrt_of_squares(np.einsum("ijab,ib->ija", S, keys)), spectral_norm(S)
    margins = np.einsum("ia,ijab,ib->ij", keys, S, keys)
    return hc.at_most((np.sqrt(slope**2 + margins * norm) - slope) / norm, critical_radius(S, keys))
