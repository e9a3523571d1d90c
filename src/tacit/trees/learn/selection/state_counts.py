"""How many hidden states the pair counts can tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.trees.learn.spectral.branches import indicator_correlation

if TYPE_CHECKING:
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.moments.source import PairTables

# Indicators on one side of an edge that are looked at: larger matrices take long and say no more.
MOST_INDICATORS = 400


@dataclass(frozen=True, eq=False)
class EdgeSpectra:
    """Singular values at the edges of a tree, and what they support."""

    rank: int  # the largest number of states that some edge supports
    edges: dict[str, dict[str, Any]]  # by the name of the node below: kept, cut, threshold


def largest_useful_rank(tree: RootedTree, pairs: PairTables, n_rows: float) -> EdgeSpectra:
    """The largest number of states that the singular values of some inner edge stand up for.

    The standardised indicators below an edge against those above it: of pure noise, the singular values stay
    below ``(sqrt(a) + sqrt(b)) / sqrt(n_rows)`` for a and b indicators. Those above it count, and one for the
    constant.
    """
    joint = pairs.probabilities
    correlation = indicator_correlation(joint, joint.diagonal())
    columns = [np.arange(pairs.offsets[i], pairs.offsets[i + 1]) for i in range(len(pairs.cards))]
    edges: dict[str, dict[str, Any]] = {}
    most = 1
    for node in tree.hidden:
        nodes = [node] if node != tree.root else []
        nodes += [child for child in tree.children[node] if child < tree.n_leaves]
        for lower in nodes:
            if not tree.outside[lower]:
                continue
            below = np.concatenate([columns[leaf] for leaf in tree.below[lower]])[:MOST_INDICATORS]
            above = np.concatenate([columns[leaf] for leaf in tree.outside[lower]])
            above = above[:MOST_INDICATORS]
            values = np.linalg.svd(correlation[np.ix_(below, above)], compute_uv=False)
            free = len(below) - len(tree.below[lower]), len(above) - len(tree.outside[lower])
            threshold = float(sum(np.sqrt(max(n, 0)) for n in free) / np.sqrt(n_rows))
            kept = values[values > max(threshold, 1e-12)]
            edges[tree.names[lower]] = {
                "kept": [1.0, *kept.tolist()],
                "cut": values[len(kept) :][:12].tolist(),
                "threshold": threshold,
            }
            most = max(most, 1 + len(kept))
    return EdgeSpectra(most, edges)
