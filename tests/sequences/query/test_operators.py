"""Walks along chains agree with enumeration; many sequences at once are each alone."""

import numpy as np
import pytest

from oracles.chains import prefix_values, random_chain, string_probability
from tacit.errors import DataError
from tacit.sequences.model.chains import Operators
from tacit.sequences.query.operators import evidence_messages, expected, states_now, walked

STRINGS = [[0, 2, 1, 1], [3], [], [1, 0, 0, 2, 3], [2, 2]]


def evidence(strings, n_symbols=4):
    """Indicators of all strings in turn, and their lengths; None is missing."""
    symbols = [symbol for string in strings for symbol in string]
    rows = np.array(
        [np.full(n_symbols, np.nan) if s is None else np.eye(n_symbols)[s] for s in symbols]
    )
    return rows.reshape(-1, n_symbols), np.array([len(string) for string in strings])


def likelihoods(chain, string):
    """(time, state) of a string in which None is missing."""
    ones = np.ones(chain.n_states)
    return np.array([ones if s is None else chain.emit[0][:, s] for s in string])


def walk_of(operators, strings):
    features, lengths = evidence(strings)
    messages = evidence_messages(operators, [features])
    return walked(operators, messages, lengths), messages


@pytest.mark.parametrize("dense", [False, True])
def test_values_of_all_prefixes_are_those_of_enumeration(dense):
    chain = random_chain(3, 4, 0)
    operators = chain.operators
    if dense:
        operators = Operators.of_steps(operators.initial, operators.steps, operators.stop)
    walk, _ = walk_of(operators, STRINGS)
    sign, log_abs = prefix_values(walk)
    assert (sign == 1).all()
    place = 0
    for string in STRINGS:
        for length in range(len(string) + 1):
            truth = string_probability(chain, likelihoods(chain, string[:length]))
            assert np.exp(log_abs[place]) == pytest.approx(truth, rel=1e-12)
            place += 1
    assert place == len(log_abs)


def test_steps_are_ratios_of_prefixes_and_missing_symbols_are_summed_out():
    chain = random_chain(3, 4, 1)
    string = [0, None, 2, 2, None, 1]
    walk, _ = walk_of(chain.operators, [string])
    sign, logs = walk.steps()
    prefixes = [string_probability(chain, likelihoods(chain, string[:t])) for t in range(7)]
    assert logs == pytest.approx(np.diff(np.log(prefixes)), abs=1e-12)
    assert logs[[1, 4]] == pytest.approx([0, 0], abs=1e-12)
    assert (sign == 1).all()


def test_filtered_states_are_those_of_enumeration():
    chain = random_chain(3, 4, 2)
    string = [1, None, 0, 3]
    walk, evidence = walk_of(chain.operators, [string])
    states = states_now(walk, evidence)
    for t in range(len(string)):
        rows = likelihoods(chain, string[: t + 1])
        joint = []
        for state in range(3):
            only = rows.copy()
            only[t] *= np.eye(3)[state]
            joint.append(string_probability(chain, only))
        assert states[t] == pytest.approx(np.array(joint) / sum(joint), abs=1e-12)


def test_what_is_expected_next_is_that_of_enumeration():
    chain = random_chain(3, 4, 3)
    walk, _ = walk_of(chain.operators, STRINGS)
    probs = expected(chain.operators, walk.states.at(walk.last), 0)
    probs /= probs.sum(axis=1, keepdims=True)
    for string, row in zip(STRINGS, probs, strict=True):
        joint = [string_probability(chain, likelihoods(chain, [*string, s])) for s in range(4)]
        assert row == pytest.approx(np.array(joint) / sum(joint), abs=1e-12)


def test_columns_are_independent_given_the_state():
    chain = random_chain(2, 3, 4, n_columns=2)
    first, second = np.array([0, 2, 1]), np.array([1, 1, 0])
    evidence = evidence_messages(chain.operators, [np.eye(3)[first], np.eye(3)[second]])
    walk = walked(chain.operators, evidence, np.array([3]))
    rows = chain.emit[0][:, first].T * chain.emit[1][:, second].T
    truth = string_probability(chain, rows)
    assert np.exp(prefix_values(walk)[1][-1]) == pytest.approx(truth, rel=1e-12)
    # The second column at the next position, once the first is known there.
    known = evidence_messages(chain.operators, [np.eye(3)[[2]], np.full((1, 3), np.nan)])
    probs = expected(chain.operators, walk.states.at(walk.last), 1, [known, None])[0]
    joint = [
        string_probability(chain, np.vstack([rows, chain.emit[0][:, 2] * chain.emit[1][:, s]]))
        for s in range(3)
    ]
    assert probs / probs.sum() == pytest.approx(np.array(joint) / sum(joint), abs=1e-12)


def test_long_sequences_neither_vanish_nor_overflow():
    chain = random_chain(2, 4, 5)
    string = np.random.default_rng(0).integers(0, 4, 3000)
    operators = chain.operators
    for scale in (1e-9, 1e9):
        evidence = evidence_messages(operators, [scale * np.eye(4)[string]])
        walk = walked(operators, evidence, np.array([3000]))
        _, logs = walk.steps()
        total = logs.sum() - 3000 * np.log(scale)
        assert np.isfinite(logs).all()
        assert -3000 * np.log(4) * 2 < total < 0
        _, log_abs = prefix_values(walk)
        assert logs.sum() == pytest.approx(log_abs[-1], rel=1e-12)


def test_broken_states_are_restarted_with_restart():
    steps = np.array([[[0.5, 0.0], [0.0, 0.5]], [[0.5, 0.0], [0.0, -2.0]]])
    operators = Operators.of_steps(np.array([0.2, 0.8]), steps, np.ones(2))
    evidence = evidence_messages(operators, [np.eye(2)[[1, 0, 0]]])
    as_is = walked(operators, evidence, np.array([3]))
    assert (prefix_values(as_is)[0][1:] < 0).all()
    mended = walked(operators, evidence, np.array([3]), restart=True)
    assert mended.n_restarts == 1
    assert (prefix_values(mended)[0] > 0).all()


def test_evidence_of_the_wrong_shape_is_refused():
    operators = random_chain(2, 4, 0).operators
    with pytest.raises(DataError, match="2 columns"):
        evidence_messages(operators, [np.eye(4), np.eye(4)])
    with pytest.raises(DataError, match=r"\(position, 4\)"):
        evidence_messages(operators, [np.eye(3)])
    with pytest.raises(DataError, match="lengths that sum to 3"):
        walked(operators, evidence_messages(operators, [np.eye(4)]), np.array([3]))
