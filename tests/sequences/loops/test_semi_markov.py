"""Passes over chains with explicit durations, compared with all ways to cut sequences into segments."""

import itertools

import numpy as np
import pytest

from oracles.python_source import python_source
from oracles.segments import (
    all_segmentations,
    expected_by_segments,
    most_likely_segments,
    path_weights,
    random_segment_chain,
)
from tacit.sequences.loops import forward_backward as plain
from tacit.sequences.loops import semi_markov

LENGTHS = (5, 0, 1, 4, 2)
ENDS = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
LEFT_TO_RIGHT = np.triu(np.ones((3, 3), dtype=bool), 1)


def chains():
    yield random_segment_chain(2, 3, 0)
    yield random_segment_chain(3, 2, 1)
    yield random_segment_chain(3, 1, 2)  # a plain chain
    yield random_segment_chain(2, 8, 3)  # ages beyond all sequences
    yield random_segment_chain(1, 2, 4)
    yield random_segment_chain(3, 3, 5, mask=LEFT_TO_RIGHT)
    initial, transitions, hazards = random_segment_chain(2, 3, 6)
    hazards[-1] = 1.0  # no tail
    hazards[0, 0] = 0.0
    yield initial, transitions, hazards


CHAINS = list(chains())


def likelihoods_for(chain, seed=0):
    """Random likelihoods, with missing positions and one that a state cannot emit."""
    values = np.random.default_rng(seed).uniform(0.05, 1.0, (ENDS[-1], len(chain[0])))
    values[[1, 6]] = 1.0
    if len(chain[0]) > 1:
        values[7, 0] = 0.0
    return values


def filtered(chain, likelihoods, ends, readout=None):
    initial, transitions, hazards = chain
    k = len(initial)
    arrays = [np.empty_like(likelihoods) for _ in range(5)]
    begun, ended, oldest, now, after = arrays
    logs, ages = np.empty(len(likelihoods)), np.empty(hazards.shape)
    readout = np.empty((0, k, k)) if readout is None else readout
    semi_markov.forward(
        initial,
        transitions,
        hazards,
        likelihoods,
        ends,
        readout,
        begun,
        ended,
        oldest,
        now,
        logs,
        after,
        ages,
    )
    return now, logs, after, ages


def expected(chain, likelihoods, ends):
    initial, transitions, hazards = chain
    posterior, logs = np.empty_like(likelihoods), np.empty(len(likelihoods))
    sums = [np.zeros(shape.shape) for shape in (initial, transitions, hazards, hazards)]
    changes = np.empty(len(likelihoods))
    semi_markov.forward_backward(
        initial, transitions, hazards, likelihoods, ends, posterior, logs, *sums, changes
    )
    return posterior, logs, sums, changes


@pytest.mark.parametrize("chain", CHAINS)
def test_expectations_are_those_of_all_segmentations(chain):
    likelihoods = likelihoods_for(chain)
    posterior, logs, sums, changes = expected(chain, likelihoods, ENDS)
    totals = [0.0 * each for each in sums]
    for first, stop in itertools.pairwise(ENDS):
        if first == stop:
            continue
        oracle = expected_by_segments(*chain, likelihoods[first:stop])
        assert np.exp(logs[first:stop].sum()) == pytest.approx(oracle[0], rel=1e-12)
        assert posterior[first:stop] == pytest.approx(oracle[1], abs=1e-12)
        paths, weights = path_weights(*chain, likelihoods[first:stop])
        differ = weights @ (paths[:, 1:] != paths[:, :-1]) / weights.sum()
        assert changes[first:stop] == pytest.approx([0.0, *differ], abs=1e-12)
        totals = [total + more for total, more in zip(totals, oracle[2:], strict=True)]
    for counts, truth in zip(sums, totals, strict=True):
        assert counts == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("chain", CHAINS)
def test_filtered_states_and_the_next_ones_use_all_up_to_the_position(chain):
    likelihoods = likelihoods_for(chain)
    now, logs, after, _ = filtered(chain, likelihoods, ENDS)
    for first, stop in itertools.pairwise(ENDS):
        total = 1.0
        for t in range(first, stop):
            before, total = total, expected_by_segments(*chain, likelihoods[first : t + 1])[0]
            assert np.exp(logs[t]) == pytest.approx(total / before, rel=1e-12)
            truth = expected_by_segments(*chain, likelihoods[first : t + 1])[1][-1]
            assert now[t] == pytest.approx(truth, abs=1e-12)
            longer = np.vstack([likelihoods[first : t + 1], np.ones(len(chain[0]))])
            assert after[t] == pytest.approx(expected_by_segments(*chain, longer)[1][-1], abs=1e-12)


