"""Moments of features: the counterpart of joint tables for columns of any kind.

A column is represented by features: the indicators of its categories, or the features of a kernel. The
mean of the product of two columns' features takes the place of their joint table, and likewise for three.
Rows are read in blocks; the features of a block are formed, summed and dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError, DataError, TooExpensiveError
from tacit.trees.moments.feature_rows import FeatureBlock, FeatureMap, Rows, columns_of
from tacit.trees.moments.plan import MOST_CELLS
from tacit.trees.moments.products import Mode, mean_products
from tacit.trees.moments.source import PairTables

Array = NDArray[np.float64]

# Cells of the features of a block of rows: 4096 rows of 32 columns with 12 features.
CELLS_AT_ONCE = 3 << 19


@dataclass(frozen=True, eq=False)
class FeaturePairs(PairTables):
    """Means of products of the features of any two columns, in one matrix; adding two joins their rows.

    A pair is averaged over the rows that have both columns. Where the features are indicators these are the
    joint tables of the columns.
    """

    sums: Array  # (a, column)  features summed over the rows that have this column and their own
    weights: Array  # (i, j)  number of rows, or sum of their weights, that have both columns
    totals: Array  # (a,)  the constants of all columns, one after the other

    def __add__(self, other: PairTables) -> FeaturePairs:
        if not isinstance(other, FeaturePairs) or not np.array_equal(self.totals, other.totals):
            raise DataError("moments of different features cannot be added; encode both alike")
        return FeaturePairs(
            self.cards,
            self.counts + other.counts,
            self.sums + other.sums,
            self.weights + other.weights,
            self.totals,
        )

    @property
    def supports(self) -> Array:
        """(i, j) Number of rows, or sum of their weights, that have both columns."""
        return self.weights

    @cached_property
    def probabilities(self) -> Array:
        """(a, b) Means of products; two columns never seen together are independent.

        A column never seen at all is uniform over its features.
        """
        matrix = self.counts / self._per_cell(self.weights)
        spans = [slice(*span) for span in pairwise(self.offsets)]
        for i in np.flatnonzero(self.weights.diagonal() <= 0):
            total = self.totals[spans[i]]
            matrix[spans[i], spans[i]] = np.eye(len(total)) / (total @ total)
        for i, j in np.argwhere(np.triu(self.weights <= 0, 1)):
            product = np.outer(self.means[spans[i]], self.means[spans[j]])
            matrix[spans[i], spans[j]] = product
            matrix[spans[j], spans[i]] = product.T
        return matrix

    @cached_property
    def means(self) -> Array:
        """(a,) Means of the features, over the rows that have the column."""
        column = np.repeat(np.arange(len(self.cards)), self.cards)
        cells = np.arange(len(column))
        support = self.weights.diagonal()[column]
        squares = np.bincount(column, self.totals**2, minlength=len(self.cards))[column]
        means = self.sums[cells, column] / np.where(support > 0, support, 1)
        return np.where(support > 0, means, self.totals / squares)

    @cached_property
    def covariances(self) -> Array:
        """(a, b) Covariances of the features, each block over the rows that have both columns."""
        means = self.sums / np.repeat(np.maximum(self.weights, 1e-300), self.cards, axis=0)
        column = np.repeat(np.arange(len(self.cards)), self.cards)
        means = means[:, column]  # (a, b) of feature a, where the column of b is seen too
        n_rows = self._per_cell(self.weights)
        return np.asarray(self.counts / n_rows - means * means.T)

    def marginal(self, i: int) -> Array:
        """(n_i,) The mean features of one column, over the rows that have it."""
        return self.means[self.offsets[i] : self.offsets[i + 1]]

    def _per_cell(self, blocks: Array) -> Array:
        """(a, b) Numbers of blocks, one for each cell; ones where they are zero."""
        blocks = np.where(blocks > 0, blocks, 1.0)
        return np.repeat(np.repeat(blocks, self.cards, axis=0), self.cards, axis=1)


@dataclass(frozen=True, eq=False)
class FeatureMoments:
    """The moments of the features of some rows; adding two of these joins their rows.

    Rows are read once for all pairs and once more each time that larger sets are requested.

    Examples
    --------
    >>> from tacit.core.encoders.encoders import IndicatorEncoder
    >>> rows = np.array([[0, 1], [1, 1], [1, -1]])
    >>> moments = FeatureMoments.of(rows, [IndicatorEncoder(2), IndicatorEncoder(2)])
    >>> (table,) = moments.tables([(1, 0)])
    >>> table
    array([[0. , 0. ],
           [0.5, 0.5]])
    """

    encoders: tuple[FeatureMap, ...]  # (column,)
    sources: tuple[Callable[[], Iterable[Any]], ...] = field(repr=False)
    single: bool = False  # whether pairs are multiplied in single precision

    @staticmethod
    def empty(encoders: Sequence[FeatureMap]) -> FeatureMoments:
        """The moments of no rows."""
        return FeatureMoments(tuple(encoders), ())

    @staticmethod
    def of(
        rows: Any, encoders: Sequence[FeatureMap], weights: Any = None, *, single: bool = False
    ) -> FeatureMoments:
        """The moments of rows in memory.

        Parameters
        ----------
        rows : (row, column) array, or one array per column
            Cells of the types that the encoders take. Not to be changed afterwards.
        encoders : one per column
        weights : (row,), optional
            How often each row counts.
        single : bool
            See `streamed`.
        """
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
        block = Rows(columns_of(rows), weights)
        return FeatureMoments(tuple(encoders), (lambda: (block,),), single)

    @staticmethod
    def streamed(
        blocks: Any, encoders: Sequence[FeatureMap], *, single: bool = False
    ) -> FeatureMoments:
        """The moments of rows that are read in blocks, twice or more, and never held all at once.

        Parameters
        ----------
        blocks : callable, or anything that can be run through again and again
            Yields `Rows`, (row, column) arrays, or lists of columns.
        encoders : one per column
        single : bool
            Multiply pairs in single precision, a few thousand rows at a time, and sum in double precision:
            twice as fast, and right to about seven digits, which a million rows do not have.
        """
        if callable(blocks):
            return FeatureMoments(tuple(encoders), (blocks,), single)
        if iter(blocks) is blocks:
            raise ArgumentError(
                "these blocks can be run through only once, but they are read twice; pass a function "
                "that opens them anew"
            )
        return FeatureMoments(tuple(encoders), (lambda: blocks,), single)

    def __add__(self, other: FeatureMoments) -> FeatureMoments:
        if not _alike(self.encoders, other.encoders):
            raise DataError("moments of different features cannot be added; encode both alike")
        sources = self.sources + other.sources
        return FeatureMoments(self.encoders, sources, self.single or other.single)

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """(column,) Number of features of each column."""
        return tuple(int(encoder.size) for encoder in self.encoders)

    @property
    def n_rows(self) -> float:
        """Number of rows, or sum of their weights."""
        return self._summed[1]

    @property
    def unseen(self) -> list[tuple[int, ...]]:
        """The sets of columns that were requested and that no row has; taken to be independent."""
        return sorted(self._unseen)

    def pairs(self) -> FeaturePairs:
        """The means of products of the features of all pairs of columns, summed once and kept."""
        return self._summed[0]

    def tables(self, subsets: Sequence[tuple[int, ...]]) -> list[Array]:
        """The means of products of the features of sets of columns, each over the rows that have all of them.

        A set that no row has gets the product of the means, and is listed in `unseen`.

        Parameters
        ----------
        subsets
            Sets of columns in any order of axes; repeated ones are summed once.

        Raises
        ------
        TooExpensiveError
            If the tables have more than 50 million cells together.
        """
        modes = [Mode(((column,),)) for column in range(len(self.cards))]
        pairs = self.pairs()
        known: dict[tuple[int, ...], Array] = {(): np.ones(())}
        for subset in map(tuple, subsets):
            if len(subset) == 1:
                known[subset] = pairs.marginal(*subset)
            elif len(subset) == 2:
                known[tuple(sorted(subset))] = pairs.joint(*sorted(subset))
                self._note_unseen(subset, pairs.support(*subset))
        requested = {tuple(sorted(subset)): None for subset in subsets}
        large = [subset for subset in requested if subset not in known]
        means = self.projected([[modes[column] for column in subset] for subset in large])
        known.update(zip(large, means, strict=True))
        return [
            known[key].transpose(np.argsort(np.argsort(subset, kind="stable")))
            for subset in subsets
            for key in [tuple(sorted(subset))]
        ]

    def projected(self, requests: Sequence[Sequence[Mode]]) -> list[Array]:
        """The means of products of features that were first multiplied with matrices, in one pass.

        Parameters
        ----------
        requests
            Per result its modes, see `Mode`; only the last may have several views. Each mean is over the rows
            that have all columns of its modes, and of its view.

        Returns
        -------
        list of arrays
            One axis per mode.
        """
        if not requests:
            return []
        complete = bool((self.pairs().weights == self.n_rows).all())
        means = mean_products(self._passes, self.cards, requests, complete=complete)
        return [
            self._in_part(request) if mean is None else mean
            for request, mean in zip(requests, means, strict=True)
        ]

    @cached_property
    def _unseen(self) -> set[tuple[int, ...]]:
        return set()

    def _note_unseen(self, columns: Iterable[int], support: float) -> None:
        if support <= 0:
            self._unseen.add(tuple(sorted(columns)))

    def _in_part(self, request: Sequence[Mode]) -> Array:
        """A mean some of whose views no row has: these get the product of the means."""
        *head, last = request
        views = last.views(self.cards)
        requests = [[*head, view] for view in views]
        means = mean_products(self._passes, self.cards, requests, complete=False)
        parts = [
            self._independent(view_request) if mean is None else mean
            for view_request, mean in zip(requests, means, strict=True)
        ]
        return np.asarray(np.add.reduce(parts))

    def _independent(self, request: Sequence[Mode]) -> Array:
        """The product of the means of columns that are never seen together."""
        self._note_unseen([leaf for mode in request for group in mode.groups for leaf in group], 0)
        out: Array = np.ones(())
        for mode in request:
            mean: Array = np.ones(1)
            for leaf in mode.groups[0]:
                mean = np.multiply.outer(mean, self.pairs().marginal(leaf)).ravel()
            out = np.multiply.outer(out, mean if mode.factor is None else mean @ mode.factor)
        return out

    @cached_property
    def _summed(self) -> tuple[FeaturePairs, float]:
        """All pairs, and the number of rows, from one pass."""
        n_columns, n_cells = len(self.cards), sum(self.cards)
        if n_cells**2 > MOST_CELLS:
            raise TooExpensiveError(
                f"all pairs of {n_columns} columns with {n_cells} features together are a matrix of "
                f"{n_cells**2:.3g} cells, more than {MOST_CELLS:.0e}; use fewer columns or features"
            )
        starts = [0, *np.cumsum(self.cards).tolist()]
        counts = np.zeros((n_cells, n_cells))
        sums, weights = np.zeros((n_cells, n_columns)), np.zeros((n_columns, n_columns))
        n_rows = 0.0
        # One row more, of ones: its products are the sums of all others.
        room = np.empty((n_cells + 1, 0), dtype=np.float32 if self.single else np.float64)
        for block in self._passes():
            if room.shape[1] < block.n_rows:
                room = np.empty((n_cells + 1, block.n_rows), dtype=room.dtype)
            some = room[:, : block.n_rows]  # (a, row)
            for column, (start, stop) in enumerate(pairwise(starts)):
                some[start:stop] = block.features(column).T
            some[n_cells] = 1.0
            if block.weights is not None:
                some *= np.sqrt(block.weights)
            products = (some @ some.T).astype(np.float64, copy=False)
            counts += products[:-1, :-1]
            n_rows += products[-1, -1]
            if block.absent:
                held = block.held_cells
                weighted = held if block.weights is None else held * np.sqrt(block.weights)[:, None]
                sums += some[:-1] @ weighted
                weights += weighted.T @ weighted
            else:
                sums += products[:-1, -1:]
                weights += products[-1, -1]
        if not np.isfinite(counts.trace()):
            raise DataError("features are infinite or too large to be squared; scale the columns")
        totals = [np.asarray(encoder.total, dtype=np.float64) for encoder in self.encoders]
        flat = np.concatenate([np.zeros(0), *totals])
        return FeaturePairs(self.cards, counts, sums, weights, flat), n_rows

    def _passes(self) -> Iterator[FeatureBlock]:
        """Successive blocks of rows."""
        at_once = max(256, CELLS_AT_ONCE // max(sum(self.cards), 1))
        for source in self.sources:
            for chunk in source():
                rows = chunk if isinstance(chunk, Rows) else Rows(columns_of(chunk))
                self._check(rows)
                for first in range(0, rows.n_rows, at_once):
                    yield FeatureBlock(self.encoders, rows.part(slice(first, first + at_once)))

    def _check(self, block: Rows) -> None:
        """Refuse rows that do not fit the encoders."""
        if len(block.columns) != len(self.encoders):
            raise DataError(
                f"rows have {len(block.columns)} columns, but {len(self.encoders)} encoders were given; "
                "give one for each column"
            )
        weights = block.weights
        if weights is not None and weights.shape != (block.n_rows,):
            raise DataError(
                f"weights of shape {weights.shape} for {block.n_rows} rows; give one each"
            )
        if weights is not None and not (np.isfinite(weights) & (weights >= 0)).all():
            raise DataError("a weight is negative or not finite; weights count rows")


def _alike(first: Sequence[FeatureMap], second: Sequence[FeatureMap]) -> bool:
    """Whether two lists of encoders have the same sizes and constants."""
    return len(first) == len(second) and all(
        one is two or np.array_equal(one.total, two.total)
        for one, two in zip(first, second, strict=True)
    )
