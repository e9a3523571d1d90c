"""Small random mixtures of trees, and the full joint tables of what they say."""

import numpy as np

from oracles.networks import full_joint, leaf_joint, random_tables, random_tree, weighed
from tacit.messages.mixture import Mixture


def random_mixture(rng, n_components=3, n_leaves=5, most_states=3):
    """Trees of different shapes with different numbers of states, over the same leaves."""
    cards = rng.integers(2, most_states + 1, size=n_leaves)
    parts = []
    for _ in range(n_components):
        tree = random_tree(rng, n_leaves, int(rng.integers(2, 5)))
        states = rng.integers(1, most_states + 1, size=len(tree.hidden))
        parts.append(random_tables(rng, tree, (*cards.tolist(), *states.tolist())))
    return Mixture(rng.dirichlet(np.ones(n_components)), tuple(parts))


def cards_of(mixture):
    return mixture.parts[0].layout.n_states[: mixture.parts[0].tree.n_leaves]


def mixed_joint(mixture):
    """P(leaves): one axis per leaf."""
    pairs = zip(mixture.weights, mixture.parts, strict=True)
    return sum(weight * leaf_joint(part) for weight, part in pairs)


def weighed_parts(mixture, evidence, row):
    """For one row P(leaves, hidden nodes, component and evidence): one table per component."""
    pairs = zip(mixture.weights, mixture.parts, strict=True)
    return [weight * weighed(full_joint(part), evidence, row) for weight, part in pairs]
