"""Hidden Markov models from moments of windows: exact moments give exact string probabilities."""

import numpy as np
import pytest

from oracles.chains import prefix_values
from oracles.python_source import python_source
from tacit.errors import RankError
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.spectral import hmm
from tacit.sequences.learn.spectral.hmm import (
    fitted_transitions,
    spectral_hmm,
    split_states,
    supported_states,
    tensor_emissions,
    tensor_hmm,
)
from tacit.sequences.loops import hmm as loops
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.moments import ngrams
from tacit.sequences.moments.ngrams import NgramCounts, TripleMoments
from tacit.sequences.query.hmm_scores import log_likelihoods
from tacit.sequences.query.operators import evidence_messages, walked
from tacit.toy import random_hmm

LENGTH = 4


def all_strings(n_symbols, length=LENGTH):
    strings = np.array(list(np.ndindex((n_symbols,) * length)), dtype=np.int32)
    lengths = np.full(len(strings), length)
    return Sequences(strings.ravel(), lengths, tuple(range(n_symbols)))


def exact(model, length=7):
    actual = model.ngrams(length)
    return TripleMoments.of_table(actual.first, actual.triples)


def spectral_values(operators, strings):
    seen = evidence_messages(operators, [np.eye(strings.n_symbols)[strings.codes]])
    walk = walked(operators, seen, strings.lengths)
    sign, log = prefix_values(walk)
    return (sign * np.exp(log))[walk.last]


