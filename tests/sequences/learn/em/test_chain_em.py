"""EM on hidden Markov models: expected counts by enumeration, monotone steps, missing positions."""

from itertools import product

import numpy as np
import pytest

from oracles.chains import random_chain, string_probability
from oracles.python_source import python_source
from tacit.sequences.learn.em.kernel_hmm import (
    ObservedFeatures,
    chain_prior,
    chain_step,
    expectation,
    polished,
    smoothed_states,
    step_logs,
)
from tacit.sequences.learn.starts.kernel_hmm import START_KINDS, clustered_chain, position_features
from tacit.sequences.loops import forward_backward as loops
from tacit.sequences.model.chains import blended
from tacit.sequences.query.operators import evidence_messages, states_now, walked


def observed_of(strings, n_symbols=4, n_columns=1):
    """Indicators of strings; None is missing. Every column is the same string, turned around by place."""
    symbols = [s for string in strings for s in string]
    missing = np.array([s is None for s in symbols])
    codes = np.array([0 if s is None else s for s in symbols])
    columns = [np.eye(n_symbols)[(codes + place) % n_symbols] for place in range(n_columns)]
    return ObservedFeatures.of(columns, [missing] * n_columns, np.array([len(s) for s in strings]))


STRINGS = [[0, 2, None, 1], [3], [], [1, 0, 3]]


def paths_of(chain, string, n_columns=1):
    """All paths of hidden states and their joint probability with the string."""
    for path in product(range(chain.n_states), repeat=len(string)):
        value = 1.0
        for t, state in enumerate(path):
            value *= chain.initial[state] if t == 0 else chain.transitions[path[t - 1], state]
            if string[t] is not None:
                for column in range(n_columns):
                    value *= chain.emit[column][state, (string[t] + column) % 4]
        yield path, value


@pytest.mark.parametrize("n_columns", [1, 2])
def test_expected_counts_are_those_of_enumeration(n_columns):
    chain = random_chain(3, 4, 0, n_columns=n_columns)
    layout = chain.layout
    total, truth = 0.0, np.zeros(layout.size)
    bounds = layout.bounds
    for string in STRINGS:
        paths = list(paths_of(chain, string, n_columns))
        whole = sum(value for _, value in paths)
        total += np.log(whole)
        for path, value in paths:
            share = value / whole
            for t, state in enumerate(path):
                if t == 0:
                    truth[state] += share
                else:
                    truth[bounds[1] + path[t - 1] * 3 + state] += share
                if string[t] is not None:
                    for column in range(n_columns):
                        symbol = (string[t] + column) % 4
                        truth[bounds[2 + column] + state * 4 + symbol] += share
    actual, counts = expectation(layout, observed_of(STRINGS, n_columns=n_columns))(chain.flat)
    assert actual == pytest.approx(total, abs=1e-10)
    assert counts == pytest.approx(truth, abs=1e-10)


def test_compiled_loops_agree_with_their_python_source():
    chain = random_chain(3, 4, 1)
    observed = observed_of(STRINGS)
    logs = np.log(np.random.default_rng(0).random((2, 8)))
    compiled = (
        *expectation(chain.layout, observed)(chain.flat),
        *step_logs(chain, observed),
        smoothed_states(chain, observed),
        loops.switching_log_likelihood(logs, observed.ends, 0.1),
    )
    with python_source(loops):
        plain = (
            *expectation(chain.layout, observed)(chain.flat),
            *step_logs(chain, observed),
            smoothed_states(chain, observed),
            loops.switching_log_likelihood(logs, observed.ends, 0.1),
        )
    for one, other in zip(compiled, plain, strict=True):
        assert one == pytest.approx(other, rel=1e-12)


def test_steps_and_filters_are_those_of_walks():
    chain = random_chain(3, 4, 2)
    observed = observed_of(STRINGS)
    logs, now = step_logs(chain, observed)
    features = np.where(observed.missing[0][:, None], np.nan, observed.likelihoods[0])
    messages = evidence_messages(chain.operators, [features])
    walk = walked(chain.operators, messages, np.diff(observed.ends))
    assert logs == pytest.approx(walk.steps()[1], abs=1e-12)
    assert now == pytest.approx(states_now(walk, messages), abs=1e-12)


def test_smoothed_states_are_those_of_enumeration():
    chain = random_chain(2, 4, 3)
    string = STRINGS[0]
    actual = smoothed_states(chain, observed_of([string]))
    truth = np.zeros((4, 2))
    for path, value in paths_of(chain, string):
        truth[np.arange(4), list(path)] += value
    assert actual == pytest.approx(truth / truth[0].sum(), abs=1e-12)


