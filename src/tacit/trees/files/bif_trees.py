"""Tree models as Bayesian networks, and Bayesian networks that are trees as tree models."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TopologyError
from tacit.messages.network import Tables
from tacit.trees.files.bif_network import BifNetwork, BifTable, BifVariable
from tacit.trees.files.bif_writing import write_bif_network
from tacit.trees.structure.rooting import walk
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]


class BifTree(NamedTuple):
    """A tree model that came from a Bayesian network."""

    topology: Topology
    names: tuple[str, ...]  # observed variables, in the order of the file
    categories: dict[str, tuple[Any, ...]]  # of the observed variables
    tables: Tables  # on topology.rooted(names)

    @property
    def node_states(self) -> dict[str, int]:
        """The number of states of each hidden variable."""
        tree = self.tables.tree
        return {
            tree.names[node]: self.tables.layout.n_states[node]
            for node in tree.hidden
            if tree.copy_of[node] < 0
        }


def write_bif(
    path: str | os.PathLike[str],
    tables: Tables,
    categories: Sequence[Sequence[Any]],
    name: str = "tacit",
) -> None:
    """Write a tree's tables to a BIF file, whole or not at all; see `bif_from_tables`."""
    write_bif_network(path, bif_from_tables(tables, categories, name))


def bif_from_tables(
    tables: Tables, categories: Sequence[Sequence[Any]], name: str = "tacit"
) -> BifNetwork:
    """The Bayesian network of a tree's tables.

    Observed variables come first, in the order of the columns; hidden ones follow and are marked as latent,
    with categories s0, s1, ... An observed variable inside the tree is one variable, not two.

    Parameters
    ----------
    tables : Tables
    categories : sequence of sequences
        The categories of each leaf.
    name : str
        The network's name.
    """
    tree = tables.tree
    copied = {int(leaf): node for node, leaf in enumerate(tree.copy_of) if leaf >= 0}
    names = list(tree.names)
    for leaf, node in copied.items():
        names[node] = tree.names[leaf]
    states = [tuple(column) for column in categories]
    variables = [BifVariable(n, column) for n, column in zip(names, states, strict=False)]
    for node in tree.hidden:
        if tree.copy_of[node] < 0:
            count = tables.layout.n_states[node]
            state_names = tuple(f"s{state}" for state in range(count))
            variables.append(BifVariable(names[node], state_names, latent=True))
    bif_tables = []
    # The root first: `tree_from_bif` then finds the same root and the same order of hidden nodes.
    for node in [*reversed(tree.hidden), *range(tree.n_leaves)]:
        above = int(tree.parent[node])
        if node not in copied:
            table = tables.table(node)
            parents = () if above < 0 else (names[above],)
            bif_tables.append(BifTable(names[node], parents, table[0] if above < 0 else table))
    return BifNetwork(name, tuple(variables), tuple(bif_tables))


def tree_from_bif(network: BifNetwork, hidden: Iterable[str] | None = None) -> BifTree:
    """The tree model of a Bayesian network in which every variable has at most one parent.

    The tree is rooted at its centre, whatever the directions in the file; tables are reversed by Bayes' rule,
    and superfluous hidden variables are summed out. The distribution of the observed variables stays
    exactly the same.

    Parameters
    ----------
    network : BifNetwork
    hidden : iterable of str, optional
        The hidden variables; without it, those that the file marks as latent.

    Raises
    ------
    TopologyError
        The network is no tree: a variable has two parents, or nothing joins two parts of it.
    """
    latent = {v.name for v in network.variables if v.latent} if hidden is None else set(hidden)
    if unknown := latent.difference(network.variable_of):
        raise TopologyError(f"the network has no variable {min(unknown)!r}")
    for table in network.tables:
        if len(table.parents) > 1:
            raise TopologyError(
                f"the network is not a tree: {table.variable!r} depends on "
                f"{len(table.parents)} others ({', '.join(map(repr, table.parents[:4]))})"
            )
    names = tuple(v.name for v in network.variables if v.name not in latent)
    topology = Topology(
        nodes=tuple(table.variable for table in network.tables),
        edges=tuple((t.parents[0], t.variable) for t in network.tables if t.parents),
        observed=names,
        n_states={name: len(network.variable_of[name].categories) for name in latent},
    )
    categories = {name: network.variable_of[name].categories for name in names}
    return BifTree(topology.contracted(), names, categories, _tables(network, topology, names))


def _tables(network: BifNetwork, topology: Topology, names: tuple[str, ...]) -> Tables:
    tree = topology.contracted().rooted(names)
    # The name in the network that each node of the rooted tree stands for.
    known = [
        tree.names[node if leaf < 0 else leaf] for node, leaf in enumerate(tree.copy_of.tolist())
    ]
    marginal = _marginals(network)
    above = walk(topology.neighbours, known[tree.root])
    remaining = set(known)
    tables: list[Array] = []
    for node, up in enumerate(tree.parent.tolist()):
        name = known[node]
        if up >= 0 and known[up] == name:  # a leaf under its own copy
            tables.append(np.eye(len(marginal[name])))
        elif up < 0:
            tables.append(marginal[name][None, :])
        else:
            tables.append(_step(network, marginal, above, remaining, name))
    return Tables.of(tree, tables)


def _step(
    network: BifNetwork,
    marginal: Mapping[str, Array],
    above: Mapping[str, str | None],
    remaining: set[str],
    name: str,
) -> Array:
    """P(node | the nearest remaining node above), those between summed out."""
    table: Array | None = None
    while table is None or name not in remaining:
        up = above[name]
        assert up is not None  # the root is kept
        step = _turned(network, marginal, up, name)
        table = step if table is None else step @ table
        name = up
    return table


def _turned(network: BifNetwork, marginal: Mapping[str, Array], up: str, name: str) -> Array:
    """P(name | up), whichever of the two is the other's parent in the network."""
    if network.table_of[name].parents == (up,):
        return network.table_of[name].values
    joint = network.table_of[up].values * marginal[name][:, None]  # (name, up)
    sums = joint.sum(axis=0)
    impossible = sums == 0  # any distribution will do under a state that never occurs
    joint[:, impossible], sums[impossible] = 1.0, len(joint)
    turned: Array = (joint / sums).T
    return turned


def _marginals(network: BifNetwork) -> dict[str, Array]:
    """The distribution of each variable, parents before children."""
    children: dict[str, list[str]] = {table.variable: [] for table in network.tables}
    marginals: dict[str, Array] = {}
    for table in network.tables:
        if table.parents:
            children[table.parents[0]].append(table.variable)
        else:
            marginals[table.variable] = table.values
    waiting = list(marginals)
    for name in waiting:  # grows while it is read
        for child in children[name]:
            marginals[child] = marginals[name] @ network.table_of[child].values
            waiting.append(child)
    return marginals
