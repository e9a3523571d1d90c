"""A mutable junction tree: cliques and separators, then fewer and smaller nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from tacit.errors import TopologyError

MOST_BRANCHES = 3


class JunctionDraft:
    """A mutable junction tree: numbered nodes with their variables, neighbours and leaves."""

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
        # Variables whose joint table an edge holds since `shrink` made its ends smaller than cliques.
        self.covered: dict[frozenset[int], frozenset[str]] = {}
        for one, other in edges:
            between = self.add(bags[one] & bags[other])
            for end in (one, other):
                self.join(between, end)

    def count(self, names: Iterable[str]) -> int:
        """The number of joint states of some variables."""
        return math.prod(self.states[name] for name in names)

    def sorted(self, names: Iterable[str]) -> tuple[str, ...]:
        """Variables in the graph's order."""
        return tuple(sorted(names, key=self.order.__getitem__))

    def add(self, members: frozenset[str]) -> int:
        """A new separator without neighbours."""
        node = max(self.members) + 1
        self.members[node], self.near[node], self.leaves[node] = members, [], []
        self.is_bag[node] = False
        return node

    def join(self, one: int, other: int) -> None:
        """Make two nodes neighbours."""
        self.near[one].append(other)
        self.near[other].append(one)

    def drop(self, node: int) -> list[int]:
        """Take a node out; its neighbours are returned, not joined."""
        around = self.near.pop(node)
        for other in around:
            self.near[other].remove(node)
        del self.members[node], self.leaves[node], self.is_bag[node]
        self.covered = {edge: names for edge, names in self.covered.items() if node not in edge}
        return around

    def degree(self, node: int) -> int:
        """Neighbours and leaves of a node."""
        return len(self.near[node]) + len(self.leaves[node])

    def attach(self, leaf: str) -> None:
        """Attach a leaf to a node with all variables that it depends on: one with room and few states."""
        needed = set(self.needs[leaf])
        able = [node for node, members in self.members.items() if needed <= members]
        full = {node: self.degree(node) >= MOST_BRANCHES for node in able}
        size = {node: self.count(self.members[node]) for node in able}
        best = min(able, key=lambda node: (full[node], size[node], self.degree(node), node))
        self.leaves[best].append(leaf)

    def contract(self) -> None:
        """Contract cliques whose two separators cover them, and separators between two cliques."""
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
        """Remove end nodes without leaves."""
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
                    f"hidden variable {self.sorted(alone)[0]!r} is not identifiable: the observed variables "
                    f"depend on it only through others; remove it from the graph"
                )
            self.drop(node)
            if self.degree(other) <= 1 and not self.leaves[other]:
                ends.append(other)

    def shrink(self) -> None:
        """Remove variables that a neighbour holds: tables cover both ends of an edge."""
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
            members, before = self.members[node], self.covered
            beside = [before.get(frozenset((node, end)), frozenset()) for end in around]
            self.drop(node)
            self.join(*around)
            self.covered[frozenset(around)] = members.union(*beside)
            if not self._holds(members):
                self.covered = before
                self.near[around[0]].remove(around[1])
                self.near[around[1]].remove(around[0])
                self.members[node], self.leaves[node], self.near[node] = members, [], []
                self.is_bag[node] = False
                for end in around:
                    self.join(node, end)

    def _lighten(self, node: int) -> None:
        """Drop variables that no leaf of the node needs and that exactly one neighbour has."""
        required = {name for leaf in self.leaves[node] for name in self.needs[leaf]}
        for name in self.sorted(self.members[node] - required):
            if sum(name in self.members[other] for other in self.near[node]) != 1:
                continue
            before = self.members[node]
            self.members[node] = before - {name}
            if self._holds({name}):
                self.is_bag[node] = False
                (holder,) = (other for other in self.near[node] if name in self.members[other])
                edge = frozenset((node, holder))
                self.covered[edge] = self.covered.get(edge, frozenset()) | before
            else:
                self.members[node] = before

    def _holds(self, names: Iterable[str]) -> bool:
        """Whether the tables still cover every family of some variables."""
        for name in names:
            holders = [node for node, members in self.members.items() if name in members]
            reach = [self.members[node] for node in holders]
            reach += [
                self.members[node] | self.members[other]
                for node in holders
                for other in self.near[node]
            ]
            if not all(
                any(family <= covered for covered in reach) for family in self.families[name]
            ):
                return False
        return True

    def split(self) -> None:
        """Split nodes of more than three branches: two of them get a node with the variables they need."""
        for node in list(self.members):
            while self.degree(node) > MOST_BRANCHES:
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
        """Take a neighbour or a leaf from one node to another."""
        if isinstance(branch, str):
            self.leaves[node].remove(branch)
            self.leaves[new].append(branch)
        else:
            self.near[node].remove(branch)
            self.near[branch].remove(node)
            self.join(new, branch)
            if covered := self.covered.pop(frozenset((node, branch)), None):
                self.covered[frozenset((new, branch))] = covered

    def crossing(self, node: int, other: int) -> frozenset[str]:
        """The variables of a node that its table with a neighbour needs."""
        if not (self.is_bag[node] or self.is_bag[other]):
            return self.members[node]
        covered = self.covered.get(frozenset((node, other)), frozenset())
        return self.members[node] & (self.members[other] | covered)
