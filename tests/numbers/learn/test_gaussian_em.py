"""EM for Gaussian tables with holes, and for correlations along trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from oracles.gaussians import random_gaussian, random_gaussian_tree, rows_with_moments, with_holes
from tacit.errors import ArgumentError, ConvergenceWarning
from tacit.numbers.learn.gaussian_em import (
    _feasible,
    _pack,
    _unpack,
    fit_tree,
    gaussian_em,
    independent,
    tree_log_likelihood,
    tree_step,
)
from tacit.numbers.model.gaussian import CorrelationTree, Gaussian
from tacit.numbers.query.gaussian import log_density
from tacit.trees.structure.topology import Topology

seeds = st.integers(0, 2**32 - 1)


def test_without_holes_it_is_the_mean_and_the_covariance():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 4)) * [1, 10, 100, 1e-3] + [0, 1e6, 5, -2]
    actual = gaussian_em(rows, prior=0.0)
    assert actual.gaussian.mean == pytest.approx(rows.mean(axis=0), rel=1e-12)
    assert actual.gaussian.covariance == pytest.approx(np.cov(rows.T, bias=True), rel=1e-6)
    assert actual.converged
    shrunk = gaussian_em(
        rows, prior=50.0
    ).gaussian.covariance  # as many rows more: half of everything
    expected = np.cov(rows.T, bias=True) / 2
    expected[np.diag_indices(4)] *= 2
    assert shrunk == pytest.approx(expected, rel=1e-6)


@settings(max_examples=30)
@given(seeds, st.integers(2, 6), st.floats(0.05, 0.6), st.sampled_from([0.3, 1.0, 10.0]))
def test_no_step_is_downhill(seed, d, share, prior):
    rng = np.random.default_rng(seed)
    rows = with_holes(rng.normal(size=(60, d)) @ rng.normal(size=(d, d)), share, rng)
    rows[0] = 0.0
    actual = gaussian_em(rows, prior=prior, tol=1e-7, max_iter=500)
    assert np.diff(actual.trace).min() >= -1e-9
    assert np.linalg.eigvalsh(actual.gaussian.covariance)[0] > 0


def test_the_end_is_where_the_likelihood_is_flat():
    rng = np.random.default_rng(3)
    rows = with_holes(rng.normal(size=(80, 2)) @ [[1, 0.8], [0, 0.6]], 0.3, rng)
    actual = gaussian_em(rows, prior=0.0, tol=1e-13, max_iter=1000).gaussian

    def loss(values):
        factor = np.array([[values[2], 0], [values[3], values[4]]])
        return -log_density(Gaussian(values[:2], factor @ factor.T), rows).sum()

    start = [0.0, 0.0, 1.0, 0.0, 1.0]
    options = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 5000}
    best = minimize(loss, start, method="Nelder-Mead", options=options)
    assert -log_density(actual, rows).sum() == pytest.approx(best.fun, abs=1e-7)
    assert actual.mean == pytest.approx(best.x[:2], abs=1e-4)


def test_weights_count_like_repeated_rows():
    rng = np.random.default_rng(0)
    rows = with_holes(rng.normal(size=(40, 3)), 0.3, rng)
    times = rng.integers(1, 4, size=40)
    weighted = gaussian_em(rows, times.astype(float)).gaussian
    repeated = gaussian_em(np.repeat(rows, times, axis=0)).gaussian
    assert weighted.mean == pytest.approx(repeated.mean, abs=1e-9)
    assert weighted.covariance == pytest.approx(repeated.covariance, abs=1e-9)


def test_units_do_not_matter():
    rng = np.random.default_rng(0)
    rows = with_holes(rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)), 0.3, rng)
    plain = gaussian_em(rows).gaussian
    scale, shift = np.array([1e-4, 1.0, 1e4]), np.array([3.0, -1.0, 1e5])
    other = gaussian_em(rows * scale + shift).gaussian
    assert other.mean == pytest.approx(plain.mean * scale + shift, rel=1e-6)
    expected = plain.covariance * np.multiply.outer(scale, scale)
    assert other.covariance == pytest.approx(expected, rel=1e-5)


def test_with_many_rows_holes_hardly_matter():
    rng = np.random.default_rng(0)
    gaussian = random_gaussian(5, rng)
    rows = rows_with_moments(gaussian, 20_000, rng)
    actual = gaussian_em(with_holes(rows, 0.3, rng), prior=0.0, tol=1e-8).gaussian
    size = np.abs(gaussian.covariance).max()
    assert actual.covariance == pytest.approx(gaussian.covariance, abs=0.05 * size)


def test_columns_that_follow_from_others_need_a_prior():
    rows = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    with pytest.raises(ArgumentError, match="some columns are functions of others"):
        gaussian_em(rows, prior=0.0)
    assert np.linalg.eigvalsh(gaussian_em(rows).gaussian.covariance)[0] > 0


def test_constants_have_a_little_spread():
    rows = np.array([[7.0, 0.0, 1e-30], [7.0, 0.0, 2e-30], [7.0, 0.0, np.nan]])
    actual = independent(rows, np.ones(3))
    assert actual.mean[:2].tolist() == [7.0, 0.0]
    assert (actual.scale > 0).all()
    assert actual.scale[0] < 1e-4
    assert actual.scale[2] == pytest.approx(5e-31)
    assert np.isfinite(gaussian_em(rows).trace).all()


def test_large_numbers_with_small_differences_are_no_constants():
    times = 1.6e9 + np.arange(100.0)
    assert independent(times[:, None], np.ones(100)).scale == pytest.approx(times.std(), rel=1e-9)


def test_too_few_steps_raise_a_warning():
    rng = np.random.default_rng(0)
    rows = with_holes(rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4)), 0.5, rng)
    with pytest.warns(ConvergenceWarning, match="max_iter=3 steps"):
        assert not gaussian_em(rows, max_iter=3, tol=1e-12).converged


def test_packed_parameters_are_the_gaussian():
    gaussian = random_gaussian(4, np.random.default_rng(0))
    again = _unpack(_pack(gaussian), 4)
    assert again.mean == pytest.approx(gaussian.mean, abs=1e-12)
    assert again.covariance == pytest.approx(gaussian.covariance, abs=1e-12)
    assert _feasible(_pack(gaussian), 4) == pytest.approx(_pack(gaussian), rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 1e-300, 1e-5, 1e300, np.inf])
def test_an_extrapolation_that_goes_too_far_becomes_a_density(value):
    """Off-diagonal entries that no covariance has, and numbers that overflow."""
    far = np.full(5, 1.0)
    far[[0, 3]] = value
    gaussian = _unpack(_feasible(far, 2), 2)
    assert np.isfinite(gaussian.mean).all()
    assert np.isfinite(gaussian.log_det)


# ---------------------------------------------------------------------------------------- trees


def turned(tree, rng, by=0.2):
    """The tree with other correlations along its edges."""
    angles = np.arctanh(np.clip(tree.correlation, -0.999, 0.999))
    return tree.replaced(np.tanh(angles + by * rng.normal(size=len(angles))))


def noisy(tree, n_rows, rng):
    rows = rng.normal(size=(n_rows, tree.n_observed)) @ np.linalg.cholesky(tree.observed).T
    return np.corrcoef(rows.T)


@settings(max_examples=40)
@given(seeds, st.integers(3, 9))
def test_a_step_of_em_is_never_downhill(seed, n_leaves):
    rng = np.random.default_rng(seed)
    _, tree = random_gaussian_tree(n_leaves, rng)
    correlation, now = noisy(tree, 40, rng), turned(tree, rng, by=1.0)
    values = []
    for _ in range(6):
        value, improved, _ = tree_step(now, correlation)
        assert value == pytest.approx(tree_log_likelihood(now, correlation), abs=1e-9)
        values.append(value)
        now = now.replaced(improved)
    assert np.diff(values).min() >= -1e-10


def test_a_step_of_em_has_the_correlations_that_all_nodes_are_expected_to_have():
    rng = np.random.default_rng(0)
    _, tree = random_gaussian_tree(6, rng)
    correlation, now = noisy(tree, 30, rng), turned(tree, rng, by=1.0)
    model = now.matrix
    guess = model[:, :6] @ np.linalg.inv(model[:6, :6])
    expected = model - guess @ model[:6] + guess @ correlation @ guess.T
    scale = np.sqrt(np.diag(expected))
    improved = tree_step(now, correlation)[1]
    for node in now.order[1:]:
        above = now.parent[node]
        truth = expected[node, above] / (scale[node] * scale[above])
        assert improved[node] == pytest.approx(truth, abs=1e-12)


def test_the_slope_is_that_of_the_likelihood():
    rng = np.random.default_rng(0)
    _, tree = random_gaussian_tree(6, rng)
    correlation, now = noisy(tree, 100, rng), turned(tree, rng)
    slope = tree_step(now, correlation)[2]
    for node in now.order[1:]:
        ends = []
        for shift in (1e-5, -1e-5):
            other = now.correlation.copy()
            other[node] = np.tanh(np.arctanh(other[node]) + shift)
            ends.append(tree_log_likelihood(now.replaced(other), correlation))
        assert slope[node] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-6)


def test_the_likelihood_is_that_of_rows():
    rng = np.random.default_rng(0)
    _, tree = random_gaussian_tree(5, rng)
    rows = rows_with_moments(random_gaussian(5, rng), 30, rng)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    gaussian = Gaussian(np.zeros(5), tree.observed)
    actual = tree_log_likelihood(tree, rows.T @ rows / 30) - 2.5 * np.log(2 * np.pi)
    assert actual == pytest.approx(log_density(gaussian, rows).mean(), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_exact_correlations_give_back_the_exact_tree(seed):
    rng = np.random.default_rng(seed)
    _, tree = random_gaussian_tree(8, rng)
    actual = fit_tree(turned(tree, rng), tree.observed, tol=1e-15, max_iter=2000)
    # The likelihood is flat at its top: correlations are known to the root of its precision.
    assert actual.observed == pytest.approx(tree.observed, abs=1e-5)


def test_the_fit_is_never_less_likely_than_its_start():
    rng = np.random.default_rng(0)
    for _ in range(20):
        _, tree = random_gaussian_tree(7, rng)
        correlation, start = noisy(tree, 30, rng), turned(tree, rng, by=1.0)
        actual = fit_tree(start, correlation)
        before, after = (tree_log_likelihood(item, correlation) for item in (start, actual))
        assert after >= before
        assert after >= tree_log_likelihood(tree, correlation) - 0.5


def test_observed_nodes_inside_have_their_own_correlations_with_neighbours():
    rng = np.random.default_rng(0)
    chain = [(a, b, 0.5) for a, b in zip("abc", "bcd", strict=True)]
    tree = CorrelationTree.of(Topology.from_edges(chain, "abcd"), "abcd")
    correlation = noisy(tree, 50, rng)
    actual = fit_tree(tree, correlation, tol=1e-14)
    for one, other in ((0, 1), (1, 2), (2, 3)):
        assert actual.observed[one, other] == pytest.approx(correlation[one, other], abs=1e-5)
