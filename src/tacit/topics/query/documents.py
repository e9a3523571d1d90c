"""What can be asked of topics: mixtures of documents, their words, new documents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.topics.data.documents import Counts
from tacit.topics.model.topics import Topics

Array = NDArray[np.float64]

_PIECE = 512  # documents that are inferred together
_LEAST = 1e-300
_BATCH = 10_000  # documents that are drawn at once


def document_mixtures(
    topics: Topics,
    counts: Counts,
    *,
    n_steps: int = 100,
    tolerance: float = 1e-3,
    n_jobs: int = 1,
) -> Array:
    """(document, topic) the mean shares of topics in each document, given its words.

    Variational Bayes with the topics as they are (Blei, Ng and Jordan 2003); in the single-topic model the
    exact posterior of the topic. A document without words has the topics' weights.

    Parameters
    ----------
    topics : Topics
    counts : (document, word) CSR array
    n_steps : int
        At most so many steps for each document.
    tolerance : float
        Mean change of a Dirichlet parameter, in words, with which a document is done.
    n_jobs : int
        Threads.
    """
    from tacit.topics.loops.topics import infer_documents

    if topics.model == "single":
        return _posteriors(topics, counts)
    words = np.ascontiguousarray(topics.words.T)
    alpha = np.maximum(topics.alpha, 1e-12)
    found = np.empty((counts.shape[0], topics.n_topics))
    numbers = counts.data.astype(np.float64)

    def infer(first: int) -> None:
        stop = min(first + _PIECE, len(found))
        rows = counts.indptr, counts.indices, numbers
        infer_documents(*rows, words, alpha, n_steps, tolerance, first, stop, found)

    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(infer, range(0, len(found), _PIECE)))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _posteriors(topics: Topics, counts: Counts) -> Array:
    logs = counts @ np.log(np.maximum(topics.words, _LEAST)).T
    logs = logs + np.log(np.maximum(topics.weights, _LEAST))
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def log_words(topics: Topics, mixtures: Array, counts: Counts) -> float:
    """Sum of the logarithms of the probabilities of all words of documents with given mixtures.

    Parameters
    ----------
    topics : Topics
    mixtures : (document, topic)
    counts : (document, word) CSR array
    """
    from tacit.topics.loops.topics import score_words

    words = np.ascontiguousarray(np.maximum(topics.words, _LEAST).T)
    rows = counts.indptr, counts.indices, counts.data
    return float(score_words(*rows, words, mixtures, 0, counts.shape[0]))


def top_words(topics: Topics, n_words: int = 10) -> NDArray[np.int64]:
    """(topic, rank) the likeliest words of each topic, the likeliest first."""
    return np.argsort(-topics.words, axis=1, kind="stable")[:, :n_words]


def sample_documents(topics: Topics, lengths: Any, rng: np.random.Generator) -> Counts:
    """(document, word) documents of given lengths, drawn from the model.

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
        rows, places = _draw(topics, ends, some, rng)
        ones = np.ones(len(rows), dtype=np.int32)
        counts = csr_array((ones, (rows, places)), shape=(len(some), topics.n_words))
        counts.sum_duplicates()
        parts.append(counts)
    return csr_array(vstack(parts, format="csr"))


def _draw(
    topics: Topics, ends: Array, lengths: NDArray[Any], rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The document and the word of every occurrence."""
    if topics.alpha0 > 0:
        shares = rng.dirichlet(topics.alpha, size=len(lengths))
    else:
        shares = np.eye(topics.n_topics)[
            rng.choice(topics.n_topics, size=len(lengths), p=topics.weights)
        ]
    often = rng.multinomial(lengths, shares)  # (document, topic)
    rows, places = [], []
    for topic in range(topics.n_topics):
        own = np.repeat(np.arange(len(lengths)), often[:, topic])
        found = np.searchsorted(ends[topic], rng.random(len(own)) * ends[topic, -1], side="right")
        rows.append(own)
        places.append(np.minimum(found, topics.n_words - 1))
    return np.concatenate(rows), np.concatenate(places)
