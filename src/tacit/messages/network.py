"""The parameters of a tree: tensors at its nodes, or probability tables.

Messages run from the leaves to the root and are vectors, one entry per rank of the edge they cross. A
leaf sends a row of its encoder `emit`; a hidden node turns its children's messages into its own in one of
three ways (`Dense`, `Hadamard` with its signed form `Pointwise`, `Chain`). The root sends a message of length
one: the value of the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.messages.rooted_tree import RootedTree

Array = NDArray[np.float64]

# Messages of that many leaves are multiplied before they are brought back to sum one. A leaf takes a few
# nats off; doubles hold 700.
LEAVES_BETWEEN_RESCALING = 40
# Beyond this many children, or this many leaves below them since the last rescaling, the messages of a node's
# children are multiplied step by step: the work then grows with their number, not its square, and the product
# is lifted before it under-runs.
MANY_CHILDREN, MANY_LEAVES = 12, 120


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """One mode per child, in the tree's order of children, and one (the last) for the parent."""

    core: Array  # (child, ..., child, parent)   parent has size 1 at the root


@dataclass(frozen=True, slots=True, eq=False)
class Hadamard:
    """Children's messages are multiplied state by state; a table of probabilities leads to the parent."""

    table: Array  # (parent state, own state)   rows sum to one; one row at the root


@dataclass(frozen=True, slots=True, eq=False)
class Pointwise(Hadamard):
    """A `Hadamard` node of an observed variable whose table holds operators, of any sign, not probabilities.

    Messages are functions of the variable, held by their values at some points and multiplied point by
    point.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Each child's message becomes a matrix; their product stands between two ends (thesis ch. 7)."""

    start: Array  # (parent, m)
    steps: tuple[Array, ...]  # one per child: (child, m, n)
    stop: Array  # (n,)


