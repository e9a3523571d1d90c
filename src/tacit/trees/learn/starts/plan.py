"""Groups of nodes of equal shape, which the moment start works on together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.messages.network import Layout, layout
from tacit.trees.learn.starts.branches import FeaturePlan, feature_plan

if TYPE_CHECKING:
    from tacit.messages.rooted_tree import RootedTree

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeGroup:
    """Hidden nodes with equally many states to find."""

    nodes: Integers  # (item,)
    rows: Integers  # (item, row)  rows of the three views, side by side
    cells: Integers  # (item, cell)  positions among the third moments of all


@dataclass(frozen=True, eq=False)
class ChildGroup:
    """Children of such nodes, with features of equally many dimensions."""

    places: Integers  # (item,)  position of the parent among the nodes of its rank
    rows: Integers  # (item, row)  rows of the children's features
    views: Integers  # (item, row)  rows of the parent's views that they are not part of
    others: Integers  # (item, 2)  the numbers of these views


@dataclass(frozen=True, eq=False)
class TurnGroup:
    """Hidden nodes whose inside features are turns of equal shape."""

    n_states: int
    turns: Integers  # (item, dimension, source row)  places in the flat turns
    sources: Integers  # (item, source row)
    rows: Integers  # (item, dimension)


@dataclass(frozen=True, eq=False)
class TableGroup:
    """Nodes whose tables have equal shapes."""

    nodes: Integers  # (item,)
    shape: tuple[int, int]
    rows: Integers  # (item, row)  rows of the nodes' inside features
    entries: Integers  # (item, entry)  positions in the flat tables
    indicators: Integers  # (item, category)  of leaves: places among the categories of all


@dataclass(frozen=True, eq=False)
class TablePlan:
    """Groups of nodes; see `table_plan`."""

    features: FeaturePlan
    free: Integers  # hidden nodes with states to find
    views: dict[int, NodeGroup]  # free nodes, by rank
    children: dict[
        tuple[int, int], ChildGroup
    ]  # of free nodes, by dimensions and the parent's rank
    widest: int  # the most states or categories of a node
    copies: tuple[int, ...]  # hidden nodes that repeat a leaf
    turned: tuple[TurnGroup, ...]  # hidden nodes but the root, by shape
    leaves: tuple[TableGroup, ...]  # leaves, by shape of table
    inner: tuple[TableGroup, ...]  # hidden nodes but the root, by shape of table


@lru_cache(maxsize=64)
def table_plan(tree: RootedTree, n_states: tuple[int, ...]) -> TablePlan:
    """The plan of a tree with these numbers of states; cached."""
    features = feature_plan(tree, n_states)
    n = tree.n_nodes
    free = [node for node in tree.hidden if tree.copy_of[node] < 0 and n_states[node] > 1]
    by_rank: dict[int, list[int]] = defaultdict(list)
    by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
    at: dict[int, int] = {}
    for node in free:
        rank = n_states[node] - 1
        at[node] = len(by_rank[rank])
        by_rank[rank].append(node)
        for child in tree.children[node]:
            if features.sizes[child]:
                by_shape[int(features.sizes[child]), rank].append(child)

    ends = np.cumsum([(n_states[node] - 1) ** 3 for node in free])
    return TablePlan(
        features=features,
        free=np.array(free, dtype=np.int64),
        views={
            rank: _node_group(features, n, nodes, rank, ends[[free.index(node) for node in nodes]])
            for rank, nodes in by_rank.items()
        },
        children={
            (size, rank): _child_group(tree, features, children, size, rank, at)
            for (size, rank), children in by_shape.items()
        },
        widest=max(n_states),
        copies=tuple(node for node in tree.hidden if tree.copy_of[node] >= 0),
        turned=_turn_groups(tree, n_states, features),
        leaves=_table_groups(layout(tree, n_states), features, range(tree.n_leaves)),
        inner=_table_groups(layout(tree, n_states), features, tree.hidden[:-1]),
    )


def _node_group(
    features: FeaturePlan, n: int, nodes: Sequence[int], rank: int, ends: Integers
) -> NodeGroup:
    first = 2 * n + 3 * np.array(nodes)
    begins = np.stack([features.begins[first + g] for g in range(3)], axis=1)
    return NodeGroup(
        nodes=np.array(nodes),
        rows=(begins[:, :, None] + np.arange(rank)).reshape(len(nodes), 3 * rank),
        cells=ends[:, None] - rank**3 + np.arange(rank**3),
    )


def _child_group(
    tree: RootedTree,
    features: FeaturePlan,
    children: Sequence[int],
    size: int,
    rank: int,
    at: dict[int, int],
) -> ChildGroup:
    parents = tree.parent[np.array(children)].astype(np.int64)
    others = np.array([[g for g in range(3) if g != features.groups[c]] for c in children])
    begins = features.begins[2 * tree.n_nodes + 3 * parents[:, None] + others]
    return ChildGroup(
        places=np.array([at[parent] for parent in parents.tolist()]),
        rows=features.begins[np.array(children)][:, None] + np.arange(size),
        views=(begins[:, :, None] + np.arange(rank)).reshape(len(children), 2 * rank),
        others=others,
    )


def _turn_groups(
    tree: RootedTree, n_states: tuple[int, ...], features: FeaturePlan
) -> tuple[TurnGroup, ...]:
    by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, node in enumerate(features.order[: len(tree.hidden) - 1]):
        span = int(features.as_source[list(features.sources[place])].sum())
        if features.sizes[node]:
            by_shape[n_states[node], span].append(place)
    groups = []
    for (k, span), places in by_shape.items():
        starts = features.turn_starts[places][:, None, None]
        sources = [
            np.concatenate(
                [features.begins[c] + np.arange(features.as_source[c]) for c in features.sources[p]]
            )
            for p in places
        ]
        nodes = np.array(features.order)[places]
        groups.append(
            TurnGroup(
                n_states=k,
                turns=starts + np.arange((k - 1) * span).reshape(1, k - 1, span),
                sources=np.array(sources),
                rows=features.begins[nodes][:, None] + np.arange(k - 1),
            )
        )
    return tuple(groups)


def _table_groups(
    lay: Layout, features: FeaturePlan, nodes: Sequence[int]
) -> tuple[TableGroup, ...]:
    by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
    for node in nodes:
        if lay.tree.copy_of[lay.tree.parent[node]] != node:
            by_shape[lay.shapes[node]].append(node)
    return tuple(
        TableGroup(
            nodes=np.array(same),
            shape=shape,
            rows=features.begins[same][:, None] + np.arange(features.sizes[same[0]]),
            entries=lay.starts[same][:, None] + np.arange(shape[0] * shape[1]),
            indicators=features.begins[same][:, None] + np.arange(shape[1]),
        )
        for shape, same in by_shape.items()
    )
