"""Moments of windows of symbols with longer pasts and futures, for more states than symbols.

Features of past and future are indicators of the symbol at each of several places: `WindowMoments` by
counting. Counts are integers, so sums are exact in any order. Other features are given by the user.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.given_features import GivenFeatures
from tacit.errors import ArgumentError, TooExpensiveError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.moments.windows import WindowMoments

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_CELLS = 1 << 26
_CELLS_AT_ONCE = 1 << 22  # of the features of a block of windows


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


def given_windows(sequences: Sequences, reach: int, features: Any) -> WindowMoments:
    """The same sums with features of past and future that the user gives.

    The past has the places -1, -2, ... before a position, and the future 0, 1, ... from it on.

    Parameters
    ----------
    sequences : Sequences
    reach : int
        Number of symbols in the past and in the future.
    features : str, array, mapping or callable
        See `tacit.core.encoders.given_features.GivenFeatures`; the variables are the places.
    """
    at, firsts = _places(sequences, reach)
    windows = sequences.codes[at[:, None] + np.arange(-reach, reach + 1)]
    starts = sequences.codes[firsts[:, None] + np.arange(reach)]
    given = place_features(features, reach, sequences.symbols)
    n = sequences.n_symbols
    return moments_of_windows(_distinct(windows, n), _distinct(starts, n), given)


def place_features(features: Any, reach: int, symbols: Sequence[Hashable]) -> GivenFeatures:
    """Features of the places around a position: -1, -2, ..., then 0, 1, ..."""
    places = [*range(-1, -reach - 1, -1), *range(reach)]
    return GivenFeatures.of(features, places, [tuple(symbols)] * (2 * reach))


def moments_of_windows(
    windows: tuple[NDArray[np.integer], Array],
    starts: tuple[NDArray[np.integer], Array],
    given: GivenFeatures,
) -> WindowMoments:
    """Sums over distinct windows.

    Parameters
    ----------
    windows : (window, place) codes and (window,) numbers
        Each has `reach` symbols, one symbol, and `reach` symbols.
    starts : (start, place) codes and (start,) numbers
        The first `reach` symbols of sequences.
    given : GivenFeatures
        Of the places, see `place_features`.
    """
    codes, counts = windows
    reach, n = codes.shape[1] // 2, len(given.categories[0])
    before, after = range(reach), range(reach, 2 * reach)

    def past(some: NDArray[np.integer]) -> Array:
        return given(some[:, reach - 1 :: -1], before)

    def future(some: NDArray[np.integer]) -> Array:
        return given(some, after)

    none = np.zeros((1, reach), dtype=np.int32)
    sizes = past(none).shape[1], future(none).shape[1]
    if n * sizes[0] * sizes[1] > _MOST_CELLS:
        raise TooExpensiveError(
            f"{sizes[0]} features of pasts and {sizes[1]} of futures of {n} symbols need "
            f"{n * sizes[0] * sizes[1]:,} moments, more than {_MOST_CELLS:,}; give fewer features"
        )
    total = _sums(n, sizes)
    at_once = max(256, _CELLS_AT_ONCE // max(*sizes, 1))
    for low in range(0, len(codes), at_once):
        some, weights = codes[low : low + at_once], counts[low : low + at_once, None]
        sides = past(some), future(some[:, reach:-1]), future(some[:, reach + 1 :])
        _check_sizes(sides, sizes)
        total = total + _block_sums(some[:, reach], sides, weights, n)
    if not len(starts[0]):
        return total
    first = (starts[1][:, None] * future(starts[0])).sum(axis=0)
    return replace(total, first=first, n_firsts=np.asarray(float(starts[1].sum())))


def _sums(n: int, sizes: tuple[int, int]) -> WindowMoments:
    """Sums over no windows."""
    past, future = sizes
    return WindowMoments(
        n_windows=np.zeros(()),
        n_firsts=np.zeros(()),
        first=np.zeros(future),
        past=np.zeros(past),
        future=np.zeros(future),
        past_past=np.zeros((past, past)),
        future_future=np.zeros((future, future)),
        pairs=np.zeros((future, past)),
        triples=np.zeros((n, future, past)),
    )


def _block_sums(
    middle: NDArray[np.integer], sides: tuple[Array, Array, Array], weights: Array, n: int
) -> WindowMoments:
    """Sums over some windows, the starts of sequences apart."""
    past, future, beyond = sides
    weighted = weights * past
    triples = np.zeros((n, beyond.shape[1], past.shape[1]))
    for symbol in np.unique(middle):
        rows = middle == symbol
        triples[symbol] = beyond[rows].T @ weighted[rows]
    return replace(
        _sums(n, (past.shape[1], future.shape[1])),
        n_windows=np.asarray(float(weights.sum())),
        past=weighted.sum(axis=0),
        future=(weights * future).sum(axis=0),
        past_past=past.T @ weighted,
        future_future=future.T @ (weights * future),
        pairs=future.T @ weighted,
        triples=triples,
    )


def _check_sizes(sides: tuple[Array, Array, Array], sizes: tuple[int, int]) -> None:
    for side, size in zip(sides, (*sizes, sizes[1]), strict=True):
        if side.shape[1] != size:
            raise ArgumentError(
                f"features() gave {size} features for one window and {side.shape[1]} for others; their "
                f"number may not depend on the symbols"
            )


def _distinct(codes: NDArray[np.int32], n: int) -> tuple[NDArray[np.integer], Array]:
    """Distinct rows of codes below `n`, and how often each occurs."""
    width = codes.shape[1]
    if n**width >= 2**62:
        rows, counts = np.unique(codes, axis=0, return_counts=True)
        return rows, counts.astype(np.float64)
    powers = n ** np.arange(width - 1, -1, -1, dtype=np.int64)
    keys, counts = np.unique(codes @ powers, return_counts=True)
    return keys[:, None] // powers % n, counts.astype(np.float64)


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
