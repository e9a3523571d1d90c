"""Classes of words by exchange."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import ArgumentError
from tacit.language.data.corpus import read_corpus
from tacit.language.data.vocabulary import BEGIN, END
from tacit.language.learn.word_classes import exchanged_classes
from tacit.language.moments.ngram_counts import GramCounts

LINES = st.lists(st.text(alphabet="abcde ", max_size=12), min_size=1, max_size=12)


def likelihood(counts: GramCounts, classes: np.ndarray) -> float:
    """Mean log-likelihood of the pairs of a text, written down word by word."""
    pairs, n = counts.tables[1], 0
    joint: dict[tuple[int, int], int] = {}
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    seconds: dict[int, int] = {}
    rows = list(
        zip(pairs.contexts().tolist(), pairs.words.tolist(), pairs.counts.tolist(), strict=True)
    )
    for one, two, times in rows:
        g, h = int(classes[one]), int(classes[two])
        joint[g, h] = joint.get((g, h), 0) + times
        left[g] = left.get(g, 0) + times
        right[h] = right.get(h, 0) + times
        seconds[two] = seconds.get(two, 0) + times
        n += times
    total = 0.0
    for one, two, times in rows:
        g, h = int(classes[one]), int(classes[two])
        total += times * (np.log(joint[g, h] / left[g]) + np.log(seconds[two] / right[h]))
    return total / n


@given(LINES, st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_the_objective_is_the_likelihood_and_no_single_move_raises_it(
    lines: list[str], n_classes: int
) -> None:
    counts = GramCounts.of(read_corpus(lines), 2)
    actual = exchanged_classes(counts, n_classes, max_sweeps=50)
    assert actual.objective == pytest.approx(likelihood(counts, actual.of), abs=1e-9)
    for word in np.flatnonzero(counts.tables[0].counts):
        if word in (BEGIN, END):
            continue
        for own in range(1, actual.n_classes):
            other = actual.of.copy()
            other[word] = own
            assert likelihood(counts, other) <= actual.objective + 1e-9


def test_words_that_are_used_alike_are_combine() -> None:
    rng = np.random.default_rng(0)
    groups = [list("abcd"), list("efgh"), list("ijkl")]
    lines = []
    for _ in range(400):
        at, words = 0, []
        for _ in range(10):
            at = rng.choice(
                3,
                p=[0.05, 0.9, 0.05]
                if at == 0
                else [0.05, 0.05, 0.9]
                if at == 1
                else [0.9, 0.05, 0.05],
            )
            words.append(str(rng.choice(groups[at])))
        lines.append(" ".join(words))
    corpus = read_corpus(lines)
    actual = exchanged_classes(GramCounts.of(corpus, 2), 3)
    for group in groups:
        assert len({int(actual.of[i]) for i in corpus.vocabulary.ids(group)}) == 1
    assert actual.of[BEGIN] == actual.of[END] == 0


def test_more_classes_than_words_and_no_words() -> None:
    actual = exchanged_classes(GramCounts.of(read_corpus(["a b"]), 2), 10)
    assert actual.n_classes <= 4
    assert exchanged_classes(GramCounts.of(read_corpus([""]), 2), 2).objective == pytest.approx(0)
    with pytest.raises(ArgumentError, match="order=2"):
        exchanged_classes(GramCounts.of(read_corpus(["a"]), 1), 2)
    with pytest.raises(ArgumentError, match="n_classes"):
        exchanged_classes(GramCounts.of(read_corpus(["a"]), 2), 0)
