"""A start for EM on a junction tree: the moment start of a latent tree within the graph.

A spanning tree of the hidden variables, with every observed variable below one of its parents, is a latent
tree; its tables come from moments. A conditional distribution of the graph starts at that of the variable and
its parent in the tree, and at random where the tree has no such edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.junction.model.shared_tables import Family, Ties
from tacit.junction.structure.junction_tree import JunctionTree
from tacit.messages.network import Tables, layout
from tacit.trees.learn.starts.moments import moment_start
from tacit.trees.moments.source import PairTables
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

# Weight of the random part of a row, which breaks symmetries between states that the tree leaves.
CHANCE = 0.1
# A latent tree needs at least so many columns.
FEWEST_COLUMNS = 3
# P(state of the parent is repeated) for a hidden variable that the tree left out.
FOLLOWS = 0.8


def skeleton_start(
    ties: Ties,
    pairs: PairTables,
    codes: NDArray[Any],
    weights: Array | None,
    *,
    most_states: int,
    rng: np.random.Generator,
) -> Array:
    """Initial parameters, from pair counts and one pass over the rows.

    Parameters
    ----------
    ties : Ties
    pairs : PairTables
    codes : (row, leaf) array of int
    weights : (row,) array or None
    most_states : int
        Hidden variables with more states start with this many, split by small random changes.
    rng : numpy.random.Generator
    """
    junction = ties.junction
    skeleton = None
    if junction.tree.n_leaves >= FEWEST_COLUMNS:
        skeleton = _tree_tables(junction, pairs, codes, weights, most_states, rng)
    out = np.empty(ties.size)
    for block in ties.blocks:
        rows = rng.uniform(0.05, 1.0, (block.n_rows, block.n_columns))
        rows /= rows.sum(axis=1, keepdims=True)
        tables: list[Array | None] = []
        if skeleton is not None:
            tables = [_family(junction, family, skeleton) for family in block.families]
        estimates = [table for table in tables if table is not None]
        if estimates:
            rows = CHANCE * rows + (1 - CHANCE) * np.mean(estimates, axis=0)
        out[block.span] = rows.ravel()
    return out


class _Skeleton:
    """The marginals and conditionals of a latent tree."""

    def __init__(self, tables: Tables, states: dict[str, int]) -> None:
        self.tables = tables
        self.place = {name: node for node, name in enumerate(tables.tree.names)}
        self.states = states

    def conditional(self, child: str, parent: str) -> Array | None:
        """P(child | parent) where the two are joined in the tree, (parent, child)."""
        if child not in self.place or parent not in self.place:
            return None
        one, other = self.place[child], self.place[parent]
        above = self.tables.tree.parent
        if above[one] == other:
            return self.tables.table(one)
        if above[other] == one:
            joint = self.marginal(one)[:, None] * self.tables.table(other)
            turned: Array = (joint / np.maximum(joint.sum(axis=0), 1e-300)).T
            return turned
        return None

    def marginal(self, node: int) -> Array:
        """P(node)."""
        path = [node]
        while self.tables.tree.parent[path[-1]] >= 0:
            path.append(int(self.tables.tree.parent[path[-1]]))
        probabilities: Array = self.tables.table(path[-1])[0]
        for child in reversed(path[:-1]):
            probabilities = probabilities @ self.tables.table(child)
        return probabilities


def _tree_tables(
    junction: JunctionTree,
    pairs: PairTables,
    codes: NDArray[Any],
    weights: Array | None,
    most_states: int,
    rng: np.random.Generator,
) -> _Skeleton:
    columns = list(junction.tree.names[: junction.tree.n_leaves])
    topology = Topology.parse(_spanning_edges(junction), columns)
    tree = topology.rooted(columns)
    states = [junction.states[name] for name in columns]
    for node in tree.hidden:
        leaf = int(tree.copy_of[node])
        states.append(states[leaf] if leaf >= 0 else junction.states[tree.names[node]])
    lay = layout(tree, tuple(states))
    values = moment_start(lay, pairs, codes, weights, most_states=most_states, rng=rng)
    return _Skeleton(Tables(lay, values), dict(junction.states))


def _spanning_edges(junction: JunctionTree) -> list[tuple[str, str]]:
    """The edges of a latent tree within the graph: short ones first, in the graph's order."""
    import networkx as nx

    graph = junction.graph
    place = {name: number for number, name in enumerate(graph.variables)}
    observed = set(junction.tree.names[: junction.tree.n_leaves])
    spanning: Any = nx.Graph()
    spanning.add_nodes_from(graph.variables)
    weighted = [
        (one in observed or other in observed, place[other] - place[one], one, other)
        for one in graph.variables
        for other in graph.neighbours[one]
        if place[one] < place[other]
    ]
    joined = nx.utils.UnionFind(graph.variables)
    taken: set[str] = set()
    for _, _, one, other in sorted(weighted):
        ends = {one, other} & observed
        if joined[one] != joined[other] and not (len(ends) == 1 and ends & taken):
            joined.union(one, other)
            spanning.add_edge(one, other)
            taken |= ends
    parts = [sorted(part, key=place.__getitem__) for part in nx.connected_components(spanning)]
    parts.sort(key=lambda part: place[part[0]])
    for part in parts[1:]:
        spanning.add_edge(parts[0][0], part[0])
    for name in [name for name in spanning if name not in observed]:
        _prune(spanning, name, observed)
    return list(spanning.edges)


def _prune(spanning: Any, name: str, observed: set[str]) -> None:
    """Remove a hidden variable at an end, and those that then are at an end."""
    while name in spanning and name not in observed and spanning.degree(name) <= 1:
        around = list(spanning[name])
        spanning.remove_node(name)
        if not around:
            return
        name = around[0]


def _family(junction: JunctionTree, family: Family, skeleton: _Skeleton) -> Array | None:
    """P(children | parents) by the tree, (joint parents, children)."""
    if len(family.children) > 1:
        return None
    child = family.children[0]
    shape = [junction.states[name] for name in family.parents]
    table = None
    for axis, parent in enumerate(family.parents):
        pair = skeleton.conditional(child, parent)
        if pair is None and table is None and _left_out(junction, skeleton, child, parent):
            pair = _following(junction.states[parent], junction.states[child])
        if pair is None:
            continue
        expanded = np.moveaxis(
            np.broadcast_to(pair, (*shape[:axis], *shape[axis + 1 :], *pair.shape)), -2, axis
        )
        table = expanded if table is None else table * expanded
    if table is None:
        if family.parents or child not in skeleton.place:
            return None
        return skeleton.marginal(skeleton.place[child])[None]
    flat: Array = table.reshape(-1, junction.states[child])
    rows: Array = flat / np.maximum(flat.sum(axis=1, keepdims=True), 1e-300)
    return rows


def _left_out(junction: JunctionTree, skeleton: _Skeleton, child: str, parent: str) -> bool:
    """Whether one of two hidden variables was left out of the tree, because it had only two neighbours."""
    hidden = set(junction.hidden_variables)
    return child in hidden and parent in hidden and not {child, parent} <= set(skeleton.place)


def _following(n_parent: int, n_child: int) -> Array:
    """A table that mostly repeats the parent's state."""
    table = np.full((n_parent, n_child), (1 - FOLLOWS) / n_child)
    table[np.arange(n_parent), np.arange(n_parent) % n_child] += FOLLOWS
    return table
