"""Mixtures of spherical Gaussians from moments: exact ones give the mixture back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.spherical import ExactMoments, matched, random_mixture
from tacit.errors import ArgumentError, RankError
from tacit.numbers.learn.mixture_moments import (
    clustered_mixture,
    mixture_of_moments,
    supported_components,
)
from tacit.numbers.model.gaussian_mixture import SphericalMixture
from tacit.numbers.moments.third_moments import NumberMoments


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(("k", "d"), [(1, 1), (1, 3), (2, 2), (3, 3), (3, 7), (6, 20)])
@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_give_back_the_exact_mixture(seed, k, d, own):
    truth = random_mixture(np.random.default_rng(seed), k, d, own=own)
    actual, report = mixture_of_moments(ExactMoments(truth), k, separate_variances=own)
    same = matched(actual, truth)
    assert same.weights == pytest.approx(truth.weights, abs=1e-8)
    assert same.means == pytest.approx(truth.means, abs=1e-8 * np.abs(truth.means).max())
    assert same.variances == pytest.approx(truth.variances, abs=1e-8)
    assert (np.diff(actual.weights) <= 0).all()
    assert report["supported_components"] == k
    assert report["residual"] < 1e-12


def test_moments_of_rows_are_sums_over_them(monkeypatch):
    rng = np.random.default_rng(0)
    rows, directions = rng.exponential(size=(50, 4)), rng.normal(size=(4, 3))
    centred = rows - rows.mean(axis=0)
    places = centred @ directions
    for entries in (1 << 22, 20):
        monkeypatch.setattr("tacit.numbers.moments.third_moments.ENTRIES_AT_ONCE", entries)
        actual = NumberMoments.of(rows)
        cubes = np.einsum("na,nb,nc->abc", places, places, places) / 50
        assert actual.cubes(directions) == pytest.approx(cubes, rel=1e-12, abs=1e-12)
        scaled = np.einsum("ni,na->i", centred, places**2) / 50
        assert actual.scaled(directions) == pytest.approx(scaled, rel=1e-12, abs=1e-12)
        assert actual.covariance == pytest.approx(np.cov(rows.T, bias=True), rel=1e-12)


@given(st.integers(0, 200), st.floats(-50, 50))
def test_rows_moved_move_the_means_and_nothing_else(seed, shift):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 4)) + 3 * rng.integers(0, 2, (60, 1)) * rng.normal(size=4)
    here, _ = mixture_of_moments(NumberMoments.of(rows), 2)
    there, _ = mixture_of_moments(NumberMoments.of(rows + shift), 2)
    assert there.means - shift == pytest.approx(here.means, abs=1e-6)
    assert there.weights == pytest.approx(here.weights, abs=1e-6)
    assert there.variances == pytest.approx(here.variances, rel=1e-5)


def test_more_components_than_columns_are_refused():
    moments = ExactMoments(random_mixture(np.random.default_rng(0), 2, 3))
    with pytest.raises(RankError, match="use n_components<=3"):
        mixture_of_moments(moments, 4)


def test_more_components_than_stand_out_are_refused():
    moments = ExactMoments(random_mixture(np.random.default_rng(0), 2, 3))
    with pytest.raises(RankError, match="use n_components<=2"):
        mixture_of_moments(moments, 3)


def test_noise_alone_supports_one_component():
    rows = np.random.default_rng(0).normal(size=(2000, 10))
    sizes = np.linalg.eigvalsh(np.cov(rows.T))
    assert supported_components(sizes, 2000) == 1


def test_parts_that_do_not_fit_are_refused():
    with pytest.raises(ArgumentError, match="same number of components"):
        SphericalMixture(np.ones(2) / 2, np.ones((3, 2)), np.ones(2))


def test_clusters_are_components():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0, 0], [9, 0, 0], [0, 9, 9]])
    rows = np.repeat(centres, (50, 30, 20), axis=0) + 0.1 * rng.normal(size=(100, 3))
    actual = clustered_mixture(rows, 3)
    order = actual.weights.argsort()[::-1]
    assert actual.weights[order] == pytest.approx([0.5, 0.3, 0.2])
    assert actual.means[order] == pytest.approx(centres, abs=0.1)
    assert actual.variances == pytest.approx(np.full(3, 0.01), rel=0.5)


def test_no_more_clusters_than_different_rows():
    actual = clustered_mixture(np.repeat([[0.0, 1.0], [3.0, 1.0]], 5, axis=0), 4)
    assert actual.means.tolist() in ([[0.0, 1.0], [3.0, 1.0]], [[3.0, 1.0], [0.0, 1.0]])
