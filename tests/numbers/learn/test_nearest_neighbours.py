"""Rows that are like a row: distances, weights, and what they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.input.read_mixed_table import read_mixed
from tacit.numbers.data.masking import without_column
from tacit.numbers.learn.nearest_neighbours import MAX_DEVIATION, Neighbours, kept_rows


def made_table(n=60, seed=0, gaps=0.2):
    rng = np.random.default_rng(seed)
    rows = {"x": rng.normal(3, 5, n), "y": rng.exponential(size=n)}
    rows |= {"a": rng.choice(["p", "q", "r"], n), "b": rng.choice(["s", "t"], n)}
    rows = {name: column.astype(object) for name, column in rows.items()}
    for column in rows.values():
        column[2:][rng.random(n - 2) < gaps] = None
    return read_mixed(rows, continuous=["x", "y"])


def plain_distance(one, other, table):
    """Between two rows, cell by cell: the mean over columns that both have."""
    parts = []
    for column in range(len(table.schema)):
        values = table.column(column)
        if column in table.schema.continuous:
            known = values[~np.isnan(values)]
            a, b = (
                np.clip((v - known.mean()) / known.std(), -MAX_DEVIATION, MAX_DEVIATION)
                for v in (values[one], values[other])
            )
            if not np.isnan(a + b):
                parts.append((a - b) ** 2 / 2)
        elif min(values[one], values[other]) >= 0:
            parts.append(float(values[one] != values[other]))
    return np.mean(parts) if parts else 0.0


def test_distances_are_means_over_the_columns_that_both_have():
    table = made_table()
    rows, apart = Neighbours(table, 1.0).nearest(table)
    for row in range(0, 60, 7):
        for other, far in zip(rows[row], apart[row], strict=True):
            assert far == pytest.approx(plain_distance(row, other, table), abs=1e-5)
    assert (np.diff(apart, axis=1) >= 0).all()


def test_a_twin_tells_what_it_holds_and_a_row_does_not_tell_of_itself():
    table = read_mixed(
        {"x": [1.0, 1.0, 9.0], "y": [2.0, np.nan, 7.0], "a": ["p", "p", "q"]}, continuous=["x", "y"]
    )
    reports = Neighbours(table, 0.25).predictions(table, [1, 2])
    assert reports[1][1] == pytest.approx(2.0, abs=0.2)
    assert reports[2][1, 0] > 0.9


def test_where_nobody_has_the_cell_nothing_is_told():
    table = without_column(made_table(), 1)
    for median in (False, True):
        assert np.isnan(Neighbours(table, 1.0).predictions(table, [1], median=median)[1]).all()


def test_a_far_reach_is_nearly_everybodys_mean():
    table = made_table(400, gaps=0.0)
    near = [Neighbours(table, reach).predictions(table, [0])[0] for reach in (0.25, 10.0)]
    spread = [item.std() for item in near]
    assert spread[1] < 0.9 * spread[0]


@given(st.integers(0, 50), st.sampled_from([0.25, 1.0, 3.0]))
def test_shares_add_up_and_means_and_medians_lie_among_the_numbers(seed, reach):
    table = made_table(30, seed)
    actual = Neighbours(table, reach)
    reports = actual.predictions(table, [0, 1, 2, 3])
    for column in (2, 3):
        assert reports[column].sum(axis=1) == pytest.approx(np.ones(30))
        assert reports[column].min() >= 0
    median = actual.predictions(table, [0, 1], median=True)
    for column in (0, 1):
        numbers = table.column(column)
        low, high = np.nanmin(numbers) - 1e-9, np.nanmax(numbers) + 1e-9
        for item in (reports[column], median[column]):
            assert (item >= low).all()
            assert (item <= high).all()
        assert np.isin(median[column], numbers).all()


def test_of_very_many_rows_some_are_kept():
    table = read_mixed({"x": np.arange(12_000.0), "y": np.arange(12_000.0)})
    assert kept_rows(table, 0).n_rows == 10_000
    assert kept_rows(table.take(slice(0, 50)), 0).n_rows == 50
