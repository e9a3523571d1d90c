"""Queries of topic models: topic weights and likelihoods of documents, top words, sampled documents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.topics.data.documents import Counts
from tacit.topics.model.topics import Topics

Array = NDArray[np.float64]

_BLOCK = 512  # documents of one task
_TINY, _MIN_ALPHA = 1e-300, 1e-12
_BATCH = 10_000  # documents that are sampled at once


def document_mixtures(
    topics: Topics,
    counts: Counts,
    *,
    n_steps: int = 100,
    tolerance: float = 1e-3,
    n_jobs: int = 1,
) -> Array:
    """(document, topic) posterior mean of the topic weights of each document, given its words.

    Variational Bayes with the topics as they are (Blei, Ng and Jordan 2003); in the single-topic model the
    exact posterior of the topic. A document without words has the topics' weights.

    Parameters
    ----------
    topics : Topics
    counts : (document, word) CSR array
    n_steps : int
        Maximum for each document.
    tolerance : float
        Mean change of a Dirichlet parameter, in words, below which inference of a document stops.
    n_jobs : int
        Threads.
    """
    if topics.model == "single":
        weights = _log_joint(topics, counts)
        weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    else:
        weights = _dirichlet_parameters(topics, counts, n_steps, tolerance, n_jobs)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def document_log_likelihoods(
    topics: Topics,
    counts: Counts,
    *,
    n_steps: int = 100,
    tolerance: float = 1e-3,
    n_jobs: int = 1,
) -> Array:
    """(document,) natural log-likelihood of the words of each document, in their order.

    Latent Dirichlet allocation: the variational lower bound (Blei, Ng and Jordan 2003, equation 15) at the
    Dirichlet parameters of `document_mixtures`. The single-topic model: exact. A document without words has
    zero.

    Parameters
    ----------
    topics, counts, n_steps, tolerance, n_jobs
        See `document_mixtures`.
    """
    from scipy.special import digamma, gammaln, logsumexp

    if topics.model == "single":
        return np.asarray(logsumexp(_log_joint(topics, counts), axis=1))
    alpha = np.maximum(topics.alpha, _MIN_ALPHA)
    gamma = _dirichlet_parameters(topics, counts, n_steps, tolerance, n_jobs)
    log_weights = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))  # expected
    prior = (
        gammaln(alpha.sum())
        - gammaln(gamma.sum(axis=1))
        + (gammaln(gamma) - gammaln(alpha)).sum(axis=1)
    )
    largest = log_weights.max(axis=1, keepdims=True)  # a factor of all words, against underflow
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    words = log_words(topics, np.exp(log_weights - largest), counts) + lengths * largest[:, 0]
    return np.asarray(words + prior + ((alpha - gamma) * log_weights).sum(axis=1))


def _dirichlet_parameters(
    topics: Topics, counts: Counts, n_steps: int, tolerance: float, n_jobs: int
) -> Array:
    """(document, topic) parameters of the variational posterior."""
    from tacit.topics.loops.topics import infer_documents

    words = np.ascontiguousarray(topics.words.T)
    alpha = np.maximum(topics.alpha, _MIN_ALPHA)
    gamma = np.empty((counts.shape[0], topics.n_topics))
    rows = counts.indptr, counts.indices, counts.data.astype(np.float64)

    def infer(first: int) -> None:
        stop = min(first + _BLOCK, len(gamma))
        infer_documents(*rows, words, alpha, n_steps, tolerance, first, stop, gamma)

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(infer, range(0, len(gamma), _BLOCK)))
    return gamma


def _log_joint(topics: Topics, counts: Counts) -> Array:
    """(document, topic) log-probability of a topic and the words of a document that has it alone."""
    log_words = counts @ np.log(np.maximum(topics.words, _TINY)).T
    return np.asarray(log_words + np.log(np.maximum(topics.weights, _TINY)))


def log_words(topics: Topics, mixtures: Array, counts: Counts) -> Array:
    """(document,) log-probability of the words of each document, given its topic weights.

    Parameters
    ----------
    topics : Topics
    mixtures : (document, topic)
    counts : (document, word) CSR array
    """
    from tacit.topics.loops.topics import score_words

    words = np.ascontiguousarray(np.maximum(topics.words, _TINY).T)
    scores = np.empty(counts.shape[0])
    score_words(counts.indptr, counts.indices, counts.data, words, mixtures, scores)
    return scores


def top_words(topics: Topics, n_words: int = 10) -> NDArray[np.int64]:
    """(topic, rank) the most likely words of each topic, in order."""
    return np.argsort(-topics.words, axis=1, kind="stable")[:, :n_words]


def sample_documents(topics: Topics, lengths: Any, rng: np.random.Generator) -> Counts:
    """(document, word) documents of given lengths, sampled from the model.

    Parameters
    ----------
    topics : Topics
    lengths : (document,) integers
    rng : numpy.random.Generator
    """
    from scipy.sparse import csr_array, vstack

    lengths = np.asarray(lengths, dtype=np.int64)
    ends = np.cumsum(topics.words, axis=1)
    parts: list[Any] = [csr_array((0, topics.n_words), dtype=np.int32)]
    for first in range(0, len(lengths), _BATCH):
        some = lengths[first : first + _BATCH]
        rows, places = _sample_words(topics, ends, some, rng)
        ones = np.ones(len(rows), dtype=np.int32)
        counts = csr_array((ones, (rows, places)), shape=(len(some), topics.n_words))
        counts.sum_duplicates()
        parts.append(counts)
    return csr_array(vstack(parts, format="csr"))


def _sample_words(
    topics: Topics, ends: Array, lengths: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The document and the word of every occurrence."""
    if topics.alpha0 > 0:
        mixtures = rng.dirichlet(topics.alpha, size=len(lengths))
    else:
        chosen = rng.choice(topics.n_topics, size=len(lengths), p=topics.weights)
        mixtures = np.eye(topics.n_topics)[chosen]
    counts = rng.multinomial(lengths, mixtures)  # (document, topic)
    rows, places = [], []
    for topic in range(topics.n_topics):
        documents = np.repeat(np.arange(len(lengths)), counts[:, topic])
        uniform = rng.random(len(documents)) * ends[topic, -1]
        words = np.searchsorted(ends[topic], uniform, side="right")
        rows.append(documents)
        places.append(np.minimum(words, topics.n_words - 1))
    return np.concatenate(rows), np.concatenate(places)
