"""Weights of the parts of an ensemble, chosen on a text by combining anew what they say of each word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.language.data.corpus import Corpus
from tacit.language.data.vocabulary import BEGIN, END
from tacit.language.learn.ensemble_parts import Part, Slices, bounds, part_values
from tacit.language.model.backoff import gram_model, gram_offsets
from tacit.language.model.ensemble import OrderLevel, OrderPlan
from tacit.language.moments.ngram_counts import GramCounts

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

GOLDEN = (5**0.5 - 1) / 2
N_STEPS = 16  # of golden section search: a weight to three digits
N_ROUNDS = 3


@dataclass(eq=False)
class _OrderWords:
    """What one order says of each word of a text, over the total of the context."""

    kept: Array  # (word,)  what is taken from n-grams as they are, before parts
    given: Array  # (word,)  what goes to the order below if no part takes it
    as_is: list[Array]  # for each part: (word,) the n-gram's own share of it
    low_rank: list[Array]  # for each part: (word,) its low rank fit, the mean of all starts
    of_discount: list[bool]  # for each part
    weights: list[float]

    def probs(self, lower: Array) -> Array:
        """(word,) probabilities, given those of the order below."""
        probs, given = self.kept.copy(), self.given
        for own, fitted, last, weight in zip(
            self.as_is, self.low_rank, self.of_discount, self.weights, strict=True
        ):
            probs += weight * fitted
            if last:
                given = given - weight * own
            else:
                probs += (1.0 - weight) * own
        probs += given * lower
        return probs


class Recombination:
    """The probability of each word of a text as a function of the weights of all parts."""

    def __init__(
        self, counts: GramCounts, levels: Sequence[OrderLevel], unigrams: Array, text: Corpus
    ) -> None:
        self.levels = levels
        self.contexts, self.grams = _placed(counts, text)
        self.first = unigrams[self.grams[0]]
        self.orders: dict[int, _OrderWords] = {}
        for level in levels[1:]:
            self.orders[level.order] = self._plain(level)

    def _plain(self, level: OrderLevel) -> _OrderWords:
        """An order without low rank parts."""
        kept = self._own(level, level.counts - level.discounts)
        given = np.ones(len(kept))
        contexts, seen = self._seen(level)
        sums = level.sums(level.discounts)
        given[seen] = sums[contexts] / level.totals[contexts]
        return _OrderWords(kept, given, [], [], [], [])

    def _seen(self, level: OrderLevel) -> tuple[Integers, NDArray[np.bool_]]:
        """Contexts of words whose context was seen, and which words these are."""
        contexts = self.contexts[level.order - 1]
        seen = contexts >= 0
        seen[seen] = level.totals[contexts[seen]] > 0
        return contexts[seen], seen

    def _own(self, level: OrderLevel, values: Array) -> Array:
        """(word,) values of the n-grams there, over the totals of their contexts."""
        grams = self.grams[level.order - 1]
        there = grams >= 0
        out = np.zeros(len(grams))
        found = grams[there]
        totals = level.totals[level.contexts[found]]
        out[there] = np.divide(values[found], totals, out=np.zeros_like(totals), where=totals > 0)
        return out

    def set_parts(self, order: int, plan: OrderPlan, slices: Slices, parts: Sequence[Part]) -> None:
        """Take an order apart as a plan says."""
        level = self.levels[order - 1]
        words = self._plain(level)
        top = plan.powers[0] if plan.powers else 0.0
        words.kept = self._own(level, level.counts - level.step(top))
        contexts, seen = self._seen(level)
        rows, columns = np.full((2, len(seen)), -1)
        rows[seen] = slices.matrix.row_places[contexts]
        shorter = self.grams[order - 2]
        there = shorter >= 0
        columns[there] = slices.matrix.column_places[shorter[there]]
        scale = np.ones(len(seen))
        scale[seen] = 1.0 / level.totals[contexts]
        for (upper, lower), part in zip(bounds(plan), parts, strict=True):
            values = part_values(level, upper, lower)
            own = self._own(level, values)
            fitted = np.zeros(len(seen))
            for fit in part.fits:
                fitted += fit.at(rows, columns) / len(part.fits)
            only_small = np.zeros_like(values)
            only_small[slices.small] = values[slices.small]
            words.low_rank.append(fitted * scale + self._own(level, only_small))
            words.of_discount.append(lower < 0)
            words.as_is.append(np.where(seen, words.given, 0.0) if lower < 0 else own)
        words.weights = list(plan.weights)
        self.orders[order] = words

    def weights(self, order: int) -> tuple[float, ...]:
        """Those of an order."""
        return tuple(self.orders[order].weights)

    def perplexity(self) -> float:
        """That of the text."""
        probs = self.first
        for order in sorted(self.orders):
            probs = self.orders[order].probs(probs)
        with np.errstate(divide="ignore"):
            return float(np.exp(-np.log(probs).mean()))

    def choose_weights(self, order: int | None = None) -> None:
        """Search for the best weights, one after another, of one order or of all."""
        for _ in range(N_ROUNDS):
            for at, words in self.orders.items():
                if order is None or at == order:
                    for part in range(len(words.weights)):
                        self._choose(at, part)

    def _choose(self, order: int, part: int) -> None:
        """The best of one weight; probabilities are linear in it, so the likelihood has one peak."""
        words = self.orders[order]
        # Orders above are linear in what they are given: P = more + share * P(order).
        lower = self.first
        for at in sorted(self.orders):
            if at < order:
                lower = self.orders[at].probs(lower)
        ends = []
        for weight in (0.0, 1.0):
            before, words.weights[part] = words.weights[part], weight
            probs = words.probs(lower)
            for at in sorted(self.orders):
                if at > order:
                    probs = self.orders[at].probs(probs)
            ends.append(probs)
            words.weights[part] = before
        gain = ends[1] - ends[0]

        def loss(weight: float) -> float:
            with np.errstate(divide="ignore"):
                return -float(np.log(ends[0] + weight * gain).mean())

        words.weights[part] = _golden(loss)


def _golden(loss: Callable[[float], float]) -> float:
    """Where a function of one number between 0 and 1 is least."""
    low, high = 0.0, 1.0
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = loss(left), loss(right)
    for _ in range(N_STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = loss(right)
    middle = (low + high) / 2
    return min((loss(each), each) for each in (middle, 0.0, 1.0))[1]


def _placed(counts: GramCounts, text: Corpus) -> tuple[Integers, Integers]:
    """(order, word) contexts and n-grams of all orders at each word, numbered within their orders."""
    from tacit.language.loops.ensemble import place_words

    offsets = gram_offsets(counts.tables)
    empty = np.zeros(0)
    model = gram_model(counts.vocabulary, counts.tables, empty, empty)
    arrays = (model.words, model.suffixes, model.firsts, empty, empty, int(offsets[-2]))
    size = text.n_words + text.n_lines
    contexts, grams = np.empty((2, counts.order, size), np.int64)
    state = _begin(counts, offsets)
    place_words(arrays, offsets, text.ids, text.ends, state, END, contexts, grams)
    for order in range(counts.order):
        known = grams[order] >= 0
        grams[order, known] -= offsets[order]
        if order:
            known = contexts[order] >= 0
            contexts[order, known] -= offsets[order - 1]
    return contexts, grams


def _begin(counts: GramCounts, offsets: Integers) -> int:
    """The state where lines begin: all the pads in front, as one n-gram."""
    if counts.order == 1:
        return -1
    state, order = BEGIN, 1
    while order < min(counts.pads, counts.order - 1):
        table = counts.tables[order]
        low, high = table.starts[state], table.starts[state + 1]
        state = int(low + np.searchsorted(table.words[low:high], BEGIN))
        order += 1
    return int(offsets[order - 1]) + state
