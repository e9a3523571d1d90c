"""Trees and what was learnt of them, as plain values and arrays, and back.

Readers check everything that the engine relies on: a damaged file is refused, and never answers wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, FileFormatError, TacitError
from tacit.messages.mixture import Mixture
from tacit.messages.network import Chain, Dense, Hadamard, Network, Tables, layout
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]
Value = TypeVar("Value")
Arrays = Mapping[str, NDArray[Any]]

_ROW_SUM = 1e-6  # how far from one the probabilities of a table may sum

# ------------------------------------------------------------------------------------- trees


def topology_to_json(topology: Topology) -> dict[str, Any]:
    """The topology as plain values, names and orders exactly as they are.

    Examples
    --------
    >>> topology_to_json(Topology.star(["a", "b"]))["edges"]
    [[2, 0], [2, 1]]
    """
    place = {name: number for number, name in enumerate(topology.nodes)}
    return {
        "nodes": list(topology.nodes),
        "edges": [[place[one], place[other]] for one, other in topology.edges],
        "observed": [place[name] for name in topology.observed],
        "lengths": list(topology.lengths),
        "n_states": {str(place[name]): count for name, count in topology.n_states.items()},
    }


def topology_from_json(plain: Any) -> Topology:
    """The topology that `topology_to_json` wrote; a `FileFormatError` where it is none."""
    return _checked("topology", _topology, plain)


def _topology(plain: Any) -> Topology:
    nodes = _texts(plain["nodes"])
    if len(plain["lengths"]) != len(plain["edges"]):
        raise ValueError(f"{len(plain['edges'])} edges with {len(plain['lengths'])} lengths")
    if len(set(plain["observed"])) != len(plain["observed"]):
        raise ValueError("a node is observed twice")
    return Topology(
        nodes=nodes,
        edges=tuple((nodes[_place(a)], nodes[_place(b)]) for a, b in plain["edges"]),
        observed=tuple(nodes[_place(number)] for number in plain["observed"]),
        lengths=tuple(None if each is None else float(each) for each in plain["lengths"]),
        n_states={nodes[_place(int(key))]: n for key, n in plain["n_states"].items()},
    )


def tree_to_json(tree: RootedTree) -> dict[str, Any]:
    """The rooted tree as plain values.

    It is written beside the topology because the arrays follow its numbering, which a later version of
    `Topology.rooted` may do otherwise.
    """
    return {
        "names": list(tree.names),
        "n_leaves": tree.n_leaves,
        "parent": tree.parent.tolist(),
        "copy_of": tree.copy_of.tolist(),
    }


def tree_from_json(plain: Any) -> RootedTree:
    """The rooted tree that `tree_to_json` wrote; a `FileFormatError` where it is none."""
    return _checked("rooted tree", _rooted, plain)


def _rooted(plain: Any) -> RootedTree:
    names, n_leaves = _texts(plain["names"]), _place(plain["n_leaves"])
    parent, copy_of = ([_integer(n) for n in plain[key]] for key in ("parent", "copy_of"))
    if not 1 <= n_leaves < len(names) == len(parent) == len(copy_of) == len(set(names)):
        raise ValueError("numbers of nodes that do not fit together")
    for node, above in enumerate(parent[:-1]):
        if not max(node + 1, n_leaves) <= above < len(names):
            raise ValueError(f"node {node} hangs on {above}")
    if parent[-1] != -1:
        raise ValueError("the last node is not the root")
    if childless := set(range(n_leaves, len(names))).difference(parent):
        raise ValueError(f"hidden node {min(childless)} has no children")
    for node, leaf in enumerate(copy_of):
        if leaf != -1 and not (node >= n_leaves > leaf >= 0 and parent[leaf] == node):
            raise ValueError(f"node {node} copies {leaf}, which does not hang on it")
    return RootedTree(names, n_leaves, np.array(parent, np.int32), np.array(copy_of, np.int32))


# ------------------------------------------------------------------------------------ arrays


def network_arrays(network: Network) -> dict[str, NDArray[Any]]:
    """The tensors of a network, by field and number of the node.

    ``emit.3`` and ``total.3`` belong to leaf 3; ``core.9`` (dense), ``table.9`` (Hadamard) or ``start.9``,
    ``step.9.0``, ``step.9.1``, ..., ``stop.9`` (chain) to hidden node 9.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for leaf, (emit, total) in enumerate(zip(network.emit, network.total, strict=True)):
        arrays[f"emit.{leaf}"], arrays[f"total.{leaf}"] = emit, total
    for number, node in zip(network.tree.hidden, network.nodes, strict=True):
        if isinstance(node, Dense):
            arrays[f"core.{number}"] = node.core
        elif isinstance(node, Hadamard):
            arrays[f"table.{number}"] = node.table
        else:
            arrays[f"start.{number}"], arrays[f"stop.{number}"] = node.start, node.stop
            for place, step in enumerate(node.steps):
                arrays[f"step.{number}.{place}"] = step
    return arrays


