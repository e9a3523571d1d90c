"""Tables of numbers and categories: read, coded by a known schema, and written back."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.encoders import bin_encoder
from tacit.core.encoders.encoders import IndicatorEncoder, kernel_encoder
from tacit.core.input.mixed_table import (
    MixedSchema,
    MixedTable,
    NumberColumn,
    binned_table,
    decode_mixed,
    empty_mixed,
)
from tacit.core.input.read_mixed_table import (
    encode_mixed,
    read_mixed,
)
from tacit.core.input.read_table import encode
from tacit.core.input.table import Column, Schema
from tacit.errors import (
    ArgumentError,
    CategoryError,
    ColumnError,
    DataError,
    FileFormatError,
)

N = 40


def example(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "income": rng.lognormal(size=N).tolist(),
        "town": rng.choice(["a", "b", "c"], N).tolist(),
        "age": rng.permutation(np.arange(17, 17 + N)).tolist(),
        "rooms": rng.integers(1, 5, N).tolist(),
        "own": (rng.random(N) < 0.5).tolist(),
        "share": rng.choice([0.25, 0.5], N).tolist(),
    }


def with_gaps(data):
    actual = {name: list(values) for name, values in data.items()}
    for place, values in enumerate(actual.values()):
        values[place] = None
    return actual


KINDS = {
    "dict": lambda data: data,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": lambda data: pl.DataFrame(data).lazy(),
    "pyarrow": pa.table,
    "rows": lambda data: [list(row) for row in zip(*data.values(), strict=True)],
    "records": lambda data: pl.DataFrame(data).to_dicts(),
    "chunks": lambda data: [
        {name: values[part] for name, values in data.items()}
        for part in (slice(0, 7), slice(7, 30), slice(30, N))
    ],
}


def test_numbers_are_numbers_and_the_rest_is_coded():
    table = read_mixed(example())
    schema = table.schema
    assert schema.names == ("income", "town", "age", "rooms", "own", "share")
    assert schema.continuous == (0, 2)
    assert schema.categorical == (1, 3, 4, 5)
    assert schema.stored == (0, 0, 1, 1, 2, 3)
    assert schema.cards == (0, 3, 0, 4, 2, 2)
    assert table.column("age").tolist() == example()["age"]
    assert [schema["town"].categories[code] for code in table.column(1)] == example()["town"]
    assert (schema["age"].low, schema["age"].high) == (17, 16 + N)
    assert table.numbers.flags.f_contiguous
    assert table.codes.flags.f_contiguous


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_is_read_the_same(kind):
    data = with_gaps(example())
    expected, actual = read_mixed(data), read_mixed(KINDS[kind](data))
    assert np.array_equal(actual.numbers, expected.numbers, equal_nan=True)
    assert np.array_equal(actual.codes, expected.codes)
    for one, other in zip(actual.schema.columns, expected.schema.columns, strict=True):
        assert (one.kind, one.categories) == (other.kind, other.categories)
    assert expected.missing.sum() == 6
    assert expected.missing[np.arange(6), np.arange(6)].all()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chunks"])
def test_what_is_filled_comes_back_in_the_caller_s_kind_of_table(kind):
    data = with_gaps(example())
    brought = KINDS[kind](data)
    table = read_mixed(brought)
    filled = table.filled(
        {
            place: np.full(N, 2.5) if place in table.schema.continuous else np.zeros(N, dtype=int)
            for place in range(6)
        }
    )
    assert not filled.missing.any()
    actual = decode_mixed(filled, like=brought)
    if kind.startswith("polars"):
        actual = actual.to_dict(as_series=False)
    elif kind == "pyarrow":
        actual = actual.to_pydict()
    elif kind in {"rows", "records"}:
        rows = [row.values() for row in actual] if kind == "records" else actual
        actual = dict(zip(data, map(list, zip(*rows, strict=True)), strict=True))
    for place, (name, values) in enumerate(data.items()):
        first = 2.5 if name in {"income", "age"} else table.schema.columns[place].categories[0]
        expected = [first if value is None else value for value in values]
        assert list(actual[name]) == expected, name


def test_integers_stay_integers_where_no_number_has_a_fraction():
    frame = pd.DataFrame(example())
    table = read_mixed(frame)
    assert decode_mixed(table, like=frame).dtypes.equals(frame.dtypes)
    half = MixedTable(table.schema, table.numbers + 0.5, table.codes)
    for brought in (frame, pl.DataFrame(example()), pa.table(example())):
        actual = decode_mixed(half, like=brought)["age"]
        assert [float(str(value)) for value in actual] == [age + 0.5 for age in example()["age"]]
    nullable = frame.convert_dtypes()
    assert decode_mixed(half, like=nullable)["age"].tolist() == (frame["age"] + 0.5).tolist()
    floats = np.linspace(0, 1, 30).reshape(-1, 1).astype(np.float32)
    assert decode_mixed(read_mixed(floats), like=floats).dtype == np.float32


@settings(max_examples=25)
@given(
    cuts=st.lists(st.integers(1, N - 1), max_size=4, unique=True),
    weighted=st.booleans(),
    seed=st.integers(0, 50),
)
def test_reading_chunks_is_reading_at_once(cuts, weighted, seed):
    data = with_gaps(example(seed))
    bounds = [0, *sorted(cuts), N]
    chunks = [
        {name: values[start:stop] for name, values in data.items()}
        for start, stop in itertools.pairwise(bounds)
    ]
    weights = np.random.default_rng(seed).integers(0, 3, N) if weighted else None
    at_once = read_mixed(data, sample_weight=weights)
    in_parts = read_mixed(chunks, sample_weight=weights)
    assert in_parts.schema == at_once.schema
    assert np.array_equal(in_parts.numbers, at_once.numbers, equal_nan=True)
    assert np.array_equal(in_parts.codes, at_once.codes)
    unknown = "missing" if weighted else "error"
    encoded = encode_mixed(chunks, at_once.schema, unknown=unknown, sample_weight=weights)
    for name in ("numbers", "codes", "weights"):
        expected = getattr(at_once, name)
        if expected is not None:
            assert np.array_equal(getattr(encoded, name), expected, equal_nan=name != "codes")


def test_what_counts_as_numbers():
    many = np.arange(21)
    assert read_mixed({"x": many}).schema.continuous == (0,)
    assert read_mixed({"x": many / 2}).schema.continuous == (0,)
    assert read_mixed({"x": many[:20] / 2}).schema.continuous == ()
    assert read_mixed({"x": [str(value) for value in many]}).schema.continuous == ()
    assert read_mixed({"x": many[:20]}, continuous=["x"]).schema.continuous == (0,)
    assert read_mixed({"x": many / 2}, categorical=["x"]).schema.columns[0].card == 21
    levels = pd.Series(pd.Categorical(many, ordered=True))
    assert read_mixed(pd.DataFrame({"x": levels})).schema.continuous == ()
    # twenty different numbers in the first rows, and one more far below
    late = np.concatenate([np.tile(np.arange(20.0), 100), [99.0]])
    assert read_mixed({"x": late}).schema.continuous == (0,)
    assert read_mixed([{"x": late[:500]}, {"x": late[500:]}]).schema.continuous == (0,)


def test_few_numbers_in_every_chunk_may_be_many_together():
    chunks = [{"x": np.arange(start, start + 5)} for start in range(0, 30, 5)]
    schema = read_mixed(chunks).schema
    assert schema.columns == (NumberColumn("x", low=0.0, high=29.0, unit="count"),)


def test_numbers_in_some_chunks_and_words_in_others():
    few = [{"x": [1, 2]}, {"x": ["a", "b"]}]
    assert read_mixed(few).schema.columns[0].categories == (1, 2, "a", "b")
    many = [{"x": np.arange(30)}, {"x": ["a"]}]
    with pytest.raises(DataError, match="columns="):
        read_mixed(many)
    assert read_mixed(many, categorical=["x"]).schema.cards == (31,)


def test_minus_one_is_missing_in_arrays_of_integers():
    rng = np.random.default_rng(0)
    matrix = np.column_stack([rng.integers(-1, 90, 300), rng.integers(-1, 3, 300)])
    table = read_mixed(matrix)
    assert table.schema.continuous == (0,)
    assert np.isnan(table.numbers[:, 0]).tolist() == (matrix[:, 0] == -1).tolist()
    assert (table.codes[:, 0] == -1).tolist() == (matrix[:, 1] == -1).tolist()
    assert table.schema["x0"].low == 0
    lower = np.concatenate([matrix, [[-2, 1]]])
    table = read_mixed(lower)
    assert not np.isnan(table.numbers).any()
    assert table.schema["x0"].low == -2
    spins = np.where(rng.random((50, 2)) < 0.5, -1, 1)
    assert read_mixed(spins).schema["x0"].categories == (-1, 1)


def test_rows_of_weight_zero_teach_nothing():
    data = {"x": [*np.arange(30.0), 1e9], "y": ["a", "b"] * 15 + ["c"]}
    weights = np.ones(31)
    weights[-1] = 0
    table = read_mixed(data, sample_weight=weights)
    assert table.schema["x"].high == 29
    assert table.schema["y"].categories == ("a", "b")
    assert table.codes[-1, 0] == -1


def test_a_known_schema_codes_new_rows():
    schema = read_mixed(example()).schema
    table = encode_mixed({"age": ["31.5", None], "town": ["b", None]}, schema, partial=True)
    assert table.column("age").tolist() == pytest.approx([31.5, np.nan], nan_ok=True)
    assert table.column("town").tolist() == [1, -1]
    assert table.missing[:, 0].all()
    with pytest.raises(DataError, match="'old'"):
        encode_mixed({"age": ["old"]}, schema, partial=True)
    assert np.isnan(
        encode_mixed({"age": ["old"]}, schema, partial=True, unknown="missing").column("age")
    )
    with pytest.raises(CategoryError, match="town"):
        encode_mixed({"town": ["z"]}, schema, partial=True)
    with pytest.raises(ColumnError, match="did you mean 'income'"):
        encode_mixed({"incom": [1.0]}, schema, partial=True)
    with pytest.raises(ColumnError, match="lacks"):
        encode_mixed({"age": [1.0]}, schema)
    with pytest.raises(DataError, match="inf"):
        encode_mixed({"age": [np.inf]}, schema, partial=True)
    with pytest.raises(ArgumentError, match="unknown"):
        encode_mixed({"age": [1.0]}, schema, unknown="guess")
    with pytest.raises(ArgumentError, match="extras"):
        encode_mixed({"age": [1.0]}, schema, extras="guess")


def test_what_cannot_be_read_is_refused():
    with pytest.raises(DataError, match="every value of column 'x'"):
        read_mixed({"x": [None, None]}, continuous=["x"])
    with pytest.raises(DataError, match="every value of column 'x'"):
        read_mixed({"x": [None, None]})
    with pytest.raises(DataError, match="something else"):
        read_mixed({"x": ["a", "b"]}, continuous=["x"])
    with pytest.raises(ColumnError, match="no column 'z'"):
        read_mixed({"x": [1, 2]}, continuous=["z"])
    with pytest.raises(ArgumentError, match="both"):
        read_mixed({"x": [1, 2]}, continuous=["x"], categorical=["x"])
    with pytest.raises(DataError, match="minimum of 1"):
        read_mixed({"x": []})
    with pytest.raises(DataError, match="weights"):
        read_mixed({"x": [1, 2]}, sample_weight=[1.0])
    with pytest.raises(ColumnError, match="not in all of them"):
        read_mixed([{"x": [1, 2]}, {"y": [1, 2]}])


class Shrinking:
    """Chunks that are fewer every time."""

    def __init__(self):
        self.left = 3

    def __iter__(self):
        self.left -= 1
        for _ in range(self.left):
            yield {"x": np.arange(30.0)}


def test_chunks_must_be_the_same_every_time():
    with pytest.raises(DataError, match="the second time"):
        read_mixed(Shrinking())


def test_a_schema_that_is_written_is_read_back():
    schema = read_mixed(example()).schema
    assert MixedSchema.from_json(schema.to_json()) == schema
    for broken in ([{"name": "x"}], [{"kind": "continuous", "name": 3, "low": 0, "high": 1}], [7]):
        with pytest.raises(FileFormatError):
            MixedSchema.from_json(broken)


def test_columns_and_rows_can_be_chosen():
    table = read_mixed(example(), sample_weight=np.arange(N))
    some = table.select(["town", "age", "own"])
    assert some.schema.names == ("town", "age", "own")
    assert isinstance(some.schema, MixedSchema)
    for name in some.schema.names:
        assert np.array_equal(some.column(name), table.column(name))
    for rows in (slice(3, 9), np.array([5, 1]), np.arange(N) % 2 == 0):
        part = table.take(rows)
        assert np.array_equal(part.column("age"), table.column("age")[rows])
        assert np.array_equal(part.column("own"), table.column("own")[rows])
        assert np.array_equal(part.weights, table.weights[rows])
    assert empty_mixed(3, table.schema).missing.all()


def test_numbers_cut_into_bins_make_a_table_of_categories():
    table = read_mixed(with_gaps(example()))
    encoders = [
        bin_encoder(table.column(place), 5)
        if place in table.schema.continuous
        else IndicatorEncoder(column.card)
        for place, column in enumerate(table.schema.columns)
    ]
    binned = binned_table(table, encoders)
    assert type(binned.schema) is Schema
    assert binned.schema.cards == tuple(encoder.size for encoder in encoders)
    assert np.array_equal(binned.codes < 0, table.missing)
    again = encode(with_gaps(example()), binned.schema)  # by the edges that the columns hold
    assert np.array_equal(again.codes, binned.codes)
    encoders[0] = kernel_encoder(table.column(0), 1.0)
    with pytest.raises(ArgumentError, match="income"):
        binned_table(table, encoders)


def test_a_table_of_nothing_but_categories_or_numbers():
    words = read_mixed({"x": ["a", "b"]})
    assert words.numbers.shape == (2, 0)
    assert words.n_rows == 2
    assert decode_mixed(words, like={"x": ["a"]}) == {"x": ["a", "b"]}
    matrix = np.random.default_rng(0).normal(size=(50, 3))
    numbers = read_mixed(matrix)
    assert numbers.codes.shape == (50, 0)
    assert np.array_equal(numbers.numbers, matrix)
    assert np.array_equal(decode_mixed(numbers, like=matrix), matrix)
    assert isinstance(numbers.schema.columns[0], Column)
