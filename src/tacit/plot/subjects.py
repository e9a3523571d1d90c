"""What is drawn of a tree: the tree, states of its hidden nodes, strengths of its edges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from tacit.evaluate.strength import edge_correlations
from tacit.plot.models import check_can
from tacit.trees.model.components import Component, components_of, heaviest
from tacit.trees.structure.topology import Topology

if TYPE_CHECKING:
    from tacit.messages.network import Tables


@dataclass(frozen=True, eq=False)
class Subject:
    """A tree to be drawn, and what is known of its nodes and edges."""

    topology: Topology
    n_states: Mapping[str, int] = field(default_factory=dict)  # of hidden nodes
    strengths: Mapping[frozenset[str], float] = field(default_factory=dict)  # of edges, 0 to 1
    sets: Mapping[str, str] = field(
        default_factory=dict
    )  # variables of the nodes of a junction tree


@runtime_checkable
class KnownTree(Protocol):
    """A tree with known tables, such as those of `tacit.toy`."""

    topology: Topology
    tables: Tables


def subject_of(model: Any) -> Subject:
    """What is drawn of a model, of one of its components, or of a topology.

    Raises
    ------
    NotAvailableError
        There is no tree.
    """
    if isinstance(model, Topology):
        return Subject(model.contracted(), model.contracted().n_states)
    if isinstance(model, Component):
        return _component_subject(model)
    if isinstance(model, KnownTree):
        (component,) = components_of(model.tables, model.topology, model.tables.tree)
        return _component_subject(component)
    check_can(model, "tree", "has no tree to draw; pass a fitted tree model or a Topology")
    if model.can("junction"):
        return _junction_subject(model)
    if not model.can("components"):
        topology = model.topology_.contracted()
        return Subject(topology, strengths=_gaussian_strengths(topology))
    return _component_subject(heaviest(model.trees_))


def _component_subject(component: Component) -> Subject:
    topology, tables = component.topology.contracted(), component.tables
    hidden = set(topology.hidden)
    states = {name: int(n) for name, n in component.node_states.items() if name in hidden}
    return Subject(topology, states, {} if tables is None else edge_correlations(tables))


def _junction_subject(model: Any) -> Subject:
    """A junction tree with all its nodes: one with two neighbours may hold variables that no other has."""
    junction, tables = model.junction_, model.tables_
    names = junction.tree.names
    hidden = junction.tree.hidden
    return Subject(
        model.topology_,
        {names[node]: junction.n_states[node] for node in hidden},
        {} if tables is None else edge_correlations(tables),
        {names[node]: ", ".join(junction.members[node]) for node in hidden},
    )


def _gaussian_strengths(topology: Topology) -> dict[frozenset[str], float]:
    """The lengths of a Gaussian tree are minus the logarithms of its correlations."""
    return {
        frozenset(edge): math.exp(-length)
        for edge, length in zip(topology.edges, topology.lengths, strict=True)
        if length is not None
    }
