"""A start for EM from moments: features of every branch, three views of every hidden node, tables.

Pair counts give the features of every branch (`branches`); the second and third moments of three views give
each hidden node's shares and the views' means in each state (`views`), and from those every table follows by
a small linear system. The third moments need one pass over the rows. Nodes of equal shape are worked on
together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.factor.branches import Features, indicator_correlation
from tacit.factor.views import decompose, means_given
from tacit.params.start_plan import TablePlan, table_plan
from tacit.params.tree import Layout, layout

if TYPE_CHECKING:
    from tacit.moments.source import PairTables
    from tacit.structure.rooted import RootedTree

Array = NDArray[np.float64]

# Rows that the third moments look at, evenly spaced: more did not make the start better.
ROWS_LOOKED_AT = 100_000
# A covariance below so many standard errors is not told from none. Of 0.5 to 14, eight gave the best starts.
NOISE = 8.0
# Share of every table row that is spread over its categories, so that EM can move away from zero.
SMOOTH = 0.02


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
    noise = NOISE / np.sqrt(total * step)
    cards = small.columns[: small.tree.n_leaves]
    third = features.third_moments(plan.free, codes, looked_at, cards, marginals)
    shares, given = _states(plan, features, third / total, noise)
    tables = _tables(small, plan, features, shares, given, marginals, noise)
    return tables if small is lay else _split(small, tables, lay, rng)


def _states(
    plan: TablePlan, features: Features, third: Array, noise: float
) -> tuple[dict[int, Array], Array]:
    """Shares of every hidden node's states, and E[feature of a child | state of its parent] by row."""
    feature_sizes = plan.features.sizes
    n = len(feature_sizes) // 5
    n_inside = int(plan.features.begins[n])
    tree_states = max([2, *(rank + 1 for rank in plan.ranks)])
    widest = max(tree_states, int(feature_sizes[:n].max()) + 1)
    given = np.zeros((n_inside, widest))
    shares: dict[int, Array] = {}
    starts = dict(zip(plan.free.tolist(), _stretches(plan), strict=True))
    means: dict[int, Array] = {}
    by_rank: dict[int, Array] = {}
    for rank, group in plan.ranks.items():
        own = [plan.features.begins[2 * n + 3 * group.nodes + g] for g in range(3)]
        rows = np.concatenate([each[:, None] + np.arange(rank) for each in own], axis=1)
        covariance = features.follows[rows] @ np.swapaxes(features.weights[rows], 1, 2)
        cubes = np.stack([third[slice(*starts[int(node)])] for node in group.nodes])
        found, means[rank] = decompose(
            covariance, cubes.reshape(len(group.nodes), rank, rank, rank), noise
        )
        by_rank[rank] = found
        shares.update(zip(group.nodes.tolist(), found, strict=True))
    for (_, rank), group in plan.seen.items():
        covariance = features.follows[group.rows] @ np.swapaxes(features.weights[group.views], 1, 2)
        others = means[rank][group.places[:, None], group.others]
        others = others.reshape(len(group.nodes), 2 * rank, rank + 1)
        seen = means_given(covariance, others, by_rank[rank][group.places], noise)
        given[group.rows, : rank + 1] = seen
    return shares, given


def _stretches(plan: TablePlan) -> list[tuple[int, int]]:
    """Where each free node's third moments stand."""
    n = len(plan.features.sizes) // 5
    sizes = plan.features.sizes[2 * n + 3 * plan.free] ** 3
    return list(pairwise([0, *np.cumsum(sizes).tolist()]))


def _tables(
    lay: Layout,
    plan: TablePlan,
    features: Features,
    shares: dict[int, Array],
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
    out[lay.starts[tree.root] :] = _smoothed(shares.get(tree.root, np.ones(1))[None, None]).ravel()
    for same in plan.leaves:
        p = marginals[same.indicators][:, None, :]
        seen = np.swapaxes(given[same.rows][:, :, : same.shape[0]], 1, 2)
        out[same.entries] = _smoothed(p + np.sqrt(p) * seen).reshape(len(same.nodes), -1)
    for same in plan.inner:
        above, k = same.shape
        inner = np.stack([shares.get(node, np.ones(1)) for node in same.nodes.tolist()])[:, None, :]
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
    shares: dict[int, Array],
    given: Array,
    marginals: Array,
) -> None:
    """States of hidden nodes that repeat a leaf are its categories: nothing to find, only to look up."""
    for node in plan.copies:
        own = plan.features.rows(int(tree.copy_of[node]))
        shares[node] = marginals[own]
        scale = np.zeros(own.stop - own.start)
        np.divide(1.0, np.sqrt(shares[node]), out=scale, where=shares[node] > 0)
        for child in tree.children[node]:
            rows = plan.features.rows(child)
            given[rows, : len(scale)] = features.follows[rows, own] * scale


def _smoothed(estimate: Array) -> Array:
    """Rows of estimated probabilities: clipped, summing to one, mixed with their mean and with even ones."""
    rows = np.maximum(estimate, 0.0)
    totals = rows.sum(axis=-1, keepdims=True)
    rows = np.where(totals > 0, rows / np.where(totals > 0, totals, 1.0), 1 / rows.shape[-1])
    middle = 0.5 * rows.mean(axis=-2, keepdims=True) + 0.5 / rows.shape[-1]
    smoothed: Array = (1 - SMOOTH) * rows + SMOOTH * middle
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
