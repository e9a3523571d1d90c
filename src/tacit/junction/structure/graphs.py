"""Graphs of observed and hidden variables, with or without directions, made ready for a junction tree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tacit.errors import ArgumentTypeError, TopologyError

if TYPE_CHECKING:
    import networkx as nx

_PAIR = 2


@dataclass(frozen=True, eq=False)
class VariableGraph:
    """Variables and which of them depend on each other directly.

    With directions every variable has a distribution given its parents; without, every clique of the
    triangulated graph has one.
    """

    variables: tuple[str, ...]
    parents: Mapping[str, tuple[str, ...]] | None  # None without directions
    neighbours: Mapping[str, frozenset[str]]  # of the moral graph

    @staticmethod
    def of(graph: Any) -> VariableGraph:
        """A graph from a networkx graph or a list of edges; edges of a list point from parent to child."""
        if hasattr(graph, "nodes") and hasattr(graph, "edges"):
            nodes, edges = list(graph.nodes), list(graph.edges())
            directed = bool(graph.is_directed())
        elif isinstance(graph, Iterable) and not isinstance(graph, (str, bytes, Mapping)):
            pairs = list(graph)
            if not all(isinstance(pair, Iterable) for pair in pairs):
                raise ArgumentTypeError(
                    "a graph that is a list has (parent, child) pairs, nothing else"
                )
            nodes, edges, directed = [], [tuple(pair) for pair in pairs], True
        else:
            raise ArgumentTypeError(
                f"a graph is given as a networkx graph or a list of (parent, child) pairs, not as "
                f"{type(graph).__name__}"
            )
        wrong = [edge for edge in edges if len(edge) != _PAIR]
        if wrong:
            raise TopologyError(f"edge {wrong[0]!r} is not a pair; give pairs (parent, child)")
        pairs = [(str(one), str(other)) for one, other in edges]
        loops = [one for one, other in pairs if one == other]
        if loops:
            raise TopologyError(f"{loops[0]!r} has an edge to itself; remove that edge")
        names = dict.fromkeys([*map(str, nodes), *(name for pair in pairs for name in pair)])
        if not names:
            raise TopologyError("the graph has no variables; give at least one")
        return _directed(tuple(names), pairs) if directed else _undirected(tuple(names), pairs)

    def without_barren(self, observed: Collection[str]) -> VariableGraph:
        """The graph without barren nodes: hidden variables that no observed one depends on."""
        remaining = set(self.variables)
        changed = True
        while changed:
            changed = False
            for name in self.variables:
                if name not in remaining or name in observed:
                    continue
                if self.parents is None:
                    barren = len(self.neighbours[name] & remaining) <= 1
                else:
                    barren = not any(name in self.parents[other] for other in remaining)
                if barren:
                    remaining.remove(name)
                    changed = True
        if len(remaining) == len(self.variables):
            return self
        variables = tuple(name for name in self.variables if name in remaining)
        if self.parents is not None:
            pairs = [(above, name) for name in variables for above in self.parents[name]]
            return _directed(variables, pairs)
        pairs = [
            (name, other)
            for name in variables
            for other in sorted(self.neighbours[name] & remaining)
            if name < other
        ]
        return _undirected(variables, pairs)


@dataclass(frozen=True, eq=False)
class LatentGraph:
    """A graph over the columns of a table, and which variables share a distribution."""

    graph: VariableGraph
    shared: Mapping[str, str]
    order: int | None = None  # of a chain: how many states before it a state depends on
    lower: LatentGraph | None = None  # the same with fewer edges; its parameters are a start


def _directed(variables: tuple[str, ...], pairs: list[tuple[str, str]]) -> VariableGraph:
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(variables)
    graph.add_edges_from(pairs)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = " -> ".join(one for one, _ in nx.find_cycle(graph))
        raise TopologyError(
            f"the graph has a directed cycle ({cycle}); turn an edge, or give a networkx.Graph, which has "
            f"no directions"
        )
    parents = {name: tuple(graph.predecessors(name)) for name in variables}
    near: dict[str, set[str]] = {name: set() for name in variables}
    for name in variables:
        for one, other in combinations((*parents[name], name), 2):
            near[one].add(other)
            near[other].add(one)
    return VariableGraph(variables, parents, _frozen(near))


def _undirected(variables: tuple[str, ...], pairs: list[tuple[str, str]]) -> VariableGraph:
    near: dict[str, set[str]] = {name: set() for name in variables}
    for one, other in pairs:
        near[one].add(other)
        near[other].add(one)
    return VariableGraph(variables, None, _frozen(near))


def _frozen(near: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(others) for name, others in near.items()}


def leaf_needs(graph: VariableGraph, observed: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The variables that each observed variable depends on as a leaf.

    Observed variables that others depend on, or that depend on observed ones, are inner variables: a hidden
    copy of them is part of the junction tree, and the leaf depends on that copy alone.
    """
    inside = _inside(graph, set(observed))
    order = {name: number for number, name in enumerate(graph.variables)}
    needs: dict[str, tuple[str, ...]] = {}
    for name in observed:
        if name in inside:
            needs[name] = (name,)
        elif graph.parents is not None:
            needs[name] = graph.parents[name]
        else:
            needs[name] = tuple(sorted(graph.neighbours[name], key=order.__getitem__))
    return needs


