"""Bells: densities, their integrals, and what becomes of odd columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from oracles.edited_files import copied
from tacit.core.encoders.basis import BasisEncoder, basis_encoder, joined_basis, placed_weights
from tacit.core.encoders.encoder_files import ENCODER
from tacit.errors import ArgumentError, DataError


def encoder(n=500, n_basis=8, seed=0):
    return basis_encoder(np.random.default_rng(seed).standard_t(3, n), n_basis)


def test_every_feature_is_a_density():
    basis = encoder(n_basis=4)
    for feature in range(basis.size):
        actual, _ = quad(
            lambda x, f=feature: basis.likelihoods(np.array([x]))[0, f],
            -np.inf,
            np.inf,
            limit=400,
            points=None,
        )
        assert actual == pytest.approx(1.0, abs=1e-6)


@given(st.floats(-20, 20), st.floats(0.01, 5))
def test_masses_between_numbers_are_integrals_of_the_densities(low, width):
    basis = encoder(n_basis=4)
    grid = np.linspace(low, low + width, 4001)
    middles = 0.5 * (grid[1:] + grid[:-1])
    summed = basis.likelihoods(middles).sum(axis=0) * (grid[1] - grid[0])
    ends = basis.cumulative(np.array([low, low + width]))
    assert ends[1] - ends[0] == pytest.approx(summed, abs=1e-4)
    far = basis.cumulative(np.array([-1e12, 1e12]))
    assert far[0] == pytest.approx(np.zeros(basis.size), abs=1e-9)
    assert far[1] == pytest.approx(np.ones(basis.size), abs=1e-9)


def test_missing_numbers_have_ones_and_features_sum_to_one():
    basis = encoder()
    values = np.array([0.3, np.nan, -5.0])
    assert basis.likelihoods(values)[1].tolist() == [1.0] * basis.size
    features = basis.features(values)
    assert np.isnan(features[1]).all()
    assert features[[0, 2]].sum(axis=1) == pytest.approx([1, 1])


def test_no_number_is_impossible():
    assert (encoder().likelihoods(np.array([1e6, -1e6])).max(axis=1) > 0).all()


def test_means_of_functions_are_those_of_the_densities():
    basis = encoder(2000)
    means = basis.functional(lambda x: x)
    narrow = basis.widths < 0.5
    assert means[:-1][narrow] == pytest.approx(basis.centers[narrow], abs=0.02)
    assert basis.functional(np.ones_like) == pytest.approx(np.ones(basis.size))


def test_levels_are_drawn_at_quantiles(monkeypatch):
    monkeypatch.setattr("tacit.core.encoders.basis._STEPS", 0)
    values = np.random.default_rng(0).exponential(size=4000)
    basis = basis_encoder(values, 4)
    assert basis.centers[:4] == pytest.approx(np.quantile(values, [0.125, 0.375, 0.625, 0.875]))
    assert basis.size == 4 + 2 + 4 + 1
    assert basis_encoder(values, 5).size == basis.size
    wider = basis_encoder(values, 4, bandwidth=2.0)
    assert wider.widths[:6] == pytest.approx(2 * basis.widths[:6])


@pytest.mark.parametrize(
    "values",
    [
        np.zeros(10),
        np.array([7.0]),
        np.array([0.0, 0.0, 0.0, 1.0]),
        np.array([np.nan, 3.0, 1e300]),
        np.array([1e9, 1e9 + 1e-6]),
    ],
)
def test_odd_columns_have_proper_densities_too(values):
    basis = basis_encoder(values, 8)
    assert (basis.widths > 0).all()
    actual = basis.likelihoods(values[~np.isnan(values)])
    assert np.isfinite(actual).all()
    assert (actual.max(axis=1) > 0).all()
    assert (np.diff(basis.grid(50)) >= 0).all()


def test_files_hold_bases():
    basis = encoder()
    again = copied(ENCODER, basis)
    assert isinstance(again, BasisEncoder)
    x = np.linspace(-3, 3, 7)
    assert np.array_equal(again.likelihoods(x), basis.likelihoods(x))
    assert np.array_equal(again.grid(), basis.grid())


def test_joined_bases_have_the_densities_of_all():
    parts = [encoder(n_basis=4), encoder(n_basis=8)]
    both = joined_basis(parts)
    x = np.linspace(-4, 4, 9)
    rng = np.random.default_rng(0)
    for place, part in enumerate(parts):
        weights = rng.dirichlet(np.ones(part.size), 3)
        actual = both.likelihoods(x) @ placed_weights(weights, parts, place).T
        assert actual == pytest.approx(part.likelihoods(x) @ weights.T, rel=1e-12)


def test_columns_without_numbers_and_wrong_sizes_are_refused():
    with pytest.raises(DataError, match="single number"):
        basis_encoder(np.array([np.nan]), 8)
    with pytest.raises(ArgumentError, match="n_basis=0"):
        basis_encoder(np.ones(3), 0)
    with pytest.raises(ArgumentError, match="bandwidth=-1"):
        basis_encoder(np.ones(3), 4, -1)


def test_em_fits_the_basis_to_the_density(monkeypatch):
    rng = np.random.default_rng(0)
    values = np.where(rng.random(3000) < 0.3, rng.normal(-2, 0.1, 3000), rng.normal(1, 1, 3000))
    moved = basis_encoder(values, 4)
    monkeypatch.setattr("tacit.core.encoders.basis._STEPS", 0)
    drawn = basis_encoder(values, 4)

    def best_fit(bells):
        """Mean log-density of the best mixture of these bells."""
        parts, proportions = bells.likelihoods(values), np.full(bells.size, 1 / bells.size)
        for _ in range(300):
            mixed = parts @ proportions
            proportions = (parts / mixed[:, None]).mean(axis=0) * proportions
        return np.log(parts @ proportions).mean()

    assert best_fit(moved) > best_fit(drawn) + 0.05
    peak = np.abs(moved.centers + 2) < 0.05
    assert moved.widths[peak].min() == pytest.approx(0.1, abs=0.03)
