"""A Gaussian beside a tree: normal scores by rank, conditionals against regression, files."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import LinearRegression

from oracles.edited_files import copied
from tacit.core.input.read_mixed_table import encode_mixed, read_mixed
from tacit.errors import FileFormatError
from tacit.numbers.learn.gaussian_copula import (
    fit_copulas,
    n_coordinates,
    ranks_of,
)
from tacit.numbers.model.gaussian import Gaussian
from tacit.numbers.model_files import COPULA

MANY = st.lists(st.integers(-50, 50), min_size=2, max_size=40)


def test_normal_scores_are_those_of_the_middle_of_ranks():
    numbers = np.array([3.0, 1.0, 1.0, np.nan, 7.0])
    actual = ranks_of(numbers).scores_of(numbers)
    expected = stats.norm.ppf(np.array([3.0, 1.5, 1.5, 4.0]) / 5)
    assert actual[~np.isnan(numbers)] == pytest.approx(expected)
    assert np.isnan(actual[3])


@given(MANY)
def test_normal_scores_stay_where_numbers_change_their_scale(numbers):
    plain = np.array(numbers, dtype=np.float64)
    changed = np.exp(plain / 10)
    assert ranks_of(plain).scores_of(plain) == pytest.approx(ranks_of(changed).scores_of(changed))


@given(MANY)
def test_the_way_back_from_scores_is_the_way_there(numbers):
    plain = np.array(numbers, dtype=np.float64)
    ranks = ranks_of(plain)
    assert ranks.numbers_of(ranks.scores_of(plain)) == pytest.approx(plain, abs=1e-9)
    beyond = ranks.numbers_of(np.array([-40.0, 40.0]))
    assert beyond.tolist() == [plain.min(), plain.max()]


@given(MANY, st.integers(0, 2**32 - 1))
def test_weights_count_like_repeated_rows(numbers, seed):
    plain = np.array(numbers, dtype=np.float64)
    counts = np.random.default_rng(seed).integers(1, 4, size=len(plain))
    weighted = ranks_of(plain, counts.astype(np.float64))
    repeated = ranks_of(np.repeat(plain, counts))
    assert weighted.numbers == pytest.approx(repeated.numbers)
    assert weighted.scores == pytest.approx(repeated.scores)


def test_very_many_numbers_keep_some_knots_and_both_ends():
    numbers = np.random.default_rng(0).normal(size=20_000)
    ranks = ranks_of(numbers)
    assert len(ranks.numbers) == 2000
    assert (ranks.numbers[0], ranks.numbers[-1]) == (numbers.min(), numbers.max())
    assert ranks.scores_of(numbers) == pytest.approx(numbers, abs=0.5)


def made_rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    numbers = hidden @ np.random.default_rng(99).normal(size=(2, 4))
    numbers += 0.5 * rng.normal(size=numbers.shape)
    group = np.where(hidden[:, 0] + 0.5 * rng.normal(size=n) > 0, "up", "down")
    return {**{f"x{j}": column for j, column in enumerate(numbers.T)}, "group": group}


def test_conditional_means_are_those_of_regression():
    rows = made_rows()
    table = read_mixed(rows)
    (copula,) = fit_copulas(table, [1e-6])
    asked = {name: column[:100] for name, column in rows.items() if name != "x0"}
    answers = copula.conditionals(encode_mixed(asked, table.schema, partial=True))
    others = np.column_stack([rows[f"x{j}"] for j in (1, 2, 3)] + [rows["group"] == "up"])
    exact = LinearRegression().fit(others, rows["x0"]).predict(others[:100])
    # Normal scores of 3000 rows are not quite the numbers; the errors are of this size.
    assert answers.expectation(0) == pytest.approx(exact, abs=0.25)
    assert np.corrcoef(answers.expectation(0), exact)[0, 1] > 0.999


def test_means_medians_and_probabilities_go_with_each_other():
    rows = made_rows()
    table = read_mixed(rows)
    (copula,) = fit_copulas(table, [1.0])
    some = {"x1": rows["x1"][:50], "x2": rows["x2"][:50]}
    answers = copula.conditionals(encode_mixed(some, table.schema, partial=True))
    levels = np.array([0.05, 0.5, 0.95])
    quantiles = answers.quantiles(0, levels)
    assert (np.diff(quantiles, axis=1) > 0).all()
    reports = answers.predictions([0, 4], median=True)
    assert reports[0] == pytest.approx(quantiles[:, 1])
    assert reports[4] == pytest.approx(answers.probabilities(4))
    assert reports[4].shape == (50, 2)
    assert reports[4].sum(axis=1) == pytest.approx(np.ones(50))
    assert answers.expectation(0, np.square) == pytest.approx(
        answers.expectation(0, lambda x: x * x)
    )
    assert (answers.expectation(0, np.square) >= answers.expectation(0) ** 2 - 1e-9).all()


def test_probabilities_of_categories_are_calibrated():
    rows, more = made_rows(), made_rows(seed=1)
    table = read_mixed(rows)
    (copula,) = fit_copulas(table, [1.0])
    asked = {name: column for name, column in more.items() if name != "group"}
    answers = copula.conditionals(encode_mixed(asked, table.schema, partial=True))
    up = answers.probabilities(4)[:, table.schema.columns[4].categories.index("up")]
    truth = more["group"] == "up"
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        part = (up > low) & (up <= high)
        assert truth[part].mean() == pytest.approx(up[part].mean(), abs=0.12)


def test_missing_cells_are_learnt_from_as_far_as_they_are_there():
    rows = made_rows(n=5000)
    table = read_mixed(rows)
    rng = np.random.default_rng(1)
    gaps = {
        name: np.where(rng.random(5000) < 0.3, np.nan, column) if name != "group" else column
        for name, column in rows.items()
    }
    whole, part = (fit_copulas(item, [1.0])[0] for item in (table, read_mixed(gaps)))
    assert part.gaussian.covariance == pytest.approx(whole.gaussian.covariance, abs=0.05)


def test_very_many_rows_are_learnt_from_in_part(monkeypatch):
    table = read_mixed(made_rows())
    (whole,) = fit_copulas(table, [1.0])
    monkeypatch.setattr("tacit.numbers.learn.gaussian_copula.MAX_COMPLETE_ROWS", 1000)
    one, again = (fit_copulas(table, [1.0], seed)[0] for seed in (0, 0))
    assert np.array_equal(one.gaussian.covariance, again.gaussian.covariance)
    assert not np.array_equal(one.gaussian.covariance, whole.gaussian.covariance)
    assert one.gaussian.covariance == pytest.approx(whole.gaussian.covariance, abs=0.1)


def test_a_column_of_which_nothing_is_known_tells_nothing():
    rows = made_rows()
    table = read_mixed(rows)
    empty = encode_mixed({"x1": rows["x1"], "x2": rows["x2"]}, table.schema, partial=True)
    (copula,) = fit_copulas(empty, [1.0])
    assert np.isfinite(copula.conditionals(empty).expectation(0)).all()


def test_files_give_the_companion_back():
    table = read_mixed(made_rows())
    (copula,) = fit_copulas(table, [1.0])
    again = copied(COPULA, copula, schema=table.schema)
    asked = encode_mixed({"x1": [0.3], "group": ["up"]}, table.schema, partial=True)
    for column, one in copula.conditionals(asked).predictions(range(5)).items():
        assert np.array_equal(one, again.conditionals(asked).predictions([column])[column])
    smaller = Gaussian(copula.gaussian.mean[1:], np.eye(5))
    with pytest.raises(FileFormatError, match="coordinates"):
        copied(COPULA, replace(copula, gaussian=smaller), schema=table.schema)
    with pytest.raises(FileFormatError):
        copied(COPULA, copula, schema=read_mixed(made_rows()).schema.select([0, 1]))


def test_categories_have_a_coordinate_each():
    table = read_mixed(made_rows())
    assert n_coordinates(table.schema) == 6
    (copula,) = fit_copulas(table, [1.0])
    assert copula.coordinates.starts == (0, 1, 2, 3, 4, 6)
    actual = copula.coordinates.of(table)
    assert actual[:, 4:].sum(axis=1) == pytest.approx(np.ones(3000))
