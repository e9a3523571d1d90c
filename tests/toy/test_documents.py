"""Documents drawn from topics, and exact shares of their pairs and triples."""

import numpy as np
import pytest

from oracles.exact_topics import ExactTopicMoments
from tacit.errors import ArgumentError
from tacit.topics.model.topics import Topics
from tacit.topics.moments.word_moments import DocumentMoments
from tacit.toy.documents import (
    add_spam,
    make_bursty,
    random_topics,
    sample_documents,
)


@pytest.mark.parametrize("alpha", [0.0, 0.4, [0.2, 1.0, 0.6]])
def test_exact_shares_are_those_of_many_documents(alpha):
    topics = random_topics(3, 6, alpha, concentration=0.5, random_state=0)
    topics = Topics(topics.words, np.array([0.5, 0.3, 0.2]), topics.alpha0)
    documents = sample_documents(topics, 20_000, (3, 12), random_state=1)
    drawn, exact = DocumentMoments([documents.counts], 6), ExactTopicMoments(topics)
    # Errors of 20000 documents.
    assert drawn.pairs(np.eye(6)).product == pytest.approx(exact.pairs(np.eye(6)).product, abs=5e-3)
    assert drawn.pairs(np.eye(6)).mean == pytest.approx(exact.pairs(np.eye(6)).mean, abs=1e-2)
    assert drawn.triples(np.eye(6)) == pytest.approx(exact.triples(np.eye(6)), abs=5e-3)


@pytest.mark.parametrize("total", [0.0, 2.0])
def test_exact_shares_are_consistent(total):
    exact = ExactTopicMoments(
        Topics(random_topics(2, 5, random_state=2).words, np.array([0.7, 0.3]), total)
    )
    pairs = exact.pairs(np.eye(5))
    assert pairs.product.sum(axis=1) == pytest.approx(pairs.mean, abs=1e-12)
    assert exact.triples(np.eye(5)).sum(axis=2) == pytest.approx(pairs.product, abs=1e-12)


def test_documents_have_the_lengths_that_were_asked_for():
    topics = random_topics(4, 30, random_state=0)
    assert set(sample_documents(topics, 50, 7, random_state=0).lengths) == {7}
    lengths = sample_documents(topics, 500, (2, 5), random_state=0).lengths
    assert set(lengths.tolist()) == {2, 3, 4, 5}
    with pytest.raises(ArgumentError, match="length="):
        sample_documents(topics, 5, (5, 2))


def test_a_seed_gives_the_same_documents_again():
    topics = random_topics(4, 30, random_state=0)
    one, two = (sample_documents(topics, 20, random_state=3).counts.toarray() for _ in range(2))
    assert np.array_equal(one, two)


def test_words_of_a_zipf_vocabulary_become_rarer_with_their_place():
    topics = random_topics(50, 1000, zipf=True, random_state=0)
    mean = topics.words.mean(axis=0)
    assert mean[:10].sum() > 3 * mean[100:110].sum() > 3 * mean[900:910].sum()


def test_spam_and_bursts_leave_the_other_words_as_they_are():
    documents = sample_documents(random_topics(4, 30, random_state=0), 20, random_state=3)
    spam = add_spam(documents, 3, 40, random_state=0)
    assert np.array_equal(spam.counts[:20].toarray(), documents.counts.toarray())
    assert (spam.counts[20:].toarray().max(axis=1) == 40).all()
    bursts = make_bursty(documents, random_state=0).counts.toarray()
    before = documents.counts.toarray()
    assert ((bursts > 0) == (before > 0)).all()
    assert ((bursts >= before) & (bursts <= 4 * before)).all()
    assert bursts.sum() / before.sum() == pytest.approx(1.9, abs=0.05)
