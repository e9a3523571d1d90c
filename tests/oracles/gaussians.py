"""Random Gaussians, on trees, along chains and without, and their conditionals by plain linear algebra."""

import numpy as np

from tacit.numbers.model.gaussian import CorrelationTree, Gaussian
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.toy import random_topology
from tacit.trees.structure.topology import Topology


def random_gaussian(d, rng, ridge=0.2):
    """A mean and a covariance without any structure."""
    factor = rng.normal(size=(d, d))
    return Gaussian(rng.normal(size=d), factor @ factor.T + ridge * np.eye(d))


def random_lengths(topology, rng, low=0.05, high=0.6):
    """The tree with random lengths."""
    lengths = tuple(rng.uniform(low, high, len(topology.edges)).tolist())
    return Topology(topology.nodes, topology.edges, topology.observed, lengths)


def random_gaussian_tree(n_leaves, rng, topology=None):
    """A topology with lengths, and the signed correlations along it."""
    if topology is None:
        topology = random_topology(n_leaves, n_children=(2, 2), random_state=rng)
    topology = random_lengths(topology.contracted(), rng)
    signs = rng.choice([-1.0, 1.0], len(topology.observed))
    return topology, CorrelationTree.of(topology, topology.observed, signs)


def random_gaussian_chain(
    n_states, n_columns, diagonal, *, spread=1.0, apart=1.0, stay=0.0, random_state=0
):
    """A chain whose states show numbers with random means, so far apart, and covariances."""
    rng = np.random.default_rng(random_state)
    factors = spread * rng.normal(size=(n_states, n_columns, n_columns))
    covariances = factors @ factors.transpose(0, 2, 1) + 0.2 * np.eye(n_columns)
    return GaussianChain(
        rng.dirichlet(np.ones(n_states)),
        (1 - stay) * rng.dirichlet(np.ones(n_states), n_states) + stay * np.eye(n_states),
        apart * rng.normal(size=(n_states, n_columns)),
        covariances * np.eye(n_columns) if diagonal else covariances,
        diagonal,
    )


def rows_with_moments(gaussian, n_rows, rng):
    """Rows whose mean and (1 / n) covariance are exactly those of a Gaussian."""
    noise = rng.normal(size=(n_rows, len(gaussian.mean)))
    noise -= noise.mean(axis=0)
    whitened = noise @ np.linalg.inv(np.linalg.cholesky(noise.T @ noise / n_rows)).T
    return gaussian.mean + whitened @ gaussian.factor.T


def with_holes(rows, fraction, rng):
    """The rows with some cells missing at random."""
    return np.where(rng.random(rows.shape) < fraction, np.nan, rows)


def conditional(gaussian, row):
    """Mean and covariance of what is missing of a row, by the textbook's formulas."""
    gone = np.isnan(row)
    mean, cov = gaussian.mean, gaussian.covariance
    slope = np.linalg.solve(cov[np.ix_(~gone, ~gone)], cov[np.ix_(~gone, gone)]).T
    return (
        mean[gone] + slope @ (row[~gone] - mean[~gone]),
        cov[np.ix_(gone, gone)] - slope @ cov[np.ix_(~gone, gone)],
    )
