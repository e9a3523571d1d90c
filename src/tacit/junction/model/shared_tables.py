"""Tables of a junction tree as products of a few parameters, some of them shared.

A node's table is P(joint state | joint state of its parent). Entries where the two disagree on a common
variable are zero; every other entry is a product of conditional probabilities of the graph's variables, each
of which is a parameter. Several variables may share a conditional distribution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import MOST_MEMORY, check_memory, memory_bytes
from tacit.errors import ArgumentError
from tacit.junction.structure.graphs import VariableGraph
from tacit.junction.structure.junction_tree import JunctionTree, junction_tree
from tacit.messages.network import Layout, Tables, layout

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_CACHE: dict[object, tuple[JunctionTree, Ties]] = {}
_MAX_CACHED = 32
_BYTES = 8  # of a number
_TABLES = 12  # values, counts, and steps that the accelerated EM keeps


class Family(NamedTuple):
    """Children and their parents; several children where the graph is undirected."""

    children: tuple[str, ...]
    parents: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Block:
    """Parameters of one family, or shared by several: one row per joint state of the parents."""

    name: str
    families: tuple[Family, ...]
    start: int
    n_rows: int
    n_columns: int

    @property
    def span(self) -> slice:
        """The slice of the parameters in the flat array."""
        return slice(self.start, self.start + self.n_rows * self.n_columns)


@dataclass(frozen=True, eq=False)
class Ties:
    """Parameter tying: how the tables of a junction tree are products of parameters."""

    junction: JunctionTree
    layout: Layout
    blocks: tuple[Block, ...]
    factors: Integers  # (factor, entry)  parameters whose product an entry is; indices n, n + 1: one, zero

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.blocks[-1].span.stop if self.blocks else 0

    @cached_property
    def row_starts(self) -> Integers:
        """Where each conditional distribution starts among the parameters."""
        rows = [block.start + block.n_columns * np.arange(block.n_rows) for block in self.blocks]
        return np.concatenate([np.empty(0, dtype=np.int64), *rows]).astype(np.int64)

    @cached_property
    def n_parameters(self) -> int:
        """Free parameters: each row sums to one."""
        return sum(block.n_rows * (block.n_columns - 1) for block in self.blocks)

    def values(self, parameters: Array) -> Array:
        """The flat tables of some parameters."""
        extended = np.append(parameters, (1.0, 0.0))
        out: Array = extended[self.factors[0]]
        for place in self.factors[1:]:
            out *= extended[place]
        return out

    def mass(self, counts: Array) -> Array:
        """Expected counts of the parameters, from those of table entries."""
        expected = np.zeros(self.size + 2)
        for place in self.factors:
            expected += np.bincount(place, weights=counts, minlength=self.size + 2)
        return expected[: self.size]

    def tables(self, parameters: Array) -> Tables:
        """The tables with rows that sum to one, the same distribution."""
        return _calibrated(self.layout, self.values(parameters))

    def named(self, parameters: Array) -> dict[str, Array]:
        """The parameters of each block, as an array with the parents' axes before the child's."""
        out = {}
        for block in self.blocks:
            children, parents = block.families[0]
            shape = [self.junction.states[name] for name in (*parents, *children)]
            out[block.name] = parameters[block.span].reshape(shape)
        return out

    def prior(self, marginals: Sequence[Array], leaf: float, hidden: float) -> Array:
        """Pseudo-counts of each parameter: those of leaves in proportion to their marginals, others equal.

        Parameters
        ----------
        marginals : sequence of arrays
            The distribution of each leaf.
        """
        tree = self.junction.tree
        places = {name: place for place, name in enumerate(tree.names[: tree.n_leaves])}
        pseudo = np.empty(self.size)
        for block in self.blocks:
            distributions = [
                marginals[places[family.children[0]]]
                for family in block.families
                if family.children[0] in places
            ]
            row = (
                leaf * np.mean(distributions, axis=0) if distributions else hidden / block.n_columns
            )
            pseudo[block.span] = np.broadcast_to(row, (block.n_rows, block.n_columns)).ravel()
        return pseudo


def ties(junction: JunctionTree, shared: Mapping[str, str] | None = None) -> Ties:
    """The parameter tying of a junction tree, from its graph's conditional distributions.

    Parameters
    ----------
    junction : JunctionTree
    shared : mapping of variable to name, optional
        Variables with the same name here have the same conditional distribution.
    """
    lay = layout(junction.tree, junction.n_states)
    placed = _placed_families(junction)
    blocks, starts = _blocks(junction, list(chain.from_iterable(placed)), shared or {})
    one = blocks[-1].span.stop if blocks else 0
    columns = []
    for node, families in enumerate(placed):
        columns.append(_node_factors(junction, node, families, starts, one))
    depth = max(map(len, columns))
    factors = np.full((depth, lay.size), one, dtype=np.int64)
    for node, parameters in enumerate(columns):
        factors[: len(parameters), lay.starts[node] : lay.starts[node + 1]] = parameters
    return Ties(junction, lay, blocks, factors)


def table_bytes(junction: JunctionTree) -> int:
    """Memory of the tables of a junction tree and of their ties, before either is made."""
    entries, largest, depth = 0, 0, 1
    for node, families in enumerate(_placed_families(junction)):
        members = junction.members[node]
        root = node == junction.tree.root
        above = () if root else junction.members[int(junction.tree.parent[node])]
        size = junction.count((*above, *members))
        entries += size
        largest = max(largest, size * (len(above) + len(members) + 2))
        depth = max(depth, len(families))
    # While ties are made: the factors twice, the axes of the largest table; then the values of EM.
    return _BYTES * (2 * depth * entries + largest + _TABLES * entries)


def _placed_families(junction: JunctionTree) -> list[list[Family]]:
    """The families whose probabilities each node's table multiplies; every family occurs once."""
    tree, graph = junction.tree, junction.graph
    placed: list[list[Family]] = [[] for _ in tree.names]
    copies = _copies(junction)
    for leaf in range(tree.n_leaves):
        if leaf not in copies:
            placed[leaf].append(Family(junction.members[leaf], junction.conditioned_on[leaf]))
    if graph.parents is None:
        for node in tree.hidden:
            above = junction.conditioned_on[node]
            children = tuple(name for name in junction.members[node] if name not in above)
            if children:
                placed[node].append(Family(children, above))
        return placed
    outer = {tree.names[leaf] for leaf in range(tree.n_leaves) if leaf not in copies}
    reach = {}
    for node in tree.hidden:
        above = () if node == tree.root else junction.members[int(tree.parent[node])]
        reach[node] = {*junction.members[node], *above}
    for child in graph.variables:
        if child not in outer:
            family = Family((child,), graph.parents[child])
            home = next(node for node in reach if reach[node].issuperset((child, *family.parents)))
            placed[home].append(family)
    return placed


