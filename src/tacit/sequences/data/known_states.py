"""States that are known at some positions of sequences to learn from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.limits import shown
from tacit.errors import DataError

Integers = NDArray[np.int64]


def read_states(
    states: Any, lengths: Integers, n_states: int, order: Integers | None = None
) -> Integers:
    """(position,) the known states of all sequences in turn, -1 where one is not known.

    Parameters
    ----------
    states : sequence of sequences of integers, or of integers
        For each sequence, or for all of them one after the other; None, NaN and -1 are not known.
    lengths : (sequence,)
    n_states : int
    order : (position,) integers, optional
        The row of each position in the caller's table, to whose rows the states belong.

    Raises
    ------
    DataError
        They are not as many as the positions, or no states.

    Examples
    --------
    >>> read_states([[0, None], [-1, 1]], np.array([2, 2]), 2)
    array([ 0, -1, -1,  1])
    """
    parts = [_codes(part) for part in _parts(states)]
    sizes = [len(part) for part in parts]
    codes = np.concatenate([np.zeros(0, np.int64), *parts])
    if len(parts) > 1 and len(parts) == len(lengths):
        wrong = np.flatnonzero(np.array(sizes) != lengths)
        if len(wrong):
            place = int(wrong[0])
            raise DataError(
                f"states holds {sizes[place]} states for sequence {place}, which has "
                f"{int(lengths[place])} positions; give one for each, -1 where it is not known"
            )
    if len(codes) != int(lengths.sum()) or (len(parts) > 1 and len(parts) != len(lengths)):
        raise DataError(
            f"states holds {len(codes)} states of {len(parts)} sequences, but there are "
            f"{int(lengths.sum())} positions in {len(lengths)}; give one for each position, -1 where "
            f"it is not known"
        )
    wrong = np.flatnonzero((codes < -1) | (codes >= n_states))
    if len(wrong):
        raise DataError(
            f"states holds {int(codes[wrong[0]])}, but states are numbered from 0 to {n_states - 1}; "
            f"-1 is one that is not known"
        )
    if order is None:
        return codes
    if len(parts) > 1:  # by sequence, and there in the order of the rows
        owners = np.empty_like(order)
        owners[order] = np.repeat(np.arange(len(lengths)), lengths)
        by_row = np.empty_like(codes)
        by_row[np.argsort(owners, kind="stable")] = codes
        codes = by_row
    return codes[order]


def _parts(states: Any) -> Iterable[Any]:
    if isinstance(states, np.ndarray) and states.dtype != object:
        return [states] if states.ndim == 1 else list(states)
    if not np.iterable(states):
        raise DataError(
            f"states={shown(states)}; give the states of each sequence, -1 where not known"
        )
    parts = list(states)
    return parts if parts and all(hasattr(part, "__len__") for part in parts) else [parts]


def _codes(part: Any) -> Integers:
    try:
        values = np.array([-1 if value is None else value for value in part], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"states do not hold integers alone: {error}") from error
    values = np.where(np.isnan(values), -1, values)
    if values.ndim != 1 or (values != np.round(values)).any():
        raise DataError("states hold something else than integers; give the number of each state")
    return np.asarray(values, dtype=np.int64)
