"""Trees from distances: neighbour joining, of everything or around each node of a spanning tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.trees.structure.distance_matrices import (
    checked_distances,
    connected_blocks,
    maximum_spanning_tree,
)
from tacit.trees.structure.rooting import centre, fresh
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Edge = tuple[int, int, float]  # two nodes and the length; leaves have the lowest numbers


def neighbor_joining(
    distances: Any, names: Sequence[str], *, supported: Any = None, clip: bool = False
) -> Topology:
    """The tree that neighbour joining finds (Saitou and Nei 1987): every hidden node has three neighbours.

    Exact: the pair with the least criterion is joined in each step, and equal ones are decided as
    scikit-bio decides them. Rows are searched in order of bounds (as in RapidNJ, Simonsen et al. 2008), so
    that thousands of leaves take seconds; beside the distances, one copy of them is held in memory. If the
    distances are those of a tree, that tree comes back with its lengths.

    Parameters
    ----------
    distances : array (leaf, leaf)
        Symmetric and finite; the diagonal is not looked at.
    names : sequence of str
        Names of the leaves. Hidden nodes are called h1, h2, and so on, in the order of joining.
    supported : array (leaf, leaf) of bool, optional
        Which distances the data support (`tacit.trees.structure.distances.Distances`). Leaves that no path of
        supported distances joins are in different blocks. Each block then has a tree of its own, whatever
        the distances to others are, and the blocks meet in one more hidden node, each at half the largest
        distance of all.
    clip : bool
        Whether negative lengths, which come from distances that are not those of a tree, become zero.

    Examples
    --------
    >>> distances = [[0, 3, 7, 8], [3, 0, 8, 9], [7, 8, 0, 5], [8, 9, 5, 0]]
    >>> neighbor_joining(distances, ["a", "b", "c", "d"]).to_newick()
    '(a:1.0,b:2.0,(d:3.0,c:2.0)h2:4.0)h1;'
    """
    return _in_blocks(_joined_edges, distances, names, supported, clip=clip)


def chow_liu_joining(
    distances: Any, names: Sequence[str], *, supported: Any = None, clip: bool = False
) -> Topology:
    """The tree of neighbour joining within neighbourhoods of a spanning tree (Choi et al. 2011, CLNJ).

    The spanning tree has the least sum of distances. Each of its inner nodes, those with most neighbours
    first, is joined with its neighbours as by `neighbor_joining`, and what this gives takes the place of
    their edges. So only near pairs count, and trees with long paths, whose far pairs are noise, are found
    better than by joining everything; those in which all leaves are about as deep are found less well. If
    the distances are those of a tree, that tree comes back with its lengths.

    Parameters
    ----------
    distances, names, supported, clip
        See `neighbor_joining`.

    Examples
    --------
    >>> distances = [[0, 3, 7, 8], [3, 0, 8, 9], [7, 8, 0, 5], [8, 9, 5, 0]]
    >>> chow_liu_joining(distances, ["a", "b", "c", "d"]).to_newick()
    '(a:1.0,b:2.0,(c:2.0,d:3.0)h2:4.0)h1;'
    """
    return _in_blocks(_locally_joined_edges, distances, names, supported, clip=clip)


# ----------------------------------------------------------------------------- one block


def _joined_edges(matrix: Array) -> list[Edge]:
    """Neighbour joining of all leaves; the matrix is overwritten."""
    n = len(matrix)
    if n < 3:
        return [(0, 1, float(matrix[0, 1]))] if n == 2 else []
    from tacit.trees.loops.neighbour_joining import join_neighbours

    joined = np.empty((n - 2, 3), dtype=np.int64)
    lengths = np.empty((n - 2, 3))
    join_neighbours(matrix, joined, lengths)
    hubs = np.arange(n, 2 * n - 2).repeat(3)
    is_edge = joined.ravel() >= 0
    ends = joined.ravel()[is_edge]
    return list(
        zip(hubs[is_edge].tolist(), ends.tolist(), lengths.ravel()[is_edge].tolist(), strict=True)
    )


def _locally_joined_edges(matrix: Array) -> list[Edge]:
    """Neighbour joining around each inner node of the spanning tree."""
    n = len(matrix)
    tree: list[dict[int, float]] = [{} for _ in range(n)]  # neighbours of each node, with lengths
    for one, other in maximum_spanning_tree(-matrix).tolist():
        tree[one][other] = tree[other][one] = float(matrix[one, other])
    # Sums of lengths decide between nodes with as many neighbours, so that their numbers have no influence.
    by_degree = sorted(range(n), key=lambda leaf: (-len(tree[leaf]), sum(tree[leaf].values())))
    # A hidden node is represented by the leaf around which it was found, at some distance from it.
    representative, offset = list(range(n)), [0.0] * n
    for leaf in by_degree:
        if len(tree[leaf]) < 2:
            break
        family = [leaf, *sorted(tree[leaf])]
        leaves = [representative[node] for node in family]
        edges = _joined_edges(matrix[np.ix_(leaves, leaves)])
        _splice(tree, family, edges, offset)
        representative += [leaf] * (len(family) - 2)
        _measure(tree, leaf, offset)
    return [
        (one, other, d) for one, near in enumerate(tree) for other, d in near.items() if other < one
    ]


def _splice(
    tree: list[dict[int, float]], family: list[int], edges: list[Edge], offset: list[float]
) -> None:
    """Replace the edges from the first of a family to the others by the tree joined from all of them."""
    number = [*family, *range(len(tree), len(tree) + len(family) - 2)]
    for node in family[1:]:
        del tree[node][family[0]]
    tree[family[0]].clear()
    tree += [{} for _ in range(len(family) - 2)]
    for hub, end, length in edges:
        one = number[hub]
        other = number[end]
        # The leaf that was joined in place of a hidden node lies behind it.
        behind = offset[other] if end < len(family) else 0.0
        tree[one][other] = tree[other][one] = length - behind


def _measure(tree: list[dict[int, float]], leaf: int, offset: list[float]) -> None:
    """Distances from a leaf to the hidden nodes that were just found around it, appended to `offset`."""
    first_new = len(offset)
    offset += [0.0] * (len(tree) - first_new)
    frontier, measured = [leaf], {leaf}
    for node in frontier:  # grows while it is read
        for other, length in tree[node].items():
            if other >= first_new and other not in measured:
                offset[other] = offset[node] + length
                measured.add(other)
                frontier.append(other)


# -------------------------------------------------------------------------------- blocks


def _in_blocks(
    make: Callable[[Array], list[Edge]],
    distances: Any,
    names: Sequence[str],
    supported: Any,
    *,
    clip: bool,
) -> Topology:
    """The trees of all blocks, joined."""
    matrix = checked_distances(distances, len(names))
    blocks = connected_blocks(supported, len(names))
    if len(blocks) == 1:
        edges = make(matrix)
    else:
        largest = float(matrix.max())
        edges, anchors, n_nodes = [], [], len(names)
        for block in blocks:
            edges_within = make(matrix[np.ix_(block, block)])
            edges_of_block, anchor, n_nodes = _placed(edges_within, block, n_nodes)
            edges += edges_of_block
            anchors.append(anchor)
        edges += (
            [(anchors[0], anchors[1], largest)]
            if len(anchors) == 2
            else [(n_nodes, anchor, largest / 2) for anchor in anchors]
        )
    return _topology(edges, names, clip=clip)


def _placed(edges: list[Edge], block: Integers, n_nodes: int) -> tuple[list[Edge], int, int]:
    """A block's edges as numbered in the whole tree, the node that attaches it, and the number of nodes."""
    if len(block) == 1:
        return [], int(block[0]), n_nodes
    if len(block) == 2:  # the middle of the only edge
        length = edges[0][2] / 2
        return [(n_nodes, int(leaf), length) for leaf in block], n_nodes, n_nodes + 1
    number = [*block.tolist(), *range(n_nodes, n_nodes + len(block) - 2)]
    placed = [(number[one], number[other], length) for one, other, length in edges]
    near: dict[str, list[str]] = {}
    for one, other, _ in placed:
        near.setdefault(str(one), []).append(str(other))
        near.setdefault(str(other), []).append(str(one))
    return placed, int(centre(near)), n_nodes + len(block) - 2


# ------------------------------------------------------------------------- in and out


def _topology(edges: list[Edge], names: Sequence[str], *, clip: bool) -> Topology:
    n_nodes = 1 + max((max(one, other) for one, other, _ in edges), default=0)
    taken = set(names)
    every = [*names, *(fresh(f"h{n + 1}", taken) for n in range(n_nodes - len(names)))]
    return Topology(
        nodes=tuple(every),
        edges=tuple((every[one], every[other]) for one, other, _ in edges),
        observed=tuple(names),
        lengths=tuple(max(length, 0.0) if clip else length for _, _, length in edges),
    )
