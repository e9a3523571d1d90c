"""Random paths over chains with explicit durations, compared with all ways to cut sequences into segments."""

import itertools

import numpy as np
import pytest

from oracles.python_source import python_source
from oracles.segments import path_weights, random_segment_chain
from tacit.sequences.loops import segment_paths, semi_markov

LENGTHS = (5, 0, 1, 4)
ENDS = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)


def chains():
    yield random_segment_chain(2, 3, 0)
    yield random_segment_chain(3, 2, 1)
    yield random_segment_chain(3, 1, 2)  # a plain chain
    yield random_segment_chain(2, 8, 3)  # ages beyond all sequences
    yield random_segment_chain(3, 3, 5, mask=np.triu(np.ones((3, 3), dtype=bool), 1))
    initial, transitions, hazards = random_segment_chain(2, 3, 6)
    hazards[-1] = 1.0  # no tail
    hazards[0, 0] = 0.0
    yield initial, transitions, hazards
    initial, transitions, hazards = random_segment_chain(2, 2, 7)
    hazards[-1, 0] = 0.0  # may go on for ever
    yield initial, transitions, hazards


CHAINS = list(chains())


def frequencies(states, paths):
    """How many of the drawn paths (draw, time) are each of the paths."""
    drawn, counts = np.unique(states, axis=0, return_counts=True)
    of_path = {
        tuple(path): count for path, count in zip(drawn.tolist(), counts.tolist(), strict=True)
    }
    numbers = [of_path.pop(tuple(path), 0) for path in paths.tolist()]
    assert not of_path  # no other path is drawn
    return np.array(numbers) / len(states)


def test_draws_follow_the_hazards():
    initial, transitions, hazards = CHAINS[1]
    n, length = 200_000, 4
    states = np.empty((n, length), dtype=np.int32)
    first = np.zeros((len(hazards), len(initial)))
    first[0] = initial
    uniforms = np.random.default_rng(12).random((n, length))
    segment_paths.draw_paths(
        np.cumsum(first), hazards, np.cumsum(transitions, axis=1), uniforms, states
    )
    paths, weights = path_weights(*CHAINS[1], np.ones((length, 3)))
    assert frequencies(states, paths) == pytest.approx(weights, abs=0.005)  # errors of 0.001
    assert weights.sum() == pytest.approx(1)


def drawn(chain, likelihoods, n, seed=0):
    initial, transitions, hazards = chain
    k = len(initial)
    begun, ended, oldest, now, after = (np.empty_like(likelihoods) for _ in range(5))
    logs, ages = np.empty(len(likelihoods)), np.empty(hazards.shape)
    arrays = begun, ended, oldest, now, logs, after, ages
    semi_markov.forward(
        initial, transitions, hazards, likelihoods, ENDS, np.empty((0, k, k)), *arrays
    )
    uniforms = np.random.default_rng(seed).random((2, len(likelihoods), n))
    states = np.full((len(likelihoods), n), -1, dtype=np.int32)
    passes = begun, ended, oldest, now, logs
    segment_paths.draw_posterior_paths(
        transitions, hazards, likelihoods, ENDS, passes, uniforms, states
    )
    return states


@pytest.mark.parametrize("chain", CHAINS)
def test_draws_given_sequences_follow_their_posterior(chain):
    n, likelihoods = 40_000, np.random.default_rng(1).uniform(0.05, 1.0, (10, len(chain[0])))
    likelihoods[1] = 1.0
    likelihoods[7, 0] = 0.0
    states = drawn(chain, likelihoods, n)
    for first, stop in itertools.pairwise(ENDS):
        if first == stop:
            continue
        paths, weights = path_weights(*chain, likelihoods[first:stop])
        chances = weights / weights.sum()
        shown = frequencies(states[first:stop].T, paths[chances > 0])
        errors = np.sqrt(0.25 / n)
        assert shown == pytest.approx(chances[chances > 0], abs=4 * errors)


def test_paths_of_an_impossible_sequence_are_not_drawn():
    likelihoods = np.ones((10, 2))
    likelihoods[3] = 0.0
    states = drawn(CHAINS[0], likelihoods, 3)
    assert (states[:5] == -1).all()
    assert (states[5:] >= 0).all()


def test_compiled_draws_agree_with_their_python_source():
    likelihoods = np.random.default_rng(2).uniform(0.0, 1.0, (10, 3))
    likelihoods[2, 1] = 0.0
    compiled = [drawn(CHAINS[place], likelihoods, 200) for place in (1, 2, 4)]
    with python_source(segment_paths):
        source = [drawn(CHAINS[place], likelihoods, 200) for place in (1, 2, 4)]
    assert all(np.array_equal(one, other) for one, other in zip(compiled, source, strict=True))
