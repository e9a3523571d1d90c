"""Sequences of symbols from any supported input."""

import contextlib
import datetime as dt
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    CategoryError,
    ColumnError,
    DataError,
    FileFormatError,
    MissingDataError,
    SymbolWarning,
    TacitError,
)
from tacit.sequences.data import symbols as symbols_module
from tacit.sequences.data.read_sequences import read_sequences
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.data.symbols import merged_symbols


def lists_of(sequences):
    """The sequences as lists of symbols, None where one is missing."""
    table = (*sequences.symbols, None)
    return [[table[code] for code in codes] for codes in sequences.split(sequences.codes)]


WORDS = [["b", "a"], [], ["c"], [None, "b"]]
NUMBERS = [[3, 7], [7], [3, 3, 3]]
SYMBOLS = st.one_of(st.integers(-3, 3), st.sampled_from("abc"), st.tuples(st.integers(0, 2)))
LISTS = st.lists(
    st.lists(st.one_of(st.none(), SYMBOLS), max_size=4), min_size=1, max_size=6
).filter(lambda lists: any(row is not None for one in lists for row in one))


@given(LISTS)
def test_lists_of_any_symbols_come_back_as_they_were(lists):
    sequences = read_sequences(lists)
    assert lists_of(sequences) == lists
    assert sequences.codes.dtype == np.int32
    assert sequences.symbols == merged_symbols(symbol for row in lists for symbol in row)
    assert not sequences.single


@given(LISTS, st.data())
def test_symbols_learnt_in_parts_and_merged_are_those_learnt_at_once(lists, data):
    cut = data.draw(st.integers(0, len(lists)))
    parts = [
        part for part in (lists[:cut], lists[cut:]) if any(any(map(_is_observed, e)) for e in part)
    ]
    symbols = merged_symbols(*(read_sequences(part).symbols for part in parts))
    together = read_sequences(lists)
    assert symbols == together.symbols
    codes = [read_sequences(part, symbols=symbols).codes for part in (lists[:cut], lists[cut:])]
    assert np.array_equal(np.concatenate(codes), together.codes)


def _is_observed(symbol):
    return symbol is not None


@given(LISTS)
def test_reading_what_was_read_changes_nothing(lists):
    sequences = read_sequences(lists)
    assert read_sequences(sequences) is sequences
    assert read_sequences(sequences, symbols=sequences.symbols) is sequences
    turned = read_sequences(sequences, symbols=sequences.symbols[::-1])
    assert lists_of(turned) == lists
    assert np.array_equal(turned.lengths, sequences.lengths)


