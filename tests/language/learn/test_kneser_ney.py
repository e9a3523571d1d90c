"""Kneser-Ney models: sums to one, the marginal constraint, formulas by hand, KenLM's perplexities."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.datasets.texts import load_corpus
from tacit.errors import ArgumentError, DataError, TooExpensiveError
from tacit.language.data.corpus import read_corpus
from tacit.language.data.vocabulary import Vocabulary
from tacit.language.learn.kneser_ney import estimated_discounts, given_discounts, kneser_ney
from tacit.language.loops import smoothing
from tacit.language.model import backoff as grams
from tacit.language.model.backoff import Discounts
from tacit.language.moments.ngram_counts import GramCounts
from tacit.language.query.backoff import next_probs, score_corpus

FOLDER = Path(os.environ.get("TACIT_DATA") or "nowhere")
VOCABULARY = Vocabulary.of_words("abcd")
lines = st.lists(st.lists(st.sampled_from("abcz"), max_size=12), min_size=1, max_size=12)


def counted(given, order, pads="one", vocabulary=VOCABULARY):
    return GramCounts.of(read_corpus(given, vocabulary=vocabulary), order, pads=pads)


def random_lines(seed, n_lines=60, letters="abc"):
    rng = np.random.default_rng(seed)
    proportions = rng.dirichlet(np.ones(len(letters)), size=len(letters))
    out = []
    for _ in range(n_lines):
        line, at = [], 0
        for _ in range(rng.integers(0, 12)):
            at = rng.choice(len(letters), p=proportions[at])
            line.append(letters[at])
        out.append(line)
    return out


@settings(max_examples=40)
@given(
    lines,
    st.integers(1, 4),
    st.sampled_from(["one", "all"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["uniform", "unigram"]),
)
def test_probabilities_sum_to_one_after_every_context(
    given, order, pads, modified, interpolated, base
):
    model, _ = kneser_ney(
        counted(given, order, pads), modified=modified, interpolated=interpolated, base=base
    )
    for state in range(-1, model.n_contexts):
        probs = next_probs(model, state)
        assert probs.sum() == pytest.approx(1, abs=1e-12)
        assert (probs >= 0).all()
        assert probs[1] == 0


def kneser_ney_by_hand(given, discount):
    """P(w | u v) of plain interpolated Kneser-Ney, straight from its formula, by dictionaries."""
    from collections import Counter

    grams = Counter()
    for line in given:
        tokens = ["<s>", "<s>", *line, "</s>"]
        grams.update(zip(tokens, tokens[1:], tokens[2:], strict=False))
    pairs = Counter((v, w) for _, v, w in grams)
    singles = Counter(w for _, w in pairs)

    def prob(u, v, w):
        low = singles[w] / sum(singles.values())
        for counts, context, d in ((pairs, (v,), discount[1]), (grams, (u, v), discount[2])):
            after = {key: n for key, n in counts.items() if key[:-1] == context}
            total = sum(after.values())
            if total:
                own = max(after.get((*context, w), 0) - d, 0)
                low = own / total + d * len(after) / total * low
        return low

    return grams, prob


@pytest.mark.parametrize("seed", range(3))
def test_plain_interpolated_agrees_with_its_formula(seed):
    given = random_lines(seed)
    counts = counted(given, 3, "all")
    discount = [0.0, 0.6, 0.8]
    chosen = [Discounts((d, d, d), "given") for d in discount]
    model, _ = kneser_ney(counts, modified=False, discounts=chosen, base="unigram")
    grams, prob = kneser_ney_by_hand(given, discount)
    corpus = read_corpus(given, vocabulary=VOCABULARY)
    actual = np.exp(score_corpus(model, corpus).log_probs)
    expected = []
    for line in given:
        tokens = ["<s>", "<s>", *line, "</s>"]
        expected += [prob(*gram) for gram in zip(tokens, tokens[1:], tokens[2:], strict=False)]
    assert actual == pytest.approx(expected, rel=1e-12)
    assert len(grams) == (counts.tables[2].counts > 0).sum()


@pytest.mark.parametrize("order", [2, 3, 4])
def test_plain_keeps_the_marginal_constraint_and_modified_does_not(order):
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = Vocabulary.of_words(letters)
    counts = counted(random_lines(5, 300, letters), order, "all", vocabulary)
    for modified in (False, True):
        model, _ = kneser_ney(counts, modified=modified, base="unigram")
        top = counts.tables[-1]
        expected = np.zeros(len(vocabulary))
        sums = np.add.reduceat(np.append(top.counts, 0), top.starts[:-1])
        sums[np.diff(top.starts) == 0] = 0
        for context in np.flatnonzero(sums):
            expected += sums[context] * next_probs(model, model.offsets[order - 2] + context)
        reference = counts.tables[0].counts
        worst = np.abs(expected[reference > 0] / reference[reference > 0] - 1).max()
        assert worst > 1e-3 if modified else worst < 1e-12


def test_discounts_are_those_of_chen_and_goodman():
    counts = np.repeat([1, 2, 3, 4, 9], [40, 10, 5, 3, 7])
    y = 40 / 60
    actual = estimated_discounts(counts)
    expected = (1 - 2 * y * 10 / 40, 2 - 3 * y * 5 / 10, 3 - 4 * y * 3 / 5)
    assert actual.values == pytest.approx(expected, rel=1e-12)
    assert actual.source == "estimated"
    assert estimated_discounts(counts, modified=False).values == pytest.approx((y, y, y))


@pytest.mark.parametrize(
    ("counts", "source"),
    [
        ([5, 6, 7], "fixed"),
        ([1, 1, 1], "fixed"),
        ([1, 1, 2, 3], "one for all"),  # no four
        ([1, *[2] * 2, *[3] * 30, 4], "one for all"),  # the second would be below zero
    ],
)
def test_discounts_survive_strange_counts(counts, source):
    actual = estimated_discounts(np.array(counts))
    assert actual.source == source
    assert all(0 <= value <= k for k, value in enumerate(actual.values, 1))


@pytest.mark.parametrize("given", [["a"], [""], ["a a a a a a"], ["a b c d"] * 50])
def test_tiny_and_repetitive_texts_give_models(given):
    for interpolated in (True, False):
        model, _ = kneser_ney(counted(given, 3), interpolated=interpolated)
        scores = score_corpus(model, read_corpus(given, vocabulary=VOCABULARY))
        assert (scores.log_probs <= 0).all()


def test_given_discounts_are_checked():
    assert given_discounts([0.7], 2)[1].values == (0.7, 0.7, 0.7)
    assert given_discounts([0.7, 1, 2], 2)[0].values == (0.7, 1.0, 2.0)
    assert given_discounts([[0.5], [0.7]], 2)[1].values == (0.7, 0.7, 0.7)
    for wrong, complaint in (
        ([0.7, 1], "have shape"),
        ([[0.7]], "have shape"),
        (["a"], "are not numbers"),
        ([1.5], "give numbers from 0 to the count"),
    ):
        with pytest.raises(ArgumentError, match=complaint):
            given_discounts(wrong, 2)


def test_what_cannot_be_learnt_is_refused(monkeypatch):
    with pytest.raises(DataError, match="the text is empty"):
        kneser_ney(counted([], 2))
    with pytest.raises(ArgumentError, match="base='none'; choose one of"):
        kneser_ney(counted(["a"], 2), base="none")
    monkeypatch.setattr(grams, "_MAX_GRAMS", 3)
    with pytest.raises(TooExpensiveError, match="n-grams are too many; lower the order"):
        kneser_ney(counted(["a"], 2))


def test_the_compiled_loops_agree_with_their_python_source():
    counts = counted(random_lines(2), 3)
    for interpolated in (True, False):
        expected, _ = kneser_ney(counts, interpolated=interpolated)
        with python_source(smoothing):
            actual, _ = kneser_ney(counts, interpolated=interpolated)
        assert actual.probs == pytest.approx(expected.probs, rel=1e-12)
        assert actual.backoffs == pytest.approx(expected.backoffs, rel=1e-12)


# lmplz of KenLM (commit 4cb443e6) with `<unk>` renamed: valid and test perplexities
KENLM = {
    ("ptb", 2): (199.02, 185.70),
    ("ptb", 3): (157.77, 148.28),
    ("ptb", 4): (149.90, 142.72),
    ("ptb", 5): (148.01, 141.19),
    ("wikitext-2", 2): (284.73, 263.96),
    ("wikitext-2", 3): (242.33, 226.05),
    ("wikitext-2", 4): (236.15, 221.34),
    ("wikitext-2", 5): (234.86, 220.14),
    ("russian-drama-novels", 2): (196.64, 190.69),
    ("russian-drama-novels", 3): (171.48, 165.24),
    ("russian-drama-novels", 4): (168.28, 161.91),
    ("russian-drama-novels", 5): (167.73, 161.32),
    ("english-eltec", 3): (None, 113.46),
}


@pytest.mark.skipif(not (FOLDER / "lm").is_dir(), reason="the folder of TACIT_DATA lacks lm")
@pytest.mark.parametrize(
    "name",
    [
        "ptb",
        pytest.param("wikitext-2", marks=pytest.mark.slow),
        pytest.param("russian-drama-novels", marks=pytest.mark.slow),
        pytest.param("english-eltec", marks=pytest.mark.slow),
    ],
)
def test_perplexities_are_those_of_kenlm(name):
    train = load_corpus(name)
    texts = [load_corpus(name, split, vocabulary=train.vocabulary) for split in ("valid", "test")]
    for (corpus, order), expected in KENLM.items():
        if corpus == name:
            model, _ = kneser_ney(GramCounts.of(train, order))
            for text, perplexity in zip(texts, expected, strict=True):
                actual = np.exp(-score_corpus(model, text).log_probs.mean())
                assert perplexity is None or actual == pytest.approx(perplexity, abs=0.01)