def _inside(graph: VariableGraph, observed: set[str]) -> set[str]:
    if graph.parents is None:
        return {name for name in observed if graph.neighbours[name] & observed}
    inside = set()
    for name in graph.variables:
        above = observed.intersection(graph.parents[name])
        inside |= above
        if above and name in observed:
            inside.add(name)
    return inside


def bags_of(
    graph: VariableGraph, needs: Mapping[str, tuple[str, ...]]
) -> tuple[list[frozenset[str]], list[tuple[int, int]]]:
    """Cliques of a triangulation of the inner variables, and the edges of a junction tree over them.

    Inner variables are the hidden ones and copies of observed ones. The parents of a leaf are in one clique.
    Triangulated by elimination with minimum fill.
    """
    import networkx as nx
    from networkx.algorithms.approximation import treewidth_min_fill_in

    outer = {name for name, needed in needs.items() if needed != (name,)}
    inner = [name for name in graph.variables if name not in outer]
    if not inner:
        return [frozenset()], []
    # Numbers instead of names, because sets of numbers are iterated in a reproducible order.
    number = {name: place for place, name in enumerate(inner)}
    moral: nx.Graph[int] = nx.Graph()
    moral.add_nodes_from(range(len(inner)))
    for name in inner:
        near = sorted(number[other] for other in graph.neighbours[name] if other in number)
        moral.add_edges_from((number[name], other) for other in near)
    for name in outer:
        together = [number[other] for other in needs[name]]
        moral.add_edges_from(combinations(sorted(together), 2))
    _, decomposition = treewidth_min_fill_in(moral)
    cliques = list(decomposition.nodes)
    place = {bag: at for at, bag in enumerate(cliques)}
    edges = [(place[one], place[other]) for one, other in decomposition.edges]
    bags = [frozenset(inner[member] for member in bag) for bag in cliques]
    return _merged(bags, edges)


def _merged(
    bags: list[frozenset[str]], edges: list[tuple[int, int]]
) -> tuple[list[frozenset[str]], list[tuple[int, int]]]:
    """The same junction tree without cliques that are subsets of a neighbour."""
    near: dict[int, set[int]] = {at: set() for at in range(len(bags))}
    for one, other in edges:
        near[one].add(other)
        near[other].add(one)
    changed = True
    while changed:
        changed = False
        for at in sorted(near):
            host = next((other for other in sorted(near[at]) if bags[at] <= bags[other]), None)
            if host is None:
                continue
            for other in near.pop(at):
                near[other].discard(at)
                if other != host:
                    near[other].add(host)
                    near[host].add(other)
            changed = True
    place = {at: new for new, at in enumerate(sorted(near))}
    pairs = [(place[one], place[other]) for one in sorted(near) for other in sorted(near[one])]
    return [bags[at] for at in sorted(near)], [pair for pair in pairs if pair[0] < pair[1]]
