"""Junction trees of latent graphs: latent trees whose hidden nodes are sets of variables.

A hidden node's states are the joint states of its variables. Two cliques are joined by their separator, and a
clique that only leads from one separator to another becomes the edge between them, so that nodes have as few
states as possible. Observed variables are leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.core.limits import MOST_MEMORY, check_memory
from tacit.errors import TopologyError
from tacit.junction.structure.draft import JunctionDraft
from tacit.junction.structure.graphs import VariableGraph, bags_of, leaf_needs
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.structure.rooting import centre, fresh, walk

# What a joint state of the largest clique takes at least: entries of tables, and their factors.
_BYTES_PER_STATE = 1900


@dataclass(frozen=True, eq=False)
class JunctionTree:
    """A latent graph as a tree over sets of its variables."""

    graph: VariableGraph
    tree: RootedTree
    states: Mapping[str, int]  # of every variable
    members: tuple[
        tuple[str, ...], ...
    ]  # (node,)  variables of each hidden node; a leaf's own name
    conditioned_on: tuple[
        tuple[str, ...], ...
    ]  # (node,)  variables of the parent that a node needs
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
        """(node,) The largest rank across the edge above each node; 1 at the root."""
        return tuple(
            min(self.count(members), self.count(conditioning))
            for members, conditioning in zip(self.members, self.conditioned_on, strict=True)
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
    graph: VariableGraph,
    columns: Sequence[str],
    states: Mapping[str, int],
    max_memory: int | str = MOST_MEMORY,
) -> JunctionTree:
    """A junction tree whose leaves are the columns.

    Parameters
    ----------
    graph : VariableGraph
    columns : sequence of str
        The observed variables, in the order of the leaves.
    states : mapping of str to int
        Categories of observed and states of hidden variables.
    max_memory : int or str
        Memory that the tables may need.

    Raises
    ------
    TopologyError
        If a column is not in the graph, or no observed variable depends on a hidden one.
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
    draft = JunctionDraft(states, order, bags, edges, needs, families)
    largest = max(bags, key=draft.count)
    _check_width(draft, largest, max_memory)
    for name in columns:
        draft.attach(name)
    draft.contract()
    draft.prune(directed=graph.parents is not None)
    if graph.parents is not None:
        draft.shrink()
    draft.split()
    return _finished(draft, graph, columns, draft.sorted(largest))


def _check_width(draft: JunctionDraft, largest: frozenset[str], max_memory: int | str) -> None:
    names = list(draft.sorted(largest))
    check_memory(
        f"the graph has treewidth {len(largest) - 1}: the joint states of its largest clique {names}",
        _BYTES_PER_STATE * draft.count(largest),
        max_memory,
        "use fewer states, remove edges between these variables",
    )


def _finished(
    draft: JunctionDraft, graph: VariableGraph, columns: Sequence[str], clique: tuple[str, ...]
) -> JunctionTree:
    names: dict[int, str] = {}
    taken = {*columns, *graph.variables}
    for node, variables in draft.members.items():
        label = "+".join(draft.sorted(variables)) or "nothing"
        single = len(variables) == 1 and label not in columns and label not in names.values()
        names[node] = label if single else fresh(label, taken)
    near = {
        names[node]: [*(names[other] for other in draft.near[node]), *draft.leaves[node]]
        for node in draft.members
    }
    for node, hung in draft.leaves.items():
        near.update({leaf: [names[node]] for leaf in hung})
    root = centre(near) if len(near) > 2 else names[next(iter(draft.members))]
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
    members: list[tuple[str, ...]] = []
    conditioned_on: list[tuple[str, ...]] = []
    for name in number:
        towards = above[name]
        if name not in at:
            members.append((name,))
            conditioned_on.append(draft.needs[name])
            continue
        members.append(draft.sorted(draft.members[at[name]]))
        crossing = () if towards is None else draft.crossing(at[towards], at[name])
        conditioned_on.append(draft.sorted(crossing))
    return JunctionTree(
        graph, tree, dict(draft.states), tuple(members), tuple(conditioned_on), clique
    )
