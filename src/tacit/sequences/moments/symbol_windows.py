"""Moments of windows of symbols with longer pasts and futures, for more states than symbols.

Features of past and future are indicators of the symbol at each of several places: `WindowMoments` by
counting. Counts are integers, so sums are exact in any order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TooExpensiveError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.moments.windows import WindowMoments

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_CELLS = 1 << 26


def symbol_windows(sequences: Sequences, reach: int) -> WindowMoments:
    """Sums over all windows of `reach` symbols, one symbol, and `reach` symbols, none of them missing.

    Features of past and future are (place and symbol), the nearest place first; the future starts with the
    middle symbol itself.

    Parameters
    ----------
    sequences : Sequences
    reach : int
        Number of symbols in the past and in the future.

    Raises
    ------
    TooExpensiveError
        If the moments would not fit in memory.
    """
    n, width = sequences.n_symbols, sequences.n_symbols * reach
    if n * width * width > _MOST_CELLS:
        raise TooExpensiveError(
            f"features={reach} of {n} symbols need {n * width * width:,} moments, more than "
            f"{_MOST_CELLS:,}; pass a smaller features=, or fewer symbols"
        )
    at, firsts = _places(sequences, reach)
    codes = sequences.codes
    past = [codes[at - lag] for lag in range(1, reach + 1)]
    ahead = [codes[at + lag] for lag in range(reach + 1)]  # the middle symbol first
    return WindowMoments(
        n_windows=np.asarray(float(len(at))),
        n_firsts=np.asarray(float(len(firsts))),
        first=np.concatenate([_counted(n, codes[firsts + lag]) for lag in range(reach)]),
        past=np.concatenate([_counted(n, column) for column in past]),
        future=np.concatenate([_counted(n, column) for column in ahead[:-1]]),
        past_past=_table(n, past, past),
        future_future=_table(n, ahead[:-1], ahead[:-1]),
        pairs=_table(n, ahead[:-1], past),
        triples=_triples(n, codes[at], ahead[1:], past),
    )


def _places(sequences: Sequences, reach: int) -> tuple[Integers, Integers]:
    """Positions with a complete window around them, and starts with a complete future."""
    ends, lengths = sequences.ends, sequences.lengths
    position = np.arange(sequences.n_positions)
    behind = position - np.repeat(ends[:-1], lengths)
    left = np.repeat(ends[1:], lengths) - position
    n_missing = np.concatenate([[0], np.cumsum(sequences.codes < 0)])
    at = position[(behind >= reach) & (left > reach)]
    at = at[n_missing[at + reach + 1] == n_missing[at - reach]]
    firsts = ends[:-1][lengths >= reach]
    return at, firsts[n_missing[firsts + reach] == n_missing[firsts]]


def _counted(n: int, codes: NDArray[np.int32]) -> Array:
    return np.bincount(codes, minlength=n).astype(np.float64)


def _table(n: int, rows: list[NDArray[np.int32]], columns: list[NDArray[np.int32]]) -> Array:
    """(place and symbol, place and symbol) joint counts."""
    out = np.empty((len(rows), n, len(columns), n))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            together = np.bincount(row.astype(np.int64) * n + column, minlength=n * n)
            out[i, :, j] = together.reshape(n, n)
    return out.reshape(len(rows) * n, len(columns) * n)


def _triples(
    n: int,
    middle: NDArray[np.int32],
    beyond: list[NDArray[np.int32]],
    past: list[NDArray[np.int32]],
) -> Array:
    """(symbol, place and symbol beyond, place and symbol before)."""
    out = np.empty((n, len(beyond), n, len(past), n))
    for i, after in enumerate(beyond):
        key = (middle.astype(np.int64) * n + after) * n
        for j, before in enumerate(past):
            out[:, i, :, j] = np.bincount(key + before, minlength=n**3).reshape(n, n, n)
    return out.reshape(n, len(beyond) * n, len(past) * n)
