"""Selection of the number of states of hidden Markov models."""

import numpy as np
import pytest

import tacit
from tacit.core.progress import silent
from tacit.errors import DataError
from tacit.sequences.emissions import EMISSIONS
from tacit.sequences.hmm_settings import settings_of
from tacit.sequences.learn import selection
from tacit.sequences.learn.growth import split
from tacit.sequences.learn.selection import COARSE, Candidates, choose_states

NOISE = np.random.default_rng(0).normal(size=400)


def candidates(gains, n_positions=10_000, **arguments):
    """Held-out scores that rise by `gains`, and nothing afterwards; the numbers in the order of learning."""
    learnt = []

    def learn(k, smaller):
        if k > 1:
            assert smaller < k
        if gains.get(k) is None:
            raise DataError("too short")
        learnt.append(k)
        return k

    def score(k):
        return gains[k] + 0.01 * np.roll(NOISE, k)

    return Candidates(learn, score, n_positions, **arguments), learnt


def test_the_fewest_states_that_are_not_surely_worse_are_selected():
    some, learnt = candidates(dict.fromkeys(range(65), 3.0) | {1: 0.0, 2: 1.0, 3: 2.0})
    choice = choose_states(some, silent)
    assert choice.n_states == choice.model == 4
    assert learnt == [1, 2, 3, 4, 6, 8]  # two numbers in a row that are no better
    assert [row["n_states"] for row in choice.candidates] == learnt
    assert choice.skipped == []


def test_a_number_between_those_of_the_first_round_is_a_candidate_at_the_end():
    gains = dict.fromkeys(range(65), 3.0) | {1: 0.0, 2: 1.0, 3: 2.0, 4: 2.5}
    some, learnt = candidates(gains)
    assert choose_states(some, silent).n_states == 5
    assert learnt == [1, 2, 3, 4, 6, 8, 12, 5]
    worse, _ = candidates(gains | {5: 2.6})
    assert choose_states(worse, silent).n_states == 6


def test_numbers_that_cost_too_much_are_skipped_and_named(monkeypatch):
    rising = {k: float(k) for k in range(65)}
    some, learnt = candidates(rising)
    assert choose_states(some, silent).n_states == 64
    monkeypatch.setattr(selection, "MOST_WORK", 10_000 * sum(k**2 for k in COARSE if k <= 12))
    some, learnt = candidates(rising)
    choice = choose_states(some, silent)
    assert choice.skipped == [16, 24, 32, 48, 64]
    assert choice.n_states == 12
    assert 16 not in learnt
    some, learnt = candidates(rising, least=24)
    assert choose_states(some, silent).skipped == [32, 48, 64]


def test_the_ladder_ends_where_nothing_can_be_learnt_or_few_positions_are_left():
    some, _ = candidates({1: 0.0, 2: 1.0, 3: 2.0})
    assert choose_states(some, silent).n_states == 3
    few, learnt = candidates({k: float(k) for k in range(65)}, n_positions=100)
    assert choose_states(few, silent).n_states == learnt[-1] == 4
    none, _ = candidates({})
    assert choose_states(none, silent).n_states == 1


def drawn(name, seed=1):
    """Sequences of three states that are far apart."""
    rng = np.random.default_rng(seed)
    states = np.zeros((120, 20), dtype=int)
    for t in range(1, 20):
        stays = rng.random(120) < 0.7
        states[:, t] = np.where(stays, states[:, t - 1], rng.integers(0, 3, 120))
    if name == "categorical":
        noise = rng.random(states.shape) < 0.1
        return list(np.where(noise, rng.integers(0, 5, states.shape), states))
    if name == "poisson":
        return list(rng.poisson(np.array([1.0, 8.0, 30.0])[states]).astype(float))
    return list(5.0 * states + rng.normal(size=states.shape))


@pytest.mark.parametrize("name", ["categorical", "gaussian", "poisson"])
def test_the_true_number_is_selected_whatever_is_emitted(name):
    model = tacit.HMM(emissions=name).fit(drawn(name))
    assert model.n_states_ == 3
    assert model.diagnostics_["skipped"] == []
    threads = tacit.HMM(emissions=name, n_jobs=2).fit(drawn(name))
    assert np.array_equal(threads.transitions_, model.transitions_)


@pytest.mark.parametrize("name", ["categorical", "gaussian", "poisson"])
def test_split_states_are_no_less_likely_after_em(name):
    sequences = drawn(name)
    small = tacit.HMM(2, emissions=name).fit(sequences)
    emission = EMISSIONS[name]
    larger = split(small.parameters_, 5, np.random.default_rng(0))
    assert larger.n_states == 5
    assert larger.initial.sum() == pytest.approx(1)
    assert larger.transitions.sum(axis=1) == pytest.approx(np.ones(5))
    data = emission.read(sequences, None)
    refined = emission.refined(data, larger, settings_of(small))
    assert emission.log_probs(refined, data).sum() > small.score_samples(sequences).sum()


class Even:
    """Random numbers that perturb nothing."""

    def exponential(self, size):
        return np.ones(size)


@pytest.mark.parametrize("name", ["categorical", "gaussian", "poisson"])
def test_splitting_states_evenly_changes_no_probability(name):
    sequences = drawn(name)
    small = tacit.HMM(3, emissions=name, max_iter=5).fit(sequences)
    emission = EMISSIONS[name]
    larger = split(small.parameters_, 8, Even())
    scores = emission.log_probs(larger, emission.read(sequences, None))
    assert scores == pytest.approx(small.score_samples(sequences), abs=0.01)  # LEAST is added


@pytest.mark.parametrize(
    "emissions", ["gaussian", "gaussian-mixture", "poisson", "negative-binomial"]
)
@pytest.mark.parametrize("n_others", [0, 1])
def test_a_column_that_the_training_part_does_not_hold_breaks_nothing(emissions, n_others):
    rng = np.random.default_rng(0)
    late = np.full(100, np.nan)
    late[-2:] = [1.0, 2.0]
    values = np.column_stack([late, *rng.poisson(3, size=(n_others, 100))])
    model = tacit.HMM(emissions=emissions).fit(values)
    assert np.isfinite(model.means_).all() if emissions != "poisson" else model.rates_.all()
    assert np.isfinite(model.score(values))
