"""Compiled loops of topic models: topics of documents, expected counts of words.

Counts are compressed rows (`starts`, `ids`, `counts`); the topics of a word are contiguous, so that the
innermost loops run along topics.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core.loops.compiled import njit

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}
_TINY = np.float32(1e-30)


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def update_documents(
    starts, ids, counts, words, alpha, n_steps, first, stop, topic_counts, used, ratios
):
    """Update the expected topic counts of documents; the log-likelihood without constants.

    The responsibility of a topic for a word is proportional to (words of the topic in the document + alpha)
    times the probability of the word.

    Parameters
    ----------
    starts : (document + 1,)
    ids : (entry,)
    counts : (entry,) float32
    words : (word, topic) float32
    alpha : (topic,) float32
    n_steps : int
    first, stop : int  the documents to do
    topic_counts : (document, topic) float32  words of each topic; updated in place
    used : (document, topic) float32  topic_counts + alpha of the last step
    ratios : (entry,) float32  counts over probabilities (up to the document's total) of the last step

    Returns
    -------
    Sum of counts times logarithms of probabilities of the last step, each up to its document's total.
    """
    n_topics = words.shape[1]
    got = np.empty(n_topics, np.float32)
    log_likelihood = 0.0
    for d in range(first, stop):
        have = used[d]
        for step in range(n_steps):
            last = step == n_steps - 1
            for k in range(n_topics):
                have[k] = topic_counts[d, k] + alpha[k]
                got[k] = 0
            for e in range(starts[d], starts[d + 1]):
                word = words[ids[e]]
                total = _TINY
                for k in range(n_topics):
                    total += have[k] * word[k]
                ratio = counts[e] / total
                for k in range(n_topics):
                    got[k] += ratio * word[k]
                if last:
                    ratios[e] = ratio
                    log_likelihood += counts[e] * math.log(total)
            for k in range(n_topics):
                topic_counts[d, k] = have[k] * got[k]
    return log_likelihood


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def count_words(starts, documents, entries, used, ratios, words, first, stop, sums):
    """Expected counts of words in topics, summed over documents.

    Parameters
    ----------
    starts : (word + 1,)
    documents, entries : (entry,)  where each word occurs, and the place of that in `ratios`
    used, ratios : see `update_documents`
    words : (word, topic) float32
    first, stop : int  the words to do
    sums : (word, topic) float32  written over
    """
    n_topics = words.shape[1]
    for w in range(first, stop):
        total = sums[w]
        for k in range(n_topics):
            total[k] = 0
        for e in range(starts[w], starts[w + 1]):
            ratio, have = ratios[entries[e]], used[documents[e]]
            for k in range(n_topics):
                total[k] += ratio * have[k]
        for k in range(n_topics):
            total[k] *= words[w, k]


@njit(cache=True, nogil=True, inline="always")
def _digamma(x):
    """The derivative of the log-gamma function, of a positive number."""
    lower = 0.0
    while x < 6.0:
        lower += 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f * (1 / 132)))))
    return math.log(x) - 0.5 / x - series - lower


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def infer_documents(starts, ids, counts, words, alpha, n_steps, tolerance, first, stop, gamma):
    """Dirichlet parameters of each document's topics: variational Bayes with the topics as they are.

    Blei, Ng and Jordan (2003), equations 6 and 7.

    Parameters
    ----------
    starts, ids, counts : see `update_documents`
    words : (word, topic)
    alpha : (topic,)
    n_steps : int  at most
    tolerance : float  mean change of a parameter with which it is over
    first, stop : int  the documents to do
    gamma : (document, topic)  written over
    """
    n_topics = words.shape[1]
    weights, got = np.empty(n_topics), np.empty(n_topics)
    for d in range(first, stop):
        length = 0.0
        for e in range(starts[d], starts[d + 1]):
            length += counts[e]
        for k in range(n_topics):
            gamma[d, k] = alpha[k] + length / n_topics
        for _ in range(n_steps if length > 0 else 0):
            for k in range(n_topics):
                weights[k] = math.exp(_digamma(gamma[d, k]))
                got[k] = 0.0
            for e in range(starts[d], starts[d + 1]):
                word, total = words[ids[e]], 1e-300
                for k in range(n_topics):
                    total += weights[k] * word[k]
                ratio = counts[e] / total
                for k in range(n_topics):
                    got[k] += ratio * word[k]
            change = 0.0
            for k in range(n_topics):
                value = alpha[k] + weights[k] * got[k]
                change += abs(value - gamma[d, k])
                gamma[d, k] = value
            if change < tolerance * n_topics:
                break


@njit(cache=True, nogil=True)
def score_words(starts, ids, counts, words, mixtures, scores):
    """Log-probability of the words of each document, given its topic weights.

    Parameters
    ----------
    starts, ids, counts : see `update_documents`
    words : (word, topic)
    mixtures : (document, topic)
    scores : (document,)  written
    """
    for d in range(len(scores)):
        log_likelihood = 0.0
        for e in range(starts[d], starts[d + 1]):
            total = 0.0
            for k in range(words.shape[1]):
                total += mixtures[d, k] * words[ids[e], k]
            log_likelihood += counts[e] * math.log(total)
        scores[d] = log_likelihood


@njit(cache=True, nogil=True)
def dirichlet_slopes(topic_counts, lengths, alpha, tops):
    """Sums over documents of digamma differences, for Minka's fixed point of a Dirichlet's parameters.

    Parameters
    ----------
    topic_counts : (document, topic)  words of each topic
    lengths : (document,)
    alpha : (topic,)
    tops : (topic,)  digamma(topic_counts + alpha) - digamma(alpha), added up here

    Returns
    -------
    The same sum of the lengths and the sum of alpha.
    """
    total = alpha.sum()
    bottom = 0.0
    for d in range(len(lengths)):
        bottom += _digamma(lengths[d] + total) - _digamma(total)
    for k in range(len(alpha)):
        least = _digamma(alpha[k])
        for d in range(len(lengths)):
            tops[k] += _digamma(topic_counts[d, k] + alpha[k]) - least
    return bottom
