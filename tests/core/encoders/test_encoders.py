"""Bins with bumps, and categories as indicators."""

from collections import ChainMap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.edited_files import copied
from oracles.encoders import bin_encoder
from tacit.core.encoders.encoder_files import ENCODER
from tacit.core.encoders.encoders import (
    BinEncoder,
    IndicatorEncoder,
)
from tacit.core.encoders.margins import fit_margin
from tacit.core.files.fields import Source
from tacit.errors import FileFormatError

RNG = np.random.default_rng(0)
COLUMNS = {
    "normal": RNG.normal(size=1500),
    "heavy": RNG.standard_cauchy(1500),
    "zeros": np.where(RNG.random(1500) < 0.3, 0.0, RNG.exponential(size=1500)),
    "rounded": np.round(np.clip(RNG.normal(0.4, 0.25, 1500), 0, 1), 2),
    "two values": RNG.integers(0, 2, 100).astype(float),
    "constant": np.full(30, 2.5),
}


@pytest.mark.parametrize("bandwidth", [None, 0.0, 0.02, 0.3])
@pytest.mark.parametrize("name", COLUMNS)
def test_densities_of_bins_integrate_to_one_and_their_mixture_is_the_margin(name, bandwidth):
    encoder = bin_encoder(COLUMNS[name], 10, bandwidth)
    places = np.unique(np.concatenate([encoder.margin._table[0], encoder.edges]))
    below = encoder.cumulative(places)
    assert below[0] == pytest.approx(np.zeros(encoder.size), abs=1e-9)
    assert below[-1] == pytest.approx(np.ones(encoder.size), abs=1e-7)
    middles = 0.5 * (places[1:] + places[:-1])
    together = encoder.likelihoods(middles) @ np.diff(encoder.cuts)
    assert together == pytest.approx(encoder.margin.density(middles), rel=1e-7)


@pytest.mark.parametrize("bandwidth", [0.0, 0.05])
@pytest.mark.parametrize("name", COLUMNS)
def test_the_integral_of_the_density_of_a_bin_is_its_mass(name, bandwidth):
    encoder = bin_encoder(COLUMNS[name], 10, bandwidth)
    places = np.unique(np.concatenate([encoder.margin._table[0], encoder.edges]))
    nodes, weights = np.polynomial.legendre.leggauss(8)
    inside = places[:-1, None] + np.diff(places)[:, None] * 0.5 * (nodes + 1)
    heights = encoder.likelihoods(inside.ravel()).reshape(*inside.shape, encoder.size)
    masses = np.einsum("pnb,n->pb", heights, 0.5 * weights) * np.diff(places)[:, None]
    assert masses.sum(axis=0) == pytest.approx(np.ones(encoder.size), abs=1e-5)
    assert masses == pytest.approx(np.diff(encoder.cumulative(places), axis=0), abs=1e-5)


@pytest.mark.parametrize("name", COLUMNS)
def test_bins_hold_about_the_same_and_none_is_empty(name):
    values = COLUMNS[name]
    encoder = bin_encoder(values, 10)
    counts = np.bincount(encoder.codes(values), minlength=encoder.size)
    distinct = len(np.unique(values))
    assert encoder.size <= min(10, distinct)
    assert (counts > 0).all()
    assert (np.diff(encoder.edges) > 0).all()
    if name in {"normal", "heavy"}:
        assert encoder.size == 10
        assert counts.max() <= 1.02 * counts.min()


@given(
    values=st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=50),
    repeated=st.integers(0, 30),
    n_bins=st.integers(1, 12),
)
def test_any_column_of_numbers_has_bins(values, repeated, n_bins):
    column = np.array(values + [values[0]] * repeated)
    encoder = bin_encoder(column, n_bins)
    assert 1 <= encoder.size <= n_bins
    assert np.bincount(encoder.codes(column), minlength=encoder.size).all()
    evidence = encoder.likelihoods(np.concatenate([column, [-1e9, 1e9]]))
    assert np.isfinite(evidence).all()
    assert (evidence >= 0).all()
    assert (evidence.sum(axis=1) > 0).all()


def test_a_frequent_value_has_a_bin_of_its_own():
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=700), np.full(300, 0.5)])
    encoder = bin_encoder(values, 10)
    counts = np.bincount(encoder.codes(values))
    own = encoder.codes(np.array([0.5]))[0]
    # Values so near that no cut comes between them may keep it company.
    assert 300 <= counts[own] <= 320


def test_features_are_the_bin_and_evidence_is_highest_there():
    encoder = bin_encoder(COLUMNS["normal"], 8)
    values = encoder.margin.inverse(0.5 * (encoder.cuts[1:] + encoder.cuts[:-1]))
    assert np.array_equal(encoder.features(values), np.eye(8))
    assert encoder.likelihoods(values).argmax(axis=1).tolist() == list(range(8))


def test_a_missing_number_is_nothing_to_learn_from_and_no_evidence():
    for bandwidth in (0.0, 0.1):
        encoder = bin_encoder(COLUMNS["normal"], 4, bandwidth)
        assert np.isnan(encoder.features(np.array([np.nan]))).all()
        assert encoder.likelihoods(np.array([np.nan])).tolist() == [[1.0] * 4]
        assert encoder.codes(np.array([np.nan])).tolist() == [-1]