def network_from(tree: RootedTree, arrays: Arrays, cards: Sequence[int] | None = None) -> Network:
    """The network that `network_arrays` wrote.

    Parameters
    ----------
    tree : RootedTree
    arrays : mapping of str to ndarray
        Arrays of other names are left alone.
    cards : sequence of int, optional
        The number of categories of each leaf, which the encoders must have.

    Raises
    ------
    FileFormatError
        Arrays are missing, or their shapes do not fit the tree or each other.
    """
    emit = tuple(_float_array(arrays, f"emit.{leaf}", 2) for leaf in range(tree.n_leaves))
    ranks = [each.shape[1] for each in emit]
    total = tuple(
        _float_array(arrays, f"total.{leaf}", 1, shape=(ranks[leaf],))
        for leaf in range(tree.n_leaves)
    )
    _check_cards([len(each) for each in emit], cards)
    nodes = []
    for number in tree.hidden:
        node, rank = _node(arrays, number, [ranks[child] for child in tree.children[number]])
        if number == tree.root and rank != 1:
            raise FileFormatError(f"the root's message has length {rank}, not 1")
        nodes.append(node)
        ranks.append(rank)
    return Network(tree, emit, total, tuple(nodes))


def _node(arrays: Arrays, number: int, below: list[int]) -> tuple[Dense | Hadamard | Chain, int]:
    """The tensor of a hidden node whose children's messages have these lengths, and its own length."""
    if (name := f"core.{number}") in arrays:
        core = _float_array(arrays, name, len(below) + 1)
        _check_shape(name, core, (*below, core.shape[-1]))
        return Dense(core), core.shape[-1]
    if (name := f"table.{number}") in arrays:
        table = _float_array(arrays, name, 2)
        _check_shape(name, table, (table.shape[0], *set(below)))
        return Hadamard(table), table.shape[0]
    start = _float_array(arrays, f"start.{number}", 2)
    width = start.shape[1]
    steps = []
    for place, rank in enumerate(below):
        step = _float_array(arrays, f"step.{number}.{place}", 3)
        _check_shape(f"step.{number}.{place}", step, (rank, width, step.shape[2]))
        steps.append(step)
        width = step.shape[2]
    stop = _float_array(arrays, f"stop.{number}", 1, shape=(width,))
    return Chain(start, tuple(steps), stop), start.shape[0]


def tables_arrays(tables: Tables) -> dict[str, NDArray[Any]]:
    """The probability tables as one array, and the number of states of each node."""
    return {
        "tables": tables.values,
        "n_states": np.array(tables.layout.n_states, dtype=np.int64),
    }


def tables_from(tree: RootedTree, arrays: Arrays, cards: Sequence[int] | None = None) -> Tables:
    """The tables that `tables_arrays` wrote.

    Parameters are those of `network_from`.

    Raises
    ------
    FileFormatError
        Arrays are missing, do not fit the tree, or are no probabilities.
    """
    if "n_states" not in arrays:
        raise FileFormatError("the array 'n_states' is missing")
    n_states = arrays["n_states"]
    if n_states.dtype.kind != "i" or n_states.shape != (tree.n_nodes,) or (n_states < 1).any():
        raise FileFormatError(f"'n_states' is not {tree.n_nodes} positive integers")
    _check_cards(n_states[: tree.n_leaves].tolist(), cards)
    found = layout(tree, tuple(n_states.tolist()))
    values = _float_array(arrays, "tables", 1, shape=(found.size,))
    sums = np.add.reduceat(values, found.row_starts)
    if (values < 0).any() or (np.abs(sums - 1) > _ROW_SUM).any():
        raise FileFormatError("'tables' are not probabilities: a row does not sum to one")
    return Tables(found, values)


