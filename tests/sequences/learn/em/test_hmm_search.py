"""Hidden Markov models by moments, search and polish."""

import numpy as np
import pytest

from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.hmm import Packed, em_restarts
from tacit.sequences.learn.em.hmm_search import Search, few_sequences, learn_auto, moment_starts
from tacit.sequences.model.chains import ChainLayout, ChainTables
from tacit.sequences.moments.ngrams import NgramCounts
from tacit.sequences.query.hmm_scores import log_likelihoods
from tacit.toy import random_hmm

CLEAR = ChainTables(np.full(3, 1 / 3), 0.7 * np.eye(3) + 0.1, (np.eye(3).repeat(4, 1) / 4,))


def clear_model():
    emit = 0.9 * CLEAR.emit[0] + 0.1 / 12
    return type(random_hmm(3, 12))(
        ChainTables(CLEAR.initial, CLEAR.transitions, (emit,)), tuple(range(12))
    )


def learnt(data, n_states, **more):
    return learn_auto(NgramCounts.of(data), data, n_states, random_state=0, **more)


def test_all_states_are_recovered_where_the_singular_values_show_them():
    model = clear_model()
    data, test = model.sample(2000, 20, 1), model.sample(1000, 20, 2)
    tables, diagnostics = learnt(data, 3, search=Search())
    assert diagnostics["starts"] == ["3 recovered"]
    gap = model.log_prob(test).mean() - log_likelihoods(tables, test).mean()
    assert (
        gap < 0.03
    )  # 41 free parameters behind 40,000 positions: about 0.01 nats for each sequence


def test_states_that_do_not_show_are_split_and_reach_what_restarts_reach():
    model = random_hmm(4, 8, random_state=6)
    data, test = model.sample(1500, 12, 1), model.sample(1000, 12, 2)
    tables, diagnostics = learnt(data, 4)
    assert len(diagnostics["starts"]) > 1
    assert diagnostics["n_search_steps"] > 0
    best, _ = em_restarts(Packed.of(data, 4), n_restarts=3, random_state=0)
    score, other = (
        log_likelihoods(tables_of_start, test).mean() for tables_of_start in (tables, best)
    )
    assert score > other - 0.02


def test_more_states_than_symbols_are_split():
    data = random_hmm(4, 2, random_state=0).sample(200, 15, 1)
    tables, _ = learnt(data, 5)
    assert tables.n_states == 5
    assert np.isfinite(log_likelihoods(tables, data)).all()


def test_random_starts_are_compared_where_moments_support_more_states():
    data = clear_model().sample(2000, 20, 1)
    tables, diagnostics = learnt(data, 2)
    assert {"random 0", "1 recovered", "2 recovered"} <= set(diagnostics["starts"])
    best, _ = em_restarts(Packed.of(data, 2), n_restarts=3, random_state=0)
    score, other = (
        log_likelihoods(tables_of_start, data).mean() for tables_of_start in (tables, best)
    )
    assert score > other - 0.01


@pytest.mark.parametrize("lengths", [[2] * 40, [1] * 40, [2, 0, 1] * 10])
def test_sequences_without_windows_of_three_start_at_random(lengths):
    data = random_hmm(2, 3, random_state=0).sample(len(lengths), np.array(lengths), 1)
    tables, diagnostics = learnt(data, 2)
    assert diagnostics["start"].startswith("random")
    assert np.isfinite(log_likelihoods(tables, data)).all()


def test_one_symbol_is_learnt_as_certain():
    data = Sequences(np.zeros(30, np.int32), np.full(5, 6), ("a",))
    tables, _ = learnt(data, 2)
    assert log_likelihoods(tables, data) == pytest.approx(0, abs=1e-9)


def test_the_same_seed_gives_the_same_tables():
    data = random_hmm(4, 6, random_state=6).sample(300, 12, 1)
    one, two = (learnt(data, 4, n_jobs=jobs)[0].flat for jobs in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("search", [Search(), Search(rounds=((3, 3), (1, 1)))])
def test_held_out_sequences_end_em_before_their_score_falls(search):
    model = random_hmm(3, 6, random_state=6)
    data, held_out = model.sample(30, 8, 1), model.sample(300, 8, 2)
    more = {"pseudo_counts": 0.01, "tol": 1e-6, "search": search}
    watched, diagnostics = learnt(data, 6, validation=held_out, **more)
    alone, other = learnt(data, 6, **more)
    assert diagnostics["n_steps"] < other["n_steps"] or search.rounds[0][0] > 3
    scores = [
        log_likelihoods(tables_of_start, held_out).sum() for tables_of_start in (watched, alone)
    ]
    assert scores[0] > scores[1] + 100


def test_small_models_have_more_starts_even_where_moments_show_all_states():
    data = clear_model().sample(300, 20, 1)
    few = Search.usual(ChainLayout(2, (3,)))
    assert few.filled
    assert Search.usual(ChainLayout(8, (4,))).starts > few.starts
    assert Search.usual(ChainLayout(8, (50,))) == Search()
    counts, rng = NgramCounts.of(data), np.random.default_rng(0)
    usual = moment_starts(counts, 3, rng, Search())
    filled = moment_starts(counts, 3, rng, few)
    assert [name for name, _ in usual] == ["3 recovered"]
    assert [name for name, _ in filled[:2]] == ["3 recovered", "random 0"]
    assert len(filled) == few.starts


def test_each_round_leaves_so_many_starts_and_takes_so_many_steps():
    data = random_hmm(3, 6, random_state=6).sample(60, 8, 1)
    search = Search(starts=6, rounds=((7, 4), (5, 2), (3, 1)), again=True, gain=-np.inf)
    _, diagnostics = learnt(data, 6, search=search)
    assert diagnostics["n_search_steps"] == len(diagnostics["starts"]) * 7 + 4 * 5 + 2 * 3
    once = Search(starts=6, rounds=((7, 4), (5, 2), (3, 1)), gain=-np.inf)
    assert learnt(data, 6, search=once)[1]["n_search_steps"] == len(diagnostics["starts"]) * 7


def test_few_sequences_are_whole_or_in_pieces():
    rng = np.random.default_rng(0)
    data = random_hmm(2, 5, random_state=0).sample(4, np.array([0, 25, 3, 30]), 1)
    assert few_sequences(data, 100, rng, 10) is data
    some = few_sequences(data, 20, rng, 10)
    assert 20 <= some.n_positions <= 30
    assert some.lengths.max() <= 10
    text = "".join(map(str, data.codes))
    assert all("".join(map(str, piece)) in text for piece in some.split(some.codes))


def test_starts_without_zeros_can_move_anywhere():
    data = clear_model().sample(300, 20, 1)
    rng = np.random.default_rng(0)
    for _, tables in moment_starts(NgramCounts.of(data), 4, rng, Search()):
        assert tables.n_states == 4
        assert min(tables.flat) > 0
