"""Fitted junction trees to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from, put_columns
from tacit.core.files.model_files import write_model
from tacit.errors import FileFormatError, TacitError
from tacit.trees.files.network_arrays import parameters_arrays, parameters_from

if TYPE_CHECKING:
    from tacit.junction.latent_junction_tree import JunctionEstimator
    from tacit.junction.structure.graphs import VariableGraph


def save_junction(model: JunctionEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted junction tree to one file, whole or not at all."""
    junction = model.junction_
    header = {
        **common_header(model),
        "schema": model.schema_.to_json(),
        "graph": graph_to_json(junction.graph),
        "states": {name: junction.states[name] for name in junction.hidden_variables},
    }
    write_model(path, header, parameters_arrays(model.parameters_))


def load_junction(
    kind: type[Any],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> Any:
    """The fitted junction tree that a file holds."""
    from tacit.core.input.table import Schema
    from tacit.junction.structure.junction_tree import junction_tree
    from tacit.trees.model.components import topology_of

    check_header(path, header, {"schema": list, "graph": dict, "states": dict})
    schema = Schema.from_json(header["schema"])
    graph = graph_from_json(header["graph"])
    states = {**header["states"], **dict(zip(schema.names, schema.cards, strict=True))}
    model = made_from(kind, header, graph=graph_given(graph))
    model.schema_ = schema
    try:
        model.junction_ = junction_tree(graph, schema.names, states)
    except (TacitError, KeyError, TypeError) as error:
        raise FileFormatError(f"the graph in {str(path)!r} is damaged: {error}") from error
    model.tree_ = model.junction_.tree
    model.topology_ = topology_of(model.tree_)
    model.parameters_ = parameters_from(model.tree_, arrays, schema.cards)
    put_columns(model, header, schema.names)
    return model


def graph_to_json(graph: VariableGraph) -> dict[str, Any]:
    """A graph as plain values."""
    directed = graph.parents is not None
    return {
        "variables": list(graph.variables),
        "directed": directed,
        "edges": [list(edge) for edge in edges_of(graph)],
    }


def edges_of(graph: VariableGraph) -> list[tuple[str, str]]:
    """The edges of a graph: from parent to child, or each once."""
    if graph.parents is not None:
        return [(above, name) for name in graph.variables for above in graph.parents[name]]
    place = {name: number for number, name in enumerate(graph.variables)}
    return [
        (name, other)
        for name in graph.variables
        for other in sorted(graph.neighbours[name], key=place.__getitem__)
        if place[name] < place[other]
    ]


def graph_from_json(plain: Mapping[str, Any]) -> VariableGraph:
    """The graph that `graph_to_json` wrote."""
    import networkx as nx

    from tacit.junction.structure.graphs import VariableGraph

    try:
        graph: Any = nx.DiGraph() if plain["directed"] else nx.Graph()
        graph.add_nodes_from(str(name) for name in plain["variables"])
        graph.add_edges_from((str(one), str(other)) for one, other in plain["edges"])
        return VariableGraph.of(graph)
    except (TacitError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"the graph in the file is damaged: {error}") from error


def graph_given(graph: VariableGraph) -> Any:
    """The graph in a form that an estimator takes."""
    import networkx as nx

    given: Any = nx.DiGraph() if graph.parents is not None else nx.Graph()
    given.add_nodes_from(graph.variables)
    given.add_edges_from(edges_of(graph))
    return given
