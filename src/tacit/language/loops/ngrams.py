"""Compiled counting of n-grams of any order, one order after the other.

All places of a text are kept in the order of the n-grams that end there. Going on by one word keeps that
order but for what shares its n-gram, so that only small groups are sorted, most of them of one place. A
place's n-gram is known by the number of the n-gram that it follows and that of the n-gram without its first
word: the numbers stay small at any order.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

FEW = 40  # sorted by insertion

# Results of `check_order`
GOOD, BAD_STARTS, BAD_WORD, BAD_SUFFIX, BAD_COUNT = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)
def place_markers(ids, ends, pads, begin, end, tokens):
    """Write the words of all lines with markers around them."""
    at, low = 0, 0
    for line in range(len(ends)):
        for _ in range(pads):
            tokens[at] = begin
            at += 1
        for word in range(low, ends[line]):
            tokens[at] = ids[word]
            at += 1
        tokens[at] = end
        at += 1
        low = ends[line]


@njit(cache=True, nogil=True)
def sort_places(tokens, sizes, places):
    """Write the count of each word, and all positions sorted by word."""
    for token in tokens:
        sizes[token] += 1
    heads = np.empty(len(sizes), np.int64)
    total = 0
    for word in range(len(sizes)):
        heads[word] = total
        total += sizes[word]
    for place in range(len(tokens)):
        token = tokens[place]
        places[heads[token]] = place
        heads[token] += 1


@njit(cache=True, nogil=True)
def sort_group(keys, n_keys, low, width, room, buckets):
    """Sort packed (number, place) by number; numbers are from `low` to before `low + width`."""
    if n_keys <= FEW:
        for i in range(1, n_keys):
            key = keys[i]
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return
    bits = 1
    while width >> bits:
        bits += 1
    n_passes = 1 if width <= 2 * n_keys else (bits + 7) // 8
    step = (bits + n_passes - 1) // n_passes
    size, at = 1 << step, 32
    for _ in range(n_passes):
        buckets[: size + 1] = 0
        for i in range(n_keys):
            room[i] = keys[i] - (low << 32) if at == 32 else keys[i]
            buckets[((room[i] >> at) & (size - 1)) + 1] += 1
        for i in range(size):
            buckets[i + 1] += buckets[i]
        for i in range(n_keys):
            digit = (room[i] >> at) & (size - 1)
            keys[buckets[digit]] = room[i]
            buckets[digit] += 1
        at += step
    for i in range(n_keys):
        keys[i] += low << 32


@njit(cache=True, nogil=True)
def gather(values, places, shift, out):
    """Write ``values[places + shift]``; a loop of its own, so that memory reads overlap."""
    for i in range(len(places)):
        out[i] = values[places[i] + shift]


@njit(cache=True, nogil=True)
def extend_grams(
    ids, places, followers, sizes, words, suffixes, starts, end, is_last, new, keys, room, buckets
):
    """Count the n-grams of the next order.

    Parameters
    ----------
    ids : (place,)  where the next order's n-gram that ends at each place is written
    places : (place,)  in the order of their n-grams; on return, in that of the next order
    followers : (place,)  the n-gram of this order that ends one place further
    sizes : (gram,)  how many places each n-gram has
    words, suffixes : (gram,)  last words; n-grams without their first word, of the order before
    starts : (context + 1,)  the n-grams of each context
    end : int  a word that nothing follows
    is_last : whether numbers and places of the next order are not needed
    new : suffixes, sizes, starts of the next order, written
    keys, room, buckets : room for the largest group

    Returns
    -------
    How many n-grams and how many places there are.
    """
    new_suffixes, new_sizes, new_starts = new
    n_grams, written, at = 0, 0, 0
    for gram in range(len(sizes)):
        size = sizes[gram]
        new_starts[gram] = n_grams
        if size == 0 or words[gram] == end:
            at += size
            continue
        if size == 1:
            new_suffixes[n_grams], new_sizes[n_grams] = followers[at], 1
            if not is_last:
                places[written] = places[at] + 1
            written += 1
            at += 1
            n_grams += 1
            continue
        for i in range(size):
            keys[i] = (np.int64(followers[at + i]) << 32) | (places[at + i] + 1)
        low = starts[suffixes[gram]]
        width = starts[suffixes[gram] + 1] - low
        if width > 1:
            sort_group(keys, size, low, width, room, buckets)
        at += size
        last = np.int64(-1)
        for i in range(size):
            suffix = keys[i] >> 32
            if suffix != last:
                new_suffixes[n_grams], new_sizes[n_grams] = suffix, 0
                n_grams += 1
                last = suffix
            new_sizes[n_grams - 1] += 1
            if not is_last:
                places[written] = keys[i] & 0xFFFFFFFF
            written += 1
    new_starts[len(sizes)] = n_grams
    if not is_last:
        at = 0
        for gram in range(n_grams):
            for i in range(at, at + new_sizes[gram]):
                ids[places[i]] = gram
            at += new_sizes[gram]
    return n_grams, written


@njit(cache=True, nogil=True)
def count_extensions(suffixes, counts, out):
    """Add to each n-gram the number of n-grams that extend it by a word in front."""
    for gram in range(len(suffixes)):
        if counts[gram] > 0:
            out[suffixes[gram]] += 1


@njit(cache=True, nogil=True)
def merge_order(contexts_a, contexts_b, a, b, map_a, map_b, new, new_map_a, new_map_b):
    """Join the n-grams of two tables.

    Parameters
    ----------
    contexts_a, contexts_b : (context,)  the number in each table of every joint context, -1 where it has none
    a, b : words, suffixes, counts, starts of either table
    map_a, map_b : (gram of the order before,)  joint numbers
    new : words, suffixes, counts, starts, written
    new_map_a, new_map_b : (gram,)  joint numbers, written

    Returns
    -------
    How many joint n-grams there are.
    """
    words_a, suffixes_a, counts_a, starts_a = a
    words_b, suffixes_b, counts_b, starts_b = b
    words, suffixes, counts, starts = new
    n = 0
    for context in range(len(contexts_a)):
        starts[context] = n
        one, two = contexts_a[context], contexts_b[context]
        i, i_end, j, j_end = 0, 0, 0, 0
        if one >= 0:
            i, i_end = starts_a[one], starts_a[one + 1]
        if two >= 0:
            j, j_end = starts_b[two], starts_b[two + 1]
        while i < i_end or j < j_end:
            from_a = i < i_end and (j == j_end or words_a[i] <= words_b[j])
            from_b = j < j_end and (i == i_end or words_b[j] <= words_a[i])
            counts[n] = 0
            if from_a:
                words[n], suffixes[n] = words_a[i], map_a[suffixes_a[i]]
                counts[n] += counts_a[i]
                new_map_a[i] = n
                i += 1
            if from_b:
                words[n], suffixes[n] = words_b[j], map_b[suffixes_b[j]]
                counts[n] += counts_b[j]
                new_map_b[j] = n
                j += 1
            n += 1
    starts[len(contexts_a)] = n
    return n


@njit(cache=True, nogil=True)
def check_order(table, below, n_words, begin, end, n_lines):
    """Whether the n-grams of an order are consistent with those of the order below.

    Words ascend within their context; an n-gram without its first word is one of the order below; counts are
    those of the context in sum, but for the markers in front of lines, which are not counted and follow only
    each other.

    Parameters
    ----------
    table, below : words, suffixes, counts and starts of both orders
    n_words : int  of the vocabulary
    begin, end : int  the markers of lines
    n_lines : int

    Returns
    -------
    `GOOD`, or what is wrong first.
    """
    words, suffixes, counts, starts = table
    low_words, low_suffixes, low_counts, low_starts = below
    if starts[0] != 0 or starts[-1] != len(words):
        return BAD_STARTS
    for context in range(len(low_words)):
        low, high = starts[context], starts[context + 1]
        if high < low or high > len(words) or (low_words[context] == end and high > low):
            return BAD_STARTS
        last, total = -1, 0
        most = n_lines if low_words[context] == begin else low_counts[context]
        first = low_starts[low_suffixes[context]]
        stop = low_starts[low_suffixes[context] + 1]
        for gram in range(low, high):
            word, suffix, count = words[gram], suffixes[gram], counts[gram]
            if word <= last or word >= n_words:
                return BAD_WORD
            if suffix < first or suffix >= stop or low_words[suffix] != word:
                return BAD_SUFFIX
            if word == begin and (low_words[context] != begin or count != 0):
                return BAD_WORD
            if count < 0 or count > most - total:
                return BAD_COUNT
            last, total = word, total + count
        if total != most and low_words[context] != end:
            return BAD_COUNT
    return GOOD
