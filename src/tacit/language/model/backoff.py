"""N-gram models with back-off weights, as in ARPA files, and discounts."""

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

_MAX_GRAMS = 2**31 - 2


@dataclass(frozen=True, eq=False)
class GramModel:
    """Probabilities of n-grams of all orders, and back-off weights of contexts.

    N-grams are sorted by order, context and last word: a trie whose nodes are numbered level by level. The
    probability of a word after a context is that of the n-gram if it exists, and otherwise the back-off
    weight of the context times the probability after the context without its first word.
    """

    vocabulary: Vocabulary
    offsets: Integers  # (order + 1,)  the first n-gram of each order
    words: Ids  # (gram,)  last words; in order 1, all words of the vocabulary
    suffixes: Ids  # (gram,)  the n-gram without its first word, -1 for none
    firsts: Integers  # (context + 1,)  the first n-gram that continues each context
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
        """N-grams with a back-off weight: those of all orders but the highest."""
        return len(self.backoffs)


@dataclass(frozen=True)
class Discounts:
    """The discounts of counts of one, two, and three or more."""

    values: tuple[float, float, float]
    source: str  # "given", "estimated", "one for all" or "fixed"


def gram_offsets(tables: tuple[GramTable, ...]) -> Integers:
    """(order + 1,) the first n-gram of each order."""
    offsets = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
    if offsets[-1] > _MAX_GRAMS:
        raise TooExpensiveError(f"{offsets[-1]} n-grams are too many; lower the order")
    return offsets


def gram_model(
    vocabulary: Vocabulary,
    tables: tuple[GramTable, ...],
    probs: Array,
    backoffs: Array,
) -> GramModel:
    """A model from the tables of all orders.

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
        # The n-grams of a context are in the order above.
        np.add(table.starts[:-1], low, out=firsts[places[order - 2] : low])
    firsts[-1] = places[-1]
    return GramModel(vocabulary, offsets, words, suffixes, firsts, probs, backoffs)


def packed(model: GramModel) -> tuple[Any, ...]:
    """The arguments of compiled loops."""
    highest = int(model.offsets[-2])
    return (model.words, model.suffixes, model.firsts, model.probs, model.backoffs, highest)
