"""Coded rows, stored as bits where that is faster, and the counting of planned tables over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.trees.moments.plan import Integers, MomentPlan, columns_of

Flags = NDArray[np.bool_]
Result = TypeVar("Result")
Counts = NDArray[Any]  # int64 without weights, float64 with weights

# Rows that one thread takes at a time. Fixed, so that sums do not depend on the number of threads.
ROWS_PER_BLOCK = 1 << 17

# 512 words = 4 KB per row of bits: those of a few columns stay in the fast caches.
WORDS_AT_ONCE = 512

# Histograms up to this size are counted in four copies (see `count_rows`); larger ones would fill the cache.
MOST_CELLS_IN_COPIES = 1 << 16

# Tables beyond this size are counted by one thread: a copy for each block would take too much memory.
MOST_CELLS_PER_THREAD = 1 << 20


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Coded rows as they were given, and room for their bits."""

    codes: NDArray[Any]  # (row, column)  number of the category, -1 = missing; columns contiguous
    weights: NDArray[np.float64] | None  # (row,)
    cards: tuple[int, ...]  # (column,)

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """(block, part, bit row, word) Room for the bits, in one piece: one large page, not many small."""
        n_words = -(-len(self.codes) // 64)
        at_once = min(n_words, WORDS_AT_ONCE)
        n_parts = -(-min(n_words, ROWS_PER_BLOCK // 64) // at_once)
        n_blocks = -(-len(self.codes) // ROWS_PER_BLOCK)
        return _aligned_words((n_blocks, n_parts, columns_of(self.cards).n_bits, at_once))


@dataclass(frozen=True, eq=False)
class PackedBits:
    """One row of bits for each category of the columns with few: which of the data rows have it."""

    words: NDArray[np.uint64]  # (part, bit row, word)   bit rows as `Columns.first_bits` says
    complete: Flags  # (column,)  kept as bits, and no cell is missing


@dataclass(frozen=True, eq=False)
class CodedBlock:
    """The rows that one thread counts; their bits are made when first needed, and kept."""

    source: CodedRows
    number: int

    @cached_property
    def rows(self) -> range:
        """Which rows of the source these are."""
        start = self.number * ROWS_PER_BLOCK
        return range(start, min(start + ROWS_PER_BLOCK, len(self.source.codes)))

    @cached_property
    def total(self) -> float:
        """Sum of the weights, or number of rows."""
        if self.source.weights is None:
            return len(self.rows)
        return float(self.source.weights[self.rows.start : self.rows.stop].sum())

    @cached_property
    def packed(self) -> PackedBits:
        """The rows as bits; raises `DataError` where a code is not one of its column's categories."""
        from tacit.trees.loops.counting import pack_columns

        source, columns = self.source, columns_of(self.source.cards)
        words = source.words[self.number]
        words = words[: -(-len(self.rows) // (64 * words.shape[-1]))]
        present, missing = np.zeros((2, len(source.cards)), dtype=np.int64)
        rows = self.rows.start, self.rows.stop
        layout = columns.cards, columns.first_bits
        pack_columns(source.codes.T, *rows, *layout, words, present, missing)
        _refuse_columns(columns.few & (present + missing < len(self.rows)), source.cards)
        return PackedBits(words, columns.few & (missing == 0))

    @cached_property
    def checked_codes(self) -> NDArray[Any]:
        """The (column, row) codes of all rows of the source, those of this block known to be in range."""
        source = self.source
        codes = source.codes[self.rows.start : self.rows.stop]
        outside = (codes.max(axis=0) >= columns_of(source.cards).cards) | (codes.min(axis=0) < -1)
        _refuse_columns(outside, source.cards)
        return source.codes.T


def coded_blocks(codes: Any, cards: tuple[int, ...], weights: Any) -> tuple[CodedBlock, ...]:
    """The rows in blocks, checked; codes are copied only where their type or order does not fit.

    Whether each code is below its card is checked when it is counted.
    """
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.dtype.kind not in "iu" or codes.shape[1] != len(cards):
        raise DataError(
            f"codes of shape {codes.shape} and type {codes.dtype} were given for {len(cards)} columns; "
            "pass integers, one row per case and one column per variable"
        )
    if codes.dtype not in (np.int16, np.int32):
        original, codes = codes, codes.astype(np.int32, order="F")
        if (original != codes).any():
            raise DataError("codes beyond the range of int32 were given; number categories from 0")
    codes = np.asfortranarray(codes)
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if weights.shape != codes.shape[:1]:
            raise DataError(
                f"weights of shape {weights.shape} for {len(codes)} rows; give one each"
            )
        if not (np.isfinite(weights) & (weights >= 0)).all():
            raise DataError("a weight is negative or not finite; weights count rows")
    source = CodedRows(codes, weights, cards)
    return tuple(CodedBlock(source, number) for number in range(-(-len(codes) // ROWS_PER_BLOCK)))


def complete_columns(blocks: Sequence[CodedBlock], cards: tuple[int, ...], n_jobs: int) -> Flags:
    """(column,) Which columns are kept as bits and lack no cell."""
    complete = [
        packed.complete for packed in _map_blocks(blocks, lambda block: block.packed, n_jobs)
    ]
    return np.asarray(np.logical_and.reduce([columns_of(cards).few, *complete]))


def counted(
    blocks: Sequence[CodedBlock], plan: MomentPlan, used: Integers, lean: Flags, n_jobs: int
) -> Counts:
    """The planned tables, counted over all blocks, in one flat array.

    Parameters
    ----------
    used : (column,)
        How many categories to count in the tables marked `lean`; what is left out stays zero.
    lean : (table,)
        Tables that will be completed from smaller ones. Used where a table is counted in bits.
    """
    weighted = any(block.source.weights is not None for block in blocks)
    by_bits = plan.by_bits & (not weighted)
    cards = columns_of(plan.cards).cards
    batches = ((used, np.flatnonzero(by_bits & lean)), (cards, np.flatnonzero(by_bits & ~lean)))
    by_rows = np.flatnonzero(~by_bits)

    def count(block: CodedBlock, out: Counts) -> Counts:
        for categories, tables in batches:
            if len(tables):
                _count_bits(block.packed, plan, categories, tables, out)
        if len(by_rows):
            _count_rows(block, plan, by_rows, out)
        return out

    def empty() -> Counts:
        return np.zeros(plan.n_cells, dtype=np.float64 if weighted else np.int64)

    if plan.n_cells > MOST_CELLS_PER_THREAD:
        return reduce(lambda total, block: count(block, total), blocks, empty())
    parts = _map_blocks(blocks, lambda block: count(block, empty()), n_jobs)
    return reduce(np.add, parts) if blocks else empty()


def _count_bits(
    packed: PackedBits, plan: MomentPlan, used: Integers, tables: Integers, out: Counts
) -> None:
    """Add the tables `tables`, counted in bits, to `out`."""
    from tacit.trees.loops.counting import count_bits

    columns = columns_of(plan.cards)
    layout = plan.members, plan.heads, plan.offsets
    count_bits(packed.words, columns.first_bits, columns.cards, used, *layout, tables, out)


def _count_rows(block: CodedBlock, plan: MomentPlan, tables: Integers, out: Counts) -> None:
    """Add the tables `tables`, as histograms over the rows, to `out`."""
    from tacit.trees.loops.counting import count_rows

    copies = np.zeros((4, len(out)), out.dtype) if len(out) <= MOST_CELLS_IN_COPIES else out[None]
    rows = block.rows.start, block.rows.stop
    layout = columns_of(plan.cards).cards, plan.members, plan.heads, plan.offsets
    count_rows(block.checked_codes, block.source.weights, *rows, *layout, tables, copies)
    if len(copies) > 1:
        out += copies.sum(axis=0)


def _map_blocks(
    blocks: Sequence[CodedBlock], work: Callable[[CodedBlock], Result], n_jobs: int
) -> Iterator[Result]:
    """The result of each block, in order; compiled loops run at the same time in `n_jobs` threads."""
    if n_jobs == 1 or len(blocks) < 2:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(min(n_jobs, len(blocks))) as pool:
        yield from pool.map(work, blocks)


def _aligned_words(shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Memory that begins at a cache line: loads across two lines cost a third of the speed."""
    size = math.prod(shape)
    raw = np.empty(size + 7, dtype=np.uint64)
    start = -raw.ctypes.data % 64 // 8
    return raw[start : start + size].reshape(shape)


def _refuse_columns(outside: Flags, cards: tuple[int, ...]) -> None:
    """Raise if any column is marked as holding codes that are not its categories."""
    if outside.any():
        column = int(outside.argmax())
        raise DataError(
            f"column {column} has {cards[column]} categories, but codes outside "
            f"-1 .. {cards[column] - 1}; code its values again, with -1 for missing"
        )
