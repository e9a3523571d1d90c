"""Mixtures with covariances of any form: against scikit-learn, scipy, and sums done the long way."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from tacit.numbers.learn.mixture_em import em_step
from tacit.numbers.learn.mixture_forms import (
    FOLDS,
    FORMS,
    e_step,
    held_out_log_densities,
    m_step,
    sufficient_statistics,
)
from tacit.numbers.model.gaussian_mixture import SphericalMixture


def case(n=90, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 3)) * [1.0, 2.0, 0.5] + 3 * rng.integers(0, 2, (n, 1))
    rows -= rows.mean(axis=0)
    return rows, rng.dirichlet([1, 1, 1], n).T


def covariances(found):
    """(component, column, column), whatever the form."""
    if found.factors.ndim == 2:
        return np.stack([np.diag(item**-2.0) for item in found.factors])
    return np.linalg.inv(found.factors @ found.factors.transpose(0, 2, 1))


@pytest.mark.parametrize("form", FORMS[1:])
def test_a_step_is_that_of_scikit_learn(form):
    rows, responsibilities = case()
    start = m_step(sufficient_statistics(rows, responsibilities, form), form, 0.01)
    peer = GaussianMixture(
        3,
        covariance_type=form,
        reg_covar=0.01,
        max_iter=1,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=start.precisions(form),
    )
    with pytest.warns(UserWarning, match="converge"):
        peer.fit(rows)
    _, responsibilities = e_step(start, rows)
    actual = m_step(sufficient_statistics(rows, responsibilities, form), form, 0.01)
    assert actual.weights == pytest.approx(peer.weights_, rel=1e-9)
    assert actual.means == pytest.approx(peer.means_, rel=1e-9)
    assert actual.precisions(form) == pytest.approx(peer.precisions_, rel=1e-8, abs=1e-9)
    logs, responsibilities = e_step(actual, rows)
    assert logs == pytest.approx(peer.score_samples(rows), rel=1e-9)
    assert responsibilities == pytest.approx(peer.predict_proba(rows).T, abs=1e-9)


def test_a_common_variance_is_that_of_spherical_em():
    rows, responsibilities = case()
    start = m_step(sufficient_statistics(rows, responsibilities, "common"), "common", 0.01)
    same = SphericalMixture(start.weights, start.means, start.factors[:, 0] ** -2.0)
    score, better = em_step(rows, same, separate_variances=False, reg_covar=0.01)
    logs, responsibilities = e_step(start, rows)
    actual = m_step(sufficient_statistics(rows, responsibilities, "common"), "common", 0.01)
    assert logs.mean() == pytest.approx(score)
    assert actual.means == pytest.approx(better.means, rel=1e-9)
    assert actual.factors[:, 0] ** -2.0 == pytest.approx(better.variances, rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_rows_left_out_are_foretold_by_the_others(form):
    rows, start = case()
    how = {"reg_covar": 0.01, "tol": 0.0}
    actual = held_out_log_densities(rows, start, form, max_iter=4, **how)
    responsibilities = start
    for _ in range(4):
        step = m_step(sufficient_statistics(rows, responsibilities, form), form, 0.01)
        responsibilities = e_step(step, rows)[1]
    for fold in range(FOLDS):
        out = np.arange(len(rows)) % FOLDS == fold
        others = m_step(
            sufficient_statistics(rows[~out], responsibilities[:, ~out], form), form, 0.01
        )
        joint = [
            np.log(weight) + multivariate_normal(mean, covariance).logpdf(rows[out])
            for weight, mean, covariance in zip(
                others.weights, others.means, covariances(others), strict=True
            )
        ]
        assert actual[out] == pytest.approx(logsumexp(joint, axis=0), rel=1e-8)


@pytest.mark.parametrize("form", ["spherical", "diag", "full"])
def test_a_component_of_one_row_is_likely_but_does_not_foretell_it(form):
    rows, _ = case()
    alone = np.eye(2)[:, (np.arange(len(rows)) == 7).astype(int)]
    fitted = m_step(sufficient_statistics(rows, alone, form), form, 1e-12)
    assert e_step(fitted, rows)[0][7] > 20
    how = {"reg_covar": 1e-12, "max_iter": 1, "tol": 0.0}
    assert held_out_log_densities(rows, alone, form, **how)[7] < -3


@pytest.mark.parametrize("form", FORMS)
def test_a_singular_covariance_foretells_nothing(form):
    rows = np.zeros((20, 2))
    how = {"reg_covar": 0.0, "max_iter": 3, "tol": 0.0}
    assert (held_out_log_densities(rows, np.full((2, 20), 0.5), form, **how) == -np.inf).all()