def mixture_arrays(mixture: Mixture) -> dict[str, NDArray[Any]]:
    """The weights, and the arrays of each component with its number behind: ``tables.0``, ``n_states.0``."""
    arrays: dict[str, NDArray[Any]] = {"weights": mixture.weights}
    for number, part in enumerate(mixture.parts):
        arrays |= {f"{name}.{number}": array for name, array in tables_arrays(part).items()}
    return arrays


def mixture_from(
    trees: Sequence[RootedTree], arrays: Arrays, cards: Sequence[int] | None = None
) -> Mixture:
    """The mixture that `mixture_arrays` wrote, of these trees.

    Raises
    ------
    FileFormatError
        Arrays are missing, do not fit the trees or each other, or are no probabilities.
    """
    weights = _float_array(arrays, "weights", 1, shape=(len(trees),))
    parts = []
    for number, tree in enumerate(trees):
        names = {f"{name}.{number}": name for name in ("tables", "n_states")}
        own = {name: arrays[full] for full, name in names.items() if full in arrays}
        try:
            parts.append(tables_from(tree, own, cards))
        except FileFormatError as error:
            raise FileFormatError(f"component {number}: {error}") from error
    try:
        return Mixture(weights, tuple(parts))
    except ArgumentError as error:
        raise FileFormatError(f"not a mixture: {error}") from error


def parameters_arrays(parameters: Network | Tables | Mixture) -> dict[str, NDArray[Any]]:
    """What was learnt: the tables where there are any, since the network follows from them."""
    if isinstance(parameters, Mixture):
        return mixture_arrays(parameters)
    if isinstance(parameters, Tables):
        return tables_arrays(parameters)
    return network_arrays(parameters)


def parameters_from(
    tree: RootedTree, arrays: Arrays, cards: Sequence[int] | None = None
) -> Network | Tables:
    """What `parameters_arrays` wrote of a single tree; see `network_from` for what is checked."""
    if "tables" in arrays:
        return tables_from(tree, arrays, cards)
    return network_from(tree, arrays, cards)


# ------------------------------------------------------------------------------------ checks


def _checked(what: str, make: Callable[[Any], Value], plain: Any) -> Value:
    try:
        return make(plain)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, TacitError | ValueError) else repr(error)
        raise FileFormatError(f"not a {what}: {reason}") from error


def _texts(values: Any) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise TypeError("names are text")
    return tuple(values)


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is not an integer")
    return value


def _place(value: Any) -> int:
    """An integer that counts from the front."""
    if _integer(value) < 0:
        raise ValueError(f"{value} is negative")
    return _integer(value)


def _float_array(
    arrays: Arrays, name: str, n_axes: int, shape: tuple[int, ...] | None = None
) -> Array:
    if name not in arrays:
        raise FileFormatError(f"the array {name!r} is missing")
    array = arrays[name]
    if array.dtype != np.float64 or array.ndim != n_axes or 0 in array.shape:
        raise FileFormatError(
            f"the array {name!r} has type {array.dtype} and shape {array.shape}; "
            f"expected float64 with {n_axes} axes"
        )
    if not np.isfinite(array).all():
        raise FileFormatError(f"the array {name!r} holds infinities or NaN")
    if shape is not None:
        _check_shape(name, array, shape)
    return array


def _check_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise FileFormatError(f"the array {name!r} has shape {array.shape}, expected {shape}")


def _check_cards(found: list[int], cards: Sequence[int] | None) -> None:
    if cards is not None and found != list(cards):
        raise FileFormatError(
            f"the leaves have {found} categories, but the columns have {list(cards)}"
        )
