"""Compiled look-ups in power low rank ensembles: n-gram models with low rank factors for words not seen.

The n-grams come as the tuple of `loops.backoff`, with what they say of words seen after a context. Any
other word gets, besides the context's weight times its probability one order below, a product of factors: of
a row for the context, and of a column for the n-gram without its first word, if that was seen. So at most one
product is needed for a word. Factors come as a tuple (rows, columns, left, right): see
`tacit.language.model.ensemble`.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.language.loops.backoff import find_word

_LOOSE = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_LOOSE)
def _product(left, right, row, column, rank):
    """The product of two rows of single precision, summed in double precision."""
    total = 0.0
    for q in range(rank):
        total += np.float64(left[row + q]) * np.float64(right[column + q])
    return total


@njit(cache=True, nogil=True)
def low_rank_prob(factors, context, gram):
    """The contribution of factors to the probability of a word after a context."""
    rows, columns, left, right = factors
    row, column = rows[context], columns[gram]
    if row["at"] < 0 or column["at"] < 0:
        return 0.0
    inner = _product(left, right, row["at"], column["at"], row["rank"])
    return row["scale"] * (inner + row["rest"] * column["rest"])


@njit(cache=True, nogil=True, inline="always")
def _find(model, state, word):
    """The longest n-gram that ends in a word after a state, the context one word longer, and its weight.

    The context is the one whose factors are used, -1 for none; its weight is without its own back-off weight.
    """
    words, suffixes, firsts, _, backoffs, _ = model
    weight, above = 1.0, np.int64(-1)
    while state >= 0:
        place = find_word(words, firsts[state], firsts[state + 1], word)
        if place >= 0:
            return np.int64(place), above, weight
        if above >= 0:
            weight *= backoffs[above]
        above = state
        state = np.int64(suffixes[state])
    return np.int64(word), above, weight


@njit(cache=True, nogil=True, inline="always")
def _prob(model, factors, gram, above, weight):
    """The probability of the result of `_find`."""
    prob = model[3][gram]
    if above < 0:
        return prob
    return weight * (model[4][above] * prob + low_rank_prob(factors, above, gram))


@njit(cache=True, nogil=True)
def find_prob(model, factors, state, word):
    """The probability of a word after a state, and its longest n-gram."""
    gram, above, weight = _find(model, state, word)
    return _prob(model, factors, gram, above, weight), gram


@njit(cache=True, nogil=True)
def score_lines(model, factors, ids, ends, states, end, probs, grams):
    """Write the probability of every word of some lines, and of the end of each; see `loops.backoff`.

    N-grams are found first, one after another, since each state depends on the one before. Products do not:
    apart from that, many of them wait for memory at the same time.
    """
    suffixes, highest = model[1], model[5]
    above = np.empty(len(probs), np.int64)
    at, low = 0, 0
    for line in range(len(ends)):
        state = states[line]
        for place in range(low, ends[line]):
            gram, above[at], probs[at] = _find(model, state, ids[place])
            grams[at] = gram
            at += 1
            state = np.int64(suffixes[gram]) if gram >= highest else gram
        states[line] = state
        if end >= 0:
            grams[at], above[at], probs[at] = _find(model, state, end)
            at += 1
        low = ends[line]
    for at in range(len(probs)):
        probs[at] = _prob(model, factors, grams[at], above[at], probs[at])


@njit(cache=True, nogil=True)
def score_next(model, factors, state, out):
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
        if factors[0][context]["at"] >= 0:
            # The n-grams that may follow without the first word: all words below order two.
            shorter = np.int64(suffixes[context])
            low = firsts[shorter] if shorter >= 0 else 0
            high = firsts[shorter + 1] if shorter >= 0 else len(out)
            for gram in range(low, high):
                out[words[gram]] += low_rank_prob(factors, context, gram)
        for gram in range(firsts[context], firsts[context + 1]):
            out[words[gram]] = probs[gram]


@njit(cache=True, nogil=True)
def place_words(model, offsets, ids, ends, first, end, contexts, grams):
    """Write the contexts and n-grams of all orders at every word of some lines; -1 for none.

    Parameters
    ----------
    model : see `loops.backoff`; probabilities and weights are not used
    offsets : (order + 1,)
    first : the state where lines begin
    contexts : (order, word and end)  filled: the n-grams before it; one word less than the order
    grams : (order, word and end)  filled
    """
    words, suffixes, firsts, _, _, highest = model
    at, low = 0, 0
    contexts[:], grams[:] = -1, -1
    for line in range(len(ends)):
        state = first
        for place in range(low, ends[line] + (1 if end >= 0 else 0)):
            word = ids[place] if place < ends[line] else end
            longest = np.int64(word)
            has_longest = False
            before = state
            while before >= 0:
                order = 0
                while offsets[order + 1] <= before:
                    order += 1
                contexts[order + 1, at] = before
                if not has_longest:
                    gram = find_word(words, firsts[before], firsts[before + 1], word)
                    if gram >= 0:
                        longest, has_longest = np.int64(gram), True
                before = np.int64(suffixes[before])
            state = np.int64(suffixes[longest]) if longest >= highest else longest
            while longest >= 0:
                order = 0
                while offsets[order + 1] <= longest:
                    order += 1
                grams[order, at] = longest
                longest = np.int64(suffixes[longest])
            at += 1
        low = ends[line]


@njit(cache=True, nogil=True)
def sum_by(keys, values, out):
    """Sum values by key."""
    for place in range(len(keys)):
        out[keys[place]] += values[place]
