"""A tree under construction: numbered nodes that can be joined, cut and merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.trees.structure.distance_matrices import connected_blocks
from tacit.trees.structure.rooting import fresh
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Edge = tuple[int, int, float]


class Draft:
    """A tree over numbers: the observed variables first, hidden nodes after them.

    Parameters
    ----------
    n_observed : int
    edges : iterable of (node, node, length)
    """

    __slots__ = ("n_observed", "near")

    def __init__(self, n_observed: int, edges: Iterable[Edge] = ()) -> None:
        self.n_observed = n_observed
        self.near: list[dict[int, float]] = [
            {} for _ in range(n_observed)
        ]  # neighbours and lengths
        for one, other, length in edges:
            while len(self.near) <= max(one, other):
                self.near.append({})
            self.join(one, other, length)

    @classmethod
    def of(cls, topology: Topology, names: Sequence[str]) -> Draft:
        """The draft of a tree, its observed variables in the order of the names.

        Edges without a length count as 0.5, which matters only where lengths are not estimated anew.
        """
        tree = topology.contracted()
        number = {name: place for place, name in enumerate([*names, *tree.hidden])}
        return cls(
            len(names),
            (
                (number[one], number[other], 0.5 if length is None else length)
                for (one, other), length in zip(tree.edges, tree.lengths, strict=True)
            ),
        )

    def add(self) -> int:
        """The number of a new hidden node."""
        self.near.append({})
        return len(self.near) - 1

    def join(self, one: int, other: int, length: float) -> None:
        """Put an edge between two nodes, or give it a new length."""
        self.near[one][other] = self.near[other][one] = length

    def cut(self, one: int, other: int) -> float:
        """Take an edge away; its length."""
        del self.near[other][one]
        return self.near[one].pop(other)

    def merge(self, node: int, removed: int) -> None:
        """Make two neighbours one node."""
        self.cut(node, removed)
        for other in list(self.near[removed]):
            self.join(node, other, self.cut(removed, other))

    def edges(self) -> list[Edge]:
        """Every edge once, with its length."""
        return [
            (one, other, length)
            for one, others in enumerate(self.near)
            for other, length in others.items()
            if one < other
        ]

    def topology(self, names: Sequence[str], scale: float = 1.0) -> Topology:
        """The finished tree; lengths are multiplied by a number, and none is negative."""
        taken = set(names)
        label = dict(enumerate(names))
        for node in range(self.n_observed, len(self.near)):
            if self.near[node]:
                label[node] = fresh(f"h{len(label) - self.n_observed + 1}", taken)
        edges = self.edges()
        return Topology(
            nodes=tuple(label.values()),
            edges=tuple((label[one], label[other]) for one, other, _ in edges),
            observed=tuple(names),
            lengths=tuple(max(scale * length, 0.0) for _, _, length in edges),
        ).contracted()

    def paths(self) -> Array:
        """Distances between the observed variables along the tree: (variable, variable)."""
        distances = np.zeros((self.n_observed, self.n_observed))
        order, above = self.walk(0)
        # Of each node, the variables that were found behind it so far, and how far they are from it.
        behind: dict[int, tuple[Integers, Array]] = {}
        for node in reversed(order):
            variables = [node] if node < self.n_observed else []
            members, depths = np.array(variables, dtype=np.int64), np.zeros(len(variables))
            for other, length in self.near[node].items():
                if other != above[node]:
                    theirs, apart = behind.pop(other)
                    apart = apart + length
                    distances[np.ix_(members, theirs)] = np.add.outer(depths, apart)
                    members, depths = np.append(members, theirs), np.append(depths, apart)
            behind[node] = members, depths
        return distances + distances.T

    def walk(self, start: int) -> tuple[list[int], dict[int, int]]:
        """All nodes, nearest first, and the neighbour of each towards the start."""
        order, above = [start], {start: -1}
        for node in order:  # grows while it is read
            for other in self.near[node]:
                if other not in above:
                    above[other] = node
                    order.append(other)
        return order, above


def learnt_in_blocks(learn: Callable[[Array], Draft], similarity: Array, supported: Any) -> Draft:
    """The drafts of all blocks, each learnt from the similarities within it, joined to one.

    Parameters
    ----------
    learn : callable
        From similarities to a draft.
    similarity : (variable, variable)
    supported : (variable, variable) of bool or None
        Variables that no chain of supported pairs joins are in different blocks. These meet in one more
        hidden node, each at half the largest distance of all, and each attached next to the variable that is
        most similar to some other block.
    """
    blocks = connected_blocks(supported, len(similarity))
    if len(blocks) == 1:
        return learn(similarity)
    joined = Draft(len(similarity))
    largest = -float(np.log(similarity.min()))
    anchors = []
    for block in blocks:
        draft = learn(similarity[np.ix_(block, block)])
        number = {place: int(variable) for place, variable in enumerate(block)}
        for node in range(draft.n_observed, len(draft.near)):
            if draft.near[node]:
                number[node] = joined.add()
        for one, other, length in draft.edges():
            joined.join(number[one], number[other], length)
        outside = np.delete(similarity[block], block, axis=1)
        anchors.append(_anchor(joined, int(block[outside.max(axis=1).argmax()])))
    if len(anchors) == 2:
        joined.join(anchors[0], anchors[1], largest)
    else:
        hub = joined.add()
        for node in anchors:
            joined.join(hub, node, largest / 2)
    return joined


def _anchor(draft: Draft, variable: int) -> int:
    """The node by which a block is attached: next to a variable, or between two; a lone one itself."""
    if len(draft.near[variable]) != 1:
        return variable
    (other,) = draft.near[variable]
    if other >= draft.n_observed or len(draft.near[other]) > 1:
        return other
    length = draft.cut(variable, other) / 2
    middle = draft.add()
    draft.join(middle, variable, length)
    draft.join(middle, other, length)
    return middle
