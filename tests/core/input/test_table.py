"""Columns, schemas and tables as values."""

import json

import numpy as np
import pytest

from tacit.core.input.read_table import read_table
from tacit.core.input.table import Column, Schema, Table, empty_codes
from tacit.errors import ColumnError, FileFormatError

SCHEMA = Schema(
    (
        Column("colour", ("blue", "red"), "text"),
        Column("size", (1, 2, 3), "integer"),
        Column("weight", ("up to 1", "above 1"), "binned", (1.0,), (0.5, 2.0)),
    )
)


def test_a_schema_knows_names_cards_and_places():
    assert SCHEMA.names == ("colour", "size", "weight")
    assert SCHEMA.cards == (2, 3, 2)
    assert SCHEMA.index("size") == 1
    assert SCHEMA["size"] is SCHEMA.columns[1]
    assert "size" in SCHEMA
    assert "shape" not in SCHEMA
    assert len(SCHEMA) == 3


def test_a_misspelt_column_is_answered_with_the_nearest_one():
    with pytest.raises(ColumnError, match=r"no column 'color'; did you mean 'colour'\?"):
        SCHEMA.index("color")


def test_a_column_like_no_other_is_answered_with_those_there_are():
    with pytest.raises(ColumnError, match=r"no column 'q'\. The columns are 'colour', 'size'"):
        SCHEMA.index("q")


def test_a_schema_survives_json():
    assert Schema.from_json(json.loads(json.dumps(SCHEMA.to_json()))) == SCHEMA


@pytest.mark.parametrize(
    "plain",
    [
        [{"name": "x", "kind": "text"}],
        [{"name": 3, "kind": "text", "categories": []}],
        [{"name": "x", "kind": "text", "categories": [[1]]}],
        [{"name": "x", "kind": "text", "categories": None}],
        [{"name": "x", "kind": "binned", "categories": ["a"], "edges": [1.0], "centers": [2.0]}],
        ["x"],
        3,
    ],
)
def test_a_foreign_description_of_columns_is_refused(plain):
    with pytest.raises(FileFormatError, match="not a description of columns"):
        Schema.from_json(plain)


def test_values_of_a_binned_column_are_its_centers():
    assert SCHEMA["weight"].values == (0.5, 2.0)
    assert SCHEMA["size"].values == (1, 2, 3)


def test_selecting_columns_keeps_codes_and_weights_together():
    table = read_table(np.array([[0, 1, 0], [1, 0, 2], [0, 0, 1]]), sample_weight=[1, 2, 3])
    some = table.select(["x2", 0])
    assert some.schema.names == ("x2", "x0")
    assert some.codes.tolist() == [[0, 0], [2, 1], [1, 0]]
    assert some.codes.flags.f_contiguous
    assert some.weights.tolist() == [1, 2, 3]


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([1, 2]), np.array([False, True, True])])
def test_taking_rows_takes_their_weights_too(rows):
    table = read_table(np.array([[0, 1], [1, 0], [0, 0]]), sample_weight=[1, 2, 3])
    some = table.take(rows)
    assert some.codes.tolist() == [[1, 0], [0, 0]]
    assert some.codes.flags.f_contiguous
    assert some.weights.tolist() == [2, 3]
    assert Table(table.schema, table.codes).take(rows).weights is None


def test_codes_are_int16_until_a_column_needs_more():
    few = Schema((Column("x", tuple(range(32767)), "integer"),))
    many = Schema((Column("x", tuple(range(32768)), "integer"),))
    assert empty_codes(2, few).dtype == np.int16
    assert empty_codes(2, many).dtype == np.int32
    assert empty_codes(2, many).tolist() == [[-1], [-1]]


def test_small_integers_are_a_table_only_where_all_categories_are_small():
    small = Schema((Column("x", (-1, 3), "integer"), Column("y", (False, True), "boolean")))
    table = small.small_integers
    assert [table[0, 0], table[0, 1], table[0, 4], table[1, 1], table[1, 2]] == [0, -2, 1, 0, 1]
    for strange in ((-2,), (255,), ("a",), (0.5,)):
        assert Schema((Column("x", strange, "number"),)).small_integers is None
    assert SCHEMA.select(["weight"]).small_integers is None
