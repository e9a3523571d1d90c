"""What a value means: categories, numbers, missing values, and what is refused."""

import datetime as dt
import decimal
import enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tacit.core.input.columns import minus_one_is_missing
from tacit.core.input.read_table import encode, read_table
from tacit.core.input.values import dates_from
from tacit.errors import ArgumentTypeError, BinningWarning, DataError, TacitError


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Word(enum.StrEnum):
    A = "a"
    B = "b"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


def column_of(values, **options):
    """The schema's column and the codes of one column given as a dict."""
    table = read_table({"x": values}, **options)
    return table.schema.columns[0], table.codes[:, 0].tolist()


@pytest.mark.parametrize(
    ("values", "categories", "kind", "codes"),
    [
        (["b", "a", None, "b"], ("a", "b"), "text", [1, 0, -1, 1]),
        ([3, 1, None, 10], (1, 3, 10), "integer", [1, 0, -1, 2]),
        ([True, None, False], (False, True), "boolean", [1, -1, 0]),
        ([0.5, float("nan"), -1.5], (-1.5, 0.5), "number", [1, -1, 0]),
        ([1.0, float("nan"), 2.0], (1, 2), "integer", [0, -1, 1]),
        (["b", 2, None, "a", 1], (1, 2, "a", "b"), "mixed", [3, 1, -1, 2, 0]),
        ([1.5, "a", 2, True], (1.5, 1, 2, "a"), "mixed", [0, 3, 2, 1]),
        ([True, 2, False], (0, 1, 2), "integer", [1, 2, 0]),
        ([2**70, 1], (1, 2**70), "integer", [1, 0]),
        ([Colour.RED, Colour.BLUE], ("BLUE", "RED"), "text", [1, 0]),
        ([Level.HIGH, Level.LOW], (1, 5), "integer", [1, 0]),
        ([Word.B, Word.A, 1], (1, "a", "b"), "mixed", [2, 1, 0]),
        ([Level.LOW, "x"], (1, "x"), "mixed", [0, 1]),
        (pa.array(["b", "a"], pa.string_view()), ("a", "b"), "text", [1, 0]),
        ([b"b", "a"], ("a", "b"), "text", [1, 0]),
        ([decimal.Decimal("1.5"), decimal.Decimal(1)], (1, 1.5), "number", [1, 0]),
        ([dt.date(2024, 5, 1), None, dt.date(2023, 1, 2)], ("2023-01-02", "2024-05-01"), "text", [1, -1, 0]),
        ([dt.datetime(2024, 5, 1, 12)], ("2024-05-01 12:00:00",), "text", [0]),  # noqa: DTZ001
        ([dt.time(8, 30), "x"], ("08:30:00", "x"), "text", [0, 1]),
        ([dt.timedelta(days=1), "x"], ("1 day, 0:00:00", "x"), "text", [0, 1]),
        (["a", np.nan, pd.NaT, pd.NA, None], ("a",), "text", [0, -1, -1, -1, -1]),
        ([1, "a", pd.NaT, np.nan, pd.NA], (1, "a"), "mixed", [0, 1, -1, -1, -1]),
        (["a", "a"], ("a",), "text", [0, 0]),
        (np.array([1, 2], dtype=np.uint64) + np.uint64(2**63), (2**63 + 1, 2**63 + 2), "integer", [0, 1]),
        (np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"), ("2024-01-01",), "text", [0, -1]),
        (np.array([True, False]), (False, True), "boolean", [1, 0]),
        (np.array([b"b", b"a"]), ("a", "b"), "text", [1, 0]),
        (np.array(["b", "a"]), ("a", "b"), "text", [1, 0]),
        (pd.Series(["b", None]), ("b",), "text", [0, -1]),
        (pl.Series([3, None]), (3,), "integer", [0, -1]),
        (pa.array([True, None]), (True,), "boolean", [0, -1]),
        (np.array([10**12, 5, 10**12]), (5, 10**12), "integer", [1, 0, 1]),
    ],
)  # fmt: skip
def test_values_become_categories(values, categories, kind, codes):
    column, actual = column_of(values)
    assert column.categories == categories
    assert [type(value) for value in column.categories] == [type(value) for value in categories]
    assert column.kind == kind
    assert actual == codes


def test_the_order_of_the_rows_does_not_change_the_categories():
    values = ["b", 1, 2.5, "a", True, None]
    assert column_of(values)[0] == column_of(values[::-1])[0]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(pd.Categorical(["m", None, "s"], categories=["s", "m", "l"], ordered=True)),
        pl.Series(["m", None, "s"], dtype=pl.Enum(["s", "m", "l"])),
        pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), ["s", "m", "l"], ordered=True),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_ordered_categories_keep_their_order_and_unseen_levels(values):
    column, codes = column_of(values)
    assert column.categories == ("s", "m", "l")
    assert column.kind == "ordered"
    assert codes == [1, -1, 0]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(pd.Categorical(["m", None, "s"], categories=["s", "m", "l"])),
        pl.Series(["m", None, "s"], dtype=pl.Categorical),
        pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), ["s", "m", "l"]),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_unordered_categories_are_sorted_and_only_those_seen(values):
    column, codes = column_of(values)
    assert column.categories == ("m", "s")
    assert column.kind == "text"
    assert codes == [0, -1, 1]


