"""What can be asked of an n-gram model with back-off weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.language.data.corpus import Corpus
from tacit.language.data.vocabulary import BEGIN, END, UNKNOWN
from tacit.language.model.backoff import GramModel, packed

Array = NDArray[np.float64]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]

NO_STATE = -1  # nothing is known of the words before


@dataclass(frozen=True, eq=False)
class LineScores:
    """Probabilities of the words of some lines, and of the end of each, one after another."""

    log_probs: Array  # (word and end,)  natural logarithms
    orders: NDArray[np.uint8]  # (word and end,)  of the n-gram that answered
    unknown: NDArray[np.bool_]  # (word and end,)  whether the word is not in the vocabulary
    ends: Integers  # (line,)  how many of these stand before the end of each line, its end marker included

    @staticmethod
    def of(corpus: Corpus, log_probs: Array, orders: NDArray[Any], *, end: bool) -> LineScores:
        """Of the words of a corpus, and of the ends of its lines where these are scored."""
        unknown = np.zeros(len(log_probs), dtype=np.bool_)
        unknown[corpus.word_places(ends=end)] = corpus.ids == UNKNOWN
        ends = corpus.ends + (np.arange(1, corpus.n_lines + 1) if end else 0)
        return LineScores(log_probs, orders.astype(np.uint8), unknown, ends)

    @staticmethod
    def joined(parts: Sequence[LineScores]) -> LineScores:
        """Of several texts one after another."""
        none = LineScores(
            np.zeros(0), np.zeros(0, np.uint8), np.zeros(0, np.bool_), np.zeros(0, np.int64)
        )
        if len(parts) < 2:
            return parts[0] if parts else none
        shifts = np.cumsum([0, *(len(part.log_probs) for part in parts[:-1])])
        return LineScores(
            np.concatenate([part.log_probs for part in parts]),
            np.concatenate([part.orders for part in parts]),
            np.concatenate([part.unknown for part in parts]),
            np.concatenate([part.ends + shift for part, shift in zip(parts, shifts, strict=True)]),
        )

    def sums(self) -> Array:
        """(line,) the log-probability of each line."""
        starts = np.concatenate([[0], self.ends])[:-1]
        sums: Array = np.add.reduceat(self.log_probs, starts) if len(starts) else np.zeros(0)
        return sums


def begin_state(model: GramModel) -> int:
    """The state at the beginning of a line."""
    state = NO_STATE
    if model.order > 1:
        state = _pads_state(model)
    return state


def _pads_state(model: GramModel) -> int:
    """The longest known n-gram of nothing but ``<s>``."""
    from tacit.language.loops.backoff import find_gram

    arrays, state = packed(model), BEGIN
    for order in range(2, model.order):
        gram, _ = find_gram(arrays, state, BEGIN)
        if gram < model.offsets[order - 1]:
            break
        state = int(gram)
    return state


def score_corpus(
    model: GramModel, corpus: Corpus, *, begin: bool = True, end: bool = True
) -> LineScores:
    """Probabilities of all words of a corpus that was read with the model's vocabulary.

    Parameters
    ----------
    begin, end : bool
        Whether lines are whole: begin after ``<s>``, and end in ``</s>``, which is scored too.
    """
    from tacit.language.loops.backoff import score_lines

    n_lines = corpus.n_lines
    size = corpus.n_words + (n_lines if end else 0)
    probs, grams = np.empty(size), np.empty(size, dtype=np.int64)
    states = np.full(n_lines, begin_state(model) if begin else NO_STATE, dtype=np.int64)
    score_lines(packed(model), corpus.ids, corpus.ends, states, END if end else -1, probs, grams)
    orders = np.searchsorted(model.offsets, grams, side="right")
    with np.errstate(divide="ignore"):
        return LineScores.of(corpus, np.log(probs), orders, end=end)


def score_step(model: GramModel, state: int, word: int) -> tuple[float, int, int]:
    """The log-probability of a word after a state, the order that answered, and the state behind it."""
    from tacit.language.loops.backoff import find_gram

    gram, weight = find_gram(packed(model), state, word)
    prob = float(weight * model.probs[gram])
    order = int(np.searchsorted(model.offsets, gram, side="right"))
    behind = int(model.suffixes[gram]) if order == model.order else int(gram)
    return float(np.log(prob)) if prob > 0 else -np.inf, order, behind


def next_probs(model: GramModel, state: int) -> Array:
    """(word,) the probability of every word of the vocabulary to come next; they sum to one."""
    from tacit.language.loops.backoff import score_next

    out = np.empty(len(model.vocabulary))
    score_next(packed(model), state, out)
    return out
