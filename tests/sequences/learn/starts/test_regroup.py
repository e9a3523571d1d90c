"""States of numbers grouped anew: what is joined or parted has the moments it had."""

import numpy as np
import pytest

from oracles.gaussians import random_gaussian_chain
from tacit.sequences.learn.starts.gaussian_hmm import by_rows, even_chain, with_random_transitions
from tacit.sequences.learn.starts.regroup import joined, parted, regroupings


def moments(chain, weights):
    """The mean and the covariance of rows of states that are as likely as this."""
    mean = weights @ chain.means
    away = chain.means - mean
    within = np.einsum("s,sij->ij", weights, chain.covariances)
    return mean, within + np.einsum("s,si,sj->ij", weights, away, away)


def is_one(chain):
    np.linalg.cholesky(chain.covariances)
    assert chain.initial.sum() == pytest.approx(1)
    assert chain.transitions.sum(axis=1) == pytest.approx(1)
    assert (chain.transitions >= 0).all()
    off = chain.covariances * (1 - np.eye(chain.n_columns))
    assert not chain.diagonal or not off.any()


def same_covariance(chain, actual, expected):
    shown = np.eye(chain.n_columns) if chain.diagonal else 1.0
    assert actual * shown == pytest.approx(expected * shown)


@pytest.mark.parametrize("diagonal", [True, False])
def test_states_that_are_joined_are_what_both_were(diagonal):
    chain = random_gaussian_chain(4, 2, diagonal)
    visits = chain.stationary
    one = joined(chain, visits, 1, 3)
    is_one(one)
    assert one.stationary == pytest.approx([visits[0], visits[1] + visits[3], visits[2]])
    (mean, spread), (old, before) = moments(one, one.stationary), moments(chain, visits)
    assert mean == pytest.approx(old)
    same_covariance(chain, spread, before)


@pytest.mark.parametrize("diagonal", [True, False])
@pytest.mark.parametrize("aside", [True, False])
def test_a_state_that_is_parted_is_two_of_its_moments(diagonal, aside):
    chain = random_gaussian_chain(4, 2, diagonal)
    two = parted(chain, 1, aside=aside)
    is_one(two)
    visits = chain.stationary
    both = [visits[1] / 2, visits[1] / 2]
    assert two.stationary == pytest.approx([*visits[[0, 2, 3]], *both])
    (mean, spread), (old, before) = moments(two, two.stationary), moments(chain, visits)
    assert mean == pytest.approx(old)
    same_covariance(chain, spread, before)
    assert not np.allclose(two.means[-1], two.means[-2]) or not aside
    assert not np.allclose(two.covariances[-1], two.covariances[-2]) or aside


def test_regroupings_are_different_chains_of_as_many_states():
    chain = random_gaussian_chain(4, 2, False)
    candidates = regroupings(chain, chain.stationary, 12, np.random.default_rng(0))
    assert len(candidates) == 12
    assert all(candidate.n_states == 4 for candidate in candidates.values())
    assert (
        len(
            regroupings(random_gaussian_chain(2, 2, True), np.ones(2), 12, np.random.default_rng(0))
        )
        == 2
    )
    assert not regroupings(
        random_gaussian_chain(1, 2, True), np.ones(1), 12, np.random.default_rng(0)
    )


@pytest.mark.parametrize("diagonal", [True, False])
def test_states_about_rows_are_as_wide_as_rows(diagonal):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2000, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
    values -= values.mean(axis=0)
    chain = by_rows(values, 3, rng, scale=0.3, diagonal=diagonal)
    is_one(chain)
    assert all((values == mean).all(axis=1).any() for mean in chain.means)
    same_covariance(
        chain, chain.covariances[0], 0.3 * np.cov(values.T, bias=True) + 3e-7 * np.eye(2)
    )
    few = by_rows(values[:2], 3, rng, scale=1.0, diagonal=diagonal)
    assert few.n_states == 3


def test_random_moves_go_anywhere():
    chain = even_chain(np.zeros((3, 1)), np.ones((3, 1, 1)), diagonal=True)
    actual = with_random_transitions(chain, np.random.default_rng(0))
    is_one(actual)
    assert actual.transitions.min() > 0.01
    assert not np.allclose(actual.transitions, chain.transitions)
