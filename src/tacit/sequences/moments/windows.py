"""Moments of windows of sequences: what came before a position, what stands there, what comes after.

Past and future are seen through the same features as the position itself, averaged over stretches of lags:
the next position, then the two behind it, the four behind those. One stretch of one position is the triple
of Hsu, Kakade & Zhang (2012) and of Song et al. (2010); more of them see what one position hardly shows.
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
    """Positions with a whole past and future, and the features of both."""

    positions: Integers  # (window,)
    past: Array  # (window, past feature)   before the position
    here: Array  # (window, feature)        at the position
    future: Array  # (window, future feature)   from the position on
    beyond: Array  # (window, future feature)   from the next position on
    firsts: Array  # (sequence, future feature)   from each start on


@dataclass(frozen=True, eq=False)
class WindowMoments:
    """Sums over windows; those of two pieces of work add.

    Products of past and future are taken along given directions where there are any: `left` of the future,
    `right` of the past.
    """

    n_windows: Array  # ()
    n_firsts: Array  # ()
    first: Array  # (future,)   sum over the starts of sequences
    past: Array  # (past,)
    future: Array  # (future,)
    past_past: Array  # (past, past)
    future_future: Array  # (future, future)
    pairs: Array  # (future, past)
    triples: Array  # (feature, future or left, past or right)   beyond, here and past

    def __add__(self, other: WindowMoments) -> WindowMoments:
        return WindowMoments(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        )

    def __sub__(self, other: WindowMoments) -> WindowMoments:
        """What is left without a part that was added before."""
        return WindowMoments(
            *(getattr(self, each.name) - getattr(other, each.name) for each in fields(self))
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
        past, here, future, beyond = windows.past, windows.here, windows.future, windows.beyond
        weighted = past if weights is None else past * weights[:, None]
        ahead = future if weights is None else future * weights[:, None]
        to = beyond if left is None else beyond @ left
        back = weighted if right is None else weighted @ right
        triples = np.empty((here.shape[1], to.shape[1], back.shape[1]))
        for feature, column in enumerate(here.T):
            triples[feature] = (to * column[:, None]).T @ back
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
        Of all sequences in turn; rows of NaN where nothing is known.
    lengths : (sequence,)
    stretches : sequence of int
        Lengths of the stretches of lags over which past and future are averaged, the nearest first. A
        window in which a whole stretch, or the position itself, is missing does not count.
    """
    reach = int(sum(stretches))
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    ahead = _stretched(features, ends, stretches)  # (position, stretch and feature)  from it on
    at = np.arange(int(ends[-1]))
    own = np.repeat(np.arange(len(lengths)), lengths)
    inside = (at - ends[own] >= reach) & (ends[own + 1] - at >= reach + 1)
    positions = at[inside]
    # The past of a position is the future of the turned sequence from the position before it on.
    turned = np.repeat(ends[:-1] + ends[1:] - 1, lengths) - at
    behind = _stretched(features[turned], ends, stretches)[turned]
    past, future, beyond = behind[positions - 1], ahead[positions], ahead[positions + 1]
    here = features[positions]
    whole = ~(np.isnan(past) | np.isnan(future) | np.isnan(beyond)).any(axis=1)
    whole &= ~np.isnan(here).any(axis=1)
    starts = ends[:-1][lengths >= reach]
    firsts = ahead[starts]
    return Windows(
        positions[whole],
        past[whole],
        here[whole],
        future[whole],
        beyond[whole],
        firsts[~np.isnan(firsts).any(axis=1)],
    )


def _stretched(features: Array, ends: Integers, stretches: Sequence[int]) -> Array:
    """Means over stretches of positions from each one on; NaN beyond the end and where all is missing."""
    n, d = features.shape
    there = np.asarray(~np.isnan(features).any(axis=1))
    sums = np.vstack([np.zeros(d), np.cumsum(np.where(there[:, None], features, 0.0), axis=0)])
    counts = np.concatenate([[0], np.cumsum(there)])
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
