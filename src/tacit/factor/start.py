"""A start for EM from moments: features of every branch, three views of every hidden node, tables.

Pair counts give, at each edge, the directions of the leaves below that follow the leaves above most; they are
found bottom up and then top down, each from the few features next to it, so that the cost is that of a few
products of small matrices per node. Three groups of a hidden node's branches are three views of its state;
their second and third moments give the state's shares and the views' means in each state, and from those
every table follows by a small linear system. The third moments need one pass over the rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.loops.threads import one_blas_thread
from tacit.params.tree import Layout, layout

if TYPE_CHECKING:
    from tacit.moments.source import PairTables
    from tacit.structure.rooted import RootedTree

Array = NDArray[np.float64]

# Rows that the third moments look at, evenly spaced: more did not make the start better.
ROWS_LOOKED_AT = 100_000
# A covariance below so many standard errors is not told from none. Of 0.5 to 8, eight gave the best starts on
# weak trees and cost nothing on strong ones.
NOISE = 8.0
# Share of every table row that is spread over its categories, so that EM can move away from zero.
SMOOTH = 0.02


@one_blas_thread()
def moment_start(
    lay: Layout,
    pairs: PairTables,
    codes: NDArray[Any],
    weights: Array | None,
    *,
    most_states: int,
    rng: np.random.Generator,
) -> Array:
    """Flat probability tables near the best ones, from pair counts and one pass over the rows.

    Parameters
    ----------
    lay : Layout
        The tree and its numbers of states.
    pairs : PairTables
    codes : (row, leaf) array of int
    weights : (row,) array or None
    most_states : int
        Nodes with more states than this start with so many, split by small random changes.
    rng : numpy.random.Generator
        Used for splitting only.
    """
    from tacit.loops.features import branch_features, third_moments
    from tacit.loops.views import tables_from_views

    small = _with_fewer_states(lay, most_states)
    tree, cards = small.tree, small.columns[: lay.tree.n_leaves]
    children, child_starts = tree.child_table
    groups, inside, copies = _shape(tree, tuple(cards.tolist()))
    card_starts = np.array(pairs.offsets)
    joint = pairs.probabilities
    marginals = joint.diagonal().copy()
    state = branch_features(
        _correlation(joint, marginals),
        cards,
        small.columns,
        children,
        child_starts,
        groups,
        inside,
    )
    step = max(1, len(codes) // ROWS_LOOKED_AT)
    codes = codes[::step]
    looked_at = np.ones(len(codes)) if weights is None else weights[::step]
    ranks = np.where(copies >= 0, 0, small.columns - 1)
    ranks[: tree.n_leaves] = 0
    third = third_moments(codes, looked_at, cards, marginals, card_starts, ranks, state)
    total = float(looked_at.sum())
    tables = tables_from_views(
        third,
        total,
        marginals,
        card_starts,
        cards,
        small.columns,
        children,
        child_starts,
        groups,
        copies,
        small.starts,
        NOISE / np.sqrt(total * step),
        SMOOTH,
        state,
    )
    return tables if small is lay else _split(small, tables, lay, rng)


def _correlation(joint: Array, marginals: Array) -> Array:
    """Correlation of the standardised indicators of all categories; zero for those never seen."""
    scale = np.zeros(len(marginals))
    np.divide(1.0, np.sqrt(marginals), out=scale, where=marginals > 0)
    correlation = joint * scale
    correlation *= scale[:, None]
    root = np.sqrt(marginals)
    correlation -= np.outer(root, root)
    return correlation


@lru_cache(maxsize=64)
def _shape(
    tree: RootedTree, cards: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """What the compiled loops ask of a tree.

    To which of its parent's three views each node belongs (what is above the parent is view 2), whether each
    indicator's leaf is below each node, and which leaf each node repeats.
    """
    groups = np.zeros(tree.n_nodes, dtype=np.int64)
    below = np.zeros((tree.n_nodes, tree.n_leaves), dtype=np.bool_)
    below[np.arange(tree.n_leaves), np.arange(tree.n_leaves)] = True
    for node in tree.hidden:
        n_views = 3 if node == tree.root else 2
        for place, child in enumerate(tree.children[node]):
            groups[child] = place % n_views
            below[node] |= below[child]
    return groups, np.repeat(below, cards, axis=1), tree.copy_of.astype(np.int64)


def _with_fewer_states(lay: Layout, most_states: int) -> Layout:
    """The layout with the states of hidden nodes bounded; copies keep theirs."""
    tree = lay.tree
    bounded = tuple(
        k if node < tree.n_leaves or tree.copy_of[node] >= 0 else min(k, most_states)
        for node, k in enumerate(lay.n_states)
    )
    return lay if bounded == lay.n_states else layout(tree, bounded)


def _split(small: Layout, tables: Array, lay: Layout, rng: np.random.Generator) -> Array:
    """Tables with more states: each is a state of the small tables, changed a little."""
    out = np.empty(lay.size)
    tree = lay.tree
    for node, (rows, columns) in enumerate(lay.shapes):
        table = tables[small.starts[node] : small.starts[node + 1]].reshape(small.shapes[node])
        few_rows, few_columns = table.shape
        grown = table[np.arange(rows) % few_rows][:, np.arange(columns) % few_columns]
        fixed = node < tree.n_leaves and node in tree.copy_of
        if not fixed and (rows, columns) != (few_rows, few_columns):
            grown = grown * rng.uniform(0.7, 1.3, grown.shape)
        grown = grown / grown.sum(axis=1, keepdims=True)
        out[lay.starts[node] : lay.starts[node + 1]] = grown.ravel()
    return out
