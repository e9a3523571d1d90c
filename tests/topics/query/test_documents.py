"""Queries of topics."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit.topics.model.topics import Topics
from tacit.topics.query.documents import (
    document_log_likelihoods,
    document_mixtures,
    log_words,
    sample_documents,
    top_words,
)

WORDS = np.array([[0.5, 0.3, 0.2, 0.0], [0.1, 0.1, 0.2, 0.6], [0.25, 0.25, 0.25, 0.25]])
WEIGHTS = np.array([0.5, 0.3, 0.2])


def test_mixtures_are_those_of_scikit_learn():
    from sklearn.decomposition import LatentDirichletAllocation

    rng = np.random.default_rng(0)
    counts = rng.poisson(2.0, size=(20, 4))
    peer = LatentDirichletAllocation(3, doc_topic_prior=0.4, max_iter=1).fit(counts)
    peer.set_params(max_doc_update_iter=1000, mean_change_tol=1e-9)
    peer.components_ = WORDS * 1e12 + 1e-9
    peer.exp_dirichlet_component_ = WORDS + 1e-300
    topics = Topics(WORDS, np.full(3, 1 / 3), 1.2)
    actual = document_mixtures(topics, csr_array(counts), n_steps=1000, tolerance=1e-9)
    assert actual == pytest.approx(peer.transform(counts), abs=1e-6)


def test_topics_without_common_words_are_counted():
    topics = Topics(np.kron(np.eye(2), [[0.5, 0.5]]), np.array([0.75, 0.25]), 2.0)
    counts = csr_array(np.array([[1, 2, 0, 0], [1, 0, 4, 1], [0, 0, 0, 0]]))
    actual = document_mixtures(topics, counts)
    assert actual == pytest.approx(
        np.array([[4.5 / 5, 0.5 / 5], [2.5 / 8, 5.5 / 8], [0.75, 0.25]]), rel=1e-9
    )
    assert np.array_equal(actual, document_mixtures(topics, counts, n_jobs=2))


def test_the_single_topic_posterior_is_bayes_rule():
    counts = np.array([[1, 2, 0, 0], [0, 0, 0, 3], [0, 0, 0, 0]])
    actual = document_mixtures(Topics(WORDS, WEIGHTS), csr_array(counts))
    joint = WEIGHTS * np.prod(WORDS[None] ** counts[:, None, :], axis=2)
    assert actual == pytest.approx(joint / joint.sum(axis=1, keepdims=True), abs=1e-12)


def test_the_single_topic_likelihood_is_the_sum_over_topics():
    counts = np.array([[1, 2, 0, 0], [0, 0, 1, 3], [0, 0, 0, 0]])
    joint = WEIGHTS * np.prod(WORDS[None] ** counts[:, None, :], axis=2)
    actual = document_log_likelihoods(Topics(WORDS, WEIGHTS), csr_array(counts))
    assert actual == pytest.approx(np.log(joint.sum(axis=1)), abs=1e-12)


def test_the_likelihood_of_mixed_documents_is_a_bound_near_the_integral_over_mixtures():
    topics = Topics(WORDS[1:], np.array([0.6, 0.4]), 3.0)
    counts = np.array([[1, 2, 0, 0], [0, 1, 1, 3], [2, 2, 2, 2], [0, 0, 0, 0]])
    fraction = (np.arange(200_000) + 0.5) / 200_000
    density = fraction ** (1.8 - 1) * (1 - fraction) ** (1.2 - 1)
    words = fraction[:, None] * WORDS[1] + (1 - fraction[:, None]) * WORDS[2]
    exact = [
        np.log((np.prod(words**row, axis=1) * density).sum() / density.sum()) for row in counts
    ]
    actual = document_log_likelihoods(topics, csr_array(counts), tolerance=1e-9)
    gaps = np.array(exact) - actual
    assert (gaps > -1e-6).all()
    assert (gaps < 0.6).all()  # nats of 3, 5 and 8 words; topics overlap much
    assert gaps[-1] == pytest.approx(0, abs=1e-6)


def test_topics_without_common_words_make_the_bound_exact():
    topics = Topics(np.kron(np.eye(2), [[0.5, 0.5]]), np.array([0.75, 0.25]), 2.0)
    # P(three words of the first topic, two of the second) = 0.5**5 * a (a+1) (a+2) b (b+1) / (2 ... 6)
    expected = np.log(0.5**5 * 1.5 * 2.5 * 3.5 * 0.5 * 1.5 / (2 * 3 * 4 * 5 * 6))
    actual = document_log_likelihoods(topics, csr_array(np.array([[1, 2, 0, 2]])), tolerance=1e-12)
    assert actual == pytest.approx([expected], rel=1e-9)


def test_words_are_scored_by_the_mixture_of_topics():
    counts = np.array([[1, 2, 0, 0], [0, 1, 0, 3]])
    mixtures = np.array([[0.2, 0.5, 0.3], [1 / 3, 1 / 3, 1 / 3]])
    expected = (counts * np.log(mixtures @ WORDS)).sum(axis=1)
    actual = log_words(Topics(WORDS, WEIGHTS, 1.0), mixtures, csr_array(counts))
    assert actual == pytest.approx(expected, rel=1e-12)


def test_top_words_come_by_probability():
    assert top_words(Topics(WORDS, WEIGHTS), 2).tolist() == [[0, 1], [3, 2], [0, 1]]


@pytest.mark.parametrize("alpha0", [0.0, 1.5])
def test_drawn_documents_have_the_models_moments(alpha0):
    topics = Topics(WORDS, WEIGHTS, alpha0)
    lengths = np.full(20000, 5)
    counts = sample_documents(topics, lengths, np.random.default_rng(0)).toarray()
    assert (counts.sum(axis=1) == 5).all()
    assert counts.mean(axis=0) / 5 == pytest.approx(WEIGHTS @ WORDS, abs=0.01)
    pairs = (counts.T @ counts - np.diag(counts.sum(axis=0))) / (20 * len(lengths))
    if alpha0:
        moments = np.diag(WEIGHTS) + alpha0 * np.outer(WEIGHTS, WEIGHTS)
        expected = WORDS.T @ (moments / (alpha0 + 1)) @ WORDS
    else:
        expected = WORDS.T @ np.diag(WEIGHTS) @ WORDS
    assert pairs == pytest.approx(expected, abs=0.005)  # of 20000 documents
    assert sample_documents(topics, [], np.random.default_rng(0)).shape == (0, 4)
