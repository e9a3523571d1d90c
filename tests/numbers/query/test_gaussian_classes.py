"""Densities, conditionals and samples of classes of rows, compared with enumeration and quadrature."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from tacit.numbers.model.gaussian_classes import GaussianClasses
from tacit.numbers.query.gaussian_classes import ClassesGiven, log_joint, posterior, sampled_rows


def made(rng, *, diagonal=False, n_components=3, d=2, cards=(2, 3)):
    """Classes with random values."""
    roots = rng.normal(size=(n_components, d, d))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(d)
    if diagonal:
        covariances = np.diagonal(covariances, axis1=1, axis2=2).copy()
    return GaussianClasses(
        rng.dirichlet(np.ones(n_components)),
        rng.normal(size=(n_components, d)),
        covariances,
        tuple(rng.dirichlet(np.ones(card), size=n_components) for card in cards),
    )


def density(classes, numbers, codes):
    """The joint density of one row without gaps, term by term."""
    total = 0.0
    for k, weight in enumerate(classes.weights):
        covariance = classes.covariances[k]
        covariance = np.diag(covariance) if classes.is_diagonal else covariance
        term = weight * multivariate_normal.pdf(numbers, classes.means[k], covariance)
        for column, code in enumerate(codes):
            term *= classes.tables[column][k, code]
        total += term
    return total


@pytest.mark.parametrize("diagonal", [False, True])
def test_densities_are_those_of_the_sum_over_components(diagonal):
    rng = np.random.default_rng(0)
    classes = made(rng, diagonal=diagonal)
    numbers, codes = rng.normal(size=(6, 2)), np.column_stack([[0, 1] * 3, [0, 1, 2] * 2])
    actual = np.exp(logsumexp(log_joint(classes, numbers, codes), axis=1))
    expected = [density(classes, x, c) for x, c in zip(numbers, codes, strict=True)]
    assert actual == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_missing_number_is_integrated_out_and_a_missing_category_summed_out(diagonal):
    classes = made(np.random.default_rng(1), diagonal=diagonal)
    grid = np.linspace(-15, 15, 6001)
    rows = np.column_stack([grid, np.full(len(grid), 0.4)])
    dense = np.exp(logsumexp(log_joint(classes, rows, np.tile([[1, 2]], (len(grid), 1))), axis=1))
    gap = log_joint(classes, np.array([[np.nan, 0.4]]), np.array([[1, 2]]))
    assert np.exp(logsumexp(gap)) == pytest.approx(np.trapezoid(dense, grid), rel=1e-8)
    every = log_joint(classes, np.tile([[0.1, 0.4]], (3, 1)), np.array([[1, 0], [1, 1], [1, 2]]))
    gap = log_joint(classes, np.array([[0.1, 0.4]]), np.array([[1, -1]]))
    assert logsumexp(gap) == pytest.approx(logsumexp(every), abs=1e-12)
    nothing = log_joint(classes, np.full((1, 2), np.nan), np.array([[-1, -1]]))
    assert logsumexp(nothing) == pytest.approx(0.0, abs=1e-12)


def test_likelihoods_weigh_the_categories_of_missing_cells_only():
    classes = made(np.random.default_rng(2))
    numbers, soft = np.array([[0.1, 0.4]]), {1: np.array([[0.2, 0.0, 0.7]])}
    every = [density(classes, numbers[0], (1, code)) for code in range(3)]
    actual = logsumexp(log_joint(classes, numbers, np.array([[1, -1]]), soft))
    assert np.exp(actual) == pytest.approx(0.2 * every[0] + 0.7 * every[2], rel=1e-10)
    observed = logsumexp(log_joint(classes, numbers, np.array([[1, 1]]), soft))
    assert np.exp(observed) == pytest.approx(every[1], rel=1e-10)


@pytest.mark.parametrize("diagonal", [False, True])
def test_a_number_given_the_rest_has_the_density_of_the_row_over_that_of_the_rest(diagonal):
    classes = made(np.random.default_rng(3), diagonal=diagonal)
    rest, codes = np.array([[np.nan, -0.3]]), np.array([[0, 1]])
    given = ClassesGiven.of(classes, rest, codes, None, [0])
    weights, at = posterior(given.joint)[0], 0.8
    z = (at - given.means[0, :, 0]) / given.deviations[0, :, 0]
    parts = np.exp(-0.5 * z**2) / (np.sqrt(2 * np.pi) * given.deviations[0, :, 0])
    joint = density(classes, np.array([at, -0.3]), (0, 1))
    assert weights @ parts == pytest.approx(joint / np.exp(logsumexp(given.joint)), rel=1e-9)


@pytest.mark.parametrize("diagonal", [False, True])
def test_samples_have_the_moments_and_frequencies_of_the_conditional(diagonal):
    classes, n = made(np.random.default_rng(4), diagonal=diagonal), 40_000
    numbers, codes = np.tile([[np.nan, 0.5]], (n, 1)), np.tile([[-1, 2]], (n, 1))
    drawn, drawn_codes = sampled_rows(classes, numbers, codes, np.random.default_rng(5))
    assert (drawn[:, 1] == 0.5).all()
    assert (drawn_codes[:, 1] == 2).all()
    given = ClassesGiven.of(classes, numbers[:1], codes[:1], None, [0])
    weights = posterior(given.joint)[0]
    mean = weights @ given.means[0, :, 0]
    second = weights @ (given.means[0, :, 0] ** 2 + given.deviations[0, :, 0] ** 2)
    deviation = np.sqrt(second - mean**2)
    assert drawn[:, 0].mean() == pytest.approx(mean, abs=5 * deviation / np.sqrt(n))
    assert (drawn[:, 0] ** 2).mean() == pytest.approx(second, rel=0.05)
    assert (drawn_codes[:, 0] == 0).mean() == pytest.approx(
        weights @ classes.tables[0][:, 0], abs=0.01
    )
