"""Chains in and outside groups: sums and the best path against all paths."""

from itertools import product

import numpy as np
import pytest

from tacit.parsing.learn.tag_chunks import ALLOWED_INITIAL, ALLOWED_TRANSITIONS
from tacit.parsing.loops.chunking import expected_counts, viterbi


@pytest.fixture(params=range(4))
def chain(request):
    random = np.random.default_rng(request.param)
    transitions = random.uniform(0.1, 1, (3, 4, 4)) * ALLOWED_TRANSITIONS[:, None]
    return random.uniform(0.1, 1, 3) * ALLOWED_INITIAL, transitions, random.uniform(0.1, 1, (3, 4))


def paths(tags, initial, transitions, emissions):
    """The weight of each sequence of states."""
    for states in product(range(3), repeat=len(tags)):
        weight = initial[states[0]] * transitions[states[-1], tags[-1], 3]
        for at, state in enumerate(states):
            weight *= emissions[state, tags[at]]
            if at:
                weight *= transitions[states[at - 1], tags[at - 1], state]
        yield states, weight


def test_counts_are_those_of_all_paths(chain):
    runs, weights = [[0, 1, 2, 1], [3], [1, 1, 0, 2, 3]], np.array([2.0, 1.0, 0.5])
    expected = [np.zeros(3), np.zeros((3, 4, 4)), np.zeros((3, 4))]
    likelihood = 0.0
    for tags, times in zip(runs, weights, strict=True):
        every = list(paths(tags, *chain))
        total = sum(weight for _, weight in every)
        likelihood += times * np.log(total)
        for states, weight in every:
            fraction = times * weight / total
            expected[0][states[0]] += fraction
            for at, state in enumerate(states):
                after = states[at + 1] if at + 1 < len(tags) else 3
                expected[1][state, tags[at], after] += fraction
                expected[2][state, tags[at]] += fraction
    actual = [np.zeros_like(table) for table in expected]
    flat = np.array([tag for tags in runs for tag in tags])
    starts = np.concatenate([[0], np.cumsum([len(tags) for tags in runs])])
    assert expected_counts(flat, starts, weights, *chain, tuple(actual)) == pytest.approx(
        likelihood
    )
    for ours, theirs in zip(actual, expected, strict=True):
        assert np.allclose(ours, theirs)


@pytest.mark.parametrize("tags", [[2], [0, 1], [3, 1, 2, 0, 1, 1], [1, 1, 1, 1, 1, 1]])
def test_the_best_path_is_the_best_of_all(chain, tags):
    initial, transitions, emissions = chain
    states = np.zeros(len(tags), dtype=np.int64)
    with np.errstate(divide="ignore"):
        logs = [np.log(np.tile(initial[:, None], 4)), np.log(transitions), np.log(emissions)]
    viterbi(np.array(tags), *logs, states)
    assert tuple(states) == max(paths(tags, *chain), key=lambda found: found[1])[0]
