"""How far two trees are apart, and which of two models' hidden states are the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_flag, check_kind
from tacit.errors import ArgumentError, TopologyError
from tacit.messages.network import Tables
from tacit.trees.structure.rooting import walk
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Permutation = NDArray[np.int64]

_TREE = "a Topology, such as Topology.from_newick reads"


def splits(topology: Topology) -> set[frozenset[str]]:
    """Bipartitions of the observed variables by single edges.

    Returns
    -------
    set of frozenset of str
        For each edge of the contracted tree, the side that lacks the alphabetically first variable.

    Examples
    --------
    >>> tree = Topology.from_newick("((a,b),(c,d));")
    >>> sorted(sorted(side) for side in splits(tree))
    [['b'], ['b', 'c', 'd'], ['c'], ['c', 'd'], ['d']]
    """
    check_kind("topology", topology, Topology, _TREE)
    tree = topology.contracted()
    first = min(tree.observed)
    above = walk(tree.neighbours, first)
    observed = set(tree.observed)
    side: dict[str, frozenset[str]] = {}
    gathered: dict[str, list[frozenset[str]]] = {name: [] for name in above}
    for name, towards in reversed(above.items()):
        itself = frozenset([name]) if name in observed else frozenset()
        side[name] = itself.union(*gathered[name])
        if towards is not None:
            gathered[towards].append(side[name])
    return {below for name, below in side.items() if name != first}


def robinson_foulds(one: Topology, other: Topology, *, normalised: bool = False) -> float:
    """The number of splits that only one of two trees has (Robinson & Foulds 1981).

    Hidden nodes' names, lengths and superfluous hidden nodes have no influence. Observed variables may
    stand inside the trees.

    Parameters
    ----------
    one, other : Topology
        Trees over the same observed variables.
    normalised : bool
        Divide by the largest number possible for trees with that many splits, so that 1 means nothing in
        common.

    Raises
    ------
    TopologyError
        The observed variables differ.

    Examples
    --------
    >>> tree, better = (
    ...     Topology.from_newick("((a,b),(c,d));"),
    ...     Topology.from_newick("((a,c),(b,d));"),
    ... )
    >>> robinson_foulds(tree, better), robinson_foulds(tree, tree)
    (2.0, 0.0)
    """
    check_flag("normalised", normalised)
    _check_same_variables(one, other)
    first, second = splits(one), splits(other)
    distance = len(first ^ second)
    if not normalised:
        return float(distance)
    # A leaf in both trees is cut off by an edge in both, which says nothing about likeness.
    n_observed = len(one.observed)
    idle = sum(len(side) in (1, n_observed - 1) for side in first & second)
    most = len(first) + len(second) - 2 * idle
    return distance / most if most else 0.0


def hop_error(one: Topology, other: Topology, *, mean: bool = False) -> float:
    """How differently two trees count the edges between pairs of variables (Parikh's thesis, 6.6.2).

    For each pair with h edges between them in one tree and g in the other, ``|h - g| / h + |h - g| / g``.
    Unlike splits, hops forgive a leaf that hangs one edge too far and punish one that is far from home.
    Hidden nodes' names, lengths and superfluous hidden nodes have no influence.

    Parameters
    ----------
    one, other : Topology
        Trees over the same observed variables.
    mean : bool
        The mean over the pairs instead of their sum, which the thesis prints.

    Raises
    ------
    TopologyError
        The observed variables differ.

    Examples
    --------
    >>> tree, other = Topology.from_newick("((a,b),(c,d));"), Topology.star("abcd")
    >>> round(hop_error(tree, other), 6), hop_error(tree, tree)
    (3.333333, 0.0)
    """
    check_flag("mean", mean)
    _check_same_variables(one, other)
    names = sorted(one.observed)
    if len(names) < 2:
        return 0.0
    pairs = np.triu_indices(len(names), k=1)
    first, second = _hops(one.contracted(), names)[pairs], _hops(other.contracted(), names)[pairs]
    errors = np.abs(first - second) * (1 / first + 1 / second)
    return float(errors.mean() if mean else errors.sum())


def _hops(tree: Topology, names: list[str]) -> Array:
    """Edges between variables: (variable, variable)."""
    above = walk(tree.neighbours, names[0])
    number = {name: place for place, name in enumerate(above)}
    hops = np.zeros((len(above), len(above)))
    for name, towards in above.items():
        if towards is not None:  # everything before this node is as far as from its parent, and one
            place = number[name]
            hops[place, :place] = hops[:place, place] = hops[number[towards], :place] + 1
    chosen = [number[name] for name in names]
    return hops[np.ix_(chosen, chosen)]


def _check_same_variables(one: Topology, other: Topology) -> None:
    check_kind("one", one, Topology, _TREE)
    check_kind("other", other, Topology, _TREE)
    if set(one.observed) != set(other.observed):
        odd = sorted(set(one.observed) ^ set(other.observed))
        raise TopologyError(
            f"trees over the same variables are needed; only one of these has {odd[0]!r}"
        )


def align_states(tables: Tables, reference: Tables) -> Tables:
    """The same model with its hidden states renumbered to match a reference.

    The order of hidden states is arbitrary. Here every hidden node's states are matched to those of the
    reference by their distributions of all observed variables: the assignment with the smallest sum of
    squared differences between P(variable | state).

    Parameters
    ----------
    tables : Tables
        What is renumbered.
    reference : Tables
        Tables on an equal tree with equal numbers of states.

    Returns
    -------
    Tables
        Every distribution of observed variables is as before.

    Raises
    ------
    ArgumentError
        The trees or the numbers of states differ.
    """
    orders = state_orders(tables, reference)
    moved = []
    for node, above in enumerate(tables.tree.parent.tolist()):
        table = tables.table(node)[:, orders[node]]
        moved.append(table if above < 0 else table[orders[above]])
    return Tables.of(tables.tree, moved)


def state_orders(tables: Tables, reference: Tables) -> list[Permutation]:
    """For each node, which of its states stands for each of the reference's, in their order."""
    from scipy.optimize import linear_sum_assignment

    _check_alike(tables, reference)
    tree = tables.tree
    orders = [np.arange(n, dtype=np.int64) for n in tables.layout.n_states]
    mine, theirs = _profiles(tables), _profiles(reference)
    for node in tree.hidden:
        if tree.copy_of[node] < 0:  # the states of a copy are categories, which have an order
            gap = theirs[node][:, None, :] - mine[node][None, :, :]
            orders[node] = linear_sum_assignment((gap**2).sum(axis=2))[1]
    return orders


def _check_alike(tables: Tables, reference: Tables) -> None:
    for name, value in (("tables", tables), ("reference", reference)):
        check_kind(name, value, Tables, "tables of a tree, such as those of tacit.toy models")
    mine, theirs = tables.tree, reference.tree
    same_tree = mine.names == theirs.names and np.array_equal(mine.parent, theirs.parent)
    if not same_tree or tables.layout.n_states != reference.layout.n_states:
        raise ArgumentError(
            "states can be aligned only on equal trees with equal numbers of states"
        )


def _profiles(tables: Tables) -> list[Array]:
    """P(category of any leaf | state) for every node: (state, category of all leaves)."""
    tree, n_states = tables.tree, tables.layout.n_states
    starts = np.concatenate([[0], np.cumsum(n_states[: tree.n_leaves])])
    profiles = [np.zeros((n, starts[-1])) for n in n_states]
    marginals: list[Array] = [np.empty(0)] * tree.n_nodes
    for node in range(tree.n_nodes):  # leaves below each node
        if node < tree.n_leaves:
            profiles[node][:, starts[node] : starts[node + 1]] = np.eye(n_states[node])
        for child in tree.children[node]:
            profiles[node] += tables.table(child) @ profiles[child]
    for node in reversed(range(tree.n_nodes)):  # and then all others, through the parent
        above, table = int(tree.parent[node]), tables.table(node)
        if above < 0:
            marginals[node] = table[0]
            continue
        marginals[node] = marginals[above] @ table
        joint = marginals[above][:, None] * table  # (parent state, state)
        total = np.where(marginals[node] > 0, marginals[node], 1.0)
        elsewhere = profiles[above] - table @ profiles[node]
        profiles[node] += (joint / total).T @ elsewhere
    return profiles