def sampled(chain, n, seed):
    """One long string of a chain."""
    rng = np.random.default_rng(seed)
    state = rng.choice(chain.n_states, p=chain.initial)
    string = []
    for _ in range(n):
        string.append(int(rng.choice(chain.emit[0].shape[1], p=chain.emit[0][state])))
        state = rng.choice(chain.n_states, p=chain.transitions[state])
    return string


def test_every_step_improves_and_accelerated_em_gets_higher():
    truth = random_chain(3, 4, 4, stationary=True)
    observed = observed_of([sampled(truth, 400, 0), sampled(truth, 200, 1)])
    initial = random_chain(3, 4, 9)
    step = chain_step(initial.layout, observed, chain_prior(initial.layout))
    values, trace = initial.flat, []
    for _ in range(30):
        objective, values, mass = step(values)
        trace.append(objective)
        assert mass.min() >= 0
    assert (np.diff(trace) > -1e-9).all()
    tables, em_run = polished(initial, observed, gain=1e-6, max_iter=300)
    assert em_run.objective > trace[-1]
    assert tables.transitions.sum(axis=1) == pytest.approx(np.ones(3))
    # What is learnt predicts better than the truth does, on what it was learnt from.
    assert step_logs(tables, observed)[0].sum() > step_logs(truth, observed)[0].sum()


def test_positions_that_are_left_out_teach_nothing():
    string = sampled(random_chain(2, 4, 5), 60, 0)
    left_out = np.arange(60) % 3 == 0
    initial = random_chain(2, 4, 6)
    one, _ = polished(initial, observed_of([string]).without(left_out), gain=1e-3, max_iter=20)
    gaps = [None if gone else symbol for symbol, gone in zip(string, left_out, strict=True)]
    other, _ = polished(initial, observed_of([gaps]), gain=1e-3, max_iter=20)
    assert np.array_equal(one.flat, other.flat)


def test_many_columns_do_not_underflow():
    rng = np.random.default_rng(0)
    likelihoods = [1e-40 * rng.random((5, 3)) for _ in range(12)]
    chain = random_chain(2, 3, 0, n_columns=12)
    observed = ObservedFeatures.of(likelihoods, [np.zeros(5, dtype=bool)] * 12, np.array([5]))
    logs, now = step_logs(chain, observed)
    assert np.isfinite(logs).all()
    assert logs.mean() < -12 * 40 * 2
    assert now.sum(axis=1) == pytest.approx(np.ones(5))


def test_shares_of_a_blend_follow_what_predicts_better():
    parts = [random_chain(2, 4, 1), random_chain(2, 4, 2)]
    string = sampled(parts[0], 50, 3)
    observed = observed_of([string])
    logs = np.array([step_logs(part, observed)[0] for part in parts])
    both = step_logs(blended(parts, np.array([0.5, 0.5]), 0.0), observed)[0].sum()
    assert loops.switching_log_likelihood(logs, observed.ends, 0.0) == pytest.approx(both, abs=1e-9)
    assert logs[1].sum() < both < logs[0].sum() + 1e-9


@pytest.mark.parametrize("kind", START_KINDS)
def test_clusters_of_positions_start_close_to_what_made_them(kind):
    rng = np.random.default_rng(0)
    states = np.repeat(rng.integers(0, 2, 60), 25)
    values = np.where(states == 1, rng.normal(0, 3, 1500), rng.normal(0, 0.5, 1500))
    values[::50] = np.nan
    ends = np.array([0, 700, 700, 1500])
    features = position_features(values[:, None], ends, kind)
    assert np.isfinite(features).all()
    large = (np.abs(values) > 1.5).astype(float)
    likelihoods = np.column_stack([1 - large, large])
    missing = np.isnan(values)
    chain = clustered_chain(features, [likelihoods], [missing], ends, 2, seed=0)
    calm, wild = sorted(chain.emit[0][:, 1])
    assert calm < 0.1
    assert wild > 0.4
    assert chain.transitions.diagonal().min() > 0.8


def test_tiny_sequences_have_a_start_too():
    values, ends = np.array([[1.0], [2.0]]), np.array([0, 1, 1, 2])
    for kind in START_KINDS:
        features = position_features(values, ends, kind)
        chain = clustered_chain(features, [np.eye(2)], [np.zeros(2, dtype=bool)], ends, 3, seed=0)
        assert chain.transitions.sum(axis=1) == pytest.approx(np.ones(3))
        assert string_probability(chain, np.ones((2, 3))) == pytest.approx(1.0)
