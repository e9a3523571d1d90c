"""Compiled splitting of text into words: bytes in, word numbers out.

Words are what stands between blanks (the six white characters of ASCII), lines end in a newline. Known words
stand one after another in a store of bytes, a newline behind each, and are found through an open-addressing
table of hashes.
"""

from __future__ import annotations

import numpy as np

from tacit.core.loops.compiled import njit

DONE, FULL, MARKER, NUL = 0, 1, 2, 3  # why `encode_words` returned
TAKE, SKIP, STOP = (
    0,
    1,
    2,
)  # what it does at one of the first three words, `<unk>`, `<s>` and `</s>`

# The places of `state`
AT, WORDS, IDS, LINES = 0, 1, 2, 3

# Of the hash: FNV-1a, its upper half folded into the lower
BASIS, PRIME, HALF = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3), np.uint64(29)


@njit(cache=True, nogil=True)
def fill_slots(store, starts, hashes, n_words, slots):
    """Insert all words into an empty table, and write their hashes."""
    mask = np.uint64(len(slots) - 1)
    for word in range(n_words):
        value = BASIS
        for place in range(starts[word], starts[word + 1] - 1):
            value = (value ^ np.uint64(store[place])) * PRIME
        hashes[word] = value
        slot = (value ^ (value >> HALF)) & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = word


@njit(cache=True, nogil=True, inline="always")
def find_slot(slots, hashes, starts, store, text, first, length, code):
    """The slot of the word of some bytes, or a free one.

    Parameters
    ----------
    slots, hashes, starts, store : see `encode_words`
    text : (byte,)
    first, length : int  where the word begins, and its bytes
    code : the hash of these
    """
    mask = np.uint64(len(slots) - 1)
    slot = (code ^ (code >> HALF)) & mask
    word = slots[slot]
    while word >= 0:
        if hashes[word] == code and starts[word + 1] - starts[word] - 1 == length:
            start, same = starts[word], True
            for place in range(length):
                if store[start + place] != text[first + place]:
                    same = False
                    break
            if same:
                break
        slot = (slot + np.uint64(1)) & mask
        word = slots[slot]
    return slot


@njit(cache=True, nogil=True, inline="always")  # a call costs a tenth of the time of reading
def _keep(text, first, length, word, hashes, starts, store):
    """Append the bytes of a new word to the store; False if there is no room."""
    start = starts[word]
    if word == len(hashes) or start + length + 1 > len(store):
        return False
    for place in range(length):
        store[start + place] = text[first + place]
    store[start + length] = 10
    starts[word + 1] = start + length + 1
    return True


@njit(cache=True, nogil=True)
def encode_words(text, state, slots, hashes, starts, store, counts, actions, learn, ids, ends):
    """Write the word numbers of a piece of text.

    Parameters
    ----------
    text : (byte,) uint8
    state : (4,) int64  where to go on, words known, numbers written, lines written; brought up to date
    slots : (slot,) int32  a power of two; the word there, or -1
    hashes : (word,) uint64  as long as words may be added
    starts : (word + 1,) int64  where words begin in the store
    store : (byte,) uint8
    counts : (word,) int64  added to
    actions : (3,)  what to do at each of the first three words
    learn : whether new words are added; otherwise they are word 0
    ids : (word of the text,) int32
    ends : (line,) int64  numbers written before the end of each line

    Returns
    -------
    `DONE` (a word that the piece may cut is left), `FULL` (the table must grow), `MARKER` (a word that must
    not be there) or `NUL` (a byte of no text); the state stands before the word.
    """
    at, n_words, n_ids, n_lines = state[AT], state[WORDS], state[IDS], state[LINES]
    size, mask, why = len(text), np.uint64(len(slots) - 1), DONE
    while at < size:
        byte = text[at]
        if byte == 32 or 9 <= byte <= 13:
            if byte == 10:
                ends[n_lines] = n_ids
                n_lines += 1
            at += 1
            continue
        value, stop = BASIS, at
        while stop < size:
            byte = text[stop]
            if byte <= 32 and (byte == 32 or 9 <= byte <= 13 or byte == 0):
                break
            value = (value ^ np.uint64(byte)) * PRIME
            stop += 1
        if stop == size:
            break
        if byte == 0:
            why = NUL
            break
        # `find_slot`, written out: a seventh of the time of reading
        slot = (value ^ (value >> HALF)) & mask
        length, word = stop - at, slots[slot]
        while word >= 0:
            if hashes[word] == value and starts[word + 1] - starts[word] - 1 == length:
                start, same = starts[word], True
                for place in range(length):
                    if store[start + place] != text[at + place]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + np.uint64(1)) & mask
            word = slots[slot]
        if word < 0 and not learn:
            word = 0
        elif word < 0:
            if not _keep(text, at, length, n_words, hashes, starts, store):
                why = FULL
                break
            word = n_words
            hashes[word], slots[slot], counts[word] = value, word, 0
            n_words += 1
        elif word < 3 and actions[word] != TAKE:
            if actions[word] == STOP:
                why = MARKER
                break
            at = stop
            continue
        counts[word] += 1
        ids[n_ids] = word
        n_ids += 1
        at = stop
    state[AT], state[WORDS], state[IDS], state[LINES] = at, n_words, n_ids, n_lines
    return why
