"""Exact moments of mixtures of spherical Gaussians, and such mixtures drawn at random."""

from dataclasses import dataclass

import numpy as np

from tacit.numbers.model.gaussian_mixture import SphericalMixture


@dataclass(frozen=True)
class ExactMoments:
    """The moments that infinitely many rows of a mixture have, by the moments of its components."""

    mixture: SphericalMixture
    n_rows: float = float("inf")

    @property
    def mean(self):
        return self.mixture.weights @ self.mixture.means

    @property
    def _apart(self):
        return self.mixture.means - self.mean

    @property
    def covariance(self):
        within = self.mixture.weights @ self.mixture.variances
        return (self._apart.T * self.mixture.weights) @ self._apart + within * np.eye(
            len(self.mean)
        )

    def third(self):
        """(column, column, column) E[z z z] of the centred rows."""
        weights, variances, apart = self.mixture.weights, self.mixture.variances, self._apart
        out = np.einsum("c,ci,cj,ck->ijk", weights, apart, apart, apart)
        added = np.einsum("c,c,ci,jk->ijk", weights, variances, apart, np.eye(len(self.mean)))
        return out + added + added.transpose(1, 0, 2) + added.transpose(2, 1, 0)

    def cubes(self, directions):
        return np.einsum("ijk,ia,jb,kc->abc", self.third(), directions, directions, directions)

    def scaled(self, directions):
        return np.einsum("ijk,ja,ka->i", self.third(), directions, directions)


def random_mixture(rng, k, d, *, own=True):
    """Unequal weights, means about a point far from the origin."""
    weights = rng.uniform(0.3, 2.0, k)
    variances = rng.uniform(0.3, 2.0, k) if own else np.full(k, rng.uniform(0.3, 2.0))
    means = 3 * rng.normal(size=(k, d)) + 10 * rng.normal(size=d)
    return SphericalMixture(weights / weights.sum(), means, variances)


def matched(one, other):
    """The components of a mixture in the order of those of another whose means are nearest."""
    apart = np.linalg.norm(one.means[:, None] - other.means[None], axis=2)
    order = apart.argmin(axis=0)
    assert sorted(order.tolist()) == list(range(len(order)))
    return SphericalMixture(one.weights[order], one.means[order], one.variances[order])
