"""Loops that turn a matrix of small integers into category codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.core.loops.compiled import njit

Codes = NDArray[np.int16]


@njit(cache=True, nogil=True)
def note_cells(
    values: NDArray[np.int64], start: int, present: NDArray[np.bool_], codes: Codes
) -> bool:
    """Copy the cells of a block of rows into `codes` and mark which values each column holds.

    Parameters
    ----------
    values : (row, column) int64
        A block of rows, C order.
    start : int
        The row of `codes` at which the block starts.
    present : (column, value + 1) bool
        Changed: entry ``[j, v + 1]`` is set where column j holds the value v; column 0 stands for -1.
    codes : (row, column) int16
        Changed: the values themselves.

    Returns
    -------
    bool
        False as soon as a value lies outside of what `present` can hold; the rest is then not done.
    """
    n_rows, n_columns = values.shape
    width = present.shape[1]
    # Rows are read together in steps, so that row-wise reads and column-wise writes both stay in cache;
    # 32 rows took twice as long on a hundred thousand rows.
    step = 256
    for first in range(0, n_rows, step):
        last = min(first + step, n_rows)
        for j in range(n_columns):
            for i in range(first, last):
                slot = values[i, j] + 1
                if slot < 0 or slot >= width:
                    return False
                present[j, slot] = True
                codes[start + i, j] = values[i, j]
    return True


@njit(cache=True, nogil=True)
def value_masks(codes: Codes) -> NDArray[np.uint64]:
    """Which values each column holds: bit v + 1 of its mask is set where it holds the value v.

    Parameters
    ----------
    codes : (row, column) int16
        From -1 to 62; Fortran order.
    """
    n_rows, n_columns = codes.shape
    masks = np.zeros(n_columns, np.uint64)
    for j in range(n_columns):
        column = codes[:, j]
        mask = np.uint64(0)
        for i in range(n_rows):
            mask |= np.uint64(1) << np.uint64(column[i] + 1)
        masks[j] = mask
    return masks


@njit(cache=True, nogil=True)
def relabel(codes: Codes, table: Codes) -> None:
    """Replace every code c of column j by ``table[j, c + 1]``, in place.

    Parameters
    ----------
    codes : (row, column) int16
        Changed; Fortran order.
    table : (column, value + 1) int16
        The new codes; column 0 stands for -1.
    """
    n_rows, n_columns = codes.shape
    for j in range(n_columns):
        for i in range(n_rows):
            codes[i, j] = table[j, codes[i, j] + 1]


@njit(cache=True, nogil=True)
def mark_used(codes: NDArray[np.int32], used: NDArray[np.bool_]) -> None:
    """Set ``used[code]`` for every code; code -1 means the last entry."""
    for place in range(len(codes)):
        used[codes[place]] = True
