"""The fields of networks, probability tables and mixtures of trees in model files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array, Arrays, Field, Many, OneOf, Record
from tacit.core.files.header_values import Value
from tacit.core.files.ranges import moderate, probabilities, within
from tacit.core.files.saved_model import renamed
from tacit.errors import FileFormatError
from tacit.messages.mixture import Mixture
from tacit.messages.network import (
    Chain,
    Dense,
    Hadamard,
    Layout,
    Network,
    Pointwise,
    Tables,
    layout,
)
from tacit.messages.rooted_tree import RootedTree

Floats = NDArray[np.float64]

_ROW_SUM = 1e-6  # how far from one the probabilities of a table may sum


def _plain_tree(tree: RootedTree) -> dict[str, Any]:
    return {
        "names": list(tree.names),
        "n_leaves": tree.n_leaves,
        "parent": tree.parent.tolist(),
        "copy_of": tree.copy_of.tolist(),
    }


def _tree(plain: Any) -> RootedTree:
    names, n_leaves, parent, copy_of = (
        plain[key] for key in ("names", "n_leaves", "parent", "copy_of")
    )
    numbers = [n_leaves, *parent, *copy_of]
    if not all(type(number) is int for number in numbers) or not all(
        isinstance(n, str) for n in names
    ):
        raise FileFormatError("is no rooted tree: its nodes are no integers with names")
    if not 1 <= n_leaves < len(names) == len(parent) == len(copy_of) == len(set(names)):
        raise FileFormatError("is no rooted tree: numbers of nodes do not fit together")
    for node, above in enumerate(parent[:-1]):
        if not max(node + 1, n_leaves) <= above < len(names):
            raise FileFormatError(f"is no rooted tree: node {node} hangs on {above}")
    if parent[-1] != -1 or set(range(n_leaves, len(names))).difference(parent):
        raise FileFormatError(
            "is no rooted tree: a hidden node has no children, or the root a parent"
        )
    for node, leaf in enumerate(copy_of):
        if leaf != -1 and not (node >= n_leaves > leaf >= 0 and parent[leaf] == node):
            raise FileFormatError(f"is no rooted tree: node {node} copies {leaf}")
    return RootedTree(
        tuple(names), n_leaves, np.array(parent, np.int32), np.array(copy_of, np.int32)
    )


def _tables(tree: RootedTree, n_states: NDArray[np.int64], values: Floats) -> Tables:
    states = tuple(n_states.tolist())
    if len(states) != tree.n_nodes:
        raise FileFormatError(f"has numbers of states of {len(states)}, not {tree.n_nodes} nodes")
    size = sum(rows * columns for rows, columns in Layout(tree, states).shapes)
    if len(values) != size:  # in integers without bounds, before anything is made of them
        raise FileFormatError(f"has {len(values)} probabilities where its nodes need {size}")
    table_layout = layout(tree, states)
    if (np.abs(np.add.reduceat(values, table_layout.row_starts) - 1) > _ROW_SUM).any():
        raise FileFormatError("has rows of probabilities that do not sum to one")
    return Tables(table_layout, values)


def _check_network(
    tree: RootedTree, emit: tuple[Floats, ...], total: tuple[Floats, ...], nodes: tuple[Any, ...]
) -> str | None:
    """Every node takes messages as long as its children send them."""
    if not len(emit) == len(total) == tree.n_leaves or len(nodes) != len(tree.hidden):
        return "has arrays of other nodes than those of its tree"
    ranks = [table.shape[1] for table in emit]
    if ranks != [len(table) for table in total]:
        return "has leaves with messages of different lengths"
    for number, node in zip(tree.hidden, nodes, strict=True):
        below = [ranks[child] for child in tree.children[number]]
        if isinstance(node, Dense):
            taken, rank = list(node.core.shape[:-1]), node.core.shape[-1]
        elif isinstance(node, Hadamard):
            taken, rank = [node.table.shape[1]] * len(below), node.table.shape[0]
        else:
            taken, rank = [len(step) for step in node.steps], len(node.start)
            lefts = [node.start.shape[1], *(step.shape[2] for step in node.steps)]
            if lefts != [*(step.shape[1] for step in node.steps), len(node.stop)]:
                return f"has steps at node {number} that do not follow each other"
        if taken != below:
            return f"has a node {number} that takes messages of lengths {taken}, not {below}"
        ranks.append(rank)
    return None if ranks[-1] == 1 else f"has a root whose message has length {ranks[-1]}, not 1"


TREE = Value(_plain_tree, _tree)
TABLES = Record(
    Tables,
    Field("tree", TREE),
    Field(
        "n_states",
        Array("node", within(1, 2**31 - 1), dtype=np.int64),
        get=lambda tables: np.array(tables.layout.n_states, dtype=np.int64),
    ),
    Field("values", Array("entry", within(0, 1 + _ROW_SUM))),
    make=_tables,
)
NETWORK = Record(
    Network,
    Field("tree", TREE),
    Field("emit", Many(Array("* *", moderate))),
    Field("total", Many(Array("*", moderate))),
    Field(
        "nodes",
        Many(
            OneOf(
                dense=Record(Dense, Field("core", Array("...", moderate))),
                pointwise=Record(Pointwise, Field("table", Array("* *", moderate))),
                hadamard=Record(Hadamard, Field("table", Array("* *", moderate))),
                chain=Record(
                    Chain,
                    Field("start", Array("* *", moderate)),
                    Field("steps", Many(Array("* * *", moderate))),
                    Field("stop", Array("*", moderate)),
                ),
            )
        ),
    ),
    check=_check_network,
)
MIXTURE = Record(
    Mixture,
    Field("weights", Array("part", probabilities)),
    Field("parts", Many(TABLES, least=1), sizes={"part": len}),
)
PARAMETERS = OneOf(tables=TABLES, network=NETWORK, mixture=MIXTURE)


def tree_of(parameters: Network | Tables | Mixture) -> RootedTree:
    """The tree of what was learnt; of a mixture that of the heaviest component."""
    if isinstance(parameters, Mixture):
        return parameters.parts[parameters.heaviest].tree
    return parameters.tree


def leaf_sizes(parameters: Network | Tables | Mixture) -> tuple[int, ...]:
    """(leaf,) how many categories or features each has."""
    if isinstance(parameters, Network):
        return tuple(len(table) for table in parameters.emit)
    tables = parameters.parts[0] if isinstance(parameters, Mixture) else parameters
    return tables.layout.n_states[: tables.tree.n_leaves]


def leaf_names(parameters: Network | Tables | Mixture) -> tuple[str, ...]:
    """(leaf,) the columns."""
    tree = tree_of(parameters)
    return tree.names[: tree.n_leaves]


def upgraded_parameters(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """What formats 1 and 2 held of networks, tables and mixtures, brought to the fields of `PARAMETERS`."""
    if "trees" in header:
        trees = header.pop("trees")
        for part in range(len(trees)):
            inner = f"parameters.parts.{part}."
            renamed(
                arrays, {f"tables.{part}": f"{inner}values", f"n_states.{part}": f"{inner}n_states"}
            )
        renamed(arrays, {"weights": "parameters.weights"})
        return {"kind": "mixture", "parts": [{"tree": tree} for tree in trees]}
    tree = header.pop("tree")
    if "tables" in arrays:
        renamed(arrays, {"tables": "parameters.values", "n_states": "parameters.n_states"})
        return {"kind": "tables", "tree": tree}
    n_leaves, n_nodes = tree["n_leaves"], len(tree["names"])
    nodes = [_upgraded_node(node, node - n_leaves, arrays) for node in range(n_leaves, n_nodes)]
    renamed(arrays, {"emit.": "parameters.emit.", "total.": "parameters.total."})
    leaves = [None] * min(n_leaves, n_nodes)
    return {"kind": "network", "tree": tree, "emit": leaves, "total": leaves, "nodes": nodes}


def _upgraded_node(node: int, place: int, arrays: Arrays) -> dict[str, Any]:
    new = f"parameters.nodes.{place}."
    for kind, name in (("dense", "core"), ("hadamard", "table")):
        if f"{name}.{node}" in arrays:
            renamed(arrays, {f"{name}.{node}": new + name})
            return {"kind": kind}
    steps = [None for name in arrays if name.startswith(f"step.{node}.")]
    renamed(arrays, {f"step.{node}.": f"{new}steps."})
    renamed(arrays, {f"{name}.{node}": new + name for name in ("start", "stop")})
    return {"kind": "chain", "steps": steps}
