"""Compiled reading of word counts: bytes of UCI and LDA-C files in, entries of documents out.

Both loops read whole lines and stop before a line that the piece of text may cut.
"""

from __future__ import annotations

from tacit.core.loops.compiled import njit

# Why a loop came back
DONE, LETTER, FIELDS, NEGATIVE, HUGE, WORD, DOCUMENT, ORDER, TOTAL = range(9)

# The places of `state`
AT, NEXT, ENTRIES, ENDS, SORTED, ZEROS = 0, 1, 2, 3, 4, 5

_NEWLINE, _MINUS, _COLON, _ZERO, _NINE = 10, 45, 58, 48, 57
_LARGEST = 2**31 - 1


@njit(cache=True, nogil=True, inline="always")
def _number(text, at):
    """The whole number that begins at a place (-1 where none does), and where it ends."""
    value, first = 0, at
    while at < len(text) and _ZERO <= text[at] <= _NINE and value <= _LARGEST:
        value = 10 * value + (text[at] - _ZERO)
        at += 1
    return (value if at > first else -1), at


@njit(cache=True, nogil=True, inline="always")
def _after_blanks(text, at):
    """The first place that is neither a blank, a tab nor a carriage return."""
    while at < len(text) and (text[at] == 32 or text[at] == 9 or text[at] == 13):
        at += 1
    return at


@njit(cache=True, nogil=True, inline="always")
def _fault(text, at, value):
    """What is wrong with a number that ends at a place."""
    if value > _LARGEST:
        return HUGE
    if at < len(text) and text[at] == _MINUS:
        return NEGATIVE
    if value < 0 and at < len(text) and text[at] == _NEWLINE:
        return FIELDS
    return LETTER


@njit(cache=True, nogil=True)
def read_triples(text, last, n_documents, n_words, state, ids, counts, ends):
    """The documents of lines "document word count", numbered from one, documents in order.

    Parameters
    ----------
    text : (byte,) uint8
    last : whether the file ends here; otherwise the last document may go on in the next piece
    n_documents, n_words : int  the largest numbers allowed
    state : (6,) int64
        Where to go on, documents ended in this and earlier pieces, entries written, ends written, whether
        words of documents are in order, entries left out because they are zero; brought up to date. With an
        error, where the wrong line begins.
    ids, counts : (entry,) int32
    ends : (document,) int64  entries written before the end of each

    Returns
    -------
    `DONE`, or what is wrong.
    """
    at, entries, n_ends, ordered = state[AT], state[ENTRIES], state[ENDS], state[SORTED]
    document = state[NEXT]  # those before it are at an end
    zeros, kept_zeros = state[ZEROS], state[ZEROS]
    kept_at, kept_entries, before = at, entries, -1
    why = DONE
    while True:
        line = at
        at = _after_blanks(text, at)
        if at == len(text):
            break
        if text[at] == _NEWLINE:
            at += 1
            continue
        one, at = _number(text, at)
        at = _after_blanks(text, at)
        two, at = _number(text, at) if 0 <= one <= _LARGEST else (one, at)
        at = _after_blanks(text, at)
        three, at = _number(text, at) if 0 <= two <= _LARGEST else (two, at)
        stop = _after_blanks(text, at)
        if stop == len(text):  # the line may go on
            break
        if three < 0 or three > _LARGEST or text[stop] != _NEWLINE:
            why = _fault(text, stop, three)
        elif one < 1 or one > n_documents:
            why = DOCUMENT
        elif two < 1 or two > n_words:
            why = WORD
        elif one - 1 < document:
            why = ORDER
        if why != DONE:
            kept_at = line
            break
        if one - 1 > document:
            while document < one - 1:
                ends[n_ends] = entries
                n_ends += 1
                document += 1
            kept_at, kept_entries, kept_zeros, before = line, entries, zeros, -1
        if three > 0:
            ordered = ordered and two - 1 > before
            before = two - 1
            ids[entries], counts[entries] = two - 1, three
            entries += 1
        else:
            zeros += 1
        at = stop + 1
    if why == DONE and last:
        while document < n_documents:
            ends[n_ends] = entries
            n_ends += 1
            document += 1
        kept_at, kept_entries, kept_zeros = len(text), entries, zeros
    state[AT], state[NEXT], state[ENTRIES] = kept_at, document, kept_entries
    state[ENDS], state[SORTED], state[ZEROS] = n_ends, ordered, kept_zeros
    return why


@njit(cache=True, nogil=True)
def read_lines(text, n_words, state, ids, counts, ends):
    """The documents of lines "number word:count word:count ...", words numbered from zero.

    Parameters and what comes back are those of `read_triples`; every line is a document.
    """
    at, entries, n_ends, ordered = state[AT], state[ENTRIES], state[ENDS], state[SORTED]
    why = DONE
    while why == DONE:
        line, entries_before, before, n_entries = at, entries, -1, 0
        at = _after_blanks(text, at)
        n_announced, at = _number(text, at)
        at = _after_blanks(text, at)
        if n_announced < 0 or n_announced > _LARGEST:
            why = _fault(text, at, n_announced) if at < len(text) else DONE
        while why == DONE and at < len(text) and text[at] != _NEWLINE:
            word, at = _number(text, at)
            if at == len(text):
                break
            if word < 0 or word > _LARGEST or text[at] != _COLON:
                why = _fault(text, at, word)
                break
            count, at = _number(text, at + 1)
            if at == len(text):
                break
            if count < 0 or count > _LARGEST:
                why = _fault(text, at, count)
            elif word >= n_words:
                why = WORD
            elif text[at] > 32:
                why = LETTER
            n_entries += 1
            if why == DONE and count > 0:
                ordered = ordered and word > before
                before = word
                ids[entries], counts[entries] = word, count
                entries += 1
            at = _after_blanks(text, at)
        if why == DONE and at < len(text) and n_entries != n_announced:
            why = TOTAL
        if why != DONE or at >= len(text):  # wrong, or cut
            at, entries = line, entries_before
            break
        ends[n_ends] = entries
        n_ends += 1
        at += 1
    state[AT], state[NEXT], state[ENTRIES] = at, state[NEXT] + n_ends - state[ENDS], entries
    state[ENDS], state[SORTED] = n_ends, ordered
    return why
