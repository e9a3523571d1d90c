"""Measures of topics: perplexity of document completion, coherence, distinctness, agreement of two models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.arguments import check_count, check_kind, check_number, generator_from
from tacit.core.limits import shown
from tacit.errors import ArgumentError, ArgumentTypeError, DataError
from tacit.topics.data.documents import Counts
from tacit.topics.data.read_documents import read_documents
from tacit.topics.model.topics import Topics
from tacit.topics.query.documents import document_mixtures, log_words

Array = NDArray[np.float64]


def halves(counts: Counts, random_state: int = 0) -> tuple[Counts, Counts]:
    """Each occurrence of a word in one of two halves of its document, by chance.

    Parameters
    ----------
    counts : (document, word) CSR array
    random_state : int
    """
    rng = generator_from(random_state)
    first, second = counts.copy(), counts.copy()
    first.data = rng.binomial(counts.data, 0.5).astype(np.int32)
    second.data = (counts.data - first.data).astype(np.int32)
    for half in (first, second):
        half.eliminate_zeros()
    return first, second


def completion_perplexity(
    topics: Topics,
    counts: Counts,
    *,
    random_state: int = 0,
    n_steps: int = 100,
    tolerance: float = 1e-3,
    n_jobs: int = 1,
) -> float:
    """Perplexity of one half of each document's words, given its other half.

    Topics of each document are inferred from one half (see `documents.document_mixtures`); the
    other half is scored word by word. The scored words are not used for inference, so models of any kind
    can be compared, unlike by bounds on the likelihood. Infinite where a word is impossible.

    Parameters
    ----------
    topics : Topics
    counts : (document, word) CSR array
        Documents that were not learnt from.
    random_state : int
        Of the halves.
    n_steps, tolerance, n_jobs
        See `tacit.topics.query.documents.document_mixtures`.

    Raises
    ------
    DataError
        There is no word to score.
    """
    check_kind("topics", topics, Topics, "Topics, such as `topics_` of a fitted TopicModel")
    counts = _checked_counts(counts)
    if counts.shape[1] != topics.n_words:
        raise ArgumentError(
            f"counts has {counts.shape[1]} words, but the topics have {topics.n_words}; count over "
            f"the words of the topics"
        )
    check_count("n_steps", n_steps)
    check_number("tolerance", tolerance)
    check_count("n_jobs", n_jobs)
    first, second = halves(counts, random_state)
    total = int(second.data.sum(dtype=np.int64))
    if total == 0:
        raise DataError("no document has words to score; give documents of two words or more")
    mixtures = document_mixtures(topics, first, n_steps=n_steps, tolerance=tolerance, n_jobs=n_jobs)
    return float(np.exp(-log_words(topics, mixtures, second).sum() / total))


def repetition(topics: Topics, counts: Counts, *, random_state: int = 0, n_jobs: int = 1) -> float:
    """Observed over expected number of words of one half of a document that also occur in its other half.

    One where topics explain documents; more where words are bursty, as in real documents (Church and Gale
    1995), or where topics are few or far from the true ones. Zero where there is nothing to count.

    Parameters
    ----------
    topics, counts, random_state, n_jobs
        See `completion_perplexity`.
    """
    first, second = halves(counts, random_state)
    occurs = first.astype(bool).astype(np.float64)
    mixtures = document_mixtures(topics, first, n_jobs=n_jobs)
    probabilities = ((occurs @ topics.words.T) * mixtures).sum(axis=1)  # (document,)
    expected = float(probabilities @ np.asarray(second.sum(axis=1), dtype=np.float64).ravel())
    return float(second.multiply(occurs).sum()) / expected if expected > 0 else 0.0


def coherence(tops: NDArray[Any], counts: Counts) -> Array:
    """(topic,) mean normalised pointwise mutual information of pairs of top words.

    Words occur together where one document has both (Bouma 2009; Lau, Newman and Baldwin 2014): 1 where they
    never occur apart, 0 as if by chance, -1 where they never occur together.

    Parameters
    ----------
    tops : (topic, rank)
        The places of top words.
    counts : (document, word) CSR array
        The documents to count in.
    """
    counts = _checked_counts(counts)
    tops = _checked_tops(tops, counts.shape[1])
    distinct, inverse = np.unique(tops, return_inverse=True)
    places: NDArray[np.int64] = inverse.reshape(tops.shape)
    occurs = counts[:, distinct].astype(bool).astype(np.float64)
    both = np.asarray((occurs.T @ occurs).todense()) / max(counts.shape[0], 1)
    alone = np.diag(both)
    upper = np.triu_indices(tops.shape[1], 1)
    values = np.empty(len(places))
    for topic, row in enumerate(places):
        a, b = row[upper[0]], row[upper[1]]
        joint, product = both[a, b], alone[a] * alone[b]
        npmi = np.full(len(a), -1.0)
        npmi[joint >= 1.0] = 1.0
        some = (joint > 0) & (joint < 1.0)
        npmi[some] = np.log(joint[some] / product[some]) / -np.log(joint[some])
        values[topic] = npmi.mean() if len(npmi) else 0.0
    return values


def distinct_fraction(tops: NDArray[Any]) -> float:
    """The fraction of the top words of all topics that are distinct: 1 if topics have none in common.

    Parameters
    ----------
    tops : (topic, rank)
    """
    return len(np.unique(tops)) / np.size(tops)


def topic_agreement(first: Array, second: Array) -> float:
    """How much two sets of topics agree, from 0 to 1: mean overlap of topics that are matched one to one.

    The overlap of two topics is one less their total variation distance.

    Parameters
    ----------
    first, second : (topic, word)
        Word probabilities.
    """
    from scipy.optimize import linear_sum_assignment

    first, second = _probabilities("first", first), _probabilities("second", second)
    if first.shape[1] != second.shape[1]:
        raise ArgumentError(
            f"the topics are over {first.shape[1]} and {second.shape[1]} words; give the same words"
        )
    overlap = np.array([np.minimum(topic, second).sum(axis=1) for topic in first])
    rows, columns = linear_sum_assignment(-overlap)
    return float(overlap[rows, columns].sum() / max(len(first), len(second)))


def _checked_counts(counts: Any) -> Counts:
    from scipy.sparse import issparse

    if not issparse(counts):
        raise ArgumentTypeError(
            f"counts={shown(counts)}; give a CSR array (document, word), such as the counts of "
            f"read_documents"
        )
    return read_documents(counts).counts


def _checked_tops(tops: Any, n_words: int) -> NDArray[Any]:
    try:
        places = np.asarray(tops)
    except ValueError as error:
        raise ArgumentTypeError(f"tops={shown(tops)}; give an array (topic, rank)") from error
    is_table = places.ndim == 2 and places.dtype.kind in "iu"
    if not is_table or (places < 0).any() or (places >= n_words).any():
        raise ArgumentError(
            f"tops={shown(tops)}; give the places of words (topic, rank), from 0 to {n_words - 1}"
        )
    return places


def _probabilities(name: str, topics: Any) -> Array:
    try:
        words = np.asarray(topics, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentTypeError(
            f"{name}={shown(topics)}; give probabilities (topic, word)"
        ) from error
    if words.ndim != 2 or not len(words) or not np.isfinite(words).all() or (words < 0).any():
        raise ArgumentError(f"{name}={shown(topics)}; give probabilities (topic, word)")
    return words
