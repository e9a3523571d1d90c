"""Groups and predicates learnt from tags: a language whose groups are known."""

from itertools import pairwise

import numpy as np

from tacit.parsing.learn.tag_chunks import chunker_em, learn_chunker
from tacit.parsing.moments.tag_runs import TagRuns
from tacit.parsing.structure.units import noun_groups
from tacit.toy.sentences import sample_sentences

TEXT = sample_sentences(400, random_state=0)


def renamed(text):
    return [[(word, "my" + tag) for word, tag in sentence] for sentence in text]


def test_noun_groups_and_verbs_are_found_in_a_small_language():
    chunker = learn_chunker(TagRuns.of(TEXT))
    assert chunker.predicates == {"VERB"}
    for sentence in sample_sentences(50, random_state=1):
        tags = [tag for _, tag in sentence]
        assert chunker.groups(sentence) == noun_groups(tags)
        assert chunker.top(sentence) == tags.index("VERB")


def test_sets_of_tags_are_learnt_side_by_side():
    alone, both = (
        learn_chunker(TagRuns.of(text)) for text in (TEXT, [*TEXT, *renamed(TEXT[:200])])
    )
    assert both.predicates == {"VERB", "myVERB"}
    assert np.array_equal(both.emissions[:, : len(alone.tags)], alone.emissions[:, :-1])
    for sentence in TEXT[:30]:
        assert both.groups(sentence) == alone.groups(sentence)
        assert both.groups(renamed([sentence])[0]) == alone.groups(sentence)


def test_marks_end_groups_and_unknown_tags_are_read_as_universal_ones():
    chunker = learn_chunker(TagRuns.of(TEXT))
    tagged = [
        tuple(token.split("/"))
        for token in ["the/DT", ",/,", "cat/NN", "saw/VBD", "a/DT", "dog/NN"]
    ]
    assert not any(start < 1 < stop for start, stop in chunker.groups(tagged))
    assert chunker.groups([*tagged[:1], *tagged[2:]]) == [(0, 2), (3, 5)]
    penn = {"DET": "DT", "ADJ": "JJ", "NOUN": "NNS", "VERB": "VBD", "ADP": "IN"}
    for sentence in TEXT[:30]:
        assert chunker.groups([(w, penn[tag]) for w, tag in sentence]) == chunker.groups(sentence)
    assert chunker.top(tagged) == 2
    assert chunker.top([("run", "VB"), ("home", "NN")]) is None  # nothing comes before
    assert chunker.groups([]) == []
    assert isinstance(chunker.groups([("new", "my1"), ("tags", "my2")]), list)


def test_likelihoods_rise_and_weights_are_proportions_but_for_ends():
    runs = TagRuns.of(TEXT)
    first, transitions, emissions, likelihoods = chunker_em(runs, 15)
    # Smoothing by a tenth of a word gives way by as little.
    assert all(b > a - 1 for a, b in pairwise(likelihoods))
    assert likelihoods[-1] > likelihoods[0] + 100
    assert np.allclose(first[:, 0].sum(), 1)
    assert np.allclose(emissions.sum(axis=1), 1)
    sums = transitions.sum(axis=2)
    assert np.allclose(sums[0], 1)
    assert np.all(sums <= 1 + 1e-12)
    start = chunker_em(runs, 0)[1]  # all that is allowed is equally likely, but for ends
    assert np.allclose(start[0, :, [0, 1, 3]], 1 / 3)
    assert np.allclose(start[1:, :, 2], 1 / 4)
    assert np.allclose(start[1:, :, 3], np.exp(np.minimum(runs.endings(), 0)) / 4)
    determiner = runs.tags.index("DET")  # never last, so that no group ends with it
    assert transitions[1, determiner, [0, 1, 3]].sum() < 0.01


def test_groups_may_end_with_what_begins_them_elsewhere():
    # Read from its end, "cat the near house a", the language has the same groups.
    turned = [sentence[::-1] for sentence in TEXT]
    chunker = learn_chunker(TagRuns.of(turned))
    for sentence in turned[:50]:
        n_words = len(sentence)
        forward = noun_groups([tag for _, tag in sentence[::-1]])
        expected = sorted((n_words - stop, n_words - start) for start, stop in forward)
        assert chunker.groups(sentence) == expected
