"""Rows as features: blocks of them, column by column, formed when requested and not kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.kernels import KernelEncoder
from tacit.errors import DataError

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


class FeatureMap(Protocol):
    """Maps the cells of a column to features."""

    @property
    def size(self) -> int:
        """Number of features."""
        ...

    @property
    def total(self) -> Array:
        """(feature,) The constant: its product with the features of any cell is one, or nearly."""
        ...

    def features(self, values: Any) -> Array:
        """(row, feature) The features of some cells; a missing cell has NaN."""
        ...


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of data, column by column."""

    columns: Any  # per column: (row,); or all in one array (column, row)
    weights: Array | None = None  # (row,)

    def part(self, rows: slice) -> Rows:
        """Some of the rows."""
        if isinstance(self.columns, np.ndarray):  # each column in one piece, while they are at hand
            columns: Any = np.ascontiguousarray(self.columns[:, rows])
        else:
            columns = [np.ascontiguousarray(column[rows]) for column in self.columns]
        return Rows(columns, None if self.weights is None else self.weights[rows])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns[0]) if len(self.columns) else 0


@dataclass(frozen=True, eq=False)
class FeatureBlock:
    """Some rows, whose features are formed when requested, column by column, and not kept."""

    encoders: Sequence[FeatureMap]
    rows: Rows
    absent: dict[int, Flags] = field(default_factory=dict)  # of columns whose features were formed

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @property
    def weights(self) -> Array | None:
        """(row,) How often each row counts."""
        return self.rows.weights

    def features(self, column: int) -> Array:
        """(row, feature) The features of a column; zero where missing."""
        features = self.encoders[column].features(self.rows.columns[column])
        missing = np.isnan(features[:, 0])
        if missing.any():
            features = np.where(missing[:, None], 0.0, features)
            self.absent[column] = missing
        return features

    def projected(self, column: int, matrix: Array) -> Array:
        """(direction, row) The features of a column in some directions; zero where missing."""
        projections = projected_features(self.encoders[column], self.rows.columns[column], matrix)
        missing = np.isnan(projections[0])
        if missing.any():
            projections = np.where(missing, 0.0, projections)
            self.absent[column] = missing
        return projections

    def held(self, columns: Sequence[int]) -> Array | None:
        """(row,) One where a row has all of some columns, else zero; None if all rows have them."""
        absent = [self.absent[column] for column in columns if column in self.absent]
        return (~np.logical_or.reduce(absent)).astype(np.float64) if absent else None

    @property
    def held_cells(self) -> Array:
        """(row, column) One where a cell is there, else zero."""
        held = np.ones((self.n_rows, len(self.encoders)))
        for column, missing in self.absent.items():
            held[missing, column] = 0.0
        return held


def projected_features(encoder: FeatureMap, values: Any, matrix: Array) -> Array:
    """(direction, row) The features of some cells, multiplied with a matrix; NaN where missing.

    Features of a kernel are not formed: its values at the pivots are multiplied with one matrix.
    """
    if not isinstance(encoder, KernelEncoder):
        return np.asarray(matrix @ encoder.features(values).T)
    return np.asarray(matrix @ encoder.inverse @ encoder.kernel_values(values))


def columns_of(rows: Any) -> Any:
    """The columns of a table, or of a list of columns."""
    if not isinstance(rows, np.ndarray):
        return list(rows)
    if rows.ndim != 2:
        raise DataError(f"a table (row, column) is needed, not an array of {rows.ndim} axes")
    return rows.T
