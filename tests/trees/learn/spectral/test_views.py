"""Three views of a hidden state: exact moments give back the states."""

from itertools import permutations

import numpy as np
import pytest

from tacit.trees.learn.spectral.views import (
    MOST_EXPLAINED,
    capped,
    decompose,
    joint_turn,
    means_given,
)


def random_states(rng, k, size=0.9):
    """Shares, and the means of three views in k states; every view has variance one at most."""
    shares = rng.dirichlet(np.full(k, 20.0))
    points = rng.normal(size=(k - 1, k))
    points -= (points @ shares)[:, None]
    spread = np.linalg.cholesky((points * shares) @ points.T)
    points = np.linalg.solve(spread, points)  # mean zero, variance one
    means = []
    for _ in range(3):
        left, _ = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))
        right, _ = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))
        means.append((left * rng.uniform(0.5 * size, size, k - 1)) @ right @ points)
    return shares, np.array(means)


def moments_of(shares, means):
    """The covariance of the three views side by side, and E[a b c]."""
    r = means.shape[1]
    stacked = means.reshape(3 * r, -1)
    covariance = (stacked * shares) @ stacked.T
    for g in range(3):
        covariance[g * r : (g + 1) * r, g * r : (g + 1) * r] = np.eye(r)
    return covariance, np.einsum("h,ah,bh,ch->abc", shares, *means)


def smallest_gap(found, truth):
    """How far shares and means are apart, with states numbered in the best way."""
    k = len(truth[0])
    return min(
        max(
            np.abs(found[0][list(order)] - truth[0]).max(),
            np.abs(found[1][..., list(order)] - truth[1]).max(),
        )
        for order in permutations(range(k))
    )


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_exact_moments_give_back_shares_and_means(k, seed):
    rng = np.random.default_rng(seed)
    truths = [random_states(rng, k) for _ in range(3)]  # several nodes at once
    covariance, third = map(np.array, zip(*(moments_of(*each) for each in truths), strict=True))
    shares, means = decompose(covariance, third, noise=0.0)
    for node, truth in enumerate(truths):
        assert smallest_gap((shares[node], means[node]), truth) < 1e-6


@pytest.mark.parametrize("k", [2, 3])
def test_little_noise_moves_the_states_little(k):
    rng = np.random.default_rng(0)
    truth = random_states(rng, k)
    covariance, third = moments_of(*truth)
    found = decompose(covariance[None], third[None], noise=1e-3)
    assert smallest_gap((found[0][0], found[1][0]), truth) < 0.02


@pytest.mark.parametrize("k", [2, 3, 4])
def test_nothing_but_noise_gives_states_that_are_alike(k):
    rng = np.random.default_rng(0)
    r = k - 1
    covariance = np.eye(3 * r) + 1e-3 * rng.normal(size=(3 * r, 3 * r))
    third = 1e-3 * rng.normal(size=(r, r, r))
    shares, means = decompose(covariance[None], third[None], noise=0.05)
    assert np.isfinite(means).all()
    assert shares[0].sum() == pytest.approx(1.0)
    assert (shares[0] > 0.05).all()
    assert (np.abs(means) * np.sqrt(shares)).max() < 0.5


@pytest.mark.parametrize("k", [2, 3])
def test_moments_that_cannot_be_still_give_states(k):
    """Covariances above one, signs that do not fit: what few rows may show."""
    rng = np.random.default_rng(0)
    r = k - 1
    covariance = rng.normal(size=(20, 3 * r, 3 * r)) * 3
    third = rng.normal(size=(20, r, r, r)) * 10
    shares, means = decompose(covariance, third, noise=0.1)
    assert np.isfinite(means).all()
    assert (shares > 0).all()
    assert shares.sum(axis=1) == pytest.approx(1.0)
    weighted = means * np.sqrt(shares)[:, None, None, :]
    explained = np.linalg.norm(weighted, axis=(2, 3), ord=2)
    assert explained.max() < 2.0  # bounded, though shares were lifted after capping


@pytest.mark.parametrize("k", [2, 4])
def test_matrices_with_common_directions_are_turned_diagonal(k):
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.normal(size=(k, k)))
    slices = np.array([(turn * rng.normal(size=k)) @ turn.T for _ in range(3)])
    found = joint_turn(slices[None].copy())[0]
    assert found.T @ found == pytest.approx(np.eye(k), abs=1e-12)
    for each in slices:
        diagonal = found.T @ each @ found
        assert diagonal == pytest.approx(np.diag(np.diag(diagonal)), abs=1e-8)


@pytest.mark.parametrize("k", [2, 4])
def test_means_follow_from_covariances_with_views_whose_means_are_known(k):
    rng = np.random.default_rng(0)
    shares, views = random_states(rng, k)
    wanted = rng.normal(size=(3, k)) * 0.3
    wanted -= (wanted @ shares)[:, None]
    others = views[:2].reshape(2 * (k - 1), k)
    covariance = (wanted * shares) @ others.T
    found = means_given(covariance[None], others[None], shares[None], noise=0.0)[0]
    assert found == pytest.approx(wanted, abs=1e-8)
    shrunk = means_given(covariance[None], others[None], shares[None], noise=1.0)[0]
    assert np.abs(shrunk).max() < np.abs(wanted).max()


def test_loadings_are_capped_where_they_explain_too_much():
    small, large = np.diag([0.5, 0.3]), np.diag([3.0, 0.3])
    found = capped(np.array([small, large]))
    assert found[0] == pytest.approx(small)
    assert found[1] == pytest.approx(np.diag([np.sqrt(MOST_EXPLAINED), 0.3]))
