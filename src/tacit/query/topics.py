"""What can be asked of topics: mixtures of documents, their words, new documents."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.data.documents import Counts
from tacit.params.topics import Topics

Array = NDArray[np.float64]

_PIECE = 512  # documents that are inferred together
_LEAST = 1e-300


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
    from tacit.loops.topics import infer_documents

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
    from tacit.loops.topics import score_words

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
    from scipy.sparse import csr_array

    lengths = np.asarray(lengths)
    if topics.model == "single":
        mixtures = rng.multinomial(1, topics.weights, size=len(lengths)).astype(float)
    else:
        drawn = np.maximum(rng.gamma(topics.alpha, size=(len(lengths), topics.n_topics)), _LEAST)
        mixtures = drawn / drawn.sum(axis=1, keepdims=True)
    ids: list[Any] = [np.zeros(0, dtype=np.int32)]
    numbers: list[Any] = [np.zeros(0, dtype=np.int32)]
    for length, mixture in zip(lengths, mixtures, strict=True):
        per_topic = rng.multinomial(length, mixture / mixture.sum())
        row = np.zeros(topics.n_words, dtype=np.int32)
        for topic in np.flatnonzero(per_topic):
            row += rng.multinomial(per_topic[topic], topics.words[topic]).astype(np.int32)
        ids.append(np.flatnonzero(row).astype(np.int32))
        numbers.append(row[ids[-1]])
    starts = np.cumsum([len(each) for each in ids])
    shape = (len(lengths), topics.n_words)
    return csr_array((np.concatenate(numbers), np.concatenate(ids), starts), shape=shape)
