"""A start for EM of grammars: nodes are clustered label by label, and tables counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.kmeans import kmeans

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees
    from tacit.parsing.learn.spectral_grammar import NodeVectors
    from tacit.parsing.model.grammar import Lexicon
    from tacit.parsing.structure.rules import Rules

Array = NDArray[Any]

SWEEPS = 8


def clustered_states(
    vectors: NodeVectors, trees: CodedTrees, n_states: int, *, seed: int = 0
) -> NDArray[np.int32]:
    """(node,) the cluster of each node among those of its label, by what is below and around it.

    Outside vectors, which were divided by the singular values, are multiplied again: directions weigh by how
    much they say on both sides.
    """
    rng = np.random.default_rng(seed)
    states = np.zeros(len(trees.label), dtype=np.int32)
    order = np.argsort(trees.label, kind="stable")
    first = np.searchsorted(trees.label[order], np.arange(len(vectors.values) + 1))
    for label, values in enumerate(vectors.values):
        nodes = order[first[label] : first[label + 1]]
        k = min(n_states, len(nodes))
        if k < 2:
            continue
        m = len(values)
        rows = np.hstack([vectors.inside[nodes, :m], vectors.outside[nodes, :m] * values])
        weights = trees.node_weight[nodes]
        states[nodes] = kmeans(
            rows.astype(np.float32), k, rng, max_iter=SWEEPS, weights=weights
        ).labels
    return states


def state_counts(
    states: NDArray[np.int32], trees: CodedTrees, rules: Rules, lexicon: Lexicon, n_states: int
) -> tuple[Array, Array, Array, Array, Array]:
    """Counts of a treebank whose states are known, as EM expects them.

    Returns
    -------
    starts, rules, left child states, right child states, words : arrays
        (label, m), (rule, m), (rule, m, m), (rule, m, m) and (pair, m).
    """
    m = n_states
    inner, leaves, weight = trees.inner, trees.leaves, trees.node_weight
    rule = rules.rule_of(trees)[inner].astype(np.int64)
    pair = lexicon.pair_of(trees.label[leaves], trees.word[leaves]).astype(np.int64)
    above = rule * m + states[inner]

    def counted(codes: Array, amounts: Array, shape: tuple[int, ...]) -> Array:
        return np.bincount(codes, amounts, int(np.prod(shape))).reshape(shape)

    n_rules = len(rules)
    return (
        counted(
            trees.label[trees.roots].astype(np.int64) * m + states[trees.roots],
            trees.weight,
            (rules.n_labels, m),
        ),
        counted(above, weight[inner], (n_rules, m)),
        counted(above * m + states[trees.left[inner]], weight[inner], (n_rules, m, m)),
        counted(above * m + states[trees.right[inner]], weight[inner], (n_rules, m, m)),
        counted(pair * m + states[leaves], weight[leaves], (len(lexicon.pair_label), m)),
    )
