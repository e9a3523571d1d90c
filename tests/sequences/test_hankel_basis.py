"""`WeightedAutomaton(basis=(prefixes, suffixes))`: exact, and equal to a transcription of the survey."""

import numpy as np
import pytest

import tacit
from oracles.automata import exact_counts, random_tables, string_value, words
from oracles.printed_chains import hankel_automaton
from tacit.errors import ArgumentError, RankError
from tacit.sequences.data.strings import Strings, read_strings
from tacit.sequences.model.automata import hankel_factors
from tacit.sequences.moments.hankel import SubstringCounts, hankel_blocks
from tacit.sequences.moments.prefixes import PrefixTree

TRUTH = tacit.toy.random_automaton(n_states=3, n_symbols=2, random_state=4)
TRAIN = TRUTH.sample(3000, random_state=5)
SEQUENCES = [tuple(codes.tolist()) for codes in TRAIN.split(TRAIN.codes)]
PREFIXES = [(), (0,), (1,), (1, 0), (0, 0, 1)]
SUFFIXES = [(1,), (), (0, 1), (0,), (1, 1)]
BASIS = (PREFIXES, SUFFIXES)


def empirical(statistics):
    """f of a string: how many sequences are it, begin with it, or how often it occurs, by looking."""

    def f(word):
        n, total = len(word), 0
        for x in SEQUENCES:
            if statistics == "string":
                total += x == word
            elif statistics == "prefix":
                total += x[:n] == word
            else:
                total += sum(x[i : i + n] == word for i in range(len(x) - n + 1))
        return total / len(SEQUENCES)

    return f


def fitted(statistics, **options):
    arguments = {"basis": BASIS, "scaled": False, "mixing": 0.0, **options}
    return tacit.WeightedAutomaton(3, statistics, **arguments).fit(TRAIN)


@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
def test_the_automaton_is_that_of_the_survey(statistics):
    model, f = fitted(statistics), empirical(statistics)
    initial, stop, steps = hankel_automaton(f, f, f, PREFIXES, SUFFIXES, 2, 3)
    form = {
        "string": model.as_string,
        "prefix": model.as_prefix,
        "substring": model.as_substring,
    }[statistics]()
    for word in words(2, 5):
        expected = string_value(initial, steps, stop, word)
        actual = string_value(form.initial, form.steps, form.stop, word)
        assert actual == pytest.approx(expected, abs=1e-10)
    if statistics == "string":
        expected = [string_value(initial, steps, stop, x) for x in SEQUENCES[:50]]
        assert model.values([list(x) for x in SEQUENCES[:50]]) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("statistics", ["string", "prefix", "substring"])
def test_exact_values_of_a_complete_basis_give_the_exact_automaton(statistics):
    truth = random_tables(11, 3, 2, stop=0.25)
    blocks = hankel_blocks(
        exact_counts(truth, 7), statistics, Strings(tuple(PREFIXES), tuple(SUFFIXES)), 1
    )
    automaton = hankel_factors(blocks, 5, scaled=False).automaton(3)
    for word in words(2, 5):
        expected = string_value(truth.initial, truth.steps, truth.stop, word)
        actual = string_value(automaton.initial, automaton.steps, automaton.stop, word)
        assert actual == pytest.approx(expected, abs=1e-9)


def test_given_strings_that_are_the_most_frequent_ones_give_the_same_model():
    counts = SubstringCounts.of(PrefixTree.of(TRAIN), 5)
    frequent = counts.words(counts.most_frequent(counts.occurrences, 6, 2))
    same = fitted("substring", basis=(frequent, frequent))
    usual = fitted("substring", basis=6, max_length=2)
    assert same.values(TRAIN) == pytest.approx(usual.values(TRAIN), rel=1e-10)
    assert same.diagnostics_["basis"] == {"prefixes": 6, "suffixes": 6}


def test_strings_that_never_come_have_rows_of_zeros():
    rare = (1, 0) * 15
    with_rare = fitted("substring", basis=([*PREFIXES, rare], SUFFIXES))
    assert with_rare.values(TRAIN) == pytest.approx(fitted("substring").values(TRAIN), rel=1e-9)
    scaled = fitted("substring", basis=([*PREFIXES, rare], SUFFIXES), scaled=True)
    assert np.isfinite(scaled.values(TRAIN)).all()
    strings = Strings(((), rare), (rare, ()))
    counts = SubstringCounts.of(PrefixTree.of(TRAIN), strings.longest)
    for statistics in ("string", "prefix", "substring"):
        blocks = hankel_blocks(counts, statistics, strings, 1)
        assert blocks.last[1] == blocks.open[1] == blocks.first[0] == blocks.anywhere[0] == 0
        assert blocks.open[0] > 0


def test_strings_are_lists_of_symbols_or_text():
    texts = ["".join("ab"[code] for code in x) for x in SEQUENCES]
    letters = [list(text) for text in texts]
    spelt = [["".join("ab"[code] for code in word) for word in side] for side in BASIS]
    model = tacit.WeightedAutomaton(3, "string", basis=tuple(spelt), scaled=False, mixing=0.0)
    assert model.fit(letters).values(letters) == pytest.approx(fitted("string").values(TRAIN))
    assert read_strings(([[], ["b"]], ["ab"]), ("a", "b")).longest == 4


def test_rank_and_mixing_are_chosen_on_given_strings_too(tmp_path):
    model = tacit.WeightedAutomaton(basis=BASIS).fit(TRAIN)
    sizes = {"prefixes": 5, "suffixes": 5}
    assert all(row["basis"] == sizes for row in model.diagnostics_["candidates"])
    pieces = tacit.WeightedAutomaton(basis=BASIS)
    for rows in (np.arange(1000), np.arange(1000, 3000)):
        pieces.partial_fit(TRAIN.take(rows), symbols=range(2))
    assert np.array_equal(pieces.score_samples(TRAIN), model.score_samples(TRAIN))
    model.save(tmp_path / "model.tacit")
    assert np.array_equal(tacit.load(tmp_path / "model.tacit").values(TRAIN), model.values(TRAIN))


@pytest.mark.parametrize(
    ("basis", "complaint"),
    [
        ((PREFIXES,), "or two lists of strings"),
        ((PREFIXES, []), "or two lists of strings"),
        (([1, 0], SUFFIXES), "have 1; give every string as a list of symbols"),
        (([(), (1,), (1,)], SUFFIXES), r"have \[1\] twice"),
        ((PREFIXES, [(), (7,)]), "the symbol 7, which no sequence has"),
        ("many", "give an integer, 'auto', or two lists of strings"),
        (None, "basis=None; give an integer, 'auto', or two lists of strings"),
        ({"prefixes": ["a"]}, "give an integer, 'auto', or two lists of strings"),
    ],
)
def test_what_is_no_basis_is_refused(basis, complaint):
    with pytest.raises(ArgumentError, match=complaint):
        fitted("string", basis=basis)


def test_a_basis_that_is_too_small_is_refused():
    with pytest.raises(RankError, match="rank<=2, more strings in the basis"):
        fitted("substring", basis=([(), (0,)], SUFFIXES))
