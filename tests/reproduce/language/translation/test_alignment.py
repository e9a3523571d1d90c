"""Word alignment against enumeration of all alignments, and phrases against their definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import translation as oracle
from tacit.reproduce.language.translation import alignment
from tacit.reproduce.language.translation.alignment import (
    aligned_cells,
    hmm_step,
    model_1_step,
    symmetrised,
)
from tacit.reproduce.language.translation.sentence_pairs import SentencePairs
from tacit.reproduce.loops.alignment import consistent_phrases, forward_backward, jump_rows

ENGLISH = ["the house", "the book", "a book is here", "house"]
GERMAN = ["das haus", "das buch", "hier ist ein buch", "haus"]


@pytest.fixture
def pairs():
    return SentencePairs.of(ENGLISH, GERMAN)


def as_dict(table):
    columns = (table.sources.tolist(), table.targets.tolist(), table.probs.tolist())
    return {(f, e): prob for f, e, prob in zip(*columns, strict=True)}


def test_a_step_of_model_1_is_the_expectation_over_all_alignments(pairs):
    table, cells = aligned_cells(pairs)
    rng = np.random.default_rng(0)
    table = alignment.normalised(table, rng.random(len(table.probs)))
    before, counts, log_likelihood = as_dict(table), {}, 0.0
    for source, target in zip(pairs.sources, pairs.targets, strict=True):
        likelihood, expected = oracle.model_1(before, source.tolist(), target.tolist())
        log_likelihood += math.log(likelihood)
        for pair, count in expected.items():
            counts[pair] = counts.get(pair, 0.0) + count
    totals = {}
    for (f, _), count in counts.items():
        totals[f] = totals.get(f, 0.0) + count
    after, actual = model_1_step(table, cells)
    assert actual == pytest.approx(log_likelihood, abs=1e-10)
    expected = {pair: count / totals[pair[0]] for pair, count in counts.items()}
    assert as_dict(after) == pytest.approx(expected, abs=1e-12)


def test_steps_of_model_1_raise_the_likelihood(pairs):
    table, cells = aligned_cells(pairs)
    reached = []
    for _ in range(10):
        table, log_likelihood = model_1_step(table, cells)
        reached.append(log_likelihood)
    assert reached == sorted(reached)
    best = table.best_targets()
    words = pairs.target_words.words
    assert words[best[pairs.source_words.numbers["house"]]] == "haus"
    assert words[best[pairs.source_words.numbers["book"]]] == "buch"


@pytest.mark.parametrize("seed", range(4))
def test_the_hidden_markov_model_is_the_expectation_over_all_alignments(seed):
    rng = np.random.default_rng(seed)
    n_target, n_source = rng.integers(1, 5, 2)
    lexical, jumps, empty = rng.random((n_target, n_source + 1)), rng.random(5), 0.3
    expected = oracle.hidden_markov(lexical, lambda d: jumps[min(max(d, -2), 2) + 2], empty)
    moves = jump_rows(jumps, n_source)
    for function in (forward_backward, forward_backward.py_func):
        links, transitions, log_prob = function(lexical, moves, empty)
        assert log_prob == pytest.approx(math.log(expected[0]), abs=1e-12)
        assert links == pytest.approx(expected[1], abs=1e-12)
        moved = {}
        for before, at in np.ndindex(transitions.shape):
            jump = at - (before - 1)
            moved[jump] = moved.get(jump, 0.0) + transitions[before, at]
        for jump, count in expected[2].items():
            assert moved[jump] == pytest.approx(count, abs=1e-12)


def test_posteriors_of_a_step_are_those_of_its_pairs(pairs):
    table, cells = aligned_cells(pairs)
    table, _ = model_1_step(table, cells)
    jumps = np.full(15, 1 / 15)
    fitted = hmm_step(table, cells, jumps)
    at, log_likelihood = 0, 0.0
    for source, target in zip(pairs.sources, pairs.targets, strict=True):
        with_empty = np.append(0, source)
        lexical = table.prob(with_empty[None, :], target[:, None])
        expected = oracle.hidden_markov(lexical, lambda _: 1.0, alignment.EMPTY_PROB)
        size = lexical.size
        assert fitted.posteriors[at : at + size] == pytest.approx(expected[1].ravel(), abs=1e-12)
        log_likelihood += math.log(expected[0])
        at += size
    assert fitted.log_likelihood == pytest.approx(log_likelihood, abs=1e-10)
    assert fitted.jumps.sum() == pytest.approx(1)
    assert fitted.jumps.min() > 0


def test_a_language_with_other_words_and_exchanged_neighbours_is_aligned():
    rng = np.random.default_rng(0)
    sources, targets, expected = [], [], []
    for _ in range(400):
        words = rng.choice(20, 2 * rng.integers(1, 4), replace=False).tolist()
        order = [at ^ 1 for at in range(len(words))]
        sources.append(" ".join(f"e{word}" for word in words))
        targets.append(" ".join(f"f{words[at]}" for at in order))
        expected.append(order)
    table, positions = alignment.align(SentencePairs.of(sources, targets))
    right = [one.tolist() == other for one, other in zip(positions, expected, strict=True)]
    assert np.mean(right) > 0.99
    assert table.probs.max() > 0.99


def test_links_of_both_directions_grow_and_words_without_links_come_last():
    # Both have (0, 0); (1, 1) is its neighbour, (1, 2) grows from there; (3, 4) stands alone.
    links = symmetrised(np.array([0, 1, 1, -1, 3]), np.array([0, 1, -1, 4]))
    assert {tuple(map(int, place)) for place in np.argwhere(links)} == {
        (0, 0),
        (1, 1),
        (1, 2),
        (3, 4),
    }
    # A link that is no neighbour is left out where one of its words has another link.
    links = symmetrised(np.array([0, -1, -1, 0]), np.array([0, -1]))
    assert np.argwhere(links).tolist() == [[0, 0]]


places = st.lists(st.integers(-1, 3), min_size=4, max_size=4)


@given(places, places)
def test_links_are_between_those_of_both_and_those_of_either(source_of, target_of):
    links = symmetrised(np.array(source_of), np.array(target_of))
    one = {(i, j) for j, i in enumerate(source_of) if i >= 0}
    two = {(i, j) for i, j in enumerate(target_of) if j >= 0}
    actual = {tuple(map(int, place)) for place in np.argwhere(links)}
    assert one & two <= actual <= one | two
    back = symmetrised(np.array(target_of), np.array(source_of))
    assert (links | back.T).any() == bool(one | two)


@pytest.mark.parametrize("seed", range(30))
def test_phrases_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    links = rng.random(rng.integers(1, 6, 2)) < 0.25
    for function in (consistent_phrases, consistent_phrases.py_func):
        room = np.empty((1000, 4), np.int64)
        n_phrases = function(links, 3, room)
        actual = [tuple(row) for row in room[:n_phrases].tolist()]
        assert len(actual) == len(set(actual))
        assert set(actual) == oracle.consistent_phrases(links, 3)
