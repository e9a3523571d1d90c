"""What a model says of the missing cells of a table: predictions, and draws of all of them together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.input.mixed_table import MixedTable

Array = NDArray[np.float64]


def predicted_cells(model: Any, table: MixedTable) -> dict[int, Array]:
    """By column with gaps: (row,) means of numbers, or (row, category) probabilities, given each row."""
    from tacit.messages.conditionals import conditionals

    columns = np.flatnonzero(table.missing.any(axis=0)).tolist()
    if model.can("numbers"):
        return dict(model._missing_cells(table, columns))  # noqa: SLF001
    if not columns:
        return {}
    beliefs = conditionals(model.parameters_, _evidence(table), columns)
    return dict(zip(columns, beliefs.tables, strict=True))


def drawn_cells(model: Any, table: MixedTable, rng: np.random.Generator) -> MixedTable:
    """The table with the missing cells of each row drawn from their joint distribution given the others."""
    from tacit.messages.sampling import sample

    if model.can("numbers"):
        drawn: MixedTable = model._drawn_cells(table, rng)  # noqa: SLF001
        return drawn
    codes = sample(model.parameters_, 1, rng, _evidence(table)).codes
    return table.filled({column: codes[:, column] for column in range(len(table.schema))})


def _evidence(table: MixedTable) -> Any:
    from tacit.messages.evidence import Evidence

    return Evidence(np.asfortranarray(table.codes, dtype=np.int32))
