"""What files of imputers hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.fields import Array, Field, Record
from tacit.core.files.header_values import integer, texts
from tacit.core.files.ranges import below, moderate, within
from tacit.core.files.saved_model import InnerModel, ModelFile
from tacit.core.input.column_kinds import plain_kinds
from tacit.core.input.mixed_table import MixedSchema, MixedTable
from tacit.errors import FileFormatError
from tacit.numbers.model.forests import LARGEST_SEED, Forests
from tacit.trees.tree_model import TreeModel


def _forests(
    numbers: NDArray[np.float64],
    codes: NDArray[Any],
    observed: NDArray[np.bool_],
    shares: NDArray[np.float64],
    seed: int,
    schema: MixedSchema,
) -> Forests:
    if not isinstance(schema, MixedSchema):
        raise FileFormatError("stand beside a model that has no columns of numbers")
    cards = np.array([schema.cards[place] for place in schema.categorical], dtype=np.int64)
    widths = len(schema.continuous), len(schema.categorical)
    if (numbers.shape[1], codes.shape[1]) != widths or not len(numbers) == len(codes):
        raise FileFormatError("have rows of other columns")
    if (codes < 0).any() or (codes >= cards).any():
        raise FileFormatError("have codes of categories that are not there")
    if len(observed) != len(numbers) or (shares[~observed.any(axis=0)] > 0).any():
        raise FileFormatError("have no rows to be grown from")
    table = MixedTable(schema, np.asfortranarray(numbers), np.asfortranarray(codes))
    return Forests(table, observed, shares, seed)


FORESTS = Record(
    Forests,
    Field("numbers", Array("* *", moderate, empty=True), get=lambda beside: beside.table.numbers),
    Field(
        "codes",
        Array("* *", dtype=(np.int16, np.int32), empty=True),
        get=lambda beside: beside.table.codes,
    ),
    Field("observed", Array("* column", dtype=np.bool_)),
    Field("shares", Array("column", within(0, 1))),
    Field("seed", integer(0, LARGEST_SEED)),
    make=_forests,
    uses="schema",
)
IMPUTER_FILE = ModelFile(
    Field(
        "model_",
        InnerModel(TreeModel),
        sizes={"schema": lambda model: model.schema_, "column": lambda model: len(model.schema_)},
    ),
    Field("forests_", FORESTS, optional=True),
    Field("columns_", texts()),
    Field("empty_columns_", texts()),
    Field("indicators_", Array("*", below("column"), dtype=np.int64, empty=True)),
    arguments={"columns": plain_kinds, "progress": None},
    columns=lambda model: model.columns_,
)