@pytest.mark.parametrize("name", ["normal", "zeros", "rounded", "two values", "constant"])
def test_means_of_functions_under_all_bins_are_those_of_the_data(name):
    values = COLUMNS[name]
    encoder = bin_encoder(values, 10, 0.02)
    proportions = np.bincount(encoder.codes(values), minlength=encoder.size) / len(values)
    for function in (np.ones_like, lambda x: x, np.square):
        expected, spread = function(values).mean(), function(values).std() + 1e-2
        actual = encoder.functional(function) @ proportions
        assert actual == pytest.approx(expected, abs=0.06 * spread)


def test_the_mean_of_a_function_under_a_bin_is_its_integral():
    encoder = bin_encoder(COLUMNS["normal"], 5, 0.1)
    places = np.linspace(-8, 8, 40001)
    expected = np.trapezoid(np.cos(places)[:, None] * encoder.likelihoods(places), places, axis=0)
    assert encoder.functional(np.cos) == pytest.approx(expected, abs=2e-3)


def test_a_row_counts_as_often_as_it_weighs():
    values = COLUMNS["zeros"]
    weights = np.random.default_rng(1).integers(0, 4, len(values)).astype(float)
    one = bin_encoder(values, 10, weights=weights)
    other = bin_encoder(np.repeat(values, weights.astype(int)), 10)
    assert one.edges == pytest.approx(other.edges)


def test_the_column_of_bins_codes_like_the_encoder():
    encoder = bin_encoder(COLUMNS["rounded"], 6)
    column = encoder.column("x")
    assert column.kind == "binned"
    assert column.card == encoder.size == len(set(column.categories))
    assert encoder.codes(np.array(column.centers)).tolist() == list(range(encoder.size))
    assert bin_encoder(COLUMNS["constant"], 6).column("x").categories == ("any",)


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_written_is_read_back(name):
    encoder = bin_encoder(COLUMNS[name], 7)
    again = copied(ENCODER, encoder)
    assert isinstance(again, BinEncoder)
    values = np.concatenate([COLUMNS[name], [np.nan]])
    assert np.array_equal(again.likelihoods(values), encoder.likelihoods(values))
    assert np.array_equal(again.codes(values), encoder.codes(values))


def test_the_grid_spans_the_column():
    for name in ("normal", "heavy", "constant"):
        grid = bin_encoder(COLUMNS[name], 7).grid(101)
        assert len(grid) == 101
        assert (np.diff(grid) >= 0).all()
        assert grid[0] <= np.quantile(COLUMNS[name], 0.01)
        assert grid[-1] >= np.quantile(COLUMNS[name], 0.99)


def test_categories_are_indicators():
    encoder = IndicatorEncoder(3)
    codes = np.array([2, -1, 0])
    assert encoder.likelihoods(codes).tolist() == [[0, 0, 1], [1, 1, 1], [1, 0, 0]]
    features = encoder.features(codes)
    assert features[[0, 2]].tolist() == [[0, 0, 1], [1, 0, 0]]
    assert np.isnan(features[1]).all()
    assert encoder.total.tolist() == [1, 1, 1]
    assert encoder.functional(np.square).tolist() == [0, 1, 4]
    assert encoder.cumulative(np.array([0, 1])).tolist() == [[1, 0, 0], [1, 1, 0]]
    assert encoder.grid().tolist() == [0, 1, 2]
    assert copied(ENCODER, encoder) == encoder


def changed(encoder, arrays=None, margin=None, **header):
    """An encoder from a file that was edited."""
    own = {}
    plain = ENCODER.write(encoder, "x", own) | header
    plain["margin"] = plain["margin"] | (margin or {})
    return ENCODER.read(plain, "x", Source(own | (arrays or {})), ChainMap({}))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "wavelets"},
        {"bandwidth": -1.0},
        {"bandwidth": 1e9},
        {"margin": {"step": "wide"}},
        {"margin": {"step": 0.0}},
        {"margin": {"start": -np.inf}},
        {"margin": {"scale": {"center": 0.0, "scale": 1.0, "bent": True}, "start": 1e3}},
        {"margin": {"tail_weight": 1.5}},
        {"margin": {"spread": 0.0}},
        {"arrays": {"x.edges": np.array([1.0, 0.0])}},
        {"arrays": {"x.edges": np.array([0.0, 1e-300])}},
        {"arrays": {"x.edges": np.array([0.0, 1e250])}},
        {"arrays": {"x.margin.heights": np.ones(1)}},
        {"arrays": {"x.margin.heights": np.zeros(5)}},
        {"arrays": {"x.margin.heights": -np.ones(5)}},
        {"arrays": {"x.margin.atoms": np.zeros(1)}},
    ],
)
def test_a_file_of_something_else_is_refused(change):
    encoder = bin_encoder(COLUMNS["normal"], 3)
    with pytest.raises(FileFormatError):
        changed(encoder, **change)


def test_bins_of_a_given_density():
    margin = fit_margin(COLUMNS["normal"])
    encoder = BinEncoder(np.array([0.0]), margin)
    assert encoder.bandwidth == 0
    assert encoder.likelihoods(np.array([1.0]))[0, 0] == 0
