"""Questions asked of a known schema: unknown values, misspelt columns, columns left out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit.core.input.encode import category_code
from tacit.core.input.read_table import encode, read_table
from tacit.core.input.table import Column
from tacit.errors import (
    ArgumentError,
    BinningWarning,
    CategoryError,
    ColumnError,
    DataError,
    TacitError,
)

SCHEMA = read_table(
    {"colour": ["red", "green", "blue"], "size": [1, 2, 30], "ready": [True, False, True]}
).schema


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_an_unknown_category_is_named_with_its_column_and_the_nearest_one(frame):
    rows = frame({"colour": ["red", "gren"], "size": [1, 2], "ready": [True, True]})
    with pytest.raises(CategoryError) as caught:
        encode(rows, SCHEMA)
    assert str(caught.value) == (
        "column 'colour' has no category 'gren'; did you mean 'green'? Its categories are "
        "'blue', 'green', 'red'; unknown='missing' treats others as missing"
    )
    assert isinstance(caught.value, TacitError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(("column", "value"), [("size", 25), ("colour", "q"), ("colour", "violet")])
def test_nothing_is_suggested_that_is_not_near(column, value):
    with pytest.raises(CategoryError, match=f"has no category {value!r}. Its categories are"):
        encode({column: [value]}, SCHEMA, partial=True)


def test_of_a_long_list_of_categories_a_few_are_shown():
    schema = read_table({"x": [*range(100), *range(100)]}).schema
    with pytest.raises(CategoryError, match=r"6, 7, \.\.\. \(100 in all\)"):
        encode({"x": [200]}, schema)


def test_unknown_categories_are_missing_on_request():
    rows = {"colour": ["red", "gren", None], "size": [1, 7, 2], "ready": [True, True, None]}
    actual = encode(rows, SCHEMA, unknown="missing")
    assert actual.codes.tolist() == [[2, 0, 1], [-1, -1, 1], [-1, 1, -1]]


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64, object])
def test_unknown_integers_of_an_array_are_named_or_missing(dtype):
    schema = read_table(np.array([[0, 5], [1, 3]])).schema
    rows = np.array([[1, 5], [0, 4]], dtype=dtype)
    with pytest.raises(CategoryError, match=r"column 'x1' has no category 4. Its"):
        encode(rows, schema)
    assert encode(rows, schema, unknown="missing").codes.tolist() == [[1, 1], [0, -1]]


def test_an_integer_below_minus_one_is_unknown():
    schema = read_table(np.array([[0], [1]])).schema
    with pytest.raises(CategoryError, match="no category -2"):
        encode(np.array([[-2]]), schema)


def test_minus_one_in_a_frame_is_unknown_unless_it_is_a_category():
    schema = read_table(pd.DataFrame({"x": [0, 1]})).schema
    with pytest.raises(CategoryError, match="no category -1"):
        encode(pd.DataFrame({"x": [-1]}), schema)


def test_a_level_that_no_row_shows_is_no_error():
    rows = pd.DataFrame({"colour": pd.Categorical(["red"], categories=["red", "pink"])})
    assert encode(rows, SCHEMA, partial=True).codes[0].tolist() == [2, -1, -1]


def test_numbers_that_are_equal_are_the_same_category():
    rows = {"size": [1.0, 30.0, float("nan")], "ready": [1, 0, None]}
    assert encode(rows, SCHEMA, partial=True).codes[:, 1:].tolist() == [[0, 1], [2, 0], [-1, -1]]


def test_text_that_reads_like_a_category_is_that_category():
    rows = {"size": ["1", "30"], "ready": ["true", "False"]}
    assert encode(rows, SCHEMA, partial=True).codes[:, 1:].tolist() == [[0, 1], [2, 0]]
    digits = read_table({"x": ["1", "2", "x"]}).schema
    assert encode({"x": [2, 1]}, digits).codes[:, 0].tolist() == [1, 0]


def test_a_misspelt_column_is_named_with_the_nearest_one():
    rows = pd.DataFrame({"colour": ["red"], "sise": [1], "ready": [True]})
    for options in ({}, {"partial": True}):
        with pytest.raises(ColumnError, match=r"no column 'sise'; did you mean 'size'\?"):
            encode(rows, SCHEMA, **options)


def test_a_column_left_out_is_an_error_unless_it_is_allowed():
    rows = {"colour": ["red"]}
    with pytest.raises(ColumnError, match="the data lacks 'size', 'ready'"):
        encode(rows, SCHEMA)
    assert encode(rows, SCHEMA, partial=True).codes.tolist() == [[2, -1, -1]]


def test_a_column_too_many_is_an_error_unless_it_is_allowed():
    rows = {"colour": ["red"], "size": [1], "ready": [True], "note": ["x"]}
    with pytest.raises(ColumnError, match=r"no column 'note'\. The columns are 'colour'"):
        encode(rows, SCHEMA)
    for options in ({"partial": True}, {"extras": "ignore"}, {"extras": "typos"}):
        assert encode(rows, SCHEMA, **options).codes.tolist() == [[2, 0, 1]]
    with pytest.raises(ColumnError, match="no column 'note'"):
        encode(rows, SCHEMA, partial=True, extras="error")


def test_a_misspelling_can_be_ignored_on_purpose():
    rows = {"colour": ["red"], "sise": [1]}
    actual = encode(rows, SCHEMA, partial=True, extras="ignore")
    assert actual.codes.tolist() == [[2, -1, -1]]


def test_a_name_near_to_a_column_that_is_there_is_no_misspelling():
    rows = {"size": [1], "size2": [9]}
    assert encode(rows, SCHEMA, partial=True).codes.tolist() == [[-1, 0, -1]]


def test_frames_of_integers_may_have_columns_in_any_order_and_number():
    schema = read_table(pd.DataFrame({"a": [0, 1], "b": [0, 5]})).schema
    rows = pd.DataFrame({"b": [5, 0], "c": [7, 7], "a": [1, 0]})
    assert encode(rows, schema, extras="ignore").codes.tolist() == [[1, 1], [0, 0]]
    assert encode(rows[["b"]], schema, partial=True).codes.tolist() == [[-1, 1], [-1, 0]]


def test_arrays_are_matched_by_place_and_must_have_all_columns():
    assert encode(np.array([["red", 2, True]], dtype=object), SCHEMA).codes.tolist() == [[2, 1, 1]]
    for options in ({}, {"partial": True}):
        with pytest.raises(DataError, match="X has 1 features, but Tacit is expecting 3 features"):
            encode(np.array([[1]]), SCHEMA, **options)


def test_numbers_fall_into_the_bins_that_were_learnt():
    with pytest.warns(BinningWarning):
        schema = read_table({"x": np.arange(1, 101) / 2}).schema
    column = schema["x"]
    assert column.edges == (10.0, 20.0, 30.0, 40.0)
    for rows in ([-5, 10, 11, 1000, None], [-5.0, 10.0, 10.1, 40.5, np.nan]):
        assert encode({"x": rows}, schema).codes[:, 0].tolist() == [0, 0, 1, 4, -1]
    assert encode({"x": ["up to 10", "above 40"]}, schema).codes[:, 0].tolist() == [0, 4]
    assert encode({"x": ["up to 10", 25.0]}, schema).codes[:, 0].tolist() == [0, 2]
    with pytest.raises(CategoryError, match="no category 'tall'"):
        encode({"x": ["tall"]}, schema)


@pytest.mark.parametrize(
    ("value", "code"),
    [("red", 2), (None, -1), (float("nan"), -1), (np.str_("blue"), 0)],
)
def test_one_value_can_be_coded_alone(value, code):
    assert category_code(SCHEMA["colour"], value) == code


def test_one_value_given_as_text_is_understood():
    binned = Column("x", ("up to 1", "above 1"), "binned", (1.0,), (0.5, 2.0))
    assert [category_code(binned, value) for value in ("0.5", "above 1", 7, True)] == [0, 1, 1, 0]
    assert category_code(SCHEMA["size"], "30") == 2
    assert category_code(SCHEMA["ready"], "true") == 1
    for column, value in ((binned, "wide"), (SCHEMA["size"], "3"), (SCHEMA["colour"], 3)):
        with pytest.raises(CategoryError, match=f"has no category {value!r}"):
            category_code(column, value)


def test_options_are_checked():
    with pytest.raises(ArgumentError, match="unknown must be 'error' or 'missing', not 'ignore'"):
        encode({"colour": ["red"]}, SCHEMA, unknown="ignore")
    with pytest.raises(ArgumentError, match="extras must be"):
        encode({"colour": ["red"]}, SCHEMA, extras="maybe")
    for n_bins in (1, 2.5, True, "5"):
        with pytest.raises(ArgumentError, match="n_bins must be an integer of at least 2"):
            read_table([["a"]], n_bins=n_bins)


def test_chunks_have_one_weight_for_each_row_of_all():
    chunks = [{"x": ["a", "b"]}, {"x": ["a"]}]
    schema = read_table(chunks).schema
    assert encode(chunks, schema, sample_weight=[1, 2, 3]).weights.tolist() == [1, 2, 3]
    for weights in ([1, 2], [1, 2, 3, 4]):
        with pytest.raises(DataError, match=r"sample weights must have shape \(3,\)"):
            encode(chunks, schema, sample_weight=weights)


def test_encoding_takes_weights_too():
    assert encode(
        [["a"], ["a"]], read_table([["a"]]).schema, sample_weight=[1, 2]
    ).weights.tolist() == [
        1,
        2,
    ]


def test_a_table_without_any_column_of_the_model_is_refused():
    with pytest.raises(
        ColumnError, match=r"none of the model's columns, which are 'colour'.*it has 'note'"
    ):
        encode({"note": ["a"]}, SCHEMA, partial=True, extras="typos")
