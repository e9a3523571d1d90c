"""Hidden Markov models of numbers that come in chunks."""

import numpy as np
import pytest

from oracles.letters import letters
from tacit import load
from tacit.errors import DataError, NotAvailableError
from tacit.sequences.hmm import HMM
from tacit.sequences.learn import number_stream


def drawn(n_sequences, seed, n_columns=2):
    """Sequences of one to nine positions at two levels, some numbers missing."""
    rng = np.random.default_rng(seed)
    actual = []
    for length in rng.integers(1, 10, n_sequences):
        level = np.where(np.cumsum(rng.random(length) < 0.2) % 2, 3.0, -1.0)
        rows = level[:, None] + rng.normal(size=(length, n_columns))
        actual.append(np.where(rng.random(rows.shape) < 0.05, np.nan, rows))
    return actual


DATA = drawn(60, 0)


def in_chunks(sizes, **arguments):
    model, first = HMM(2, emissions="gaussian", **arguments), 0
    for size in sizes:
        model.partial_fit(DATA[first : first + size])
        first += size
    return model


def same(one, other):
    for name in ("initial_", "transitions_", "means_", "covariances_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("learn", ["auto", "tensor", "em"])
def test_chunks_give_the_model_of_all_at_once(learn):
    whole = HMM(2, learn, emissions="gaussian").fit(DATA)
    parts = in_chunks([25, 1, 34], learn=learn)
    same(parts, whole)
    diagnostics = parts.diagnostics_
    n = sum(map(len, DATA))
    assert (diagnostics["n_sequences"], diagnostics["n_positions"], diagnostics["n_kept"]) == (
        60,
        n,
        n,
    )
    same(HMM(2, learn, emissions="gaussian").fit(DATA[:40]).partial_fit(DATA[40:]), whole)


def test_more_than_there_is_room_for_is_a_sample_that_chunks_do_not_change(monkeypatch):
    monkeypatch.setattr(number_stream, "MOST_POSITIONS", 100)
    one, other = in_chunks([60], learn="tensor"), in_chunks([7, 30, 23], learn="tensor")
    same(one, other)
    kept, diagnostics = one.stream_, one.diagnostics_
    assert 80 <= diagnostics["n_kept"] <= 100 < diagnostics["n_positions"]
    assert len(kept.places) < 60
    expected = np.concatenate([DATA[place] for place in kept.places])
    np.testing.assert_array_equal(kept.series.values, expected)
    monkeypatch.setattr(number_stream, "_FEW_COLUMNS", 1)  # two columns: half as many positions
    assert in_chunks([60], learn="tensor").diagnostics_["n_kept"] <= 50


def test_what_was_kept_does_not_follow_the_data_of_the_caller():
    data = np.concatenate(DATA)
    model = HMM(2, "tensor", emissions="gaussian").partial_fit(data)
    before = model.stream_.series.values.copy()
    data[:] = 0
    np.testing.assert_array_equal(model.stream_.series.values, before)


def test_chunks_that_do_not_fit_are_refused(tmp_path):
    model = in_chunks([60], learn="tensor")
    with pytest.raises(DataError, match="columns"):
        model.partial_fit(drawn(5, 1, n_columns=3))
    with pytest.raises(NotAvailableError, match="not learnt with"):
        model.set_params(emissions="categorical").partial_fit(letters(["ab"]))
    model.set_params(emissions="gaussian").save(tmp_path / "m.tacit")
    with pytest.raises(NotAvailableError, match="call fit"):
        load(tmp_path / "m.tacit").partial_fit(DATA)
    with pytest.raises(NotAvailableError, match="not learnt with"):
        HMM(2, "tensor").fit(letters(["abab", "ba"])).set_params(emissions="gaussian").partial_fit(
            DATA
        )


def test_a_column_without_numbers_may_get_some_later_but_not_never():
    gone = [np.column_stack([item[:, 0], np.full(len(item), np.nan)]) for item in DATA[:20]]
    model = HMM(2, "tensor", emissions="gaussian").partial_fit(DATA[20:]).partial_fit(gone)
    assert model.diagnostics_["n_sequences"] == 60
    with pytest.raises(DataError, match="holds no number"):
        HMM(2, "tensor", emissions="gaussian").partial_fit(gone)
