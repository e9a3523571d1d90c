"""Model files of junction trees."""

from __future__ import annotations

from typing import Any

from tacit.core.encoders.given_features import plain_features
from tacit.core.files.fields import Arrays, Field
from tacit.core.files.header_values import Value, integer
from tacit.core.files.saved_model import ModelFile
from tacit.errors import FileFormatError
from tacit.junction.structure.graphs import VariableGraph
from tacit.junction.structure.junction_tree import JunctionTree, junction_tree
from tacit.messages.network import Tables
from tacit.messages.network_files import PARAMETERS, TREE, upgraded_parameters
from tacit.trees.model_files import COLUMNS, LEAVES, SCHEMA


def _edges(graph: VariableGraph) -> list[list[str]]:
    """The edges of a graph: from parent to child, or each once."""
    if graph.parents is not None:
        return [[above, name] for name in graph.variables for above in graph.parents[name]]
    place = {name: number for number, name in enumerate(graph.variables)}
    return [
        [name, other]
        for name in graph.variables
        for other in sorted(graph.neighbours[name], key=place.__getitem__)
        if place[name] < place[other]
    ]


def _plain_graph(graph: VariableGraph) -> dict[str, Any]:
    return {
        "variables": list(graph.variables),
        "directed": graph.parents is not None,
        "edges": _edges(graph),
    }


def _graph(plain: Any) -> VariableGraph:
    return VariableGraph.of(networkx_graph(plain["variables"], plain["edges"], plain["directed"]))


def networkx_graph(variables: Any, edges: Any, directed: Any) -> Any:
    """A graph in the form that an estimator takes."""
    import networkx as nx

    graph: Any = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(str(name) for name in variables)
    graph.add_edges_from((str(one), str(other)) for one, other in edges)
    return graph


def graph_argument(graph: VariableGraph) -> Any:
    """The graph as an argument of an estimator."""
    return networkx_graph(graph.variables, _edges(graph), graph.parents is not None)


def _states(plain: Any) -> dict[str, int]:
    return {name: integer(1).from_plain(count) for name, count in plain.items()}


def restored_junction(
    graph: VariableGraph, states: dict[str, int], schema: Any, parameters: Any
) -> JunctionTree:
    """The junction tree of a graph, checked against the parameters.

    Raises
    ------
    FileFormatError
        It has another tree, or other joint states.
    """
    known = dict(zip(schema.names, schema.cards, strict=True))
    junction = junction_tree(graph, schema.names, {**states, **known})
    one, other = junction.tree, parameters.tree
    if one.names != other.names or one.parent.tolist() != other.parent.tolist():
        raise FileFormatError("the junction tree of the graph is not that of the parameters")
    if isinstance(parameters, Tables):
        for node in one.hidden:
            size = 1
            for name in junction.members[node]:
                size *= junction.states[name]
            if parameters.layout.n_states[node] != size:
                raise FileFormatError(f"node {node} has other states than its variables together")
    return junction


def _upgrade(header: dict[str, Any], arrays: Arrays) -> None:
    """Files of formats 1 and 2 have no tree: it is that of the graph."""
    schema = SCHEMA.from_plain(header["schema"])
    known = dict(zip(schema.names, schema.cards, strict=True))
    states = {**_states(header["states"]), **known}
    tree = junction_tree(_graph(header["graph"]), schema.names, states).tree
    header["parameters"] = upgraded_parameters({"tree": TREE.to_plain(tree)}, arrays)


def order_of(junction: JunctionTree) -> int:
    """The order of the chain that a junction tree is of.

    Raises
    ------
    FileFormatError
        It is not of a chain.
    """
    graph, hidden = junction.graph, junction.hidden_variables
    columns = junction.tree.names[: junction.tree.n_leaves]
    if graph.parents is None or len(hidden) != len(columns):
        raise FileFormatError("the graph is not that of a chain with a state for each column")
    order = max((len(graph.parents[name]) for name in hidden), default=0)
    for time, (name, column) in enumerate(zip(hidden, columns, strict=True)):
        above = graph.parents[name]
        if len(above) != min(time, order) or set(above) != set(hidden[time - len(above) : time]):
            raise FileFormatError(f"state {name!r} does not depend on the {order} before it")
        if graph.parents[column] != (name,):
            raise FileFormatError(f"column {column!r} does not depend on its state alone")
    return order


def _file(*more: Field) -> ModelFile:
    return ModelFile(
        Field("schema_", SCHEMA, sizes=COLUMNS),
        Field("graph_", Value(_plain_graph, _graph), get=lambda model: model.junction_.graph),
        Field("states_", Value(dict, _states), get=lambda model: model.node_states_),
        Field("parameters_", PARAMETERS, sizes=LEAVES),
        *more,
        arguments={"graph": None, "features": plain_features},
        columns=lambda model: model.schema_.names,
        upgrade=_upgrade,
    )


JUNCTION_FILE = _file()
# Files before "auto" have no order but the argument.
HIGHER_ORDER_FILE = _file(Field("order_", integer(), optional=True))
