"""Features of columns of numbers and categories, and the rows that select among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import Encoder, IndicatorEncoder
from tacit.core.encoders.kernel_shapes import Kernel, TabulatedKernel
from tacit.core.encoders.kernels import even_quantiles, kernel_encoder, median_bandwidth
from tacit.core.encoders.margins import Margin, fit_margin
from tacit.trees.learn.selection.states import split_rows
from tacit.trees.moments.features import FeatureMoments

if TYPE_CHECKING:
    from tacit.core.input.mixed_table import MixedTable

Array = NDArray[np.float64]

# How much of the kernel may be left unexplained.
TOLERANCE = 1e-4
# Features of all columns together, and of one: the fewest and the most.
MOST_FEATURES, FEWEST_FEATURES, LARGEST = 3000, 20, 200
# Quantiles whose distances estimate the median distance.
QUANTILES = 1024
# Held-out rows, and the fewest rows of which some are held out.
MOST_JUDGED, FEWEST_ROWS = 1000, 50


def _cells(table: MixedTable) -> list[NDArray[Any]]:
    return [table.column(place) for place in range(len(table.schema))]


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """The columns of a table: their distributions, and features of any bandwidth."""

    table: MixedTable
    normal_scores: bool
    n_features: int | str
    tolerance: float
    kernel: Kernel | TabulatedKernel

    @cached_property
    def margins(self) -> tuple[Margin | Array, ...]:
        """The marginal distribution of each column: a density, or probabilities of categories."""
        table, margins = self.table, []
        for place, column in enumerate(_cells(table)):
            if place in table.schema.continuous:
                margins.append(fit_margin(column, table.weights))
            else:
                is_observed = column >= 0
                weights = None if table.weights is None else table.weights[is_observed]
                size = table.schema.cards[place]
                probabilities = np.bincount(column[is_observed], weights, minlength=size) + 1.0
                margins.append(probabilities / probabilities.sum())
        return tuple(margins)

    @cached_property
    def medians(self) -> tuple[float, ...]:
        """The median distance of two rows in each column of numbers, on the scale of its kernels."""
        medians = []
        for place in self.table.schema.continuous:
            margin = self.margins[place]
            assert isinstance(margin, Margin)
            some = even_quantiles(self.table.column(place), QUANTILES)
            medians.append(median_bandwidth(margin.scores(some) if self.normal_scores else some))
        return tuple(medians)

    @property
    def most_features(self) -> int:
        """The largest number of features of a column."""
        if not isinstance(self.n_features, str):
            return self.n_features
        return min(max(MOST_FEATURES // len(self.table.schema), FEWEST_FEATURES), LARGEST)

    def encoders(self, multiple: float) -> tuple[Encoder, ...]:
        """Kernel features with this multiple of the median bandwidth, and indicators of categories."""
        table, medians = self.table, iter(self.medians)
        encoders: list[Encoder] = []
        for place, margin in enumerate(self.margins):
            if not isinstance(margin, Margin):
                encoders.append(IndicatorEncoder(table.schema.cards[place]))
                continue
            warp = margin if self.normal_scores else None
            encoders.append(
                kernel_encoder(
                    table.column(place),
                    multiple * next(medians),
                    self.tolerance,
                    n_features=self.most_features,
                    margin=warp,
                    kernel=self.kernel,
                )
            )
        return tuple(encoders)

    def moments(self, rows: MixedTable, multiple: float) -> FeatureMoments:
        """The moments of the features of some rows."""
        return FeatureMoments.of(_cells(rows), self.encoders(multiple), rows.weights)


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from and rows to judge by, where there are enough."""

    learning: MixedTable
    judging: MixedTable | None
    numbers: NDArray[np.int64] | None = (
        None  # row numbers of `judging` in the table, if they come from it
    )

    @staticmethod
    def of(table: MixedTable, validation: MixedTable | None, seed: int, most: int) -> Split:
        """Some held-out rows, unless validation rows are given; at most `most` rows in all."""
        everything = validation is not None
        if table.n_rows < FEWEST_ROWS and not everything:
            return Split(table, None)
        learning, judging = split_rows(table, seed, everything=everything, most=most)
        rows = table if learning is None else table.take(learning)
        watching = validation if judging is None else table.take(judging)
        if watching is not None:
            watching = watching.take(slice(0, MOST_JUDGED))
        return Split(rows, watching, judging)
