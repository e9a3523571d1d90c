"""Parameters of a topic model: word probabilities of topics, their weights, the Dirichlet prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import ArgumentError

Array = NDArray[np.float64]

SMOOTHING = 0.01  # of the words of all documents, in each topic, where words are scored
_TOLERANCE = 1e-6  # how far from one the sum of probabilities may be


@dataclass(frozen=True, eq=False)
class Topics:
    """Latent Dirichlet allocation, or, where `alpha0` is zero, one topic for each whole document.

    The topic weights of a document are Dirichlet with parameters `alpha`, which sum to `alpha0`: the
    smaller it is, the fewer topics a document has.

    Raises
    ------
    ArgumentError
        If rows or weights are no probabilities, or do not fit together.

    Examples
    --------
    >>> topics = Topics(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.75, 0.25]), alpha0=2.0)
    >>> topics.n_topics, topics.n_words, topics.alpha.tolist(), topics.model
    (2, 2, [1.5, 0.5], 'lda')
    """

    words: Array  # (topic, word)  rows sum to one
    weights: Array  # (topic,)  mean weights over documents; they sum to one
    alpha0: float = 0.0

    def __post_init__(self) -> None:
        """Check that all are probabilities, and copy them."""
        words = np.array(self.words, dtype=np.float64)
        weights = np.array(self.weights, dtype=np.float64)
        if words.ndim != 2 or weights.shape != (len(words),) or words.size == 0:
            raise ArgumentError(
                f"topics of shape {words.shape} with weights of shape {weights.shape}; give a row of word "
                f"probabilities and one weight for each topic, and at least one topic"
            )
        for name, rows in (("word probabilities", words), ("weights", weights[None])):
            if not (rows >= 0).all() or not (np.abs(rows.sum(axis=1) - 1) <= _TOLERANCE).all():
                raise ArgumentError(
                    f"{name} of topics must not be negative and must sum to one; divide them by their sums"
                )
        if not 0 <= self.alpha0 < np.inf:
            raise ArgumentError(f"alpha0={self.alpha0}; give a number that is zero or more")
        for name, value in (("words", words), ("weights", weights)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "alpha0", float(self.alpha0))

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.words)

    @property
    def n_words(self) -> int:
        """Words of the vocabulary."""
        return int(self.words.shape[1])

    @property
    def alpha(self) -> Array:
        """(topic,) the parameters of the Dirichlet distribution; all zero in the single-topic model."""
        return np.asarray(self.alpha0 * self.weights)

    @property
    def model(self) -> str:
        """``"lda"``, or ``"single"`` where each document has one topic."""
        return "lda" if self.alpha0 > 0 else "single"

    def smoothed(self, word_probabilities: Array, amount: float = SMOOTHING) -> Topics:
        """The topics mixed with the word probabilities of all documents, so that no word is impossible.

        A word of the vocabulary that never occurs counts half as often as the rarest one that does.
        """
        occurs = word_probabilities > 0
        if occurs.any() and not occurs.all():
            rarest = word_probabilities[occurs].min()
            word_probabilities = np.where(occurs, word_probabilities, 0.5 * rarest)
            word_probabilities = word_probabilities / word_probabilities.sum()
        words = (1 - amount) * self.words + amount * word_probabilities
        return Topics(words, self.weights, self.alpha0)
