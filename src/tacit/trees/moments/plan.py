"""A plan of joint tables to count: their places in memory, and the cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, TooExpensiveError

Integers = NDArray[np.int64]

# Cells of all tables together: 400 MB of counts, and as much again for the probabilities.
MOST_CELLS = 50_000_000

# A column with at most this many categories is kept as bits, which then take no more memory than its codes.
MOST_CATEGORIES_IN_BITS = 16

# Counting bits costs 2 ps per row and cell, a histogram 1 ns per row: they meet near 500 cells.
MOST_CELLS_BY_BITS = 512


@dataclass(frozen=True, eq=False)
class Columns:
    """The cards of the columns as arrays for the compiled loops."""

    cards: Integers  # (column,)
    starts: Integers  # (column,)  where a column's categories begin among those of all columns
    few: NDArray[np.bool_]  # (column,)  has so few categories that it is kept as bits
    first_bits: Integers  # (column,)  where its rows of bits begin; -1 if it has none
    n_bits: int  # rows of bits of all columns together


def checked_cards(cards: Sequence[int]) -> tuple[int, ...]:
    """The numbers of categories of the columns; each has at least one."""
    cards = tuple(map(int, cards))
    if min(cards, default=1) < 1:
        raise ArgumentError(f"column {cards.index(min(cards))} has no category; leave it out")
    return cards


@lru_cache(maxsize=16)
def columns_of(cards: tuple[int, ...]) -> Columns:
    """The `Columns` of these numbers of categories."""
    sizes = np.array(cards, dtype=np.int64)
    few = sizes <= MOST_CATEGORIES_IN_BITS
    bits = sizes * few
    first_bits = np.where(few, np.cumsum(bits) - bits, -1)
    return Columns(sizes, np.cumsum(sizes) - sizes, few, first_bits, int(bits.sum()))


@dataclass(frozen=True, eq=False)
class MomentPlan:
    """The joint tables of some sets of columns, one after another in one flat array.

    A plan needs no data: it says beforehand how many cells there will be and what counting them costs.

    Examples
    --------
    >>> plan = MomentPlan.of((2, 3, 4), [(0, 1), (2, 0, 1), (1, 0)])
    >>> plan.subsets
    ((0, 1), (2, 0, 1))
    >>> plan.n_cells
    30
    """

    cards: tuple[int, ...]  # (column,)
    members: Integers  # the columns of all tables, in one array
    heads: Integers  # (table + 1,)  where each table's columns begin in `members`
    offsets: Integers  # (table + 1,)  where each table's cells begin in the flat array

    @staticmethod
    def of(cards: Sequence[int], subsets: Iterable[Sequence[int]]) -> MomentPlan:
        """The plan of some sets of columns; a set that is requested twice, in any order, is counted once.

        Raises
        ------
        ArgumentError
            If a set is empty, repeats a column, or names one that does not exist.
        TooExpensiveError
            If the tables have more than 50 million cells together.
        """
        distinct: dict[tuple[int, ...], Sequence[int]] = {}
        for subset in subsets:
            distinct.setdefault(tuple(sorted(subset)), subset)
        heads = np.zeros(len(distinct) + 1, dtype=np.int64)
        np.cumsum(list(map(len, distinct)), out=heads[1:])
        ascending = np.fromiter(chain.from_iterable(distinct), np.int64)
        members = np.fromiter(chain.from_iterable(distinct.values()), np.int64)
        rising = np.diff(ascending, append=len(cards)) > 0
        rising[heads[1:-1] - 1] = True  # the last of one set and the first of the next
        if () in distinct or not rising.all() or not _are_columns(ascending, cards):
            raise ArgumentError(_no_set_text(cards, distinct))
        return _laid_out(tuple(cards), members, heads)

    @staticmethod
    @lru_cache(maxsize=4)
    def all_pairs(cards: tuple[int, ...]) -> MomentPlan:
        """The plan of every single column, then of every pair (0, 1), (0, 2), ..., (1, 2), ..."""
        n = len(cards)
        pairs = np.stack(np.triu_indices(n, 1), axis=1)
        members = np.concatenate([np.arange(n), pairs.ravel()])
        heads = np.concatenate([np.arange(n), n + 2 * np.arange(len(pairs) + 1)])
        return _laid_out(cards, members, heads)

    @cached_property
    def subsets(self) -> tuple[tuple[int, ...], ...]:
        """(table,) The columns of each table, in the order of its axes."""
        members = self.members.tolist()
        return tuple(tuple(members[head:tail]) for head, tail in pairwise(self.heads.tolist()))

    def tables(self, cells: NDArray[Any]) -> list[NDArray[Any]]:
        """The flat array cut into its tables; those of one shape that follow each other at once."""
        cards, lengths = columns_of(self.cards).cards[self.members], np.diff(self.heads)
        # (table,)  of another shape than the one before
        first = np.ones(len(lengths), dtype=np.bool_)
        for length in set(lengths.tolist()):
            places = np.flatnonzero(lengths == length)
            shapes = cards[self.heads[places][:, None] + np.arange(length)]
            alike = (shapes[1:] == shapes[:-1]).all(axis=1) & (np.diff(places) == 1)
            first[places[1:]] = ~alike
        bounds = [*np.flatnonzero(first).tolist(), len(lengths)]
        out: list[NDArray[Any]] = []
        for start, stop in pairwise(bounds):
            shape = cards[self.heads[start] : self.heads[start + 1]]
            span = cells[self.offsets[start] : self.offsets[stop]]
            out.extend(span.reshape(stop - start, *shape))
        return out

    @property
    def n_cells(self) -> int:
        """Number of cells of all tables together."""
        return int(self.offsets[-1])

    @cached_property
    def by_bits(self) -> NDArray[np.bool_]:
        """(table,) Whether a table is counted in bits; the others are histograms over the rows."""
        small = np.diff(self.offsets) <= MOST_CELLS_BY_BITS
        if len(small):
            few = columns_of(self.cards).few[self.members]
            small &= np.logical_and.reduceat(few, self.heads[:-1])
        return small


def _are_columns(members: Integers, cards: Sequence[int]) -> bool:
    return not len(members) or 0 <= members.min() <= members.max() < len(cards)


def _no_set_text(cards: Sequence[int], keys: Iterable[tuple[int, ...]]) -> str:
    """The message about the first key that is not a set of columns."""
    columns = set(range(len(cards)))
    wrong = next(key for key in keys if not key or len(set(key) & columns) < len(key))
    return f"{wrong} is not a set of columns: name one or more of 0 .. {len(cards) - 1}, each once"


def _laid_out(cards: tuple[int, ...], members: Integers, heads: Integers) -> MomentPlan:
    """The plan with the place of each table, unless it is too large."""
    offsets = np.zeros(len(heads), dtype=np.int64)
    if len(members):
        # In floating point: a product of many categories may pass the largest integer.
        sizes = np.multiply.reduceat(columns_of(cards).cards[members], heads[:-1], dtype=np.float64)
        if sizes.sum() > MOST_CELLS:
            largest = int(sizes.argmax())
            columns = tuple(members[heads[largest] : heads[largest + 1]].tolist())
            raise TooExpensiveError(
                f"{len(sizes)} joint tables with {sizes.sum():.3g} cells were requested, the largest "
                f"with {sizes[largest]:.3g} cells, of the columns {columns}; the limit is "
                f"{MOST_CELLS:.0e} cells: ask for fewer or smaller sets, or merge rare categories"
            )
        offsets[1:] = np.cumsum(sizes)
    return MomentPlan(cards, members, heads, offsets)
