"""How strongly the two ends of each edge of a model depend on each other."""

from __future__ import annotations

import numpy as np

from tacit.core.arguments import check_kind
from tacit.messages.network import Tables


def edge_correlations(tables: Tables) -> dict[frozenset[str], float]:
    """The largest correlation that functions of the two ends of each edge can have.

    It is the second singular value of P(one, other) / sqrt(P(one) P(other)): 0 where the ends are
    independent, 1 where one is a function of the other. The names of hidden states have no influence.

    Parameters
    ----------
    tables : Tables

    Returns
    -------
    dict
        By the names of the two ends; a hidden copy of an observed variable goes by the variable's name.

    Examples
    --------
    >>> from tacit.trees.structure.topology import Topology
    >>> tree = Topology.star("ab").rooted("ab")
    >>> tables = Tables.of(
    ...     tree, [np.eye(2), np.array([[0.9, 0.1], [0.1, 0.9]]), np.full((1, 2), 0.5)]
    ... )
    >>> edge_correlations(tables)[frozenset("ab")]
    0.8
    """
    check_kind("tables", tables, Tables, "tables of a tree, such as those of tacit.toy models")
    tree = tables.tree
    copies = tree.copy_of.tolist()
    correlations: dict[frozenset[str], float] = {}
    marginals = {tree.root: tables.table(tree.root)[0]}
    for node in reversed(range(tree.root)):
        above, table = int(tree.parent[node]), tables.table(node)
        marginals[node] = marginals[above] @ table
        if copies[above] == node:
            continue  # a variable under its own copy: no edge of the tree
        ends = (
            node if copies[node] < 0 else copies[node],
            above if copies[above] < 0 else copies[above],
        )
        correlations[frozenset(tree.names[end] for end in ends)] = _correlation(
            marginals[above][:, None] * table
        )
    return correlations


def _correlation(joint: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    if min(joint.shape) < 2:
        return 0.0
    scale = np.sqrt(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    ratio = np.divide(joint, scale, out=np.zeros_like(joint), where=scale > 0)
    return float(min(np.linalg.svd(ratio, compute_uv=False)[1], 1.0))
