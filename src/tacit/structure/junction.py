"""Junction trees of latent graphs, as trees that the engine knows: hidden nodes stand for sets of variables.

A hidden node's states are the joint states of its variables. Between two cliques stands their separator, and
a clique that only leads from one separator to another is the edge between them, so that nodes have as few
states as they can. Observed variables are leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.errors import TooExpensiveError, TopologyError
from tacit.structure.graphs import VariableGraph, bags_of, leaf_needs
from tacit.structure.rooted import RootedTree
from tacit.structure.rooting import centre, fresh, walk

# Entries of one table (states of a node times those of its parent); beyond it a graph is refused.
MOST_ENTRIES = 1 << 22
_MOST_BRANCHES = 3


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """A latent graph as a tree over sets of its variables."""

    graph: VariableGraph
    tree: RootedTree
    states: Mapping[str, int]  # of every variable
    members: tuple[
        tuple[str, ...], ...
    ]  # (node,)  variables of each hidden node; a leaf's own name
    given: tuple[tuple[str, ...], ...]  # (node,)  variables of the parent that a node depends on
    clique: tuple[str, ...]  # the largest clique

    @property
    def treewidth(self) -> int:
        """Size of the largest clique of hidden variables, less one."""
        return max(len(self.clique) - 1, 0)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """(node,) Categories of a leaf, joint states of a hidden node's variables."""
        return tuple(self.count(names) for names in self.members)

    @cached_property
    def caps(self) -> tuple[int, ...]:
        """(node,) The joint states that can be told apart across the edge above each node; 1 at the root."""
        return tuple(
            min(self.count(own), self.count(above))
            for own, above in zip(self.members, self.given, strict=True)
        )

    @property
    def hidden_variables(self) -> tuple[str, ...]:
        """The hidden variables, in the graph's order."""
        observed = set(self.tree.names[: self.tree.n_leaves])
        return tuple(name for name in self.graph.variables if name not in observed)

    def count(self, names: Iterable[str]) -> int:
        """The number of joint states of some variables."""
        return math.prod(self.states[name] for name in names)

    def home(self, variable: str) -> int:
        """The smallest hidden node that a variable is part of."""
        holders = [node for node in self.tree.hidden if variable in self.members[node]]
        return min(holders, key=lambda node: self.n_states[node])


def junction_tree(
    graph: VariableGraph, columns: Sequence[str], states: Mapping[str, int]
) -> JunctionTree:
    """A junction tree whose leaves are the columns.

    Parameters
    ----------
    graph : VariableGraph
    columns : sequence of str
        The observed variables, in the order of the leaves.
    states : mapping of str to int
        Categories of observed and states of hidden variables.

    Raises
    ------
    TopologyError
        If a column is not in the graph, or a hidden variable shows in nothing observed.
    TooExpensiveError
        If a clique has too many joint states.
    """
    missing = [name for name in columns if name not in set(graph.variables)]
    if missing:
        raise TopologyError(
            f"column {missing[0]!r} is not in the graph, which has {list(graph.variables)[:12]}; add it, "
            f"or leave the column out of the data"
        )
    graph = graph.without_barren(columns)
    needs = leaf_needs(graph, columns)
    bags, edges = bags_of(graph, needs)
    order = {name: place for place, name in enumerate(graph.variables)}
    families = {} if graph.parents is None else graph.parents
    draft = _Draft(states, order, bags, edges, needs, families)
    largest = max(bags, key=draft.count)
    _check_width(draft, largest)
    for name in columns:
        draft.attach(name)
    draft.contract()
    draft.prune(directed=graph.parents is not None)
    if graph.parents is not None:
        draft.shrink()
    draft.split()
    return draft.finished(graph, columns, draft.sorted(largest))


def _check_width(draft: _Draft, largest: frozenset[str]) -> None:
    entries = draft.count(largest)
    if entries > MOST_ENTRIES:
        raise TooExpensiveError(
            f"the graph has treewidth {len(largest) - 1}: the variables {list(draft.sorted(largest))} form "
            f"a clique of {entries:.3g} joint states, more than {MOST_ENTRIES:.3g}; use fewer states, or "
            f"remove edges between them"
        )


