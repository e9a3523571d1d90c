"""Which nodes of a tree the moment start works on together: those of equal shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.factor.branches import FeaturePlan, feature_plan
from tacit.params.tree import Layout, layout

if TYPE_CHECKING:
    from tacit.structure.rooted import RootedTree

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Group:
    """Nodes, or children with their parents, of equal shape."""

    nodes: Integers  # (item,)
    parents: Integers  # (item,)  of children; the nodes themselves otherwise
    places: Integers  # (item,)  where the node or parent stands among the free nodes of its rank
    rows: Integers  # (item, row)  rows of the children's features
    views: Integers  # (item, row)  rows of the views that are looked through
    others: Integers  # (item, 2)  which of the parent's three views these are


@dataclass(frozen=True, eq=False)
class Turned:
    """Hidden nodes whose inside features are turns of equal shape."""

    n_states: int
    turns: Integers  # (item, dimension, source row)  places in the flat turns
    sources: Integers  # (item, source row)
    rows: Integers  # (item, dimension)


@dataclass(frozen=True, eq=False)
class Written:
    """Nodes whose tables have equal shapes."""

    nodes: Integers  # (item,)
    shape: tuple[int, int]
    rows: Integers  # (item, row)  rows of the nodes' inside features
    entries: Integers  # (item, entry)  places in the flat tables
    indicators: Integers  # (item, category)  of leaves: places among the categories of all


@dataclass(frozen=True, eq=False)
class TablePlan:
    """Which nodes are worked on together; see `table_plan`."""

    features: FeaturePlan
    free: Integers  # hidden nodes with states to find
    ranks: dict[int, Group]  # free nodes, by rank
    seen: dict[
        tuple[int, int], Group
    ]  # children of free nodes, by dimensions and the parent's rank
    copies: tuple[int, ...]  # hidden nodes that repeat a leaf
    turned: tuple[Turned, ...]  # hidden nodes but the root, by shape
    leaves: tuple[Written, ...]  # leaves, by shape of table
    inner: tuple[Written, ...]  # hidden nodes but the root, by shape of table


@lru_cache(maxsize=64)
def table_plan(tree: RootedTree, n_states: tuple[int, ...]) -> TablePlan:
    """The plan of a tree with these numbers of states; remembered."""
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

    def group(nodes: Sequence[int], parents: Sequence[int], rank: int, size: int) -> Group:
        others = [[g for g in range(3) if g != features.groups[node]] for node in nodes]
        views = [
            np.concatenate([features.begins[2 * n + 3 * up + g] + np.arange(rank) for g in each])
            for up, each in zip(parents, others, strict=True)
        ]
        return Group(
            nodes=np.array(nodes),
            parents=np.array(parents),
            places=np.array([at[up] for up in parents]),
            rows=features.begins[np.array(nodes)][:, None] + np.arange(size),
            views=np.array(views),
            others=np.array(others),
        )

    return TablePlan(
        features=features,
        free=np.array(free, dtype=np.int64),
        ranks={rank: group(nodes, nodes, rank, 0) for rank, nodes in by_rank.items()},
        seen={
            (size, rank): group(nodes, [int(tree.parent[c]) for c in nodes], rank, size)
            for (size, rank), nodes in by_shape.items()
        },
        copies=tuple(node for node in tree.hidden if tree.copy_of[node] >= 0),
        turned=_turned_groups(tree, n_states, features),
        leaves=_written_groups(layout(tree, n_states), features, range(tree.n_leaves)),
        inner=_written_groups(layout(tree, n_states), features, tree.hidden[:-1]),
    )


def _turned_groups(
    tree: RootedTree, n_states: tuple[int, ...], features: FeaturePlan
) -> tuple[Turned, ...]:
    by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, node in enumerate(features.order[: len(tree.hidden) - 1]):
        span = int(features.sizes[list(features.sources[place])].sum())
        if features.sizes[node]:
            by_shape[n_states[node], span].append(place)
    found = []
    for (k, span), places in by_shape.items():
        starts = features.turn_starts[places][:, None, None]
        sources = [
            np.concatenate(
                [features.begins[c] + np.arange(features.sizes[c]) for c in features.sources[p]]
            )
            for p in places
        ]
        nodes = np.array(features.order)[places]
        found.append(
            Turned(
                n_states=k,
                turns=starts + np.arange((k - 1) * span).reshape(1, k - 1, span),
                sources=np.array(sources),
                rows=features.begins[nodes][:, None] + np.arange(k - 1),
            )
        )
    return tuple(found)


def _written_groups(
    lay: Layout, features: FeaturePlan, nodes: Sequence[int]
) -> tuple[Written, ...]:
    by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
    for node in nodes:
        if lay.tree.copy_of[lay.tree.parent[node]] != node:
            by_shape[lay.shapes[node]].append(node)
    return tuple(
        Written(
            nodes=np.array(each),
            shape=shape,
            rows=features.begins[each][:, None] + np.arange(features.sizes[each[0]]),
            entries=lay.starts[each][:, None] + np.arange(shape[0] * shape[1]),
            indicators=features.begins[each][:, None] + np.arange(shape[1]),
        )
        for shape, each in by_shape.items()
    )
