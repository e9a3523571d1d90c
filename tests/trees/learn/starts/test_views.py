"""Three views of a hidden state: exact moments give back the states."""

from itertools import permutations

import numpy as np
import pytest

from tacit.trees.learn.starts.views import (
    MOST_EXPLAINED,
    capped,
    decompose,
    joint_turn,
    means_given,
)


def random_states(rng, k, size=0.9):
    """Shares, and the means of three views in k states; every view has variance one at most."""
    weights = rng.dirichlet(np.full(k, 20.0))
    points = rng.normal(size=(k - 1, k))
    points -= (points @ weights)[:, None]
    spread = np.linalg.cholesky((points * weights) @ points.T)
    points = np.linalg.solve(spread, points)  # mean zero, variance one
    means = []
    for _ in range(3):
        left, _ = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))
        right, _ = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))
        means.append((left * rng.uniform(0.5 * size, size, k - 1)) @ right @ points)
    return weights, np.array(means)


def moments_of(weights, means):
    """The covariance of the three views side by side, and E[a b c]."""
    r = means.shape[1]
    stacked = means.reshape(3 * r, -1)
    covariance = (stacked * weights) @ stacked.T
    for g in range(3):
        covariance[g * r : (g + 1) * r, g * r : (g + 1) * r] = np.eye(r)
    return covariance, np.einsum("h,ah,bh,ch->abc", weights, *means)


def smallest_gap(learnt, truth):
    """How far shares and means are apart, with states numbered in the best way."""
    k = len(truth[0])
    return min(
        max(
            np.abs(learnt[0][list(order)] - truth[0]).max(),
            np.abs(learnt[1][..., list(order)] - truth[1]).max(),
        )
        for order in permutations(range(k))
    )


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_exact_moments_give_back_weights_and_means(k, seed):
    rng = np.random.default_rng(seed)
    truths = [random_states(rng, k) for _ in range(3)]  # several nodes at once
    covariance, third = map(np.array, zip(*(moments_of(*states) for states in truths), strict=True))
    weights, means = decompose(covariance, third, noise=0.0)
    for node, truth in enumerate(truths):
        assert smallest_gap((weights[node], means[node]), truth) < 1e-6


@pytest.mark.parametrize("k", [2, 3])
def test_little_noise_moves_the_states_little(k):
    rng = np.random.default_rng(0)
    truth = random_states(rng, k)
    covariance, third = moments_of(*truth)
    states = decompose(covariance[None], third[None], noise=1e-3)
    assert smallest_gap((states[0][0], states[1][0]), truth) < 0.02


@pytest.mark.parametrize("k", [2, 3, 4])
def test_nothing_but_noise_gives_states_that_are_alike(k):
    rng = np.random.default_rng(0)
    r = k - 1
    covariance = np.eye(3 * r) + 1e-3 * rng.normal(size=(3 * r, 3 * r))
    third = 1e-3 * rng.normal(size=(r, r, r))
    weights, means = decompose(covariance[None], third[None], noise=0.05)
    assert np.isfinite(means).all()
    assert weights[0].sum() == pytest.approx(1.0)
    assert (weights[0] > 0.05).all()
    assert (np.abs(means) * np.sqrt(weights)).max() < 0.5


@pytest.mark.parametrize("k", [2, 3])
def test_moments_that_cannot_be_still_give_states(k):
    """Covariances above one, signs that do not fit: what few rows may show."""
    rng = np.random.default_rng(0)
    r = k - 1
    covariance = rng.normal(size=(20, 3 * r, 3 * r)) * 3
    third = rng.normal(size=(20, r, r, r)) * 10
    weights, means = decompose(covariance, third, noise=0.1)
    assert np.isfinite(means).all()
    assert (weights > 0).all()
    assert weights.sum(axis=1) == pytest.approx(1.0)
    weighted = means * np.sqrt(weights)[:, None, None, :]
    explained = np.linalg.norm(weighted, axis=(2, 3), ord=2)
    assert explained.max() < 2.0  # bounded, though shares were lifted after capping


@pytest.mark.parametrize("k", [2, 4])
def test_matrices_with_common_directions_are_turned_diagonal(k):
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(k, k)))
    slices = np.array([(turn * rng.normal(size=k)) @ turn.T for _ in range(3)])
    rotation = joint_turn(slices[None].copy())[0]
    assert rotation.T @ rotation == pytest.approx(np.eye(k), abs=1e-12)
    for matrix in slices:
        diagonal = rotation.T @ matrix @ rotation
        assert diagonal == pytest.approx(np.diag(np.diag(diagonal)), abs=1e-8)


@pytest.mark.parametrize("k", [2, 4])
def test_means_follow_from_covariances_with_views_whose_means_are_known(k):
    rng = np.random.default_rng(0)
    weights, views = random_states(rng, k)
    expected = rng.normal(size=(3, k)) * 0.3
    expected -= (expected @ weights)[:, None]
    others = views[:2].reshape(2 * (k - 1), k)
    covariance = (expected * weights) @ others.T
    means = means_given(covariance[None], others[None], weights[None], noise=0.0)[0]
    assert means == pytest.approx(expected, abs=1e-8)
    shrunk = means_given(covariance[None], others[None], weights[None], noise=1.0)[0]
    assert np.abs(shrunk).max() < np.abs(expected).max()


def test_loadings_are_capped_where_they_explain_too_much():
    small, large = np.diag([0.5, 0.3]), np.diag([3.0, 0.3])
    loadings = capped(np.array([small, large]))
    assert loadings[0] == pytest.approx(small)
    assert loadings[1] == pytest.approx(np.diag([np.sqrt(MOST_EXPLAINED), 0.3]))
