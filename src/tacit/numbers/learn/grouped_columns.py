"""Features of columns and of groups of columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.kernels import median_bandwidth
from tacit.core.encoders.margins import Margin
from tacit.core.encoders.vector_kernels import VectorKernelEncoder, vector_kernel_encoder
from tacit.trees.learn.kernel_distances import kernel_distances
from tacit.trees.learn.kernel_metric import MOST_FEATURES, TOLERANCE, KernelMetric
from tacit.trees.learn.number_features import FeatureColumns
from tacit.trees.moments.features import FeatureMoments

if TYPE_CHECKING:
    from tacit.core.encoders.encoders import Encoder
    from tacit.core.input.mixed_table import MixedTable
    from tacit.numbers.structure.groups import Units
    from tacit.trees.structure.distances import Distances

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupedColumns(FeatureColumns):
    """The columns of a table, some of which are one variable together."""

    units: Units

    def unit_encoders(self, multiple: float) -> list[Any]:
        """Features of each column or group, with this multiple of the median bandwidths."""
        alone = super().encoders(multiple)
        encoders: list[Any] = []
        for places in self.units.places:
            if len(places) == 1:
                encoders.append(alone[places[0]])
                continue
            medians = dict(zip(self.table.schema.continuous, self.medians, strict=True))
            margins = [self.margins[place] for place in places]
            assert all(isinstance(margin, Margin) for margin in margins)
            encoders.append(
                vector_kernel_encoder(
                    np.column_stack([self.table.column(place) for place in places]),
                    [multiple * medians[place] for place in places],
                    self.tolerance,
                    n_features=self.most_features,
                    margins=margins if self.normal_scores else None,  # type: ignore[arg-type]
                    kernel=self.kernel,
                )
            )
        return encoders

    def encoders(self, multiple: float) -> tuple[Encoder, ...]:
        """Features of each column alone: of a member of a group, one for each pivot of the group."""
        if not self.units.grouped:
            return super().encoders(multiple)
        by_column: dict[int, Encoder] = {}
        for encoder, places in zip(self.unit_encoders(multiple), self.units.places, strict=True):
            if isinstance(encoder, VectorKernelEncoder):
                by_column.update(zip(places, encoder.members, strict=True))
            else:
                by_column[places[0]] = encoder
        return tuple(by_column[place] for place in range(len(by_column)))

    def moments(self, rows: MixedTable, multiple: float) -> FeatureMoments:
        """The moments of the features of some rows, column by column and group by group."""
        if not self.units.grouped:
            return super().moments(rows, multiple)
        return FeatureMoments.of(self._cells(rows), self.unit_encoders(multiple), rows.weights)

    def distances(self, rows: MixedTable, multiple: float) -> Distances:
        """Distances between columns and groups, with this multiple of the median bandwidths."""
        metric = KernelMetric(bandwidth=multiple, kernel=self.kernel)
        if not self.units.grouped:
            return metric.distances(rows)
        alone = metric.encoders(rows)
        encoders: list[Any] = []
        for cells, places in zip(self._cells(rows), self.units.places, strict=True):
            if len(places) == 1:
                encoders.append(alone[places[0]])
                continue
            widths = [multiple * median_bandwidth(column) for column in cells.T]
            encoders.append(
                vector_kernel_encoder(
                    cells,
                    widths,
                    TOLERANCE,
                    n_features=MOST_FEATURES * len(places),
                    kernel=self.kernel,
                )
            )
        return kernel_distances(FeatureMoments.of(self._cells(rows), encoders, rows.weights))

    def _cells(self, rows: MixedTable) -> list[NDArray[Any]]:
        return self.units.cells([rows.column(place) for place in range(len(rows.schema))])
