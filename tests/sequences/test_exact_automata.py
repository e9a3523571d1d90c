"""Exact counts of all strings of a finite language give exact answers to every question."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.automata import string_value, words
from tacit.sequences.model.automata import AutomatonTables
from tacit.sequences.moments.hankel import STATISTICS
from tacit.sequences.moments.prefixes import PrefixTree
from tacit.sequences.probabilistic_automaton import ProbabilisticAutomaton
from tacit.sequences.weighted_automaton import WeightedAutomaton

N = 8**4 * 10**9  # sequences, so that counts of all strings are integers
# What is shown depends on how many symbols came before; after three, the end does.
EMIT = np.array([[3, 4, 1], [1, 5, 2], [6, 1, 1], [0, 0, 8]]) / 8
MOVES = np.array([np.eye(4)[[1, 2, 3, 3]]] * 2)
TRUTH = AutomatonTables(np.eye(4)[0], EMIT, MOVES)
WORDS = list(words(2, 3))
PROBABILITIES = {
    word: string_value(TRUTH.initial, TRUTH.steps, TRUTH.stop, word) for word in words(2, 3)
}


def everything():
    """The tree of all strings, each as often as it is likely."""
    places = {word: number for number, word in enumerate(WORDS)}
    parents = np.array([-1, *(places[word[:-1]] for word in WORDS[1:])])
    symbols = np.array([-1, *(word[-1] for word in WORDS[1:])])
    ends = np.array([round(N * PROBABILITIES[word]) for word in WORDS])
    assert ends.sum() == N
    return PrefixTree(parents, symbols, ends, 2)


def weighted(statistics, *, scaled):
    return WeightedAutomaton(4, statistics, basis=40, scaled=scaled, mixing=0.0)


MODELS = {
    **{
        f"{kind}, scaled: {scaled}": weighted(kind, scaled=scaled)
        for kind in STATISTICS
        for scaled in (False, True)
    },
    "probabilistic": ProbabilisticAutomaton(4, "em", tied=False, pseudo_counts=1e-6),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    fitted = MODELS[request.param]
    fitted._learn(everything(), None)
    fitted.symbols_ = ("a", "b")
    return fitted


def spelt(word):
    return [None if code < 0 else "ab"[code] for code in word]


def prefix_probability(word):
    """The summed probabilities of all strings that begin so; any symbol stands for a missing one."""
    return sum(
        chance
        for other, chance in PROBABILITIES.items()
        if len(other) >= len(word)
        and all(one in (-1, two) for one, two in zip(word, other, strict=False))
    )


def occurrences(word):
    """The expected number of times that a string occurs."""
    n = len(word)
    return sum(
        chance * sum(other[i : i + n] == word for i in range(len(other) - n + 1))
        for other, chance in PROBABILITIES.items()
    )


def test_strings_have_their_probabilities(model):
    values = np.exp(model.score_samples([spelt(word) for word in WORDS]))
    assert values == pytest.approx([PROBABILITIES[word] for word in WORDS], abs=1e-8)


def test_the_three_forms_have_the_values_of_enumeration(model):
    automaton = model.automaton_ if hasattr(model, "automaton_") else model.parts_[0].automaton
    for word in WORDS:
        values = [
            string_value(form.initial, form.steps, form.stop, word)
            for form in (automaton.string, automaton.prefix, automaton.substring)
        ]
        expected = [PROBABILITIES[word], prefix_probability(word), occurrences(word)]
        assert values == pytest.approx(expected, abs=1e-8)


def test_missing_symbols_are_summed_out(model):
    for word in ((-1,), (0, -1), (-1, 1, -1)):
        expected = sum(
            chance
            for other, chance in PROBABILITIES.items()
            if len(other) == len(word)
            and all(one in (-1, two) for one, two in zip(word, other, strict=True))
        )
        assert np.exp(model.score([spelt(word)])) == pytest.approx(expected, abs=1e-8)


def test_prefixes_have_their_probabilities(model):
    for word in ((0,), (1, 0), (0, -1, 1)):
        n = sum(code >= 0 for code in word)
        values = model.perplexity([spelt(word)], ends=False) ** -n
        assert values == pytest.approx(prefix_probability(word), abs=1e-8)


def test_what_comes_next_is_that_of_enumeration(model):
    for word in ((), (1,), (0, 1), (-1, 0), (1, 1, 0)):
        begun = prefix_probability(word)
        expected = [prefix_probability((*word, code)) / begun for code in (0, 1)]
        expected.append(1 - sum(expected))
        values = model.predict_next_proba([spelt(word)])[0]
        assert values == pytest.approx(expected, abs=1e-8)
        longer = model.predict_next_proba([[*spelt(word), "a"]], all_positions=True)[0]
        assert longer[-1] == pytest.approx(expected, abs=1e-8)


def test_what_comes_later_is_that_of_enumeration(model):
    for word in ((), (1,)):
        begun = prefix_probability(word)
        later = [prefix_probability((*word, -1, code)) / begun for code in (0, 1)]
        values = model.predict_next_proba([spelt(word)], steps=2)[0]
        assert values == pytest.approx([*later, 1 - sum(later)], abs=1e-8)


def test_draws_follow_the_probabilities(model):
    drawn = model.sample(4000, given="b", random_state=0)
    begun = prefix_probability((1,))
    for word in WORDS[:7]:
        expected = PROBABILITIES.get((1, *word), 0.0) / begun
        values = sum(row == spelt(word) for row in drawn) / 4000
        # Four standard errors.
        assert values == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 4000))
