"""What a model says of the missing cells of a table: predictions, and draws of all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.encoders.encoders import BinEncoder, Encoder
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
        return _snapped(model._drawn_cells(table, rng), table, model.encoders_)  # noqa: SLF001
    codes = sample(model.parameters_, 1, rng, _evidence(table)).codes
    return table.filled({column: codes[:, column] for column in range(len(table.schema))})


def _snapped(drawn: MixedTable, table: MixedTable, encoders: Sequence[Encoder]) -> MixedTable:
    """Drawn numbers within a narrow peak of a column's density become the value that many rows share."""
    numbers = drawn.numbers.copy(order="K")
    for place, encoder in enumerate(encoders):
        if isinstance(encoder, BinEncoder):
            stored = table.schema.stored[place]
            gaps = np.isnan(table.numbers[:, stored])
            numbers[gaps, stored] = encoder.margin.snapped(numbers[gaps, stored])
    return replace(drawn, numbers=numbers)


def _evidence(table: MixedTable) -> Any:
    from tacit.messages.evidence import Evidence

    return Evidence(np.asfortranarray(table.codes, dtype=np.int32))
