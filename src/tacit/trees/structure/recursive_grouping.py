"""Trees with observed inner nodes and nodes of any degree, from distances (Choi et al. 2011)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.trees.structure.distance_matrices import maximum_spanning_tree
from tacit.trees.structure.draft import Draft, Edge, learnt_in_blocks
from tacit.trees.structure.interchange import effective_rows, refine, similarity_of
from tacit.trees.structure.quartets import SHORTEST, floor_of
from tacit.trees.structure.short_edges import contract_insignificant
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Start = Callable[[Array, float, bool], Draft]

# Similarity to a node above which a variable counts as the node itself; see `tacit.trees.loops.grouping`.
CERTAIN = 0.9999


def recursive_grouping(
    distances: Any,
    names: Sequence[str],
    *,
    supported: Any = None,
    n_rows: float | None = None,
    n_states: int = 2,
    least: float = 0.0,
) -> Topology:
    """The tree over observed and hidden nodes that the distances speak for, siblings grouped step by step.

    Siblings are found by Choi's test: their distances to all other variables differ by the same number.
    Here the spread of the differences is measured in units of its noise, which grows exponentially with
    distance, and a group is replaced by the best linear guess of its parent. Then branches are
    interchanged wherever that fits better (`interchange.refine`), and edges whose length could be chance are
    contracted, which leaves nodes of any degree, and observed variables inside the tree. Exact distances
    of a tree without superfluous hidden nodes give back the tree. Takes time cubic in the number of
    variables.

    Parameters
    ----------
    distances : (variable, variable)
        Additive along a tree up to noise; symmetric and finite.
    names : sequence of str
        Names of the variables.
    supported : (variable, variable) of bool, optional
        Which distances the data support. Blocks of variables without supported distances between them get
        a tree each, and the blocks meet in one more hidden node, each at half the largest distance of all.
    n_rows : float, optional
        Rows that the distances were estimated from; without it they count as exact.
    n_states : int
        Singular values that each distance is made of: 2 for correlations, k for determinants of k states.
    least : float
        Edges shorter than this are contracted even if they are significant.

    Returns
    -------
    Topology
        With lengths.

    Examples
    --------
    >>> distances = [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 3], [3, 2, 3, 0]]  # b between a, c and d
    >>> recursive_grouping(distances, "abcd").to_newick()
    '(a:1.0,c:1.0,d:2.0)b;'
    """
    return _grouped(_sibling_draft, distances, names, supported, n_rows, n_states, least)


def chow_liu_grouping(
    distances: Any,
    names: Sequence[str],
    *,
    supported: Any = None,
    n_rows: float | None = None,
    n_states: int = 2,
    least: float = 0.0,
) -> Topology:
    """The tree over observed and hidden nodes that grows from the shortest tree over the observed ones.

    The minimum spanning tree of the distances has its hidden nodes contracted into the nearest variables.
    So each variable and its neighbours there are grouped by themselves, from short and therefore precise
    distances. What follows is as in `recursive_grouping`. Much faster for many variables, and better for
    long thin trees.

    Parameters
    ----------
    distances, names, supported, n_rows, n_states, least
        As in `recursive_grouping`.

    Examples
    --------
    >>> distances = [[0, 2, 3, 3], [2, 0, 3, 3], [3, 3, 0, 2], [3, 3, 2, 0]]
    >>> chow_liu_grouping(distances, "abcd").to_newick()
    '(a:1.0,b:1.0,(c:1.0,d:1.0)h2:1.0)h1;'
    """
    return _grouped(_spanning_draft, distances, names, supported, n_rows, n_states, least)


def _grouped(
    start: Start,
    distances: Any,
    names: Sequence[str],
    supported: Any,
    n_rows: float | None,
    n_states: int,
    least: float,
) -> Topology:
    """Blocks of variables, each by itself: a start, refined and contracted."""
    rows = effective_rows(n_rows, n_states)

    def learnt(similarity: Array) -> Draft:
        draft = start(similarity.copy(), floor_of(rows), rows is None)
        refine(draft, similarity, rows)
        contract_insignificant(draft, similarity, rows, least / (n_states - 1))
        return draft

    similarity = similarity_of(distances, names, n_states)
    return learnt_in_blocks(learnt, similarity, supported).topology(names, scale=n_states - 1)


def _sibling_draft(similarity: Array, floor: float, exact: bool) -> Draft:
    """A binary tree by grouping siblings; every variable is a leaf of it."""
    return Draft(len(similarity), _siblings(similarity, floor, exact))


def _siblings(similarity: Array, floor: float, exact: bool) -> list[Edge]:
    """Edges of the binary tree of grouped siblings, its hidden nodes last; overwrites its input."""
    from tacit.trees.loops.grouping import group_siblings

    n_variables = len(similarity)
    if n_variables < 3:
        return [(0, 1, -float(np.log(max(similarity[0, 1], floor))))] if n_variables == 2 else []
    joined = np.zeros((n_variables - 3, 2), dtype=np.int64)
    lengths = np.zeros((n_variables - 3, 2))
    last = group_siblings(similarity, floor, exact, joined, lengths)
    node, depth = list(range(n_variables)), [0.0] * n_variables  # of what stands in each row
    edges: list[Edge] = []
    for step, rows in enumerate(joined.tolist()):
        for row, length in zip(rows, lengths[step].tolist(), strict=True):
            edges.append((n_variables + step, node[row], max(length - depth[row], 0.0)))
        node[rows[0]], depth[rows[0]] = n_variables + step, _guess_depth(lengths[step])
    distances = -np.log(np.maximum(similarity[np.ix_(last, last)], floor))
    for place, row in enumerate(last.tolist()):
        others = distances[place].sum() - distances[place, place] - distances[place - 1, place - 2]
        edges.append((2 * n_variables - 3, node[row], max(0.5 * float(others) - depth[row], 0.0)))
    return edges


def _guess_depth(lengths: Array) -> float:
    """How far the best guess of a node is from it, made of variables at these distances."""
    q = np.minimum(np.exp(-lengths), CERTAIN)
    information = float((q**2 / (1 - q**2)).sum())
    return 0.5 * float(np.log1p(1 / information))


def _spanning_draft(similarity: Array, floor: float, exact: bool) -> Draft:
    """A tree grown from the spanning tree: each node's closed neighbourhood is grouped by itself.

    A hidden neighbour is represented by the variable around which it was found, moved by the distance
    between the two.
    """
    n_variables = len(similarity)
    distances = -np.log(np.maximum(similarity, floor))
    draft = Draft(n_variables)
    for one, other in maximum_spanning_tree(-distances).tolist():
        draft.join(one, other, float(distances[one, other]))
    representatives = [(variable, 0.0) for variable in range(n_variables)]
    for middle in sorted(range(n_variables), key=lambda node: -len(draft.near[node])):
        family = [middle, *sorted(draft.near[middle])]
        if len(family) < 3:
            continue
        variables, moved = zip(*(representatives[node] for node in family), strict=True)
        apart = distances[np.ix_(variables, variables)] - np.add.outer(moved, moved)
        local = np.exp(-np.maximum(apart, SHORTEST))
        np.fill_diagonal(local, 1.0)
        for node in family[1:]:
            draft.cut(middle, node)
        number = [*family, *(draft.add() for _ in range(len(family) - 2))]
        grouped = _siblings(local, floor, exact)
        for one, other, length in grouped:
            draft.join(number[one], number[other], length)
        order, above = (within := Draft(len(family), grouped)).walk(0)
        reach = {0: 0.0}
        for node in order[1:]:
            reach[node] = reach[above[node]] + within.near[node][above[node]]
        representatives += [(middle, reach[node]) for node in range(len(family), len(number))]
    return draft
