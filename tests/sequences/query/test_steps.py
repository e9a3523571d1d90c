"""Beliefs about states and ages, and how long states still last, compared with all paths of states."""

import numpy as np
import pytest

from oracles.segments import all_segmentations, path_weights, random_segment_chain
from tacit.sequences.model.chains import ChainTables
from tacit.sequences.model.durations import DurationTable, SegmentChain
from tacit.sequences.query.hidden_states import StateEvidence
from tacit.sequences.query.steps import remaining_duration, steps_of

MASKS = {"full": None, "left-to-right": np.triu(np.ones((3, 3), dtype=bool), 1)}
N_AGES = 3


def chain_of(name):
    if name == "plain":
        rng = np.random.default_rng(3)
        transitions = rng.dirichlet(np.ones(3), 3)
        chain = ChainTables(rng.dirichlet(np.ones(3)), transitions, ())
        hazards = 1 - np.diag(transitions)
        between = transitions * ~np.eye(3, dtype=bool) / hazards[:, None]
        return chain, (chain.initial, between, hazards[None])
    tables = random_segment_chain(3, N_AGES, 4, mask=MASKS[name])
    return SegmentChain(tables[0], tables[1], DurationTable(tables[2].T)), tables


def evidence_of(likelihoods):
    n = len(likelihoods)
    return StateEvidence(likelihoods, np.zeros(n), np.array([0, n]))


LIKELIHOODS = np.random.default_rng(5).uniform(0.05, 1.0, (4, 3))
NAMES = pytest.mark.parametrize("name", ["plain", *MASKS])


@NAMES
def test_beliefs_are_sums_over_paths(name):
    chain, tables = chain_of(name)
    steps = steps_of(chain)
    belief, first = steps.first, True
    for n in range(1, 5):
        belief = (belief if first else steps.after(belief)) * LIKELIHOODS[n - 1]
        belief, first = belief / belief.sum(), False
        paths, weights = path_weights(*tables, LIKELIHOODS[:n])
        now = np.bincount(paths[:, -1], weights, 3) / weights.sum()
        assert steps.states(belief) == pytest.approx(now, abs=1e-12)
        assert steps.belief_after(evidence_of(LIKELIHOODS[:n])) == pytest.approx(belief, abs=1e-12)
        for later in (0, 1, 2):
            longer = np.vstack([LIKELIHOODS[:n], np.ones((later, 3))])
            paths, weights = path_weights(*tables, longer)
            expected = np.bincount(paths[:, -1], weights, 3) / weights.sum()
            assert steps.states_later(belief, later) == pytest.approx(expected, abs=1e-12)
    if name == "full":
        ages = np.zeros((N_AGES, 3))
        for states, lengths, value in all_segmentations(*tables, LIKELIHOODS):
            ages[min(lengths[-1], N_AGES) - 1, states[-1]] += value
        assert belief == pytest.approx(ages / ages.sum(), abs=1e-12)


@NAMES
@pytest.mark.parametrize("n", [1, 4])
def test_how_long_the_state_still_lasts_is_a_sum_over_paths(name, n):
    chain, tables = chain_of(name)
    steps, most = steps_of(chain), 4
    likelihoods = LIKELIHOODS[:n]
    remaining = remaining_duration(steps, steps.belief_after(evidence_of(likelihoods)), most)
    paths, weights = path_weights(*tables, np.vstack([likelihoods, np.ones((most, 3))]))
    same = np.cumprod(paths[:, n:] == paths[:, n - 1 : n], axis=1).sum(axis=1)
    expected = np.bincount(same, weights, most + 1) / weights.sum()
    assert remaining == pytest.approx(expected, abs=1e-12)
    assert remaining.sum() == pytest.approx(1)


def test_nothing_lasts_after_an_impossible_sequence():
    for name in ("plain", "full"):
        steps = steps_of(chain_of(name)[0])
        belief = steps.belief_after(evidence_of(LIKELIHOODS * [[1], [0], [1], [1]]))
        assert not belief.any()
        assert np.isnan(remaining_duration(steps, belief, 2)).all()
