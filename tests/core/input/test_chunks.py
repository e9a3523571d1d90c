"""What is a table, what is not, and what is said about it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from tacit.core.input.read_table import encode, read_table
from tacit.core.input.sample_weight import checked_weights
from tacit.errors import ArgumentTypeError, ColumnError, DataError, TacitError


class Shards:
    """Chunks that can be run through again and again."""

    def __init__(self, *chunks):
        self.chunks = chunks

    def __iter__(self):
        return iter(self.chunks)


class OnlyAnArray:
    """Something that numpy can turn into an array, and nothing else."""

    def __init__(self, data):
        self.data = np.asarray(data)

    def __array__(self, dtype=None, copy=None):
        return self.data


@pytest.mark.parametrize(
    "data",
    [np.zeros(3), np.zeros(3, dtype=int), np.array(["a", "b"]), [1, 2, 3], ["a", "b"], (1.5, 2.5)],
)
def test_one_dimension_is_refused_with_advice(data):
    with pytest.raises(ValueError, match=r"Expected 2D array.*Reshape your data") as caught:
        read_table(data)
    assert isinstance(caught.value, DataError)


def test_one_dimension_is_refused_in_questions_too():
    with pytest.raises(ValueError, match="Reshape your data"):
        encode(np.array([0, 1]), read_table(np.array([[0, 1]])).schema)


@pytest.mark.parametrize("series", [pd.Series([1, 2]), pl.Series([1, 2])])
def test_a_series_is_refused_with_advice(series):
    with pytest.raises(DataError, match=r"got a series instead\. pass series\.to_frame\(\)"):
        read_table(series)


def test_three_dimensions_and_none_are_refused():
    with pytest.raises(DataError, match="a table has two dimensions, but this is a 3D array"):
        read_table(np.zeros((2, 2, 2)))
    with pytest.raises(DataError, match="got a scalar instead"):
        read_table(np.array(3))


@pytest.mark.parametrize("kind", ["csr", "coo", "dok", "lil", "dia"])
def test_sparse_data_is_refused(kind):
    data = sparse.eye_array(3, format=kind)
    with pytest.raises(TypeError, match="Sparse data is not supported") as caught:
        read_table(data)
    assert isinstance(caught.value, ArgumentTypeError)


@pytest.mark.parametrize(
    "data",
    [
        np.empty((12, 0)),
        np.empty((12, 0), dtype=int),
        pd.DataFrame(index=range(12)),
    ],
)
def test_no_columns_are_refused_in_the_words_of_scikit_learn(data):
    match = r"0 feature\(s\) \(shape=\(\d*, 0\)\) while a minimum of \d* is required."
    with pytest.raises(DataError, match=match):
        read_table(data)


@pytest.mark.parametrize(
    "data",
    [
        np.empty((0, 3)),
        np.empty((0, 3), dtype=int),
        pd.DataFrame({"x": []}),
        pl.DataFrame({"x": []}),
        [],
        {"x": []},
        [pd.DataFrame({"x": []})],
        Shards(),
    ],
)
def test_no_rows_are_refused_in_the_words_of_scikit_learn(data):
    match = r"0 sample\(s\) \(shape=\(0, \d\)\) while a minimum of 1 is required"
    with pytest.raises(DataError, match=match):
        read_table(data)
    schema = read_table({"x": ["a"]}).schema
    with pytest.raises(DataError, match=match):
        encode(data, schema)


@pytest.mark.parametrize("data", [[[]], {}, pl.DataFrame()])
def test_nothing_at_all_is_refused(data):
    with pytest.raises(DataError, match="while a minimum of 1 is required"):
        read_table(data)


def test_a_single_row_and_a_single_column_are_fine():
    assert read_table(np.array([[3, 1]])).schema.cards == (1, 1)
    assert read_table([["a"], ["b"]]).schema.cards == (2,)


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(DataError, match=r"every row must have 2 values .* row 1 has 1"):
        read_table([[1, 2], [1]])
    with pytest.raises(DataError, match="row 2 has no"):
        read_table([[1, 2], [1, 2], 5])


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DataError, match="equally long, but their lengths are 'a': 2, 'b': 1"):
        read_table({"a": [1, 2], "b": [1]})


def test_a_column_with_two_dimensions_is_refused():
    with pytest.raises(DataError, match="column 'a' must have one dimension, not 2"):
        read_table({"a": np.zeros((2, 2))})


def test_records_may_lack_keys_but_must_all_be_records():
    actual = read_table([{"a": 1}, {"b": "x", "a": 2}])
    assert actual.schema.names == ("a", "b")
    assert actual.codes.tolist() == [[0, -1], [1, 0]]
    with pytest.raises(DataError, match="row 1 is not"):
        read_table([{"a": 1}, [2]])


def test_a_dict_of_single_values_is_one_row():
    assert encode({"x": "b"}, read_table({"x": ["a", "b"]}).schema).codes.tolist() == [[1]]


def test_names_that_are_not_text_become_text():
    assert read_table(pd.DataFrame([[1, 2]])).schema.names == ("0", "1")
    assert read_table({1: ["a"], "b": ["c"]}).schema.names == ("1", "b")


def test_columns_of_arrays_and_rows_are_called_x0_x1():
    assert read_table([["a", "b"]]).schema.names == ("x0", "x1")


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
        {1: [1], "1": [2]},
    ],
)
def test_two_columns_of_the_same_name_are_refused(data):
    with pytest.raises(DataError, match="column names must differ"):
        read_table(data)


@pytest.mark.parametrize("data", [3, None, object()])
def test_what_is_no_table_is_refused_with_a_list_of_what_is(data):
    with pytest.raises(
        TypeError, match=r"a table was expected, not .* pass a pandas, polars"
    ) as caught:
        read_table(data)
    assert isinstance(caught.value, TacitError)


def test_anything_that_turns_into_an_array_is_read():
    assert read_table(OnlyAnArray([[1, 2], [1, 3]])).codes.tolist() == [[0, 0], [0, 1]]


def test_inputs_are_never_changed():
    array = np.array([[0, 5], [-1, 3]])
    frame = pd.DataFrame({"x": [1.0, np.nan], "y": ["a", "b"]})
    copies = array.copy(), frame.copy()
    read_table(array)
    read_table(frame)
    assert np.array_equal(array, copies[0])
    pd.testing.assert_frame_equal(frame, copies[1])


class TestChunks:
    def test_can_be_any_iterable_that_can_be_run_through_again(self):
        chunks = Shards(pd.DataFrame({"x": ["a"]}), pl.DataFrame({"x": ["b", None]}))
        assert read_table(chunks).codes.tolist() == [[0], [1], [-1]]

    def test_may_be_lists_of_rows_or_dicts_of_columns(self):
        assert read_table([[["a"]], [["b"], ["a"]]]).codes.tolist() == [[0], [1], [0]]
        assert read_table([{"x": ["a"]}, {"x": ["b", "a"]}]).codes.tolist() == [[0], [1], [0]]
        assert read_table([[{"x": "a"}], [{"x": "b"}]]).codes.tolist() == [[0], [1]]

    def test_that_can_be_run_through_only_once_are_refused_with_advice(self):
        for once in (iter([[["a"]]]), (chunk for chunk in [[["a"]]]), map(list, [["a"]])):
            with pytest.raises(DataError, match=r"only once.*such as a list of chunks"):
                read_table(once)

    def test_without_rows_are_passed_over(self):
        empty = pd.DataFrame({"x": pd.Series([], dtype=object)})
        chunks = [empty, pd.DataFrame({"x": ["a"]}), empty]
        assert read_table(chunks).codes.tolist() == [[0]]

    def test_are_matched_by_name(self):
        chunks = [pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [3], "a": [4]})]
        table = read_table(chunks)
        assert [column.categories for column in table.schema.columns] == [(1, 4), (2, 3)]

    def test_must_all_have_the_same_columns(self):
        with pytest.raises(
            ColumnError, match="all chunks must have the same columns, but 'b', 'c'"
        ):
            read_table([pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"a": [3], "c": [4]})])
        with pytest.raises(ColumnError, match="but 'x1' is not in all of them"):
            read_table([np.array([[1, 2]]), np.array([[1]])])

    def test_must_be_tables_themselves(self):
        with pytest.raises(DataError, match="a chunk must be a table itself"):
            read_table(Shards(Shards(np.array([[1]]))))

    def test_must_be_the_same_the_second_time(self):
        class Growing:
            def __init__(self):
                self.n_rows = 0

            def __iter__(self):
                self.n_rows += 1
                return iter([np.zeros((self.n_rows, 1), dtype=int)])

        with pytest.raises(DataError, match="1 rows when they were run through first, and 2 the"):
            read_table(Growing())

    def test_may_be_integers_here_and_floats_there(self):
        chunks = [pd.DataFrame({"x": [1, 2]}), pd.DataFrame({"x": [3, np.nan]})]
        table = read_table(chunks)
        assert table.schema["x"].categories == (1, 2, 3)
        assert table.codes[:, 0].tolist() == [0, 1, 2, -1]


class TestWeights:
    @pytest.mark.parametrize(
        ("weights", "match"),
        [
            ([1, -1, 1], r"must not be negative, but that of row 1 is -1\.0"),
            ([1, 1, np.nan], "must be finite, but that of row 2 is nan"),
            ([1, np.inf, 1], "must be finite, but that of row 1 is inf"),
            ([1, 1], r"must have shape \(3,\), one for each row, not \(2,\)"),
            ([[1], [1], [1]], "must be one number for each row, not 2D"),
            (["a", "b", "c"], "must be numbers"),
            ([0, 0, 0], "all sample weights are zero"),
        ],
    )
    def test_that_make_no_sense_are_refused(self, weights, match):
        rows = np.array([[0], [1], [0]])
        for data in (rows, rows.astype(str), [rows[:2], rows[2:]]):
            with pytest.raises(DataError, match=match):
                read_table(data, sample_weight=weights)

    def test_may_be_anything_like_a_list_of_numbers(self):
        for weights in ([1, 2], (1, 2), pd.Series([1, 2]), OnlyAnArray([1, 2])):
            actual = checked_weights(weights, 2)
            assert actual.dtype == np.float64
            assert actual.tolist() == [1, 2]
        assert checked_weights(None, 2) is None

    def test_are_copied(self):
        weights = np.ones(2)
        assert checked_weights(weights, 2) is not weights

    def test_of_zero_make_a_row_teach_nothing(self):
        table = read_table([["a"], ["b"], ["c"]], sample_weight=[1, 0, 1])
        assert table.schema.columns[0].categories == ("a", "c")
        assert table.codes[:, 0].tolist() == [0, -1, 1]
        with pytest.raises(DataError, match="every value of column 'x0' is missing"):
            read_table([["a"], [None]], sample_weight=[0, 1])
