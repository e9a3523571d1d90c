"""Exact joint tables and moments of a tree with known tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_kind
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, TooExpensiveError
from tacit.messages.network import Tables
from tacit.toy.arguments import MOST_AXES, MOST_CELLS, TABLES, is_index
from tacit.trees.moments.source import PairTables

Array = NDArray[np.float64]


def node_marginals(tables: Tables) -> list[Array]:
    """The distribution of each node by itself, in the tree's order."""
    parents = tables.tree.parent.tolist()
    marginals: list[Array] = [np.empty(0)] * len(parents)
    for node in reversed(range(len(parents))):
        table = tables.table(node)
        marginals[node] = table[0] if parents[node] < 0 else marginals[parents[node]] @ table
    return marginals


def exact_marginal(
    tables: Tables, leaves: Sequence[int], marginals: Sequence[Array] | None = None
) -> Array:
    """The joint probabilities of some leaves, all others summed out.

    Parameters
    ----------
    tables : Tables
    leaves : sequence of int
        Different leaves, in the order that the axes shall have.
    marginals : sequence of array, optional
        The tables' `node_marginals`, where they are computed already.

    Returns
    -------
    array
        One axis per leaf; sums to one.

    Raises
    ------
    TooExpensiveError
        It would have more than ten million cells.
    """
    check_kind("tables", tables, Tables, TABLES)
    tree, cards = tables.tree, tables.layout.n_states
    leaves = list(leaves) if np.iterable(leaves) else [leaves]
    if not all(is_index(leaf, tree.n_leaves) for leaf in leaves) or len(set(leaves)) < len(leaves):
        raise ArgumentError(
            f"different leaves below {tree.n_leaves} are needed, not {shown(leaves)}"
        )
    if marginals is not None and not _are_marginals(marginals, cards):
        raise ArgumentTypeError(
            f"marginals={shown(marginals)}; give None, or an array for each node"
        )
    if len(leaves) > MOST_AXES or math.prod(cards[leaf] for leaf in leaves) > MOST_CELLS:
        raise TooExpensiveError(f"the joint table of {len(leaves)} leaves has too many cells")
    if not leaves:
        return np.ones(())
    # P(leaves below a node | its state), pushed up until one node has all of them.
    below = {leaf: ([leaf], np.eye(cards[leaf])) for leaf in leaves}
    while len(below) > 1:
        node = min(below)  # all nodes below this one have been pushed up already
        reached, cells = below.pop(node)
        above = int(tree.parent[node])
        message = tables.table(node) @ cells  # (parent state, cell)
        if above in below:
            others, beside = below[above]
            message = (beside[:, :, None] * message[:, None, :]).reshape(len(message), -1)
            reached = others + reached
        below[above] = (reached, message)
    ((node, (reached, cells)),) = below.items()
    prior = node_marginals(tables)[node] if marginals is None else marginals[node]
    joint = (prior @ cells).reshape([cards[leaf] for leaf in reached])
    return joint.transpose([reached.index(leaf) for leaf in leaves])


def _are_marginals(marginals: Any, n_states: Sequence[int]) -> bool:
    is_list = isinstance(marginals, list | tuple) and len(marginals) == len(n_states)
    return is_list and all(map(_has_length, marginals, n_states))


def _has_length(array: Any, length: int) -> bool:
    return isinstance(array, np.ndarray) and array.shape == (length,) and array.dtype.kind == "f"


def joint_table(tables: Tables) -> Array:
    """The joint probabilities of all leaves, one axis each; for small models.

    Raises
    ------
    TooExpensiveError
        It would have more than ten million cells.
    """
    check_kind("tables", tables, Tables, TABLES)
    return exact_marginal(tables, range(tables.tree.n_leaves))


@dataclass(frozen=True, eq=False)
class ExactMoments:
    """The moments that infinitely many rows of a known model would give."""

    model: Tables

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of categories of each leaf."""
        return self.model.layout.n_states[: self.model.tree.n_leaves]

    @property
    def n_rows(self) -> float:
        """Infinitely many, so that nothing is cut for being noise."""
        return math.inf

    def pairs(self) -> PairTables:
        """The joint tables of all pairs of leaves; probabilities stand where counts would."""
        return self._pairs

    def tables(self, subsets: Sequence[tuple[int, ...]]) -> list[Array]:
        """The joint probabilities of each set of leaves, axes in the given order."""
        return [exact_marginal(self.model, subset, self._marginals) for subset in subsets]

    @cached_property
    def _marginals(self) -> list[Array]:
        return node_marginals(self.model)

    @cached_property
    def _pairs(self) -> PairTables:
        tree, cards = self.model.tree, self.cards
        starts = np.concatenate([[0], np.cumsum(cards)])
        joint = np.zeros((starts[-1], starts[-1]))
        rows: list[NDArray[np.int64]] = []  # the rows of `joint` of each node's leaves
        given_node: list[Array] = []  # (state, category): P(leaf's category | node's state)
        for leaf in range(tree.n_leaves):
            rows.append(np.arange(starts[leaf], starts[leaf + 1]))
            given_node.append(np.eye(cards[leaf]))
            joint[rows[leaf], rows[leaf]] = self._marginals[leaf]
        for node in tree.hidden:
            children = tree.children[node]
            reach = [self.model.table(child) @ given_node[child] for child in children]
            rows.append(np.concatenate([rows[child] for child in children]))
            given_node.append(np.concatenate(reach, axis=1))
            weighed = self._marginals[node][:, None] * given_node[node]
            for child, profile in zip(children, reach, strict=True):
                # Leaves under different children are independent given this node. What this writes
                # about leaves under the same child is replaced by their tables from before.
                before = joint[np.ix_(rows[child], rows[child])]
                joint[np.ix_(rows[child], rows[node])] = profile.T @ weighed
                joint[np.ix_(rows[child], rows[child])] = before
        return PairTables(cards, joint)
