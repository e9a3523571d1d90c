"""Sequences of symbols in one array."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.sequences.data.sequences import Sequences


def made(lists):
    lengths = np.array([len(each) for each in lists], dtype=np.int64)
    codes = np.array([code for each in lists for code in each], dtype=np.int32)
    return Sequences(codes, lengths, tuple("abcd"))


def lists_of(sequences):
    return [each.tolist() for each in sequences.split(sequences.codes)]


LISTS = st.lists(st.lists(st.integers(-1, 3), max_size=5), max_size=8)


@given(LISTS, st.data())
def test_some_of_the_sequences_are_those_of_the_list(lists, data):
    sequences = made(lists)
    assert lists_of(sequences) == lists
    assert (sequences.n_positions, sequences.n_symbols) == (sum(map(len, lists)), 4)
    flags = np.array([data.draw(st.booleans()) for _ in lists], dtype=bool)
    kept = [each for each, keep in zip(lists, flags, strict=True) if keep]
    assert lists_of(sequences.take(flags)) == kept
    assert lists_of(sequences.take(np.flatnonzero(flags)[::-1])) == kept[::-1]
