"""Compiled look-ups in n-gram models with back-off weights.

A model comes as one tuple (words, suffixes, firsts, probs, backoffs, highest): see `model.backoff`;
`highest` is the number of the first n-gram of the highest order. A state is the longest known n-gram of the
words so far that has a word to come, -1 for none.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.language.loops.tokens import BASIS, PRIME, find_slot


@njit(cache=True, nogil=True, inline="always")
def find_word(words, low, high, word):
    """The position of a word among sorted ones in [low, high), or -1."""
    size = high - low
    while size > 4:  # without a branch that cannot be predicted
        half = size >> 1
        low += half * (words[low + half] <= word)
        size -= half
    for place in range(low, low + size):
        if words[place] == word:
            return place
    return -1


@njit(cache=True, nogil=True)
def find_gram(model, state, word):
    """The longest n-gram that ends in a word after a state, and the weight of its probability."""
    words, suffixes, firsts, _, backoffs, _ = model
    weight = 1.0
    while state >= 0:
        gram = find_word(words, firsts[state], firsts[state + 1], word)
        if gram >= 0:
            return gram, weight
        weight *= backoffs[state]
        state = np.int64(suffixes[state])
    return np.int64(word), weight


@njit(cache=True, nogil=True)
def score_lines(model, ids, ends, states, end, probs, grams):
    """Write the probability of every word of some lines, and of the end of each.

    Parameters
    ----------
    ids : (word,)
    ends : (line,)
    states : (line,)  where lines begin; on return where they end, before the end marker
    end : int  the marker behind lines, or -1 for none
    probs, grams : (word and end,)  written: probabilities, and the n-grams that answered
    """
    suffixes, highest = model[1], model[5]
    at, low = 0, 0
    for line in range(len(ends)):
        state = states[line]
        for place in range(low, ends[line]):
            gram, weight = find_gram(model, state, ids[place])
            probs[at] = weight * model[3][gram]
            grams[at] = gram
            at += 1
            state = np.int64(suffixes[gram]) if gram >= highest else gram
        states[line] = state
        if end >= 0:
            gram, weight = find_gram(model, state, end)
            probs[at] = weight * model[3][gram]
            grams[at] = gram
            at += 1
        low = ends[line]


@njit(cache=True, nogil=True)
def score_text(model, table, text, state, end):
    """The natural log-probability of a line of text.

    Parameters
    ----------
    table : slots, hashes, starts and store of the words, see `tacit.language.loops.tokens`
    text : (byte,)  blanks between words
    state, end : see `score_lines`
    """
    slots, hashes, starts, store = table
    suffixes, probs, highest = model[1], model[3], model[5]
    size = len(text)
    total, product, at = 0.0, 1.0, 0
    while at < size:
        if text[at] == 32 or 9 <= text[at] <= 13:
            at += 1
            continue
        code, first = BASIS, at
        while at < size and not (text[at] == 32 or 9 <= text[at] <= 13):
            code = (code ^ np.uint64(text[at])) * PRIME
            at += 1
        word = slots[find_slot(slots, hashes, starts, store, text, first, at - first, code)]
        gram, weight = find_gram(model, state, max(word, 0))
        product *= weight * probs[gram]
        if product < 1e-200:
            total += np.log(product)
            product = 1.0
        state = np.int64(suffixes[gram]) if gram >= highest else gram
    if end >= 0:
        gram, weight = find_gram(model, state, end)
        product *= weight * probs[gram]
    return total + np.log(product)


@njit(cache=True, nogil=True)
def score_next(model, state, out):
    """Write the probabilities of all words after a state."""
    words, suffixes, firsts, probs, backoffs, _ = model
    chain = np.empty(64, np.int64)
    length = 0
    while state >= 0:
        chain[length] = state
        length += 1
        state = np.int64(suffixes[state])
    out[:] = probs[: len(out)]
    for place in range(length - 1, -1, -1):
        context = chain[place]
        out *= backoffs[context]
        for gram in range(firsts[context], firsts[context + 1]):
            out[words[gram]] = probs[gram]
