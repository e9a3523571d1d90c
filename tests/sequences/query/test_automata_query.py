"""Predictions of automata: always distributions, and those of enumeration where weights are probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.automata import exact_counts, random_tables, string_value, words
from oracles.python_source import python_source
from tacit.sequences.data.sequences import Sequences
from tacit.sequences.learn.em.automata import log_probs
from tacit.sequences.loops import automata
from tacit.sequences.model.automata import Automaton, AutomatonTables, hankel_factors
from tacit.sequences.model.interpolated_ngrams import Ngrams
from tacit.sequences.moments.hankel import hankel_blocks
from tacit.sequences.moments.prefixes import PrefixTree
from tacit.sequences.query.automata import (
    MixedAutomaton,
    ahead,
    drawn,
    node_predictions,
    node_scores,
    walked_levels,
)
from tacit.sequences.query.mean_automata import MeanAutomaton


def tree_of(rows, n_symbols=2):
    codes = np.array([code for row in rows for code in row], dtype=np.int32)
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    tree, places = PrefixTree.placed(Sequences(codes, lengths, tuple(range(n_symbols))))
    return tree, places[np.cumsum(lengths + 1) - 1]


def mean_of_two():
    return MeanAutomaton((random_tables(0), random_tables(1, 2)), np.array([0.3, 0.7]))


def probability(predictor, word):
    parts = zip(predictor.weights, predictor.parts, strict=True)
    return sum(w * string_value(p.initial, p.steps, p.stop, word) for w, p in parts)


def test_strings_have_the_mean_of_the_parts_probabilities():
    predictor = mean_of_two()
    rows = list(words(2, 5))
    tree, last = tree_of(rows)
    predictions = node_predictions(predictor, tree)
    logs = np.log([probability(predictor, word) for word in rows])
    assert predictions.log_strings[last] == pytest.approx(logs, abs=1e-10)
    assert predictions.log_likelihood == pytest.approx(logs.sum())
    assert predictions.probs.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes))


def test_missing_symbols_are_summed_out():
    predictor = mean_of_two()
    tree, last = tree_of([[0, -1, 1], [-1], [-1, -1]])
    probs = np.exp(node_predictions(predictor, tree).log_strings[last])
    expected = [
        sum(probability(predictor, (0, a, 1)) for a in (0, 1)),
        sum(probability(predictor, (a,)) for a in (0, 1)),
        sum(probability(predictor, (a, b)) for a in (0, 1) for b in (0, 1)),
    ]
    assert probs == pytest.approx(expected)


def test_compiled_pass_agrees_with_the_walk():
    tables = random_tables(3, 4, 3)
    rng = np.random.default_rng(0)
    rows = [rng.integers(-1, 3, rng.integers(0, 9)).tolist() for _ in range(50)]
    tree, _ = tree_of(rows, 3)
    predictions = node_predictions(MeanAutomaton((tables,), np.ones(1)), tree)
    ends, logs = log_probs(tables, tree)
    assert logs == pytest.approx(predictions.log_prefixes, abs=1e-9)
    assert ends == pytest.approx(np.log(predictions.probs[:, -1]), abs=1e-9)


def several_predictors(tree, rng):
    mean = MeanAutomaton((random_tables(0, 3, 3), random_tables(1, 2, 3)), np.array([0.3, 0.7]))
    wild = [Automaton(*weights) for weights in wild_weights(rng, 4, 3)]
    return [mean, *(MixedAutomaton(weights, Ngrams.of(tree), 0.2) for weights in wild)]


def check_same(predictors, expected, tree):
    for predictor, other in zip(predictors, expected, strict=True):
        predictions = node_predictions(predictor, tree)
        assert predictions.probs == pytest.approx(other.probs, abs=1e-9)
        assert predictions.log_strings == pytest.approx(other.log_strings, rel=1e-9)
        assert predictions.n_broken == other.n_broken
        alone = node_scores(predictor, tree)
        assert alone.log_strings == pytest.approx(other.log_strings, rel=1e-9)
        assert alone.log_prefixes == pytest.approx(other.log_prefixes, rel=1e-9)
        assert alone.n_broken == other.n_broken
        assert alone.repairs.n_answers == tree.n_nodes
        assert alone.repairs.n_negative == other.repairs.n_negative


@pytest.mark.parametrize("deep", [1, 3, 8])
def test_deep_levels_walked_together_agree_with_level_by_level(deep, monkeypatch):
    rng = np.random.default_rng(0)
    rows = [rng.integers(-1, 3, rng.integers(0, 25)).tolist() for _ in range(20)]
    tree, _ = tree_of(rows, 3)
    predictors = several_predictors(tree, rng)
    expected = [node_predictions(predictor, tree) for predictor in predictors]
    monkeypatch.setattr("tacit.sequences.query.automata.DEEP", deep)
    monkeypatch.setattr("tacit.sequences.query.automata.BAND", 40)
    check_same(predictors, expected, tree)
    with python_source(automata):
        check_same(predictors, expected, tree)
    assert sum(predictions.n_broken for predictions in expected) > 0


@pytest.mark.parametrize("at_once", [1, 7])
def test_wide_levels_walked_in_blocks_agree_with_all_at_once(at_once, monkeypatch):
    rng = np.random.default_rng(1)
    rows = [rng.integers(-1, 3, rng.integers(0, 12)).tolist() for _ in range(150)]
    tree, _ = tree_of(rows, 3)
    predictors = several_predictors(tree, rng)
    expected = [node_predictions(predictor, tree) for predictor in predictors]
    monkeypatch.setattr("tacit.sequences.query.automata.CACHED", 0)
    monkeypatch.setattr("tacit.sequences.query.automata.LEAST_ROWS", at_once)
    monkeypatch.setattr("tacit.sequences.query.mean_automata.CELLS", 0)
    monkeypatch.setattr("tacit.sequences.query.mean_automata.LEAST_ROWS", 3)
    check_same(predictors, expected, tree)
    nodes = np.concatenate(
        [np.arange(tree.n_nodes)[nodes] for nodes, _ in walked_levels(predictors[0], tree)]
    )
    assert sorted(nodes.tolist()) == list(range(tree.n_nodes))


def test_rows_with_symbols_in_any_order_agree_with_single_rows():
    mean = MeanAutomaton((random_tables(0, 3, 3), random_tables(1, 2, 3)), np.array([0.3, 0.7]))
    state = mean.after(mean.begin(3), np.array([0, 1, 2]))
    rows, symbols = np.array([2, 0, 1, 1, 0]), np.array([2, 0, -1, 1, 0])
    together = mean.after(state, symbols, rows)
    for place, (row, symbol) in enumerate(zip(rows, symbols, strict=True)):
        alone = mean.after(tuple(array[row : row + 1] for array in state), np.array([symbol]))
        for one, every in zip(alone, together, strict=True):
            assert every[place] == pytest.approx(one[0], abs=1e-14)


def test_the_mean_of_automata_is_the_mean_of_their_probabilities():
    rng = np.random.default_rng(2)
    parts = [random_tables(seed, k, 3) for seed, k in enumerate((2, 2, 4, 3, 3))]
    weights = rng.dirichlet(np.ones(5))
    rows = [rng.integers(-1, 3, rng.integers(0, 9)).tolist() for _ in range(60)]
    tree, _ = tree_of(rows, 3)
    scores = node_scores(MeanAutomaton(tuple(parts), weights), tree)
    ends, prefixes = zip(*(log_probs(part, tree) for part in parts), strict=True)
    assert np.exp(scores.log_prefixes) == pytest.approx(weights @ np.exp(prefixes), rel=1e-9)
    strings = np.exp(np.add(ends, prefixes))
    assert np.exp(scores.log_strings) == pytest.approx(weights @ strings, rel=1e-9)


def wild_weights(rng, rank, n_symbols):
    """Weights of which some states get lost."""
    for size in (0.3, 0.6):
        yield (
            rng.normal(size=rank) + 1,
            size * rng.normal(size=(n_symbols, rank, rank)) + 0.1,
            rng.normal(size=rank),
            rng.normal(size=rank) + 1,
            rng.normal(size=rank) + 1,
        )


def test_impossible_symbols_do_not_end_a_deep_walk(monkeypatch):
    always = AutomatonTables(
        np.array([1.0]), np.array([[0.5, 0.0, 0.5]]), np.ones((2, 1, 1))
    )  # the symbol 1 never comes
    predictor = MeanAutomaton((always,), np.ones(1))
    tree, last = tree_of([[0, 0, 1, 0, 0]])
    expected = node_predictions(predictor, tree)
    monkeypatch.setattr("tacit.sequences.query.automata.DEEP", 1)
    predictions = node_predictions(predictor, tree)
    assert predictions.probs == pytest.approx(expected.probs)
    assert predictions.log_strings[last] == pytest.approx(expected.log_strings[last])
    assert predictions.log_strings[last[0]] < -600


def test_what_comes_steps_later_is_that_of_enumeration():
    predictor = mean_of_two()
    prefix = (1, 0)
    state = predictor.begin(1)
    for symbol in prefix:
        state = predictor.after(state, np.array([symbol]))
    probs = ahead(predictor, state, 3)[0]
    # P(prefix, any, any, symbol ...) over P(prefix ...), from values of the prefix form
    ones = [np.ones(part.n_states) for part in predictor.parts]

    def begins(word):
        parts = zip(predictor.weights, predictor.parts, ones, strict=True)
        return sum(w * string_value(p.initial, p.steps, one, word) for w, p, one in parts)

    for symbol in (0, 1):
        total = sum(begins((*prefix, *pair, symbol)) for pair in np.ndindex(2, 2))
        assert probs[symbol] == pytest.approx(total / begins(prefix))
    assert probs.sum() == pytest.approx(1.0)


def noisy(seed, n_symbols=2):
    rng = np.random.default_rng(seed)
    exact = random_tables(seed, 3, n_symbols).automaton
    noise = [
        0.5 * rng.normal(size=weights.shape) for weights in (exact.steps, exact.stop, exact.total)
    ]
    return Automaton(
        exact.initial,
        exact.steps + noise[0],
        exact.stop + noise[1],
        exact.total + noise[2],
        exact.past,
    )


@pytest.mark.parametrize("seed", range(6))
def test_whatever_was_learnt_the_answer_is_a_distribution(seed):
    grams = Ngrams.of(tree_of([[0, 1, 1], [1], []])[0])
    predictor = MixedAutomaton(noisy(seed), grams, 0.02)
    tree, _ = tree_of(list(words(2, 7)))
    predictions = node_predictions(predictor, tree)
    assert (predictions.probs > 0).all()
    assert predictions.probs.sum(axis=1) == pytest.approx(np.ones(tree.n_nodes))
    # All strings up to a length, and all that begin with longer ones, have mass one together.
    deepest = tree.levels[-1]
    mass = np.exp(predictions.log_strings[: deepest.start]).sum()
    assert mass + np.exp(predictions.log_prefixes[deepest]).sum() == pytest.approx(1.0)
    assert predictions.repairs.n_answers == tree.n_nodes


def test_repairs_and_broken_states_are_counted():
    grams = Ngrams.of(tree_of([[0, 1, 1], [1], []])[0])
    tree, _ = tree_of(list(words(2, 7)))
    answers = [
        node_predictions(MixedAutomaton(noisy(seed), grams, 0.02), tree) for seed in range(6)
    ]
    assert sum(answer.repairs.n_negative for answer in answers) > 0
    assert sum(answer.n_broken for answer in answers) > 0
    exact = node_predictions(MixedAutomaton(random_tables(0).automaton, grams, 0.0), tree)
    assert exact.n_broken == 0
    assert exact.repairs.n_negative == 0


def test_exact_blocks_predict_exactly():
    truth = random_tables(7)
    blocks = hankel_blocks(exact_counts(truth, 5), "substring", 7, 2)
    automaton = hankel_factors(blocks, 5, scaled=True).automaton(3)
    tree, _ = tree_of(list(words(2, 5)))
    predictor = MixedAutomaton(automaton, Ngrams.of(tree), 0.0)
    ends, logs = log_probs(truth, tree)
    assert node_predictions(predictor, tree).log_strings == pytest.approx(ends + logs, abs=1e-7)


def test_draws_follow_the_probabilities():
    predictor = mean_of_two()
    codes, lengths = drawn(predictor, predictor.begin(40_000), 100, np.random.default_rng(0))
    assert lengths.sum() == len(codes)
    ends = np.cumsum(lengths)
    rows = [tuple(codes[b - n : b]) for b, n in zip(ends, lengths, strict=True)]
    for word in words(2, 2):
        frequency = np.mean([row == word for row in rows])
        assert frequency == pytest.approx(
            probability(predictor, word), abs=0.01
        )  # 4 standard errors
    codes, lengths = drawn(predictor, predictor.begin(50), 1, np.random.default_rng(0))
    assert lengths.max() == 1
