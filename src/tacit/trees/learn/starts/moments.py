"""A start for EM from moments: features of every branch, three views of every hidden node, tables.

Pair counts give the features of every branch (`branches`); the second and third moments of three views give
each hidden node's shares and the views' means in each state (`views`), and from those every table follows by
a small linear system. The third moments need one pass over the rows. Nodes of equal shape are worked on
together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.messages.network import Layout, layout
from tacit.trees.learn.spectral.branches import Features
from tacit.trees.learn.spectral.views import decompose, means_given
from tacit.trees.learn.starts.plan import TablePlan, table_plan
from tacit.trees.moments.source import indicator_correlation

if TYPE_CHECKING:
    from tacit.messages.rooted_tree import RootedTree
    from tacit.trees.moments.source import PairTables

Array = NDArray[np.float64]

# Rows that the third moments look at, evenly spaced: more did not make the start better.
ROWS_LOOKED_AT = 100_000
# A covariance below so many standard errors cannot be distinguished from zero; of 0.5 to 14, eight was best.
NOISE = 8.0
MOST_NOISE = 0.8  # as for a hundred rows; fewer must be believed, or nothing would be found
# Share of every table row that is spread over its categories, so that EM can move away from zero.
SMOOTH = 0.02
TINY = 1e-12  # what an estimate at or below zero counts as


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
    joint = pairs.probabilities
    marginals = joint.diagonal().copy()
    features = Features.of(plan.features, indicator_correlation(joint, marginals))
    if weights is not None and not weights.all():
        counted = np.flatnonzero(weights)
        codes, weights = codes[counted], weights[counted]
    step = max(1, len(codes) // ROWS_LOOKED_AT)
    codes = codes[::step]
    looked_at = np.ones(len(codes)) if weights is None else weights[::step]
    total = float(looked_at.sum())
    noise = min(NOISE / np.sqrt(total * step), MOST_NOISE)
    cards = small.columns[: small.tree.n_leaves]
    third = features.third_moments(plan.free, codes, looked_at, cards, marginals)
    shares, given = _states(plan, features, third / total, noise)
    tables = _tables(small, plan, features, shares, given, marginals, noise)
    return tables if small is lay else _split(small, tables, lay, rng)


def _states(plan: TablePlan, features: Features, third: Array, noise: float) -> tuple[Array, Array]:
    """Shares (node, state) of the states, and E[feature of a child | state of its parent] by row."""
    n = len(plan.features.sizes) // 5
    given = np.zeros((int(plan.features.begins[n]), plan.widest))
    shares = np.zeros((n, plan.widest))
    shares[:, 0] = 1.0
    means: dict[int, Array] = {}
    for rank, group in plan.viewed.items():
        covariance = features.follows[group.rows] @ np.swapaxes(features.weights[group.rows], 1, 2)
        cubes = third[group.cells].reshape(-1, rank, rank, rank)
        shares[group.nodes, : rank + 1], means[rank] = decompose(covariance, cubes, noise)
    for (_, rank), seen in plan.seen.items():
        covariance = features.follows[seen.rows] @ np.swapaxes(features.weights[seen.views], 1, 2)
        others = means[rank][seen.places[:, None], seen.others]
        others = others.reshape(len(others), 2 * rank, rank + 1)
        parents = plan.viewed[rank].nodes[seen.places]
        given[seen.rows, : rank + 1] = means_given(
            covariance, others, shares[parents, : rank + 1], noise
        )
    return shares, given


def _tables(
    lay: Layout,
    plan: TablePlan,
    features: Features,
    shares: Array,
    given: Array,
    marginals: Array,
    noise: float,
) -> Array:
    """Flat tables from what the features look like in each state."""
    tree = lay.tree
    _see_copies(tree, plan, features, shares, given, marginals)
    own = np.zeros_like(given)  # E[inside feature | own state]
    for turned in plan.turned:
        below = given[turned.sources][:, :, : turned.n_states]
        own[turned.rows, : turned.n_states] = features.turns[turned.turns] @ below
    out = np.empty(lay.size)
    out[lay.copy_entries] = 0.0
    out[lay.copy_diagonal] = 1.0
    of_root = shares[tree.root, : lay.n_states[tree.root]]
    out[lay.starts[tree.root] :] = _smoothed(of_root[None]).ravel()
    for same in plan.leaves:
        p = marginals[same.indicators][:, None, :]
        seen = np.swapaxes(given[same.rows][:, :, : same.shape[0]], 1, 2)
        out[same.entries] = _smoothed(p + np.sqrt(p) * seen).reshape(len(same.nodes), -1)
    for same in plan.inner:
        above, k = same.shape
        inner = shares[same.nodes, None, :k]
        mine, seen = own[same.rows][:, :, :k], given[same.rows][:, :, :above]
        weighted = mine * inner
        gram = weighted @ np.swapaxes(mine, 1, 2) + noise**2 * np.eye(mine.shape[1])
        rows = inner + np.swapaxes(np.linalg.solve(gram, seen), 1, 2) @ weighted
        out[same.entries] = _smoothed(rows).reshape(len(same.nodes), -1)
    return out


def _see_copies(
    tree: RootedTree,
    plan: TablePlan,
    features: Features,
    shares: Array,
    given: Array,
    marginals: Array,
) -> None:
    """States of hidden nodes that repeat a leaf are its categories: nothing to find, only to look up."""
    for node in plan.copies:
        own = plan.features.rows(int(tree.copy_of[node]))
        size = own.stop - own.start
        shares[node, :size] = marginals[own]
        scale = np.zeros(size)
        np.divide(1.0, np.sqrt(marginals[own]), out=scale, where=marginals[own] > 0)
        for child in tree.children[node]:
            rows = plan.features.rows(child)
            given[rows, : len(scale)] = features.follows[rows, own] * scale


def _smoothed(estimate: Array) -> Array:
    """Rows of estimated probabilities: clipped, summing to one, mixed with their mean and with even ones."""
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
