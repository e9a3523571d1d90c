"""Windows of symbols with longer pasts and futures: the moments of indicators, counted."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import TooExpensiveError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.moments.symbol_windows import symbol_windows
from tacit.sequences.moments.windows import WindowMoments, windows_of


def sequences_of(rows, n_symbols=3):
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    return Sequences(codes, lengths, tuple(range(n_symbols)))


ROWS = st.lists(st.lists(st.integers(-1, 2), max_size=9), max_size=6)


@given(ROWS, st.integers(1, 3))
def test_they_are_the_moments_of_indicators(rows, reach):
    sequences = sequences_of(rows)
    moments = symbol_windows(sequences, reach)
    one_hot = np.vstack([np.eye(3), np.full(3, np.nan)])[sequences.codes].reshape(-1, 3)
    truth = WindowMoments.of(windows_of(one_hot, sequences.lengths, (1,) * reach))
    for field in fields(WindowMoments):
        assert np.array_equal(getattr(moments, field.name), getattr(truth, field.name)), field.name


@given(ROWS, st.integers(0, 6))
def test_counting_in_two_parts_is_counting_at_once(rows, cut):
    together = symbol_windows(sequences_of(rows), 2)
    apart = symbol_windows(sequences_of(rows[:cut]), 2) + symbol_windows(
        sequences_of(rows[cut:]), 2
    )
    for field in fields(WindowMoments):
        assert np.array_equal(getattr(together, field.name), getattr(apart, field.name))


def test_moments_that_would_not_fit_memory_are_refused():
    with pytest.raises(TooExpensiveError, match="features=3"):
        symbol_windows(sequences_of([[0, 1]], 1000), 3)
