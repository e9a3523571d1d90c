"""Random probability tables on a tree, and rows drawn from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_kind, check_number, generator_from
from tacit.errors import ArgumentError
from tacit.messages.evidence import Evidence
from tacit.messages.network import Tables
from tacit.messages.passes import log_values
from tacit.messages.rooted_tree import RootedTree
from tacit.toy.arguments import (
    MOST_CELLS,
    TABLES,
    check_samples,
    check_size,
    checked_codes,
    numbers_of,
)
from tacit.toy.exact import ExactMoments
from tacit.toy.trees import random_topology
from tacit.trees.structure.topology import Topology

Array = NDArray[np.float64]


def random_tables(
    tree: RootedTree,
    cards: int | Sequence[int],
    n_states: int | Sequence[int] | Mapping[str, int],
    random_state: Any = None,
    *,
    diagonal: float = 0.0,
) -> Tables:
    """Tables whose entries are uniform on (0, 1) before each row is made to sum to one.

    Parameters
    ----------
    tree : RootedTree
    cards : int or sequence of int
        Number of categories, of every leaf or of each.
    n_states : int or sequence of int or mapping of str to int
        Number of states, of every hidden node, of each in the tree's order, or by name. A hidden node
        that copies a leaf has the leaf's categories for states, whatever `n_states` says.
    random_state : int or numpy.random.Generator, optional
    diagonal : float
        Added to the diagonals before normalising: the more, the stronger the tree's dependences.

    Examples
    --------
    >>> from tacit.toy.trees import caterpillar
    >>> tree = caterpillar(3).rooted(["x0", "x1", "x2"])
    >>> random_tables(tree, cards=4, n_states=2, random_state=0).table(0).shape
    (2, 4)
    """
    check_kind("tree", tree, RootedTree, "a rooted tree: `topology.rooted(columns)`")
    check_number("diagonal", diagonal)
    rng = generator_from(random_state)
    states = _states(tree, cards, n_states)
    copied = {int(leaf): node for node, leaf in enumerate(tree.copy_of) if leaf >= 0}
    tables = []
    for node, above in enumerate(tree.parent.tolist()):
        if node in copied:
            tables.append(np.eye(states[node]))
            continue
        rows = 1 if above < 0 else states[above]
        table = rng.random((rows, states[node]))
        if above >= 0:
            table += diagonal * np.eye(rows, states[node])
        tables.append(table / table.sum(axis=1, keepdims=True))
    return Tables.of(tree, tables)


def _states(
    tree: RootedTree,
    cards: int | Sequence[int],
    n_states: int | Sequence[int] | Mapping[str, int],
) -> list[int]:
    if isinstance(n_states, Mapping):
        free = [node for node in tree.hidden if tree.copy_of[node] < 0]
        absent = [tree.names[node] for node in free if tree.names[node] not in n_states]
        if absent:
            raise ArgumentError(f"n_states lacks {absent[0]!r}; give every hidden node a number")
        n_states = [n_states.get(tree.names[node], 1) for node in tree.hidden]
    states = numbers_of("cards", cards, tree.n_leaves)
    states += numbers_of("n_states", n_states, len(tree.hidden))
    for node, leaf in enumerate(tree.copy_of.tolist()):
        if leaf >= 0:
            states[node] = states[leaf]
    above = [1 if node < 0 else states[node] for node in tree.parent.tolist()]
    check_size("cells of the tables", sum(map(mul, states, above)), MOST_CELLS)
    return states


def sample_codes(tables: Tables, n_samples: int, random_state: Any = None) -> NDArray[np.int16]:
    """Rows drawn from the tables, parents before children.

    Parameters
    ----------
    tables : Tables
    n_samples : int
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    (row, leaf) int16 array in Fortran order
        Codes of categories; nothing is missing.
    """
    check_kind("tables", tables, Tables, TABLES)
    tree = tables.tree
    check_samples(n_samples, tree.n_nodes)
    rng = generator_from(random_state)
    codes = np.empty((n_samples, tree.n_leaves), dtype=np.int16, order="F")
    drawn: dict[int, NDArray[np.int16]] = {}
    unused = [len(children) for children in tree.children]
    for node in reversed(range(tree.n_nodes)):
        above = int(tree.parent[node])
        reached = np.cumsum(tables.table(node), axis=1)
        reached /= reached[:, -1:]  # ends at one exactly, which no draw reaches
        draw = rng.random(n_samples)
        values = codes[:, node] if node < tree.n_leaves else np.empty(n_samples, dtype=np.int16)
        values[:] = 0
        for column in reached.T[:-1]:
            values += draw >= (column[drawn[above]] if above >= 0 else column[0])
        drawn[node] = values
        if above >= 0:
            unused[above] -= 1
            if unused[above] == 0:
                del drawn[above]  # all of its children are drawn
    return codes


@dataclass(frozen=True, eq=False)
class TreeModel:
    """A tree with known tables: the truth that a fit can be compared with."""

    topology: Topology
    tables: Tables

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the observed variables, in the order of the columns."""
        tree = self.tables.tree
        return tree.names[: tree.n_leaves]

    @property
    def moments(self) -> ExactMoments:
        """The exact tables of any variables, for learning without noise."""
        return ExactMoments(self.tables)

    def sample(self, n_samples: int, random_state: Any = None) -> NDArray[np.int16]:
        """Rows of category codes, (row, variable)."""
        return sample_codes(self.tables, n_samples, random_state)

    def log_prob(self, codes: NDArray[Any]) -> Array:
        """The true natural-log probability of each row; -1 is missing and summed out."""
        cards = self.tables.layout.n_states[: self.tables.tree.n_leaves]
        return log_values(self.tables.network, Evidence(checked_codes(codes, cards)))[1]


def random_tree_model(
    n_leaves: int = 8,
    *,
    n_states: int = 2,
    n_categories: int | Sequence[int] = 3,
    topology: Topology | None = None,
    diagonal: float = 1.0,
    random_state: Any = None,
) -> TreeModel:
    """A random latent tree model.

    Parameters
    ----------
    n_leaves : int
        Number of observed variables; of no meaning if a topology is given.
    n_states : int
        States of each hidden node.
    n_categories : int or sequence of int
        Categories of the variables, of every one or of each.
    topology : Topology, optional
        The tree; without it a random one.
    diagonal : float
        How strong dependences are, see `random_tables`.
    random_state : int or numpy.random.Generator, optional

    Examples
    --------
    >>> model = random_tree_model(n_leaves=6, random_state=0)
    >>> model.sample(1000, random_state=1).shape
    (1000, 6)
    """
    rng = generator_from(random_state)
    if topology is None:
        topology = random_topology(n_leaves, random_state=rng)
    check_kind("topology", topology, Topology, "a Topology, or None for a random one")
    topology = topology.contracted()
    tree = topology.rooted(topology.observed)
    cards = numbers_of("n_categories", n_categories, tree.n_leaves)
    tables = random_tables(tree, cards, n_states, rng, diagonal=diagonal)
    return TreeModel(topology, tables)
