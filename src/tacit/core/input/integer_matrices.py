"""Fast encoding of matrices of small integers, all columns together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.bins import MOST_DISTINCT_FLOATS
from tacit.core.input.columns import (
    FEWEST_ROWS,
    NEARLY_DISTINCT,
    Observed,
    minus_one_is_missing,
    small_column,
)
from tacit.core.input.encode import unknown_category_text
from tacit.core.input.table import MISSING, SMALL_WIDTH, UNKNOWN, Schema
from tacit.errors import CategoryError

# Rows that are brought to one type together: enough to make the call worth it, few enough to stay in cache
# with their codes.
_BLOCK_ROWS = 256
_MASK_BITS = 64

_SMALL = np.arange(-1, SMALL_WIDTH - 1, dtype=np.int16)

Noted = tuple[NDArray[np.int16], NDArray[np.bool_]]


def noted_cells(matrix: NDArray[Any]) -> Noted | None:
    """A matrix of small integers as it stands, in the form of codes, and which values each column shows.

    Parameters
    ----------
    matrix : (row, column) integers or booleans
        Any type and layout.

    Returns
    -------
    codes : (row, column) int16, Fortran order
        The values.
    present : (column, value + 1) bool
        Whether column j shows the value v, at ``[j, v + 1]``.
        None instead of both where a value is below -1 or above 254.
    """
    from tacit.core.loops.codes import note_cells

    n_rows, n_columns = matrix.shape
    present = np.zeros((n_columns, SMALL_WIDTH), dtype=np.bool_)
    flags = matrix.flags
    if matrix.dtype == np.int64 and flags.c_contiguous and flags.writeable and flags.aligned:
        codes = np.empty((n_rows, n_columns), dtype=np.int16, order="F")
        return (codes, present) if note_cells(matrix, 0, present, codes) else None
    if (
        matrix.dtype.kind in "bi"
        and matrix.size
        and matrix.min() >= -1
        and matrix.max() < _MASK_BITS - 1
    ):
        return _masked_cells(matrix, present)
    # One compiled version for every type and layout: blocks are copied to the one it knows.
    if matrix.dtype == np.uint64 and matrix.size and matrix.max() >= SMALL_WIDTH:
        return None  # could turn negative in the copy
    codes = np.empty((n_rows, n_columns), dtype=np.int16, order="F")
    block = np.empty((min(_BLOCK_ROWS, n_rows), n_columns), dtype=np.int64)
    for start in range(0, n_rows, _BLOCK_ROWS):
        rows = matrix[start : start + _BLOCK_ROWS]
        np.copyto(block[: len(rows)], rows, casting="unsafe")
        if not note_cells(block[: len(rows)], start, present, codes):
            return None
    return codes, present


def _masked_cells(matrix: NDArray[Any], present: NDArray[np.bool_]) -> Noted:
    """The same as `noted_cells` for values so few that the bits of a word can mark them."""
    from tacit.core.loops.codes import value_masks

    codes = matrix.astype(np.int16, order="F")
    masks = value_masks(codes)
    present[:, :_MASK_BITS] = masks[:, None] >> np.arange(_MASK_BITS, dtype=np.uint64) & np.uint64(
        1
    )
    return codes, present


def coded_matrix(
    matrix: NDArray[Any], schema: Schema, *, unknown: str, minus_one_is_missing: bool
) -> NDArray[np.int16] | None:
    """The codes of a whole matrix of small integers, in one pass where codes and values are the same.

    None where the matrix or the schema holds something else than small integers.
    """
    table = schema.small_integers
    noted = None if table is None else noted_cells(matrix)
    if table is None or noted is None:
        return None
    codes, present = noted
    not_known = present & (table == UNKNOWN)
    if minus_one_is_missing:
        not_known[:, 0] = False
    if unknown == "error" and not_known.any():
        place, slot = np.argwhere(not_known)[0].tolist()
        raise CategoryError(unknown_category_text(schema.columns[place], slot - 1))
    return _relabelled(codes, present, table)


def _relabelled(
    codes: NDArray[np.int16], present: NDArray[np.bool_], table: NDArray[np.int16]
) -> NDArray[np.int16]:
    """Codes replaced by what the table says, in place; `UNKNOWN` becomes missing."""
    table = np.where(table == UNKNOWN, np.int16(MISSING), table)
    if ((table != _SMALL[: table.shape[1]]) & present).any():
        from tacit.core.loops.codes import relabel

        relabel(codes, table)
    return codes


def read_matrix(
    matrix: NDArray[Any],
    names: tuple[str, ...],
    *,
    minus_one: bool,
    integers_are_codes: bool = True,
) -> tuple[Schema, NDArray[np.int16]] | None:
    """The columns and codes of a matrix of small integers; None where it holds something else.

    Parameters
    ----------
    matrix : (row, column) integers or booleans
        Any type and layout; at least one row.
    names : tuple of str
        The names of the columns.
    minus_one : bool
        Whether -1 may stand for a missing value.
    integers_are_codes : bool
        Whether integers are categories however many there are.
    """
    noted = noted_cells(matrix)
    if noted is None:
        return None
    codes, present = noted
    boolean = matrix.dtype.kind == "b"
    anywhere = np.logical_or.reduce(present, axis=0)
    present = present[:, : SMALL_WIDTH - int(anywhere[::-1].argmax())]  # up to the largest value
    if minus_one and anywhere[0] and minus_one_is_missing(_values(anywhere)):
        known = present.copy()
        known[:, 0] = False
    else:
        known = present
    most = int(known.sum(axis=1).max(initial=0))
    if not integers_are_codes and most > MOST_DISTINCT_FLOATS:
        return None
    if len(matrix) >= FEWEST_ROWS and most > NEARLY_DISTINCT * len(matrix):
        return None  # numbers rather than categories
    places = np.cumsum(known, axis=1, dtype=np.int16) - np.int16(1)
    values = (known.nonzero()[1] - 1).tolist()  # of all columns, one after the other
    stops = np.cumsum(np.count_nonzero(known, axis=1)).tolist()
    columns = [
        small_column(name, tuple(values[start:stop]), boolean=boolean)
        for name, start, stop in zip(names, [0, *stops], stops, strict=False)
    ]
    return Schema(tuple(columns)), _relabelled(codes, present, np.where(known, places, UNKNOWN))


def _values(present: NDArray[Any]) -> list[int]:
    """The small integers that are marked."""
    return (present.nonzero()[0] - 1).tolist()


def observed_cells(
    matrix: NDArray[Any], weights: NDArray[np.float64] | None
) -> list[Observed] | None:
    """What each column of a matrix of small integers shows; None where it holds something else."""
    noted = noted_cells(matrix)
    if noted is None:
        return None
    boolean = matrix.dtype.kind == "b"
    parts = []
    for column in noted[0].T:
        totals = np.bincount(column + np.int16(1), weights=weights, minlength=1)
        values: list[Any] = _values(totals)
        counts = totals[totals > 0].astype(np.float64)
        shown: list[Any] = [bool(value) for value in values] if boolean else values
        n_rows = len(column) if weights is None else int(np.count_nonzero(weights > 0))
        parts.append(Observed(shown, counts, n_rows=n_rows))
    return parts
