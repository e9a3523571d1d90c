"""A rooted tree, its nodes numbered for message passing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class RootedTree:
    """Leaves are the observed variables, inner nodes are hidden, children come before parents.

    Nodes are numbers: ``0 .. n_leaves-1`` are the leaves, in the order of the data's columns; the hidden
    nodes follow, each after all of its children; the root is last. An observed variable that stood
    inside the tree is a leaf here, hung under a hidden node that copies it (`copy_of`).
    """

    names: tuple[str, ...]  # (node,)
    n_leaves: int
    parent: Nodes  # (node,)  -1 at the root
    copy_of: Nodes  # (node,)  the leaf that a hidden node repeats, or -1

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves and hidden ones together."""
        return len(self.names)

    @property
    def root(self) -> int:
        """The root's number: always the last."""
        return len(self.names) - 1

    @property
    def is_star(self) -> bool:
        """Whether there is one hidden node, above all leaves."""
        return self.n_nodes == self.n_leaves + 1 and self.n_leaves > 0 and self.copy_of[-1] < 0

    @property
    def hidden(self) -> range:
        """The hidden nodes' numbers, children before parents."""
        return range(self.n_leaves, len(self.names))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, in ascending order; nothing for leaves."""
        children: list[list[int]] = [[] for _ in self.names]
        for node, above in enumerate(self.parent.tolist()):
            if above >= 0:
                children[above].append(node)
        return tuple(tuple(below) for below in children)

    @cached_property
    def below(self) -> tuple[tuple[int, ...], ...]:
        """The leaves at or under each node, in ascending order."""
        leaves_below: list[tuple[int, ...]] = [(leaf,) for leaf in range(self.n_leaves)]
        for node in self.hidden:
            leaves_below.append(
                tuple(sorted(leaf for c in self.children[node] for leaf in leaves_below[c]))
            )
        return tuple(leaves_below)

    @cached_property
    def outside(self) -> tuple[tuple[int, ...], ...]:
        """The leaves that are not at or under each node, in ascending order."""
        every = set(range(self.n_leaves))
        return tuple(tuple(sorted(every.difference(inside))) for inside in self.below)

    @cached_property
    def child_table(self) -> tuple[Nodes, Nodes]:
        """The children of all nodes in one array, and where each node's part starts (one more entry)."""
        flat = np.array([c for nodes in self.children for c in nodes], dtype=np.int32)
        starts = np.zeros(self.n_nodes + 1, dtype=np.int32)
        np.cumsum([len(nodes) for nodes in self.children], out=starts[1:])
        return flat, starts

    def degree(self, node: int) -> int:
        """Number of neighbours of a node."""
        return len(self.children[node]) + (node != self.root)
