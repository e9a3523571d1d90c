"""Numbers that are too large or too small are refused in one line, wherever they come in."""

import numpy as np
import pytest

import tacit
from tacit.core.magnitudes import LARGEST, LEAST_SCALE, check_scale, largest_of
from tacit.errors import DataError, TacitError

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


HUGE = 10**5000  # no float, and Python refuses to write its digits


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (tacit.GaussianMixtureMoments(2), [[1e200, 0.0], [0.0, 1.0], [1.0, 0.0]]),
        (tacit.GaussianMixtureMoments(2), [[HUGE, 0.0], [0.0, 1.0], [1.0, 0.0]]),
        (tacit.HMM(2, emissions="gaussian"), [[0.5, HUGE], [1.5, 2.5]]),
        (tacit.HMM(2, emissions="gaussian"), np.array([0.5, HUGE], dtype=object)),
        (tacit.KernelHMM(2), [[0.5, HUGE], [1.5, 2.5]]),
        (tacit.TopicModel(2), [[HUGE, 1], [2, 3]]),
    ],
    ids=["mixture", "huge", "list", "array", "kernels", "counts"],
)
def test_number_that_is_too_large_is_refused_by_every_model_of_numbers(model, X):
    with pytest.raises(TacitError, match=r"too large|at most"):
        model.fit(X)


def test_arguments_that_are_no_floats_are_refused():
    model = tacit.KernelTree(effort="low").fit(ROWS)
    mixture = tacit.GaussianMixtureMoments(1).fit(np.random.default_rng(0).normal(size=(20, 2)))
    language = tacit.KneserNeyLM(2).fit([["a", "b"]] * 9)
    for ask in (
        lambda: model.quantiles(ROWS, "x", HUGE),
        lambda: model.sample(2, given={"x": HUGE}),
        lambda: model.query("y", given={"x": HUGE}),
        lambda: model.predict_proba({"x": [HUGE]}, "y"),
        lambda: mixture.sample(2, given={"x0": HUGE}),
        lambda: tacit.MixedLM([language, language], weights=[HUGE, 1]).fit([["a", "b"]]),
        lambda: tacit.hierarchical_decomposition([[HUGE, 1], [1, 2]], "(a,b);", 1),
        lambda: tacit.KernelTree(learn="spectral", kernel=lambda _: [HUGE]).fit(ROWS),
    ):
        with pytest.raises(TacitError):
            ask()