@pytest.mark.parametrize(("n_states", "n_symbols"), [(1, 3), (2, 2), (3, 5), (4, 6)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_exact_moments_give_exact_string_probabilities(n_states, n_symbols, seed):
    model = random_hmm(n_states, n_symbols, random_state=seed)
    strings = all_strings(n_symbols)
    truth = model.string_table(LENGTH).ravel()
    operators = spectral_hmm(exact(model), n_states)
    assert spectral_values(operators, strings) == pytest.approx(truth, abs=1e-8)
    tables = tensor_hmm(exact(model), n_states)
    assert np.exp(log_likelihoods(tables, strings)) == pytest.approx(truth, abs=1e-8)
    assert supported_states(exact(model), n_symbols) == n_states


def test_a_state_that_shows_a_symbol_never_met_is_still_exact():
    model = random_hmm(2, 3, random_state=0)
    emit = np.hstack([model.emissions, np.zeros((2, 1))])
    wider = type(model)(
        ChainTables(model.tables.initial, model.tables.transitions, (emit,)), tuple("abcd")
    )
    strings = all_strings(4)
    truth = wider.string_table(LENGTH).ravel()
    operators = spectral_hmm(exact(wider), 2)
    assert spectral_values(operators, strings) == pytest.approx(truth, abs=1e-8)
    tables = tensor_hmm(exact(wider), 2)
    assert np.exp(log_likelihoods(tables, strings)) == pytest.approx(truth, abs=1e-8)


def test_more_states_than_pairs_can_tell_apart_are_refused():
    moments = exact(random_hmm(2, 4, random_state=0))
    for learn in (spectral_hmm, tensor_hmm):
        with pytest.raises(RankError, match="only 2 non-zero"):
            learn(moments, 3)


def test_sparse_counts_give_what_dense_counts_give(monkeypatch):
    data = random_hmm(3, 6, random_state=1).sample(2000, 8, 0)
    dense = NgramCounts.of(data)
    monkeypatch.setattr(ngrams, "DENSE_CELLS", 5)
    sparse = NgramCounts.of(data)
    strings = all_strings(6, 3)
    for whole in (True, False):
        monkeypatch.setattr(hmm, "_DENSE", 400 if whole else 2)
        one, two = (counts.window_moments() for counts in (dense, sparse))
        assert spectral_values(spectral_hmm(two, 3), strings) == pytest.approx(
            spectral_values(spectral_hmm(one, 3), strings), abs=1e-9
        )
        mine = tensor_hmm(one, 3, pairs=dense.pairs, firsts=dense.firsts)
        other = tensor_hmm(two, 3, pairs=sparse.pairs, firsts=sparse.firsts)
        assert log_likelihoods(other, strings) == pytest.approx(
            log_likelihoods(mine, strings), abs=1e-6
        )


def test_errors_of_estimates_fall_with_the_number_of_sequences():
    model = random_hmm(3, 8, random_state=3)
    clear = ChainTables(model.tables.initial, 0.7 * np.eye(3) + 0.1, model.tables.emit)
    model = type(model)(clear, model.symbols)
    test = model.sample(2000, 10, 9)
    truth = model.log_prob(test).mean()
    gaps = []
    for n in (500, 50_000):
        counts = NgramCounts.of(model.sample(n, 10, 1))
        tables = tensor_hmm(counts.window_moments(), 3, pairs=counts.pairs)
        gaps.append(truth - log_likelihoods(tables, test).mean())
    assert gaps[1] < 0.3 * gaps[0]


def test_noise_supports_one_state_and_signal_its_own():
    rng = np.random.default_rng(0)
    noise = Sequences(
        rng.integers(0, 20, 40_000).astype(np.int32), np.full(2000, 20), tuple(range(20))
    )
    assert supported_states(NgramCounts.of(noise).window_moments(), 6) == 1
    clear = ChainTables(np.full(3, 1 / 3), 0.7 * np.eye(3) + 0.1, (np.eye(3).repeat(4, 1) / 4,))
    model = type(random_hmm(3, 12))(clear, tuple(range(12)))
    counts = NgramCounts.of(model.sample(2000, 20, 0))
    assert supported_states(counts.window_moments(), 8) == 3


def test_moves_of_highest_likelihood_cannot_be_bettered_nearby():
    model = random_hmm(3, 5, random_state=5)
    pairs = NgramCounts.of(model.sample(300, 10, 0)).pairs.dense()
    emit = tensor_emissions(exact(model), 3)
    tables = fitted_transitions(emit, pairs, np.ones(5) / 5, floor=0.01, n_steps=5000)
    joint = None
    for seed in range(30):
        # The shares of states follow from the likeliest joint table, which is found again as a maximum.
        rng = np.random.default_rng(seed)
        if joint is None:
            joint = hmm._weights(pairs, emit, emit, np.full((3, 3), 1 / 9), 5000)
            assert joint / joint.sum(axis=1, keepdims=True) == pytest.approx(
                tables.transitions, abs=1e-3
            )
        other = joint * np.exp(0.05 * rng.normal(size=joint.shape))
        other /= other.sum()
        value, best = ((pairs * np.log(emit.T @ item @ emit)).sum() for item in (other, joint))
        assert value <= best + 1e-6


def test_compiled_expectation_agrees_with_its_python_source():
    model = random_hmm(2, 4, random_state=0)
    pairs = NgramCounts.of(model.sample(50, 6, 0)).pairs.dense()
    guess = np.full((2, 2), 0.25)
    compiled = hmm._weights(pairs, model.emissions, model.emissions, guess, 5)
    with python_source(loops):
        plain = hmm._weights(pairs, model.emissions, model.emissions, guess, 5)
    assert compiled == pytest.approx(plain, rel=1e-10)


def test_split_states_are_more_states_near_the_same_model():
    model = random_hmm(3, 6, random_state=2)
    strings = all_strings(6, 3)
    split = split_states(model.tables, 5, np.random.default_rng(0), spread=0.0)
    assert split.n_states == 5
    assert log_likelihoods(split, strings) == pytest.approx(log_likelihoods(model.tables, strings))
    shaken = split_states(model.tables, 5, np.random.default_rng(0))
    for rows in (shaken.transitions, shaken.emit[0], shaken.initial[None]):
        assert rows.sum(axis=1) == pytest.approx(1)
    assert split_states(model.tables, 3, np.random.default_rng(0)) is model.tables
