"""Moments of the data: the joint tables of all pairs, and of chosen small sets of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.core.threads import n_threads
from tacit.errors import DataError, TooExpensiveError
from tacit.trees.moments.blocks import CodedBlock, Counts, coded_blocks, complete_columns, counted
from tacit.trees.moments.plan import MOST_CELLS, Integers, MomentPlan, checked_cards, columns_of

Array = NDArray[np.float64]


class Moments(Protocol):
    """Moments that learners use, from counted rows or from known distributions."""

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of categories of each column."""
        ...

    @property
    def n_rows(self) -> float:
        """Number of rows behind the tables (sum of weights); `math.inf` where tables are exact."""
        ...

    def pairs(self) -> PairTables:
        """The joint tables of all pairs of columns."""
        ...

    def tables(self, subsets: Sequence[tuple[int, ...]]) -> list[Array]:
        """The joint probabilities of each set of columns, axes in the order given, each summing to one."""
        ...


@dataclass(frozen=True, eq=False)
class PairTables:
    """How often any two categories of any two columns occur together, in one matrix.

    A pair is counted over the rows that have both columns. Adding two of these gives the counts of both
    data sets: exactly, in any order, where rows have no weights.

    Examples
    --------
    >>> pairs = PairTables.of(np.array([[0, 1], [1, 1], [1, -1]]), cards=(2, 2))
    >>> pairs.joint(0, 1)
    array([[0. , 0.5], [0. , 0.5]])
    >>> pairs.support(0, 1), pairs.support(0, 0)
    (2.0, 3.0)
    """

    cards: tuple[int, ...]  # (column,)
    counts: Counts  # (a, b)  block (i, j): columns i and j; block (i, i): marginal counts on its diagonal

    @staticmethod
    def empty(cards: Sequence[int]) -> PairTables:
        """The counts of no rows."""
        size = sum(cards)
        return PairTables(tuple(cards), np.zeros((size, size), dtype=np.int64))

    @staticmethod
    def of(codes: Any, cards: Sequence[int], weights: Any = None) -> PairTables:
        """The counts of coded rows; see `CountedMoments.of`."""
        return CountedMoments.of(codes, cards, weights).pairs()

    def __add__(self, other: PairTables) -> PairTables:
        _check_same_cards(self.cards, other.cards)
        return PairTables(self.cards, self.counts + other.counts)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """(column + 1,) Where each column's categories begin in the matrix."""
        return (0, *np.cumsum(self.cards).tolist())

    @property
    def supports(self) -> Array:
        """(i, j) Number of rows, or sum of their weights, that have both columns."""
        return self._divided[0]

    @property
    def probabilities(self) -> Array:
        """(a, b) The matrix with every block divided by its support, so that it sums to one.

        Two columns never seen together are independent here; one never seen at all is uniform.
        """
        return self._divided[1]

    @cached_property
    def unseen(self) -> tuple[tuple[int, int], ...]:
        """Pairs of columns, and single columns as ``(i, i)``, that no row has."""
        first, second = np.nonzero(np.triu(self.supports <= 0))
        return tuple(zip(first.tolist(), second.tolist(), strict=True))

    @cached_property
    def _divided(self) -> tuple[Array, Array]:
        from tacit.trees.loops.counting import divide_blocks

        supports = np.zeros((len(self.cards), len(self.cards)))
        matrix = np.empty(self.counts.shape)
        divide_blocks(np.ascontiguousarray(self.counts), np.array(self.offsets), supports, matrix)
        spans = [slice(*span) for span in pairwise(self.offsets)]
        for i in np.flatnonzero(supports.diagonal() <= 0):
            np.fill_diagonal(matrix[spans[i], spans[i]], 1 / self.cards[i])
        marginals = matrix.diagonal()
        for i, j in np.argwhere(np.triu(supports <= 0, 1)):
            product = np.outer(marginals[spans[i]], marginals[spans[j]])
            matrix[spans[i], spans[j]] = product
            matrix[spans[j], spans[i]] = product.T
        return supports, matrix

    def joint(self, i: int, j: int) -> Array:
        """(n_i, n_j) The joint probabilities of two columns, over the rows that have both."""
        at = self.offsets
        return self.probabilities[at[i] : at[i + 1], at[j] : at[j + 1]]

    def marginal(self, i: int) -> Array:
        """(n_i,) The probabilities of one column, over the rows that have it."""
        return self.joint(i, i).diagonal()

    def support(self, i: int, j: int) -> float:
        """Number of rows, or sum of their weights, that have both columns."""
        return float(self.supports[i, j])


