"""The tree over named variables, observed and hidden, that every tree model hangs on."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from tacit.errors import TopologyError
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.structure.checks import check_columns, check_known, check_numbers, check_tree
from tacit.trees.structure.contraction import Lengths, contract
from tacit.trees.structure.newick import NewickTree, write_newick
from tacit.trees.structure.rooting import centre, fresh, rooted_tree, walk
from tacit.trees.structure.text_drawing import text_drawing
from tacit.trees.structure.tree_formats import (
    edge_parts,
    networkx_parts,
    newick_parts,
    newick_text,
    parts_of,
)

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, eq=False, repr=False)
class Topology:
    """A tree over observed and hidden nodes; it never changes.

    Any node may have any number of neighbours, and observed nodes may stand inside the tree. Two are equal
    if they have the same names, edges, lengths and numbers of states, in whatever order.

    Parameters
    ----------
    nodes : tuple of str
        Every node's name.
    edges : tuple of pairs of str
        What is joined to what; the direction has no meaning.
    observed : tuple of str
        The nodes that are columns of the data; all others are hidden.
    lengths : tuple of float or None, optional
        One per edge, ``None`` where an edge has no length.
    n_states : mapping of str to int, optional
        Numbers of states of hidden nodes, where they are known.

    Raises
    ------
    TopologyError
        The edges are not a tree over the nodes, or a name is unknown or used twice.

    Examples
    --------
    >>> topology = Topology.from_newick("((a,b),(c,d));")
    >>> topology
    Topology(4 observed, 3 hidden)
    >>> print(topology.contracted().to_text())
    ○ h2
    ├─ ○ h3
    │  ├─ ● c
    │  └─ ● d
    ├─ ● a
    └─ ● b
    """

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    observed: tuple[str, ...]
    lengths: tuple[float | None, ...] = ()
    n_states: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that this is a tree, once and for all."""
        lengths = self.lengths or (None,) * len(self.edges)
        states = {str(name): operator.index(count) for name, count in self.n_states.items()}
        object.__setattr__(self, "lengths", tuple(lengths))
        object.__setattr__(self, "n_states", MappingProxyType(states))
        if not self.observed:
            raise TopologyError("a tree needs at least one observed node")
        check_tree(self.nodes, self.edges)
        check_known([*self.observed, *states], self.nodes)
        check_numbers(self.lengths, states, set(self.hidden))

    # -- from elsewhere -----------------------------------------------------------------------

    @classmethod
    def from_newick(
        cls, text: str | os.PathLike[str], observed: Iterable[str] | None = None
    ) -> Self:
        """The tree of a Newick text or file.

        Leaves are observed. Inner nodes are hidden unless they are listed; those without a name are called
        h1, h2, and so on. Labels of hidden nodes that occur more than once (support values, often) are not
        taken for names. The tree may have a root with two children or not, see `contracted`.

        Parameters
        ----------
        text : str or path
            Newick text, or the path of a file that holds it.
        observed : iterable of str, optional
            Names of inner nodes that are observed; names of leaves may be among them.

        Examples
        --------
        >>> Topology.from_newick("(a:1,'b c':2,(d,e)f);", observed=["f"]).observed
        ('a', 'b c', 'f', 'd', 'e')
        """
        held = newick_text(text)
        listed = None if observed is None else {str(name) for name in observed}
        parts = newick_parts(held, listed)
        check_known(listed or (), parts.nodes)
        return cls(*parts)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]],
        observed: Iterable[str] | None = None,
        n_states: Mapping[str, int] | None = None,
    ) -> Self:
        """The tree with these edges.

        Parameters
        ----------
        edges : iterable of pairs or triples
            ``(one, other)`` or ``(one, other, length)``.
        observed : iterable of str, optional
            The observed nodes; without it, the leaves.
        n_states : mapping of str to int, optional
            Numbers of states of hidden nodes.

        Examples
        --------
        >>> Topology.from_edges([("h", "a"), ("h", "b"), ("h", "c", 0.5)]).observed
        ('a', 'b', 'c')
        """
        parts = edge_parts(edges, observed)
        return cls(*parts._replace(n_states=n_states or {}))

    @classmethod
    def from_networkx(cls, graph: nx.Graph[Any], observed: Iterable[str] | None = None) -> Self:
        """The tree of a networkx graph; directions of edges are ignored.

        A node is observed as its attribute ``observed`` says; without that, if it is listed here or is a
        leaf. Attributes ``n_states`` of nodes and ``length`` of edges are kept. Nodes that are not strings
        are named by ``str``.
        """
        listed = {str(name) for name in observed or ()}
        parts = networkx_parts(graph, listed)
        check_known(listed, parts.nodes)
        return cls(*parts)

    @classmethod
    def star(cls, names: Iterable[str], n_states: int | None = None) -> Self:
        """One hidden node, called h, with every variable hung on it.

        Examples
        --------
        >>> Topology.star(["a", "b", "c"]).to_newick()
        '(a,b,c)h;'
        """
        leaves = tuple(str(name) for name in names)
        hub = fresh("h", set(leaves))
        states = {} if n_states is None else {hub: n_states}
        return cls((*leaves, hub), tuple((hub, leaf) for leaf in leaves), leaves, (), states)

    @classmethod
    def parse(cls, structure: Any, columns: Sequence[str]) -> Topology:
        """The tree given by a user, checked against the columns and contracted.

        Parameters
        ----------
        structure : Topology, str, path, networkx graph or iterable of edges
            A tree in any form; a string is Newick text or the path of a file with it. Except in a `Topology`,
            nodes named like a column are observed, and so are all leaves.
        columns : sequence of str
            The columns that must be its observed nodes, in any order.

        Raises
        ------
        TopologyError
            It is no tree, or its observed nodes are not the columns; the message lists what is missing and
            what is extra, with the nearest names.
        ArgumentTypeError
            It is none of the forms above.

        Examples
        --------
        >>> Topology.parse("((a,b),(c,d));", columns=["d", "c", "b", "a"])
        Topology(4 observed, 2 hidden)
        """
        if isinstance(structure, Topology):
            topology = structure
        elif isinstance(structure, str) and structure.endswith(";"):
            topology = _remembered(structure, tuple(columns))
        else:
            topology = cls(*parts_of(structure, set(columns)))
        check_columns(topology.observed, topology.hidden, columns)
        return topology.contracted()

    # -- properties ----------------------------------------------------------------------------

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        """Names of the nodes that are not observed."""
        observed = set(self.observed)
        return tuple(name for name in self.nodes if name not in observed)

    @cached_property
    def neighbours(self) -> Mapping[str, tuple[str, ...]]:
        """The nodes joined to each node."""
        neighbours: dict[str, list[str]] = {name: [] for name in self.nodes}
        for one, other in self.edges:
            neighbours[one].append(other)
            neighbours[other].append(one)
        return MappingProxyType({name: tuple(others) for name, others in neighbours.items()})

    @cached_property
    def edge_lengths(self) -> Lengths:
        """The length of each edge that has one, by the set of its two ends."""
        with_length = zip(self.edges, self.lengths, strict=True)
        return {frozenset(pair): length for pair, length in with_length if length is not None}

    @cached_property
    def centre(self) -> str:
        """The node from which the farthest node is nearest."""
        return centre(self.neighbours)

    def contracted(self) -> Topology:
        """The same tree without superfluous hidden nodes.

        Hidden leaves are removed, and hidden nodes with two neighbours are replaced by an edge as long as
        both of theirs together (of unknown length if one of them is). The observed distribution can be the
        same without them.

        Examples
        --------
        >>> Topology.from_newick("((a:1,b:1):1,(c:1,d:1):1);").contracted().to_newick()
        '((c:1.0,d:1.0)h3:2.0,a:1.0,b:1.0)h2;'
        """
        return self._contracted

    @cached_property
    def _contracted(self) -> Topology:
        hidden = self.hidden
        if all(len(self.neighbours[name]) > 2 for name in hidden):
            return self
        left, lengths = contract(self.neighbours, hidden, self.edge_lengths)
        above = walk(left, next(iter(left)))
        edges = tuple((up, name) for name, up in above.items() if up is not None)
        return Topology(
            nodes=tuple(left),
            edges=edges,
            observed=self.observed,
            lengths=tuple(lengths.get(frozenset(pair)) for pair in edges),
            n_states={name: n for name, n in self.n_states.items() if name in left},
        )

    def rooted(self, columns: Sequence[str]) -> RootedTree:
        """The contracted tree held at its centre, with the columns as leaves; remembered.

        Parameters
        ----------
        columns : sequence of str
            The observed nodes in the order of the data's columns.

        Returns
        -------
        RootedTree
            The same object whenever the same columns are requested.
        """
        key = tuple(columns)
        if key not in self._rooted:
            check_columns(self.observed, self.hidden, key)
            tree = rooted_tree(self.contracted().neighbours, key)
            return self._rooted.setdefault(key, tree)
        return self._rooted[key]

    @cached_property
    def _rooted(self) -> dict[tuple[str, ...], RootedTree]:
        return {}

    # -- to elsewhere -------------------------------------------------------------------------

    def to_newick(self) -> str:
        """Newick text of the tree, held at its centre; every node is named.

        Which inner nodes are observed is not written: give `from_newick` the names. Hidden leaves, which the
        text could not tell from observed ones, are left out.
        """
        if any(len(self.neighbours[name]) < 2 for name in self.hidden):
            return self.contracted().to_newick()
        above = walk(self.neighbours, self.centre)
        number = {name: place for place, name in enumerate(above)}
        return write_newick(
            NewickTree(
                labels=tuple(above),
                parents=tuple(-1 if up is None else number[up] for up in above.values()),
                lengths=tuple(
                    None if up is None else self.edge_lengths.get(frozenset((name, up)))
                    for name, up in above.items()
                ),
            )
        )

    def to_edges(self) -> list[tuple[str, str] | tuple[str, str, float]]:
        """The edges as pairs of names, with the length where there is one."""
        with_length = zip(self.edges, self.lengths, strict=True)
        return [pair if length is None else (*pair, length) for pair, length in with_length]

    def to_networkx(self) -> nx.Graph[str]:
        """A networkx graph with node attributes ``observed``, ``n_states``, edge attribute ``length``."""
        import networkx as nx

        graph: nx.Graph[str] = nx.Graph()
        observed = set(self.observed)
        for name in self.nodes:
            states = {"n_states": self.n_states[name]} if name in self.n_states else {}
            graph.add_node(name, observed=name in observed, **states)
        for (one, other), length in zip(self.edges, self.lengths, strict=True):
            graph.add_edge(one, other, **({} if length is None else {"length": length}))
        return graph

    def to_text(self) -> str:
        """The tree drawn with characters: ● observed, ○ hidden (with the number of states if known).

        Examples
        --------
        >>> print(Topology.star(["a", "b", "c"], n_states=2).to_text())
        ○ h (2 states)
        ├─ ● a
        ├─ ● b
        └─ ● c
        """
        observed = set(self.observed)

        def describe(name: str) -> str:
            states = f" ({self.n_states[name]} states)" if name in self.n_states else ""
            return f"{'●' if name in observed else '○'} {name}{states}"

        return text_drawing(self.neighbours, self.centre, describe)

    # -- as a value ---------------------------------------------------------------------------

    @cached_property
    def _content(self) -> tuple[Any, ...]:
        pairs = (frozenset(pair) for pair in self.edges)
        return (
            frozenset(self.nodes),
            frozenset(self.observed),
            frozenset(zip(pairs, self.lengths, strict=True)),
            frozenset(self.n_states.items()),
        )

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same tree, whatever the order of its nodes and edges."""
        return isinstance(other, Topology) and self._content == other._content

    def __hash__(self) -> int:
        """Equal trees have equal hashes."""
        return hash(self._content)

    def __repr__(self) -> str:
        """How many nodes it has; `to_text` shows them."""
        return f"Topology({len(self.observed)} observed, {len(self.hidden)} hidden)"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: it cannot change, and its rooted views are worth keeping."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The fields as plain values, without what can be computed again."""
        fields = {name: getattr(self, name) for name in ("nodes", "edges", "observed", "lengths")}
        return {**fields, "n_states": dict(self.n_states)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Back from plain values, checked as if new."""
        self.__init__(**state)  # type: ignore[misc]


@lru_cache(maxsize=32)
def _remembered(text: str, columns: tuple[str, ...]) -> Topology:
    """The same tree for the same text: fits are repeated, and rooted views are worth keeping."""
    return Topology(*parts_of(text, set(columns)))
