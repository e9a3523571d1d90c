"""The report of a moment method: views and singular values of each edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.messages.network import Network, Tables
from tacit.messages.rooted_tree import RootedTree
from tacit.trees.learn.spectral.edges import EdgeSpectrum
from tacit.trees.learn.spectral.stars import Group
from tacit.trees.learn.spectral.triads import Triad


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Per edge, its views and the singular values that were kept.

    A node of high degree may have been split: its parts have names such as ``h/1``.
    """

    method: str
    tree: RootedTree
    edges: Mapping[
        int, EdgeSpectrum
    ]  # by lower node; edges of leaves that are sent as they are, are absent
    triads: Mapping[int, Triad] = field(
        default_factory=dict
    )  # the three views of nodes that used them

    def as_dict(self) -> dict[str, Any]:
        """The report in plain numbers, strings, lists and dicts, with the names of nodes."""
        names, named = self.tree.names, _Named(self.tree.names)
        edges = {}
        for node, spectrum in self.edges.items():
            values, views, rank = spectrum.values.tolist(), spectrum.views, spectrum.rank
            edges[names[node]] = {
                "below": named[views.below],
                "above": [named[group] for group in views.above],
                "strengths": list(views.strengths),
                "kept": values[:rank],
                "cut": values[rank:],
                "wanted": views.rank,
                "threshold": spectrum.threshold,
                "condition": spectrum.condition,
            }
        three_views = {
            names[node]: [named[tuple(group)] for group in three.groups]
            for node, three in self.triads.items()
        }
        return {"method": self.method, "edges": edges, "three_views": three_views}


class _Named(dict[Group, list[str]]):
    """The names of groups of leaves; many edges use the same few."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def __missing__(self, group: Group) -> list[str]:
        self[group] = [self.names[leaf] for leaf in group]
        return self[group]


@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """What a moment method learnt, and its report."""

    network: Network
    report: Report


@dataclass(frozen=True, slots=True, eq=False)
class FactoredTables:
    """Probability tables that a moment method learnt, and its report."""

    tables: Tables
    report: Report

    @property
    def network(self) -> Network:
        """The tables as a network, for the queries."""
        return self.tables.network
