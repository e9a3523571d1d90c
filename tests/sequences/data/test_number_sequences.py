"""Sequences of numbers from any supported input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tacit.errors import ArgumentTypeError, DataError
from tacit.sequences.data.number_sequences import (
    centre_and_spread,
    folds,
    holds_numbers,
    read_series,
)


def test_all_forms_of_the_same_sequences_are_read_alike():
    first, second = [1.0, 2.0], [3.0, np.nan, 5.0]
    forms = [
        [first, second],
        [np.array(first), pd.Series(second)],
        ([*first, *second], [2, 3]),
        (np.array([*first, *second]), np.array([2, 3])),
        [[1, 2], [3, None, 5]],
        [np.array(first)[:, None], np.array(second)[:, None]],
    ]
    for form in forms:
        series = read_series(form)
        assert np.array_equal(series.values[:, 0], [1, 2, 3, np.nan, 5], equal_nan=True)
        assert series.lengths.tolist() == [2, 3]
        assert series.names == ("x0",)
        assert not series.single
        assert series.joined == isinstance(form, tuple)
        if series.joined:
            assert series.split(np.arange(5)).tolist() == [0, 1, 2, 3, 4]
        else:
            assert [part.tolist() for part in series.split(np.arange(5))] == [[0, 1], [2, 3, 4]]


def test_one_array_is_one_sequence_and_columns_have_names():
    assert read_series(np.arange(4.0)).single
    assert read_series([1.0, 2.0, None]).values.shape == (3, 1)
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    for rows in (frame, pl.DataFrame(frame.to_dict("list"))):
        series = read_series(rows)
        assert (series.names, series.lengths.tolist()) == (("a", "b"), [2])
    assert read_series(frame.to_numpy()).names == ("x0", "x1")
    assert read_series([frame, frame]).lengths.tolist() == [2, 2]


def test_empty_sequences_are_kept():
    series = read_series([[], [1.0], []])
    assert series.lengths.tolist() == [0, 1, 0]
    assert series.ends.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (3.0, ArgumentTypeError, "float"),
        ("abc", ArgumentTypeError, "str"),
        ([["a", "b"]], DataError, "sequence 0 does not hold numbers"),
        ([np.ones((2, 2)), np.ones((2, 3))], DataError, "sequence 1 has 3"),
        ((np.ones(4), [2, 3]), DataError, "lengths sum to 5"),
        ((np.ones(4), [5, -1]), DataError, "least: -1"),
        ([1.0, np.inf], DataError, "infinite"),
        (np.ones((2, 2, 2)), DataError, "shape"),
        (np.ones(2) * 1j, DataError, "Complex data not supported"),
        (sparse.eye_array(3), DataError, "sparse"),
        (np.ones((2, 0)), DataError, "shape"),
    ],
)
def test_invalid_sequences_are_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        read_series(wrong)


def test_other_columns_than_expected_are_refused():
    frame = pd.DataFrame({"a": [1.0], "b": [2.0]})
    assert read_series(frame, ("a", "b")).names == ("a", "b")
    assert read_series(frame.to_numpy(), ("a", "b")).n_columns == 2
    with pytest.raises(DataError, match="fitted with"):
        read_series(frame, ("a", "c"))
    with pytest.raises(DataError, match="fitted with"):
        read_series(np.ones(3), ("a", "b"))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.integers(1, 60))
def test_cut_sequences_are_pieces_of_them(lengths, most):
    series = read_series(([float(i) for i in range(sum(lengths))], lengths))
    cut = series.cut(7, most)
    if series.n_positions <= most:
        assert cut is series
        return
    assert 1 <= cut.lengths.min() <= cut.lengths.max() <= 7
    assert cut.n_positions <= most + 7
    for first, stop in zip(cut.ends[:-1], cut.ends[1:], strict=True):
        steps = np.diff(cut.values[first:stop, 0])
        assert (steps == 1).all()


@given(st.integers(0, 300), st.integers(1, 5), st.integers(1, 20))
def test_every_position_is_left_out_by_one_fold(n, n_folds, block):
    masks = list(folds(n, n_folds, block))
    assert len(masks) == n_folds
    assert (np.sum(masks, axis=0) == 1).all()


NUMBERS = [
    [0.5, 1.5],
    [1, 2.5, None],
    [[1.0, 2.0], [3.0]],
    [[1, 2], [2.5, None]],
    np.ones(3),
    np.ones((3, 2), dtype=np.float32),
    [np.ones(3), np.ones((2, 1))],
    (np.ones(4), [2, 2]),
    ([1.0, 2.0], [2]),
    pd.Series([1.0, 2.0]),
    pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}),
]
SYMBOLS = [
    [1, 2, 2],
    [1, float("nan"), 2],
    [[1, 2], [None, 1]],
    ["a", "b"],
    [["a"], [1.5]],
    [1.5, "a"],
    np.arange(3),
    np.array(["a", "b"]),
    (np.arange(4), [2, 2]),
    pd.DataFrame({"sequence": [1, 1], "symbol": [1.0, 2.0]}),
    "file.txt",
    [],
]


@pytest.mark.parametrize(("expected", "forms"), [(True, NUMBERS), (False, SYMBOLS)])
def test_floats_are_numbers_and_everything_else_symbols(expected, forms):
    for form in forms:
        assert holds_numbers(form) is expected, form


@pytest.mark.parametrize(
    "lengths",
    [
        np.array([2**62, 2**62, 2**62, 2**62 + 3]),
        np.array([2**63, 2**63, 3], dtype=np.uint64),
    ],
)
def test_lengths_whose_sum_is_right_but_for_a_multiple_of_2_to_the_64_are_refused(lengths):
    with pytest.raises(DataError, match="lengths sum to 18446744073709551619"):
        read_series(np.zeros(3), lengths=lengths)


@pytest.mark.parametrize("value", [0.1, 1e10 + 0.1, -3e-7, 0.0])
def test_a_constant_column_has_no_spread_and_a_missing_one_no_centre(value):
    rng = np.random.default_rng(0)
    values = np.column_stack([np.full(60, value), rng.normal(size=60), np.full(60, np.nan)])
    values[7] = np.nan
    centre, spread = centre_and_spread(values)
    assert centre.tolist() == [value, np.nanmean(values[:, 1]), 0.0]
    assert spread.tolist() == [0.0, np.nanstd(values[:, 1]), 0.0]
