"""Random small trees whose moments are known exactly, of every relation between states and categories."""

import numpy as np

from oracles.networks import leaf_joint, random_tables, random_tree
from oracles.population import Population

# Name: least and most categories of a leaf, least and most states of a hidden node.
SIZES = {
    "fewer states than categories": (4, 5, 2, 3),
    "as many states as categories": (3, 3, 3, 3),
    "more states than categories": (2, 3, 3, 5),
    "all different": (2, 4, 2, 5),
}

# Errors of rounding grow by one over the smallest singular value; this keeps them below 1e-9.
LEAST_VALUE = 1e-4


def population(seed, size, n_leaves=6):
    """A random tree with two to five children per node: the tree, its states, its exact moments."""
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, n_leaves, 5)
    least_card, most_card, least, most = SIZES[size]
    n_hidden = tree.n_nodes - n_leaves
    n_states = (
        *rng.integers(least_card, most_card + 1, size=n_leaves).tolist(),
        *rng.integers(least, most + 1, size=n_hidden).tolist(),
    )
    return tree, n_states, Population(leaf_joint(random_tables(rng, tree, n_states)))


def smallest_value(report):
    """The smallest singular value that a method divided by."""
    kept = [float(seen.values[seen.rank - 1]) for seen in report.edges.values()]
    return min(kept, default=1.0)


def good_population(fit, seed, size, n_leaves=6):
    """Populations are drawn until the method's smallest singular value is large enough."""
    for attempt in range(20):
        tree, n_states, moments = population([seed, attempt], size, n_leaves)
        fitted = fit(tree, moments, n_states)
        if smallest_value(fitted.report) > LEAST_VALUE:
            return moments.joint, fitted
    raise AssertionError("no population with large enough singular values was found")
