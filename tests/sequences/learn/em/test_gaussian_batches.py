"""Sequences side by side: the same expectations as one sequence after the other, and as by enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from oracles.gaussians import random_gaussian_chain
from tacit.sequences.learn.em.gaussian_hmm import Rows, expected, gaussian_step, in_batches
from tacit.sequences.loops.gaussian_expectations import BATCH_SIZE, exponentials_of
from tacit.sequences.model.gaussian_hmm import GaussianChain, GaussianLayout


def random_chain(seed, n_states, n_columns, diagonal):
    return random_gaussian_chain(n_states, n_columns, diagonal, spread=0.5, random_state=seed)


def rows_of(lengths, n_columns, seed=0):
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Rows(np.random.default_rng(seed).normal(size=(ends[-1], n_columns)), ends)


def numbers(expected_counts):
    sums = expected_counts.sums
    parts = (
        expected_counts.log_likelihood,
        expected_counts.starts,
        expected_counts.transitions,
        expected_counts.visits,
    )
    return [np.asarray(part) for part in (*parts, sums.visits, sums.firsts, sums.seconds)]


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 5),
    st.integers(1, 4),
    st.integers(1, 3),
    st.booleans(),
    st.lists(st.integers(0, 9), min_size=1, max_size=3 * BATCH_SIZE),
)
def test_in_batches_is_one_after_the_other(seed, n_states, n_columns, diagonal, lengths):
    chain = random_chain(seed, n_states, n_columns, diagonal)
    rows = rows_of([*lengths, 1], n_columns)
    apart, beside = Rows(rows.values, rows.ends), Rows(rows.values, rows.ends)
    apart.__dict__["batches"] = None
    beside.__dict__["batches"] = in_batches(rows.values, rows.ends)
    pairs = zip(numbers(expected(chain, beside)), numbers(expected(chain, apart)), strict=True)
    for actual, expected_value in pairs:
        assert actual == pytest.approx(expected_value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("diagonal", [True, False])
def test_expectations_are_sums_over_paths(diagonal):
    chain = random_chain(3, 3, 2, diagonal)
    rows = rows_of([3] * BATCH_SIZE, 2)
    assert rows.batches is not None
    logs, visits, firsts = 0.0, np.zeros(3), np.zeros((3, 2))
    normals = [
        multivariate_normal(*density)
        for density in zip(chain.means, chain.covariances, strict=True)
    ]
    for first in rows.ends[:-1]:
        values = rows.values[first : first + 3]
        likely = np.array([[normal.pdf(row) for normal in normals] for row in values])
        weights = np.zeros((3, 3))
        for path in product(range(3), repeat=3):
            weight = chain.initial[path[0]] * chain.transitions[path[0], path[1]]
            weight *= chain.transitions[path[1], path[2]] * likely[np.arange(3), path].prod()
            weights[np.arange(3), path] += weight
        logs += np.log(weights[0].sum())
        posterior = weights / weights[0].sum()
        visits += posterior.sum(axis=0)
        firsts += posterior.T @ values
    expected_counts = expected(chain, rows)
    assert expected_counts.log_likelihood == pytest.approx(logs, rel=1e-10)
    assert expected_counts.visits == pytest.approx(visits, rel=1e-10)
    assert expected_counts.sums.firsts == pytest.approx(firsts, rel=1e-9, abs=1e-9)


def test_blocks_are_used_where_little_of_them_is_padding():
    assert rows_of([5] * BATCH_SIZE, 1).batches is not None
    assert rows_of([5] * (BATCH_SIZE // 2 - 1), 1).batches is None
    assert rows_of([], 1).batches is None
    with_missing = rows_of([5] * BATCH_SIZE, 1)
    with_missing.values[3] = np.nan
    assert with_missing.batches is None


def test_outlying_numbers_are_far_less_likely_and_finite():
    chain = random_chain(1, 3, 1, True)
    rows = rows_of([4] * BATCH_SIZE, 1)
    rows.values[7] = 1e4
    expected_counts = expected(chain, rows)
    apart = Rows(rows.values, rows.ends)
    apart.__dict__["batches"] = None
    assert expected_counts.log_likelihood == pytest.approx(
        expected(chain, apart).log_likelihood, rel=1e-12
    )
    assert expected_counts.visits.sum() == pytest.approx(len(rows.values))


def test_exponentials_are_those_of_the_library():
    logs = -np.concatenate([[0.0], np.geomspace(1e-12, 229.0, 4000)])
    powers, power = logs.copy(), np.empty(len(logs))
    exponentials_of(powers, power, power.view(np.int64))
    assert powers == pytest.approx(np.exp(logs), rel=1e-14)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("n_columns", [1, 3])
@pytest.mark.parametrize("strength", [0.0, 0.7])
def test_the_compiled_step_is_the_plain_one(diagonal, n_columns, strength):
    chain = random_chain(2, 3, n_columns, diagonal)
    rows = rows_of([4] * BATCH_SIZE, n_columns)
    apart = Rows(rows.values, rows.ends)
    apart.__dict__["batches"] = None
    layout = GaussianLayout(3, n_columns, diagonal)
    values = layout.flat(chain)
    compiled = gaussian_step(layout, rows, strength)(values)
    plain = gaussian_step(layout, apart, strength)(values)
    for one, other in zip(compiled, plain, strict=True):
        assert one == pytest.approx(other, rel=1e-9)


def test_a_state_that_is_nowhere_is_left_alone_by_the_compiled_step():
    chain = random_chain(2, 2, 1, True)
    far = GaussianChain(np.array([1.0, 0.0]), np.eye(2), chain.means, chain.covariances, True)
    layout, rows = GaussianLayout(2, 1, True), rows_of([4] * BATCH_SIZE, 1)
    _, image, _ = gaussian_step(layout, rows, 0.0)(layout.flat(far))
    better = layout.chain(image)
    assert better.covariances[1, 0, 0] == 1.0
    assert better.means[0] == pytest.approx(rows.values.mean(axis=0))
