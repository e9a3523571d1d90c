"""Log-likelihood and expected counts of a tree's tables, by going through every state of every node."""

import numpy as np

from oracles.networks import full_joint, weighed
from tacit.messages.evidence import Evidence


def enumerated_counts(tables, codes, weights=None):
    """The log-likelihood of coded rows, and the expected count of every entry, flat like the tables.

    A leaf's missing cell counts for nothing in the leaf's own table.
    """
    tree, layout = tables.tree, tables.layout
    joint = full_joint(tables)
    evidence = Evidence(np.asarray(codes))
    counts = np.zeros(layout.size)
    log_likelihood = 0.0
    for row, weight in enumerate(np.ones(len(codes)) if weights is None else weights):
        table = weighed(joint, evidence, row)
        value = table.sum()
        log_likelihood += weight * np.log(value)
        for node, above in enumerate(tree.parent.tolist()):
            if node < tree.n_leaves and codes[row][node] < 0:
                continue
            kept = (node,) if above < 0 else (node, above)
            rest = tuple(axis for axis in range(tree.n_nodes) if axis not in kept)
            pair = table.sum(axis=rest)  # (node, parent): parents have higher numbers
            stretch = slice(layout.starts[node], layout.starts[node + 1])
            counts[stretch] += weight / value * pair.T.ravel()
    return log_likelihood, counts
