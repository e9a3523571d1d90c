"""Forests of columns beside another model's predictions."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor

from tacit.core.input.read_mixed_table import encode_mixed, read_mixed
from tacit.numbers.model.forests import N_TREES, Forests, filled_table

RNG = np.random.default_rng(0)
X = RNG.normal(size=120)
FULL = {
    "x": X,
    "y": X**2 + 0.1 * RNG.normal(size=120),
    "sign": np.where(X > 0, "plus", "minus"),
}
TABLE = read_mixed(FULL)
GAPS = {"x": [1.5, -1.0], "y": [np.nan, np.nan], "sign": ["plus", None]}
START = {1: np.array([10.0, 20.0]), 2: np.array([[0.5, 0.5], [0.5, 0.5]])}


def forests(shares):
    return Forests(TABLE, ~TABLE.missing, np.array(shares), 0)


def test_without_a_share_the_other_models_predictions_stay():
    gaps = encode_mixed(GAPS, TABLE.schema)
    refined = forests([0.0, 0.0, 0.0]).refined(gaps, START)
    for column, values in START.items():
        assert np.array_equal(refined[column], values)


def test_a_share_is_the_weight_of_the_average_with_scikit_learns_forest():
    rows = {"x": [1.5], "y": [np.nan], "sign": ["plus"]}
    start = {1: np.array([10.0])}
    gaps = encode_mixed(rows, TABLE.schema)
    half = forests([0.0, 0.5, 0.0]).refined(gaps, start)[1][0]
    scale = FULL["x"].std()
    features = np.column_stack([(X - X.mean()) / scale, TABLE.column(2)]).astype(np.float32)
    forest = ExtraTreesRegressor(N_TREES, random_state=0).fit(features, FULL["y"])
    asked = np.array([[(1.5 - X.mean()) / scale, 1.0]], dtype=np.float32)
    assert half == pytest.approx(5.0 + forest.predict(asked)[0] / 2, rel=1e-6)


def test_a_category_follows_from_the_number_that_decides_it():
    gaps = encode_mixed(GAPS, TABLE.schema)
    refined = forests([0.0, 1.0, 1.0]).refined(gaps, START)
    assert refined[2][1].argmax() == 0  # minus
    assert refined[2].sum(axis=1) == pytest.approx(1.0)
    assert abs(refined[1][0] - 2.25) < 0.5
    assert filled_table(gaps, refined).missing.sum() == 0


def test_large_numbers_that_differ_little_are_told_apart():
    days = 1e12 + np.arange(120.0)
    table = read_mixed({"day": days, "half": np.where(days > 1e12 + 60, "b", "a")})
    beside = Forests(table, ~table.missing, np.ones(2), 0)
    gaps = encode_mixed({"day": [1e12 + 3, 1e12 + 110], "half": [None, None]}, table.schema)
    start = {1: np.full((2, 2), 0.5)}
    assert beside.refined(gaps, start)[1].argmax(axis=1).tolist() == [0, 1]
