"""Slow twins of the statistics: each from its definition, in extended precision.

Tolerances are rounding analyses, not constants that happen to pass: ``Twin`` carries for each pair a bound of the
error that each statistic may have, from eps, the sizes and the pair's conditioning.
"""

import math

import numpy as np

from hebbcheck import statistics

MINIMA = ("gamma_min", "s_min", "V_min")
COUPLINGS = ("kappa", "kappa_tilde", "kappa_centered")
OF_PAIRS = tuple(statistics.SENSES)


class Twin:
    """Each statistic of each pair from its definition, with a bound of the error that ``statistics`` may make."""

    def __init__(self, kind, array, values, mapping, mu, dtype):
        wide = np.longdouble
        array, values = (np.asarray(np.asarray(x, dtype=dtype), dtype=wide) for x in (array, values))
        self.eps, self.mu = float(np.finfo(dtype).eps), wide(mu)
        self.values, self.mapping = values, mapping
        self.codes = values[mapping]
        self.F, self.n = len(mapping), len(values)
        self.K, self.K_error = kernel(kind, array, self.eps)
        self.norms = np.sqrt((self.codes**2).sum(axis=1))
        self.found, self.error, self.exact_error = {}, {}, {}
        self.pairs = [(i, j) for i in range(self.F) for j in range(self.n) if j != mapping[i]]
        for pair in self.pairs:
            self.found[pair] = self.definition(*pair)
            self.exact_error[pair] = self.errors(*pair, tables=False)
            self.error[pair] = self.errors(*pair, tables=True)

    def definition(self, i, j):
        F, K, c, v, mu = self.F, self.K, self.codes, self.values, self.mu
        w = c[i] - v[j]
        Y = [sum(w * c[t]) for t in range(F)]
        others = [t for t in range(F) if t != i]
        T = [t for t in others if self.mapping[t] != j]
        rivals = [t for t in others if self.mapping[t] == j]
        E_K, E_K_tilde = sum(K[t, i] ** 2 for t in others), sum(K[t, i] ** 2 for t in T)
        E_K_centered = sum((K[t, i] - mu) ** 2 for t in T)
        E_v, E_v_tilde = sum(Y[t] ** 2 for t in others), sum(Y[t] ** 2 for t in T)
        crosstalk, crosstalk_absorbed = sum(K[t, i] * Y[t] for t in others), sum(K[t, i] * Y[t] for t in T)
        centered = sum((K[t, i] - mu) * Y[t] for t in T)
        signal = K[i, i] * sum(w * c[i])
        signal_absorbed = signal + sum(K[t, i] * Y[t] for t in rivals)
        found = {
            "margins": signal + crosstalk,
            "signal": signal,
            "crosstalk": crosstalk,
            "signal_absorbed": signal_absorbed,
            "crosstalk_absorbed": crosstalk_absorbed,
            "gamma_min": signal + crosstalk,
            "s_min": signal_absorbed,
            "z_max": abs(crosstalk_absorbed),
            "V_min": sum(w * c[i]),
            "V_max": abs(sum(w * v[j])),
            "E_K_tilde": E_K_tilde,
            "E_K_centered": E_K_centered,
            "E_v": E_v,
            "E_v_tilde": E_v_tilde,
            "kappa": ratio(abs(crosstalk), np.sqrt(E_K * E_v)),
            "kappa_tilde": ratio(abs(crosstalk_absorbed), np.sqrt(E_K_tilde * E_v_tilde)),
            "kappa_centered": ratio(abs(centered), np.sqrt(E_K_centered * E_v_tilde)),
            "kappa_eff": ratio(abs(centered), np.sqrt(E_v_tilde)),
            "B_Y": abs(sum(Y[t] for t in T)),
            "L_v": sum(abs(Y[t]) for t in T) ** 2 / E_v_tilde if E_v_tilde > 0 else 1,
        }
        return {name: float(value) for name, value in found.items()}

    def errors(self, i, j, tables):
        """Bounds of the rounding errors, each a few eps times the terms that were summed.

        From the definition these are |w| |c_t|.  The tables expand w, and the terms are (|c_i| + |v_j|) |c_t|,
        for energies also those of the mean value; a pair whose norm this costs more than the root of eps is
        recomputed.
        """
        steps = 4 * (self.F + self.values.shape[1] + 4) * self.eps  # of a sum of this many rounded products
        off = np.arange(self.F) != i
        T = off & (self.mapping != j)
        w, length = self.codes[i] - self.values[j], norm(self.values[j])
        K, K_error, mu = self.K[:, i], self.K_error[:, i] + steps * abs(self.K[:, i]), abs(self.mu)
        Y, resolved = abs(self.codes @ w), steps * norm(w) * self.norms
        size = self.norms[i] + length if tables else norm(w)
        Y_error = steps * size * self.norms
        center = norm(self.codes @ self.values.mean(axis=0))
        lost = 2 * steps * (size**2 * (self.norms**2).sum() + center**2) if tables else 0.0
        kept = 2 * math.sqrt(self.F * self.eps) if tables else 0.0

        def of_energy(of):
            return squares_error(Y[of], resolved[of]) + min(lost, kept * (Y[of] ** 2).sum())

        def of_Y(of):
            cancelled = 3 * share(Y_error[of], Y[of]) + ratio(lost, (Y[of] ** 2).sum())
            return 2 * share(resolved[of], Y[of]) + min(kept, cancelled)

        def of_coupling(X, X_error, of):
            cancelled = 2 * steps * ratio((X[off] ** 2).sum(), (X[of] ** 2).sum())
            return steps + 2 * share(X_error[of], X[of]) + min(kept, cancelled) + of_Y(of)

        product = abs(K) * Y_error + K_error * (Y + Y_error)
        centered, centered_error = K - self.mu, K_error + steps * mu
        found = {
            "z_max": product[off].sum(),
            "V_min": steps * size * self.norms[i],
            "V_max": steps * size * length,
            "E_K_tilde": squares_error(K[off], K_error[off]),
            "E_K_centered": squares_error(centered[off], centered_error[off]),
            "E_v": of_energy(off),
            "E_v_tilde": of_energy(T),
            "B_Y": (Y_error if tables else Y_error[T]).sum(),
            "kappa": of_coupling(K, K_error, off),
            "kappa_tilde": of_coupling(K, K_error, T),
            "kappa_centered": of_coupling(centered, centered_error, T),
            "kappa_eff": norm(centered[T]) * (steps + of_Y(T)) + norm(centered_error[T]),
            "L_v": 2 * T.sum() * (steps + of_Y(T)),
        }
        found["crosstalk_absorbed"] = found["z_max"]
        for name in ("gamma_min", "s_min", "margins", "signal", "crosstalk", "signal_absorbed"):
            found[name] = product.sum()
        return {name: float(value) for name, value in found.items()}

    def range_of(self, name):
        """Where the extremum must lie: no candidate may be better than the best of value plus error."""
        sense = -1 if name in MINIMA else 1
        ends = []
        for side in (-1, 1):
            ends.append(
                max(sense * self.found[p][name] + side * self.error[p][name] for p in self.pairs) * sense
            )
        return min(ends), max(ends)


