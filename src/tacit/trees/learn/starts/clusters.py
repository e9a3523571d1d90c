"""A start for EM with many states: rows are clustered at every hidden node, and tables counted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.linalg.kmeans import kmeans
from tacit.core.threads import one_blas_thread
from tacit.trees.learn.spectral.canonical import Contrasts, NodeFeatures, edge_sides, node_features
from tacit.trees.moments.source import indicator_correlation

if TYPE_CHECKING:
    from tacit.messages.network import Layout
    from tacit.trees.moments.source import PairTables

Array = NDArray[np.float64]
States = NDArray[np.int32]

ROWS_LOOKED_AT = 30_000  # evenly spaced
ROWS_FOR_CENTRES = 4_000  # that the first centres are chosen from
SWEEPS = 8
# Pseudo-counts of a table row, in proportion to the states or categories of all rows, and a uniform part.
SMOOTH, EVEN = 1.0, 0.01


@one_blas_thread()
def clustered_start(
    lay: Layout,
    pairs: PairTables,
    codes: NDArray[Any],
    weights: Array | None,
    *,
    seed: int,
    n_jobs: int = 1,
) -> Array:
    """Flat probability tables, from pair counts and one pass over the rows.

    At every hidden node the rows are clustered by features of the leaves around it (`canonical`); the tables
    are counts of the clusters of neighbouring nodes. There may be any number of states.

    Parameters
    ----------
    lay : Layout
        The tree and its numbers of states.
    pairs : PairTables
    codes : (row, leaf) array of int
    weights : (row,) array or None
    seed : int
        Of the first centres.
    n_jobs : int
        Threads; the answer does not depend on them.
    """
    tree = lay.tree
    step = max(-(-len(codes) // ROWS_LOOKED_AT), 1)
    codes = codes[::step]
    looked_at = np.ones(len(codes)) if weights is None else weights[::step].astype(np.float64)
    joint = pairs.probabilities
    marginals = joint.diagonal().copy()
    cards = lay.n_states[: tree.n_leaves]
    contrasts = Contrasts.of(indicator_correlation(joint, marginals), marginals, cards)
    sides = edge_sides(tree, contrasts)
    states = np.empty((tree.n_nodes, len(codes)), dtype=np.int32)
    states[: tree.n_leaves] = codes.T
    seeds = np.random.SeedSequence(seed).spawn(tree.n_nodes)

    def find(node: int) -> None:
        if tree.copy_of[node] >= 0:
            states[node] = states[tree.copy_of[node]]
            return
        features = node_features(tree, node, contrasts, sides, cards)
        rng = np.random.default_rng(seeds[node])
        states[node] = _clusters(codes, features, looked_at, lay.n_states[node], rng)

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(find, tree.hidden))
    return counted_tables(lay, states, looked_at)


def _clusters(
    codes: NDArray[Any],
    features: NodeFeatures,
    weights: Array,
    n_states: int,
    rng: np.random.Generator,
) -> States:
    """The cluster of each row, by k-means."""
    from tacit.core.loops.kmeans import project

    rows = np.empty((len(codes), features.values.shape[1]), dtype=np.float32)
    project(codes, features.leaves, features.starts, features.values, rows)
    return kmeans(
        rows, n_states, rng, max_iter=SWEEPS, weights=weights, n_candidates=ROWS_FOR_CENTRES
    ).labels


def counted_tables(lay: Layout, states: States, weights: Array) -> Array:
    """Flat tables of the relative counts of states given those of the parent, smoothed.

    Parameters
    ----------
    lay : Layout
    states : (node, row) array of int
        Category or state of every node in every row; -1 where missing, not counted.
    weights : (row,) array
    """
    from tacit.core.loops.kmeans import count_pairs

    tree = lay.tree
    out = np.empty(lay.size)
    everywhere = np.zeros(states.shape[1], dtype=np.int32)
    for node, shape in enumerate(lay.shapes):
        table = np.zeros(shape)
        above = int(tree.parent[node])
        count_pairs(everywhere if above < 0 else states[above], states[node], weights, table)
        total = table.sum()
        table += SMOOTH * (table.sum(axis=0) + EVEN) / (total + EVEN * shape[1])
        table /= table.sum(axis=1, keepdims=True)
        out[lay.starts[node] : lay.starts[node + 1]] = table.ravel()
    out[lay.copy_entries] = 0.0
    out[lay.copy_diagonal] = 1.0
    return out
