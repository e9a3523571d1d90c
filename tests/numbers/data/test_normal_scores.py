"""Columns as coordinates of a Gaussian, and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm, rankdata

from oracles.edited_files import copied
from tacit.core.input.mixed_table import MixedSchema
from tacit.core.input.read_mixed_table import read_mixed
from tacit.errors import FileFormatError
from tacit.numbers.data.normal_scores import Scores, mean_over_knots
from tacit.numbers.model_files import SCORES


def mixed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    return read_mixed(
        {
            "x": np.exp(rng.normal(size=n)),
            "kind": rng.choice(["a", "b", "c"], n).tolist(),
            "y": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "flag": rng.random(n) < 0.5,
        },
        continuous=["x", "y"],
    )


def test_columns_have_one_coordinate_or_one_less_than_categories():
    table = mixed()
    scores = Scores.of(table, normal=False)
    assert scores.widths == (1, 2, 1, 1)
    assert scores.starts == (0, 1, 3, 4, 5)
    assert scores.names == ("x", "kind=a", "kind=b", "y", "flag")
    rows = scores.coordinates(table)
    assert np.array_equal(rows[:, 0], table.column("x"))
    assert np.array_equal(rows[:, 3], table.column("y"), equal_nan=True)
    codes = table.column("kind")
    assert np.array_equal(rows[:, 1:3], np.stack([codes == 0, codes == 1], axis=1))
    assert np.array_equal(rows[:, 4], table.column("flag") == 0)
    assert not scores.log_slopes(table).any()


def test_names_of_indicators_are_new():
    table = read_mixed({"k": ["a", "b", "c"] * 9, "k=a": np.arange(27.0)})
    assert Scores.of(table, normal=False).names == ("k=a'", "k=b", "k=a")


def test_missing_categories_have_no_indicators():
    table = read_mixed({"k": ["a", None, "c", "b"]})
    rows = Scores.of(table, normal=False).coordinates(table)
    assert np.isnan(rows[1]).all()
    assert rows[[0, 2, 3]].tolist() == [[1, 0], [0, 0], [0, 1]]


def test_normal_scores_are_those_of_mid_ranks():
    rng = np.random.default_rng(0)
    values = np.round(np.exp(rng.normal(size=2000)), 1)  # many ties
    table = read_mixed({"x": values}, continuous=["x"])
    actual = Scores.of(table, normal=True).coordinates(table)[:, 0]
    expected = norm.ppf(rankdata(values) / 2001)
    assert np.abs(actual - expected).max() < 0.25  # the farthest row may be smoothed most
    assert np.abs(actual - expected).mean() < 0.03
    assert (np.argsort(actual, kind="stable") == np.argsort(values, kind="stable")).all()


def test_numbers_come_back_from_their_scores():
    table = mixed()
    scores = Scores.of(table, normal=True)
    numbers = table.column("x")
    back = scores.numbers(0, scores.scores(0, numbers))
    assert back == pytest.approx(numbers, rel=1e-8)
    grid = np.linspace(-3, 3, 13).reshape(1, 13)
    assert scores.scores(0, scores.numbers(0, grid)) == pytest.approx(grid, abs=1e-6)


def test_the_slope_is_the_derivative():
    table = mixed()
    scores = Scores.of(table, normal=True)
    places = np.quantile(table.column("x"), np.linspace(0.05, 0.95, 20))
    step = 1e-6
    ends = scores.scores(0, places + step) - scores.scores(0, places - step)
    # Smooth except where the density has a corner.
    assert np.exp(scores.log_slope(0, places)) == pytest.approx(ends / (2 * step), rel=1e-2)
    there = ~np.isnan(table.column("y"))
    ours = scores.log_slope(0, table.column("x"))
    assert scores.log_slopes(table)[~there] == pytest.approx(ours[~there])


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 9),
    st.floats(-3, 3),
    st.floats(0.01, 3),
)
def test_means_over_knots_are_integrals(seed, n_knots, mean, scale):
    rng = np.random.default_rng(seed)
    knots = np.sort(rng.uniform(-3, 3, n_knots)) + 0.01 * np.arange(n_knots)
    values = rng.normal(size=n_knots)

    def function(z):
        inside = np.interp(z, knots, values)
        low = values[0] + (z - knots[0]) * (values[1] - values[0]) / (knots[1] - knots[0])
        high = values[-1] + (z - knots[-1]) * (values[-1] - values[-2]) / (knots[-1] - knots[-2])
        return np.where(z < knots[0], low, np.where(z > knots[-1], high, inside))

    ends = (mean - 9 * scale, mean + 9 * scale)
    inner = [knot for knot in knots if ends[0] < knot < ends[1]]
    truth, _ = quad(
        lambda z: function(z) * norm.pdf(z, mean, scale), *ends, points=inner or None, limit=500
    )
    actual = mean_over_knots(knots, values, np.array([mean]), np.array([scale]))
    size = max(1.0, np.abs(values).max(), np.abs(np.diff(values) / np.diff(knots)).max())
    assert actual[0] == pytest.approx(truth, abs=1e-6 * size)


def test_a_point_has_the_value_there():
    knots, values = np.array([-1.0, 0.0, 2.0]), np.array([3.0, 1.0, 5.0])
    at = np.array([-1.0, -0.5, 0.0, 1.0, 3.0])
    actual = mean_over_knots(knots, values, at, np.zeros(5))
    assert actual == pytest.approx([3.0, 2.0, 1.0, 3.0, 7.0])


def test_margins_are_written_and_read():
    table = mixed()
    scores = Scores.of(table, normal=True)
    schema = MixedSchema.from_json(table.schema.to_json())
    back = copied(SCORES, scores, schema=schema)
    assert np.array_equal(back.coordinates(table), scores.coordinates(table), equal_nan=True)
    bare = Scores.of(table, normal=False)
    assert copied(SCORES, bare, schema=schema).margins == (None,) * 4
    with pytest.raises(FileFormatError, match="not the distributions"):
        copied(SCORES, Scores(schema, scores.margins[:3]), schema=schema)
    with pytest.raises(FileFormatError, match="not the distributions"):
        copied(SCORES, Scores(schema, scores.margins[::-1]), schema=schema)