def _copies(junction: JunctionTree) -> set[int]:
    """The leaves that are copies of a variable of a hidden node."""
    leaves = range(junction.tree.n_leaves)
    return {leaf for leaf in leaves if junction.conditioned_on[leaf] == junction.members[leaf]}


def _blocks(
    junction: JunctionTree, families: Sequence[Family], shared: Mapping[str, str]
) -> tuple[tuple[Block, ...], dict[Family, int]]:
    """The blocks of parameters, and the offset of each family."""
    groups: dict[str, list[Family]] = {}
    for family in families:
        child = "+".join(family.children)
        groups.setdefault(shared.get(child, child), []).append(family)
    blocks, starts, start = [], {}, 0
    for name, members in groups.items():
        shapes = {
            tuple(tuple(junction.states[v] for v in side) for side in family) for family in members
        }
        if len(shapes) > 1:
            raise ArgumentError(
                f"{[family.children[0] for family in members]} share the distribution {name!r}, but have "
                f"different numbers of states or parents"
            )
        rows, columns = (junction.count(side) for side in reversed(members[0]))
        block = Block(name, tuple(members), start, rows, columns)
        blocks.append(block)
        starts.update(dict.fromkeys(members, start))
        start = block.span.stop
    return tuple(blocks), starts


def _node_factors(
    junction: JunctionTree,
    node: int,
    families: Sequence[Family],
    starts: Mapping[Family, int],
    one: int,
) -> list[Integers]:
    """For each factor of a node's table, the parameter behind every entry."""
    tree = junction.tree
    members = junction.members[node]
    above = () if node == tree.root else junction.members[int(tree.parent[node])]
    shape = [junction.states[name] for name in (*above, *members)]
    axes = np.indices(shape).reshape(len(shape), -1) if shape else np.zeros((0, 1), dtype=np.int64)
    n_above = len(above)
    value: dict[str, Integers] = dict(zip(above, axes[:n_above], strict=True))
    agree = np.ones(axes.shape[1], dtype=np.bool_)
    for name, codes in zip(members, axes[n_above:], strict=True):
        agree &= value.get(name, codes) == codes
        value[name] = codes
    factors = []
    for family in families:
        index = np.zeros(axes.shape[1], dtype=np.int64)
        for name in (*family.parents, *family.children):
            index = index * junction.states[name] + value[name]
        factors.append(np.where(agree, index + starts[family], one + 1))
    return factors or [np.where(agree, one, one + 1)]


def _calibrated(lay: Layout, values: Array) -> Tables:
    """Tables of the same joint distribution whose rows sum to one: sums are passed up to the parent."""
    tree = lay.tree
    below = [np.ones(k) for k in lay.n_states]
    out = values.copy()
    for node in range(tree.n_nodes):
        entries = slice(lay.starts[node], lay.starts[node + 1])
        table = out[entries].reshape(lay.shapes[node]) * below[node]
        sums = table.sum(axis=1)
        if node == tree.root:
            assert math.isclose(sums[0], 1.0, rel_tol=1e-6)
        else:
            below[int(tree.parent[node])] *= sums
        impossible = sums <= 0
        table[impossible] = 1 / table.shape[1]
        sums[impossible] = 1.0
        out[entries] = (table / sums[:, None]).ravel()
    return Tables(lay, out)


def tied(
    graph: VariableGraph,
    columns: Sequence[str],
    states: Mapping[str, int],
    shared: Mapping[str, str],
    max_memory: int | str = MOST_MEMORY,
) -> tuple[JunctionTree, Ties]:
    """The junction tree of a graph and its ties; cached, because a graph is often fitted many times.

    Raises
    ------
    TooExpensiveError
        The tables would need more memory than `max_memory`.
    """
    links = graph.parents if graph.parents is not None else graph.neighbours
    key = (
        graph.parents is None,
        tuple((name, tuple(sorted(links[name]))) for name in graph.variables),
        tuple(columns),
        tuple((name, states[name]) for name in graph.variables if name in states),
        tuple(sorted(shared.items())),
        memory_bytes(max_memory, "max_memory"),
    )
    if key not in _CACHE:
        while len(_CACHE) >= _MAX_CACHED:
            _CACHE.pop(next(iter(_CACHE)))
        junction = junction_tree(graph, columns, states, max_memory)
        check_memory(
            f"the tables of {junction.tree.n_nodes} nodes of a graph of treewidth {junction.treewidth}",
            table_bytes(junction),
            max_memory,
            "use fewer states, or remove edges",
        )
        _CACHE[key] = (junction, ties(junction, shared))
    return _CACHE[key]