class _Draft:
    """A junction tree in the making: nodes are numbers, with their variables, neighbours and leaves."""

    def __init__(
        self,
        states: Mapping[str, int],
        order: Mapping[str, int],
        bags: list[frozenset[str]],
        edges: list[tuple[int, int]],
        needs: Mapping[str, tuple[str, ...]],
        parents: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.states, self.order, self.needs = states, order, needs
        self.families: dict[str, list[frozenset[str]]] = {}
        for child, above in parents.items():
            if needs.get(child, (child,)) == (child,):
                for name in (child, *above):
                    self.families.setdefault(name, []).append(frozenset((child, *above)))
        self.members = dict(enumerate(bags))
        self.near: dict[int, list[int]] = {at: [] for at in self.members}
        self.leaves: dict[int, list[str]] = {at: [] for at in self.members}
        self.is_bag = dict.fromkeys(self.members, True)
        for one, other in edges:
            between = self.add(bags[one] & bags[other])
            for end in (one, other):
                self.join(between, end)

    def count(self, names: Iterable[str]) -> int:
        return math.prod(self.states[name] for name in names)

    def sorted(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=self.order.__getitem__))

    def add(self, members: frozenset[str]) -> int:
        node = max(self.members) + 1
        self.members[node], self.near[node], self.leaves[node] = members, [], []
        self.is_bag[node] = False
        return node

    def join(self, one: int, other: int) -> None:
        self.near[one].append(other)
        self.near[other].append(one)

    def drop(self, node: int) -> list[int]:
        """Take a node out; its neighbours are returned, not joined."""
        around = self.near.pop(node)
        for other in around:
            self.near[other].remove(node)
        del self.members[node], self.leaves[node], self.is_bag[node]
        return around

    def degree(self, node: int) -> int:
        return len(self.near[node]) + len(self.leaves[node])

    def attach(self, leaf: str) -> None:
        """Hang a leaf where all that it needs is: at a node with room, of as few states as can be."""
        needed = set(self.needs[leaf])
        able = [node for node, members in self.members.items() if needed <= members]
        full = {node: self.degree(node) >= _MOST_BRANCHES for node in able}
        size = {node: self.count(self.members[node]) for node in able}
        best = min(able, key=lambda node: (full[node], size[node], self.degree(node), node))
        self.leaves[best].append(leaf)

    def contract(self) -> None:
        """Take out cliques that only lead from one separator to another, and separators that join two cliques."""
        for node in list(self.members):
            if self.is_bag[node] and not self.leaves[node] and len(self.near[node]) == 2:
                one, other = self.near[node]
                if self.members[one] | self.members[other] == self.members[node]:
                    self.drop(node)
                    self.join(one, other)
        for node in list(self.members):
            if self.is_bag[node] or self.leaves[node]:
                continue
            around = self.near[node]
            if len(around) == 2 and all(self.is_bag[other] for other in around):
                self.drop(node)
                self.join(*around)

    def prune(self, *, directed: bool) -> None:
        """Take away ends without leaves."""
        ends = [node for node in self.members if self.degree(node) <= 1 and not self.leaves[node]]
        while ends:
            node = ends.pop()
            if len(self.members) == 1:
                break
            (other,) = self.near[node]
            alone = self.members[node] - self.members[other]
            if alone and directed:
                movable = [
                    (leaf, host)
                    for host, hung in self.leaves.items()
                    for leaf in hung
                    if self.members[node].issuperset(self.needs[leaf])
                    and (len(hung) > 1 or len(self.near[host]) > 1)
                ]
                if movable:
                    leaf, host = movable[0]
                    self.move(leaf, host, node)
                    if self.degree(host) <= 1 and not self.leaves[host]:
                        ends.append(host)
                    continue
                raise TopologyError(
                    f"hidden variable {self.sorted(alone)[0]!r} shows in no observed variable but through "
                    f"others that already say all there is to know; remove it from the graph"
                )
            self.drop(node)
            if self.degree(other) <= 1 and not self.leaves[other]:
                ends.append(other)

    def shrink(self) -> None:
        """Leave to neighbours what a node need not hold itself: tables reach over both ends of an edge."""
        for node in list(self.members):
            self._lighten(node)
        for node in list(self.members):
            around = self.near[node]
            if self.leaves[node] or len(around) != 2:
                continue
            one, other = (self.members[end] for end in around)
            through = self.count(self.members[node]) * (self.count(one) + self.count(other))
            if (
                not self.members[node] <= one | other
                or self.count(one) * self.count(other) > through
            ):
                continue
            members = self.members[node]
            self.drop(node)
            self.join(*around)
            if not self._holds(members):
                self.near[around[0]].remove(around[1])
                self.near[around[1]].remove(around[0])
                self.members[node], self.leaves[node], self.near[node] = members, [], []
                self.is_bag[node] = False
                for end in around:
                    self.join(node, end)

    def _lighten(self, node: int) -> None:
        """Drop variables that no leaf of the node needs and that one neighbour alone shares."""
        kept = {name for leaf in self.leaves[node] for name in self.needs[leaf]}
        for name in self.sorted(self.members[node] - kept):
            if sum(name in self.members[other] for other in self.near[node]) != 1:
                continue
            before = self.members[node]
            self.members[node] = before - {name}
            if self._holds({name}):
                self.is_bag[node] = False
            else:
                self.members[node] = before

    def _holds(self, names: Iterable[str]) -> bool:
        """Whether the tables still reach over every family that some variables are part of."""
        for name in names:
            holders = [node for node, members in self.members.items() if name in members]
            reach = [self.members[node] for node in holders]
            reach += [
                self.members[node] | self.members[other]
                for node in holders
                for other in self.near[node]
            ]
            if not all(any(family <= each for each in reach) for family in self.families[name]):
                return False
        return True

    def split(self) -> None:
        """Split nodes of more than three branches: two of them get a node of what they need."""
        for node in list(self.members):
            while self.degree(node) > _MOST_BRANCHES:
                branches: list[tuple[frozenset[str], int | str]] = [
                    (frozenset(self.needs[leaf]), leaf) for leaf in self.leaves[node]
                ]
                branches += [(self.crossing(node, other), other) for other in self.near[node]]
                pairs = [
                    (self.count(one[0] | two[0]), first, second)
                    for first, one in enumerate(branches)
                    for second, two in enumerate(branches[:first])
                ]
                _, first, second = min(pairs)
                new = self.add(branches[first][0] | branches[second][0])
                for _, branch in (branches[second], branches[first]):
                    self.move(branch, node, new)
                self.join(node, new)

    def move(self, branch: int | str, node: int, new: int) -> None:
        if isinstance(branch, str):
            self.leaves[node].remove(branch)
            self.leaves[new].append(branch)
        else:
            self.near[node].remove(branch)
            self.near[branch].remove(node)
            self.join(new, branch)

    def crossing(self, node: int, other: int) -> frozenset[str]:
        """The variables of a node that its table with a neighbour needs."""
        if self.is_bag[node] or self.is_bag[other]:
            return self.members[node] & self.members[other]
        return self.members[node]

    def finished(
        self, graph: VariableGraph, columns: Sequence[str], clique: tuple[str, ...]
    ) -> JunctionTree:
        names: dict[int, str] = {}
        taken = {*columns, *graph.variables}
        for node, members in self.members.items():
            label = "+".join(self.sorted(members)) or "nothing"
            single = len(members) == 1 and label not in columns and label not in names.values()
            names[node] = label if single else fresh(label, taken)
        near = {
            names[node]: [*(names[other] for other in self.near[node]), *self.leaves[node]]
            for node in self.members
        }
        for node, hung in self.leaves.items():
            near.update({leaf: [names[node]] for leaf in hung})
        root = centre(near) if len(near) > 2 else names[next(iter(self.members))]
        above = walk(near, root)
        inner = [name for name in above if name not in set(columns)][::-1]
        number = {name: place for place, name in enumerate([*columns, *inner])}
        parent = [-1 if above[name] is None else number[above[name]] for name in number]  # type: ignore[index]
        tree = RootedTree(
            names=tuple(number),
            n_leaves=len(columns),
            parent=np.array(parent, dtype=np.int32),
            copy_of=np.full(len(number), -1, dtype=np.int32),
        )
        at = {name: node for node, name in names.items()}
        members, given = [], []
        for name in number:
            towards = above[name]
            if name not in at:
                members.append((name,))
                given.append(self.needs[name])
                continue
            members.append(self.sorted(self.members[at[name]]))
            crossing = () if towards is None else self.crossing(at[towards], at[name])
            given.append(self.sorted(crossing))
        return JunctionTree(graph, tree, dict(self.states), tuple(members), tuple(given), clique)
