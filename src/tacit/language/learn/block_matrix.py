"""Sparse block-diagonal matrices, their entries by rows and by columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Places = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class BlockMatrix:
    """The positions of the entries of a sparse block-diagonal matrix.

    Rows and columns are renumbered, block by block. Blocks with too few rows or columns are left out. The
    values are not stored; `entries` says which of them are kept.
    """

    row_places: Places  # (old row,)  new number, or -1
    column_places: Places  # (old column,)  new number, or -1
    block_rows: Ints  # (block + 1,)  the first row of each
    block_columns: Ints  # (block + 1,)
    entries: Ints  # (entry,)  indices of the given entries, by rows
    starts: Ints  # (row + 1,)
    columns: Places  # (entry,)
    column_starts: Ints  # (column + 1,)
    column_rows: Places  # (entry,)  by columns
    column_entries: Ints  # (entry,)  by columns: index in the order by rows

    @classmethod
    def of(
        cls,
        rows: NDArray[np.integer[Any]],
        columns: NDArray[np.integer[Any]],
        row_blocks: NDArray[np.integer[Any]],
        column_blocks: NDArray[np.integer[Any]],
        min_size: int = 0,
    ) -> BlockMatrix:
        """The positions of entries.

        Parameters
        ----------
        rows, columns : (entry,)
        row_blocks, column_blocks : (old row,), (old column,)
            The block of each row and column; those of an entry must be the same.
        min_size
            Blocks are kept if they have more rows and more columns with entries than this.
        """
        n_blocks = int(max(row_blocks.max(initial=-1), column_blocks.max(initial=-1))) + 1
        used_rows, n_rows = _used(rows, row_blocks, n_blocks)
        used_columns, n_columns = _used(columns, column_blocks, n_blocks)
        large = np.minimum(n_rows, n_columns) > max(min_size, 0)
        row_places, order = _numbered(used_rows, row_blocks, large)
        column_places, _ = _numbered(used_columns, column_blocks, large)
        entries = np.flatnonzero(row_places[rows] >= 0)
        new_rows = row_places[rows[entries]]
        by_row = np.argsort(new_rows, kind="stable")
        entries, new_rows = entries[by_row], new_rows[by_row]
        new_columns = column_places[columns[entries]]
        by_column = np.argsort(new_columns, kind="stable")
        n_kept = int(n_columns[large].sum())
        return cls(
            row_places=row_places,
            column_places=column_places,
            block_rows=_starts(n_rows[large]),
            block_columns=_starts(n_columns[large]),
            entries=entries,
            starts=_starts(np.bincount(new_rows, minlength=len(order))),
            columns=new_columns,
            column_starts=_starts(np.bincount(new_columns, minlength=n_kept)),
            column_rows=new_rows[by_column],
            column_entries=by_column,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns that are kept."""
        return len(self.starts) - 1, len(self.column_starts) - 1

    @property
    def n_blocks(self) -> int:
        """Number of blocks that are kept."""
        return len(self.block_rows) - 1


def _used(
    places: NDArray[np.integer[Any]], blocks: NDArray[np.integer[Any]], n_blocks: int
) -> tuple[Ints, Ints]:
    """Rows (or columns) with entries, and how many of them each block has."""
    has_entries = np.zeros(len(blocks), bool)
    has_entries[places] = True
    used = np.flatnonzero(has_entries)
    return used, np.bincount(blocks[used], minlength=n_blocks)


def _numbered(
    used: Ints, blocks: NDArray[np.integer[Any]], large: NDArray[np.bool_]
) -> tuple[Places, Ints]:
    """New numbers, block by block, of the rows used in large blocks, and the old number of each new one."""
    in_large = used[large[blocks[used]]]
    order = in_large[np.argsort(blocks[in_large], kind="stable")]
    places = np.full(len(blocks), -1, np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places, order


def _starts(sizes: NDArray[np.integer[Any]]) -> Ints:
    """(n + 1,) Where each of n runs begins."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
