"""Operators of chains: exact moments give the exact model, whatever the features."""

from itertools import product

import numpy as np
import pytest

from oracles.chains import (
    forward_probability,
    population_moments,
    prefix_values,
    random_chain,
    string_probability,
)
from tacit.core.encoders.encoders import kernel_encoder
from tacit.errors import ArgumentError, RankError
from tacit.messages.network import Hadamard
from tacit.sequences.learn.spectral.operators import leading_directions, spectral_operators
from tacit.sequences.model.chains import ChainLayout, Operators, blended
from tacit.sequences.query.operators import evidence_messages, walked


def value(operators, features):
    """Value of one sequence of feature vectors."""
    messages = evidence_messages(operators, [features])
    sign, log_abs = prefix_values(walked(operators, messages, np.array([len(features)])))
    return sign[-1] * np.exp(log_abs[-1])


@pytest.mark.parametrize("ridge", [0.0, 1e-6])
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_of_symbols_give_exact_string_probabilities(seed, narrow, ridge):
    chain = random_chain(3, 4, seed)
    moments = population_moments(chain, np.eye(4))
    directions = leading_directions(moments, 3, ridge)
    operators = spectral_operators(moments, directions, 3, np.ones(4), narrow=narrow)
    for string in product(range(4), repeat=4):
        truth = string_probability(chain, chain.emit[0][:, list(string)].T)
        estimate = value(operators, np.eye(4)[list(string)])
        assert estimate == pytest.approx(truth, abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_of_kernel_features_give_exact_sequence_densities(seed):
    chain = random_chain(2, 4, seed)
    atoms = np.array([-2.0, -0.5, 0.3, 1.7])
    encoder = kernel_encoder(atoms, bandwidth=0.6, tolerance=1e-14)
    moments = population_moments(chain, encoder.features(atoms))
    directions = leading_directions(moments, 2)
    operators = spectral_operators(moments, directions, 2, encoder.total, narrow=True)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        places = rng.normal(size=5)
        blurred = np.exp(-0.5 * np.square((places[:, None] - atoms) / 0.6))
        blurred /= np.sqrt(2 * np.pi) * 0.6  # (time, atom)
        truth = string_probability(chain, blurred @ chain.emit[0].T)
        estimate = value(operators, encoder.likelihoods(places))
        assert estimate == pytest.approx(truth, abs=1e-8)
        # A missing number is marginalised.
        rows, evidence = blurred @ chain.emit[0].T, encoder.likelihoods(places)
        rows[2], evidence[2] = 1.0, np.nan
        truth = string_probability(chain, rows)
        assert value(operators, evidence) == pytest.approx(truth, abs=1e-8)


def test_longer_stretches_identify_more_states_than_symbols():
    """One symbol says little about the state, several identify it."""
    transitions = np.zeros((5, 5))
    for state, after in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0)):
        transitions[state, after] = 0.9
        transitions[state, state] = 0.1
    emit = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.7, 0.3], [0.2, 0.8]])
    chain = random_chain(5, 2, 0)
    chain = type(chain)(np.full(5, 0.2), transitions, (emit,))
    one = population_moments(chain, np.eye(2))
    assert len(leading_directions(one, 5).sizes) == 2
    with pytest.raises(RankError, match="2 directions"):
        spectral_operators(one, leading_directions(one, 5), 5, np.ones(2))
    more = population_moments(chain, np.eye(2), (1, 1, 1, 1))
    directions = leading_directions(more, 5)
    assert len(directions.sizes) == 5
    operators = spectral_operators(more, directions, 5, np.ones(2))
    for string in ([0, 0, 1, 0, 1, 0], [1, 1, 0, 0, 0, 1]):
        truth = forward_probability(chain, emit[:, string].T)
        assert value(operators, np.eye(2)[string]) == pytest.approx(truth, abs=1e-8)


def test_a_rank_too_small_is_visibly_wrong():
    chain = random_chain(3, 4, 1)
    moments = population_moments(chain, np.eye(4))
    operators = spectral_operators(moments, leading_directions(moments, 2), 2, np.ones(4))
    errors = [
        abs(
            value(operators, np.eye(4)[list(string)])
            - string_probability(chain, chain.emit[0][:, list(string)].T)
        )
        for string in product(range(4), repeat=3)
    ]
    assert max(errors) > 1e-4


def test_tables_and_their_dense_steps_are_the_same_chain():
    chain = random_chain(3, 4, 5)
    tables = chain.operators
    assert isinstance(tables.step, Hadamard)
    steps = Operators.of_steps(chain.initial, tables.steps, np.ones(3))
    features = np.eye(4)[[0, 3, 1, 1]]
    assert value(steps, features) == pytest.approx(value(tables, features), rel=1e-12)
    assert steps.mean == pytest.approx(chain.stationary, abs=1e-10)
    assert tables.mean == pytest.approx(chain.stationary, abs=1e-10)


def test_a_chain_of_two_columns_has_no_matrix_for_each_feature():
    with pytest.raises(ArgumentError, match="2 columns"):
        random_chain(2, 3, 0, n_columns=2).operators.steps  # noqa: B018


def test_flat_tables_are_the_same_tables():
    chain = random_chain(3, 4, 2, n_columns=2)
    again = chain.layout.tables(chain.flat)
    assert np.array_equal(again.flat, chain.flat)
    assert chain.layout == ChainLayout(3, (4, 4))
    sums = np.add.reduceat(chain.flat, chain.layout.row_starts)
    assert sums == pytest.approx(np.ones(1 + 3 + 3 + 3))
    assert chain.layout.n_parameters == 2 + 6 + 9 + 9


def test_a_blend_without_switches_is_the_mixture_of_its_parts():
    parts = [random_chain(2, 3, 1), random_chain(3, 3, 2)]
    weights = np.array([0.3, 0.7])
    both = blended(parts, weights, 0.0)
    features = np.eye(3)[[0, 2, 2, 1]]
    truth = sum(w * value(part.operators, features) for w, part in zip(weights, parts, strict=True))
    assert value(both.operators, features) == pytest.approx(truth, rel=1e-12)
    assert blended(parts, weights, 0.1).transitions.sum(axis=1) == pytest.approx(np.ones(5))
