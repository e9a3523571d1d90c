"""Moments of a homogeneous chain: joint tables averaged over all positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.trees.moments.source import Moments, PairTables

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ShiftedMoments:
    """Moments of columns in time, each table the mean over all shifts within the chain.

    A model learnt from them assumes a stationary chain.
    """

    single: Moments

    @property
    def cards(self) -> tuple[int, ...]:
        """Number of categories of each column; all are the same."""
        return self.single.cards

    @property
    def n_rows(self) -> float:
        """Number of rows behind the tables of one place."""
        return self.single.n_rows

    def pairs(self) -> PairTables:
        """The joint tables of all pairs of columns, each the mean over all shifts."""
        pairs = self.single.pairs()
        n, k = len(self.cards), self.cards[0]
        cells = pairs.counts.reshape(n, k, n, k)
        out = np.empty_like(cells, dtype=np.float64)
        for step in range(n):
            earlier = np.arange(n - step)
            summed = cells[earlier, :, earlier + step].sum(axis=0)
            out[earlier, :, earlier + step] = summed
            out[earlier + step, :, earlier] = summed.T
        return PairTables(self.cards, out.reshape(n * k, n * k))

    def tables(self, subsets: Sequence[tuple[int, ...]]) -> list[Array]:
        """The joint probabilities of sets of columns, each the mean over all shifts."""
        n = len(self.cards)
        spans, shifted_subsets = [], []
        for subset in subsets:
            low, high = min(subset, default=0), max(subset, default=-1)
            shifted = [tuple(at - low + s for at in subset) for s in range(n - (high - low))]
            spans.append(len(shifted))
            shifted_subsets.extend(shifted if subset else [subset] * len(shifted))
        tables = self.single.tables(shifted_subsets)
        out, start = [], 0
        for span in spans:
            out.append(np.mean(tables[start : start + span], axis=0))
            start += span
        return out
