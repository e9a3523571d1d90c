"""Numbers that are too large or too small are refused in one line, wherever they come in."""

import numpy as np
import pytest

import tacit
from tacit.core.magnitudes import LARGEST, LEAST_SCALE, check_scale, largest_of
from tacit.errors import DataError

ROWS = {"x": [value / 16 for value in range(1, 65)], "y": ["a", "b", "b", "a"] * 16}


def with_first(value, values):
    return [value, *values[1:]]


@pytest.mark.parametrize("value", [2 * LARGEST, -2 * LARGEST, 10**400])
def test_number_of_a_table_that_is_too_large_is_refused_where_it_is_learnt_and_where_it_is_asked(
    value,
):
    rows = {"x": with_first(value, ROWS["x"]), "y": ROWS["y"]}
    for model in (tacit.KernelTree(effort="low"), tacit.GaussianTree()):
        with pytest.raises(DataError, match=r"'x' holds .* at most 1e\+100"):
            model.fit(rows)
        model.fit(ROWS)
        with pytest.raises(DataError, match=r"'x' holds .* at most 1e\+100"):
            model.score_samples(rows)


def test_text_that_says_too_large_a_number_is_refused():
    with pytest.raises(DataError, match=r"'x' holds 2e\+200; .* at most 1e\+100"):
        tacit.KernelTree(columns={"x": "number"}).fit({"x": ["1", "2e200", "3"], "y": [1.5, 2, 3]})


def test_column_whose_squares_vanish_is_refused():
    tiny = {"x": [value * 1e-60 for value in ROWS["x"]], "y": ROWS["y"]}
    with pytest.raises(DataError, match=r"'x' holds no number larger than 4e-60"):
        tacit.KernelTree(effort="low").fit(tiny)


def test_largest_numbers_that_are_allowed_have_finite_answers():
    rows = {"x": [value * LARGEST / 4 for value in ROWS["x"]], "y": ROWS["y"]}
    model = tacit.KernelTree(effort="low").fit(rows)
    assert np.isfinite(model.score_samples(rows)).all()
    assert np.isfinite(model.expectation(rows, "x")).all()


@pytest.mark.parametrize("kind", [tacit.HMM, tacit.KernelHMM])
def test_number_of_a_sequence_that_is_too_large_is_named_by_its_place(kind):
    series = [np.zeros((3, 2)), np.zeros((4, 2))]
    series[1][2, 1] = -3e150
    with pytest.raises(DataError, match=r"position 2 of sequence 1, column .* holds -3e\+150"):
        kind().fit(series)


@pytest.mark.parametrize("kind", [tacit.HMM, tacit.KernelHMM])
def test_sequence_whose_squares_vanish_is_refused(kind):
    with pytest.raises(DataError, match="no number larger than"):
        kind().fit([np.random.default_rng(0).normal(size=(20, 1)) * 1e-80])


def test_zeros_have_no_scale_and_missing_numbers_no_size():
    check_scale(0.0, "column 'x'")
    check_scale(LEAST_SCALE, "column 'x'")
    assert largest_of(np.array([np.nan, -2.0, 1.0])) == 2.0
    assert largest_of(np.array([np.nan])) == 0.0
    assert largest_of(np.array([])) == 0.0
