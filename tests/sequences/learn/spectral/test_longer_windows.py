"""More states than symbols: exact moments of longer windows give exact string probabilities."""

from dataclasses import replace

import numpy as np
import pytest

from tacit.errors import RankError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.spectral.hmm import supported_states, tensor_hmm
from tacit.sequences.learn.spectral.longer_windows import enough_reach, longer_hmms, longer_triples
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.moments.symbol_windows import symbol_windows
from tacit.sequences.moments.windows import WindowMoments, Windows
from tacit.sequences.query.hmm_scores import log_likelihoods
from tacit.toy import random_hmm, repeating_process

MANY = 1e16  # windows: none is too rare to be looked at


def exact_windows(model, reach, length):
    """The moments of indicators, each string counted as often as it is expected."""
    table = model.window_table(2 * reach + 1, length)
    strings = np.array(list(np.ndindex(table.shape)))
    firsts = model.string_table(reach)
    one_hot = np.eye(model.n_symbols)

    def seen(places):
        return np.concatenate([one_hot[strings[:, place]] for place in places], axis=1)

    starts = np.array(list(np.ndindex(firsts.shape)))
    first = np.concatenate([one_hot[starts[:, place]] for place in range(reach)], axis=1)
    windows = Windows(
        np.arange(len(strings)),
        seen(range(reach - 1, -1, -1)),
        one_hot[strings[:, reach]],
        seen(range(reach, 2 * reach)),
        seen(range(reach + 1, 2 * reach + 1)),
        first * MANY * firsts.ravel()[:, None],
    )
    actual = WindowMoments.of(windows, weights=MANY * table.ravel())
    return replace(actual, n_firsts=np.asarray(MANY))


def errors(model, candidates, length=6):
    """The largest error of a string's probability, for each of several tables."""
    strings = np.array(list(np.ndindex((model.n_symbols,) * length)), dtype=np.int32)
    data = Sequences(strings.ravel(), np.full(len(strings), length), model.symbols)
    truth = model.string_table(length).ravel()
    return [np.abs(np.exp(log_likelihoods(tables, data)) - truth).max() for tables in candidates]


@pytest.mark.parametrize(
    ("n_symbols", "n_states", "seed"), [(2, 3, 0), (2, 3, 1), (3, 5, 0), (3, 5, 1), (2, 4, 3)]
)
def test_exact_longer_windows_give_exact_string_probabilities(n_symbols, n_states, seed):
    model = random_hmm(n_states, n_symbols, random_state=seed)
    reach = enough_reach(n_states, n_symbols)
    for more in (0, 1):
        windows = exact_windows(model, reach + more, 2 * reach + 5)
        assert min(errors(model, longer_hmms(windows, n_symbols, n_states))) < 1e-8


@pytest.mark.parametrize("stationary", [True, False])
def test_states_that_show_the_same_are_told_apart_by_what_follows(stationary):
    process = repeating_process(2, stationary=stationary)
    windows = exact_windows(process, 3, 12)
    assert min(errors(process, longer_hmms(windows, 3, 6))) < 1e-8
    assert supported_states(longer_triples(windows, 3), 9) == 6
    with pytest.raises(RankError, match="6 directions"):
        longer_hmms(windows, 3, 7)


def test_longer_views_of_few_states_are_exact_too():
    model = random_hmm(3, 4, random_state=0)
    moments = longer_triples(exact_windows(model, 2, 7), 4)
    pairs = model.window_table(2, 7)
    assert errors(model, [tensor_hmm(moments, 3, pairs=pairs, firsts=model.string_table(1))]) == (
        pytest.approx([0], abs=1e-8)
    )
    with pytest.raises(RankError, match="n_states=5"):
        tensor_hmm(moments, 5)  # the symbol between has four dimensions


def test_counted_windows_as_views_are_sums_of_each_other():
    data = random_hmm(3, 3, random_state=1).sample(200, 9, 0)
    moments = longer_triples(symbol_windows(data, 2), 3)
    for axis, pairs in enumerate((moments.pairs23, moments.pairs13, moments.pairs12)):
        both = 2 if axis != 1 else 1  # two places of a side each sum to one
        total = moments.triples.sum(axis=axis) / both
        assert pairs == pytest.approx(total)
    assert moments.one.sum() == pytest.approx(2)
    assert moments.triples.shape == (6, 3, 6)


def test_states_never_visited_do_no_harm():
    model = random_hmm(2, 2, random_state=0)
    emit = np.vstack([model.emissions, [[0.5, 0.5]]])
    transitions = np.zeros((3, 3))
    transitions[:2, :2] = model.tables.transitions
    transitions[2] = 1 / 3
    wider = type(model)(
        ChainTables(np.append(model.tables.initial, 0), transitions, (emit,)), (0, 1)
    )
    with pytest.raises(RankError, match="directions"):
        longer_hmms(exact_windows(wider, 2, 7), 2, 3)


@pytest.mark.parametrize(
    ("n_states", "n_symbols", "reach"), [(1, 4, 1), (4, 4, 1), (5, 4, 2), (7, 4, 2), (6, 3, 3)]
)
def test_the_reach_is_as_short_as_the_states_allow(n_states, n_symbols, reach):
    assert enough_reach(n_states, n_symbols) == reach
    assert 1 + reach * (n_symbols - 1) >= n_states
