"""Compiled writing and reading of the lines of ARPA files."""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit
from tacit.language.loops.backoff import find_gram, find_word
from tacit.language.loops.tokens import BASIS, PRIME, find_slot

# Why `parse_grams` stopped early
GOOD, BAD_NUMBER, FEW_WORDS, UNKNOWN_WORD, MORE_THERE, TOO_HIGH = 0, 1, 2, 3, 4, 5

MAX_WEIGHT = 99.0  # logarithm to base 10
_DIGITS = 10_000_000  # seven decimals


@njit(cache=True, nogil=True)
def put_number(out, at, value):
    """Write a number with seven decimals; returns its end."""
    scaled = np.int64(np.rint(abs(value) * _DIGITS))
    if value < 0 and scaled > 0:
        out[at] = 45
        at += 1
    front, behind = scaled // _DIGITS, scaled % _DIGITS
    size, scale = 1, np.int64(10)
    while front >= scale:
        scale *= 10
        size += 1
    for place in range(size - 1, -1, -1):
        out[at + place] = 48 + front % 10
        front //= 10
    at += size
    out[at] = 46
    for place in range(7, 0, -1):
        out[at + place] = 48 + behind % 10
        behind //= 10
    return at + 8


@njit(cache=True, nogil=True)
def put_grams(model, order, first, last, cursors, store, starts, line_room, out):
    """Write the lines of some n-grams of an order; returns the next n-gram, and the bytes written.

    Parameters
    ----------
    model : see `tacit.language.loops.backoff`
    first, last : int  n-grams, the last one excluded
    cursors : (order,)  a context at or before that of the n-gram, for each length; moved on
    store, starts : the vocabulary
    line_room : int  bytes that no line exceeds
    out : (byte,)
    """
    words, _, firsts, probs, backoffs, highest = model
    path = np.empty(order, np.int64)
    at, gram = 0, first
    while gram < last and at + line_room <= len(out):
        value = np.log10(probs[gram]) if probs[gram] > 0 else -99.0
        at = put_number(out, at, value)
        node = gram
        for level in range(order - 1, -1, -1):
            path[level] = words[node]
            if level > 0:
                context = cursors[level]
                while firsts[context + 1] <= node:
                    context += 1
                cursors[level] = context
                node = context
        out[at] = 9
        for level in range(order):
            word = path[level]
            at += 1
            for place in range(starts[word], starts[word + 1] - 1):
                out[at] = store[place]
                at += 1
            out[at] = 32
        if gram < highest:
            out[at] = 9
            weight = backoffs[gram]
            at = put_number(out, at + 1, np.log10(weight) if weight > 0 else -99.0)
        out[at] = 10
        at += 1
        gram += 1
    return gram, at


@njit(cache=True, nogil=True)
def read_number(text, at):
    """The number at a position, its end, and whether it is a number."""
    size, sign = len(text), 1.0
    if at < size and (text[at] == 45 or text[at] == 43):
        sign = -1.0 if text[at] == 45 else 1.0
        at += 1
    if at + 2 < size and (text[at] | 32) == 105:  # inf
        named = (text[at + 1] | 32) == 110 and (text[at + 2] | 32) == 102
        at += 3
        return sign * np.inf, at, named and (at == size or text[at] <= 32)
    value, scale, digits = 0.0, 0, 0
    while at < size and 48 <= text[at] <= 57:
        value = value * 10 + (text[at] - 48)
        at += 1
        digits += 1
    if at < size and text[at] == 46:
        at += 1
        while at < size and 48 <= text[at] <= 57:
            value = value * 10 + (text[at] - 48)
            at += 1
            digits += 1
            scale -= 1
    if digits > 0 and at < size and (text[at] | 32) == 101:
        at += 1
        minus = at < size and text[at] == 45
        if at < size and (text[at] == 45 or text[at] == 43):
            at += 1
        power = 0
        if at == size or not 48 <= text[at] <= 57:
            return 0.0, at, False
        while at < size and 48 <= text[at] <= 57:
            power = power * 10 + (text[at] - 48)
            at += 1
        scale += -power if minus else power
    good = digits > 0 and (at == size or text[at] <= 32)
    if scale < -300 or scale > 300:
        return sign * (0.0 if scale < 0 else np.inf), at, good
    return sign * value * 10.0**scale if scale >= 0 else sign * value / 10.0 ** (-scale), at, good


@njit(cache=True, nogil=True)
def parse_grams(text, at, n_grams, table, ids, probs, weights):
    """Read the lines of the n-grams of an order.

    Parameters
    ----------
    text : (byte,)
    at : int  where the first line begins
    table : slots, hashes, starts and store of the words, see `tacit.language.loops.tokens`
    ids : (gram, word)  written
    probs, weights : (gram,)  written; logarithms to base 10

    Returns
    -------
    How many n-grams were read, where the last line that was begun begins, and why no more were.
    """
    slots, hashes, starts, store = table
    size, order = len(text), ids.shape[1]
    gram = 0
    while gram < n_grams:
        line = at
        while at < size and (text[at] == 32 or text[at] == 9 or text[at] == 13):
            at += 1
        if (
            at == size or text[at] == 10 or text[at] == 92
        ):  # a section ends: blank line or backslash
            if at < size and text[at] == 10:
                at += 1
                continue
            return gram, line, FEW_WORDS
        value, at, good = read_number(text, at)
        if not good:
            return gram, line, BAD_NUMBER
        if value > 1e-6:
            return gram, line, TOO_HIGH
        for position in range(order):
            while at < size and (text[at] == 32 or text[at] == 9 or text[at] == 13):
                at += 1
            code, first = BASIS, at
            while at < size and not (text[at] == 32 or 9 <= text[at] <= 13):
                code = (code ^ np.uint64(text[at])) * PRIME
                at += 1
            if at == first:
                return gram, line, FEW_WORDS
            word = slots[find_slot(slots, hashes, starts, store, text, first, at - first, code)]
            if word < 0:
                return gram, line, UNKNOWN_WORD
            ids[gram, position] = word
        probs[gram], weights[gram] = value, 0.0
        while at < size and (text[at] == 32 or text[at] == 9 or text[at] == 13):
            at += 1
        if at < size and text[at] != 10:
            value, at, good = read_number(text, at)
            if not good:
                return gram, line, BAD_NUMBER
            if value > MAX_WEIGHT:
                return gram, line, TOO_HIGH
            weights[gram] = value
            while at < size and (text[at] == 32 or text[at] == 9 or text[at] == 13):
                at += 1
            if at < size and text[at] != 10:
                return gram, line, MORE_THERE
        at = min(at + 1, size)  # the last line may have no end
        gram += 1
    return gram, at, GOOD


@njit(cache=True, nogil=True)
def find_contexts(words, firsts, ids, out):
    """Write the n-gram of all words but the last, -1 if there is none."""
    for gram in range(len(ids)):
        node = np.int64(ids[gram, 0])
        for position in range(1, ids.shape[1] - 1):
            if node >= 0:
                node = find_word(words, firsts[node], firsts[node + 1], ids[gram, position])
        out[gram] = node


@njit(cache=True, nogil=True)
def find_suffixes(model, contexts, last_words, out):
    """Write the longest proper suffix of each n-gram that is an n-gram."""
    suffixes = model[1]
    for gram in range(len(contexts)):
        place, _ = find_gram(model, np.int64(suffixes[contexts[gram]]), last_words[gram])
        out[gram] = place
