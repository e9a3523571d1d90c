"""Hidden Markov models and the conventions of scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from oracles.sequence_exceptions import EXPECTED_FAILURES_OF_PATHS
from tacit.sequences.hmm import HMM

LEARNERS = ("auto", "spectral", "tensor", "em", "online-em")


def sequences(n=60, seed=0):
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random((n, 12)) < 0.2, axis=1) % 2
    return np.where(rng.random((n, 12)) < 0.85, states, rng.integers(0, 3, (n, 12)))


@parametrize_with_checks(
    [
        HMM(emissions="categorical"),
        HMM(2, emissions="categorical"),
        HMM(2, "em", n_restarts=1, emissions="categorical"),
        HMM(2, "online-em", emissions="categorical"),
    ],
    expected_failed_checks=lambda _: EXPECTED_FAILURES_OF_PATHS,
)
def test_the_checks_of_scikit_learn_hold(estimator, check):
    check(estimator)


@pytest.mark.parametrize("learn", LEARNERS)
def test_copies_and_pickles_answer_the_same(learn):
    model = HMM(2, learn, n_restarts=2).fit(sequences())
    loaded = pickle.loads(pickle.dumps(model))
    assert np.array_equal(loaded.score_samples(sequences()), model.score_samples(sequences()))
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "parameters_")


def test_it_works_with_cross_validation_and_grids():
    X = sequences()
    scores = cross_val_score(HMM(2), X, cv=3)
    assert np.isfinite(scores).all()
    search = GridSearchCV(HMM(), {"n_states": [1, 2]}, cv=3).fit(X)
    assert search.best_params_ == {"n_states": 2}
    texts = [["abc"[code] for code in row] for row in X]
    assert np.isfinite(cross_val_score(HMM(2), texts, cv=3)).all()


def test_nothing_given_is_changed():
    X = sequences()
    before = X.copy()
    HMM(2).fit(X).posterior(X)
    assert np.array_equal(X, before)
    X.setflags(write=False)
    HMM(2).fit(X)
