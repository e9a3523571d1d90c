"""Experts: densities of a table beside that of its tree, and the weights of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable
from tacit.numbers.data.normal_scores import Scores
from tacit.numbers.model.gaussian_classes import GaussianClasses

Array = NDArray[np.float64]
Codes = NDArray[np.integer]

_FARTHEST = 1e6  # ranges of the training data
_LEAST, _SMALLEST = 1e-9, 1e-100  # range of a column, relative to its numbers and at all


@dataclass(frozen=True, eq=False)
class Expert:
    """A density of all columns: classes of the numbers, or of their normal scores."""

    name: str
    scores: Scores  # with margins for normal scores, else without
    classes: GaussianClasses

    def coordinates(self, table: MixedTable) -> tuple[Array, Codes]:
        """(row, number) coordinates, NaN where missing, and (row, column of categories) codes."""
        schema = self.scores.schema
        numbers = np.empty((table.n_rows, len(schema.continuous)), order="F")
        for column, place in enumerate(schema.continuous):
            known: Any = schema.columns[place]
            reach = _FARTHEST * max(known.high - known.low, _LEAST * abs(known.high), _SMALLEST)
            # So far out the density is zero, and squares do not overflow.
            values = table.column(place).clip(known.low - reach, known.high + reach)
            numbers[:, column] = self.scores.scores(place, values)
        return numbers, table.codes


@dataclass(frozen=True, eq=False)
class Experts:
    """The experts that a tree is mixed with."""

    members: tuple[Expert, ...]
    weights: Array  # (1 + expert,)  of the tree, and of each expert; they sum to one

    @property
    def log_weights(self) -> Array:
        """(1 + expert,) natural logarithms."""
        return np.asarray(np.log(np.maximum(self.weights, 1e-300)))
