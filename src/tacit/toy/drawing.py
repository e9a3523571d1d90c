"""Draws from many distributions at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AliasTable:
    """The rows of a table of probabilities, prepared for drawing (Walker's alias method).

    Each row is cut into columns of equal mass that hold at most two outcomes: a draw picks a column, then one
    of its two.
    """

    n_outcomes: int
    threshold: Array  # (row * outcome,)  below it the column gives its number, above it the other
    other: NDArray[np.int32]  # (row * outcome,)  the other outcome

    @staticmethod
    def of(table: Array) -> AliasTable:
        """Prepare (row, outcome) probabilities whose rows sum to one."""
        rows, n_outcomes = table.shape
        threshold, other = np.ones((rows, n_outcomes)), np.zeros((rows, n_outcomes), dtype=np.int32)
        for row in range(rows):
            mass = table[row] * n_outcomes / table[row].sum()
            small = np.flatnonzero(mass < 1).tolist()
            large = np.flatnonzero(mass >= 1).tolist()
            while small and large:
                low, high = small.pop(), large[-1]
                threshold[row, low], other[row, low] = mass[low], high
                mass[high] -= 1 - mass[low]
                if mass[high] < 1:
                    small.append(large.pop())
            for outcome in small:  # rounding left these a little below one
                threshold[row, outcome] = 1.0 if table[row, outcome] > 0 else 0.0
                other[row, outcome] = int(table[row].argmax())
        return AliasTable(n_outcomes, threshold.ravel(), other.ravel())

    def draw(self, rows: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.int32]:
        """One outcome for each of the given rows."""
        scaled = rng.random(len(rows)) * self.n_outcomes
        column = scaled.astype(np.int32)
        scaled -= column
        index = rows.astype(np.int64) * self.n_outcomes + column
        return np.where(scaled < self.threshold[index], column, self.other[index])