def kernel(kind, array, eps):
    """K in extended precision, and how far the entries in working precision may be off."""
    if kind == "gram":
        return array, np.zeros_like(array)
    product, sizes = array @ array.T, np.sqrt((array**2).sum(axis=1))
    error = (array.shape[1] + 2) * eps * np.outer(sizes, sizes)
    return (product, error) if kind == "features" else (product**2, (2 * abs(product) + error) * error)


def ratio(numerator, denominator):
    return numerator / denominator if denominator > 0 else 0.0


def share(error, entries):
    """Relative error of a norm; infinite where the norm is not resolved."""
    size, lost = norm(entries), norm(error)
    return lost / size if size > 0 else (math.inf if lost > 0 else 0.0)


def norm(entries):
    return np.sqrt((entries**2).sum())


def squares_error(entries, error):
    return (2 * abs(entries) * error + error**2).sum()


def check_summary(found, twin):
    """Each extremum lies where it must, and its pair attains it."""
    for name in OF_PAIRS:
        value, pair = found[name].value, found[name].pair
        if not twin.pairs:
            assert (value, pair) == (math.inf if name in MINIMA else 0.0, ()), name
            continue
        low, high = twin.range_of(name)
        if name in COUPLINGS:
            assert 0 <= value <= 1
            low, high = min(low, 1), max(high, 0)
        assert low <= value <= high, (name, low, value, high)
        assert abs(value - twin.found[pair][name]) <= twin.exact_error[pair][name], (name, pair)
    check_kernel(found, twin)


def check_kernel(found, twin):
    K, error = twin.K, twin.K_error + 4 * twin.F * twin.eps * abs(twin.K)
    off = ~np.eye(twin.F, dtype=bool)
    energies = [sum(K[t, i] ** 2 for t in range(twin.F) if t != i) for i in range(twin.F)]
    slack = [squares_error(K[off[i], i], error[off[i], i]) for i in range(twin.F)]
    (row,) = found["E_K"].pair
    assert abs(found["E_K"].value - energies[row]) <= slack[row]
    assert found["E_K"].value >= max(e - s for e, s in zip(energies, slack, strict=True))
    if twin.F > 1:
        i, t = found["K_off_max"].pair
        assert i != t
        assert abs(found["K_off_max"].value - abs(K[i, t])) <= error[i, t]
        assert found["K_off_max"].value >= max(abs(K[off]) - error[off])
    else:
        assert found["K_off_max"] == statistics.Extremum(0.0, ())
    diagonal, slack = np.diagonal(K), np.diagonal(error)
    for name, best in (("K_diag_min", min), ("K_diag_max", max)):
        assert abs(found[name].value - diagonal[found[name].pair[0]]) <= slack[found[name].pair[0]]
        assert abs(found[name].value - best(diagonal)) <= max(slack)
    assert abs(found["trace"].value - sum(diagonal)) <= sum(slack)
    assert abs(found["diag_sq_sum"].value - sum(diagonal**2)) <= squares_error(diagonal, slack)
