"""The loop that fills missing cells of Gaussian rows, against its own source and plain linear algebra."""

import numpy as np
import pytest

from oracles.gaussians import conditional, random_gaussian, with_holes
from oracles.python_source import python_source
from tacit.numbers.loops import gaussian as loops
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.query.gaussian import patterns


def filled(gaussian, rows, weights):
    absent = np.isnan(rows)
    values = np.where(absent, 0.0, rows - gaussian.mean)
    order, starts, _ = patterns(absent)
    d = len(gaussian.mean)
    spread, variances = np.zeros((d, d)), np.zeros_like(rows)
    log_dets = loops.fill_missing(
        *(values, absent, order, starts, gaussian.covariance, gaussian.precision),
        *(gaussian.log_det, weights, spread, variances),
    )
    return values + gaussian.mean, log_dets, spread, variances, order, starts


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_cells_are_filled_as_linear_algebra_says(share):
    rng = np.random.default_rng(0)
    gaussian = random_gaussian(7, rng)
    rows = with_holes(rng.normal(size=(60, 7)), share, rng)
    weights = rng.random(60)
    values, log_dets, spread, variances, order, starts = filled(gaussian, rows, weights)
    expected = np.zeros((7, 7))
    for number, row in enumerate(rows):
        gone = np.isnan(row)
        mean, cov = conditional(gaussian, row)
        assert values[number][gone] == pytest.approx(mean, abs=1e-9)
        assert values[number][~gone] == pytest.approx(row[~gone], abs=1e-9)
        assert variances[number][gone] == pytest.approx(np.diag(cov), abs=1e-9)
        assert not variances[number][~gone].any()
        expected[np.ix_(gone, gone)] += weights[number] * cov
    assert np.triu(spread) == pytest.approx(np.triu(expected), abs=1e-9)
    for log_det, first in zip(log_dets, starts, strict=False):
        there = ~np.isnan(rows[order[first]])
        block = gaussian.covariance[np.ix_(there, there)]
        assert log_det == pytest.approx(np.linalg.slogdet(block)[1], abs=1e-9)


def test_the_compiled_loop_is_its_python_source():
    rng = np.random.default_rng(1)
    gaussian = random_gaussian(5, rng)
    rows = with_holes(rng.normal(size=(20, 5)), 0.4, rng)
    compiled = filled(gaussian, rows, np.ones(20))
    with python_source(loops):
        plain = filled(gaussian, rows, np.ones(20))
    for ours, theirs in zip(compiled, plain, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12)


def test_columns_that_are_nearly_the_same_are_no_trouble():
    cov = np.ones((3, 3)) + 1e-12 * np.eye(3)
    gaussian = Gaussian(np.zeros(3), cov)
    values, *_ = filled(gaussian, np.array([[2.0, np.nan, np.nan], [1.0, 1.0, np.nan]]), np.ones(2))
    assert values == pytest.approx(np.array([[2.0, 2, 2], [1, 1, 1]]), abs=1e-3)
