"""The largest rank of each edge of a tree, by the numbers of states alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.moments.source import Moments

Integers = NDArray[np.int64]


def checked_states(tree: RootedTree, moments: Moments, n_states: Sequence[int]) -> tuple[int, ...]:
    """The numbers of states of all nodes, once they fit the tree and the data."""
    states = tuple(map(int, n_states))
    if len(states) != tree.n_nodes:
        raise ArgumentError(
            f"{len(states)} numbers of states for {tree.n_nodes} nodes; give the categories of each "
            "leaf, then the states of each hidden node"
        )
    if states[: tree.n_leaves] != tuple(moments.cards):
        raise ArgumentError(
            f"the leaves have {states[: tree.n_leaves]} states, but the data's columns have "
            f"{tuple(moments.cards)} categories; these must be the same"
        )
    if min(states) < 1:
        worst = tree.names[states.index(min(states))]
        raise ArgumentError(f"node {worst!r} has {min(states)} states; give 1 or more")
    for node in tree.hidden:
        leaf = int(tree.copy_of[node])
        if leaf >= 0 and states[leaf] != states[node]:
            raise ArgumentError(
                f"{tree.names[node]!r} repeats the observed {tree.names[leaf]!r} and must have its "
                f"{states[leaf]} states, not {states[node]}"
            )
    return states


def side_ranks(tree: RootedTree, n_states: Sequence[int]) -> tuple[list[int], list[int]]:
    """(node,) The rank that what lies below, and what lies above, each edge can have; 1 at the root.

    For tables in general position the rank of independent views of one variable is the product of their
    ranks, or the number of the variable's states if that is less.
    """
    below = list(n_states)
    above = [1] * tree.n_nodes
    for node in tree.hidden:
        below[node] = _product((below[child] for child in tree.children[node]), n_states[node])
    for node in reversed(tree.hidden):
        for child in tree.children[node]:
            siblings = (below[other] for other in tree.children[node] if other != child)
            above[child] = _product(siblings, n_states[node], above[node])
    below[tree.root] = 1
    return below, above


def _product(factors: Iterable[int], limit: int, start: int = 1) -> int:
    """The product of some numbers, or the limit as soon as it is reached."""
    product = start
    for factor in factors:
        if product >= limit:
            break
        product *= factor
    return min(product, limit)


class GroupRanks:
    """The rank that the joint category of some leaves can have, as seen from a node."""

    def __init__(self, tree: RootedTree, n_states: Sequence[int]) -> None:
        self._parent = tree.parent.tolist()
        self._n_states = n_states

    def __call__(self, group: Iterable[int], node: int) -> int:
        """The rank of P(group | node) for tables in general position; 1 for a group of no leaves."""
        parent, n_states = self._parent, self._n_states
        ancestors = [node]
        while parent[ancestors[-1]] >= 0:
            ancestors.append(parent[ancestors[-1]])
        above = set(ancestors)
        touched: set[int] = set()
        for leaf in group:
            at = leaf
            while at not in above and at not in touched:
                touched.add(at)
                at = parent[at]
        gathered: dict[int, int] = {}
        for at in sorted(touched):  # children before parents
            rank = min(gathered.get(at, n_states[at]), n_states[at])
            gathered[parent[at]] = gathered.get(parent[at], 1) * rank
        rank = 1
        for at in reversed(ancestors):
            rank = min(gathered.get(at, 1) * rank, n_states[at])
        return rank


@dataclass(frozen=True, eq=False)
class EdgePlan:
    """Ranks of the edges from the tree and the numbers of states; an edge is named by its lower node."""

    inside: NDArray[np.bool_]  # (edge, leaf)  whether the leaf lies below the edge
    ranks: Integers  # (edge,)  the largest rank of one side of the edge against the other
    path_ranks: Integers  # (leaf, leaf)  the largest rank of the joint table of two leaves
    single: Integers  # (edge,)  the largest rank of any leaf below the edge with any leaf above it


@lru_cache(maxsize=32)
def edge_plan(tree: RootedTree, n_states: tuple[int, ...]) -> EdgePlan:
    """The plan of a tree; cached, because a tree is often fitted many times."""
    inside = np.zeros((tree.n_nodes, tree.n_leaves), dtype=np.bool_)
    # (node, leaf)  the least number of states on the path up
    reach = np.zeros((tree.n_nodes, tree.n_leaves), dtype=np.int64)
    paths = np.full((tree.n_leaves, tree.n_leaves), min(n_states), dtype=np.int64)
    leaves = np.arange(tree.n_leaves)
    inside[leaves, leaves] = True
    reach[leaves, leaves] = paths[leaves, leaves] = n_states[: tree.n_leaves]
    same_states = len(set(n_states[tree.n_leaves :])) == 1 and min(n_states) == n_states[-1]
    for node in tree.hidden:
        for child in tree.children[node]:
            if not same_states:
                one, two = np.flatnonzero(inside[node]), np.flatnonzero(inside[child])
                widths = np.minimum.outer(reach[node, one], reach[child, two])
                paths[np.ix_(one, two)] = np.minimum(widths, n_states[node])
                paths[np.ix_(two, one)] = paths[np.ix_(one, two)].T
            inside[node] |= inside[child]
            reach[node] = np.maximum(reach[node], np.minimum(reach[child], n_states[node]))
    below, above = side_ranks(tree, n_states)
    ranks = np.minimum(below, above)[:-1]
    inside = inside[:-1]
    single = np.array([paths[np.ix_(row, ~row)].max(initial=1) for row in inside], dtype=np.int64)
    return EdgePlan(inside, ranks, paths, np.minimum(single, ranks))