def test_an_ordered_column_in_a_list_of_chunks_appends_what_it_did_not_announce():
    first = pd.DataFrame({"x": pd.Categorical(["m"], categories=["s", "m"], ordered=True)})
    table = read_table([first, pd.DataFrame({"x": ["xl", "s"]})])
    assert table.schema["x"].categories == ("s", "m", "xl")
    assert table.codes[:, 0].tolist() == [1, 2, 0]


def test_intervals_of_pandas_become_their_text_in_order():
    cut = pd.cut([1.0, 3.0, np.nan], [0, 2, 4])
    column, codes = column_of(pd.Series(cut))
    assert column.categories == ("(0, 2]", "(2, 4]")
    assert codes == [0, 1, -1]


def test_periods_of_pandas_become_their_text():
    column, _ = column_of(pd.Series(pd.period_range("2020-01", periods=2, freq="M")))
    assert column.categories == ("2020-01", "2020-02")


def test_null_in_the_dictionary_of_a_categorical_is_missing():
    column, codes = column_of(pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), ["a", None]))
    assert column.categories == ("a",)
    assert codes == [0, -1, -1]


def test_levels_that_read_the_same_are_one_category():
    levels = pa.array([1.0, 1.5, 1.0])
    column, codes = column_of(pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), levels))
    assert column.categories == (1, 1.5)
    assert codes == [0, 1, 0]


def test_nullable_types_of_pandas_are_read():
    frame = pd.DataFrame(
        {
            "i": pd.array([7, None, -1], dtype="Int64"),
            "b": pd.array([True, None, False], dtype="boolean"),
            "s": pd.array(["x", None, "y"], dtype="string"),
            "f": pd.array([0.5, None, 1.5], dtype="Float64"),
        }
    )
    assert read_table(frame).codes.tolist() == [[1, 1, 0, 0], [-1, -1, -1, -1], [0, 0, 1, 1]]


def test_sparse_columns_of_pandas_are_read():
    column, codes = column_of(pd.Series(pd.arrays.SparseArray([0, 0, 4])))
    assert column.categories == (0, 4)
    assert codes == [0, 0, 1]


@pytest.mark.parametrize("n_distinct", [20, 21])
def test_floats_are_cut_from_the_twenty_first_distinct_value_on(n_distinct):
    values = np.arange(n_distinct) + 0.25
    if n_distinct == 20:
        assert column_of(values)[0].kind == "number"
        return
    with pytest.warns(BinningWarning, match="column 'x' holds numbers .* KernelTree"):
        column, codes = column_of(values)
    assert column.kind == "binned"
    assert column.card == 5
    assert sorted(set(codes)) == [0, 1, 2, 3, 4]


