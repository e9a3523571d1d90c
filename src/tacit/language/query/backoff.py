"""Queries of n-gram models with back-off weights."""

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
Integers = NDArray[np.int64]

NO_STATE = -1  # no context


@dataclass(frozen=True, eq=False)
class LineScores:
    """The scores of the words and ends of some lines, concatenated."""

    log_probs: Array  # (word and end,)  natural logarithms
    orders: NDArray[np.uint8]  # (word and end,)  of the n-gram that was used
    unknown: NDArray[np.bool_]  # (word and end,)  whether the word is not in the vocabulary
    ends: Integers  # (line,)  the end of each line, after its end marker

    @staticmethod
    def of(corpus: Corpus, log_probs: Array, orders: NDArray[Any], *, end: bool) -> LineScores:
        """The scores of a corpus, with those of ends of lines if `end`."""
        unknown = np.zeros(len(log_probs), dtype=np.bool_)
        unknown[corpus.word_places(ends=end)] = corpus.ids == UNKNOWN
        ends = corpus.ends + (np.arange(1, corpus.n_lines + 1) if end else 0)
        return LineScores(log_probs, orders.astype(np.uint8), unknown, ends)

    @staticmethod
    def joined(parts: Sequence[LineScores]) -> LineScores:
        """The scores of several texts, concatenated."""
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
    return _pads_state(model) if model.order > 1 else NO_STATE


def _pads_state(model: GramModel) -> int:
    """The longest n-gram of ``<s>`` alone."""
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
    """The scores of a corpus that was read with the vocabulary of the model.

    Parameters
    ----------
    begin, end : bool
        Whether lines are complete: begin after ``<s>``, and end in ``</s>``, which is scored too.
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
    """The log-probability of a word in a state, the order of its n-gram, and the state after it."""
    from tacit.language.loops.backoff import find_gram

    gram, weight = find_gram(packed(model), state, word)
    prob = float(weight * model.probs[gram])
    order = int(np.searchsorted(model.offsets, gram, side="right"))
    after = int(model.suffixes[gram]) if order == model.order else int(gram)
    return float(np.log(prob)) if prob > 0 else -np.inf, order, after


def next_probs(model: GramModel, state: int) -> Array:
    """(word,) the distribution of the next word."""
    from tacit.language.loops.backoff import score_next

    probs = np.empty(len(model.vocabulary))
    score_next(packed(model), state, probs)
    return probs
