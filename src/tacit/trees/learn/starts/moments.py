"""A start for EM from moments: features of every branch, three views of every hidden node, tables.

Pair counts give the features of every branch (`branches`); the second and third moments of three views give
the weights of each hidden node's states and the views' means in each of them (`views`), and from those every
table follows by a small linear system. The third moments need one pass over the rows. Nodes of equal shape
are processed together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.messages.network import Layout, layout
from tacit.trees.learn.starts.branches import Features
from tacit.trees.learn.starts.plan import TablePlan, table_plan
from tacit.trees.learn.starts.views import noise_level, states_from_views
from tacit.trees.moments.source import indicator_correlation

if TYPE_CHECKING:
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.moments.source import PairTables

Array = NDArray[np.float64]

# Rows that the third moments use, evenly spaced: more did not make the start better.
ROWS_LOOKED_AT = 100_000
# Fraction of every table row that is spread over its categories, so that EM can leave zero.
SMOOTH = 0.02
TINY = 1e-12  # replaces estimates at or below zero


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
    small = _with_fewer_states(lay, most_states)
    plan = table_plan(small.tree, small.n_states)
    if weights is not None and not weights.all():
        counted = np.flatnonzero(weights)
        codes, weights = codes[counted], weights[counted]
    step = max(1, len(codes) // ROWS_LOOKED_AT)
    codes = codes[::step]
    looked_at = np.ones(len(codes)) if weights is None else weights[::step]
    total = float(looked_at.sum())
    noise = noise_level(total * step)
    joint = pairs.probabilities
    marginals = joint.diagonal().copy()
    features = Features.of(plan.features, indicator_correlation(joint, marginals))
    cards = small.columns[: small.tree.n_leaves]
    third = features.third_moments(plan.free, codes, looked_at, cards, marginals)
    state_weights, child_means = states_from_views(plan, features, third / total, noise)
    tables = _tables(small, plan, features, state_weights, child_means, marginals, noise)
    return tables if small is lay else _split(small, tables, lay, rng)


def _tables(
    lay: Layout,
    plan: TablePlan,
    features: Features,
    weights: Array,
    means: Array,
    marginals: Array,
    noise: float,
) -> Array:
    """Flat tables from the means of the features in each state."""
    tree = lay.tree
    _fill_copies(tree, plan, features, weights, means, marginals)
    inside_means = np.zeros_like(means)  # E[inside feature | state of the node]
    for turned in plan.turned:
        below = means[turned.sources][:, :, : turned.n_states]
        inside_means[turned.rows, : turned.n_states] = features.turns[turned.turns] @ below
    out = np.empty(lay.size)
    out[lay.copy_entries] = 0.0
    out[lay.copy_diagonal] = 1.0
    of_root = weights[tree.root, : lay.n_states[tree.root]]
    out[lay.starts[tree.root] :] = _smoothed(of_root[None]).ravel()
    for same in plan.leaves:
        p = marginals[same.indicators][:, None, :]
        child_means = np.swapaxes(means[same.rows][:, :, : same.shape[0]], 1, 2)
        out[same.entries] = _smoothed(p + np.sqrt(p) * child_means).reshape(len(same.nodes), -1)
    for same in plan.inner:
        above, k = same.shape
        inner = weights[same.nodes, None, :k]
        state_means, child_means = inside_means[same.rows][:, :, :k], means[same.rows][:, :, :above]
        weighted = state_means * inner
        gram = weighted @ np.swapaxes(state_means, 1, 2) + noise**2 * np.eye(state_means.shape[1])
        rows = inner + np.swapaxes(np.linalg.solve(gram, child_means), 1, 2) @ weighted
        out[same.entries] = _smoothed(rows).reshape(len(same.nodes), -1)
    return out


def _fill_copies(
    tree: RootedTree,
    plan: TablePlan,
    features: Features,
    weights: Array,
    means: Array,
    marginals: Array,
) -> None:
    """Fill in hidden nodes that repeat a leaf: their states are its categories."""
    for node in plan.copies:
        indicators = plan.features.rows(int(tree.copy_of[node]))
        size = indicators.stop - indicators.start
        weights[node, :size] = marginals[indicators]
        scale = np.zeros(size)
        np.divide(1.0, np.sqrt(marginals[indicators]), out=scale, where=marginals[indicators] > 0)
        for child in tree.children[node]:
            rows = plan.features.rows(child)
            means[rows, : len(scale)] = features.follows[rows, indicators] * scale


def _smoothed(estimate: Array) -> Array:
    """Rows of estimated probabilities: clipped, normalised, mixed with their mean and the uniform."""
    rows = np.maximum(estimate, TINY)
    rows /= rows.sum(axis=-1, keepdims=True)
    middle = (0.5 * SMOOTH) * (rows.mean(axis=-2, keepdims=True) + 1 / rows.shape[-1])
    smoothed: Array = (1 - SMOOTH) * rows + middle
    return smoothed


def _with_fewer_states(lay: Layout, most_states: int) -> Layout:
    """The layout with the states of hidden nodes bounded; copies keep theirs."""
    tree = lay.tree
    if max(lay.n_states[tree.n_leaves :]) <= most_states:
        return lay
    bounded = tuple(
        k if node < tree.n_leaves or tree.copy_of[node] >= 0 else min(k, most_states)
        for node, k in enumerate(lay.n_states)
    )
    return lay if bounded == lay.n_states else layout(tree, bounded)


def _split(small: Layout, tables: Array, lay: Layout, rng: np.random.Generator) -> Array:
    """Tables with more states: each is a state of the small tables, perturbed a little."""
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
