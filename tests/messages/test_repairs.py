"""Estimates that are not probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.messages.repairs import Repairs, distributions

INSTEAD = np.array([0.5, 0.25, 0.25])


def test_negative_entries_are_cut_off_and_counted():
    table, repairs = distributions(
        np.array([[3.0, 1.0, 2.0], [1.0, -1.0, 0.0], [0.0, 1.0, 2.0]]), INSTEAD
    )
    assert table.T.tolist() == [[0.75, 0.25, 0], [0.5, 0, 0.5], [0.5, 0, 0.5]]
    assert repairs == Repairs(3, n_negative=1, n_undefined=0, negative_mass=1 / 3)


def test_an_estimate_without_a_positive_entry_is_replaced():
    table, repairs = distributions(np.array([[0.0, -1.0], [0.0, -2.0], [0.0, 0.0]]), INSTEAD)
    assert table.T.tolist() == [INSTEAD.tolist()] * 2
    assert repairs == Repairs(2, n_negative=1, n_undefined=2, negative_mass=1.0)


def test_answers_count_as_often_as_their_rows():
    estimates = np.array([[1.0, 1.0], [1.0, -1.0]])
    _, repairs = distributions(estimates, np.empty(0), np.array([5, 3]))
    assert repairs == Repairs(8, n_negative=3, negative_mass=1.5)


def test_rounding_is_no_negative_estimate():
    _, repairs = distributions(np.array([[1.0], [-1e-17]]), np.empty(0))
    assert repairs.n_negative == 0


@given(
    arrays(float, (3, 4), elements=st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-6 or x == 0))
)
def test_repaired_estimates_are_distributions(estimates):
    table, _ = distributions(estimates.copy(), INSTEAD)
    assert (table >= 0).all()
    assert table.sum(axis=0) == pytest.approx(np.ones(4), rel=1e-12)


def test_records_of_two_pieces_of_work_add():
    total = Repairs(4, 1, 2, 0.5) + Repairs(6, 1, 0, 0.5)
    assert total == Repairs(10, 2, 2, 1.0)
    assert total.as_dict() == {
        "n_answers": 10,
        "n_negative": 2,
        "n_undefined": 2,
        "mean_negative_mass": 0.1,
    }
    assert Repairs().as_dict()["mean_negative_mass"] == 0
