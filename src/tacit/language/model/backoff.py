"""N-gram models with back-off weights: what an ARPA file holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import TooExpensiveError
from tacit.language.data.vocabulary import Vocabulary
from tacit.language.moments.ngram_counts import GramTable

Array = NDArray[np.float64]
Ids = NDArray[np.int32]
Integers = NDArray[np.int64]

_MOST_GRAMS = 2**31 - 2


@dataclass(frozen=True, eq=False)
class GramModel:
    """Probabilities of n-grams of all orders, and weights of contexts.

    The n-grams of all orders stand one after another, order 1 first, in each order by context and then by
    last word: a tree whose nodes are numbered level by level. The probability of a word after a context is
    that of the n-gram where it exists, and otherwise the context's weight times the probability after the
    context without its first word.
    """

    vocabulary: Vocabulary
    offsets: Integers  # (order + 1,)  where each order begins
    words: Ids  # (gram,)  last words; in order 1, all words of the vocabulary
    suffixes: Ids  # (gram,)  the longest n-gram that ends this one, -1 for none
    firsts: (
        Integers  # (context + 1,)  n-grams below the highest order: the first that continues each
    )
    probs: Array  # (gram,)
    backoffs: Array  # (context,)

    @property
    def order(self) -> int:
        """The highest order."""
        return len(self.offsets) - 1

    def __len__(self) -> int:
        return len(self.words)

    @property
    def n_contexts(self) -> int:
        """N-grams that have a weight: those of all orders but the highest."""
        return len(self.backoffs)


def gram_offsets(tables: tuple[GramTable, ...]) -> Integers:
    """(order + 1,) where the n-grams of each order begin, all orders one after another."""
    offsets = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
    if offsets[-1] > _MOST_GRAMS:
        raise TooExpensiveError(f"{offsets[-1]} n-grams are too many; lower the order")
    return offsets


def gram_model(
    vocabulary: Vocabulary,
    tables: tuple[GramTable, ...],
    probs: Array,
    backoffs: Array,
) -> GramModel:
    """One model from the tables of all orders.

    Parameters
    ----------
    probs : (gram,)
        Of all orders.
    backoffs : (context,)
        Of all orders but the highest.
    """
    offsets = gram_offsets(tables)
    words, suffixes = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    firsts = np.empty(offsets[-2] + 1, dtype=np.int64)
    places = offsets.tolist()
    for order, table in enumerate(tables, 1):
        low, high = places[order - 1], places[order]
        words[low:high] = table.words
        if order == 1:
            suffixes[:high] = -1
            continue
        np.add(table.suffixes, np.int32(places[order - 2]), out=suffixes[low:high])
        # The n-grams of a context stand in the order above: the contexts of all orders follow each other.
        np.add(table.starts[:-1], low, out=firsts[places[order - 2] : low])
    firsts[-1] = places[-1]
    return GramModel(vocabulary, offsets, words, suffixes, firsts, probs, backoffs)


def packed(model: GramModel) -> tuple[Any, ...]:
    """A model as compiled loops want it."""
    highest = int(model.offsets[-2])
    return (model.words, model.suffixes, model.firsts, model.probs, model.backoffs, highest)
