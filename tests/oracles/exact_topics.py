"""Exact moments of a topic model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.topics.model.topics import Topics
from tacit.topics.moments.word_moments import PairProduct, symmetric_sum


@dataclass(frozen=True, eq=False)
class ExactTopicMoments:
    """The moments of pairs and triples of words that infinitely many documents of a model would have."""

    topics: Topics

    @property
    def size(self):
        """Words of the vocabulary."""
        return self.topics.n_words

    def pairs(self, columns):
        """Probabilities of pairs, multiplied with some columns (word, column)."""
        words, weights, alpha0 = self.topics.words, self.topics.weights, self.topics.alpha0
        projected = words @ columns  # (topic, column)
        mean = weights @ words
        same = words.T @ (weights[:, None] * projected)
        product = (alpha0 * np.outer(mean, weights @ projected) + same) / (alpha0 + 1)
        return PairProduct(product, mean, 0.0, 0)

    def triples(self, columns):
        """(p, p, p) probabilities of triples, each word as its row of some columns (word, p)."""
        weights, alpha0 = self.topics.weights, self.topics.alpha0
        projected = self.topics.words @ columns  # (topic, p)
        mean = weights @ projected
        same = np.einsum("t,ta,tb->ab", weights, projected, projected)
        all_same = np.einsum("t,ta,tb,tc->abc", weights, projected, projected, projected)
        independent = mean[:, None, None] * mean[:, None] * mean
        two_same = symmetric_sum(same[:, :, None] * mean)
        triples = alpha0**2 * independent + alpha0 * two_same + 2 * all_same
        return np.asarray(triples / ((alpha0 + 1) * (alpha0 + 2)))
