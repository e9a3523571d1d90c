"""Hidden Markov models and automata with known tables, against sums over all paths and against draws."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import ArgumentError, TooExpensiveError
from tacit.sequences.data.sequences import Sequences
from tacit.toy import (
    AutomatonModel,
    all_strings,
    random_automaton,
    random_hmm,
    repeating_process,
)
from tacit.toy.drawing import AliasTable


def path_probability(model, string):
    """The probability of a string of an HMM, summed over all paths."""
    initial, transitions, emit = model.tables.initial, model.tables.transitions, model.emissions
    total = 0.0
    for path in product(range(model.n_states), repeat=len(string)):
        value = initial[path[0]] if path else 1.0
        for t, (state, symbol) in enumerate(zip(path, string, strict=True)):
            value *= emit[state, symbol] * (transitions[path[t - 1], state] if t else 1.0)
        total += value
    return total


def automaton_probability(model, string):
    total = 0.0
    for path in product(range(model.n_states), repeat=len(string) + 1):
        value = model.initial[path[0]] * model.stop[path[-1]]
        for t, symbol in enumerate(string):
            value *= model.steps[symbol, path[t], path[t + 1]]
        total += value
    return total


def coded(strings, symbols):
    lengths = np.array([len(string) for string in strings], dtype=np.int64)
    return Sequences(
        np.array([c for string in strings for c in string], dtype=np.int32), lengths, symbols
    )


def truth_of_strings(model, length):
    """Every string up to a length, with its probability."""
    return {
        string: automaton_probability(model, string)
        for string in all_strings(model.n_symbols, length)
    }


@pytest.mark.parametrize("seed", range(3))
def test_tables_and_logs_of_an_hmm_are_sums_over_paths(seed):
    model = random_hmm(3, 2, stay=0.3 * seed, random_state=seed)
    for length in range(4):
        table = model.string_table(length)
        strings = list(product(range(2), repeat=length))
        truth = [path_probability(model, string) for string in strings]
        assert table.ravel() == pytest.approx(truth, abs=1e-15)
        assert table.sum() == pytest.approx(1.0, abs=1e-12)
        assert model.log_prob(coded(strings, model.symbols)) == pytest.approx(np.log(truth))
    gaps = coded([(0, -1, 1), (-1, -1)], model.symbols)
    table = model.string_table(3)
    assert model.log_prob(gaps) == pytest.approx([np.log(table[0, :, 1].sum()), 0.0], abs=1e-12)


@pytest.mark.parametrize(("width", "length"), [(1, 1), (1, 4), (2, 4), (3, 5), (4, 4)])
def test_windows_are_means_over_all_windows_of_the_whole_table(width, length):
    model = random_hmm(3, 2, random_state=5)
    whole = model.string_table(length)
    parts = []
    for first in range(length - width + 1):
        others = tuple(set(range(length)) - set(range(first, first + width)))
        parts.append(whole.sum(axis=others))
    assert model.window_table(width, length) == pytest.approx(np.mean(parts, axis=0), abs=1e-14)


def test_ngrams_come_from_the_same_windows():
    model = random_hmm(2, 3, random_state=1)
    ngrams = model.ngrams(6)
    assert ngrams.first == pytest.approx(model.tables.initial @ model.emissions, abs=1e-14)
    assert ngrams.pairs == pytest.approx(ngrams.triples.sum(axis=2), abs=1e-14)
    assert ngrams.singles == pytest.approx(ngrams.pairs.sum(axis=1), abs=1e-14)
    still = random_hmm(2, 3, stationary=True, random_state=1)
    assert still.window_table(2, 2) == pytest.approx(still.window_table(2, 9), abs=1e-12)


def test_an_hmm_is_drawn_as_it_is_said_to_be():
    model = random_hmm(40, 30, stay=0.6, random_state=0)
    assert model.tables.transitions.sum(axis=1) == pytest.approx(np.ones(40))
    assert (np.diag(model.tables.transitions) >= 0.6).all()
    rest = (model.tables.transitions - 0.6 * np.eye(40)) / 0.4
    # A Dirichlet row of concentration c over n has variance (1/n)(1-1/n)/(n c + 1) in each cell.
    assert rest.var() == pytest.approx((1 / 40) * (39 / 40) / (40 * 0.5 + 1), rel=0.2)
    assert model.emissions.var() == pytest.approx((1 / 30) * (29 / 30) / (30 * 0.3 + 1), rel=0.2)
    assert np.array_equal(
        random_hmm(3, 4, random_state=2).steps, random_hmm(3, 4, random_state=2).steps
    )


@pytest.mark.parametrize("lengths", [4, "mixed"])
def test_sequences_of_an_hmm_come_as_often_as_they_should(lengths):
    model = random_hmm(3, 2, random_state=3)
    n = 40_000  # more than one block of draws
    given_lengths = 4 if lengths == 4 else np.arange(n) % 5
    drawn, states = model.sample_with_states(n, given_lengths, random_state=4)
    assert drawn.lengths.tolist() == np.broadcast_to(given_lengths, (n,)).tolist()
    assert len(drawn.codes) == len(states) == drawn.lengths.sum()
    long = drawn.take(drawn.lengths == 4).codes.reshape(-1, 4)
    seen = np.bincount(long @ [8, 4, 2, 1], minlength=16) / len(long)
    truth = model.string_table(4).ravel()
    deviation = np.sqrt(truth * (1 - truth) / len(long))
    assert (np.abs(seen - truth) < 5 * deviation + 1e-12).all()
    shown = np.zeros((3, 2))
    np.add.at(shown, (states, drawn.codes), 1)
    counts = shown.sum(axis=1, keepdims=True)
    assert (np.abs(shown / counts - model.emissions) < 5 * np.sqrt(0.25 / counts)).all()
    again = model.sample(n, given_lengths, random_state=4)
    assert np.array_equal(again.codes, drawn.codes)


@pytest.mark.parametrize("n_before", [1, 2, 4])
def test_the_repeating_process_is_a_round_with_one_letter(n_before):
    model = repeating_process(n_before)
    drawn = model.sample(50, 4 * (n_before + 1), random_state=0)
    texts = ["".join(model.symbols[code] for code in one) for one in drawn.split(drawn.codes)]
    assert set(texts) == {("A" * n_before + letter) * 4 for letter in "XY"}
    still = repeating_process(n_before, stationary=True)
    assert still.window_table(3, 3) == pytest.approx(still.window_table(3, 12), abs=1e-14)


def test_triples_of_the_repeating_process_lack_the_rank_that_longer_sides_have():
    model = repeating_process(3, stationary=True)
    pairs = model.ngrams(20).pairs
    assert np.linalg.matrix_rank(pairs, tol=1e-12) <= 3 < model.n_states
    wide = model.window_table(8, 8).reshape(3**4, 3**4)
    assert np.linalg.matrix_rank(wide, tol=1e-12) == model.n_states


@pytest.mark.parametrize("deterministic", [False, True])
def test_all_strings_of_an_automaton_together_have_probability_one(deterministic):
    model = random_automaton(3, 2, deterministic=deterministic, mean_length=1.0, random_state=0)
    assert model.steps.sum(axis=(0, 2)) + model.stop == pytest.approx(np.ones(3), abs=1e-14)
    total = sum(model.statistics().table(length).sum() for length in range(12))
    assert total == pytest.approx(1.0, abs=0.05)
    if deterministic:
        assert ((model.steps > 0).sum(axis=2) <= 1).all()
        assert (model.initial > 0).sum() == 1


@pytest.mark.parametrize("seed", range(3))
def test_strings_of_an_automaton_are_sums_over_paths(seed):
    model = random_automaton(2, 2, concentration=1.0, mean_length=2.0, random_state=seed)
    truth = truth_of_strings(model, 4)
    strings, values = list(truth), np.array(list(truth.values()))
    assert model.statistics().values(strings) == pytest.approx(values, abs=1e-15)
    assert model.log_prob(coded(strings, model.symbols)) == pytest.approx(np.log(values))
    gap = sum(truth[0, a] for a in range(2))
    assert model.log_prob(coded([(0, -1)], model.symbols)) == pytest.approx([np.log(gap)])


@pytest.fixture(scope="module")
def enumerated():
    """A short automaton, and all its strings that matter: what is left has probability below 1e-9."""
    initial, stop = np.array([0.7, 0.3]), np.array([0.8, 0.9])
    rest = np.random.default_rng(0).dirichlet(np.ones(4), size=2) * (1 - stop)[:, None]
    model = AutomatonModel(initial, rest.reshape(2, 2, 2).transpose(1, 0, 2), stop, (0, 1))
    truth = truth_of_strings(model, 9)
    assert sum(truth.values()) == pytest.approx(1.0, abs=1e-6)
    return model, truth


def occurrences(whole, part):
    return sum(whole[t : t + len(part)] == part for t in range(len(whole) - len(part) + 1))


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("string", lambda whole, part: whole == part),
        ("prefix", lambda whole, part: whole[: len(part)] == part),
        ("substring", occurrences),
    ],
)
def test_statistics_are_expected_counts(enumerated, kind, count):
    model, truth = enumerated
    actual = model.statistics(kind)
    parts = all_strings(2, 3)
    expected = [sum(p * count(whole, part) for whole, p in truth.items()) for part in parts]
    # Strings longer than those enumerated are left out: together less than 1e-6, times their length.
    assert actual.values(parts) == pytest.approx(expected, abs=1e-5)
    for length in range(3):
        of_length = [part for part in parts if len(part) == length]
        assert actual.table(length).ravel() == pytest.approx(actual.values(of_length), abs=1e-15)


@pytest.mark.parametrize("kind", ["string", "prefix", "substring"])
def test_hankel_blocks_hold_the_joined_strings(kind):
    model = random_automaton(4, 3, random_state=1)
    actual = model.statistics(kind)
    rows, columns = all_strings(3, 2), all_strings(3, 1)[::-1]
    block, blocks = actual.block(rows, columns), actual.blocks(rows, columns)
    for i, row in enumerate(rows):
        assert block[i] == pytest.approx(
            actual.values(row + column for column in columns), abs=1e-13
        )
        for a in range(3):
            joined = actual.values((*row, a, *column) for column in columns)
            assert blocks[a, i] == pytest.approx(joined, abs=1e-13)
    wide = actual.block(all_strings(3, 3), all_strings(3, 3))
    assert np.linalg.matrix_rank(wide, tol=1e-12) <= 4


def test_the_empty_string_stands_everywhere():
    model = random_automaton(5, 2, mean_length=6.0, random_state=3)
    assert model.statistics("substring").values([()])[0] == pytest.approx(model.mean_length + 1)
    assert model.statistics("prefix").values([()])[0] == pytest.approx(1.0)
    assert 3 < model.mean_length < 12


def test_strings_of_an_automaton_come_as_often_as_they_should():
    model = random_automaton(3, 2, mean_length=2.0, concentration=0.5, random_state=2)
    n = 40_000
    drawn = model.sample(n, random_state=5)
    assert len(drawn.lengths) == n
    assert drawn.lengths.mean() == pytest.approx(model.mean_length, rel=0.05)
    texts = [tuple(one.tolist()) for one in drawn.split(drawn.codes)]
    strings = all_strings(2, 3)
    seen = np.array([texts.count(string) for string in strings]) / n
    truth = model.statistics().values(strings)
    assert (np.abs(seen - truth) < 5 * np.sqrt(truth * (1 - truth) / n) + 1e-12).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any), st.integers(0, 99))
@settings(max_examples=50)
def test_an_alias_table_holds_the_probabilities_it_was_made_of(weights, seed):
    row = np.array(weights, dtype=float) / sum(weights)
    table = AliasTable.of(row[None])
    held = np.zeros(len(row))
    for column, (fraction, other) in enumerate(zip(table.threshold, table.other, strict=True)):
        held[column] += fraction / len(row)
        held[other] += (1 - fraction) / len(row)
    assert held == pytest.approx(row, abs=1e-12)
    drawn = table.draw(np.zeros(50, dtype=np.int32), np.random.default_rng(seed))
    assert (row[drawn] > 0).all()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: random_hmm(0, 3), "n_states=0; give an integer of at least 1"),
        (lambda: random_hmm(2, 3, stay=1.5), "between 0 and 1"),
        (lambda: random_automaton(2, 0), "n_symbols=0; give"),
        (lambda: random_automaton(2, 2, mean_length=0), "mean_length=0; give a positive number"),
        (lambda: repeating_process(0), "n_before=0; give"),
        (lambda: random_hmm(2, 3, random_state=0).sample(2, -1), "length=-1; give"),
        (lambda: random_hmm(2, 3, random_state=0).sample(2, [3, -1]), "cannot have length -1"),
        (lambda: random_hmm(2, 3, random_state=0).sample(2, [3, 4, 5]), "one for each of the 2 seq"),
        (lambda: random_hmm(2, 3, random_state=0).window_table(3, 2), "no windows of width 3"),
        (lambda: random_automaton(2, 2, random_state=0).statistics("suffix"), "Choose one of 'string'"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(ask, words):
    with pytest.raises(ArgumentError, match=words):
        ask()


def test_tables_that_are_too_large_are_refused():
    for ask in (
        lambda: random_hmm(2, 50, random_state=0).string_table(6),
        lambda: random_automaton(2, 50, random_state=0).statistics().table(6),
        lambda: all_strings(50, 6),
    ):
        with pytest.raises(TooExpensiveError, match="give a shorter length"):
            ask()
