"""Gaussian hidden Markov models: likelihoods by enumeration, and EM that improves."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import tacit
from oracles.gaussians import random_gaussian_chain
from tacit.core.em import AbsoluteGain, run_em
from tacit.core.linalg.cells import cells_of
from tacit.sequences.learn.em.gaussian_hmm import (
    COMMON,
    STARTS,
    TRANSITIONS,
    Rows,
    densities,
    gaussian_step,
    log_prior,
    polished_gaussian,
    row_sums,
)
from tacit.sequences.learn.starts.gaussian_hmm import neighbours
from tacit.sequences.loops.gaussian_densities import correlated, exponentials, independent
from tacit.sequences.model.gaussian_hmm import GaussianChain, GaussianLayout
from tacit.sequences.query.gaussian_emissions import drawn_rows, log_densities, number_evidence
from tacit.sequences.query.hidden_states import drawn_states, filtered, smoothed, viterbi


def random_chain(seed, n_states=3, n_columns=2, diagonal=False, apart=1.5):
    return random_gaussian_chain(
        n_states, n_columns, diagonal, spread=0.5, apart=apart, stay=0.5, random_state=seed
    )


def drawn(chain, n, length, seed=0, gone=0.0):
    rng = np.random.default_rng(seed)
    states = drawn_states(chain, chain.initial, (n, length), rng)
    values = drawn_rows(chain, states, rng).reshape(n * length, -1)
    values[rng.random(values.shape) < gone] = np.nan
    return values, np.arange(n + 1, dtype=np.int64) * length


def density(chain, state, row):
    is_observed = ~np.isnan(row)
    if not is_observed.any():
        return 1.0
    covariance = chain.covariances[state][np.ix_(is_observed, is_observed)]
    return multivariate_normal(chain.means[state][is_observed], covariance).pdf(row[is_observed])


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_densities_are_those_of_scipy_and_missing_numbers_are_summed_out(diagonal, n_columns):
    chain = random_chain(1, n_columns=n_columns, diagonal=diagonal)
    values, _ = drawn(chain, 10, 4, gone=0.3)
    actual = log_densities(chain, values)
    for row, logs in zip(values, actual, strict=True):
        expected = [np.log(density(chain, m, row)) for m in range(chain.n_states)]
        assert logs == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("diagonal", [True, False])
def test_every_answer_is_a_sum_over_all_paths(diagonal):
    chain = random_chain(2, diagonal=diagonal)
    values, ends = drawn(chain, 3, 3, gone=0.2)
    seen = number_evidence(chain, values, ends)
    logs, posterior = filtered(chain, seen).log_probs(), smoothed(chain, seen)
    path, tops = viterbi(chain, seen)
    for number in range(3):
        rows = values[3 * number : 3 * number + 3]
        weights, states = [], np.zeros((3, chain.n_states))
        for item in product(range(chain.n_states), repeat=3):
            weight = chain.initial[item[0]] * chain.transitions[item[0], item[1]]
            weight *= chain.transitions[item[1], item[2]]
            weight *= np.prod([density(chain, m, row) for m, row in zip(item, rows, strict=True)])
            weights.append((weight, item))
            states[np.arange(3), item] += weight
        total = sum(weight for weight, _ in weights)
        assert logs[number] == pytest.approx(np.log(total), abs=1e-9)
        assert posterior[3 * number : 3 * number + 3] == pytest.approx(states / total, abs=1e-9)
        best, where = max(weights)
        assert tops[number] == pytest.approx(np.log(best), abs=1e-9)
        assert path[3 * number : 3 * number + 3].tolist() == list(where)


@pytest.mark.parametrize("diagonal", [True, False])
def test_flat_numbers_are_the_chain(diagonal):
    chain = random_chain(3, diagonal=diagonal)
    layout = GaussianLayout(3, 2, diagonal)
    values = layout.flat(chain)
    assert layout.allowed(values) == pytest.approx(values, rel=1e-12)
    back = layout.chain(values)
    for name in ("initial", "transitions", "means", "covariances", "factors"):
        assert getattr(back, name) == pytest.approx(getattr(chain, name), abs=1e-12)
    masses = layout.masses(chain, np.ones(3), np.ones((3, 3)), np.ones(3))
    assert len(masses) == len(values) == layout.bounds[-1]
    assert layout.n_parameters == 2 + 6 + 6 + (6 if diagonal else 9)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("gone", [0.0, 0.2])
def test_each_step_improves_and_acceleration_gets_as_far(diagonal, gone):
    chain = random_chain(4, diagonal=diagonal)
    values, ends = drawn(chain, 150, 10, gone=gone)
    rows = Rows(values, ends)
    initial = random_chain(5, diagonal=diagonal)
    layout = GaussianLayout(3, 2, diagonal)
    step = gaussian_step(layout, rows)
    plain = run_em(step, layout.flat(initial), AbsoluteGain(1e-3), max_iter=400)
    assert (np.diff(plain.trace) > -1e-7).all()
    best, actual = polished_gaussian(initial, rows, gain=1e-3, max_iter=400)
    assert actual.converged
    assert actual.objective > plain.objective - 0.5
    assert actual.n_steps < plain.n_steps
    assert best.transitions.sum(axis=1) == pytest.approx(1)


def chain_of(means, covariances, diagonal):
    k = len(means)
    return GaussianChain(np.ones(k) / k, np.full((k, k), 1 / k), means, covariances, diagonal)


def small_changes(rng, chain):
    """Chains with means or covariances a little aside."""
    shape = chain.covariances.shape
    change = 0.01 * rng.normal(size=shape)
    change = (change + change.transpose(0, 2, 1)) * (np.eye(shape[1]) if chain.diagonal else 1.0)
    yield replace(chain, means=chain.means + 0.01 * rng.normal(size=shape[:2]))
    yield replace(chain, covariances=chain.covariances + change)


def prior_about(chain, spread, strength):
    """The log prior where a common spread is given, whatever that of the chain is."""
    inverse, k = np.linalg.inv(chain.covariances), chain.n_states
    weight = strength * (COMMON + (1 if chain.diagonal else chain.n_columns))
    own, other = chain.common_spread, spread
    logs = np.linalg.slogdet(other)[1] - np.linalg.slogdet(own)[1]
    traces = sum(np.trace((other - own) @ item) for item in inverse)
    return log_prior(chain, strength) + 0.5 * weight * (k * logs - traces)


@pytest.mark.parametrize("diagonal", [True, False])
def test_the_maximum_of_a_step_is_one(diagonal):
    """Means and covariances of the M-step against small changes of them."""
    rng = np.random.default_rng(6)
    values = rng.normal(size=(40, 2))
    rows = Rows(values, np.array([0, 40]))
    posterior = rng.dirichlet(np.ones(2), 40)
    before = random_chain(6, n_states=2, diagonal=diagonal)
    sums = row_sums(rows, posterior, None, diagonal=diagonal)
    best = chain_of(*densities(sums, 0.7, before), diagonal)

    def expected(chain):
        likely = float((posterior * log_densities(chain, values)).sum())
        return likely + prior_about(chain, before.common_spread, 0.7)

    for _ in range(20):
        for other in small_changes(rng, best):
            assert expected(other) < expected(best)


@pytest.mark.parametrize("diagonal", [True, False])
def test_of_all_spreads_the_common_one_is_the_likeliest(diagonal):
    """So that taking it from the states before never loses what a step gains."""
    rng = np.random.default_rng(13)
    chain = random_chain(7, diagonal=diagonal)
    top = prior_about(chain, chain.common_spread, 1.0)
    assert top == pytest.approx(log_prior(chain, 1.0), abs=1e-12)
    for _ in range(20):
        change = 0.02 * rng.normal(size=(2, 2))
        change = (change + change.T) * (np.eye(2) if diagonal else 1.0)
        assert prior_about(chain, chain.common_spread + change, 1.0) < top


def test_wider_densities_are_nearer_to_the_truth_on_average():
    """Of states that are known; the likeliest densities come of a prior of no strength."""
    truth, losses = random_chain(8, n_columns=3), []
    for seed in range(200):
        states = np.repeat(np.arange(3), 15)
        values = drawn_rows(truth, states, np.random.default_rng(seed))
        rows = Rows(values, np.array([0, len(values)]))
        sums = row_sums(rows, np.eye(3)[states], None, diagonal=False)
        plain = chain_of(*densities(sums, 0.0), False)
        for chain in (plain, chain_of(*densities(sums, 1.0, plain), False)):
            inner = np.linalg.inv(chain.covariances)
            away = truth.means - chain.means
            divergence = np.einsum("kij,kji->", inner, truth.covariances)
            divergence += np.einsum("ki,kij,kj->", away, inner, away)
            divergence -= np.linalg.slogdet(inner @ truth.covariances)[1].sum()
            losses.append(0.5 * (divergence - 9))
    likeliest, wider = np.array(losses).reshape(-1, 2).T
    assert wider.mean() < 0.8 * likeliest.mean()


def test_a_state_that_is_never_visited_keeps_to_the_prior():
    rows = Rows(np.random.default_rng(7).normal(size=(50, 2)), np.array([0, 50]))
    posterior = np.eye(3)[np.zeros(50, dtype=int)]
    for strength, diagonal in product((0.0, 1.0), (True, False)):
        sums = row_sums(rows, posterior, None, diagonal=diagonal)
        for chain in (None, random_chain(7, diagonal=diagonal)):
            means, covariances = densities(sums, strength, chain)
            assert np.isfinite(means).all()
            assert not means[1:].any()
            assert (np.linalg.eigvalsh(covariances) > 0).all()


def test_numbers_far_out_and_constant_columns_do_not_break_it():
    values = np.random.default_rng(8).normal(size=(400, 2))
    values[:200, 1] = 0.25
    values[7, 0] = 3000.0
    initial = random_chain(9)
    best, _ = polished_gaussian(
        initial, Rows(values, np.array([0, 200, 400])), gain=1e-2, max_iter=60
    )
    assert np.isfinite(best.means).all()
    assert (np.linalg.eigvalsh(best.covariances) > 0).all()


def stationary(chain):
    return replace(chain, initial=chain.stationary)


def value(chain, rows, pseudo_counts):
    """Log-likelihood of some rows with the prior of densities, initial states and transitions."""
    seen = number_evidence(chain, rows.values, rows.ends)
    strength, first, others = (
        (1.0, STARTS, TRANSITIONS) if pseudo_counts is None else (pseudo_counts,) * 3
    )
    prior = sum(
        weight / chain.n_states * np.log(table).sum()
        for weight, table in ((first, chain.initial), (others, chain.transitions))
    )
    return filtered(chain, seen).log_probs().sum() + log_prior(chain, strength) + prior


@pytest.mark.parametrize("accelerated", [False, True])
@pytest.mark.parametrize("pseudo_counts", [0.01, None])
def test_with_a_stationary_start_the_likelihood_never_falls(accelerated, pseudo_counts):
    # Starts weigh a third of all: as if they were fixed, steps would go downhill.
    for seed in range(6):
        rows = Rows(*drawn(stationary(random_chain(seed, apart=0.8)), 80, 3, seed))
        first = stationary(random_chain(100 + seed))
        if accelerated:
            best, actual = polished_gaussian(
                first, rows, gain=1e-3, max_iter=100, pseudo_counts=pseudo_counts, stationary=True
            )
        else:
            layout = GaussianLayout(3, 2, diagonal=False)
            step = gaussian_step(layout, rows, pseudo_counts, stationary=True)
            rule = AbsoluteGain(1e-3)
            actual = run_em(step, layout.flat(first), rule, max_iter=100, warn=False)
            best = layout.chain(actual.values)
        assert len(actual.trace) > 10
        assert actual.trace[0] == pytest.approx(value(first, rows, pseudo_counts), abs=1e-4)
        assert min(np.diff(actual.trace)) > -1e-9
        assert value(best, rows, pseudo_counts) >= actual.objective - 1e-9
        assert best.initial @ best.transitions == pytest.approx(best.initial, abs=1e-9)


def test_counts_of_starts_say_something_of_stationary_moves():
    """Sequences of one position show nothing but the long run."""
    truth = GaussianChain(
        np.array([0.8, 0.2]),
        np.array([[0.9, 0.1], [0.4, 0.6]]),
        np.array([[-9.0], [9.0]]),
        np.ones((2, 1, 1)),
        diagonal=True,
    )
    rows = Rows(*drawn(truth, 500, 1))
    first = replace(truth, initial=np.full(2, 0.5), transitions=np.full((2, 2), 0.5))
    best, _ = polished_gaussian(
        first, rows, gain=1e-6, max_iter=200, pseudo_counts=0.0, stationary=True
    )
    # Half a hundredth is a twentieth of a nat here: the last steps are small.
    assert best.initial[1] == pytest.approx(np.mean(rows.values > 0), abs=5e-3)
    assert best.initial @ best.transitions == pytest.approx(best.initial, abs=1e-9)


@pytest.mark.parametrize("n_columns", [1, 2])
def test_cells_hold_about_the_same_and_none_is_empty(n_columns):
    rng = np.random.default_rng(11)
    values = rng.normal(size=(3000, n_columns))
    values[5] = np.nan
    codes = cells_of(values, 16, rng)
    assert codes[5] == -1
    counts = np.bincount(codes[codes >= 0])
    assert len(counts) == 16
    assert counts.min() > 20
    few = cells_of(np.repeat([[0.0], [1.0]], 30, axis=0).repeat(n_columns, axis=1), 16, rng)
    assert len(np.unique(few)) == 2
    assert len(np.unique(few[:30])) == 1


def test_neighbours_are_those_of_the_same_sequence():
    rng = np.random.default_rng(14)
    values = rng.normal(size=(9, 2))
    values[4, 0] = np.nan
    ends = np.array([0, 0, 4, 5, 9, 9])
    expected = np.zeros((9, 2))
    for first, end in pairwise(ends):
        for t, column in product(range(first, end), range(2)):
            near = [values[s, column] for s in (t - 1, t + 1) if first <= s < end]
            known = [item for item in near if not np.isnan(item)]
            expected[t, column] = np.mean(known) if known else 0.0
    assert neighbours(values, ends) == pytest.approx(expected / expected.std(axis=0))


def test_compiled_loops_agree_with_their_python_source():
    rng = np.random.default_rng(12)
    values, means = rng.normal(size=(6, 2)), rng.normal(size=(3, 2))
    values[2, 1] = np.nan
    spread = 0.5 + rng.random((3, 2))
    outs = [np.zeros((6, 3)) for _ in range(4)]
    independent(values, means, spread, outs[0])
    independent.py_func(values, means, spread, outs[1])
    assert outs[0] == pytest.approx(outs[1], rel=1e-12)
    lower = np.tril(rng.random((3, 2, 2)) + np.eye(2))
    values = np.nan_to_num(values)
    correlated(values, means, lower, rng.random(3) * 0, outs[2])
    correlated.py_func(values, means, lower, np.zeros(3), outs[3])
    assert outs[2] == pytest.approx(outs[3], rel=1e-12)
    taken = np.zeros(6), np.zeros(6)
    exponentials(outs[2], taken[0])
    exponentials.py_func(outs[3], taken[1])
    assert outs[2] == pytest.approx(outs[3], rel=1e-12)
    assert outs[2].max(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(3))
def test_few_rows_of_many_columns_are_learnt(seed):
    # Extrapolated steps reached singular covariances here.
    rows = np.random.default_rng(seed).normal(size=(20, 5))
    assert np.isfinite(tacit.HMM(2).fit(rows).score(rows))
