"""Results come back in the caller's kind of table, with its types."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.core.input.chunks import kind_of_table
from tacit.core.input.decode import complete, decode
from tacit.core.input.read_table import encode, read_table
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    BinningWarning,
    DataError,
)


def test_pandas_keeps_index_types_and_labels():
    frame = pd.DataFrame(
        {
            0: np.array([3, 1], dtype=np.int16),
            "o": pd.Categorical(["m", "s"], categories=["s", "m", "l"], ordered=True),
            "u": pd.Categorical(["m", None], categories=["s", "m"]),
            "s": ["x", "y"],
            "t": pd.to_datetime(["2024-01-02", "2024-01-01"]),
            "cut": pd.cut([1.0, 3.0], [0, 2, 4]),
            "b": [True, False],
            "n": pd.array([7, None], dtype="Int64"),
            "f": [1.5, np.nan],
            "mixed": [1, "a"],
        },
        index=["row", "other"],
    )
    pd.testing.assert_frame_equal(decode(read_table(frame), like=frame), frame)


def test_integers_with_gaps_become_floats_in_pandas():
    frame = pd.DataFrame({"i": [1, 2], "b": [True, False]})
    table = read_table(frame)
    back = decode(np.array([[0, -1], [-1, 1]]), table.schema, like=frame)
    assert back["i"].dtype == np.float64
    assert back["i"].isna().tolist() == [False, True]
    assert back["b"].tolist() == [None, True]


def test_another_number_of_rows_gets_a_new_index():
    frame = pd.DataFrame({"x": ["a", "b"]}, index=[5, 6])
    back = decode(np.array([[0], [1], [0]]), read_table(frame).schema, like=frame)
    assert back.index.tolist() == [0, 1, 2]


def test_polars_keeps_types():
    frame = pl.DataFrame(
        {
            "e": pl.Series(["m", None], dtype=pl.Enum(["s", "m"])),
            "c": pl.Series(["x", "y"], dtype=pl.Categorical),
            "i": pl.Series([3, 1], dtype=pl.Int8),
            "d": pl.Series(["2024-01-02", "2024-01-01"]).str.to_date(),
            "f": pl.Series([1.5, 2.5], dtype=pl.Float32),
        }
    )
    back = decode(read_table(frame), like=frame)
    assert back.equals(frame)
    assert back.schema == frame.schema


def test_pyarrow_keeps_types():
    table = pa.table(
        {
            "d": pa.DictionaryArray.from_arrays(
                pa.array([1, None], pa.int8()), ["s", "m"], ordered=True
            ),
            "i": pa.array([3, None], pa.int16()),
            "t": pa.array([0, 1], pa.date32()),
            "s": pa.array(["a", "b"], pa.large_string()),
        }
    )
    back = decode(read_table(table), like=table)
    assert back.equals(table)
    assert back.schema == table.schema


@pytest.mark.parametrize(
    "array",
    [
        np.array([[0, 3], [1, -1]], dtype=np.int8),
        np.array([[0, 3], [1, 4]], dtype=np.uint16),
        np.array([[1, -1], [-1, 1]]),
        np.array([[True, False], [False, False]]),
        np.array([["a", "long word"], ["b", "c"]]),
        np.array([[b"a", b"bcd"], [b"b", b"c"]]),
        np.array([[0.5, 1.0], [np.nan, 2.0]]),
        np.array([[0.5, 1.0], [1.5, 2.0]], dtype=np.float32),
        np.array([["2024-01-01"], ["NaT"]], dtype="datetime64[D]"),
        np.array([["a", 1], [None, 2]], dtype=object),
    ],
    ids=lambda array: str(array.dtype),
)
def test_arrays_keep_their_type(array):
    back = decode(read_table(array), like=array)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(
    ("array", "wanted"),
    [
        (np.array([[0], [1]], dtype=np.uint8), np.array([[0.0], [np.nan]])),
        (np.array([[-1], [1]]), np.array([[-1.0], [np.nan]])),
        (np.array([[False], [True]]), np.array([[False], [None]], dtype=object)),
        (np.array([["a"], ["b"]]), np.array([["a"], [None]], dtype=object)),
    ],
)
def test_arrays_change_their_type_only_where_it_cannot_show_a_gap(array, wanted):
    back = decode(np.array([[0], [-1]]), read_table(array).schema, like=array)
    assert back.dtype == wanted.dtype
    np.testing.assert_array_equal(back, wanted)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"x": [1, 2]}, "i"),
        ({"x": [True]}, "b"),
        ({"x": [0.5], "y": [1]}, "f"),
        ({"x": ["a"]}, "O"),
    ],
)
def test_without_an_example_an_array_has_the_type_that_holds_all(data, kind):
    assert decode(read_table(data)).dtype.kind == kind


def test_libraries_are_named_by_text():
    table = read_table({"x": ["a", None], "y": [1, 2]})
    assert decode(table, like="dict") == {"x": ["a", None], "y": [1, 2]}
    assert decode(table, like="polars").to_dict(as_series=False) == {"x": ["a", None], "y": [1, 2]}
    assert decode(table, like="pyarrow").to_pydict() == {"x": ["a", None], "y": [1, 2]}
    assert decode(table, like="pandas")["y"].tolist() == [1, 2]
    assert decode(table).tolist() == [["a", 1], [None, 2]]


def test_dicts_come_back_as_dicts_and_paths_and_chunks_as_arrow_tables(tmp_path):
    data = {"x": ["a", None], "y": [1, 2]}
    table = read_table(data)
    assert decode(table, like=data) == data
    for like in (tmp_path / "data.csv", "data.csv", [pd.DataFrame(data)], [data]):
        assert decode(table, like=like).to_pydict() == data
    assert decode(table, like=iter([data])).to_pydict() == data


def test_mixed_columns_become_text_where_a_library_cannot_mix():
    assert decode(read_table([[1], ["a"]]), like="pyarrow").to_pydict() == {"x0": ["1", "a"]}


def test_anything_that_turns_into_an_array_comes_back_as_one():
    class Box:
        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 0]])

    assert decode(read_table(Box()), like=Box()).tolist() == [[1, 0]]


def test_a_bin_comes_back_as_its_median():
    values = np.arange(101.0)[:, None]
    with pytest.warns(BinningWarning):
        table = read_table(values, n_bins=4)
    back = decode(table, like=values)
    assert sorted(set(back[:, 0].tolist())) == list(table.schema.columns[0].centers)
    assert table.schema.columns[0].centers == (12.0, 38.0, 63.0, 88.0)


def test_completing_adds_the_columns_that_were_left_out():
    schema = read_table({"x": ["a", "b"], "y": [1, 2]}).schema
    question = pd.DataFrame({"x": ["b", None]}, index=[7, 8])
    back = complete(question, np.array([[1, 0], [0, 1]]), schema)
    assert back.index.tolist() == [7, 8]
    assert back.to_dict("list") == {"x": ["b", "a"], "y": [1, 2]}


def test_completing_adds_numbers_of_columns_that_were_left_out():
    with pytest.warns(BinningWarning):
        schema = read_table({"y": np.arange(30) / 4, "x": [3] * 30}).schema
    back = complete({"x": [3]}, np.array([[4, 0]]), schema)
    assert back == {"y": [schema["y"].centers[4]], "x": [3]}


def test_completing_keeps_numbers_of_all_chunks():
    values = np.arange(30.0)[:, None] / 8
    values[3] = np.nan
    with pytest.warns(BinningWarning):
        table = read_table(values)
    codes = np.where(table.codes < 0, 0, table.codes)
    back = complete([values[:10], values[10:]], codes, table.schema).to_pydict()["x0"]
    assert back[:3] + back[4:] == np.delete(values, 3).tolist()
    assert back[3] == table.schema.columns[0].centers[0]


def test_codes_need_a_schema_that_fits():
    with pytest.raises(ArgumentTypeError, match="pass the schema too"):
        decode(np.array([[0]]))
    schema = read_table([["a", "b"]]).schema
    with pytest.raises(ArgumentError, match=r"codes of shape \(1, 1\) do not fit a schema of 2"):
        decode(np.array([[0]]), schema)


def test_a_categorical_that_lacks_a_level_is_named():
    schema = read_table({"x": ["a", "b"]}).schema
    frame = pd.DataFrame({"x": pd.Categorical(["a"])})
    with pytest.raises(DataError, match="column 'x' is a categorical without the level 'b'"):
        decode(np.array([[1]]), schema, like=frame)


def test_a_type_that_cannot_hold_a_category_gives_way():
    schema = read_table({"x": ["a", 1]}).schema
    number = encode({"x": [1]}, schema)
    for frame in (pd.DataFrame({"x": [1]}), pl.DataFrame({"x": [1]})):
        assert decode(number, like=frame)["x"].to_list() in ([1], ["1"])
        assert decode(np.array([[1]]), schema, like=frame)["x"].to_list() == ["a"]
    assert decode(np.array([[1]]), schema, like=np.array([[1]])).tolist() == [["a"]]
    assert decode(np.array([[1]]), schema, like=np.array([[0.5]])).tolist() == [["a"]]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (np.array([[1]]), "numpy"),
        (pd.DataFrame({"x": [1]}), "pandas"),
        (pl.DataFrame({"x": [1]}), "polars"),
        (pl.LazyFrame({"x": [1]}), "polars"),
        (pa.table({"x": [1]}), "pyarrow"),
        ({"x": [1]}, "dict"),
        ([[1]], "dict"),
        ("data.csv", "pyarrow"),
        (Path("data.csv"), "pyarrow"),
        (iter([]), "pyarrow"),
        (memoryview(b"x"), "pyarrow"),
    ],
)
def test_every_kind_of_table_has_a_name_that_decoding_knows(data, kind):
    assert kind_of_table(data) == kind
    decode(read_table([[1]]), like=kind)


def run_python(program):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_library_that_is_not_installed_is_named():
    program = (
        "import sys; sys.modules['polars'] = None; "
        "from tacit.core.input.decode import decode; from tacit.core.input.read_table import read_table\n"
        "from tacit.errors import DependencyError\n"
        "try: decode(read_table([[1]]), like='polars')\n"
        "except DependencyError as error: print(error)"
    )
    assert run_python(program) == "polars is needed for this, and is not installed"


def test_reading_arrays_loads_no_frame_library():
    program = (
        "import sys, numpy as np; from tacit.core.input.read_table import read_table; "
        "read_table(np.array([[0, 1]])); "
        "print([m for m in ('narwhals', 'pandas', 'polars', 'pyarrow') if m in sys.modules])"
    )
    assert run_python(program) == "[]"
