"""Sequences as a tree of their prefixes, on which automata are learnt and queried.

Sequences with a common prefix share its nodes: a forward pass costs one step for each node instead of one for
each position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.data.sequences import Sequences

Integers = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """A prefix tree (trie) with the number of sequences that end at each node; trees add.

    Nodes come shortest first, and in alphabetical order within a length: the same sequences give the same
    tree, in any order and in any chunks.

    Examples
    --------
    >>> from tacit.sequences.data.sequences import Sequences
    >>> made = Sequences(np.array([0, 1, 0], dtype=np.int32), np.array([2, 1, 0]), ("a", "b"))
    >>> tree = PrefixTree.of(made)
    >>> tree.parents.tolist(), tree.ends.tolist()
    ([-1, 0, 1], [1, 1, 1])
    """

    parents: Integers  # (node,)  -1 of the root, the empty prefix
    symbols: (
        Integers  # (node,)  the last symbol of the prefix; -1 where it is missing, and of the root
    )
    ends: Integers  # (node,)  sequences that end there
    n_symbols: int

    @staticmethod
    def empty(n_symbols: int) -> PrefixTree:
        """The tree of no sequences."""
        root = np.array([-1])
        return PrefixTree(root, root, np.zeros(1, dtype=np.int64), n_symbols)

    @staticmethod
    def of(sequences: Sequences) -> PrefixTree:
        """The tree of some sequences."""
        return PrefixTree.placed(sequences)[0]

    @staticmethod
    def placed(sequences: Sequences) -> tuple[PrefixTree, Integers]:
        """The tree of some sequences, and the (position + sequence,) node of each place.

        Places are before each position, and after the last of each sequence.
        """
        from tacit.sequences.loops.prefixes import tree_of

        lengths = np.asarray(sequences.lengths, dtype=np.int64)
        parents, symbols, ends, places = tree_of(sequences.codes, sequences.ends[:-1], lengths)
        return PrefixTree(parents, symbols, ends, sequences.n_symbols), places

    def __add__(self, other: PrefixTree) -> PrefixTree:
        """The tree of both sets of sequences."""
        from tacit.sequences.loops.prefixes import joined

        parents, symbols, places, other_places = joined(
            self.parents, self.symbols, other.parents, other.symbols
        )
        ends = np.zeros(len(parents), dtype=np.int64)
        ends[places] += self.ends
        ends[other_places] += other.ends
        return PrefixTree(parents, symbols, ends, self.n_symbols)

    @property
    def n_nodes(self) -> int:
        """Number of different prefixes, the empty one included."""
        return len(self.parents)

    @property
    def n_sequences(self) -> int:
        """Number of sequences."""
        return int(self.ends.sum())

    @cached_property
    def passes(self) -> Integers:
        """(node,) number of sequences with this prefix."""
        from tacit.sequences.loops.prefixes import add_upwards

        out = self.ends.copy()
        add_upwards(self.parents, out)
        return out

    @cached_property
    def bounds(self) -> Integers:
        """(length + 1,) the first node of each length, and the number of all nodes."""
        changes = np.flatnonzero(np.diff(self.depths)) + 1
        return np.concatenate([[0], changes, [self.n_nodes]])

    @property
    def levels(self) -> list[slice]:
        """The nodes of each length."""
        return [slice(a, b) for a, b in pairwise(self.bounds.tolist())]

    @cached_property
    def depths(self) -> Integers:
        """(node,) lengths of the prefixes."""
        from tacit.sequences.loops.prefixes import depths_of

        return np.asarray(depths_of(self.parents))

    def divided(self, n_sequences: int, rng: np.random.Generator) -> tuple[PrefixTree, PrefixTree]:
        """The tree without some sequences, drawn at random, and the tree of these."""
        drawn = rng.multivariate_hypergeometric(self.ends, n_sequences, method="marginals")
        return self._with(self.ends - drawn), self._with(drawn)

    def _with(self, ends: Integers) -> PrefixTree:
        """The tree with other counts of its sequences, without prefixes that no sequence has."""
        tree = PrefixTree(self.parents, self.symbols, ends, self.n_symbols)
        is_reached = tree.passes > 0
        is_reached[0] = True
        new_nodes = np.cumsum(is_reached) - 1
        parents = new_nodes[self.parents[is_reached]]
        parents[0] = -1
        return PrefixTree(parents, self.symbols[is_reached], ends[is_reached], self.n_symbols)

    def sequences(self) -> Sequences:
        """The sequences themselves, the shortest first, in alphabetical order within a length."""
        from tacit.sequences.loops.prefixes import spell

        last_nodes = np.repeat(np.arange(self.n_nodes), self.ends)  # (sequence,)
        lengths = self.depths[last_nodes]
        codes = np.empty(int(lengths.sum()), dtype=np.int32)
        spell(self.parents, self.symbols, last_nodes, np.cumsum(lengths), codes)
        return Sequences(codes, lengths, tuple(range(self.n_symbols)))

    @property
    def n_positions(self) -> int:
        """Positions of all sequences together."""
        return int(self.passes[1:].sum())


class Levels:
    """A tree that is grown level by level; nodes of a level are ordered by parent and symbol."""

    def __init__(self, n_symbols: int) -> None:
        self.n_nodes = 1
        self._base = n_symbols + 1
        self._keys: list[Integers] = []

    def grow(self, parents: Integers, symbols: NDArray[np.integer]) -> Integers:
        """Adds the children of some nodes of the last level, by symbol, and returns them."""
        keys = parents * self._base + symbols + 1
        level_keys, places = np.unique(keys, return_inverse=True)
        self._keys.append(level_keys)
        first = self.n_nodes
        self.n_nodes += len(level_keys)
        return first + places

    def nodes(self) -> tuple[Integers, Integers]:
        """Parents and last symbols of all nodes."""
        keys = np.concatenate([np.zeros(0, dtype=np.int64), *self._keys])
        root = np.array([-1])
        return (
            np.concatenate([root, keys // self._base]),
            np.concatenate([root, keys % self._base - 1]),
        )
