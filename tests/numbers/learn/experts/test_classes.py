"""EM for classes of rows."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from tacit.numbers.learn.experts.classes import (
    FINEST,
    TABLE_ROWS,
    Rows,
    _Complete,
    _Gappy,
    fit_classes,
    single_class,
)
from tacit.numbers.learn.gaussian_em import gaussian_em
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.query.gaussian_classes import log_joint


def made(n=600, seed=0):
    """Rows of two groups that differ in means, correlation and a category."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    x = rng.normal(size=(n, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 0.5]])
    x[:, 1] *= np.where(group, -1.0, 1.0)
    x[:, 2] += 4.0 * group
    codes = np.where(rng.random(n) < 0.9, group, 2)[:, None]
    return x, codes


def rows_of(x, codes, weights=None):
    weights = np.ones(len(x)) if weights is None else weights
    return Rows(x, codes, (3,), weights, np.full(x.shape[1], FINEST**2))


def learnt(rows, k=2, *, diagonal=False, prior_rows=0.1, **more):
    pooled = gaussian_em(rows.numbers, rows.weights).gaussian
    rng = np.random.default_rng(0)
    return fit_classes(
        rows, k, rng, diagonal=diagonal, pooled=pooled, prior_rows=prior_rows, **more
    )


def score(classes, x, codes):
    return float(logsumexp(log_joint(classes, x, codes), axis=1).mean())


@pytest.mark.parametrize("diagonal", [False, True])
def test_products_of_features_give_the_densities(diagonal):
    x, codes = made()
    classes = learnt(rows_of(x, codes), 3, diagonal=diagonal)
    if diagonal:
        x = np.where(np.random.default_rng(1).random(x.shape) < 0.2, np.nan, x)
    fast = _Complete(rows_of(x, codes), diagonal=diagonal).log_joint(classes)
    assert fast == pytest.approx(log_joint(classes, x, codes), rel=1e-9, abs=1e-9)


def test_sums_over_rows_with_gaps_are_expected_ones():
    # The expected second moment of a gap is its conditional variance plus the square of its mean.
    x, codes = made(40)
    classes = learnt(rows_of(x, codes), 1)
    gappy = x.copy()
    gappy[:, 0] = np.nan
    sums = _Gappy(rows_of(gappy, codes)).sums(np.ones((40, 1)), classes)
    mean, covariance = classes.means[0], classes.covariances[0]
    slope = np.linalg.solve(covariance[1:, 1:], covariance[1:, 0])
    means = mean[0] + (x[:, 1:] - mean[1:]) @ slope
    variance = covariance[0, 0] - covariance[0, 1:] @ slope
    assert sums.first[0, 0] == pytest.approx(means.sum(), rel=1e-9)
    assert sums.second[0, 0, 0] == pytest.approx((means**2 + variance).sum(), rel=1e-9)
    assert sums.second[0, 0, 1] == pytest.approx((means * x[:, 1]).sum(), rel=1e-9)


def test_groups_are_found_with_gaps_and_without():
    x, codes = made(2000)
    new = made(1000, seed=1)
    whole = learnt(rows_of(x, codes))
    rng = np.random.default_rng(2)
    gappy = np.where(rng.random(x.shape) < 0.2, np.nan, x)
    some = np.where(rng.random(codes.shape) < 0.2, -1, codes)
    one = score(learnt(rows_of(x, codes), 1), *new)
    assert score(whole, *new) > one + 0.5
    assert score(learnt(rows_of(gappy, some)), *new) > score(whole, *new) - 0.05


def test_a_row_of_weight_two_counts_as_two_rows():
    x, codes = made(100)
    start = learnt(rows_of(x, codes))
    weights = np.where(np.arange(100) < 30, 2.0, 1.0)
    weighed = learnt(rows_of(x, codes, weights), start=start)
    twice = learnt(rows_of(np.vstack([x, x[:30]]), np.vstack([codes, codes[:30]])), start=start)
    assert weighed.means == pytest.approx(twice.means, rel=1e-8)
    assert weighed.covariances == pytest.approx(twice.covariances, rel=1e-8)
    assert weighed.tables[0] == pytest.approx(twice.tables[0], rel=1e-8)


@pytest.mark.parametrize("prior_rows", [0.1, 5.0])
def test_repeated_columns_and_rows_leave_no_variance_below_the_floor(prior_rows):
    x, codes = made(60)
    x[:, 1] = 2.0 * x[:, 0]
    x[:20] = x[0]
    classes = learnt(rows_of(x, codes), 4, prior_rows=prior_rows)
    least = np.linalg.eigvalsh(classes.covariances).min()
    assert least >= FINEST**2 * (1 - 1e-6)
    assert np.isfinite(log_joint(classes, x, codes)).all()


def test_a_single_class_has_the_given_gaussian_and_the_frequencies_of_categories():
    x, codes = made(50)
    codes[::7] = -1
    weights = np.linspace(0.5, 2.0, 50)
    gaussian = Gaussian(np.array([0.1, 0.2, 0.3]), np.diag([1.0, 4.0, 1e-12]))
    classes = single_class(rows_of(x, codes, weights), gaussian)
    variances = [1.0, 4.0, FINEST**2]  # none is below the floor
    counts = np.array([weights[codes[:, 0] == code].sum() for code in range(3)]) + TABLE_ROWS / 3
    expected = multivariate_normal.logpdf(x, gaussian.mean, np.diag(variances))
    expected += np.append(np.log(counts / counts.sum()), 0.0)[codes[:, 0]]
    assert log_joint(classes, x, codes)[:, 0] == pytest.approx(expected)