def test_one_warning_names_all_columns_that_were_cut():
    values = np.random.default_rng(0).normal(size=(30, 2))
    with pytest.warns(BinningWarning, match="columns 'x0', 'x1' hold") as caught:
        read_table(values)
    assert len(caught) == 1


def test_many_integers_stay_categories_where_they_come_again():
    assert column_of(np.repeat(np.arange(100), 2))[0].card == 100


def test_more_categories_than_int16_holds_are_coded_in_int32():
    many = [*range(40_000)[::-1], *range(40_000)]
    table = read_table({"few": np.zeros(80_000, dtype=int), "many": many})
    assert table.codes.dtype == np.int32
    assert table.codes.flags.f_contiguous
    assert table.codes[:, 1].tolist() == many
    assert not table.codes[:, 0].any()


class TestMinusOne:
    def test_is_missing_in_an_array_of_integers_with_nothing_smaller(self):
        table = read_table(np.array([[0, 7], [-1, 300], [2, -1]]))
        assert [column.categories for column in table.schema.columns] == [(0, 2), (7, 300)]
        assert table.codes.tolist() == [[0, 0], [-1, 1], [1, -1]]

    def test_is_an_integer_where_something_is_smaller(self):
        table = read_table(np.array([[0, -2], [-1, 0]]))
        assert table.schema.cards == (2, 2)

    def test_is_a_spin_where_there_is_only_minus_one_and_one(self):
        table = read_table(np.array([[1, -1], [-1, 1]], dtype=np.int8))
        assert [column.categories for column in table.schema.columns] == [(-1, 1)] * 2
        assert table.codes.tolist() == [[1, 0], [0, 1]]

    def test_is_an_integer_in_frames_and_lists(self):
        for data in ({"x": [-1, 0]}, [[-1], [0]], pd.DataFrame({"x": [-1, 0]})):
            assert read_table(data).schema.columns[0].categories == (-1, 0)

    def test_is_missing_in_queries_unless_it_is_a_category(self):
        known = read_table(np.array([[0, 1], [1, 0]])).schema
        assert encode(np.array([[-1, 1]]), known).codes.tolist() == [[-1, 1]]
        spins = read_table(np.array([[1, -1], [-1, 1]])).schema
        assert encode(np.array([[-1, 1]]), spins).codes.tolist() == [[0, 1]]
        large = read_table(np.array([[1000], [0]])).schema
        assert encode(np.array([[-1], [1000]]), large).codes.tolist() == [[-1], [1]]

    def test_is_decided_over_all_chunks_together(self):
        chunks = [np.array([[-1], [0]]), np.array([[-2], [0]])]
        assert read_table(chunks).schema.columns[0].categories == (-2, -1, 0)
        chunks = [np.array([[-1], [0]]), np.array([[2], [0]])]
        assert read_table(chunks).schema.columns[0].categories == (0, 2)

    def test_rule_on_sets_of_values(self):
        assert minus_one_is_missing([-1, 0])
        assert minus_one_is_missing([-1])
        assert not minus_one_is_missing([0, 1])
        assert not minus_one_is_missing([-1, 1])
        assert not minus_one_is_missing([-2, -1, 0])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_integer_type_and_layout_gives_the_same_codes(dtype, order):
    values = np.random.default_rng(3).integers(0, 2, size=(600, 3))
    array = np.asarray(values, dtype=dtype, order=order)
    array.flags.writeable = False
    for given in (array, array[::-1][::-1]):
        table = read_table(given)
        assert np.array_equal(table.codes, values)
        assert table.codes.dtype == np.int16
        assert table.codes.flags.f_contiguous
        assert np.array_equal(encode(given, table.schema).codes, values)
    expected = (False, True) if dtype == "?" else (0, 1)
    assert table.schema.columns[0].categories == expected
    assert type(table.schema.columns[0].categories[0]) is type(expected[0])


