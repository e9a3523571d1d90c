"""Densities, conditionals and draws of Gaussian rows with holes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from oracles.gaussians import conditional, random_gaussian, with_holes
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.query.gaussian import conditionals, fill, log_density, patterns, sample

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 7), st.floats(0, 1))
def test_densities_are_those_of_scipy(seed, d, share):
    rng = np.random.default_rng(seed)
    gaussian = random_gaussian(d, rng)
    rows = with_holes(rng.normal(size=(8, d)), share, rng)
    actual = log_density(gaussian, rows)
    for row, value in zip(rows, actual, strict=True):
        there = ~np.isnan(row)
        if not there.any():
            assert value == 0.0
            continue
        cov = gaussian.covariance[np.ix_(there, there)]
        truth = multivariate_normal(gaussian.mean[there], cov).logpdf(row[there])
        assert value == pytest.approx(truth, rel=1e-8, abs=1e-8)


@given(seeds, st.integers(2, 6), st.floats(0, 0.9))
def test_conditionals_are_those_of_plain_algebra(seed, d, share):
    rng = np.random.default_rng(seed)
    gaussian = random_gaussian(d, rng)
    rows = with_holes(rng.normal(size=(6, d)), share, rng)
    mean, scale = conditionals(gaussian, rows, 0)
    for row, m, s in zip(rows, mean, scale, strict=True):
        asked = row.copy()
        asked[0] = np.nan
        means, cov = conditional(gaussian, asked)
        assert m == pytest.approx(means[0], abs=1e-8)
        assert s**2 == pytest.approx(cov[0, 0], abs=1e-8)


@given(seeds, st.integers(2, 6))
def test_a_density_is_that_of_one_cell_given_the_others_times_that_of_the_others(seed, d):
    rng = np.random.default_rng(seed)
    gaussian = random_gaussian(d, rng)
    rows = rng.normal(size=(5, d))
    rest = rows.copy()
    rest[:, 1] = np.nan
    mean, scale = conditionals(gaussian, rows, 1)
    chain = log_density(gaussian, rest) + norm(mean, scale).logpdf(rows[:, 1])
    assert log_density(gaussian, rows) == pytest.approx(chain, rel=1e-8, abs=1e-8)


@given(seeds, st.permutations(range(5)))
def test_the_order_of_the_coordinates_does_not_matter(seed, order):
    rng = np.random.default_rng(seed)
    gaussian = random_gaussian(5, rng)
    rows = with_holes(rng.normal(size=(9, 5)), 0.3, rng)
    moved = Gaussian(gaussian.mean[order], gaussian.covariance[np.ix_(order, order)])
    assert log_density(moved, rows[:, order]) == pytest.approx(
        log_density(gaussian, rows), abs=1e-9
    )
    ours, theirs = fill(gaussian, rows), fill(moved, rows[:, order])
    assert theirs.values == pytest.approx(ours.values[:, order], abs=1e-8)


def test_what_is_there_stays_as_it_is_to_the_last_digit():
    rng = np.random.default_rng(0)
    gaussian = Gaussian(np.full(4, 1e6 / 3), random_gaussian(4, rng).covariance)
    rows = with_holes(rng.normal(size=(50, 4)), 0.4, rng)
    values = fill(gaussian, rows).values
    there = ~np.isnan(rows)
    assert np.array_equal(values[there], rows[there])
    assert not np.isnan(values).any()


def test_the_spread_is_the_sum_of_conditional_covariances():
    rng = np.random.default_rng(0)
    gaussian = random_gaussian(4, rng)
    rows, weights = with_holes(rng.normal(size=(20, 4)), 0.4, rng), rng.random(20)
    expected = np.zeros((4, 4))
    for row, weight in zip(rows, weights, strict=True):
        gone = np.isnan(row)
        expected[np.ix_(gone, gone)] += weight * conditional(gaussian, row)[1]
    assert fill(gaussian, rows, spread=True, weights=weights).spread == pytest.approx(
        expected, abs=1e-9
    )


def test_patterns_put_equal_rows_side_by_side():
    absent = np.random.default_rng(0).random((40, 11)) < 0.1
    order, starts, pattern = patterns(absent)
    assert sorted(order) == list(range(40))
    assert starts[-1] == 40
    for number in range(len(starts) - 1):
        members = order[starts[number] : starts[number + 1]]
        assert (pattern[members] == number).all()
        assert (absent[members] == absent[members[0]]).all()
    assert len({tuple(row) for row in absent}) == len(starts) - 1
    empty = patterns(np.zeros((0, 3), dtype=bool))
    assert [len(item) for item in empty] == [0, 1, 0]


def test_draws_have_the_conditional_mean_and_covariance():
    rng = np.random.default_rng(0)
    gaussian = random_gaussian(4, rng)
    row = np.array([1.0, np.nan, -0.5, np.nan])
    drawn = sample(gaussian, np.repeat(row[None], 200_000, axis=0), rng)
    assert (drawn[:, [0, 2]] == [1.0, -0.5]).all()
    mean, cov = conditional(gaussian, row)
    # Standard errors of means and covariances are below 0.01 here.
    assert drawn[:, [1, 3]].mean(axis=0) == pytest.approx(mean, abs=0.05)
    assert np.cov(drawn[:, [1, 3]].T) == pytest.approx(cov, abs=0.1)
    free = sample(gaussian, np.full((200_000, 4), np.nan), rng)
    assert np.cov(free.T) == pytest.approx(gaussian.covariance, abs=0.15)
