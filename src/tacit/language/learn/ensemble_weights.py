"""Weights of the parts of an ensemble, chosen on a text by recombining their predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.language.data.corpus import Corpus
from tacit.language.data.vocabulary import BEGIN, END
from tacit.language.learn.ensemble_levels import OrderLevel
from tacit.language.learn.ensemble_parts import Part, Slices, bounds, part_values
from tacit.language.model.backoff import gram_model, gram_offsets
from tacit.language.model.ensemble import OrderPlan
from tacit.language.moments.ngram_counts import GramCounts

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

GOLDEN = (5**0.5 - 1) / 2
N_STEPS = 16  # of golden section search: a weight to three digits
N_ROUNDS = 3


@dataclass(eq=False)
class _OrderWords:
    """The contributions of one order to the probability of each word of a text."""

    remaining: Array  # (word,)  of the n-gram itself, without parts
    backoff: Array  # (word,)  weight of the order below, without parts
    exact: list[Array]  # for each part: (word,) its values without approximation
    low_rank: list[Array]  # for each part: (word,) its approximation, the mean of all starts
    of_discount: list[bool]  # for each part: whether it is that of the discount
    weights: list[float]

    def probs(self, lower: Array) -> Array:
        """(word,) probabilities, given those of the order below."""
        probs, backoff = self.remaining.copy(), self.backoff
        for exact, fitted, discount, weight in zip(
            self.exact, self.low_rank, self.of_discount, self.weights, strict=True
        ):
            probs += weight * fitted
            if discount:
                backoff = backoff - weight * exact
            else:
                probs += (1.0 - weight) * exact
        probs += backoff * lower
        return probs


class Recombination:
    """The probability of each word of a text as a function of the weights of all parts."""

    def __init__(
        self, counts: GramCounts, levels: Sequence[OrderLevel], unigrams: Array, text: Corpus
    ) -> None:
        self.levels = levels
        self.contexts, self.grams = _positions(counts, text)
        self.first = unigrams[self.grams[0]]
        self.orders: dict[int, _OrderWords] = {}
        for level in levels[1:]:
            self.orders[level.order] = self._plain(level)

    def _plain(self, level: OrderLevel) -> _OrderWords:
        """An order without low rank parts."""
        remaining = self._at_words(level, level.counts - level.passed)
        backoff = np.ones(len(remaining))
        contexts, in_training = self._seen(level)
        sums = level.sums(level.passed)
        backoff[in_training] = sums[contexts] / level.totals[contexts]
        return _OrderWords(remaining, backoff, [], [], [], [])

    def _seen(self, level: OrderLevel) -> tuple[Integers, NDArray[np.bool_]]:
        """The contexts of words whose context occurs in training, and which words these are."""
        contexts = self.contexts[level.order - 1]
        in_training = contexts >= 0
        in_training[in_training] = level.totals[contexts[in_training]] > 0
        return contexts[in_training], in_training

    def _at_words(self, level: OrderLevel, values: Array) -> Array:
        """(word,) values of the n-grams of each word, over the totals of their contexts."""
        grams = self.grams[level.order - 1]
        in_training = grams >= 0
        ratios = np.zeros(len(grams))
        totals = level.totals[level.contexts[grams[in_training]]]
        ratios[in_training] = np.divide(
            values[grams[in_training]], totals, out=np.zeros_like(totals), where=totals > 0
        )
        return ratios

    def set_parts(self, order: int, plan: OrderPlan, slices: Slices, parts: Sequence[Part]) -> None:
        """Use the parts of a plan for an order."""
        level = self.levels[order - 1]
        words = self._plain(level)
        words.remaining = self._at_words(level, level.counts - level.step(plan.steps[1]))
        contexts, in_training = self._seen(level)
        rows, columns = np.full((2, len(in_training)), -1)
        rows[in_training] = slices.matrix.row_places[contexts]
        suffixes = self.grams[order - 2]
        known = suffixes >= 0
        columns[known] = slices.matrix.column_places[suffixes[known]]
        scale = np.ones(len(in_training))
        scale[in_training] = 1.0 / level.totals[contexts]
        for (upper, lower), part in zip(bounds(plan), parts, strict=True):
            values = part_values(level, upper, lower)
            exact = self._at_words(level, values)
            fitted = np.zeros(len(in_training))
            for fit in part.fits:
                fitted += fit.at(rows, columns) / len(part.fits)
            only_small = np.zeros_like(values)
            only_small[slices.small] = values[slices.small]
            words.low_rank.append(fitted * scale + self._at_words(level, only_small))
            words.of_discount.append(lower is None)
            if lower is None:
                exact = np.where(in_training, words.backoff, 0.0)
            words.exact.append(exact)
        words.weights = list(plan.weights)
        self.orders[order] = words

    def weights(self, order: int) -> tuple[float, ...]:
        """The weights of an order."""
        return tuple(self.orders[order].weights)

    def perplexity(self) -> float:
        """The perplexity of the text."""
        probs = self.first
        for order in sorted(self.orders):
            probs = self.orders[order].probs(probs)
        with np.errstate(divide="ignore"):
            return float(np.exp(-np.log(probs).mean()))

    def choose_weights(self, order: int | None = None) -> None:
        """Optimise the weights of one order or of all, one after another."""
        for _ in range(N_ROUNDS):
            for at, words in self.orders.items():
                if order is None or at == order:
                    for part in range(len(words.weights)):
                        self._choose(at, part)

    def _choose(self, order: int, part: int) -> None:
        """Optimise one weight; probabilities are linear in it, so the likelihood has one maximum."""
        words = self.orders[order]
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
    """The minimum of a function on [0, 1], by golden section search."""
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
    return min((loss(weight), weight) for weight in (middle, 0.0, 1.0))[1]


def _positions(counts: GramCounts, text: Corpus) -> tuple[Integers, Integers]:
    """(order, word) the contexts and n-grams of each word, numbered within their orders."""
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
    """The state at the start of lines: the n-gram of all pads."""
    if counts.order == 1:
        return -1
    state, order = BEGIN, 1
    while order < min(counts.pads, counts.order - 1):
        table = counts.tables[order]
        low, high = table.starts[state], table.starts[state + 1]
        state = int(low + np.searchsorted(table.words[low:high], BEGIN))
        order += 1
    return int(offsets[order - 1]) + state
