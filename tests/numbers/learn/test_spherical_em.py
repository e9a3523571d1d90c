"""EM on mixtures of spherical Gaussians, against scikit-learn and its own laws."""

import numpy as np
import pytest

from oracles.spherical import random_mixture
from tacit.numbers.learn.mixture_em import em_step, spherical_em
from tacit.numbers.model.gaussian_mixture import SphericalMixture
from tacit.numbers.query.gaussian_mixture import e_step, log_density, sample


def case(seed=0, own=True):
    rng = np.random.default_rng(seed)
    truth = random_mixture(rng, 3, 4, own=own)
    rows, _ = sample(truth, 300, rng)
    start = SphericalMixture(np.ones(3) / 3, rows[:3], np.full(3, 2.0))
    return rows, start


@pytest.mark.parametrize("own", [True, False])
def test_steps_never_go_downhill_and_blocks_do_not_show(own, monkeypatch):
    rows, start = case(own=own)
    actual = [em_step(rows, start, own, 0.0)]
    for _ in range(8):
        actual.append(em_step(rows, actual[-1][1], own, 0.0))
    assert (np.diff([score for score, _ in actual]) >= -1e-12).all()
    monkeypatch.setattr("tacit.numbers.learn.mixture_em.BLOCK_ROWS", 7)
    score, cut = em_step(rows, start, own, 0.0)
    assert score == pytest.approx(actual[0][0], rel=1e-12)
    assert cut.means == pytest.approx(actual[0][1].means, rel=1e-10)
    assert cut.variances == pytest.approx(actual[0][1].variances, rel=1e-9)


def test_a_step_is_that_of_scikit_learn():
    from sklearn.mixture import GaussianMixture

    rows, start = case()
    peer = GaussianMixture(
        3,
        covariance_type="spherical",
        reg_covar=0.0,
        max_iter=1,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=1 / start.variances,
    )
    with pytest.warns(UserWarning, match="converge"):
        peer.fit(rows)
    score, better = em_step(rows, start, separate_variances=True, reg_covar=0.0)
    assert score == pytest.approx(log_density(start, rows).mean())
    assert better.weights == pytest.approx(peer.weights_, rel=1e-9)
    assert better.means == pytest.approx(peer.means_, rel=1e-9)
    assert better.variances == pytest.approx(peer.covariances_, rel=1e-9)
    assert log_density(better, rows) == pytest.approx(peer.score_samples(rows), rel=1e-9)
    assert e_step(better, rows)[1] == pytest.approx(peer.predict_proba(rows), abs=1e-9)


def test_a_component_without_rows_stays_where_it_is():
    rows = np.random.default_rng(0).normal(size=(50, 2))
    start = SphericalMixture(np.ones(2) / 2, np.array([[0.0, 0.0], [1e4, 1e4]]), np.ones(2))
    _, better = em_step(rows, start, separate_variances=True, reg_covar=0.0)
    assert better.means[1] == pytest.approx([1e4, 1e4])
    assert better.weights[1] == pytest.approx(0.0, abs=1e-9)


def test_the_climb_stops_by_gain_or_bound():
    rows, start = case()
    actual = spherical_em(rows, start, separate_variances=True, reg_covar=0.0, max_iter=3, tol=0.0)
    assert (actual.n_steps, actual.converged) == (3, False)
    actual = spherical_em(
        rows, start, separate_variances=True, reg_covar=0.0, max_iter=500, tol=1e-6
    )
    assert actual.converged
    assert actual.n_steps < 500
