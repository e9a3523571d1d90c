"""The layout of a tree, such that no two labels overlap.

The root is in the middle (or at the left), generations are columns, and every label has its own row from its
node outwards: the rows of a subtree are consecutive. All sizes are in units of the font size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.trees.structure.rooting import walk
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

ROW = 1.4
GAP = 2.2  # between two generations, at least
MARGIN = 0.8
OFFSET = 0.75  # from a node to its label


@dataclass(frozen=True, eq=False)
class TreeLayout:
    """The position of each node, and its side of the root."""

    names: tuple[str, ...]  # (node,)  the root first
    x: Array  # (node,)
    y: Array  # (node,)
    side: NDArray[np.int64]  # (node,)  1 right of the root or the root itself, -1 left of it
    parent: NDArray[np.int64]  # (node,)  -1 at the root
    extent: tuple[float, float, float, float]  # left, right, bottom, top


def balance_point(topology: Topology) -> str:
    """The node whose largest branch has the fewest observed variables, so that none has more than half.

    With this root, a tree that grows to both sides is as low as possible. Ties go to the node nearest to the
    centre.
    """
    above = walk(topology.neighbours, topology.centre)
    observed = set(topology.observed)
    inside = {name: int(name in observed) for name in above}  # observed at or below each node
    largest = dict.fromkeys(above, 0)
    for name, up in reversed(above.items()):
        if up is not None:
            inside[up] += inside[name]
            largest[up] = max(largest[up], inside[name])
    return min(above, key=lambda name: max(largest[name], len(observed) - inside[name]))


def tidy_layout(
    topology: Topology,
    root: str,
    outer: Mapping[str, float],
    inner: Mapping[str, float],
    *,
    two_sided: bool,
    row: float = ROW,
) -> TreeLayout:
    """The layout of a tree without hidden leaves.

    Parameters
    ----------
    topology : Topology
    root : str
        The root of the picture.
    outer : mapping of str to float
        Widths of labels outwards of their node, in their own row. Leaves and the root must have one, though
        it may be zero.
    inner : mapping of str to float
        Widths of labels above the line to the parent.
    two_sided : bool
        Whether the tree grows to both sides of its root.
    row : float
        The height of a row.
    """
    above = walk(topology.neighbours, root)
    names = tuple(above)
    number = {name: place for place, name in enumerate(names)}
    parent = np.array([-1 if up is None else number[up] for up in above.values()])
    has_row = np.array([name in outer for name in names])
    n_rows = has_row.astype(np.int64)
    children: list[list[int]] = [[] for _ in names]
    for node in range(len(names) - 1, 0, -1):
        n_rows[parent[node]] += n_rows[node]
        children[parent[node]].insert(0, node)
    for siblings in children:
        siblings.sort(key=lambda node: int(n_rows[node]))
    side = _sides(children, n_rows, parent, two_sided=two_sided)
    y = row * _heights(children, n_rows, has_row, side)
    depth, x = np.zeros(len(names), dtype=np.int64), np.zeros(len(names))
    for node in range(1, len(names)):
        depth[node] = depth[parent[node]] + 1
    for direction in (1, -1):
        gaps = np.full(depth.max() + 1, GAP)
        gaps[0] = 0.0
        for name, width in inner.items():
            node = number[name]
            if side[node] == direction:
                gaps[depth[node]] = max(gaps[depth[node]], width + 2 * OFFSET + 0.3)
        on_side = side == direction
        x[on_side] = direction * np.cumsum(gaps)[depth[on_side]]
    reach = x + side * np.array([OFFSET + outer.get(name, 0.0) for name in names])
    extent = (
        min(reach.min(), x.min()) - MARGIN,
        max(reach.max(), x.max()) + MARGIN,
        y.min() - row / 2 - MARGIN,
        y.max() + row / 2 + MARGIN,
    )
    return TreeLayout(names, x, y, side, parent, extent)


def _sides(
    children: list[list[int]],
    n_rows: NDArray[np.int64],
    parent: NDArray[np.int64],
    *,
    two_sided: bool,
) -> NDArray[np.int64]:
    """The side of each node: the root's subtrees, largest first, go to the side with fewer rows."""
    side = np.ones(len(children), dtype=np.int64)
    if two_sided:
        load = {1: 1, -1: 0}  # the root's own label stands at its right
        for node in sorted(children[0], key=lambda node: -int(n_rows[node])):
            lighter = 1 if load[1] <= load[-1] else -1
            side[node] = lighter
            load[lighter] += int(n_rows[node])
    for node in range(1, len(children)):
        if parent[node] > 0:
            side[node] = side[parent[node]]
    return side


def _heights(
    children: list[list[int]],
    n_rows: NDArray[np.int64],
    has_row: NDArray[np.bool_],
    side: NDArray[np.int64],
) -> Array:
    """Rows from top to bottom, of height one; a node without a row is in the middle of its children."""
    y = np.zeros(len(children))
    first_row = np.zeros(len(children), dtype=np.int64)
    for node, below in enumerate(children):
        for direction in (1, -1):
            on_side = [child for child in below if side[child] == direction]
            row = first_row[node]
            keeps_row = has_row[node] and direction == side[node]
            middle = len(on_side) // 2
            for place, child in enumerate(on_side):
                row += keeps_row and place == middle
                first_row[child] = row
                row += n_rows[child]
            if keeps_row:
                middle_row = first_row[on_side[middle]] - 1 if middle < len(on_side) else row
                y[node] = -middle_row
    spans = {}
    for direction in (1, -1):
        rows = [
            y[node] for node in range(len(children)) if has_row[node] and side[node] == direction
        ]
        spans[direction] = (min(rows) + max(rows)) / 2 if rows else 0.0
    for node in reversed(range(len(children))):
        if has_row[node]:
            y[node] -= spans[int(side[node])]
        else:
            places = [y[child] for child in children[node]]
            y[node] = (min(places) + max(places)) / 2
    return y
