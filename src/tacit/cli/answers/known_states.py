"""States that are known at some positions, from a column of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


def known_states(
    table: pa.Table, name: str | None, roles: Mapping[str, str], *, by_time: bool = False
) -> NDArray[np.float64] | None:
    """(position,) the states that a column says; NaN where one is not known.

    They come sequence by sequence, but in the order of the rows where rows have times: `fit` sorts those.

    Parameters
    ----------
    table : pyarrow.Table
    name : str or None
        The column; None: nothing is known.
    roles : mapping of str to str
        The column of sequences, and that of times, as `read_mixed` takes them.
    by_time : bool
        Whether there is a column of times, by which `fit` orders the rows.
    """
    import pyarrow as pa

    from tacit.core.input.table import unknown_column_text
    from tacit.errors import ColumnError, DataError
    from tacit.sequences.data.mixed_columns import read_mixed

    if name is None:
        return None
    if name not in table.column_names:
        raise ColumnError(unknown_column_text(name, table.column_names))
    kind = table.column(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise DataError(
            f"column {name!r} holds something else than the numbers of states; give integers from 0 on, and "
            f"empty cells where the state is not known"
        )
    if by_time:
        return np.asarray(table.column(name).to_numpy(), dtype=np.float64)
    return read_mixed(table.select([name, *roles]), {name: "gaussian", **roles}).values[:, 0]
