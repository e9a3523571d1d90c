"""The Chow-Liu tree of all variables, and the hidden tree made after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.trees.structure.distance_matrices import Edges, maximum_spanning_tree
from tacit.trees.structure.rooting import fresh
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]

_BLOCK = 100_000  # entries


def mutual_information(counts: NDArray[np.number], cards: Sequence[int]) -> Array:
    """Mutual information of all pairs of variables, in nats.

    Each pair is judged by the rows that have both variables. A pair never seen together, or with a
    constant in it, has none. Values are rounded to 12 digits, so that pairs that tie in theory tie here.

    Parameters
    ----------
    counts : array (category of all, category of all)
        Pair counts or pair probabilities; block (i, j) belongs to variables i and j.
    cards : sequence of int
        Number of categories of each variable.

    Returns
    -------
    array (variable, variable)
        Symmetric, zero on the diagonal.

    Examples
    --------
    >>> counts = np.array([[2, 0, 2, 0], [0, 2, 0, 2], [2, 0, 2, 0], [0, 2, 0, 2]])
    >>> mutual_information(counts, [2, 2])
    array([[0.        , 0.69314718],
           [0.69314718, 0.        ]])
    """
    size = sum(cards)
    if counts.shape != (size, size):
        raise ArgumentError(f"pair counts of {size} categories are needed, not {counts.shape}")
    if not cards:
        return np.zeros((0, 0))
    starts = np.concatenate([[0], np.cumsum(cards)])
    rows = np.empty((len(cards), len(cards)))  # that have both variables
    joint_sum, single_sum = np.empty_like(rows), np.empty_like(rows)
    step = max(1, _BLOCK // (size * max(cards)))
    for first in range(0, len(cards), step):  # in blocks that stay in the cache
        block = slice(first, first + step)
        ends = starts[first : first + step + 1]
        inside = ends[:-1] - ends[0]
        joint = counts[ends[0] : ends[-1]].astype(np.float64)  # (category of the block, category)
        single = np.add.reduceat(joint, starts[:-1], axis=1)  # (category of the block, variable)
        rows[block] = np.add.reduceat(single, inside)
        single_sum[block] = np.add.reduceat(_x_log_x(single), inside)
        by_variable = np.add.reduceat(_x_log_x(joint), starts[:-1], axis=1)
        joint_sum[block] = np.add.reduceat(by_variable, inside)
    per_row = joint_sum - single_sum - single_sum.T
    n_rows = np.where(rows > 0, rows, 1.0)
    information = np.where(rows > 0, per_row / n_rows + np.log(n_rows), 0.0)
    upper = np.triu(np.maximum(information.round(12), 0.0), k=1)
    return upper + upper.T


def _x_log_x(x: Array) -> Array:
    """Zero where x is zero; several times faster than `scipy.special.xlogy`."""
    return x * np.log(np.where(x > 0, x, 1.0))


def chow_liu_edges(
    counts: NDArray[np.number], cards: Sequence[int], *, per_degree: float = 0.0
) -> Edges:
    """The edges of the Chow-Liu tree: of all trees over the variables, the likeliest (1968).

    Parameters
    ----------
    counts, cards
        See `mutual_information`.
    per_degree : float
        Penalty on the information of a pair for each degree of freedom, (r-1)(c-1) of them for r and
        c categories: ``log(N) / (2 N)`` is the Bayesian information criterion. Without it variables with many
        categories look more informative than they are.

    Returns
    -------
    array (edge, 2)
        Pairs of variables.

    Examples
    --------
    >>> counts = np.array([[2, 0, 1, 1], [0, 2, 1, 1], [1, 1, 2, 0], [1, 1, 0, 2]])
    >>> chow_liu_edges(counts, [2, 2])
    array([[0, 1]])
    """
    weights = mutual_information(counts, cards)
    if per_degree:
        free = np.array(cards) - 1.0
        weights -= per_degree * np.outer(free, free)
    return maximum_spanning_tree(weights)


def chow_liu_topology(edges: Edges | Sequence[tuple[int, int]], names: Sequence[str]) -> Topology:
    """The tree of observed variables with these edges.

    Examples
    --------
    >>> chow_liu_topology([(0, 1), (1, 2)], ["a", "b", "c"]).observed
    ('a', 'b', 'c')
    """
    joined = tuple((names[one], names[other]) for one, other in edges)
    return Topology(tuple(names), joined, tuple(names))


def hidden_chow_liu(
    edges: Edges | Sequence[tuple[int, int]],
    names: Sequence[str],
    n_states: int | Mapping[str, int] | None = None,
) -> Topology:
    """The hidden tree made after a Chow-Liu tree.

    Every variable hangs under a hidden node of its own, and the hidden nodes are joined as the
    variables were; then superfluous hidden nodes are contracted. So a variable that was a leaf hangs
    directly on its neighbour's hidden node.

    Parameters
    ----------
    edges : array (edge, 2)
        The Chow-Liu tree over the variables.
    names : sequence of str
        Names of the variables; the hidden node of ``x`` is called ``h_x``.
    n_states : int or mapping of variable's name to int, optional
        Number of states of each hidden node.

    Examples
    --------
    >>> hidden_chow_liu([(0, 1), (1, 2), (2, 3)], ["a", "b", "c", "d"]).to_newick()
    '(a,b,(c,d)h_c)h_b;'
    """
    taken = set(names)
    above = [fresh(f"h_{name}", taken) for name in names]
    hung = [(above[number], name) for number, name in enumerate(names)]
    joined = [(above[one], above[other]) for one, other in edges]
    if isinstance(n_states, int):
        n_states = dict.fromkeys(names, n_states)
    states = (
        {above[number]: n_states[name] for number, name in enumerate(names)} if n_states else {}
    )
    tree = Topology((*names, *above), (*hung, *joined), tuple(names), (), states)
    return tree.contracted()