@dataclass(frozen=True, eq=False)
class CountedMoments:
    """The moments of coded rows, counted when requested; adding two of these joins their rows.

    Only references to the rows are kept, and their bits (at most one byte for each byte of codes) once
    something was counted. Without weights all counts are integers: any division of the rows into chunks,
    in any order and over any number of threads, gives the same moments bit for bit.

    Examples
    --------
    >>> moments = CountedMoments.of(np.array([[0, 1], [1, 1], [1, -1]]), cards=(2, 2))
    >>> (table,) = moments.tables([(1, 0)])
    >>> table
    array([[0. , 0. ], [0.5, 0.5]])
    """

    cards: tuple[int, ...]  # (column,)
    blocks: tuple[CodedBlock, ...] = field(repr=False)
    n_jobs: int = 1

    @staticmethod
    def empty(cards: Sequence[int]) -> CountedMoments:
        """The moments of no rows."""
        return CountedMoments(tuple(cards), ())

    @staticmethod
    def of(
        codes: Any, cards: Sequence[int], weights: Any = None, n_jobs: int | None = 1
    ) -> CountedMoments:
        """The moments of coded rows.

        Parameters
        ----------
        codes : (row, column) integers
            Number of the category in each cell, -1 = missing. int16 or int32 in Fortran order (each
            column contiguous) is used in place, anything else is copied. Not to be changed afterwards.
        cards : (column,)
            Number of categories of each column.
        weights : (row,), optional
            How often each row counts. Counts are then floating-point sums.
        n_jobs : int or None
            Number of threads, as scikit-learn means it; None is one. The result does not depend on it.

        Raises
        ------
        DataError
            If codes and cards do not fit; a code beyond its card is found when it is first counted.
        """
        cards = checked_cards(cards)
        blocks = coded_blocks(codes, cards, weights)
        n_jobs = 1 if n_jobs is None or n_jobs == 1 else n_threads(n_jobs) or 1
        return CountedMoments(cards, blocks, n_jobs)

    def __add__(self, other: CountedMoments) -> CountedMoments:
        _check_same_cards(self.cards, other.cards)
        n_jobs = max(self.n_jobs, other.n_jobs)
        return CountedMoments(self.cards, self.blocks + other.blocks, n_jobs)

    @cached_property
    def n_rows(self) -> float:
        """Sum of the weights, or number of rows where there are none."""
        return float(sum(block.total for block in self.blocks))

    @property
    def unseen(self) -> list[tuple[int, ...]]:
        """The sets of columns that were requested and that no row has; taken to be independent."""
        return sorted(self._unseen)

    def pairs(self) -> PairTables:
        """The joint tables of all pairs of columns, counted once and kept."""
        return self._pairs

    def tables(self, subsets: Sequence[tuple[int, ...]]) -> list[Array]:
        """The joint probabilities of sets of columns, each over the rows that have all of its columns.

        A set that no row has gets the product of its marginals, and is listed in `unseen`; a column that
        no row has is uniform. Cheaper after `pairs`, from which the last categories then follow.

        Parameters
        ----------
        subsets
            Sets of columns in any order of axes; repeated ones are counted once.

        Returns
        -------
        list of arrays
            One table for each set, axes in the order given, summing to one. Do not change them: tables of
            the same set share their memory.

        Raises
        ------
        TooExpensiveError
            If the tables have more than 50 million cells together.
        """
        subsets = list(map(tuple, subsets))
        plan = MomentPlan.of(self.cards, subsets)
        if not subsets:
            return []
        counts = self._counts(plan)
        totals = np.add.reduceat(counts, plan.offsets[:-1])
        cells: Array = counts / np.repeat(np.where(totals > 0, totals, 1), np.diff(plan.offsets))
        tables = plan.tables(cells)
        for number in np.flatnonzero(totals <= 0):
            tables[number] = self._independent(plan.subsets[number])
        if len(tables) == len(subsets):
            return tables
        known = {
            tuple(sorted(columns)): (columns, table)
            for columns, table in zip(plan.subsets, tables, strict=True)
        }
        return [_with_axes(*known[tuple(sorted(subset))], subset) for subset in subsets]

    @cached_property
    def _unseen(self) -> set[tuple[int, ...]]:
        return set()

    @cached_property
    def _used(self) -> Integers:
        """(column,) How many categories must be counted: all, or all but one where no cell is missing."""
        cards = columns_of(self.cards).cards
        if any(block.source.weights is not None for block in self.blocks):
            return cards
        return cards - complete_columns(self.blocks, self.cards, self.n_jobs)

    @cached_property
    def _pairs(self) -> PairTables:
        from tacit.trees.loops.counting import fill_pairs

        size = sum(self.cards)
        if size**2 > MOST_CELLS:
            raise TooExpensiveError(
                f"all pairs of {len(self.cards)} columns with {size} categories together are a matrix of "
                f"{size**2:.3g} cells, more than {MOST_CELLS:.0e}; use fewer columns or merge rare "
                "categories"
            )
        plan = MomentPlan.all_pairs(self.cards)
        lean = np.ones(len(plan.by_bits), dtype=np.bool_)
        flat = counted(self.blocks, plan, self._used, lean, self.n_jobs)
        counts = np.zeros((size, size), dtype=flat.dtype)
        n_rows = sum(len(block.rows) for block in self.blocks)
        columns = columns_of(self.cards)
        fill_pairs(flat, columns.cards, self._used, columns.starts, n_rows, counts)
        return PairTables(self.cards, counts)

    def _counts(self, plan: MomentPlan) -> Counts:
        """The planned tables, counted, in one flat array."""
        columns = columns_of(self.cards)
        triples = plan.by_bits & (np.diff(plan.heads) == 3)
        # Counting all pairs only to save on a few triples would not pay; they are nearly always known.
        if "_pairs" not in vars(self) or not triples.any():
            return counted(self.blocks, plan, columns.cards, np.zeros_like(triples), self.n_jobs)
        from tacit.trees.loops.counting import fill_triples

        flat = counted(self.blocks, plan, self._used, triples, self.n_jobs)
        fill_triples(
            flat,
            columns.cards,
            self._used,
            plan.members,
            plan.heads,
            plan.offsets,
            np.flatnonzero(triples),
            columns.starts,
            self._pairs.counts,
        )
        return flat

    def _independent(self, subset: tuple[int, ...]) -> Array:
        """The product of the marginals of columns that are never seen together."""
        self._unseen.add(tuple(sorted(subset)))
        if len(subset) == 1:
            return np.full(self.cards[subset[0]], 1 / self.cards[subset[0]])
        return reduce(np.multiply.outer, self.tables([(column,) for column in subset]))


def _with_axes(columns: tuple[int, ...], table: Array, order: tuple[int, ...]) -> Array:
    """The table with its axes in the order given."""
    return (
        table if columns == order else table.transpose([columns.index(column) for column in order])
    )


def _check_same_cards(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Moments add only where they are of the same columns."""
    if first != second:
        raise DataError(
            f"moments of columns with {first} and {second} categories cannot be added; "
            "code both data sets with the same categories"
        )


def indicator_correlation(joint: Array, marginals: Array) -> Array:
    """Correlation of the standardised indicators of all categories; zero for those never seen."""
    scale = np.zeros(len(marginals))
    np.divide(1.0, np.sqrt(marginals), out=scale, where=marginals > 0)
    correlation = joint * scale
    correlation *= scale[:, None]
    root = np.sqrt(marginals)
    correlation -= np.outer(root, root)
    return correlation
