"""Moments of rows of numbers up to the third, which is only ever looked at along few directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Entries of products of rows that are held at once.
ENTRIES_AT_ONCE = 1 << 22


class ThirdMoments(Protocol):
    """What is asked of rows of numbers: `NumberMoments`, or the exact moments of a model."""

    @property
    def n_rows(self) -> float:
        """How many there are; infinite where the moments are exact."""
        ...

    @property
    def mean(self) -> Array:
        """(column,)."""
        ...

    @property
    def covariance(self) -> Array:
        """(column, column)."""
        ...

    def cubes(self, directions: Array) -> Array:
        """(r, r, r) E[a b c] of the centred rows along some directions (column, r)."""
        ...

    def scaled(self, directions: Array) -> Array:
        """(column,) E[z |y|^2] of the centred rows z, where y are their positions along directions."""
        ...


@dataclass(frozen=True, eq=False)
class NumberMoments:
    """Mean and covariance of rows, and what third moments along given directions are."""

    centred: Array  # (row, column)
    mean: Array  # (column,)
    covariance: Array  # (column, column)

    @staticmethod
    def of(rows: Array) -> NumberMoments:
        """The moments of all rows.

        Parameters
        ----------
        rows : (row, column)
            Without gaps.
        """
        mean = rows.mean(axis=0)
        centred = rows - mean
        return NumberMoments(centred, mean, centred.T @ centred / len(rows))

    @property
    def n_rows(self) -> float:
        """How many there are."""
        return float(len(self.centred))

    def cubes(self, directions: Array) -> Array:
        """(r, r, r) E[a b c] of the centred rows along some directions (column, r)."""
        r = directions.shape[1]
        total = np.zeros((r, r * r))
        for part in self._parts(r * r):
            places = part @ directions
            total += places.T @ (places[:, :, None] * places[:, None, :]).reshape(len(part), r * r)
        return np.asarray(total.reshape(r, r, r) / self.n_rows)

    def scaled(self, directions: Array) -> Array:
        """(column,) E[z |y|^2] of the centred rows z, where y are their positions along directions."""
        total = np.zeros(len(self.mean))
        for part in self._parts(directions.shape[1]):
            total += part.T @ np.square(part @ directions).sum(axis=1)
        return np.asarray(total / self.n_rows)

    def _parts(self, width: int) -> list[Array]:
        size = max(ENTRIES_AT_ONCE // max(width, 1), 1)
        return [self.centred[first : first + size] for first in range(0, len(self.centred), size)]
