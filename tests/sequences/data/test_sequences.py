"""Sequences of symbols in one array."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.sequences.data.sequences import Sequences


def sequences_of(lists):
    lengths = np.array([len(row) for row in lists], dtype=np.int64)
    codes = np.array([code for row in lists for code in row], dtype=np.int32)
    return Sequences(codes, lengths, tuple("abcd"))


def lists_of(sequences):
    return [codes.tolist() for codes in sequences.split(sequences.codes)]


LISTS = st.lists(st.lists(st.integers(-1, 3), max_size=5), max_size=8)


@given(LISTS, st.data())
def test_some_of_the_sequences_are_those_of_the_list(lists, data):
    sequences = sequences_of(lists)
    assert lists_of(sequences) == lists
    assert (sequences.n_positions, sequences.n_symbols) == (sum(map(len, lists)), 4)
    mask = np.array([data.draw(st.booleans()) for _ in lists], dtype=bool)
    selected = [row for row, is_selected in zip(lists, mask, strict=True) if is_selected]
    assert lists_of(sequences.take(mask)) == selected
    assert lists_of(sequences.take(np.flatnonzero(mask)[::-1])) == selected[::-1]
