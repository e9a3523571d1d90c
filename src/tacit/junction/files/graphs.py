"""Graphs of variables from text: a line for each edge, GraphML or GML."""

from __future__ import annotations

import csv
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import FileFormatError, MissingDataError, TopologyError

if TYPE_CHECKING:
    import networkx as nx

_HEADING = ("parent", "child")
_MARKS = ("->", "--")  # from parent to child, and without a direction


def read_graph(source: str | os.PathLike[str]) -> nx.Graph[str]:
    """The graph that a file or a text holds.

    A file that ends with ``.graphml`` or ``.gml`` is read as such, and its nodes' ids (labels, in GML) are
    the names of the variables. All else is text with one edge on a line: ``parent -> child``,
    ``parent,child`` or ``parent child``, or ``one -- other`` on every line for edges without a direction.
    Several arrows on a line are a path. Empty lines, lines that begin with ``#`` and a first line
    ``parent,child`` are skipped; names with blanks need an arrow, a comma or a tab between them, and may be
    quoted.

    Parameters
    ----------
    source : path or str
        A string is the text itself if it has an arrow and is no file's path; semicolons end lines, too.

    Returns
    -------
    networkx.DiGraph, or networkx.Graph where edges have no direction

    Raises
    ------
    MissingDataError
        There is no such file.
    FileFormatError
        The file is not what its name says.
    TopologyError
        A line is no edge.

    Examples
    --------
    >>> list(read_graph("rain -> wet -> slip; sprinkler -> wet").edges)
    [('rain', 'wet'), ('wet', 'slip'), ('sprinkler', 'wet')]
    """
    path = Path(source)
    if isinstance(source, str) and re.search(r"->| -- ", source) and not _is_file(path):
        return graph_from_text(source.replace(";", "\n"))
    if not _is_file(path):
        raise MissingDataError(
            f"{str(path)!r} is neither a file with a graph nor edges like 'parent -> child'"
        )
    if path.suffix.lower() in (".graphml", ".gml"):
        return _foreign(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{str(path)!r} is not UTF-8 text (byte {error.start})") from error
    return graph_from_text(text)


def graph_from_text(text: str) -> nx.Graph[str]:
    """The graph of a text with one edge on a line; see `read_graph`."""
    import networkx as nx

    edges: list[tuple[str, str]] = []
    directed: bool | None = None
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        names, arrow = _names(line, number)
        if not edges and tuple(names) == _HEADING and "," in line:
            continue
        if directed is not None and directed != arrow:
            raise TopologyError(
                f"line {number}, {line!r}: some edges have a direction and others none; write all with "
                f"'->' or all with '--'"
            )
        directed = arrow
        edges.extend(pairwise(names))
    if not edges:
        raise TopologyError("there is no edge; write one on each line, such as 'parent -> child'")
    graph: nx.Graph[str] = nx.DiGraph() if directed else nx.Graph()
    graph.add_edges_from(edges)
    return graph


def _names(line: str, number: int) -> tuple[list[str], bool]:
    """The names on a line, and whether edges have a direction."""
    mark = next((candidate for candidate in _MARKS if candidate in line), None)
    if mark is not None:
        names = line.split(mark)
    elif "," in line:
        names = next(csv.reader([line], skipinitialspace=True))
    else:
        names = re.split(r"\t+" if "\t" in line else r"\s+", line)
    names = [_unquoted(name.strip()) for name in names]
    if len(names) < 2 or not all(names) or (mark is None and len(names) > 2):
        raise TopologyError(
            f"line {number}, {line!r}, is no edge; write 'parent -> child', 'parent,child' or "
            f"'parent child'"
        )
    return names, mark != "--"


def _unquoted(name: str) -> str:
    quoted = len(name) > 1 and name[0] == name[-1] and name[0] in "'\""
    return name[1:-1] if quoted else name


def _foreign(path: Path) -> nx.Graph[str]:
    """A graph in GraphML or GML."""
    import networkx as nx

    reader: Any = nx.read_graphml if path.suffix.lower() == ".graphml" else nx.read_gml
    try:
        loaded = reader(path)
    except (
        nx.NetworkXException,
        SyntaxError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OSError,
    ) as error:
        raise FileFormatError(f"{str(path)!r} cannot be read as a graph: {error}") from error
    kind: Any = nx.DiGraph if loaded.is_directed() else nx.Graph
    graph: nx.Graph[str] = kind()
    graph.add_nodes_from(str(node) for node in loaded.nodes)
    graph.add_edges_from((str(one), str(other)) for one, other in loaded.edges())
    return graph


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # text that cannot be a path
        return False
