"""Whitening of features: alike in all directions, and the constant stays the constant."""

import math

import numpy as np
import pytest

from tacit.core.encoders.encoders import IndicatorEncoder, grid_encoder
from tacit.trees.moments.features import FeatureMoments
from tacit.trees.moments.whitening import PSEUDO_ROWS, Turn, Whitening, root_scale

ENCODERS = (grid_encoder(-2, 2, 6, 0.7), IndicatorEncoder(3), IndicatorEncoder(2))


def whitened(n_rows=400):
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=n_rows), rng.integers(0, 3, n_rows), rng.integers(0, 2, n_rows)]
    pairs = FeatureMoments.of(columns, ENCODERS).pairs()
    features = [encoder.features(x) for encoder, x in zip(ENCODERS, columns, strict=True)]
    return pairs, features, Whitening.of(pairs, pairs.supports)


def test_whitened_features_vary_alike_but_for_the_rows_added():
    pairs, features, whitening = whitened()
    turn = whitening.turns[0].inverse_root
    second = features[0].T @ features[0] / 400 + PSEUDO_ROWS / 400 * np.eye(len(turn))
    assert turn @ second @ turn == pytest.approx(np.eye(len(turn)), abs=1e-9)
    assert turn == pytest.approx(turn.T)
    block = whitening.joint[: len(turn), len(turn) :]
    expected = turn @ pairs.joint(0, 1) @ whitening.turns[1].inverse_root
    assert block[:, :3] == pytest.approx(expected, abs=1e-12)
    assert whitening.means[: len(turn)] == pytest.approx(turn @ features[0].mean(axis=0))


def test_indicators_are_divided_by_the_roots_of_their_probabilities():
    pairs, _, whitening = whitened()
    assert [turn.indicators for turn in whitening.turns] == [False, True, True]
    assert whitening.turns[1].inverse_root == pytest.approx(
        np.diag(root_scale(pairs.marginal(1), 400)), abs=1e-12
    )
    assert whitening.freedom[1:].tolist() == [2, 1]
    # Of kernel features, those that hardly vary count less.
    assert 2 < whitening.freedom[0] < len(whitening.turns[0].total) - 1


@pytest.mark.parametrize("leaves", [(0,), (1,), (0, 1), (2, 0), (1, 2)])
def test_the_constant_of_whitened_features_is_that_of_the_features(leaves):
    _, features, whitening = whitened()
    joint, total = np.ones((400, 1)), np.ones(1)
    for leaf in leaves:
        joint = np.einsum("ia,ib->iab", joint, features[leaf]).reshape(400, -1)
        total = np.kron(total, ENCODERS[leaf].total)
    turn = whitening.of_group(leaves, joint.mean(axis=0), 400)
    assert whitening.total(leaves) == pytest.approx(total)
    assert joint @ turn.inverse_root @ turn.constant == pytest.approx(joint @ total)
    assert turn.indicators == (0 not in leaves)
    if turn.indicators:
        assert turn.inverse_root == pytest.approx(np.diag(root_scale(joint.mean(axis=0), 400)))
    else:
        assert turn.freedom + 1 == pytest.approx(
            np.prod([whitening.turns[leaf].freedom + 1 for leaf in leaves])
        )


def test_directions_without_variance_are_left_alone():
    second = np.array([[1.0, 1.0], [1.0, 1.0]])
    exact = Turn.of(second, np.array([0.5, 0.5]), math.inf)
    assert np.isfinite(exact.inverse_root).all()
    assert exact.freedom == pytest.approx(0)
    nothing = Turn.of(np.zeros((2, 2)), np.array([0.5, 0.5]), math.inf)
    assert nothing.inverse_root == pytest.approx(np.eye(2))
