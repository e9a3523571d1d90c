"""N-gram models with back-off weights: what an ARPA file holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.data.vocabulary import Vocabulary
from tacit.errors import TooExpensiveError
from tacit.moments.grams import GramTable

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
        Integers  # (context + 1,)  n-grams of orders below the highest: the first that continues it
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
    suffixes = [np.full(len(tables[0]), -1, dtype=np.int32)]
    for below, table in zip(offsets[:-2].tolist(), tables[1:], strict=True):
        suffixes.append(table.suffixes + np.int32(below))
    # The n-grams of a context stand in the order above: the contexts of all orders follow each other.
    firsts = [
        table.starts[:-1] + first for first, table in zip(offsets[1:-1], tables[1:], strict=True)
    ]
    return GramModel(
        vocabulary,
        offsets,
        np.concatenate([table.words for table in tables]),
        np.concatenate(suffixes),
        np.concatenate([*firsts, offsets[-1:]]),
        probs,
        backoffs,
    )
