"""Answers by going through every state of every node: slow, and too simple to be wrong."""

import itertools

import numpy as np


def enumerated_joint(tables):
    """The joint table of all leaves, by summing products of table entries over all states."""
    tree, n_states = tables.tree, tables.layout.n_states
    joint = np.zeros(n_states[: tree.n_leaves])
    for states in itertools.product(*map(range, n_states)):
        value = 1.0
        for node, above in enumerate(tree.parent.tolist()):
            value *= tables.table(node)[0 if above < 0 else states[above], states[node]]
        joint[states[: tree.n_leaves]] += value
    return joint


def summed_to(joint, leaves):
    """The marginal of some axes of a joint table, in the order asked."""
    rest = tuple(axis for axis in range(joint.ndim) if axis not in leaves)
    kept = [axis for axis in range(joint.ndim) if axis in leaves]
    return joint.sum(axis=rest).transpose([kept.index(axis) for axis in leaves])