def test_integers_beyond_the_small_ones_are_coded_too():
    values = np.random.default_rng(4).integers(-500, 500, size=(300, 2))
    table = read_table(values)
    for place, column in enumerate(table.schema.columns):
        actual, codes = np.unique(values[:, place], return_inverse=True)
        assert column.categories == tuple(actual.tolist())
        assert np.array_equal(table.codes[:, place], codes)


def test_integers_beyond_int64_do_not_turn_negative():
    table = read_table(np.array([[2**64 - 1], [0]], dtype=np.uint64))
    assert table.schema.columns[0].categories == (0, 2**64 - 1)
    assert table.codes.tolist() == [[1], [0]]


def test_masked_cells_of_an_array_are_missing():
    masked = np.ma.array([[1, 2], [3, 2]], mask=[[False, False], [True, False]])
    assert read_table(masked).codes.tolist() == [[0, 0], [-1, 0]]


def test_a_row_may_be_missing_altogether():
    assert read_table([[None, None], ["a", 1]]).codes.tolist() == [[-1, -1], [0, 0]]


@pytest.mark.parametrize(
    "data",
    [
        [["a", None], ["b", None]],
        np.array([[0.5, np.nan], [1.5, np.nan]]),
        np.array([[0, -1], [1, -1]]),
        np.array([[1000, -1], [1, -1]]),
        pd.DataFrame({"x0": ["a"], "x1": [None]}),
        pl.DataFrame({"x0": ["a"], "x1": [None]}),
        [pd.DataFrame({"x0": ["a"], "x1": [None]})],
        pd.DataFrame(
            {"x0": ["a"], "x1": pd.Categorical([None], categories=["u", "v"], ordered=True)}
        ),
    ],
)
def test_a_column_may_not_be_missing_altogether(data):
    with pytest.raises(DataError, match="every value of column 'x1' is missing"):
        read_table(data)


@pytest.mark.parametrize(
    "data",
    [np.array([[1.0], [np.inf]]), [["a"], [-np.inf]], pd.DataFrame({"x0": [np.inf, 1]})],
)
def test_infinities_are_refused_with_the_name_of_the_column(data):
    with pytest.raises(DataError, match="column 'x0' holds inf"):
        read_table(data)


@pytest.mark.parametrize("data", [np.array([[1 + 2j]]), [["a"], [1j]], {"x": np.array([1j])}])
def test_complex_numbers_are_refused(data):
    with pytest.raises(ValueError, match="Complex data not supported") as caught:
        read_table(data)
    assert isinstance(caught.value, TacitError)


@pytest.mark.parametrize(
    "values",
    [
        [{"foo": "bar"}, 1],
        [{"foo": "bar"}],
        [[1, 2], [3]],
        [object()],
        pd.Series([{"a": 1}]),
        pl.Series([[1, 2]]),
        np.array([(1, 2)], dtype=[("a", int), ("b", int)]),
    ],
)
def test_things_that_are_no_categories_are_refused(values):
    with pytest.raises(ArgumentTypeError, match="argument must be a string or a number"):
        read_table({"x": values})


@pytest.mark.parametrize("codes", [[0, 2], [0, 2**31 - 1], [-2, 0]])
def test_a_dictionary_column_with_codes_beyond_its_levels_is_refused(codes):
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), ["a", "b"], safe=False)
    with pytest.raises(DataError, match="is damaged"):
        read_table(pa.table({"x": column, "y": ["c", "d"]}))


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_numbers_beyond_all_dates_are_the_first_or_the_last(unit):
    days = np.array([-1e18, 0.0, np.nan, 1e18])
    first, zero, missing, last = dates_from(days, pa.timestamp(unit)).to_pylist()
    assert (first < zero < last, missing, zero.year) == (True, None, 1970)
    assert dates_from(days, pa.date32()).to_pylist()[3] == dt.date(9999, 12, 31)
    assert dates_from(days, pa.duration("us")).to_pylist()[3] == dt.timedelta(days=10**8)
