"""A table of numbers as one matrix, for models without categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.chunks import Block, Chunks, as_source, check_size
from tacit.core.input.columns import all_missing_text
from tacit.core.input.values import as_numbers
from tacit.errors import ColumnError, DataError

Numbers = NDArray[np.float64]


def read_numbers(X: Any) -> tuple[tuple[str, ...], Numbers]:
    """The names of the columns, and all cells as floats: (row, column), NaN where one is missing.

    Parameters
    ----------
    X : table
        See `tacit.core.input.read_table.read_table`; -1 is a number here like any other.

    Raises
    ------
    DataError
        A column holds something else than numbers, or nothing at all.

    Examples
    --------
    >>> names, matrix = read_numbers({"a": [1, 2, None], "b": [0.5, 1.5, 2.5]})
    >>> matrix[:, 0]
    array([ 1.,  2., nan])
    """
    source = as_source(X)
    parts: list[Numbers] = []
    names: tuple[str, ...] = ()
    for block in source if isinstance(source, Chunks) else [source]:
        if not parts:
            check_size(block.n_rows, len(block.names))
            names = block.names
        elif len(block.names) != len(names) or (block.named and block.names != names):
            raise ColumnError("all chunks must have the same columns in the same order")
        parts.append(_matrix(block))
    check_size(sum(map(len, parts)), len(names) or 1)
    matrix = np.concatenate(parts)
    for name, column in zip(names, matrix.T, strict=True):
        if np.isnan(column).all():
            raise DataError(all_missing_text(name))
    return names, matrix


def _matrix(block: Block) -> Numbers:
    matrix = np.empty((block.n_rows, len(block.names)))
    for place, name in enumerate(block.names):
        numbers = as_numbers(block.read(place))
        if numbers is None:
            raise DataError(f"column {name!r} holds something else than numbers; leave it out")
        matrix[:, place] = numbers.values
    return matrix
