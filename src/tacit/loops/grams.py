"""Compiled counting of n-grams of any order, one order after the other.

All places of a text are kept in the order of the n-grams that end there. Going on by one word keeps that
order but for what shares its n-gram, so that only small groups are sorted, most of them of one place. A
place's n-gram is known by the number of the n-gram that it follows and that of the n-gram without its first
word: the numbers stay small whatever the order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FEW = 24  # places that are sorted by putting each where it belongs


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
    """Write how often each word occurs, and all places in the order of their words."""
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
def sort_group(keys, found, low, width, room, buckets):
    """Sort packed (number, place) by number; numbers are from `low` to before `low + width`."""
    if found <= FEW:
        for i in range(1, found):
            key = keys[i]
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
    elif width <= 4 * found:
        buckets[: width + 1] = 0
        for i in range(found):
            buckets[(keys[i] >> 32) - low + 1] += 1
            room[i] = keys[i]
        for i in range(width):
            buckets[i + 1] += buckets[i]
        for i in range(found):
            number = (room[i] >> 32) - low
            keys[buckets[number]] = room[i]
            buckets[number] += 1
    else:
        keys[:found].sort()


@njit(cache=True, nogil=True)
def extend_grams(
    ids,
    places,
    sizes,
    words,
    suffixes,
    starts,
    end,
    begin,
    is_last,
    new_places,
    new,
    keys,
    room,
    buckets,
):
    """Count the n-grams of the next order.

    Parameters
    ----------
    ids : (place,)  the n-gram that ends at each place, in this order; on return those of the next
    places : (place,)  in the order of their n-grams
    sizes : (gram,)  how many places each n-gram has
    words, suffixes : (gram,)  last words; n-grams without their first word, of the order before
    starts : (context + 1,)  the n-grams of each context
    end, begin : int  words that nothing follows, and that are not counted
    is_last : whether numbers and places of the next order are not needed
    new_places : (place,)  written
    new : words, suffixes, counts, sizes, starts of the next order, written
    keys, room, buckets : room for the largest group

    Returns
    -------
    How many n-grams and how many places there are.
    """
    new_words, new_suffixes, new_counts, new_sizes, new_starts = new
    n_grams, written, at = 0, 0, 0
    for gram in range(len(sizes)):
        size = sizes[gram]
        new_starts[gram] = n_grams
        if words[gram] == end or size == 0:
            at += size
            continue
        if size == 1:
            keys[0] = (np.int64(ids[places[at] + 1]) << 32) | (places[at] + 1)
        else:
            for i in range(size):
                place = places[at + i] + 1
                keys[i] = (np.int64(ids[place]) << 32) | place
            low = starts[suffixes[gram]]
            sort_group(keys, size, low, starts[suffixes[gram] + 1] - low, room, buckets)
        at += size
        last = np.int64(-1)
        for i in range(size):
            suffix = keys[i] >> 32
            if suffix != last:
                word = words[suffix]
                new_words[n_grams], new_suffixes[n_grams] = word, suffix
                new_sizes[n_grams], new_counts[n_grams] = 0, 0
                n_grams += 1
                last = suffix
            new_sizes[n_grams - 1] += 1
            if not is_last:
                place = keys[i] & 0xFFFFFFFF
                ids[place] = n_grams - 1
                new_places[written] = place
                written += 1
    new_starts[len(sizes)] = n_grams
    for gram in range(n_grams):
        new_counts[gram] = 0 if new_words[gram] == begin else new_sizes[gram]
    return n_grams, written


@njit(cache=True, nogil=True)
def count_extensions(suffixes, counts, out):
    """Add to each n-gram the number of counted n-grams that are it with a word in front."""
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
