"""Densities of columns that do not depend on each other within a state: what they have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IndependentColumns:
    """Parameters of each state and column: every field of a subclass is a (state, column) array."""

    arguments: ClassVar[dict[str, Any]] = {}

    @property
    def _parameters(self) -> dict[str, Array]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def _shape(self) -> tuple[int, int]:
        n_states, n_columns = next(iter(self._parameters.values())).shape
        return n_states, n_columns

    @property
    def n_states(self) -> int:
        """Number of densities."""
        return self._shape[0]

    @property
    def n_columns(self) -> int:
        """Cells of a row."""
        return self._shape[1]

    @property
    def n_parameters(self) -> int:
        """Free parameters."""
        return sum(int(values.size) for values in self._parameters.values())

    def ordered(self, order: NDArray[np.integer]) -> Self:
        """The densities of some states."""
        return replace(self, **{name: values[order] for name, values in self._parameters.items()})
