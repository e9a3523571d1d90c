"""Automata and the conventions of scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from oracles.sequence_exceptions import EXPECTED_FAILURES_OF_SYMBOLS
from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
from tacit.sequences.weighted_automaton import WeightedAutomaton

MODELS = [
    WeightedAutomaton(basis=30),
    ProbabilisticAutomaton(2, "em", tied=True),
    ProbabilisticAutomaton(2, tied=False, n_sweeps=6, n_samples=2),
]


def sequences(n=60, seed=0):
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.random((n, 12)) < 0.2, axis=1) % 2
    return np.where(rng.random((n, 12)) < 0.85, states, rng.integers(0, 3, (n, 12)))


@parametrize_with_checks(MODELS, expected_failed_checks=lambda _: EXPECTED_FAILURES_OF_SYMBOLS)
def test_the_checks_of_scikit_learn_hold(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_copies_and_pickles_answer_the_same(model):
    fitted = clone(model).fit(sequences())
    loaded = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(loaded.score_samples(sequences()), fitted.score_samples(sequences()))
    assert clone(fitted).get_params() == model.get_params()
    assert not hasattr(clone(fitted), "predictor_")


def test_numbers_of_states_can_be_searched():
    search = GridSearchCV(
        ProbabilisticAutomaton(learn="em", tied=False), {"n_states": [1, 4]}, cv=3
    )
    assert search.fit(sequences(200)).best_params_ == {"n_states": 4}
