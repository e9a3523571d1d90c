"""The centre of a tree, and its nodes numbered for message passing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tacit.messages.rooted_tree import RootedTree

Neighbours = Mapping[str, Sequence[str]]


def centre(neighbours: Neighbours) -> str:
    """The node from which the farthest node is nearest: the middle of the longest path.

    Where a longest path has two middles, the one with the smaller sum of distances is taken, then the
    one that comes first. In a tree of three or more nodes the centre is never a leaf.

    Examples
    --------
    >>> centre({"a": ["b"], "b": ["a", "c"], "c": ["b"]})
    'b'
    """
    start = next(iter(neighbours))
    one_end = list(walk(neighbours, start))[-1]
    above = walk(neighbours, one_end)
    path = [list(above)[-1]]
    while (next_up := above[path[-1]]) is not None:
        path.append(next_up)
    middles = {path[(len(path) - 1) // 2], path[len(path) // 2]}
    if len(middles) == 1:
        return middles.pop()
    in_order = [name for name in neighbours if name in middles]
    return min(in_order, key=lambda name: _sum_of_distances(neighbours, name))


def walk(neighbours: Neighbours, start: str) -> dict[str, str | None]:
    """Every node's neighbour towards the start, nearest nodes first."""
    above: dict[str, str | None] = {start: None}
    frontier = [start]
    for name in frontier:  # grows while it is read
        for other in neighbours[name]:
            if other not in above:
                above[other] = name
                frontier.append(other)
    return above


def _sum_of_distances(neighbours: Neighbours, start: str) -> int:
    distance: dict[str | None, int] = {None: -1}
    for name, towards in walk(neighbours, start).items():
        distance[name] = distance[towards] + 1
    return sum(distance.values())


def rooted_tree(neighbours: Neighbours, columns: Sequence[str]) -> RootedTree:
    """A tree without superfluous hidden nodes, rooted at its centre and numbered for message passing.

    An observed variable inside the tree becomes a leaf under a hidden copy of itself. So does the first
    of two variables joined directly, and a lone variable: the root must be hidden.

    Parameters
    ----------
    neighbours : mapping of str to sequence of str
        The tree; every node that is not a column is hidden and has three or more neighbours.
    columns : sequence of str
        The observed nodes, in the order that the leaves shall have.
    """
    root = centre(neighbours) if len(neighbours) > 2 else columns[0]
    above = walk(neighbours, root)
    leaf_number = {name: number for number, name in enumerate(columns)}
    inner = [name for name in above if name == root or len(neighbours[name]) > 1]
    inner.reverse()
    inner_number = {name: number for number, name in enumerate(inner, start=len(columns))}
    taken = {*neighbours, *columns}
    names, copy_of = list(columns), [-1] * len(columns)
    hooks = [name if name in inner_number else neighbours[name][0] for name in columns]
    parent = [inner_number[hook] for hook in hooks]
    for name in inner:
        towards = above[name]
        parent.append(-1 if towards is None else inner_number[towards])
        copy_of.append(leaf_number.get(name, -1))
        names.append(fresh(f"copy({name})", taken) if name in leaf_number else name)
    return RootedTree(
        names=tuple(names),
        n_leaves=len(columns),
        parent=np.array(parent, dtype=np.int32),
        copy_of=np.array(copy_of, dtype=np.int32),
    )


def fresh(name: str, taken: set[str]) -> str:
    """The name, or the name with primes, so that it is new; it is then taken."""
    while name in taken:
        name += "'"
    taken.add(name)
    return name
