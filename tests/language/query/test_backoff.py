"""Look-ups in back-off models agree with the definition, read off a dictionary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.python_source import python_source
from tacit.language.data.corpus import read_corpus
from tacit.language.data.vocabulary import Vocabulary
from tacit.language.learn.kneser_ney import kneser_ney
from tacit.language.loops import backoff
from tacit.language.moments.ngram_counts import GramCounts
from tacit.language.query.backoff import begin_state, next_probs, score_corpus

VOCABULARY = Vocabulary.of_words("abcd")
lines = st.lists(st.lists(st.sampled_from("abcdz"), max_size=12), max_size=12)


def fitted(given, order, pads="one"):
    counts = GramCounts.of(read_corpus([*given, "a b"], vocabulary=VOCABULARY), order, pads=pads)
    return kneser_ney(counts)[0]


def tables(model):
    """{n-gram: (probability, weight)} as an ARPA file would list it."""
    out, spelled = {}, []
    parents = np.repeat(np.arange(model.n_contexts), np.diff(model.firsts))
    for gram, word in enumerate(model.words.tolist()):
        before = spelled[parents[gram - len(VOCABULARY)]] if gram >= len(VOCABULARY) else ()
        spelled.append((*before, word))
        weight = model.backoffs[gram] if gram < model.n_contexts else 1.0
        out[spelled[-1]] = model.probs[gram], weight
    return out


def prob_by_definition(known, context, word):
    """The probability of a word and the order that answered, as ARPA files define it."""
    if (*context, word) in known:
        return known[*context, word][0], len(context) + 1
    prob, order = prob_by_definition(known, context[1:], word)
    return known.get(context, (0, 1.0))[1] * prob, order


@settings(max_examples=50)
@given(lines, lines, st.integers(1, 4), st.sampled_from(["one", "all"]))
def test_scores_agree_with_the_definition(given, asked, order, pads):
    model = fitted(given, order, pads)
    known = tables(model)
    scores = score_corpus(model, read_corpus(asked, vocabulary=VOCABULARY))
    expected, n_pads = [], 1 if pads == "one" else max(order - 1, 1)
    for line in asked:
        tokens = [1] * n_pads + VOCABULARY.ids(line).tolist() + [2]
        for t in range(n_pads, len(tokens)):
            context = tuple(tokens[max(t - order + 1, 0) : t])
            expected.append((*prob_by_definition(known, context, tokens[t]), tokens[t] == 0))
    actual = zip(np.exp(scores.log_probs), scores.orders, scores.unknown, strict=True)
    for (prob, answered, unknown), one in zip(actual, expected, strict=True):
        assert (prob, answered, unknown) == (pytest.approx(one[0], rel=1e-12), *one[1:])
    assert scores.ends.tolist() == np.cumsum([len(line) + 1 for line in asked]).tolist()
    assert scores.sums().sum() == pytest.approx(scores.log_probs.sum(), abs=1e-9)


@given(lines, st.integers(1, 4))
def test_the_whole_distribution_agrees_with_single_scores(given, order):
    model = fitted(given, order)
    known = tables(model)
    probs = next_probs(model, begin_state(model))
    context = () if order == 1 else (1,)
    for word in range(len(VOCABULARY)):
        assert probs[word] == pytest.approx(prob_by_definition(known, context, word)[0], rel=1e-12)


def test_parts_of_lines_are_scored_without_markers():
    model = fitted(["a b c"], 3)
    scores = score_corpus(
        model, read_corpus(["b c"], vocabulary=VOCABULARY), begin=False, end=False
    )
    known = tables(model)
    b, c = VOCABULARY.ids("bc").tolist()
    expected = [known[b,][0], known[b, c][0]]
    assert np.exp(scores.log_probs) == pytest.approx(expected, rel=1e-12)
    assert scores.orders.tolist() == [1, 2]


def test_the_compiled_loops_agree_with_their_python_source():
    rng = np.random.default_rng(0)
    given = [["abcdz"[i] for i in rng.integers(0, 5, 40)] for _ in range(9)]
    model, queries = fitted(given[:6], 3), read_corpus(given[6:], vocabulary=VOCABULARY)
    scores, after = score_corpus(model, queries), next_probs(model, 7)
    with python_source(backoff):
        again = score_corpus(model, queries)
        assert next_probs(model, 7) == pytest.approx(after, rel=1e-12)
    assert again.log_probs == pytest.approx(scores.log_probs, rel=1e-12)
    assert np.array_equal(again.orders, scores.orders)
