"""Queries of chains with explicit durations, compared with all ways to cut sequences into segments."""

from itertools import pairwise

import numpy as np
import pytest

from oracles.segments import (
    all_segmentations,
    expected_by_segments,
    most_likely_segments,
    random_segment_chain,
)
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.model.durations import DurationTable, SegmentChain, segment_transitions
from tacit.sequences.query.hidden_states import (
    StateEvidence,
    drawn_states,
    filtered,
    smoothed,
    viterbi,
)
from tacit.sequences.query.segments import ages_after, ages_at_start

LENGTHS = (3, 0, 1, 4)
ENDS = np.concatenate([[0], np.cumsum(LENGTHS)]).astype(np.int64)
TABLES = random_segment_chain(3, 3, 0)
CHAIN = SegmentChain(TABLES[0], TABLES[1], DurationTable(TABLES[2].T))


def evidence_of(seed=0):
    rng = np.random.default_rng(seed)
    likelihoods = rng.uniform(0.05, 1.0, (ENDS[-1], 3))
    return StateEvidence(likelihoods, rng.normal(size=ENDS[-1]), ENDS)


def test_scores_posteriors_and_paths_are_those_of_enumeration():
    evidence = evidence_of()
    log_probs = filtered(CHAIN, evidence).log_probs()
    posterior, (path, values) = smoothed(CHAIN, evidence), viterbi(CHAIN, evidence)
    for s, (first, stop) in enumerate(pairwise(ENDS)):
        scale = evidence.log_scales[first:stop].sum()
        if first == stop:
            assert log_probs[s] == values[s] == 0
            continue
        likelihoods = evidence.likelihoods[first:stop]
        total, states, *_ = expected_by_segments(*TABLES, likelihoods)
        assert log_probs[s] == pytest.approx(np.log(total) + scale)
        assert posterior[first:stop] == pytest.approx(states, abs=1e-12)
        best, value = most_likely_segments(*TABLES, likelihoods)
        assert path[first:stop].tolist() == best.tolist()
        assert values[s] == pytest.approx(np.log(value) + scale)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_what_comes_next_depends_on_how_long_segments_have_lasted(steps):
    evidence = evidence_of()
    states = filtered(CHAIN, evidence)
    after, before = states.after(steps), states.before(steps)

    def truth(likelihoods):
        longer = np.vstack([likelihoods, np.ones((steps, 3))])
        return expected_by_segments(*TABLES, longer)[1][-1]

    for s, (first, stop) in enumerate(pairwise(ENDS)):
        likelihoods = evidence.likelihoods[first:stop]
        assert after[s] == pytest.approx(truth(likelihoods), abs=1e-12)
        for t in range(stop - first):
            assert before[first + t] == pytest.approx(truth(likelihoods[:t]), abs=1e-12)


def test_draws_go_on_where_a_sequence_ends():
    likelihoods = evidence_of(1).likelihoods[:3]
    ages = ages_after(CHAIN, likelihoods)
    assert ages.sum() == pytest.approx(1)
    draws = drawn_states(CHAIN, ages, (100_000, 3), np.random.default_rng(0))
    longer = np.vstack([likelihoods, np.ones((3, 3))])
    truth, total = {}, 0.0
    for states, lengths, value in all_segmentations(*TABLES, longer):
        path = tuple(np.repeat(states, lengths)[3:].tolist())
        truth[path] = truth.get(path, 0.0) + value
        total += value
    paths, counts = np.unique(draws, axis=0, return_counts=True)
    for path, count in zip(paths.tolist(), counts.tolist(), strict=True):
        assert count / 1e5 == pytest.approx(truth[tuple(path)] / total, abs=0.008)
    assert ages_after(CHAIN, likelihoods[:0]) == pytest.approx(ages_at_start(CHAIN))
    assert not ages_after(CHAIN, 0.0 * likelihoods).any()


def test_impossible_sequences_have_log_probability_minus_infinity():
    evidence = evidence_of()
    evidence.likelihoods[4] = 0.0  # in the last sequence
    log_probs = filtered(CHAIN, evidence).log_probs()
    assert np.isfinite(log_probs).tolist() == [True, True, True, False]
    assert np.isneginf(viterbi(CHAIN, evidence)[1]).tolist() == [False, False, False, True]
    assert not smoothed(CHAIN, evidence)[4:].any()


def test_geometric_durations_answer_as_a_plain_chain():
    rng = np.random.default_rng(2)
    transitions = rng.dirichlet(np.ones(4), 4)
    plain = ChainTables(rng.dirichlet(np.ones(4)), transitions, ())
    hazards = np.tile(1 - np.diag(transitions)[:, None], (1, 5))
    segments = segment_transitions(transitions)
    chain = SegmentChain(plain.initial, segments, DurationTable(hazards))
    evidence = StateEvidence(rng.random((40, 4)), np.zeros(40), np.array([0, 12, 40]))
    one, other = filtered(plain, evidence), filtered(chain, evidence)
    assert other.now == pytest.approx(one.now, abs=1e-12)
    assert other.log_probs() == pytest.approx(one.log_probs(), rel=1e-12)
    for steps in (1, 4):
        assert other.after(steps) == pytest.approx(one.after(steps), abs=1e-12)
        assert other.before(steps) == pytest.approx(one.before(steps), abs=1e-12)
    assert smoothed(chain, evidence) == pytest.approx(smoothed(plain, evidence), abs=1e-12)
    paths = viterbi(plain, evidence), viterbi(chain, evidence)
    assert np.array_equal(paths[0][0], paths[1][0])
    assert paths[1][1] == pytest.approx(paths[0][1])
    assert chain.stationary == pytest.approx(plain.stationary)
