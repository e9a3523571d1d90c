"""Moments of windows of sequences: the past of a position, the position itself, and its future.

Past and future have the same features as the position itself, averaged over stretches of lags: for instance
the next position, the two after it, and the four after those. One stretch of one position gives the triples
of Hsu, Kakade & Zhang (2012) and of Song et al. (2010); longer ones help where one position says little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Windows:
    """Positions with a complete past and future, and their features."""

    positions: Integers  # (window,)
    past: Array  # (window, past feature)   before the position
    middle: Array  # (window, feature)        at the position
    future: Array  # (window, future feature)   from the position on
    beyond: Array  # (window, future feature)   from the next position on
    firsts: Array  # (sequence, future feature)   from each start on


@dataclass(frozen=True, eq=False)
class WindowMoments:
    """Sums over windows; they add.

    Triples may be projected: the future by `left`, the past by `right`.
    """

    n_windows: Array  # ()
    n_firsts: Array  # ()
    first: Array  # (future,)   sum over the starts of sequences
    past: Array  # (past,)
    future: Array  # (future,)
    past_past: Array  # (past, past)
    future_future: Array  # (future, future)
    pairs: Array  # (future, past)
    triples: Array  # (feature, future or left, past or right)   beyond, middle and past

    def __add__(self, other: WindowMoments) -> WindowMoments:
        return WindowMoments(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )

    def __sub__(self, other: WindowMoments) -> WindowMoments:
        """The sums without some of the windows."""
        return WindowMoments(
            *(getattr(self, field.name) - getattr(other, field.name) for field in fields(self))
        )

    @staticmethod
    def of(
        windows: Windows,
        left: Array | None = None,
        right: Array | None = None,
        weights: Array | None = None,
    ) -> WindowMoments:
        """The sums over some windows.

        Parameters
        ----------
        windows : Windows
        left : (future, direction), optional
        right : (past, direction), optional
        weights : (window,), optional
        """
        past, middle, future, beyond = windows.past, windows.middle, windows.future, windows.beyond
        weighted = past if weights is None else past * weights[:, None]
        ahead = future if weights is None else future * weights[:, None]
        projected_beyond = beyond if left is None else beyond @ left
        projected_past = weighted if right is None else weighted @ right
        triples = np.empty((middle.shape[1], projected_beyond.shape[1], projected_past.shape[1]))
        for feature, column in enumerate(middle.T):
            triples[feature] = (projected_beyond * column[:, None]).T @ projected_past
        return WindowMoments(
            n_windows=np.asarray(len(past) if weights is None else weights.sum(), dtype=np.float64),
            n_firsts=np.asarray(len(windows.firsts), dtype=np.float64),
            first=windows.firsts.sum(axis=0),
            past=weighted.sum(axis=0),
            future=ahead.sum(axis=0),
            past_past=weighted.T @ past,
            future_future=ahead.T @ future,
            pairs=future.T @ weighted,
            triples=triples,
        )


def windows_of(features: Array, lengths: Integers, stretches: Sequence[int] = (1,)) -> Windows:
    """The windows of some sequences.

    Parameters
    ----------
    features : (position, feature)
        Of all sequences in turn; rows of NaN are missing.
    lengths : (sequence,)
    stretches : sequence of int
        Lengths of the stretches of lags over which past and future are averaged, the nearest first. Windows
        in which the position itself, or all of a stretch, is missing are skipped.
    """
    reach = int(sum(stretches))
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ahead = _stretched(features, ends, stretches)  # (position, stretch and feature)  from it on
    at = np.arange(int(ends[-1]))
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    inside = (at - ends[sequence] >= reach) & (ends[sequence + 1] - at >= reach + 1)
    positions = at[inside]
    # The past of a position is the future of the reversed sequence from the position before it on.
    mirrored = np.repeat(ends[:-1] + ends[1:] - 1, lengths) - at
    behind = _stretched(features[mirrored], ends, stretches)[mirrored]
    past, future, beyond = behind[positions - 1], ahead[positions], ahead[positions + 1]
    middle = features[positions]
    is_complete = ~(np.isnan(past) | np.isnan(future) | np.isnan(beyond)).any(axis=1)
    is_complete &= ~np.isnan(middle).any(axis=1)
    starts = ends[:-1][lengths >= reach]
    firsts = ahead[starts]
    return Windows(
        positions[is_complete],
        past[is_complete],
        middle[is_complete],
        future[is_complete],
        beyond[is_complete],
        firsts[~np.isnan(firsts).any(axis=1)],
    )


def _stretched(features: Array, ends: Integers, stretches: Sequence[int]) -> Array:
    """Means over stretches of positions from each one on; NaN beyond the end and where all are missing."""
    n, d = features.shape
    is_observed = np.asarray(~np.isnan(features).any(axis=1))
    sums = np.vstack(
        [np.zeros(d), np.cumsum(np.where(is_observed[:, None], features, 0.0), axis=0)]
    )
    counts = np.concatenate([[0], np.cumsum(is_observed)])
    stop = np.repeat(ends[1:], np.diff(ends))
    out = np.empty((n, len(stretches) * d))
    low = np.arange(n)
    for place, length in enumerate(stretches):
        high = low + length
        a, b = np.minimum(low, n), np.minimum(high, n)
        number = np.where(high <= stop, counts[b] - counts[a], 0)
        if length == 1:  # exactly as they are
            mean = features[np.minimum(low, n - 1)] if n else features
        else:
            mean = (sums[b] - sums[a]) / np.maximum(number, 1)[:, None]
        out[:, place * d : (place + 1) * d] = np.where(number[:, None] > 0, mean, np.nan)
        low = high
    return out
