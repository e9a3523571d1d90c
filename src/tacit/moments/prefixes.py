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

from tacit.data.sequences import Sequences

Integers = NDArray[np.int64]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """How many sequences end at each of their beginnings; the trees of two sets of sequences add.

    Nodes come shortest first, and in alphabetical order within a length: the same sequences give the same
    tree in whatever order and pieces they come.

    Examples
    --------
    >>> from tacit.data.sequences import Sequences
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
        lengths, firsts = sequences.lengths, sequences.ends[:-1]
        places = np.zeros(sequences.n_positions + len(lengths), dtype=np.int64)
        begins = firsts + np.arange(len(lengths))
        levels = Levels(sequences.n_symbols)
        going = np.argsort(-lengths, kind="stable")  # the longest first
        at = np.zeros(len(lengths), dtype=np.int64)  # the node that each sequence has reached
        for t in range(int(lengths.max(initial=0))):
            going = going[: int((lengths[going] > t).sum())]
            at[going] = levels.grow(at[going], sequences.codes[firsts[going] + t])
            places[begins[going] + t + 1] = at[going]
        ends = np.bincount(at, minlength=levels.n_nodes).astype(np.int64)
        if not len(lengths):
            ends = np.zeros(1, dtype=np.int64)
        return PrefixTree(*levels.nodes(), ends, sequences.n_symbols), places

    def __add__(self, other: PrefixTree) -> PrefixTree:
        """The tree of both sets of sequences."""
        levels = Levels(self.n_symbols)
        own, theirs = joined_nodes(
            levels, (self.parents, self.symbols), (other.parents, other.symbols)
        )
        ends = np.zeros(levels.n_nodes, dtype=np.int64)
        ends[own] += self.ends
        ends[theirs] += other.ends
        return PrefixTree(*levels.nodes(), ends, self.n_symbols)

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
        out = self.ends.copy()
        for level in reversed(self.levels[1:]):
            np.add.at(out, self.parents[level], out[level])
        return out

    @cached_property
    def levels(self) -> list[slice]:
        """The nodes of each length."""
        bounds = [0, 1]
        while bounds[-1] < self.n_nodes:
            # Children of the last level stand together, after all shorter ones.
            bounds.append(int(np.searchsorted(self.parents, bounds[-1])))
        return [slice(a, b) for a, b in pairwise(bounds)]

    @cached_property
    def depths(self) -> Integers:
        """(node,) lengths of the beginnings."""
        sizes = [level.stop - level.start for level in self.levels]
        return np.repeat(np.arange(len(sizes)), sizes)

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
        owners = np.repeat(np.arange(self.n_nodes), self.ends)  # (sequence,)
        lengths = self.depths[owners]
        codes = np.empty(int(lengths.sum()), dtype=np.int32)
        stops, at = np.cumsum(lengths), owners
        for back in range(1, int(lengths.max(initial=0)) + 1):
            going = lengths >= back
            codes[stops[going] - back] = self.symbols[at[going]]
            at = np.where(going, self.parents[at], at)
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


def joined_nodes(
    levels: Levels, one: tuple[Integers, Integers], other: tuple[Integers, Integers]
) -> tuple[Integers, Integers]:
    """Grow a tree that holds two others: where each node of either is now.

    Parameters
    ----------
    levels : Levels
        Nothing but a root.
    one, other : parents and symbols of nodes, (node,) each
    """
    trees = (one, other)
    places = [np.zeros(len(parents), dtype=np.int64) for parents, _ in trees]
    stops = [1, 1]
    while True:
        nodes = []
        for each, (parents, _) in enumerate(trees):
            stop = int(np.searchsorted(parents, stops[each]))
            nodes.append(np.arange(stops[each], stop))
            stops[each] = stop
        if not len(nodes[0]) and not len(nodes[1]):
            return places[0], places[1]
        above = [places[each][trees[each][0][own]] for each, own in enumerate(nodes)]
        symbols = [trees[each][1][own] for each, own in enumerate(nodes)]
        now = levels.grow(np.concatenate(above), np.concatenate(symbols))
        places[0][nodes[0]], places[1][nodes[1]] = now[: len(nodes[0])], now[len(nodes[0]) :]
