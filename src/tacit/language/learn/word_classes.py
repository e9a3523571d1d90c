"""Word classes from counts of word pairs, by the exchange algorithm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError
from tacit.language.data.vocabulary import BEGIN, END
from tacit.language.moments.ngram_counts import GramCounts

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_SWEEPS = 30
MIN_MOVED = 1e-3  # fraction of the words; stops after a sweep that moves fewer
UNSEEN = 0.5  # count of a word that is not in the text
_TABLE = 2**16  # values of n log n that are tabulated


@dataclass(frozen=True, eq=False)
class WordClasses:
    """A class for each word; 0 is that of the markers of lines.

    Parameters
    ----------
    of : (word,)
    n_classes : int
        With that of the markers.
    n_sweeps : int
        Sweeps over all words.
    objective : float
        Log-likelihood of the text's pairs of words under their classes, per pair.
    """

    of: Integers
    n_classes: int
    n_sweeps: int
    objective: float


def exchanged_classes(
    counts: GramCounts, n_classes: int, *, max_sweeps: int = MAX_SWEEPS
) -> WordClasses:
    """Classes that maximise the likelihood of a class bigram model (Kneser and Ney 1993).

    Words start in classes by frequency rank. Then each word in turn, the most frequent first, moves to the
    class with the highest likelihood, until few words move.

    Parameters
    ----------
    counts : GramCounts
        Of order two or more.
    n_classes : int
        Classes of words, without that of the markers.
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
    n_log_n = np.arange(_TABLE) * np.log(np.maximum(np.arange(_TABLE), 1))
    n_sweeps, moved = 0, len(movable)
    while n_sweeps < max_sweeps and moved > MIN_MOVED * len(movable):
        moved = exchange(movable, classes, following, preceding, table, n_log_n)
        n_sweeps += 1
    # Words that are not in the text join the largest class: new words are of open classes.
    sizes = np.bincount(classes[movable], minlength=n_classes + 1)
    classes[words[frequency[words] == 0]] = max(int(sizes.argmax()), 1)
    return WordClasses(classes, n_classes + 1, n_sweeps, _objective(table, frequency))


def word_probabilities(frequency: Integers, classes: Integers) -> Array:
    """(word,) the probability of each word within its class; that of markers is one."""
    counts = np.maximum(frequency, UNSEEN).astype(np.float64)
    counts[[BEGIN, END]] = 0.0
    probabilities: Array = counts / np.maximum(np.bincount(classes, counts), UNSEEN)[classes]
    probabilities[[BEGIN, END]] = 1.0
    return probabilities


def _pairs(counts: GramCounts) -> tuple[Integers, Integers, Integers]:
    """First words, second words, and how often."""
    pairs = counts.tables[1]
    occurs = pairs.counts > 0
    return (
        pairs.contexts()[occurs].astype(np.int64),
        pairs.words[occurs].astype(np.int64),
        pairs.counts[occurs],
    )


def _by(
    one: Integers, other: Integers, times: Integers, n_words: int
) -> tuple[Integers, Integers, Integers]:
    """The pairs sorted by one of their words: starts, other words, counts."""
    order = np.argsort(one, kind="stable")
    starts = np.searchsorted(one[order], np.arange(n_words + 1))
    return starts.astype(np.int64), other[order], times[order]


def _objective(table: Integers, frequency: Integers) -> float:
    def sum_n_log_n(counts: Integers) -> float:
        positive = counts[counts > 0].astype(np.float64)
        return float((positive * np.log(positive)).sum())

    margins = sum_n_log_n(table.sum(axis=1)) + sum_n_log_n(table.sum(axis=0))
    total = sum_n_log_n(table) - margins + sum_n_log_n(frequency)
    return total / max(int(table.sum()), 1)
