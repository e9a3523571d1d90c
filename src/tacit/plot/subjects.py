"""What a picture of a tree shows: the tree, states of its hidden nodes, strengths of its edges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.errors import NotAvailableError
from tacit.evaluate.strength import edge_correlations
from tacit.trees.structure.topology import Topology


@dataclass(frozen=True, eq=False)
class Subject:
    """A tree to be drawn, and what is known of its nodes and edges."""

    topology: Topology
    n_states: Mapping[str, int] = field(default_factory=dict)  # of hidden nodes
    strengths: Mapping[frozenset[str], float] = field(default_factory=dict)  # of edges, 0 to 1
    sets: Mapping[str, str] = field(
        default_factory=dict
    )  # variables of the nodes of a junction tree


def subject_of(model: Any) -> Subject:
    """What is drawn of a model, of one of its components, or of a topology.

    Raises
    ------
    NotAvailableError
        There is no tree.
    """
    if isinstance(model, Topology):
        return Subject(model.contracted(), model.contracted().n_states)
    topology = getattr(model, "topology_", None) or getattr(model, "topology", None)
    if not isinstance(topology, Topology):
        raise NotAvailableError(
            f"{type(model).__name__} has no tree to draw; pass a fitted tree model or a Topology"
        )
    if hasattr(model, "junction_"):
        return _junction_subject(model)
    topology = topology.contracted()
    if hasattr(model, "gaussian_"):
        return Subject(topology, strengths=_gaussian_strengths(topology))
    components = getattr(model, "trees_", ())
    if len(components) > 1:
        return subject_of(max(components, key=lambda each: each.weight))
    tables = getattr(model, "tables_", None) or getattr(model, "tables", None)
    n_states = getattr(model, "node_states_", None) or topology.n_states
    if tables is not None and not n_states:
        n_states = dict(zip(tables.tree.names, tables.layout.n_states, strict=True))
    hidden = set(topology.hidden)
    known = {name: int(count) for name, count in n_states.items() if name in hidden}
    return Subject(topology, known, {} if tables is None else edge_correlations(tables))


def _junction_subject(model: Any) -> Subject:
    """A junction tree as it is: a set with two neighbours stands for variables that are nowhere else."""
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