FORMS = {
    "lists": NUMBERS,
    "tuples": [tuple(row) for row in NUMBERS],
    "arrays": [np.array(row) for row in NUMBERS],
    "short integers": [np.array(row, dtype=np.int8) for row in NUMBERS],
    "unsigned": [np.array(row, dtype=np.uint64) for row in NUMBERS],
    "floats": [np.array(row, dtype=np.float32) for row in NUMBERS],
    "columns": [np.array(row)[:, None] for row in NUMBERS],
    "some of each": [NUMBERS[0], np.array(NUMBERS[1]), tuple(NUMBERS[2])],
    "ranges and series": [[3, 7], range(7, 8), pd.Series([3, 3, 3])],
    "arrow arrays": [pa.array(row) for row in NUMBERS],
    "array of objects": np.array([*map(np.array, NUMBERS)], dtype=object),
    "a tuple": tuple(NUMBERS),
    "with lengths": (np.array([3, 7, 7, 3, 3, 3]), [2, 1, 3]),
    "column with lengths": (np.array([[3], [7], [7], [3], [3], [3]]), np.array([2, 1, 3])),
    "list with lengths": ([3, 7, 7, 3, 3, 3], (2, 1, 3)),
    "list of rows with lengths": ([[3], [7], [7], [3], [3], [3]], [2, 1, 3]),
    "arrow lists": pa.array(NUMBERS),
    "large arrow lists": pa.array(NUMBERS, pa.large_list(pa.int16())),
    "chunked": pa.chunked_array([pa.array(NUMBERS[:1]), pa.array(NUMBERS[1:])]),
    "slice of arrow lists": pa.array([[9, 9], *NUMBERS, [8]])[1:4],
    "polars": pl.Series(NUMBERS),
    "pandas": pd.Series(NUMBERS),
    "pandas on arrow": pd.Series(NUMBERS, dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    "frame of lists": pl.DataFrame({"events": NUMBERS}),
    "table of lists": pa.table({"sequence": NUMBERS}),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_sequences_are_read_from_every_form(form):
    sequences = read_sequences(FORMS[form])
    assert lists_of(sequences) == NUMBERS
    assert sequences.symbols == (3, 7)
    assert all(type(symbol) is int for symbol in sequences.symbols)
    assert not sequences.single


def test_columns_of_lists_may_hold_words_and_dates():
    for words in (
        pa.array(WORDS),
        pa.array(WORDS, pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    ):
        assert lists_of(read_sequences(words)) == WORDS
    days = [[dt.date(2020, 1, 2), dt.date(2019, 1, 2)], [None]]
    sequences = read_sequences(pa.array(days))
    assert lists_of(sequences) == days
    assert sequences.symbols == (days[0][1], days[0][0])


class Wrapped:
    """An array of some other library."""

    def __array__(self, dtype=None, copy=None):
        return np.array([[3, 7], [7, 7]])


def test_arrays_may_be_of_other_libraries():
    assert lists_of(read_sequences(Wrapped())) == [[3, 7], [7, 7]]


def test_a_tuple_of_sequences_is_no_tuple_of_symbols_and_lengths():
    assert lists_of(read_sequences(([3, 7], [7, "a"]))) == [[3, 7], [7, "a"]]
    assert lists_of(read_sequences((["a", "b"], ["b"]))) == [["a", "b"], ["b"]]
    with pytest.raises(DataError, match="nested once too often"):
        read_sequences(([[3], [4, 5]], [1, 2]))


def test_an_iterable_is_read_once():
    assert lists_of(read_sequences(row for row in NUMBERS)) == NUMBERS
    assert lists_of(read_sequences(map(iter, NUMBERS))) == NUMBERS


@pytest.mark.parametrize("kind", [list, np.array, pd.Series, pa.array, pl.Series, pd.array])
def test_lengths_may_be_given_with_all_kinds_of_columns(kind):
    sequences = read_sequences(kind([3, 7, 7, 3, 3, 3]), lengths=[2, 1, 3])
    assert lists_of(sequences) == NUMBERS
    words = read_sequences(kind(["one", "two", "one"]), lengths=[0, 2, 1])
    assert lists_of(words) == [[], ["one", "two"], ["one"]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_of_one_column_may_have_lengths(frame):
    sequences = read_sequences(frame({"x": [3, 7, 7, 3, 3, 3]}), lengths=[2, 1, 3])
    assert lists_of(sequences) == NUMBERS


def test_a_list_of_strings_is_one_sequence_of_words():
    words = ["home", "search", "home", "TÄ😀"]
    for kind in (list, tuple, np.array, pd.Series, pa.array, pl.Series):
        sequences = read_sequences(kind(words))
        assert lists_of(sequences) == [words]
        assert sequences.single
        assert sequences.symbols == ("TÄ😀", "home", "search")
    with pytest.warns(SymbolWarning, match=r"\[list\(text\) for text in texts\]"):
        read_sequences([f"text{number}" for number in range(10)])


def test_strings_among_lists_and_in_a_column_of_sequences_are_characters():
    texts = ["ACCA", "", "TÄ😀"]
    forms = [kind({"sequence": texts}) for kind in (pd.DataFrame, pa.table, pl.DataFrame)]
    for form in (*forms, ["ACCA", [], list("TÄ😀")], [b"ACCA", b"", list("TÄ😀")]):
        sequences = read_sequences(form)
        assert lists_of(sequences) == [list("ACCA"), [], list("TÄ😀")]
        assert sequences.symbols == ("A", "C", "T", "Ä", "😀")


@pytest.mark.parametrize(
    "one", [[3, 7, 7], np.array([3, 7, 7]), pd.Series([3, 7, 7]), pa.array([3, 7, 7])]
)
def test_symbols_alone_are_one_sequence(one):
    sequences = read_sequences(one)
    assert lists_of(sequences) == [[3, 7, 7]]
    assert sequences.single


@pytest.mark.parametrize(
    "frame", [np.array, pd.DataFrame, lambda rows: pl.DataFrame(rows, orient="row")]
)
def test_rows_of_an_array_or_frame_are_sequences(frame):
    rows = [[3, 7], [7, 7], [4, 3]]
    assert lists_of(read_sequences(frame(rows))) == rows
    words = [["a", "b"], ["b", "b"]]
    assert lists_of(read_sequences(frame(words))) == words
    assert lists_of(read_sequences(frame([[3], [7]]))) == [[3], [7]]


def test_missing_symbols_of_all_kinds_have_code_minus_one():
    nan = float("nan")
    for form in (
        [[3, None, 7]],
        [[3, nan, 7]],
        [[3, pd.NA, 7]],
        [[3, pd.NaT, 7]],
        [[3, np.datetime64("NaT"), 7]],
        [np.array([3, nan, 7])],
        np.array([[3, nan, 7]]),
        np.ma.masked_equal([[3, 5, 7]], 5),
        pa.array([[3, None, 7]]),
        pl.Series([[3, None, 7]]),
        pd.DataFrame([[3, pd.NA, 7]]),
    ):
        sequences = read_sequences(form)
        assert sequences.codes.tolist() == [0, -1, 1]
        assert sequences.symbols == (3, 7)


def test_many_missing_values_are_no_symbols():
    sequences = read_sequences([[float("nan"), "a"], [float("nan"), None]])
    assert (sequences.codes.tolist(), sequences.symbols) == ([-1, 0, -1, -1], ("a",))


def test_minus_one_is_a_symbol_unless_the_symbols_are_known_and_lack_it():
    assert read_sequences([[-1, 4]]).symbols == (-1, 4)
    assert read_sequences(np.array([[-1, 4]])).codes.tolist() == [0, 1]
    assert read_sequences(np.array([[-1, 4]]), symbols=[3, 4]).codes.tolist() == [-1, 1]
    assert read_sequences([[-1, 4]], symbols=[-1, 4]).codes.tolist() == [0, 1]


def test_symbols_are_sorted_by_kind_and_then_by_value():
    day = dt.date(2020, 1, 2)
    mixed = [[("b", 1), "z", 2, day, ("a", 2)], ["y", 1.5, b"q", True]]
    assert read_sequences(mixed).symbols == (True, 1.5, 2, "y", "z", b"q", day, ("a", 2), ("b", 1))
    first, second = frozenset("ab"), frozenset("a")
    assert read_sequences([[first, second]]).symbols == (first, second)
    for unit in ("D", "s", "ns"):
        days = np.array(["2020-02-01", "NaT", "2020-01-01"], dtype=f"M8[{unit}]")
        for form in ([days], days[None], days):
            sequences = read_sequences(form)
            assert sequences.codes.tolist() == [1, -1, 0]
            assert [str(np.datetime64(symbol, "D")) for symbol in sequences.symbols] == [
                "2020-01-01",
                "2020-02-01",
            ]


def test_integral_floats_are_integers_and_fractions_stay():
    assert read_sequences(np.array([[2.0, 1.0]])).symbols == (1, 2)
    assert type(read_sequences(np.array([[2.0, 1.0]])).symbols[0]) is int
    assert read_sequences(np.array([[2.0, 1.5]])).symbols == (1.5, 2.0)


def test_large_and_far_apart_integers_are_symbols():
    distant = [[-(2**40), 2**40, 5]]
    assert lists_of(read_sequences(np.array(distant))) == distant
    high = np.array([[2**31 + 7, 2**31 + 5]])
    assert read_sequences(high).symbols == (2**31 + 5, 2**31 + 7)
    assert lists_of(read_sequences(np.array([[2**63 + 1, 3]], dtype=np.uint64))) == [[2**63 + 1, 3]]
    assert read_sequences(np.array([[True, False]])).symbols == (False, True)


def test_integers_are_read_the_same_whatever_their_type():
    rng = np.random.default_rng(0)
    for low, high in ((0, 5), (-100, 100), (5, 60_000)):
        values = rng.integers(low, high, size=(40, 5))
        symbols, codes = np.unique(values, return_inverse=True)
        for rows in (values, values.astype(np.int32), values.tolist(), values.astype(float)):
            sequences = read_sequences(rows)
            assert sequences.symbols == tuple(symbols.tolist())
            assert np.array_equal(sequences.codes, codes.ravel())


def test_codes_by_known_symbols():
    sequences = read_sequences(WORDS, symbols=("c", "d", "b", "a"))
    assert sequences.codes.tolist() == [2, 3, 0, -1, 2]
    assert sequences.symbols == ("c", "d", "b", "a")
    assert sequences.lengths.tolist() == [2, 0, 1, 2]
    assert read_sequences([], symbols="ab").lengths.tolist() == []
    assert read_sequences([[], []], symbols="ab").lengths.tolist() == [0, 0]
    assert read_sequences([[None]], symbols=np.array(["a"])).codes.tolist() == [-1]


def test_text_stands_for_numbers_and_numbers_for_text():
    assert read_sequences([["1", "2"]], symbols=(1, 2)).codes.tolist() == [0, 1]
    assert read_sequences([[2, 1]], symbols=("1", "2")).codes.tolist() == [1, 0]


def test_an_unknown_symbol_is_named_with_its_place_and_one_that_is_near():
    with pytest.raises(
        CategoryError, match=r"sequence 2 holds 'adz' at position 1.*did you mean 'adj'"
    ):
        read_sequences([["verb"], [], ["verb", "adz"]], symbols=("adj", "noun", "verb"))
    with pytest.raises(CategoryError, match=r"sequence 0 holds 9 at position 2.*symbols. They are"):
        read_sequences(np.array([[3, 7, 9]]), symbols=(3, 7))
    with pytest.raises(CategoryError, match=r"sequence 1 holds 'c' at position 0"):
        read_sequences(read_sequences([["a", "b"], ["c"]]), symbols="ab")
    with pytest.raises(CategoryError, match=r"holds 'ab'.*given as \[list\(text\)\]"):
        read_sequences(["ab"], symbols="ab")
    sequences = read_sequences([["a", "z"]], symbols="ab", unknown="missing")
    assert sequences.codes.tolist() == [0, -1]
    assert read_sequences(
        read_sequences([["a", "z"]]), symbols="ab", unknown="missing"
    ).codes.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([], "no sequence to learn from"),
        (np.empty((0, 3)), "no sequence to learn from"),
        ([[], []], "no symbol to learn from in 2 sequences of 0 positions"),
        ([[None], [float("nan")]], "all are empty or missing"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (np.zeros((2, 2, 2)), "each row of an array with two axes"),
        ([[1, 2], 3], "sequence 1 is a int, 3; give a list"),
        ([[1, 2], None], "sequence 1 is missing; give a list"),
        ([[1], {1, 2}], "sequence 1 is a set"),
        ([[1], {"a": 2}], "sequence 1 is a dict"),
        ([[1], np.zeros((2, 3))], r"sequence 1 has shape \(2, 3\)"),
        ([[[1, 2], [3]]], r"position 0 .* holds a list, \[1, 2\].*nested once too often"),
        ([[1.0, float("inf")]], "holds inf"),
        (np.array([[1.0, np.inf]]), "holds inf"),
        (np.array([[1j]]), "Complex data not supported"),
        (pa.array([[1], None]), "sequence 1 is missing; give an empty list"),
    ],
)
def test_inputs_without_sequences_are_refused(X, words):
    with pytest.raises(DataError, match=words):
        read_sequences(X)


@pytest.mark.parametrize(
    "X", [5, None, {"a": [1]}, {1, 2}, b"ACGT", sp.csr_matrix(np.eye(2)), object()]
)
def test_unsupported_types_are_refused(X):
    with pytest.raises(ArgumentTypeError, match="give a list of sequences"):
        read_sequences(X)


@pytest.mark.parametrize(
    ("X", "lengths", "words"),
    [
        ([1, 2, 3], [1, 1], "lengths sum to 2, but X holds 3 symbols"),
        (np.array([1, 2, 3]), [4], "lengths sum to 4"),
        (
            [1, 2, 3],
            [2**62] * 3 + [2**62 + 3],
            "lengths sum to 18446744073709551619",
        ),  # mod 2**64: 3
        (
            [1, 2, 3],
            np.array([2**63, 2**63, 3], dtype=np.uint64),
            "lengths sum to 18446744073709551619",
        ),
        ([1, 2, 3], [4, -1], "integers of at least zero"),
        ([1, 2, 3], [1.5, 1.5], "integers of at least zero"),
        ([1, 2, 3], [[3]], "integers of at least zero"),
        ([1, 2, 3], [[1], [1, 1]], "integers in one row"),
        ([[1, 2], [3]], [2, 1], "X is a list of sequences"),
        (np.zeros((3, 2), dtype=int), [2, 1], r"\(n,\) or \(n, 1\), not \(3, 2\)"),
        (np.empty(0, dtype=int), [0, 0], "no symbol to learn from"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(X, lengths, words):
    with pytest.raises(DataError, match=words):
        read_sequences(X, lengths)


def test_lengths_beside_something_else_are_refused():
    with pytest.raises(ArgumentError, match="sequences already"):
        read_sequences(read_sequences(NUMBERS), [2, 1, 3])
    for X in ({"a": 1}, b"abc", 5):
        with pytest.raises(ArgumentTypeError, match="with lengths"):
            read_sequences(X, [3])
    assert lists_of(read_sequences([1, 2, 3], 3)) == [[1, 2, 3]]


def test_symbols_and_choices_are_checked():
    with pytest.raises(ArgumentError, match="symbols is empty"):
        read_sequences(NUMBERS, symbols=[])
    with pytest.raises(ArgumentError, match="must differ"):
        read_sequences(NUMBERS, symbols=[3, 7, 3])
    with pytest.raises(ArgumentError, match="not be missing"):
        read_sequences(NUMBERS, symbols=[3, None])
    with pytest.raises(ArgumentError, match="'error' or 'missing'"):
        read_sequences(NUMBERS, unknown="ignore")


LONG = {"sequence": ["v", "u", "v", "w", "u"], "symbol": [5, 6, None, 5, 5]}
LONG_LISTS = [[5, None], [6, 5], [5]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_row_for_each_symbol_is_put_together_by_sequence(frame):
    assert lists_of(read_sequences(frame(LONG))) == LONG_LISTS
    named = frame({"day": [1, 2, 3, 4, 5], "event": LONG["symbol"], "who": LONG["sequence"]})
    assert lists_of(read_sequences(named, sequence="who", symbol="event")) == LONG_LISTS
    with pytest.raises(ColumnError, match="no column 'whom'"):
        read_sequences(named, sequence="whom", symbol="event")
    with pytest.raises(ColumnError, match="no column 'symbol'"):
        read_sequences(named, sequence="who")
    with pytest.raises(DataError, match="row 1 does not say to which sequence"):
        read_sequences(frame({"sequence": ["u", None], "symbol": [1, 2]}))
    with pytest.raises(DataError, match=r"none named 'symbol'.*pass that column alone"):
        read_sequences(frame({"id": [1, 2], "sequence": ["AC", "GT"]}))
    nothing = frame({"sequence": [1][:0], "symbol": [1][:0]})
    assert read_sequences(nothing, symbols=[5]).lengths.tolist() == []


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20))
def test_rows_of_a_long_frame_keep_their_order(rows):
    expected = {}
    for owner, symbol in rows:
        expected.setdefault(owner, []).append(symbol)
    owners, symbols = zip(*rows, strict=True)
    sequences = read_sequences(pl.DataFrame({"sequence": owners, "symbol": symbols}))
    assert lists_of(sequences) == list(expected.values())


def test_tables_in_files_are_read_as_frames(tmp_path):
    table = pa.table(LONG)
    pq.write_table(table, tmp_path / "long.parquet")
    assert lists_of(read_sequences(tmp_path / "long.parquet")) == LONG_LISTS
    pq.write_table(pa.table({"events": NUMBERS}), tmp_path / "lists.parquet")
    assert lists_of(read_sequences(str(tmp_path / "lists.parquet"))) == NUMBERS
    text = "sequence,symbol\n" + "\n".join(
        f"{owner},{'' if symbol is None else symbol}"
        for owner, symbol in zip(LONG["sequence"], LONG["symbol"], strict=True)
    )
    (tmp_path / "long.csv").write_text(text)
    assert lists_of(read_sequences(tmp_path / "long.csv")) == LONG_LISTS
    (tmp_path / "long.tsv").write_text(text.replace(",", "\t"))
    assert lists_of(read_sequences(tmp_path / "long.tsv")) == LONG_LISTS
    (tmp_path / "other.csv").write_text(text.replace("sequence,symbol", "who,event"))
    sequences = read_sequences(tmp_path / "other.csv", sequence="who", symbol="event")
    assert lists_of(sequences) == LONG_LISTS


def test_lines_of_text_are_sequences_of_words(tmp_path):
    (tmp_path / "tags.txt").write_text("DET NOUN\n\nVERB  DET\n", encoding="utf-8")
    expected = [["DET", "NOUN"], [], ["VERB", "DET"]]
    assert lists_of(read_sequences(tmp_path / "tags.txt")) == expected
    with gzip.open(tmp_path / "tags.seq.gz", "wt") as file:
        file.write("DET NOUN\n\nVERB  DET\n")
    assert lists_of(read_sequences(tmp_path / "tags.seq.gz")) == expected


def test_pautomac_files_hold_their_symbols(tmp_path):
    (tmp_path / "1.pautomac.train").write_text("3 4\n2 0 2\n0\n1 2\n")
    sequences = read_sequences(tmp_path / "1.pautomac.train")
    assert lists_of(sequences) == [[0, 2], [], [2]]
    assert sequences.symbols == (0, 1, 2, 3)
    assert read_sequences(tmp_path / "1.pautomac.train", symbols=(2, 0)).codes.tolist() == [1, 0, 0]


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(MissingDataError, match=r"no file 'ACGT'; a text that is itself a sequence"):
        read_sequences("ACGT")
    for name in ("none.fa", "none.csv", "none.parquet", "none.txt"):
        with pytest.raises(MissingDataError, match="there is no file"):
            read_sequences(tmp_path / name)
    (tmp_path / "damaged.parquet").write_bytes(b"nothing")
    (tmp_path / "damaged.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "damaged.txt.gz").write_bytes(b"nothing")
    (tmp_path / "empty.csv").write_text("")
    for name in ("damaged.parquet", "damaged.txt", "damaged.txt.gz", "empty.csv"):
        with pytest.raises(FileFormatError, match=f"{name}' cannot be read"):
            read_sequences(tmp_path / name)
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(DataError, match="no sequence to learn from"):
        read_sequences(tmp_path / "empty.txt")
    assert isinstance(read_sequences(Path(tmp_path / "empty.txt"), symbols="a"), Sequences)


def test_the_input_is_not_changed():
    values = np.array([[3, 7], [-1, 3]], dtype=np.int32)
    before = values.copy()
    sequences = read_sequences(values, symbols=(3, 7))
    sequences.codes[:] = 9
    assert np.array_equal(values, before)


@pytest.mark.parametrize("values", [[3, 1, 3, 7, 1], [0.5, np.nan, 2.0, 0.5], [0, 1, 2]])
def test_many_positions_are_read_as_few_are(values, monkeypatch):
    few = read_sequences(np.array([values]))
    monkeypatch.setattr(symbols_module, "_MANY", 0)
    many = read_sequences(np.array([values]))
    assert many.symbols == few.symbols
    assert np.array_equal(many.codes, few.codes)


@pytest.mark.parametrize("encoded", [False, True])
def test_missing_cells_of_arrow_tables_are_missing_whether_dictionaries_or_not(encoded):
    pa = pytest.importorskip("pyarrow")
    columns = [pa.array(["a", "b", None]), pa.array(["b", None, "a"])]
    if encoded:
        columns = [column.dictionary_encode() for column in columns]
    sequences = read_sequences(pa.table(columns, names=["x", "y"]))
    assert sequences.codes.tolist() == [0, 1, 1, -1, -1, 0]


def test_empty_cells_of_a_file_with_a_sequence_in_each_row_are_missing(tmp_path):
    (tmp_path / "wide.csv").write_text("x,y,z\na,b,a\nb,b,\n")
    assert read_sequences(tmp_path / "wide.csv").codes.tolist() == [0, 1, 0, 1, 1, -1]


@pytest.mark.parametrize("place", range(10, 60, 3))
def test_a_damaged_compressed_text_is_refused_or_read(tmp_path, place):
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(b"the dog saw a cat\nanother line of words\n" * 3, mtime=0))
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 0x55
    path.write_bytes(bytes(content))
    with contextlib.suppress(TacitError):
        read_sequences(path)
