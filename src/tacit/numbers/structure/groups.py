"""Groups of columns that are one variable of a tree.

A group is a node of the tree, with its columns as leaves. The kernel of a group is the product of its
columns' kernels, so that the product of what its columns send, at the pivots of the group, is the kernel
there; a column of which nothing is known sends ones. Queries need not know that there are groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.vector_kernels import VectorKernelEncoder
from tacit.core.input.mixed_table import MixedSchema
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError
from tacit.messages.network import Network, Pointwise
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]


def check_groups(groups: Any) -> None:
    """Raise an `ArgumentTypeError` unless groups are None or a mapping."""
    if groups is not None and not isinstance(groups, Mapping):
        raise ArgumentTypeError(
            f"groups={shown(groups)}; give a mapping of name to columns, {{'position': ['x', 'y']}}"
        )


@dataclass(frozen=True)
class Units:
    """The variables of a tree: columns, and groups of columns."""

    names: tuple[str, ...]  # (unit,)
    places: tuple[tuple[int, ...], ...]  # (unit,)  the columns of each

    @property
    def grouped(self) -> bool:
        """Whether any unit has several columns."""
        return any(len(places) > 1 for places in self.places)

    @staticmethod
    def of(schema: MixedSchema, groups: Mapping[Any, Sequence[Any]] | None) -> Units:
        """The units of a table; a column in no group is one by itself, and so is a group of one column.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            A group is empty, has the name of a column, or holds categories or a column of another group.
        """
        check_groups(groups)
        group_of: dict[int, str] = {}
        for name, members in (groups or {}).items():
            if isinstance(members, str) or not np.iterable(members) or not len(members):
                raise ArgumentError(
                    f"group {shown(name)} is {shown(members)}; give a list of columns"
                )
            if str(name) in schema.names and len(members) > 1:
                raise ArgumentError(f"group {name!r} has the name of a column; give it another")
            for member in members:
                place = schema.index(member)
                if place not in schema.continuous:
                    raise ArgumentError(
                        f"group {name!r} has the column {member!r}, which holds categories; groups are of "
                        f"numbers (continuous=[{member!r}] makes it one)"
                    )
                if place in group_of:
                    raise ArgumentError(f"column {member!r} is in two groups; leave it in one")
                group_of[place] = str(name)
        units: dict[str, list[int]] = {}
        for place, column in enumerate(schema.names):
            units.setdefault(group_of.get(place, column), []).append(place)
        # Groups last, so that the children of a node keep their order when groups become nodes.
        ordered = sorted(units.items(), key=lambda unit: len(unit[1]) > 1)
        return Units(
            tuple(name if len(places) > 1 else schema.names[places[0]] for name, places in ordered),
            tuple(tuple(places) for _, places in ordered),
        )

    def cells(self, columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """What the encoder of each unit takes: a column, or (row, member) numbers."""
        return [
            columns[places[0]]
            if len(places) == 1
            else np.column_stack([columns[place] for place in places])
            for places in self.places
        ]

    def topology(self, topology: Topology, columns: Sequence[str]) -> Topology:
        """The tree of the units with the columns of each group hung on its node."""
        edges = [
            (name, columns[place])
            for name, places in zip(self.names, self.places, strict=True)
            if len(places) > 1
            for place in places
        ]
        members = tuple(column for _, column in edges)
        return replace(
            topology,
            nodes=(*topology.nodes, *members),
            edges=(*topology.edges, *edges),
            observed=tuple(columns),
            lengths=(*topology.lengths, *(None for _ in edges)),
        )

    def network(self, network: Network, encoders: Sequence[Any], columns: Sequence[str]) -> Network:
        """The network of the units with the columns of each group as leaves."""
        tree, n_columns = network.tree, len(columns)
        groups = [unit for unit, places in enumerate(self.places) if len(places) > 1]
        number = {unit: n_columns + at for at, unit in enumerate(groups)}
        shift = n_columns + len(groups) - tree.n_leaves
        nothing: Array = np.empty(0)
        parent, emit, total = [-1] * n_columns, [nothing] * n_columns, [nothing] * n_columns
        tables, group_parents = [], []
        copied = {}
        for unit, places in enumerate(self.places):
            above = int(tree.parent[unit]) + shift
            if unit not in number:
                (place,) = places
                parent[place], copied[unit] = above, place
                emit[place], total[place] = network.emit[unit], network.total[unit]
                continue
            encoder = encoders[unit]
            assert isinstance(encoder, VectorKernelEncoder)
            tables.append(Pointwise(np.ascontiguousarray(network.emit[unit].T @ encoder.inverse)))
            group_parents.append(above)
            n_pivots = len(encoder.pivots)
            for place in places:
                parent[place] = number[unit]
                emit[place], total[place] = np.eye(n_pivots), np.ones(n_pivots)
        hidden_parents = [
            -1 if node == tree.root else int(tree.parent[node]) + shift for node in tree.hidden
        ]
        copies = [copied.get(int(tree.copy_of[node]), -1) for node in tree.hidden]
        expanded = RootedTree(
            (*columns, *(self.names[unit] for unit in groups), *tree.names[tree.n_leaves :]),
            n_columns,
            np.array([*parent, *group_parents, *hidden_parents], np.int32),
            np.array([-1] * (n_columns + len(groups)) + copies, np.int32),
        )
        return Network(expanded, tuple(emit), tuple(total), (*tables, *network.nodes))
