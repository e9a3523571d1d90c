"""Trees from Newick, edges or networkx, as the fields of a `Topology`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.core.files.atomic import check_path
from tacit.core.input.missing_files import is_file, read_bytes
from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, MissingDataError, TopologyError
from tacit.trees.structure.newick import read_newick

if TYPE_CHECKING:
    import networkx as nx

_PAIR, _TRIPLE = 2, 3


class Parts(NamedTuple):
    """The fields of a `Topology`, not yet checked."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    observed: tuple[str, ...]
    lengths: tuple[float | None, ...] = ()
    n_states: Mapping[str, int] = {}


def parts_of(structure: Any, columns: Collection[str]) -> Parts:
    """The fields of a tree in any form; leaves and nodes named like a column are observed."""
    if isinstance(structure, (str, os.PathLike)):
        return newick_parts(newick_text(structure), columns)
    if hasattr(structure, "nodes") and hasattr(structure, "edges"):
        return networkx_parts(structure, columns)
    if isinstance(structure, Iterable) and not isinstance(structure, Mapping):
        parts = edge_parts(structure, None)
        leaves, listed = set(parts.observed), set(columns)
        observed = tuple(name for name in parts.nodes if name in leaves or name in listed)
        return parts._replace(observed=observed)
    raise ArgumentTypeError(
        f"a tree is given as a Topology, Newick text or its path, a networkx graph or a list of "
        f"edges, not as {type(structure).__name__}"
    )


def newick_text(text: str | os.PathLike[str]) -> str:
    """The text itself, or what the file at that path holds.

    A string is text if it ends with a semicolon, or has a bracket and is no file's path.
    """
    if isinstance(text, str):
        if text.rstrip().endswith(";"):
            return text
        if "(" in text and not is_file(text):
            return text
    check_path(text)
    path = Path(text)
    if not is_file(path):
        raise MissingDataError(f"{str(path)!r} is neither Newick text (';' ends it) nor a file")
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TopologyError(f"{str(path)!r} is not UTF-8 text (byte {error.start})") from error


def newick_parts(text: str, listed: Collection[str] | None) -> Parts:
    """The fields of a Newick text; `listed` inner nodes are observed, and so are all leaves.

    The top node is a leaf too if it has one child: a variable if it is listed or, without a list, if it
    is named; else just the place where the tree was held.
    """
    tree = read_newick(text)
    inner = set(tree.parents)
    top_is_leaf = tree.parents.count(0) == 1
    is_observed = [
        label is not None and label in listed if listed is not None else False
        for label in tree.labels
    ]
    is_observed = [named or node not in inner for node, named in enumerate(is_observed)]
    if top_is_leaf and listed is None:
        is_observed[0] = tree.labels[0] is not None
    names = _names(tree.labels, is_observed)
    return Parts(
        nodes=names,
        edges=tuple((names[up], names[n]) for n, up in enumerate(tree.parents) if up >= 0),
        observed=tuple(
            name for name, is_variable in zip(names, is_observed, strict=True) if is_variable
        ),
        lengths=tree.lengths[1:],
    )


def _names(labels: Sequence[str | None], is_observed: Sequence[bool]) -> tuple[str, ...]:
    """A name for every node: hidden ones without a label of their own become h1, h2, ..."""
    uses: dict[str | None, int] = {}
    for label in labels:
        uses[label] = uses.get(label, 0) + 1
    variables = {
        label for label, is_variable in zip(labels, is_observed, strict=True) if is_variable
    }
    names: list[str] = []
    count = 0
    for label, is_variable in zip(labels, is_observed, strict=True):
        # Support values stand where names of inner nodes would: repeated, they name nothing. A hidden
        # node labelled like a variable is another matter: it stays, and is refused as a double.
        has_name = uses[label] == 1 or is_variable or label in variables
        if label is not None and has_name:
            names.append(label)
            continue
        count += 1
        while f"h{count}" in uses:
            count += 1
        names.append(f"h{count}")
    return tuple(names)


def edge_parts(edges: Iterable[Sequence[Any]], observed: Iterable[str] | None) -> Parts:
    """The fields of a tree given by pairs of names, or triples with a length."""
    pairs: list[tuple[str, str]] = []
    lengths: list[float | None] = []
    uses: dict[str, int] = {}
    for edge in edges:
        if (
            isinstance(edge, str)
            or not isinstance(edge, Sequence)
            or len(edge) not in (_PAIR, _TRIPLE)
        ):
            raise TopologyError(f"an edge is two names, and a length if wanted; got {shown(edge)}")
        pairs.append((str(edge[0]), str(edge[1])))
        lengths.append(edge[2] if len(edge) == _TRIPLE else None)
        for name in pairs[-1]:
            uses[name] = uses.get(name, 0) + 1
    if observed is None:
        observed_names = tuple(name for name, count in uses.items() if count == 1)
    else:
        observed_names = tuple(dict.fromkeys(str(name) for name in observed))
    nodes = tuple(uses) if pairs else observed_names
    return Parts(nodes, tuple(pairs), observed_names, tuple(lengths))


def networkx_parts(graph: nx.Graph[Any], listed: Collection[str]) -> Parts:
    """The fields of a networkx graph; attributes say what is observed, or else list and degree."""
    uses = dict.fromkeys(graph.nodes, 0)
    for pair in graph.edges():
        for name in pair:
            uses[name] += 1
    nodes = list(graph.nodes(data=True))
    return Parts(
        nodes=tuple(str(name) for name, _ in nodes),
        edges=tuple((str(one), str(other)) for one, other in graph.edges()),
        observed=tuple(
            str(name)
            for name, fields in nodes
            if fields.get("observed", str(name) in listed or uses[name] <= 1)
        ),
        lengths=tuple(fields.get("length") for _, _, fields in graph.edges(data=True)),
        n_states={str(name): fields["n_states"] for name, fields in nodes if "n_states" in fields},
    )
