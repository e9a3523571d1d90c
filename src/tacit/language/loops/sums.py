"""Compiled sums of the probabilities of all words after each context of n-gram models.

Models and factors come as the tuples of `loops.backoff` and `loops.ensemble`. All indices must be valid.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.language.loops.backoff import find_gram
from tacit.language.loops.ensemble import low_rank_prob


@njit(cache=True, nogil=True, inline="always")
def _sums_after(model, context):
    """The sum of the probabilities of the words seen after a context, and of these after the shorter one."""
    words, suffixes, firsts, probs, _, _ = model
    shorter = np.int64(suffixes[context])
    low = firsts[shorter] if shorter >= 0 else np.int64(0)
    high = firsts[shorter + 1] if shorter >= 0 else np.int64(0)
    seen, lower = 0.0, 0.0
    for gram in range(firsts[context], firsts[context + 1]):
        seen += probs[gram]
        ending = np.int64(suffixes[gram])
        if shorter < 0:
            lower += probs[words[gram]]
        elif low <= ending < high and words[ending] == words[gram]:
            lower += probs[ending]
        else:  # as in pruned models
            found, weight = find_gram(model, shorter, words[gram])
            lower += weight * probs[found]
    return seen, lower


@njit(cache=True, nogil=True)
def sum_backoff(model, n_words, sums):
    """Write the sum of the probabilities of all words after each context, and return that of unigrams."""
    _, suffixes, _, probs, backoffs, _ = model
    whole = 0.0
    for word in range(n_words):
        whole += probs[word]
    for context in range(len(sums)):
        seen, lower = _sums_after(model, context)
        shorter = np.int64(suffixes[context])
        below = whole if shorter < 0 else sums[shorter]
        sums[context] = seen + backoffs[context] * (below - lower)
    return whole


@njit(cache=True, nogil=True)
def sum_ensemble(model, factors, n_words, by_suffix, sums):
    """Write the same of an ensemble; NaN where an n-gram without its first word is not the right one.

    Parameters
    ----------
    by_suffix : (context,)  the contexts, sorted by the ones without their first words
    """
    words, suffixes, firsts, probs, backoffs, _ = model
    rows, columns, left, right = factors
    whole = 0.0
    for word in range(n_words):
        whole += probs[word]
    widest = 0
    for context in range(len(sums)):
        widest = max(widest, rows[context]["rank"])
    column, rest = np.zeros(widest), 0.0  # summed over the words that follow the shorter context
    summed, low, high, below = np.int64(-2), np.int64(0), np.int64(0), 0.0
    for context in by_suffix:
        shorter, rank = np.int64(suffixes[context]), rows[context]["rank"]
        if shorter != summed:
            summed, column[:], rest = shorter, 0.0, 0.0
            below = whole if shorter < 0 else sums[shorter]
            low = firsts[shorter] if shorter >= 0 else np.int64(0)
            high = firsts[shorter + 1] if shorter >= 0 else np.int64(n_words)
            for gram in range(low, high):
                at = columns[gram]["at"]
                if at >= 0:
                    rest += columns[gram]["rest"]
                    for q in range(rank):
                        column[q] += right[at + q]
        total = backoffs[context] * below
        at = rows[context]["at"]
        if at >= 0:
            inner = rows[context]["rest"] * rest
            for q in range(rank):
                inner += left[at + q] * column[q]
            total += rows[context]["scale"] * inner
        for gram in range(firsts[context], firsts[context + 1]):
            ending = np.int64(suffixes[gram])
            if ending < low or ending >= high or words[ending] != words[gram]:
                total = np.nan
                break
            total += probs[gram] - backoffs[context] * probs[ending]
            total -= low_rank_prob(factors, context, ending)
        sums[context] = total
    return whole


@njit(cache=True, nogil=True)
def normalize_backoff(model, n_words, tolerance):
    """Change back-off weights, or else probabilities, so that those after each context sum to one.

    Contexts whose sums differ from one by no more than `tolerance` stay as they are. Returns how many did
    not, or -1 where there is nothing that could sum to one.
    """
    _, suffixes, firsts, probs, backoffs, _ = model
    sums = np.empty(len(backoffs))
    whole, n_changed = probs[:n_words].sum(), 0
    if abs(whole - 1) > tolerance:
        if whole <= 0:
            return -1
        probs[:n_words] /= whole
        whole, n_changed = 1.0, 1
    for context in range(len(backoffs)):
        low, high = firsts[context], firsts[context + 1]
        seen, lower = _sums_after(model, context)
        shorter = np.int64(suffixes[context])
        below = whole if shorter < 0 else sums[shorter]
        sums[context] = seen + backoffs[context] * (below - lower)
        if abs(sums[context] - 1) <= tolerance:
            continue
        n_changed += 1
        sums[context] = 1.0
        if seen < 1 and below - lower > 1e-9:
            backoffs[context] = (1 - seen) / (below - lower)
        elif seen > 0:
            probs[low:high] /= seen
            backoffs[context] = 0.0
        else:
            return -1
    return n_changed
