"""Scores of topics."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit.errors import DataError
from tacit.topics.model.topics import Topics
from tacit.topics.query.quality import (
    coherence,
    completion_perplexity,
    distinct_fraction,
    halves,
    repetition,
    topic_agreement,
)
from tacit.toy.documents import make_bursty, random_topics, sample_documents


def test_halves_add_up_to_the_documents():
    counts = csr_array(np.random.default_rng(0).poisson(3.0, size=(50, 6)))
    first, second = halves(counts, 1)
    assert np.array_equal((first + second).toarray(), counts.toarray())
    assert first.sum() == pytest.approx(counts.sum() / 2, rel=0.1)
    assert np.array_equal(halves(counts, 1)[0].toarray(), first.toarray())


def test_perplexity_of_one_topic_is_that_of_its_words():
    counts = csr_array(np.random.default_rng(0).poisson(2.0, size=(30, 3)))
    words = np.array([[0.5, 0.3, 0.2]])
    second = halves(counts)[1].toarray()
    expected = np.exp(-(second * np.log(words)).sum() / second.sum())
    actual = completion_perplexity(Topics(words, np.ones(1), 1.0), counts)
    assert actual == pytest.approx(expected, rel=1e-12)


def test_perplexity_of_known_topics_is_that_of_the_words_of_one_topic():
    topics = Topics(np.kron(np.eye(2), np.full((1, 4), 0.25)), np.full(2, 0.5))
    counts = np.zeros((2, 8), dtype=int)
    counts[0, :4] = counts[1, 4:] = 50  # both halves of a document are of the same four words
    assert completion_perplexity(topics, csr_array(counts)) == pytest.approx(4.0, rel=1e-9)


def test_documents_without_words_cannot_be_scored():
    with pytest.raises(DataError, match="two words or more"):
        completion_perplexity(
            Topics(np.ones((1, 2)) / 2, np.ones(1)), csr_array((3, 2), dtype=np.int32)
        )


def test_coherence_is_the_normalised_information_of_pairs_of_words():
    together = np.array([[2, 1, 0, 0], [1, 3, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]])
    actual = coherence(np.array([[0, 1], [0, 2], [2, 3]]), csr_array(together))
    assert actual[0] == pytest.approx(1.0)  # never apart
    assert actual[1] == -1.0  # never together
    expected = np.log(0.25 / (0.5 * 0.25)) / -np.log(0.25)
    assert actual[2] == pytest.approx(expected, rel=1e-12)
    always = csr_array(np.ones((3, 2), dtype=int))
    assert coherence(np.array([[0, 1]]), always).tolist() == [1.0]


def test_distinct_words_and_agreement_are_one_at_best():
    assert distinct_fraction(np.array([[0, 1], [2, 3]])) == 1.0
    assert distinct_fraction(np.array([[0, 1], [1, 0]])) == 0.5
    topics = np.random.default_rng(0).dirichlet(np.ones(6), size=4)
    assert topic_agreement(topics, topics[[2, 0, 3, 1]]) == pytest.approx(1.0)
    apart = np.kron(np.eye(2), np.full((1, 3), 1 / 3))
    assert topic_agreement(apart[:1], apart[1:]) == 0.0
    assert topic_agreement(apart, apart[:1]) == pytest.approx(0.5)


def test_words_come_again_as_often_as_topics_say_and_oftener_in_bursty_documents():
    truth = random_topics(5, 2000, 0.2, random_state=0)
    drawn = sample_documents(truth, 1000, 60, random_state=1)
    assert repetition(truth, drawn.counts) == pytest.approx(1, abs=0.03)
    bursty = make_bursty(drawn, random_state=2)
    assert repetition(truth, bursty.counts) > 3
    assert repetition(truth, drawn.counts[:0]) == 0
