"""Laws of reading: the kind of table, the chunks and the order of columns do not matter."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.input.decode import complete, decode
from tacit.core.input.read_table import encode, read_table
from tacit.errors import BinningWarning

SOME = settings(max_examples=25)  # of each kind of table

# Words that could be taken for numbers, or for nothing.
TEXTS = st.sampled_from(["a", "b", "B", "", "1", "None", "nan", "é", "x y", "'"])
CELLS = {
    "text": TEXTS,
    "integer": st.integers(-3, 3),
    "boolean": st.booleans(),
    "number": st.sampled_from([0.5, -1.25, 3.0, 1e99]),
}


@st.composite
def columns(draw, kinds=tuple(CELLS), max_rows=8):
    """A dict of equally long columns of one kind each, with gaps but no column of nothing but gaps."""
    n_rows = draw(st.integers(1, max_rows))
    actual = {}
    for place in range(draw(st.integers(1, 4))):
        cells = CELLS[draw(st.sampled_from(kinds))]
        values = draw(st.lists(cells | st.none(), min_size=n_rows, max_size=n_rows))
        if all(value is None for value in values):
            values[draw(st.integers(0, n_rows - 1))] = draw(cells)
        actual[f"c{place}"] = values
    return actual


def rows_of(data):
    return [list(row) for row in zip(*data.values(), strict=True)]


def object_array(data):
    array = np.empty((len(next(iter(data.values()))), len(data)), dtype=object)
    for place, values in enumerate(data.values()):
        array[:, place] = values
    return array


KINDS = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda data: pd.DataFrame(data, dtype=object),
    "polars": pl.DataFrame,
    "polars lazy": lambda data: pl.DataFrame(data).lazy(),
    "pyarrow": pa.table,
    "record batch": pa.RecordBatch.from_pydict,
    "numpy": object_array,
    "rows": rows_of,
    "tuples": lambda data: tuple(tuple(row) for row in rows_of(data)),
    "records": lambda data: [dict(zip(data, row, strict=True)) for row in rows_of(data)],
}


@pytest.mark.parametrize("kind", KINDS)
@SOME
@given(data=columns())
def test_every_kind_of_table_gives_the_same_codes_and_categories(kind, data):
    expected, actual = read_table(data), read_table(KINDS[kind](data))
    assert np.array_equal(actual.codes, expected.codes)
    for one, other in zip(actual.schema.columns, expected.schema.columns, strict=True):
        assert one.categories == other.categories
        assert one.kind == other.kind
    assert actual.codes.flags.f_contiguous


@given(data=columns())
def test_codes_lead_back_to_the_values(data):
    table = read_table(data)
    for place, (column, values) in enumerate(zip(table.schema.columns, data.values(), strict=True)):
        assert list(column.categories) == sorted({value for value in values if value is not None})
        for code, value in zip(table.codes[:, place], values, strict=True):
            assert value is None if code == -1 else column.categories[code] == value


def same(one, other):
    """Whether two cells are the same, all kinds of missing being one."""
    gaps = [
        x is None or x is pd.NA or (isinstance(x, float) and math.isnan(x)) for x in (one, other)
    ]
    return all(gaps) or (
        not any(gaps) and one == other and isinstance(one, str) == isinstance(other, str)
    )


def python_columns(table):
    """Any kind of table as a dict of lists."""
    if isinstance(table, pa.RecordBatch | pa.Table):
        return table.to_pydict()
    if isinstance(table, pl.DataFrame):
        return table.to_dict(as_series=False)
    if isinstance(table, pd.DataFrame):
        return {str(name): table[name].tolist() for name in table.columns}
    if isinstance(table, np.ndarray):
        return {f"c{place}": table[:, place].tolist() for place in range(table.shape[1])}
    if isinstance(table, dict):
        return table
    if isinstance(table[0], dict):
        return {name: [row[name] for row in table] for name in table[0]}
    return {f"c{place}": list(values) for place, values in enumerate(zip(*table, strict=True))}


RETURNED = {
    **{kind: kind for kind in KINDS},
    "polars lazy": "polars",
    "record batch": "pyarrow",
    "tuples": "rows",
}


@pytest.mark.parametrize("kind", KINDS)
@SOME
@given(data=columns())
def test_decoding_gives_back_what_was_encoded_in_the_same_kind_of_table(kind, data):
    given_table = KINDS[kind](data)
    back = decode(read_table(given_table), like=given_table)
    assert type(back) is type(KINDS[RETURNED[kind]](data))
    actual = python_columns(back)
    assert list(actual) == list(data)
    for name, values in data.items():
        assert len(actual[name]) == len(values)
        assert all(same(*pair) for pair in zip(actual[name], values, strict=True))


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy", "rows", "records"])
@SOME
@given(data=columns(max_rows=10), cuts=st.lists(st.integers(0, 10), max_size=3))
def test_reading_in_chunks_is_reading_at_once(kind, data, cuts):
    n_rows = len(next(iter(data.values())))
    bounds = [0, *sorted(min(cut, n_rows) for cut in cuts), n_rows]
    pieces = [
        {name: values[start:stop] for name, values in data.items()}
        for start, stop in itertools.pairwise(bounds)
        if stop > start
    ]
    chunks = [KINDS[kind](piece) for piece in pieces]
    together = read_table(KINDS[kind](data))
    apart = read_table(chunks)
    assert apart.schema == together.schema
    assert np.array_equal(apart.codes, together.codes)
    assert apart.codes.flags.f_contiguous
    again = encode(chunks, together.schema)
    assert np.array_equal(again.codes, together.codes)
    assert again.codes.flags.f_contiguous


@pytest.mark.filterwarnings("ignore::tacit.errors.BinningWarning")
@given(
    seed=st.integers(0, 2**32),
    n_values=st.sampled_from([10, 20, 21, 40]),
    cut=st.integers(0, 80),
)
def test_numbers_in_chunks_are_cut_as_they_are_at_once(seed, n_values, cut):
    rng = np.random.default_rng(seed)
    array = rng.choice(np.append(rng.normal(size=n_values), np.nan), size=(80, 1))
    chunks = [part for part in (array[:cut], array[cut:]) if len(part)]
    together, apart = read_table(array), read_table(chunks)
    assert together.schema == apart.schema
    assert np.array_equal(together.codes, apart.codes)


@pytest.mark.filterwarnings("ignore::tacit.errors.BinningWarning")
@given(
    seed=st.integers(0, 2**32),
    n_values=st.sampled_from([3, 20, 60]),
    kind=st.sampled_from(["float", "int", "large", "text", "chunks"]),
)
def test_a_weight_of_two_is_a_row_that_stands_there_twice(seed, n_values, kind):
    rng = np.random.default_rng(seed)
    array = rng.integers(0, n_values, size=(60, 1))
    weights = rng.integers(0, 4, size=60)
    weights[0] += 1
    if kind in {"float", "chunks"}:
        array = array * 0.5
    elif kind == "text":
        array = array.astype(str)
    elif kind == "large":
        array = array * 1000
    repeated = np.repeat(array, weights, axis=0)
    given_data = [array[:25], array[25:]] if kind == "chunks" else array
    weighted, plain = read_table(given_data, sample_weight=weights), read_table(repeated)
    assert weighted.schema == plain.schema
    assert np.array_equal(np.repeat(weighted.codes, weights, axis=0), plain.codes)


@given(data=columns(), order=st.randoms(use_true_random=False))
def test_named_columns_may_come_in_any_order(data, order):
    schema = read_table(data).schema
    names = list(data)
    order.shuffle(names)
    shuffled = {name: data[name] for name in names}
    for kind in ("pandas", "polars", "records"):
        actual = encode(KINDS[kind](shuffled), schema)
        assert np.array_equal(actual.codes, encode(data, schema).codes)


@given(data=columns(), left_out=st.integers(0, 3))
def test_a_column_left_out_of_a_question_is_missing(data, left_out):
    schema = read_table(data).schema
    names = list(data)
    gone = names[left_out % len(names)]
    rest = {name: values for name, values in data.items() if name != gone}
    if not rest:
        return
    actual = encode(pl.DataFrame(rest), schema, partial=True)
    expected = read_table(data).codes.copy()
    expected[:, schema.index(gone)] = -1
    assert np.array_equal(actual.codes, expected)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy", "rows", "records"])
def test_completing_keeps_observed_numbers_and_fills_the_gaps(kind):
    numbers = [*(place / 7 for place in range(30)), None]
    data = {"c0": numbers, "c1": ["a", None, *"b" * 29]}
    given_table = KINDS[kind](data)
    with pytest.warns(BinningWarning):
        table = read_table(given_table)
    codes = np.where(table.codes < 0, 1, table.codes)
    actual = python_columns(complete(given_table, codes, table.schema))
    assert actual["c0"][:30] == numbers[:30]
    assert actual["c0"][30] == table.schema.columns[0].centers[1]
    assert actual["c1"] == ["a", "b", *"b" * 29]


@SOME
@given(
    st.lists(st.integers(-1, 3), min_size=1, max_size=8).filter(lambda codes: max(codes) >= 0),
    st.permutations(["a", "b", "C", ""]) | st.permutations([0, 1, -1, 7]),
    st.sampled_from([pa.int8(), pa.uint8(), pa.int64()]),
)
def test_ordered_levels_are_read_alike_at_once_in_chunks_and_with_weights(codes, levels, kind):
    indices = pa.array([code if code >= 0 else None for code in codes], kind)
    column = pa.DictionaryArray.from_arrays(indices, pa.array(levels), ordered=True)
    table = pa.table({"x": column})
    at_once = read_table(table)
    assert at_once.schema["x"].categories == tuple(levels)
    assert at_once.codes[:, 0].tolist() == codes
    for other in (read_table([table]), read_table(table, sample_weight=np.ones(len(codes)))):
        assert other.schema == at_once.schema
        assert other.codes.tolist() == at_once.codes.tolist()
