"""EM on hidden Markov models of symbols, against the passes of chains and by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.core.linalg.long_run import long_run
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em import hmm
from tacit.sequences.learn.em.hmm import (
    OnlineHmm,
    Packed,
    em_restarts,
    hmm_prior,
    hmm_step,
    polished_hmm,
    random_hmm_tables,
    stepwise_hmm,
)
from tacit.sequences.learn.em.kernel_hmm import ObservedFeatures, expectation
from tacit.sequences.learn.em.stationary import expected_log, stationary_transitions
from tacit.sequences.loops import hmm as loops
from tacit.sequences.query.hmm_scores import log_likelihoods
from tacit.toy import random_hmm

LISTS = st.lists(st.lists(st.integers(-1, 3), max_size=7), max_size=8)


def made(lists, n_symbols=4):
    codes = np.array([x for symbols in lists for x in symbols], dtype=np.int32)
    lengths = np.array([len(symbols) for symbols in lists], dtype=np.int64)
    return Sequences(codes, lengths, tuple(range(n_symbols)))


def by_chains(tables, data):
    is_observed = data.codes >= 0
    features = np.zeros((data.n_positions, data.n_symbols))
    features[is_observed, data.codes[is_observed]] = 1.0
    return expectation(
        tables.layout, ObservedFeatures.of([features], [~is_observed], data.lengths)
    )(tables.flat)


@pytest.mark.parametrize("n_states", [1, 3, 4, 6])
@given(lists=LISTS)
def test_expected_counts_are_those_of_the_passes_over_chains(n_states, lists):
    data = made(lists)
    tables = random_hmm_tables(n_states, 4, np.random.default_rng(n_states))
    log, counts = by_chains(tables, data)
    packed = Packed.of(data, n_states)
    assert packed.n_positions == data.n_positions
    log_likelihood, expected = packed.expect(tables.flat)
    assert log_likelihood == pytest.approx(log, abs=1e-9)
    assert expected == pytest.approx(counts, abs=1e-9)
    assert log_likelihoods(tables, data).sum() == pytest.approx(log, abs=1e-9)


@pytest.mark.parametrize("filled", [0.0, 2.0])
def test_sequences_walked_alone_count_as_those_in_batches(filled, monkeypatch):
    model = random_hmm(3, 5, random_state=0)
    data = model.sample(100, np.arange(100) % 13, 1)
    data.codes[::7] = -1
    log, counts = by_chains(model.tables, data)
    monkeypatch.setattr(hmm, "_LEAST_FILLED", filled)
    packed = Packed.of(data, 3)
    assert bool(packed.alone) == (filled == 2.0)
    log_likelihood, expected = packed.expect(model.tables.flat)
    assert log_likelihood == pytest.approx(log, rel=1e-12)
    assert expected == pytest.approx(counts, abs=1e-8)


def test_expected_counts_do_not_depend_on_threads(monkeypatch):
    model = random_hmm(3, 5, random_state=0)
    data = model.sample(300, 6, 1)
    monkeypatch.setattr(hmm, "_BLOCKS_APART", 2)
    one, two = (Packed.of(data, 3, n_jobs).expect(model.tables.flat) for n_jobs in (1, 2))
    assert one[0] == two[0]
    assert np.array_equal(one[1], two[1])


def test_compiled_passes_agree_with_their_python_source(monkeypatch):
    model = random_hmm(3, 5, random_state=0)
    data = model.sample(5, np.array([0, 1, 2, 3, 5]), 1)
    data.codes[1] = -1
    packed = Packed.of(data, 3)
    compiled = packed.expect(model.tables.flat)
    logs = log_likelihoods(model.tables, data)
    with python_source(loops):
        plain = packed.expect(model.tables.flat)
        assert log_likelihoods(model.tables, data) == pytest.approx(logs, rel=1e-12)
    assert compiled[0] == pytest.approx(plain[0], rel=1e-12)
    assert compiled[1] == pytest.approx(plain[1], abs=1e-12)


def test_single_precision_is_near_double():
    model = random_hmm(5, 8, random_state=0)
    packed = Packed.of(model.sample(200, 20, 1), 5)
    one, two = (packed.expect(model.tables.flat, kind) for kind in (np.float32, np.float64))
    assert one[0] == pytest.approx(two[0], rel=1e-6)
    assert one[1] == pytest.approx(two[1], rel=1e-3, abs=1e-3)


def test_log_likelihoods_are_those_of_enumeration():
    model = random_hmm(3, 4, random_state=1)
    strings = np.array(list(np.ndindex(4, 4, 4)), dtype=np.int32)
    data = Sequences(strings.ravel(), np.full(64, 3), tuple(range(4)))
    probabilities = np.exp(log_likelihoods(model.tables, data))
    assert probabilities == pytest.approx(model.string_table(3).ravel(), rel=1e-12)
    gaps = Sequences(np.array([0, -1, 2], np.int32), np.array([3]), tuple(range(4)))
    summed = model.string_table(3)[0, :, 2].sum()
    assert np.exp(log_likelihoods(model.tables, gaps)) == pytest.approx(summed)


def test_a_sequence_that_cannot_be_has_probability_zero():
    tables = random_hmm_tables(2, 3, np.random.default_rng(0))
    tables.emit[0][:, 2] = 0.0
    logs = log_likelihoods(tables, made([[0, 2, 1], [], [1]], 3))
    assert logs[0] == -np.inf
    assert logs[1] == 0
    assert np.isfinite(logs[2])


@pytest.mark.parametrize("pseudo_counts", [0.0, 2.0, (1.0, 0.5, 3.0)])
def test_steps_of_em_never_go_downhill(pseudo_counts):
    data = random_hmm(3, 5, random_state=0).sample(60, 7, 1)
    packed = Packed.of(data, 3)
    step = hmm_step(packed, hmm_prior(packed.layout, pseudo_counts))
    values, before = random_hmm_tables(3, 5, np.random.default_rng(0)).flat, -np.inf
    for _ in range(25):
        objective, values, _ = step(values)
        assert objective >= before - 1e-9
        before = objective


@pytest.mark.parametrize("accelerated", [True, False])
def test_polish_leads_to_a_fixed_point_above_the_truth(accelerated):
    model = random_hmm(2, 4, random_state=3)
    data = model.sample(400, 10, 1)
    packed = Packed.of(data, 2)
    tables, em_run = polished_hmm(
        model.tables, packed, gain=1e-7, max_iter=3000, accelerated=accelerated
    )
    assert em_run.converged
    assert log_likelihoods(tables, data).sum() >= model.log_prob(data).sum()
    again = hmm_step(packed, hmm_prior(packed.layout, 0.0))(tables.flat)[1]
    assert again == pytest.approx(tables.flat, abs=1e-2)


@pytest.mark.parametrize("accelerated", [False, True])
@pytest.mark.parametrize("pseudo_counts", [0.0, 1.0])
def test_with_a_stationary_start_the_likelihood_never_falls(accelerated, pseudo_counts):
    for seed in range(
        6
    ):  # starts weigh a third of all: as if they were fixed, steps would go downhill
        data = random_hmm(3, 4, stationary=True, random_state=seed).sample(60, 3, seed)
        packed = Packed.of(data, 3)
        actual, em_run = polished_hmm(
            random_hmm_tables(3, 4, np.random.default_rng(seed)),
            packed,
            gain=1e-3,
            max_iter=100,
            pseudo_counts=pseudo_counts,
            accelerated=accelerated,
            stationary=True,
        )
        assert min(np.diff(em_run.trace)) > -1e-9
        prior = hmm_prior(packed.layout, pseudo_counts)
        log_prior = prior @ np.log(np.maximum(actual.flat, 1e-300))
        value = log_likelihoods(actual, data).sum() + log_prior
        assert value >= em_run.objective - 1e-9


def test_the_best_moves_of_a_stationary_chain_cannot_be_bettered_nearby():
    rng = np.random.default_rng(0)
    starts, counts = 50 * rng.random(4), 20 * rng.random((4, 4))
    transitions = stationary_transitions(starts, counts, np.full((4, 4), 0.25), n_steps=500)
    best = expected_log(starts, counts, transitions)
    even = counts / counts.sum(axis=1, keepdims=True)
    assert best > expected_log(starts, counts, even) + 1
    assert long_run(transitions) @ transitions == pytest.approx(long_run(transitions))
    for _ in range(50):
        other = transitions * np.exp(0.02 * rng.normal(size=transitions.shape))
        assert expected_log(starts, counts, other / other.sum(axis=1, keepdims=True)) <= best


def test_moves_that_nothing_leads_to_stay_as_they_are():
    transitions = np.array([[1.0, 0.0], [0.3, 0.7]])
    actual = stationary_transitions(
        np.array([5.0, 0.0]), np.array([[9.0, 0.0], [0.0, 0.0]]), transitions
    )
    assert actual == pytest.approx(transitions)


def test_a_stationary_start_stays_so():
    data = random_hmm(2, 4, random_state=3).sample(200, 10, 1)
    first = random_hmm_tables(2, 4, np.random.default_rng(0))
    actual, _ = polished_hmm(first, Packed.of(data, 2), gain=1e-2, max_iter=40, stationary=True)
    assert actual.initial @ actual.transitions == pytest.approx(actual.initial, abs=1e-9)


def test_restarts_return_the_best_of_them():
    data = random_hmm(3, 6, random_state=3).sample(200, 10, 1)
    packed = Packed.of(data, 3)
    tables, diagnostics = em_restarts(packed, n_restarts=3, max_iter=20, random_state=0)
    assert len(diagnostics["objectives"]) == 3
    assert log_likelihoods(tables, data).sum() >= max(diagnostics["objectives"]) - 1e-6
    again, _ = em_restarts(packed, n_restarts=3, max_iter=20, random_state=0)
    assert np.array_equal(again.flat, tables.flat)


def test_steps_by_batches_come_near_the_truth():
    model = random_hmm(2, 5, random_state=4)
    data, test = model.sample(3000, 10, 1), model.sample(1000, 10, 2)
    first = random_hmm_tables(2, 5, np.random.default_rng(1))
    reports = []
    actual = stepwise_hmm(
        first, data, n_passes=4, random_state=0, progress=lambda *said: reports.append(said)
    )
    assert len(reports) == 4
    truth = model.log_prob(test).mean()
    before, after = (truth - log_likelihoods(t, test).mean() for t in (first, actual))
    assert after < 0.2 * before


def test_a_batch_of_nothing_changes_nothing():
    tables = random_hmm_tables(2, 3, np.random.default_rng(0))
    online = OnlineHmm.of(tables)
    assert online.updated(made([[], []], 3), n_sequences=2) is online


def test_one_step_is_one_iteration_of_hmmlearn():
    peers = pytest.importorskip("hmmlearn.hmm")
    data = random_hmm(3, 5, random_state=0).sample(80, np.arange(80) % 9 + 1, 1)
    first = random_hmm_tables(3, 5, np.random.default_rng(2))
    other = peers.CategoricalHMM(3, n_features=5, n_iter=1, init_params="", random_state=0)
    other.startprob_, other.transmat_, other.emissionprob_ = (
        first.initial,
        first.transitions,
        first.emit[0],
    )
    column = data.codes[:, None]
    assert other.score(column, data.lengths) == pytest.approx(log_likelihoods(first, data).sum())
    other.fit(column, data.lengths)
    packed = Packed.of(data, 3)
    actual = packed.layout.tables(hmm_step(packed, hmm_prior(packed.layout, 0.0))(first.flat)[1])
    assert actual.initial == pytest.approx(other.startprob_, abs=1e-9)
    assert actual.transitions == pytest.approx(other.transmat_, abs=1e-9)
    assert actual.emit[0] == pytest.approx(other.emissionprob_, abs=1e-9)
