"""Sequences as a tree of their beginnings: what automata learn from, and where they are asked.

Sequences that begin alike share the nodes of that beginning. Whatever goes from the start to the end of each
sequence is done once for each node instead of once for each position.
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
    """How many sequences end at each of their beginnings; the trees of two sets of sequences add.

    Nodes come shortest first, and in alphabetical order within a length: the same sequences give the same
    tree in whatever order and pieces they come.

    Examples
    --------
    >>> from tacit.sequences.data.sequences import Sequences
    >>> made = Sequences(np.array([0, 1, 0], dtype=np.int32), np.array([2, 1, 0]), ("a", "b"))
    >>> tree = PrefixTree.of(made)
    >>> tree.parents.tolist(), tree.ends.tolist()
    ([-1, 0, 1], [1, 1, 1])
    """

    parents: Integers  # (node,)  -1 of the root, the empty beginning
    symbols: Integers  # (node,)  the last symbol of the beginning; -1 where it is missing, and of the root
    ends: Integers  # (node,)  sequences that end there
    n_symbols: int

    @staticmethod
    def empty(n_symbols: int) -> PrefixTree:
        """The tree of no sequences."""
        nothing = np.array([-1])
        return PrefixTree(nothing, nothing, np.zeros(1, dtype=np.int64), n_symbols)

    @staticmethod
    def of(sequences: Sequences) -> PrefixTree:
        """The tree of some sequences."""
        return PrefixTree.placed(sequences)[0]

    @staticmethod
    def placed(sequences: Sequences) -> tuple[PrefixTree, Integers]:
        """The tree of some sequences, and the (position + sequence,) node of each place.

        Places are as those of a walk: before each position, and after the last of each sequence.
        """
        from tacit.sequences.loops.prefixes import tree_of

        lengths = np.asarray(sequences.lengths, dtype=np.int64)
        parents, symbols, ends, places = tree_of(sequences.codes, sequences.ends[:-1], lengths)
        return PrefixTree(parents, symbols, ends, sequences.n_symbols), places

    def __add__(self, other: PrefixTree) -> PrefixTree:
        """The tree of both sets of sequences."""
        from tacit.sequences.loops.prefixes import joined

        parents, symbols, own, theirs = joined(
            self.parents, self.symbols, other.parents, other.symbols
        )
        ends = np.zeros(len(parents), dtype=np.int64)
        ends[own] += self.ends
        ends[theirs] += other.ends
        return PrefixTree(parents, symbols, ends, self.n_symbols)

    @property
    def n_nodes(self) -> int:
        """Different beginnings, the empty one too."""
        return len(self.parents)

    @property
    def n_sequences(self) -> int:
        """Sequences."""
        return int(self.ends.sum())

    @cached_property
    def passes(self) -> Integers:
        """(node,) sequences that begin so."""
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
        """(node,) lengths of the beginnings."""
        from tacit.sequences.loops.prefixes import depths_of

        return np.asarray(depths_of(self.parents))

    def divided(self, n_sequences: int, rng: np.random.Generator) -> tuple[PrefixTree, PrefixTree]:
        """The tree without some sequences, drawn at random, and the tree of these."""
        drawn = rng.multivariate_hypergeometric(self.ends, n_sequences, method="marginals")
        return self._with(self.ends - drawn), self._with(drawn)

    def _with(self, ends: Integers) -> PrefixTree:
        """Other numbers of the same sequences; beginnings of none are left out."""
        tree = PrefixTree(self.parents, self.symbols, ends, self.n_symbols)
        kept = tree.passes > 0
        kept[0] = True
        number = np.cumsum(kept) - 1
        parents = number[self.parents[kept]]
        parents[0] = -1
        return PrefixTree(parents, self.symbols[kept], ends[kept], self.n_symbols)

    def sequences(self) -> Sequences:
        """The sequences themselves, the shortest first, in alphabetical order within a length."""
        from tacit.sequences.loops.prefixes import spell

        owners = np.repeat(np.arange(self.n_nodes), self.ends)  # (sequence,)
        lengths = self.depths[owners]
        codes = np.empty(int(lengths.sum()), dtype=np.int32)
        spell(self.parents, self.symbols, owners, np.cumsum(lengths), codes)
        return Sequences(codes, lengths, tuple(range(self.n_symbols)))

    @property
    def n_positions(self) -> int:
        """Positions of all sequences together."""
        return int(self.passes[1:].sum())


class Levels:
    """A tree that is grown a level at a time; nodes of a level in the order of parents and symbols."""

    def __init__(self, n_symbols: int) -> None:
        self.n_nodes = 1
        self._base = n_symbols + 1
        self._keys: list[Integers] = []

    def grow(self, parents: Integers, symbols: NDArray[np.integer]) -> Integers:
        """The nodes, all new, that some symbols lead to from some parents of the level before."""
        keys = parents * self._base + symbols + 1
        found, places = np.unique(keys, return_inverse=True)
        self._keys.append(found)
        first = self.n_nodes
        self.n_nodes += len(found)
        return first + places

    def nodes(self) -> tuple[Integers, Integers]:
        """Parents and last symbols of all nodes."""
        keys = np.concatenate([np.zeros(0, dtype=np.int64), *self._keys])
        root = np.array([-1])
        return (
            np.concatenate([root, keys // self._base]),
            np.concatenate([root, keys % self._base - 1]),
        )
