"""Classes of words, from how often words follow each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.language.data.vocabulary import BEGIN, END
from tacit.language.moments.ngram_counts import GramCounts

Integers = NDArray[np.int64]

MOST_SWEEPS = 30
LEAST_MOVED = 1e-3  # share of the words; fewer in a sweep, and it was the last
_KNOWN = 2**16


@dataclass(frozen=True, eq=False)
class WordClasses:
    """A class for each word; 0 is that of the markers of lines.

    Parameters
    ----------
    of : (word,)
    n_classes : int
        With that of the markers.
    n_sweeps : int
        How often all words were looked at.
    objective : float
        Log-likelihood of the text's pairs of words under their classes, per pair.
    """

    of: Integers
    n_classes: int
    n_sweeps: int
    objective: float


def exchanged_classes(
    counts: GramCounts, n_classes: int, *, most: int = MOST_SWEEPS
) -> WordClasses:
    """Classes that make the text likeliest, each told by the one before it (Kneser and Ney 1993).

    Words start spread over the classes by rank. Then each word in turn, the most frequent first, is put where
    the likelihood is highest, until few words move.

    Parameters
    ----------
    counts : GramCounts
        Of order two or more.
    n_classes : int
        Classes of words; that of the markers comes on top.
    """
    from tacit.language.loops.exchange import exchange

    if counts.order < 2:
        raise ArgumentError("classes are learnt from pairs of words; count with order=2 or more")
    if n_classes < 1:
        raise ArgumentError(f"n_classes={n_classes}; give 1 or more")
    frequency = counts.tables[0].counts
    words = np.delete(np.arange(len(frequency)), [BEGIN, END])
    movable = words[np.argsort(-frequency[words], kind="stable")]
    movable = movable[frequency[movable] > 0]
    n_classes = max(min(n_classes, len(movable)), 1)
    classes = np.zeros(len(frequency), dtype=np.int64)
    classes[movable] = 1 + np.arange(len(movable)) % n_classes
    firsts, seconds, times = _pairs(counts)
    table = np.zeros((n_classes + 1, n_classes + 1), dtype=np.int64)
    np.add.at(table, (classes[firsts], classes[seconds]), times)
    following = _by(firsts, seconds, times, len(frequency))
    preceding = _by(seconds, firsts, times, len(frequency))
    known = np.arange(_KNOWN) * np.log(np.maximum(np.arange(_KNOWN), 1))
    n_sweeps, moved = 0, len(movable)
    while n_sweeps < most and moved > LEAST_MOVED * len(movable):
        moved = exchange(movable, classes, following, preceding, table, known)
        n_sweeps += 1
    # What the text lacks joins the class of most words: new words are of open classes.
    seen = np.bincount(classes[movable], minlength=n_classes + 1)
    lacking = words[frequency[words] == 0]
    classes[lacking] = max(int(seen.argmax()), 1)
    return WordClasses(classes, n_classes + 1, n_sweeps, _objective(table, frequency))


def _pairs(counts: GramCounts) -> tuple[Integers, Integers, Integers]:
    """First words, second words, and how often."""
    pairs = counts.tables[1]
    there = pairs.counts > 0
    return (
        pairs.contexts()[there].astype(np.int64),
        pairs.words[there].astype(np.int64),
        pairs.counts[there],
    )


def _by(
    one: Integers, other: Integers, times: Integers, n_words: int
) -> tuple[Integers, Integers, Integers]:
    """The pairs in the order of one of their words: where each begins, the other words, how often."""
    order = np.argsort(one, kind="stable")
    starts = np.searchsorted(one[order], np.arange(n_words + 1))
    return starts.astype(np.int64), other[order], times[order]


def _objective(table: Integers, frequency: Integers) -> float:
    def weighed(counts: Integers) -> float:
        there = counts[counts > 0].astype(np.float64)
        return float((there * np.log(there)).sum())

    sums = weighed(table.sum(axis=1)) + weighed(table.sum(axis=0))
    return (weighed(table) - sums + weighed(frequency)) / max(int(table.sum()), 1)
