"""Kernel features: their inner products are the kernel, and their densities have known integrals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.edited_files import copied
from tacit.core.encoders.encoder_files import ENCODER
from tacit.core.encoders.encoders import (
    KernelEncoder,
    grid_encoder,
    kernel_encoder,
    median_bandwidth,
)
from tacit.core.encoders.kernels import even_quantiles
from tacit.core.encoders.margins import fit_margin
from tacit.errors import ArgumentError

VALUES = np.random.default_rng(0).normal(size=800)


def kernel(first, second, bandwidth):
    return np.exp(-0.5 * np.square(np.subtract.outer(first, second) / bandwidth))


@pytest.mark.parametrize("factor", [1.0, 0.5, 0.12])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
def test_inner_products_of_features_are_the_kernel(factor, tolerance):
    bandwidth = factor * median_bandwidth(VALUES)
    encoder = kernel_encoder(VALUES, bandwidth, tolerance)
    features = encoder.features(VALUES)
    off = features @ features.T - kernel(VALUES, VALUES, bandwidth)
    assert -np.trace(off) / len(VALUES) <= tolerance
    # Cauchy and Schwarz: what is left of a pair is at most the mean of what is left of the two.
    assert np.abs(off).mean() <= tolerance


def test_new_numbers_have_features_of_the_same_space():
    encoder = kernel_encoder(VALUES, 0.8, 1e-9)
    new = np.linspace(-2, 2, 41)
    features = encoder.features(new)
    assert features @ encoder.features(VALUES[:50]).T == pytest.approx(
        kernel(new, VALUES[:50], 0.8), abs=1e-4
    )


@given(
    values=st.lists(st.floats(-50, 50), min_size=1, max_size=30),
    bandwidth=st.sampled_from([0.1, 1.0, 20.0]),
)
def test_any_numbers_are_spanned(values, bandwidth):
    values = np.array(values)
    features = kernel_encoder(values, bandwidth, 1e-6).features(values)
    assert features @ features.T == pytest.approx(kernel(values, values, bandwidth), abs=2e-2)
    assert np.trace(features @ features.T) / len(values) == pytest.approx(1, abs=2e-6)


def test_an_even_grid_spans_as_well():
    bandwidth = median_bandwidth(VALUES)
    encoder = grid_encoder(VALUES.min(), VALUES.max(), 12, bandwidth)
    features = encoder.features(VALUES)
    assert features @ features.T == pytest.approx(kernel(VALUES, VALUES, bandwidth), abs=2e-3)
    finer = grid_encoder(VALUES.min(), VALUES.max(), 40, bandwidth)
    assert finer.size < 40  # the rest is spanned already
    features = finer.features(VALUES)
    assert features @ features.T == pytest.approx(kernel(VALUES, VALUES, bandwidth), abs=1e-6)


@pytest.mark.parametrize("warped", [False, True])
@pytest.mark.parametrize("bandwidth", [0.2, 0.7])
def test_the_mean_of_features_is_a_density_with_the_right_integrals(bandwidth, warped):
    margin = fit_margin(VALUES) if warped else None
    encoder = kernel_encoder(VALUES, bandwidth, margin=margin)
    mean = encoder.features(VALUES).mean(axis=0)
    places = np.linspace(-9, 9, 20001)
    if margin is not None:  # its tails are long
        places = np.unique(np.concatenate([places, margin._table[0]]))
    heights = encoder.likelihoods(places) @ mean
    integral = np.trapezoid(heights, places)
    assert integral == pytest.approx(encoder.total @ mean, abs=1e-3)
    assert encoder.total @ mean == pytest.approx(1, abs=1e-3)
    below = encoder.cumulative(np.array([-1e9, 0.3, 1e9])) @ mean
    assert below[[0, 2]] == pytest.approx([0, encoder.total @ mean], abs=1e-9)
    so_far = places <= 0.3
    assert below[1] == pytest.approx(np.trapezoid(heights[so_far], places[so_far]), abs=2e-3)
    for function in (np.ones_like, np.tanh, np.square):
        expected = function(VALUES).mean()
        assert encoder.functional(function) @ mean == pytest.approx(expected, abs=0.02)


def test_the_mean_of_features_is_the_kernel_estimate_of_the_density():
    encoder = kernel_encoder(VALUES, 0.3, 1e-8)
    places = np.linspace(-3, 3, 61)
    expected = kernel(places, VALUES, 0.3).mean(axis=1) / (np.sqrt(2 * np.pi) * 0.3)
    actual = encoder.likelihoods(places) @ encoder.features(VALUES).mean(axis=0)
    assert actual == pytest.approx(expected, abs=1e-5)


def test_normal_scores_need_few_features_where_tails_are_heavy():
    values = np.random.default_rng(1).standard_cauchy(2000)
    plain = kernel_encoder(values, median_bandwidth(values))
    margin = fit_margin(values)
    warped = kernel_encoder(values, median_bandwidth(margin.scores(values)), margin=margin)
    assert warped.size < plain.size / 3


def test_a_missing_number_is_nothing_to_learn_from_and_no_evidence():
    encoder = kernel_encoder(VALUES, 0.5)
    values = np.array([0.1, np.nan])
    assert np.isnan(encoder.features(values)).tolist() == [
        [False] * encoder.size,
        [True] * encoder.size,
    ]
    assert np.array_equal(encoder.likelihoods(values)[1], encoder.total)


@pytest.mark.parametrize("warped", [False, True])
def test_what_is_written_is_read_back(warped):
    encoder = kernel_encoder(VALUES, 0.5, margin=fit_margin(VALUES) if warped else None)
    again = copied(ENCODER, encoder)
    assert isinstance(again, KernelEncoder)
    assert np.array_equal(again.likelihoods(VALUES), encoder.likelihoods(VALUES))
    assert np.array_equal(again.functional(np.tanh), encoder.functional(np.tanh))
    assert np.array_equal(again.grid(7), encoder.grid(7))


def test_features_do_not_depend_on_how_rows_are_cut():
    encoder = grid_encoder(-3.0, 3.0, 12, 0.9)
    values = np.random.default_rng(0).normal(size=9001)
    apart = np.concatenate([encoder.features(part) for part in np.array_split(values, 7)])
    assert encoder.features(values) == pytest.approx(apart, rel=1e-9, abs=1e-9)


def test_no_more_features_than_asked_for():
    assert kernel_encoder(VALUES, 0.1, 1e-9, n_features=7).size == 7


def test_of_many_numbers_even_quantiles_with_both_ends_are_looked_at():
    values = np.random.default_rng(0).normal(size=300_001)
    encoder = kernel_encoder(values, 0.5)
    assert {values.min(), values.max()} <= set(encoder.pivots.tolist())
    some = even_quantiles(np.array([5.0, np.nan, 1.0, 2.0, 3.0, 4.0]), 3)
    assert some.tolist() == [1.0, 3.0, 5.0]


def test_the_grid_of_the_column_spans_it():
    encoder = kernel_encoder(VALUES, 0.5)
    grid = encoder.grid(50)
    assert len(grid) == 50
    assert grid[0] < VALUES.min()
    assert grid[-1] > VALUES.max()
    assert (np.diff(grid) > 0).all()


def test_the_median_distance_is_exact():
    pairs = [abs(x - y) for place, x in enumerate(VALUES) for y in VALUES[:place]]
    assert median_bandwidth(VALUES) == pytest.approx(np.median(pairs), rel=1e-12)
    assert median_bandwidth(np.array([1.0, np.nan, 3.0])) == 2.0


def test_of_many_rows_it_is_nearly_so():
    values = np.random.default_rng(0).normal(size=200_000)
    assert median_bandwidth(values) == pytest.approx(
        0.9539, rel=0.01
    )  # of N(0, 2): 0.6745 * sqrt(2)


def test_where_rows_are_equal_it_is_that_of_different_values():
    assert median_bandwidth(np.array([0.0] * 10 + [3.0])) == 3.0
    assert median_bandwidth(np.zeros(4)) == 1.0


@pytest.mark.parametrize("bandwidth", [0.0, -1.0, np.nan, np.inf])
def test_a_bandwidth_is_positive(bandwidth):
    with pytest.raises(ArgumentError, match="bandwidth"):
        kernel_encoder(VALUES, bandwidth)
    with pytest.raises(ArgumentError, match="bandwidth"):
        grid_encoder(0.0, 1.0, 5, bandwidth)


def test_other_arguments_are_checked():
    with pytest.raises(ArgumentError, match="low"):
        grid_encoder(1.0, 0.0, 5, 1.0)
    with pytest.raises(ArgumentError, match="single number"):
        kernel_encoder(np.array([np.nan]), 1.0)
    assert grid_encoder(2.0, 2.0, 5, 1.0).features(np.array([2.0])).tolist() == [[1.0]]