@pytest.mark.parametrize("chain", CHAINS)
def test_the_most_likely_segments_are_those_of_the_largest_product(chain):
    initial, transitions, hazards = chain
    likelihoods = likelihoods_for(chain, seed=1)
    path, begins = np.empty(ENDS[-1], dtype=np.int32), np.empty(ENDS[-1], dtype=np.int8)
    values = np.empty(len(LENGTHS))
    with np.errstate(divide="ignore"):
        logs = [np.log(x) for x in (initial, transitions, hazards, 1 - hazards, likelihoods)]
    semi_markov.viterbi_paths(*logs, ENDS, path, begins, values)
    for s, (first, stop) in enumerate(itertools.pairwise(ENDS)):
        if first == stop:
            assert values[s] == 0
            continue
        states, value = most_likely_segments(*chain, likelihoods[first:stop])
        assert np.exp(values[s]) == pytest.approx(value, rel=1e-12)
        assert path[first:stop].tolist() == states.tolist()
        # the segments that are given have this value, too
        cuts = np.flatnonzero(begins[first:stop])
        lengths = tuple(np.diff([*cuts, stop - first]).tolist())
        own = {
            (segments[0], segments[1]): segments[2]
            for segments in all_segmentations(*chain, likelihoods[first:stop])
        }
        assert own[tuple(path[first:stop][cuts].tolist()), lengths] == pytest.approx(value)


@pytest.mark.parametrize("n_ages", [1, 2, 7, 40])
def test_geometric_durations_are_those_of_a_plain_chain(n_ages):
    k, rng = 4, np.random.default_rng(7)
    initial, transitions, hazards = random_segment_chain(k, 1, 8)
    likelihoods = rng.uniform(0.0, 1.0, (60, k))
    ends = np.array([0, 25, 25, 26, 60])
    stays = 1 - hazards[0]
    full = np.diag(stays) + hazards[0][:, None] * transitions
    posterior, logs = np.empty((60, k)), np.empty(60)
    firsts, pairs = np.zeros(k), np.zeros((k, k))
    plain.forward_backward(initial, full, likelihoods, ends, posterior, logs, firsts, pairs)
    chain = initial, transitions, np.repeat(hazards, n_ages, axis=0)
    same, same_logs, sums, _ = expected(chain, likelihoods, ends)
    assert same == pytest.approx(posterior, abs=1e-13)
    assert same_logs == pytest.approx(logs, rel=1e-12)
    assert sums[0] == pytest.approx(firsts, abs=1e-12)
    assert sums[1] == pytest.approx(pairs - np.diag(np.diag(pairs)), abs=1e-12)
    assert sums[2].sum(axis=0) == pytest.approx(pairs.sum(axis=1) - np.diag(pairs), abs=1e-12)
    assert sums[3].sum(axis=0) == pytest.approx(np.diag(pairs), abs=1e-12)


def test_an_impossible_sequence_counts_nothing():
    chain = CHAINS[0]
    likelihoods = likelihoods_for(chain)
    likelihoods[3] = 0.0  # of the first sequence
    posterior, _, sums, _ = expected(chain, likelihoods, ENDS)
    assert not posterior[:5].any()
    _, _, others, _ = expected(chain, likelihoods[5:], ENDS[1:] - 5)
    for counts, truth in zip(sums, others, strict=True):
        assert np.array_equal(counts, truth)
    assert not filtered(chain, likelihoods, ENDS)[0][3:5].any()


def test_long_sequences_and_long_segments_do_not_underflow():
    rng = np.random.default_rng(9)
    initial, transitions, hazards = random_segment_chain(3, 300, 10)
    hazards = hazards * 1e-3
    likelihoods = rng.uniform(1e-12, 1e-9, (20_000, 3))
    ends = np.array([0, 20_000])
    posterior, logs, sums, _ = expected((initial, transitions, hazards), likelihoods, ends)
    assert np.isfinite(logs).all()
    assert posterior.sum(axis=1) == pytest.approx(1, abs=1e-9)
    assert sum(counts.sum() for counts in sums[2:]) == pytest.approx(19_999, rel=1e-9)
    assert sums[1].sum() == pytest.approx(sums[2].sum(), rel=1e-9)


class Counted:
    """An array that counts how often it is looked at."""

    def __init__(self, array):
        self.array, self.shape, self.n_reads = array, array.shape, 0

    def __getitem__(self, place):
        self.n_reads += 1
        return self.array[place]


def test_the_work_grows_linearly_with_the_largest_duration():
    k, n_positions, reads = 2, 60, []
    likelihoods, ends = np.ones((n_positions, k)), np.array([0, n_positions])
    for n_ages in (5, 10, 20):
        initial, transitions, hazards = random_segment_chain(k, n_ages, 11)
        counted = Counted(hazards)
        with python_source(semi_markov):
            expected((initial, transitions, counted), likelihoods, ends)
        reads.append(counted.n_reads)
    # less than three looks at each age of each position and state, one in each pass
    assert max(n / (n_positions * k * d) for n, d in zip(reads, (5, 10, 20), strict=True)) < 3.0
    assert reads[2] - reads[1] < 2.1 * (reads[1] - reads[0])


def test_compiled_passes_agree_with_their_python_source():
    chain = CHAINS[0]
    likelihoods = likelihoods_for(chain)
    readout = np.random.default_rng(13).random((*chain[2].shape, len(chain[0])))
    compiled = (*filtered(chain, likelihoods, ENDS, readout), *expected(chain, likelihoods, ENDS))
    with python_source(semi_markov):
        source = (*filtered(chain, likelihoods, ENDS, readout), *expected(chain, likelihoods, ENDS))
    for one, other in zip(compiled, source, strict=True):
        for part, same in zip(one, other, strict=True) if isinstance(one, list) else [(one, other)]:
            assert part == pytest.approx(same, rel=1e-12)
