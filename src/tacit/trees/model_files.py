"""The fields of tree models in model files."""

from __future__ import annotations

from typing import Any

from tacit.core.encoders.given_features import plain_features
from tacit.core.files.fields import Arrays, Field
from tacit.core.files.header_values import Value
from tacit.core.files.saved_model import ModelFile
from tacit.core.input.column_kinds import plain_kinds
from tacit.core.input.table import Schema
from tacit.errors import FileFormatError
from tacit.messages.network_files import (
    PARAMETERS,
    leaf_names,
    leaf_sizes,
    upgraded_parameters,
)
from tacit.trees.structure.topology import Topology


def _plain_topology(topology: Topology) -> dict[str, Any]:
    place = {name: number for number, name in enumerate(topology.nodes)}
    return {
        "nodes": list(topology.nodes),
        "edges": [[place[one], place[other]] for one, other in topology.edges],
        "observed": [place[name] for name in topology.observed],
        "lengths": list(topology.lengths),
        "n_states": {str(place[name]): count for name, count in topology.n_states.items()},
    }


def _topology(plain: Any) -> Topology:
    nodes, edges, observed, lengths = (
        plain[key] for key in ("nodes", "edges", "observed", "lengths")
    )

    def name(number: Any) -> str:
        if type(number) is not int or number < 0:
            raise FileFormatError(f"is no topology: {number!r} is no node")
        return str(nodes[number])

    if not all(isinstance(label, str) for label in nodes):
        raise FileFormatError("is no topology: names are texts")
    if len(lengths) != len(edges) or len(set(observed)) != len(observed):
        raise FileFormatError(
            "is no topology: edges have other lengths, or a node is observed twice"
        )
    return Topology(
        nodes=tuple(nodes),
        edges=tuple((name(one), name(other)) for one, other in edges),
        observed=tuple(name(number) for number in observed),
        lengths=tuple(None if length is None else float(length) for length in lengths),
        n_states={name(int(key)): count for key, count in plain["n_states"].items()},
    )


def structure_argument(model: Any) -> Any:
    """The structure as a text: files store the learnt tree where it was given as an object."""
    structure = model.structure
    return structure if isinstance(structure, str) else model.topology_.to_newick()


TOPOLOGY = Value(_plain_topology, _topology)
SCHEMA = Value(Schema.to_json, Schema.from_json)

# The leaves are the columns, in their order.
COLUMNS = {"columns": lambda schema: schema.names, "card": lambda schema: schema.cards}
LEAVES = {"columns": leaf_names, "card": leaf_sizes}


def upgrade_tree(header: dict[str, Any], arrays: Arrays) -> None:
    """Bring files of formats 1 and 2 to the fields."""
    header["parameters"] = upgraded_parameters(header, arrays)


TREE_FILE = ModelFile(
    Field("schema_", SCHEMA, sizes=COLUMNS),
    Field("topology_", TOPOLOGY),
    Field("parameters_", PARAMETERS, sizes=LEAVES),
    arguments={
        "structure": structure_argument,
        "features": plain_features,
        "columns": plain_kinds,
    },
    columns=lambda model: model.schema_.names,
    upgrade=upgrade_tree,
)
