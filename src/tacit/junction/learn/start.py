"""A start for EM on a junction tree: the moment start of a latent tree within the graph.

A spanning tree of the hidden variables, with every observed variable under one of those that it depends on,
is a latent tree; its tables come from moments. A conditional distribution of the graph starts as what the
tree says of the variable and the parent next to it; what the tree does not say starts at random.
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

# Largest share of a row that chance has, so that states which the tree does not tell apart can part.
CHANCE = 0.1
# With fewer columns there is nothing that a tree could say.
FEWEST_COLUMNS = 3
# How strongly a hidden variable that the tree left out is taken to follow the one next to it.
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
    """Parameters near good ones, from pair counts and one pass over the rows.

    Parameters
    ----------
    ties : Ties
    pairs : PairTables
    codes : (row, leaf) array of int
    weights : (row,) array or None
    most_states : int
        Hidden variables with more states start with so many, split by small random changes.
    rng : numpy.random.Generator
    """
    junction = ties.junction
    known = None
    if junction.tree.n_leaves >= FEWEST_COLUMNS:
        known = _tree_tables(junction, pairs, codes, weights, most_states, rng)
    out = np.empty(ties.size)
    for block in ties.blocks:
        rows = rng.uniform(0.05, 1.0, (block.n_rows, block.n_columns))
        rows /= rows.sum(axis=1, keepdims=True)
        found = [] if known is None else [_family(junction, each, known) for each in block.families]
        told = [each for each in found if each is not None]
        if told:
            rows = CHANCE * rows + (1 - CHANCE) * np.mean(told, axis=0)
        out[block.span] = rows.ravel()
    return out


class _Known:
    """What a latent tree says of its variables, one at a time and two at a time."""

    def __init__(self, tables: Tables, states: dict[str, int]) -> None:
        self.tables = tables
        self.place = {name: node for node, name in enumerate(tables.tree.names)}
        self.states = states

    def given(self, child: str, parent: str) -> Array | None:
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
        way = [node]
        while self.tables.tree.parent[way[-1]] >= 0:
            way.append(int(self.tables.tree.parent[way[-1]]))
        share: Array = self.tables.table(way[-1])[0]
        for each in reversed(way[:-1]):
            share = share @ self.tables.table(each)
        return share


def _tree_tables(
    junction: JunctionTree,
    pairs: PairTables,
    codes: NDArray[Any],
    weights: Array | None,
    most_states: int,
    rng: np.random.Generator,
) -> _Known:
    columns = list(junction.tree.names[: junction.tree.n_leaves])
    topology = Topology.parse(_spanning_edges(junction), columns)
    tree = topology.rooted(columns)
    states = [junction.states[name] for name in columns]
    for node in tree.hidden:
        leaf = int(tree.copy_of[node])
        states.append(states[leaf] if leaf >= 0 else junction.states[tree.names[node]])
    lay = layout(tree, tuple(states))
    values = moment_start(lay, pairs, codes, weights, most_states=most_states, rng=rng)
    return _Known(Tables(lay, values), dict(junction.states))


def _spanning_edges(junction: JunctionTree) -> list[tuple[str, str]]:
    """The edges of a latent tree within the graph: near ones first, in the graph's order."""
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
    """Take off a hidden variable at an end, and those that come to be at an end by that."""
    while name in spanning and name not in observed and spanning.degree(name) <= 1:
        around = list(spanning[name])
        spanning.remove_node(name)
        if not around:
            return
        name = around[0]


def _family(junction: JunctionTree, family: Family, known: _Known) -> Array | None:
    """P(children | parents) as far as the tree says, (joint parents, children)."""
    if len(family.children) > 1:
        return None
    child = family.children[0]
    shape = [junction.states[name] for name in family.parents]
    table = None
    for axis, parent in enumerate(family.parents):
        pair = known.given(child, parent)
        if pair is None and table is None and _left_out(junction, known, child, parent):
            pair = _following(junction.states[parent], junction.states[child])
        if pair is None:
            continue
        wide = np.moveaxis(
            np.broadcast_to(pair, (*shape[:axis], *shape[axis + 1 :], *pair.shape)), -2, axis
        )
        table = wide if table is None else table * wide
    if table is None:
        if family.parents or child not in known.place:
            return None
        return known.marginal(known.place[child])[None]
    flat: Array = table.reshape(-1, junction.states[child])
    rows: Array = flat / np.maximum(flat.sum(axis=1, keepdims=True), 1e-300)
    return rows


def _left_out(junction: JunctionTree, known: _Known, child: str, parent: str) -> bool:
    """Whether one of two hidden variables was left out of the tree, where it had two neighbours only."""
    hidden = set(junction.hidden_variables)
    return child in hidden and parent in hidden and not {child, parent} <= set(known.place)


def _following(n_parent: int, n_child: int) -> Array:
    """A table that mostly repeats the parent's state."""
    table = np.full((n_parent, n_child), (1 - FOLLOWS) / n_child)
    table[np.arange(n_parent), np.arange(n_parent) % n_child] += FOLLOWS
    return table
