"""Chapter 6 of Parikh (2015), Algorithms 8 to 11, transcribed line by line, dense and slow.

Features are those of the whole kernel matrix of the numbers that occur, without any approximation. A tree is
`children`, a dict of node to its children in order (leaves have none), and its root; ``star[s]`` is the leaf
X_{s*}, ``outside[s]`` the leaf X_{-s*}.
"""

from itertools import combinations

import numpy as np
from numpy.linalg import eigh, pinv, svd


def median_distance(x):
    """The bandwidth: "median distance between pairs of training points"."""
    return float(np.median([abs(a - b) for a, b in combinations(x, 2)]))


def k(x, y, sigma):
    """The kernel of Algorithm 8, step 1."""
    return np.exp(-(np.subtract.outer(x, y) ** 2) / (2 * sigma**2)) / (np.sqrt(2 * np.pi) * sigma)


class FeatureMap:
    """phi with phi(x)' phi(y) = k(x, y) for the numbers that occur (2.47), and projected for others."""

    def __init__(self, x, sigma):
        self.sigma = sigma
        self.numbers = np.unique(x)
        values, vectors = eigh(k(self.numbers, self.numbers, sigma))
        assert (
            values[0] > 1e-12 * values[-1]
        )  # else the digits of the transcription are worth nothing
        self.root = vectors.T / np.sqrt(values)[:, None]

    def __call__(self, x):
        """(feature, x)"""
        return self.root @ k(self.numbers, np.asarray(x, dtype=float), self.sigma)

    def integral(self):
        """(feature,) the integral of phi(x) over all numbers x: that of a kernel is one."""
        return self.root.sum(axis=1)


def covariance_operators(columns, maps):
    """C(s, t, ...) of (6.16), by going through the rows one by one."""
    phi = {s: maps[s](columns[s]) for s in columns}
    n_rows = len(next(iter(columns.values())))

    def C(*leaves):
        out = 0.0
        for n in range(n_rows):
            product = np.ones(())
            for s in leaves:
                product = np.multiply.outer(product, phi[s][:, n])
            out = out + product
        return out / n_rows

    return C


def algorithm_8(C, children, root, star, outside, n_states):
    """The observable parameters R, T_s and L_s."""
    U = {s: svd(C(star[s], outside[s]))[0][:, :n_states] for s in outside}  # step 4
    R, T, L = None, {}, {}
    for s, below in children.items():
        if s == root:
            R = C(*(star[c] for c in below))
        else:
            inverse = pinv(U[s].T @ C(star[s], outside[s]))  # (-s*, omega_s)
            T[s] = np.tensordot(C(*(star[c] for c in below), outside[s]), inverse, 1)
        for mode, c in enumerate(below):
            tensor = R if s == root else T[s]
            tensor = np.moveaxis(np.tensordot(tensor, U[c], (mode, 0)), -1, mode)
            if s == root:
                R = tensor
            else:
                T[s] = tensor
    for s in outside:
        if not children.get(s):
            L[s] = C(s, outside[s]) @ pinv(U[s].T @ C(s, outside[s]))
    return R, T, L


def algorithm_9(R, T, L, children, root, phi):
    """b_r, given the feature vector of each leaf."""

    def message(s):
        if not children.get(s):
            return L[s].T @ phi[s]
        out = R if s == root else T[s]
        for c in children[s]:
            out = np.tensordot(message(c), out, (0, 0))
        return out

    return float(message(root))


def equation_6_18(C, leaves, n_states):
    """d(s, t) of all pairs of leaves."""

    def log_determinant(M):  # of M M'
        return np.log(svd(M, compute_uv=False)[:n_states] ** 2).sum()

    return {
        (s, t): -log_determinant(C(s, t)) / 2
        + log_determinant(C(s, s)) / 4
        + log_determinant(C(t, t)) / 4
        for s, t in combinations(leaves, 2)
    }


def algorithm_11(d, leaves):
    """The edges of the tree that neighbour joining returns; new nodes are numbers."""
    d = {**d, **{(t, s): length for (s, t), length in d.items()}, **{(s, s): 0.0 for s in leaves}}
    W, edges, u = list(leaves), [], 0
    while len(W) > 2:
        total = {i: sum(d[i, k] for k in W) for i in W}
        f, g = min(
            combinations(W, 2),
            key=lambda pair: (len(W) - 2) * d[pair] - total[pair[0]] - total[pair[1]],  # (6.33)
        )
        W = [k for k in W if k not in (f, g)]
        for k in W:
            d[k, u] = d[u, k] = (d[f, k] + d[g, k] - d[f, g]) / 2  # (6.36)
        d[u, u] = 0.0
        edges += [(u, f), (u, g)]
        W.append(u)
        u += 1
    return [*edges, tuple(W)]
