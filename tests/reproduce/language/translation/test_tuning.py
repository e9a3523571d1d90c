"""BLEU beside sacrebleu, and weights that are tuned on lists."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import DependencyError
from tacit.reproduce.language.translation.bleu import bleu, corpus_bleu, statistics
from tacit.reproduce.language.translation.decoder import FEATURES, LANGUAGE, BestList
from tacit.reproduce.language.translation.mira import Lists, tuned_weights

sentences = st.lists(
    st.lists(st.sampled_from("abc"), min_size=4, max_size=9).map(" ".join), min_size=3, max_size=3
)


@given(sentences, sentences)
def test_sums_of_statistics_give_the_bleu_of_sacrebleu(translations, references):
    pytest.importorskip("sacrebleu")
    pairs = zip(translations, references, strict=True)
    sums = np.sum([statistics([one], other)[0] for one, other in pairs], axis=0)
    if (sums[:4] > 0).all():  # elsewhere sacrebleu smooths
        assert 100 * bleu(sums) == pytest.approx(corpus_bleu(translations, references))
    else:
        assert bleu(sums) == 0


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(DependencyError, match="sacrebleu: pip install"):
        corpus_bleu(["a"], ["a"])


@pytest.fixture
def lists():
    """Thirty sentences whose good translations have a high second feature and a low third one."""
    rng = np.random.default_rng(0)
    made, references = [], []
    for _ in range(30):
        reference = rng.choice(list("abcdefgh"), 8)
        texts, rows = [], []
        for n_wrong in rng.permutation(5):
            words = reference.copy()
            words[rng.choice(8, n_wrong, replace=False)] = f"x{n_wrong}"
            texts.append(" ".join(words))
            row = rng.normal(size=FEATURES)
            row[1] -= 2 * n_wrong
            row[2] += 2 * n_wrong
            rows.append(row)
        made.append(BestList(texts, np.array(rows), np.zeros(5)))
        references.append(" ".join(reference))
    return Lists.of(made, references)


def test_tuning_finds_weights_of_good_translations(lists):
    start = np.zeros(FEATURES)
    start[0] = 1.0
    weights = tuned_weights(lists, start, np.random.default_rng(0))
    assert weights[1] > 0 > weights[2]
    assert lists.bleu(weights) > 0.8 > 1.5 * lists.bleu(start)
    again = tuned_weights(lists, start, np.random.default_rng(0))
    assert np.array_equal(weights, again)
    assert not np.array_equal(weights, tuned_weights(lists, start, np.random.default_rng(1)))


def test_no_weights_exceed_the_best_of_each_list(lists):
    references = lists.oracle()
    reached = np.sum([statistics([text], text)[0] for text in references], axis=0)
    assert bleu(reached) == 1  # the references are in the lists
    rng = np.random.default_rng(0)
    assert max(lists.bleu(rng.normal(size=FEATURES)) for _ in range(20)) <= 1


def test_another_language_model_changes_one_feature(lists):
    log_probs = np.arange(float(len(lists.all_texts)))
    changed = lists.with_language(log_probs)
    assert np.concatenate(changed.features)[:, LANGUAGE].tolist() == log_probs.tolist()
    others = [np.delete(np.concatenate(one.features), LANGUAGE, axis=1) for one in (lists, changed)]
    assert np.array_equal(*others)
    only = np.zeros(FEATURES)
    only[LANGUAGE] = 1.0
    assert changed.best(only) == [texts[-1] for texts in lists.texts]


def test_lists_are_joined_by_text():
    one = Lists([["a b", "c"]], [np.ones((2, FEATURES))], [statistics(["a b", "c"], "a b")])
    two = Lists([["c", "d"]], [np.zeros((2, FEATURES))], [statistics(["c", "d"], "a b")])
    joined = one.joined(two)
    assert joined.texts == [["c", "d", "a b"]]
    assert joined.features[0][:, 0].tolist() == [0, 0, 1]
    assert joined.statistics[0][:, 0].tolist() == [0, 0, 2]