@dataclass(frozen=True, eq=False)
class Network:
    """A rooted tree with an encoder at each leaf and a tensor at each hidden node."""

    tree: RootedTree
    emit: tuple[Array, ...]  # per leaf: (category, rank)
    total: tuple[Array, ...]  # per leaf: (rank,)   message of a missing cell
    nodes: tuple[Dense | Hadamard | Chain, ...]  # per hidden node, in the tree's order

    def node(self, number: int) -> Dense | Hadamard | Chain:
        """The tensor at a hidden node."""
        return self.nodes[number - self.tree.n_leaves]

    @property
    def has_tables(self) -> bool:
        """Whether every hidden node holds probabilities, so that hidden states have a meaning."""
        return all(
            isinstance(node, Hadamard) and not isinstance(node, Pointwise) for node in self.nodes
        )

    @property
    def ranks(self) -> tuple[int, ...]:
        """The length of the message that each node sends to its parent (1 at the root)."""
        above = []
        for node in self.nodes:
            if isinstance(node, Dense):
                above.append(node.core.shape[-1])
            elif isinstance(node, Hadamard):
                above.append(node.table.shape[0])
            else:
                above.append(node.start.shape[0])
        return (*(emit.shape[1] for emit in self.emit), *above)


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each node's table stands in one flat array.

    The table of a node has one row per state of its parent (one row at the root) and one column per state of
    the node; it is stored row by row, so that every conditional distribution is contiguous.
    """

    tree: RootedTree
    n_states: tuple[int, ...]  # (node,)  categories of a leaf, states of a hidden node

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Rows and columns of each node's table."""
        above = self.tree.parent.tolist()
        return tuple(
            (1 if p < 0 else self.n_states[p], k) for p, k in zip(above, self.n_states, strict=True)
        )

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where each node's table starts, and one entry more for the end."""
        sizes = [rows * columns for rows, columns in self.shapes]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Rows of each node's table: the states of its parent."""
        return np.array([rows for rows, _ in self.shapes], dtype=np.int64)

    @cached_property
    def columns(self) -> NDArray[np.int64]:
        """Columns of each node's table: its own states."""
        return np.array(self.n_states, dtype=np.int64)

    @property
    def rescale(self) -> NDArray[np.bool_]:
        """The nodes whose messages are brought back to sum one, so that no product under-runs."""
        return self._precautions[0]

    @property
    def stepwise(self) -> NDArray[np.bool_]:
        """The nodes whose children's messages are multiplied step by step, see `MANY_CHILDREN`."""
        return self._precautions[1]

    @cached_property
    def _precautions(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        rescale, stepwise = np.zeros((2, self.tree.n_nodes), dtype=np.bool_)
        since = np.ones(self.tree.n_nodes, dtype=np.int64)
        for node in self.tree.hidden:
            children = self.tree.children[node]
            since[node] = sum(since[child] for child in children)
            stepwise[node] = len(children) > MANY_CHILDREN or since[node] > MANY_LEAVES
            if since[node] > LEAVES_BETWEEN_RESCALING and node != self.tree.root:
                rescale[node], since[node] = True, 0
        return rescale, stepwise

    @cached_property
    def row_starts(self) -> NDArray[np.int64]:
        """Where each row of each table starts."""
        rows = [
            np.arange(count) * width + start
            for (count, width), start in zip(self.shapes, self.starts[:-1], strict=True)
        ]
        return np.concatenate(rows).astype(np.int64)

    @cached_property
    def leaf_entries(self) -> NDArray[np.int64]:
        """For each entry of the leaves' tables, its category's place among the categories of all leaves."""
        places, first = [], 0
        for rows, columns in self.shapes[: self.tree.n_leaves]:
            places.append(np.tile(np.arange(first, first + columns), rows))
            first += columns
        return np.concatenate(places)

    @cached_property
    def copy_entries(self) -> NDArray[np.int64]:
        """The entries of the tables of leaves that a hidden node copies."""
        copies = [int(leaf) for leaf in self.tree.copy_of if leaf >= 0]
        parts = [np.arange(self.starts[leaf], self.starts[leaf + 1]) for leaf in copies]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    @cached_property
    def copy_diagonal(self) -> NDArray[np.int64]:
        """Of these, the entries on the diagonal."""
        copies = [int(leaf) for leaf in self.tree.copy_of if leaf >= 0]
        parts = [
            self.starts[leaf] + np.arange(self.n_states[leaf]) * (self.n_states[leaf] + 1)
            for leaf in copies
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    @cached_property
    def even(self) -> NDArray[np.float64]:
        """One over the length of the row that each entry belongs to."""
        lengths = np.diff(np.append(self.row_starts, self.size))
        return np.repeat(1.0 / lengths, lengths)

    @property
    def size(self) -> int:
        """Length of the flat array."""
        return int(self.starts[-1])

    def values(self, parameters: Array) -> Array:
        """The flat tables that parameters make: here entries are parameters; see `Ties` for where not."""
        return parameters

    def mass(self, counts: Array) -> Array:
        """What expected counts of table entries are as counts of the parameters."""
        return counts

    @cached_property
    def n_parameters(self) -> int:
        """Free parameters: each row of a table sums to one; tables of copies are fixed."""
        copies = {int(leaf) for leaf in self.tree.copy_of if leaf >= 0}
        return sum(
            rows * (columns - 1)
            for node, (rows, columns) in enumerate(self.shapes)
            if node not in copies
        )


@lru_cache(maxsize=64)
def layout(tree: RootedTree, n_states: tuple[int, ...]) -> Layout:
    """The layout of a tree's tables; remembered, because a tree is often fitted many times."""
    return Layout(tree, n_states)


@dataclass(frozen=True, eq=False)
class Tables:
    """A probability table at every node: P(node | parent), and P(root)."""

    layout: Layout
    values: Array  # flat, see Layout

    def table(self, node: int) -> Array:
        """P(node = j | parent = i) at [i, j]; the root has one row."""
        start, stop = self.layout.starts[node : node + 2]
        return self.values[start:stop].reshape(self.layout.shapes[node])

    @property
    def tree(self) -> RootedTree:
        """The tree that the tables hang on."""
        return self.layout.tree

    @cached_property
    def network(self) -> Network:
        """The same as a network of `Hadamard` nodes, for the queries."""
        tree = self.tree
        return Network(
            tree=tree,
            emit=tuple(self.table(leaf).T for leaf in range(tree.n_leaves)),
            total=tuple(np.ones(self.layout.shapes[leaf][0]) for leaf in range(tree.n_leaves)),
            nodes=tuple(Hadamard(self.table(node)) for node in tree.hidden),
        )

    @staticmethod
    def of(tree: RootedTree, tables: list[Array]) -> Tables:
        """Tables from one array per node, in the tree's order."""
        n_states = tuple(table.shape[-1] for table in tables)
        flat = np.concatenate([np.asarray(table, dtype=np.float64).ravel() for table in tables])
        return Tables(layout(tree, n_states), flat)
