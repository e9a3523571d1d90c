"""The trees that a fitted model is made of: one, or several with weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, NotAvailableError
from tacit.messages.mixture import Mixture
from tacit.messages.network import Network, Tables
from tacit.trees.structure.topology import Topology

if TYPE_CHECKING:
    from tacit.messages.rooted_tree import RootedTree


@dataclass(frozen=True, eq=False)
class Component:
    """One tree of a fitted model; `tacit.plot.tree` draws it.

    Attributes
    ----------
    weight : float
        Mixture weight of this tree; 1 where there is only one.
    topology : Topology
    tables : Tables or None
        None where the tree holds operators.
    node_states : dict of str to int
        States of the hidden nodes of the topology; of operators, the rank towards the parent.
    """

    weight: float
    topology: Topology
    tables: Tables | None
    node_states: dict[str, int]


def components_of(
    parameters: Network | Tables | Mixture, topology: Topology, tree: RootedTree
) -> tuple[Component, ...]:
    """The trees of a fitted model, in the order of the mixture.

    Parameters
    ----------
    parameters : Network, Tables or Mixture
    topology, tree : Topology, RootedTree
        Of the heaviest component; the topologies of the others follow from their tables.
    """
    if not isinstance(parameters, Mixture):
        tables = parameters if isinstance(parameters, Tables) else None
        return (Component(1.0, topology, tables, _states(parameters)),)
    return tuple(
        Component(
            weight=weight,
            topology=topology if part.tree is tree else topology_of(part.tree),
            tables=part,
            node_states=_states(part),
        )
        for weight, part in zip(parameters.weights.tolist(), parameters.parts, strict=True)
    )


def _states(parameters: Network | Tables) -> dict[str, int]:
    tree = parameters.tree
    counts = parameters.layout.n_states if isinstance(parameters, Tables) else parameters.ranks
    return {tree.names[node]: counts[node] for node in tree.hidden if tree.copy_of[node] < 0}


def heaviest(components: Sequence[Component]) -> Component:
    """The component with the largest weight, the first of several."""
    return max(components, key=lambda component: component.weight)


def chosen_component(components: Sequence[Component], number: int | None) -> Component:
    """The component of this number; without one, the only component there is.

    Raises
    ------
    ArgumentError
        There is no such component.
    NotAvailableError
        There are several, and none was chosen.
    """
    last = len(components) - 1
    if number is None:
        if last > 0:
            raise NotAvailableError(
                f"this model is a mixture of {len(components)} trees, which is no Bayesian network of its "
                f"variables; choose one of its components, 0 to {last}"
            )
        return components[0]
    if isinstance(number, bool) or not isinstance(number, int | np.integer):
        raise ArgumentTypeError(f"component={shown(number)}; give a number from 0 to {last}")
    if not 0 <= number <= last:
        raise ArgumentError(f"component={shown(number)}; the model has components 0 to {last}")
    return components[int(number)]


@lru_cache(maxsize=64)
def topology_of(tree: RootedTree) -> Topology:
    """The tree over named variables that a rooted tree was made from; without lengths of edges.

    Examples
    --------
    >>> topology = Topology.from_newick("((a,b)c,d,e)f;", observed=["c"])
    >>> topology_of(topology.rooted("abcde")) == topology
    True
    """
    copies = tree.copy_of.tolist()
    names = [tree.names[node if copy < 0 else copy] for node, copy in enumerate(copies)]
    # From the root outwards, as trees are numbered.
    outwards = [*reversed(tree.hidden[:-1]), *range(tree.n_leaves)]
    edges = tuple(
        (names[tree.parent[node]], names[node])
        for node in outwards
        if copies[tree.parent[node]] != node
    )
    nodes = tuple(dict.fromkeys(names[node] for node in (tree.root, *outwards)))
    return Topology(nodes, edges, observed=tree.names[: tree.n_leaves])
