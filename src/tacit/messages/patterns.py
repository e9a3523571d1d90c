"""The distinct subtree patterns of the rows: what EM and the queries run over instead of rows.

Two rows that agree on all leaves below a node send the same message from there. Each node's pattern is the
tuple of its children's patterns, so the tree of patterns is built bottom up in one pass, exactly; deep in
the tree a million rows have a handful of patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.messages.rooted_tree import RootedTree

# Cells (rows x nodes) whose patterns are numbered at once: bounds the memory of the numbering.
CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct patterns at every node of a tree, and how the rows are made of them."""

    tree: RootedTree
    n_patterns: NDArray[np.int64]  # (node,)  leaves: one per category, and one more for missing
    flat_ids: NDArray[np.int32]  # one stretch per node but the root, see `ids`
    id_starts: NDArray[np.int64]  # (node,)
    weights: NDArray[np.float64]  # (root pattern,)  summed weights of the rows
    row_pattern: NDArray[np.int32]  # (row,)  the root pattern of each row

    @staticmethod
    def of(
        codes: NDArray[Any],
        tree: RootedTree,
        cards: Sequence[int],
        weights: NDArray[np.float64] | None = None,
        *,
        merge: bool = True,
    ) -> Patterns:
        """Number the patterns of coded rows.

        Parameters
        ----------
        codes : (row, leaf) array of integers
            Categories of each leaf, -1 where missing.
        tree : RootedTree
        cards : sequence of int
            Number of categories of each leaf.
        weights : (row,) array, optional
        merge : bool
            With False every row is a pattern of its own: the plain passes over rows.
        """
        from tacit.messages.loops.patterns import subtree_patterns

        children, starts = tree.child_table
        n_patterns, ids, id_starts, row_pattern = subtree_patterns(
            codes, np.asarray(cards, dtype=np.int64), children, starts, merge
        )
        summed = np.bincount(row_pattern, weights=weights, minlength=int(n_patterns[-1]))
        return Patterns(
            tree, n_patterns, ids, id_starts, summed.astype(np.float64, copy=False), row_pattern
        )

    def ids(self, child: int) -> NDArray[np.int32]:
        """The child's pattern for each pattern of its parent."""
        start = self.id_starts[child]
        return self.flat_ids[start : start + self.n_patterns[self.tree.parent[child]]]

    @cached_property
    def pattern_starts(self) -> NDArray[np.int64]:
        """Where each node's patterns start when all are put in one row, and one entry more."""
        return np.concatenate([[0], np.cumsum(self.n_patterns)])

    @cached_property
    def all_weights(self) -> NDArray[np.float64]:
        """Summed weights of the rows with each pattern of each node; stretches by `pattern_starts`."""
        from tacit.messages.loops.patterns import spread_weights

        out = np.zeros(int(self.pattern_starts[-1]))
        out[self.pattern_starts[-2] :] = self.weights
        spread_weights(
            self.n_patterns,
            self.flat_ids,
            self.id_starts,
            self.tree.parent,
            out,
            self.pattern_starts,
        )
        return out


def pattern_blocks(
    codes: NDArray[Any],
    tree: RootedTree,
    cards: Sequence[int],
    weights: NDArray[np.float64] | None = None,
    *,
    merge: bool = True,
) -> Iterator[Patterns]:
    """The patterns of successive blocks of rows; the blocks depend on the shape of the data alone."""
    size = max(4096, CELLS_AT_ONCE // tree.n_nodes)
    for start in range(0, max(len(codes), 1), size):
        part = slice(start, start + size)
        yield Patterns.of(
            codes[part], tree, cards, None if weights is None else weights[part], merge=merge
        )
