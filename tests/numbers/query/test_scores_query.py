"""Rows of numbers and categories whose scores are Gaussian."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from oracles.gaussians import random_gaussian
from tacit.core.input.mixed_table import empty_mixed
from tacit.core.input.read_mixed_table import encode_mixed, read_mixed
from tacit.errors import ArgumentError
from tacit.numbers.data.normal_scores import Scores
from tacit.numbers.learn.gaussian_em import gaussian_em
from tacit.numbers.query.gaussian import fill, log_density
from tacit.numbers.query.normal_scores import (
    category_probabilities,
    expected_numbers,
    log_densities,
    probabilities_from_means,
    sampled_table,
)


def learnt(n=500, seed=0, *, normal=False):
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    flag = rng.random(n) < 0.2 + 0.3 * kind
    table = read_mixed({"x": rng.normal(kind), "kind": np.array(list("abc"))[kind], "flag": flag})
    scores = Scores.of(table, normal=normal)
    return gaussian_em(scores.coordinates(table)).gaussian, scores, table


@pytest.mark.parametrize("normal", [False, True])
def test_densities_of_mixed_rows_sum_to_one(normal):
    gaussian, scores, table = learnt(normal=normal)
    grid = np.linspace(-12, 14, 4001)
    total = 0.0
    for kind in "abc":
        for flag in (False, True):
            rows = {"x": grid, "kind": [kind] * 4001, "flag": [flag] * 4001}
            actual = np.exp(log_densities(gaussian, scores, encode_mixed(rows, table.schema)))
            total += np.trapezoid(actual, grid)
    assert total == pytest.approx(1.0, abs=2e-3)


def test_a_row_of_numbers_has_the_density_of_the_gaussian():
    gaussian, scores, table = learnt()
    rows = encode_mixed({"x": [0.0, 1.0]}, table.schema, partial=True)
    actual = log_densities(gaussian, scores, rows)
    assert actual == pytest.approx(log_density(gaussian, scores.coordinates(rows)))
    assert log_densities(gaussian, scores, empty_mixed(2, table.schema)).tolist() == [0.0, 0.0]


def test_a_lone_category_has_about_its_share():
    gaussian, scores, table = learnt()
    rows = encode_mixed({"kind": ["a", "b", "c"]}, table.schema, partial=True)
    actual = np.exp(log_densities(gaussian, scores, rows))
    assert actual == pytest.approx(np.bincount(table.column("kind")) / 500, abs=1e-9)


def test_probabilities_are_conditional_means_where_these_are_any():
    gaussian, scores, table = learnt()
    rows = scores.coordinates(table)
    shares = category_probabilities(gaussian, scores, 1, rows)
    asked = rows.copy()
    asked[:, 1:3] = np.nan
    means = fill(gaussian, asked).values[:, 1:3]
    means = np.column_stack([means, 1 - means.sum(axis=1)])
    usual = (means > 0.05).all(axis=1)
    assert usual.sum() > 50
    assert shares[usual] == pytest.approx(means[usual], abs=1e-9)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert (shares > 0).all()
    # What the rows say of the column itself is not looked at.
    assert np.array_equal(category_probabilities(gaussian, scores, 1, asked), shares)
    far = probabilities_from_means(gaussian, scores, 1, np.tile([0.0, -3.0, 4.0, 0.0], (1, 1)))
    assert (far > 0).all()
    assert far[0, 1] > 0.99


def test_means_of_functions_are_integrals():
    _, scores, table = learnt(normal=True)
    low, high = table.column("x").min(), table.column("x").max()
    within = 2 * low - high, 2 * high - low
    mean, scale = np.array([0.3, -1.0]), np.array([0.5, 1.2])
    for function in (None, np.square, lambda x: np.exp(-x), lambda x: (x > 1).astype(float)):
        actual = expected_numbers(scores, 0, mean, scale, function)
        apply = (lambda x: x) if function is None else function
        for m, s, value in zip(mean, scale, actual, strict=True):
            z = np.linspace(m - 8 * s, m + 8 * s, 20_001)
            values = apply(np.clip(scores.numbers(0, z), *within))
            truth = np.trapezoid(values * norm.pdf(z, m, s), z)
            assert value == pytest.approx(truth, rel=1e-3, abs=6e-3)


def test_means_of_functions_of_plain_numbers_are_integrals():
    _, scores, _ = learnt()
    mean, scale = np.array([0.3]), np.array([0.5])
    assert expected_numbers(scores, 0, mean, scale) is mean
    actual = expected_numbers(scores, 0, mean, scale, lambda x: x**4 - np.sin(x))
    truth, _ = quad(lambda x: (x**4 - np.sin(x)) * norm.pdf(x, 0.3, 0.5), -8, 8)
    assert actual[0] == pytest.approx(truth, abs=1e-9)
    with pytest.raises(ArgumentError, match=r"shape \(\) of one of shape \(1, 64\)"):
        expected_numbers(scores, 0, mean, scale, np.sum)


def test_drawn_rows_look_like_the_data():
    gaussian, scores, table = learnt(n=2000)
    drawn = sampled_table(
        gaussian, scores, empty_mixed(40_000, table.schema), np.random.default_rng(1)
    )
    assert not drawn.missing.any()
    for column in ("kind", "flag"):
        shares = np.bincount(drawn.column(column)) / 40_000
        truth = np.bincount(table.column(column)) / 2000
        assert shares == pytest.approx(truth, abs=0.02)
    for kind in range(3):
        ours = drawn.column("x")[drawn.column("kind") == kind].mean()
        # Linear probabilities are not those of the data; the direction is.
        assert ours == pytest.approx(kind, abs=0.45)


def test_drawn_rows_keep_what_is_known():
    gaussian, scores, table = learnt()
    known = encode_mixed({"kind": ["c", None], "x": [None, 0.25]}, table.schema, partial=True)
    drawn = sampled_table(gaussian, scores, known, np.random.default_rng(0))
    assert drawn.column("kind")[0] == 2
    assert drawn.column("x")[1] == 0.25
    assert not drawn.missing.any()


def test_rows_without_categories_are_drawn_from_the_gaussian():
    rng = np.random.default_rng(0)
    table = read_mixed({"x": rng.normal(size=50), "y": rng.normal(size=50)})
    scores, gaussian = Scores.of(table, normal=False), random_gaussian(2, rng)
    drawn = sampled_table(gaussian, scores, empty_mixed(100_000, table.schema), rng)
    assert np.cov(drawn.numbers.T) == pytest.approx(gaussian.covariance, abs=0.1)
