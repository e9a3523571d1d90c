"""Pivots of Gaussian kernels, against numpy and their own source."""

import numpy as np
import pytest

from tacit.core.loops.kernel_features import choose_pivots


def kernel(values, bandwidth):
    return np.exp(-0.5 * np.square(np.subtract.outer(values, values) / bandwidth))


@pytest.mark.parametrize(("bandwidth", "most"), [(1.0, 60), (0.2, 60), (0.2, 5), (5.0, 60)])
def test_the_compiled_loop_agrees_with_its_python_source(bandwidth, most):
    values = np.random.default_rng(0).normal(size=60)
    args = values, bandwidth, 1e-5, most
    for compiled, plain in zip(choose_pivots(*args), choose_pivots.py_func(*args), strict=True):
        assert compiled == pytest.approx(plain, rel=1e-9, abs=1e-9)


def test_it_is_the_factor_that_numpy_finds_for_the_reordered_matrix():
    values = np.random.default_rng(1).normal(size=12)
    pivots, factor = choose_pivots(values, 0.1, 0.0, 12)
    assert sorted(pivots.tolist()) == list(range(12))
    expected = np.linalg.cholesky(kernel(values[pivots], 0.1))
    assert pytest.approx(expected, abs=1e-8) == factor[:, pivots].T


def test_every_pivot_is_the_number_that_is_spanned_worst():
    values = np.random.default_rng(2).normal(size=80)
    pivots, _ = choose_pivots(values, 0.5, 1e-6, 80)
    full = kernel(values, 0.5)
    for size in range(1, len(pivots)):
        known = pivots[:size]
        spanned = full[:, known] @ np.linalg.solve(full[np.ix_(known, known)], full[known])
        left = 1 - np.diag(spanned)
        assert left[pivots[size]] == pytest.approx(left.max(), abs=1e-7)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-7])
def test_it_stops_as_soon_as_little_of_the_trace_is_left(tolerance):
    values = np.random.default_rng(3).normal(size=300)
    _, factor = choose_pivots(values, 0.7, tolerance, 300)
    left = 1 - np.square(factor).sum(axis=0)
    assert left.mean() <= tolerance
    assert (left + np.square(factor[-1])).mean() > tolerance


def test_equal_numbers_are_one_pivot():
    pivots, factor = choose_pivots(np.array([2.0, 2.0, 2.0]), 1.0, 0.0, 3)
    assert pivots.tolist() == [0]
    assert factor.tolist() == [[1.0, 1.0, 1.0]]
