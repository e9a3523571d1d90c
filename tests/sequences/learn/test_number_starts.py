"""Where EM on numbers begins, and how it leaves an optimum that is not the best."""

from itertools import pairwise

import numpy as np
import pytest

import tacit
from tacit.sequences.data.sequences import some_sequences
from tacit.sequences.learn import gaussian_hmm as hmm_numbers
from tacit.sequences.learn.em.gaussian_hmm import Rows
from tacit.sequences.learn.gaussian_hmm import _halved, _polished, _random_starts, _regrouped
from tacit.sequences.learn.hmm_task import HMMSettings
from tacit.sequences.model.gaussian_hmm import GaussianChain
from tacit.sequences.query.gaussian_emissions import drawn_rows
from tacit.sequences.query.hidden_states import drawn_states

SETTINGS = HMMSettings("auto", None, "diagonal", False, 1.0, 1, 1e-2, 200, 1, 0)


def chain_of(means, variances):
    k = len(means)
    transitions = 0.5 * np.eye(k) + 0.5 / k
    covariances = np.array(variances)[:, None, None]
    return GaussianChain(
        np.full(k, 1 / k), transitions, np.array(means)[:, None], covariances, True
    )


TRUTH = chain_of([-1.5, -0.5, 0.5, 1.5], [0.02] * 4)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    states = drawn_states(TRUTH, TRUTH.initial, (120, 10), rng)
    values = drawn_rows(TRUTH, states, rng).reshape(1200, 1)
    return Rows(values, np.arange(121, dtype=np.int64) * 10)


def test_states_that_share_one_and_stand_for_two_are_regrouped(rows, monkeypatch):
    monkeypatch.setattr(hmm_numbers, "N_REGROUPINGS", 36)  # all of them
    best = _polished(TRUTH, rows, SETTINGS)[1].objective
    stuck, em_run = _polished(chain_of([-1.6, -1.4, -0.5, 1.0], [0.02] * 3 + [0.3]), rows, SETTINGS)
    assert em_run.objective < best - 50
    (improved, other), turns = _regrouped(stuck, em_run, rows, SETTINGS, np.random.default_rng(0))
    assert turns
    assert "parted aside" in turns[-1]
    assert other.objective == pytest.approx(best, abs=1)
    assert np.sort(improved.means[:, 0]) == pytest.approx([-1.5, -0.5, 0.5, 1.5], abs=0.05)


def test_the_best_end_is_left_as_it_is(rows):
    chain, em_run = _polished(TRUTH, rows, SETTINGS)
    (improved, other), turns = _regrouped(chain, em_run, rows, SETTINGS, np.random.default_rng(0))
    assert not turns
    assert improved is chain
    assert other is em_run
    one, only = _polished(chain_of([0.0], [1.0]), rows, SETTINGS)
    assert _regrouped(one, only, rows, SETTINGS, np.random.default_rng(0))[0][0] is one


def test_starts_are_of_several_kinds_and_those_ahead_are_left(rows):
    rng = np.random.default_rng(0)
    starts = _random_starts(rows, 4, rng, diagonal=True)
    assert len({name.rsplit(" ", 1)[0] for name in starts}) == 4
    means = {tuple(np.sort(start.means[:, 0]).round(3)) for start in starts.values()}
    assert len(means) > len(starts) / 2
    left, objectives = _halved(starts, rows, SETTINGS, ((3, 500, 5), (5, 2000, 2)))
    lengths = sorted(len(start) for start in objectives.values())
    assert lengths == [1] * (len(starts) - 5) + [2] * 5
    last = {name: start[1] for name, start in objectives.items() if len(start) == 2}
    assert list(left) == sorted(last, key=last.__getitem__, reverse=True)[:2]
    given_up = [start[0] for start in objectives.values() if len(start) == 1]
    assert min(objectives[name][0] for name in last) >= max(given_up)


def test_starts_are_there_where_numbers_are_missing(rows):
    values = rows.values.copy()
    values[::3] = np.nan
    starts = _random_starts(Rows(values, rows.ends), 4, np.random.default_rng(0), diagonal=True)
    for chain in starts.values():
        assert np.isfinite(chain.means).all()
        assert np.isfinite(chain.covariances).all()


@pytest.mark.parametrize("emissions", ["gaussian", "poisson"])
def test_sequences_sorted_by_what_they_emit_are_learnt_as_well_as_mixed_ones(emissions):
    rng = np.random.default_rng(0)

    def drawn(means, n):
        states = rng.integers(len(means), size=(n, 20)).repeat(10, axis=1)
        return list(rng.poisson(np.array(means)[states]).astype(float))

    sequences = [[], *drawn([2, 8], 60), *drawn([30, 60, 100], 40)]
    if emissions == "gaussian":
        sequences = [np.sqrt(row) + 0.3 * rng.normal(size=len(row)) for row in sequences]
    mixed = [sequences[place] for place in rng.permutation(len(sequences))]
    scores = [
        tacit.HMM(5, emissions=emissions).fit(data).score(sequences) for data in (sequences, mixed)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=0.01)


def test_some_sequences_are_whole_and_not_empty():
    ends = np.cumsum([0, 0, 3, 0, 2, 5, 4])
    for most in range(15):
        some = some_sequences(ends, most)
        if some is None:
            assert most == 14
            continue
        places, stops = some
        assert np.diff(stops).all()
        assert stops[-1] == len(places)
        assert stops[-1] <= most or len(stops) == 2
        for first, stop in pairwise(stops):
            part = places[first:stop]
            assert (part[0], part[-1] + 1) in set(pairwise(ends))
            assert np.array_equal(part, np.arange(part[0], part[-1] + 1))
    assert some_sequences(np.array([0]), 5) is None
