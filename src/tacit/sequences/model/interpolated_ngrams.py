"""Interpolated n-grams of sequences and their ends, the back-off of automata."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.sequences.moments.prefixes import PrefixTree

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# Tables have at most this many cells: large alphabets have shorter contexts.
_MOST_CELLS = 2 * 10**6


@dataclass(frozen=True, eq=False)
class Ngrams:
    """P(next symbol or end | last few symbols), each order interpolated with the one below.

    Contexts are numbers in base ``n_symbols + 2``: the code after all symbols stands for the place before
    the start, and the last one for a missing symbol. Smoothing is that of Witten & Bell (1991).
    """

    tables: Array  # (context, symbol + 1)  of the longest contexts; the last column is the end
    order: int  # one more than the symbols of a context
    n_symbols: int

    @staticmethod
    def of(tree: PrefixTree, order: int = 3) -> Ngrams:
        """Fits to counts; with a lower order where tables would be too large."""
        n, base = tree.n_symbols, tree.n_symbols + 2
        while order > 1 and base ** (order - 1) * (n + 1) > _MOST_CELLS:
            order -= 1
        contexts = tree_contexts(tree, order)
        below = np.full((1, n + 1), 1.0 / (n + 1))
        for length in range(order):
            counts = _counted(tree, contexts % base**length, base**length)
            total = counts.sum(axis=1, keepdims=True)
            kinds = np.maximum((counts > 0).sum(axis=1, keepdims=True), 1)
            lower = np.tile(below, (len(counts) // len(below), 1))
            below = (counts + kinds * lower) / (total + kinds)
        return Ngrams(below, order, n)

    @property
    def first(self) -> int:
        """The context at the start of a sequence."""
        context = 0
        for _ in range(self.order - 1):
            context = context * (self.n_symbols + 2) + self.n_symbols
        return context

    def after(self, contexts: Integers, symbols: NDArray[np.integer]) -> Integers:
        """The contexts after one more symbol; -1 is missing."""
        base = self.n_symbols + 2
        code = np.where(symbols < 0, self.n_symbols + 1, symbols)
        return np.asarray((contexts * base + code) % base ** (self.order - 1))


def tree_contexts(tree: PrefixTree, order: int) -> Integers:
    """(node,) the context after each prefix."""
    n, base = tree.n_symbols, tree.n_symbols + 2
    contexts = np.zeros(tree.n_nodes, dtype=np.int64)
    at = np.arange(tree.n_nodes)
    for lag in range(order - 1):
        symbols = np.where(tree.symbols[at] < 0, n + 1, tree.symbols[at])
        contexts += base**lag * np.where(at == 0, n, symbols)
        at = np.maximum(tree.parents[at], 0)
    return contexts


def _counted(tree: PrefixTree, contexts: Integers, n_contexts: int) -> Array:
    """(context, symbol + 1) counts of the next symbol or end."""
    n = tree.n_symbols
    known = np.flatnonzero(tree.symbols >= 0)
    places = np.concatenate(
        [contexts[tree.parents[known]] * (n + 1) + tree.symbols[known], contexts * (n + 1) + n]
    )
    weights = np.concatenate([tree.passes[known], tree.ends])
    counts = np.bincount(places, weights, minlength=n_contexts * (n + 1))
    return counts.reshape(n_contexts, n + 1).astype(np.float64)
