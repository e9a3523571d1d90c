"""Latent-variable grammars: tensors of rules and vectors of words over the hidden states of labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.structure.rules import Rules

Array = NDArray[Any]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Which labels a word may have, and how likely it is under a tag; without hidden states.

    The weight of a word under a label is ``(1 - backoff) * P(word | label) + backoff * P(word | tag)``.
    """

    tag_of_label: Codes  # (label,)  -1 for labels without words
    backoff: Array  # (label,)
    pair_label: Codes  # (pair,)     pairs of a label and a word that were seen together
    pair_word: Codes  # (pair,)
    tag_word: Array  # (tag, word + 1)  P(word | tag); the last of words that were not seen

    @property
    def n_words(self) -> int:
        """The number of words and classes of words."""
        return int(self.tag_word.shape[1]) - 1

    def pair_of(self, label: NDArray[np.integer], word: NDArray[np.integer]) -> Codes:
        """The pair of each label and word; -1 where they were not seen together."""
        if not len(self.pair_label):
            return np.full(len(label), -1, dtype=np.int32)
        keys = np.asarray(label, dtype=np.int64) * self.n_words + word
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        is_known = (self._keys[at] == keys) & (np.asarray(word) >= 0)
        return np.where(is_known, at, -1).astype(np.int32)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        """(pair,) the pairs as one number each, ascending."""
        return self.pair_label.astype(np.int64) * self.n_words + self.pair_word

    def likeliest_tag(self, word: int) -> int:
        """The tag that a word (-1: one not seen) has most often."""
        # Back-off weights are the frequencies of labels, up to a factor.
        counts = np.where(self.backoff > 0, 1 / np.maximum(self.backoff, 1e-300) - 1, 1.0)
        tagged = self.tag_of_label >= 0
        of_tags = np.bincount(self.tag_of_label[tagged], counts[tagged], len(self.tag_word))
        return int(np.argmax(of_tags * self.tag_word[:, word]))

    def candidates(self, word: int, tag: int) -> tuple[Codes, Codes, Array]:
        """The labels of a word, their pairs (-1: not seen), and what its tag adds to each.

        Parameters
        ----------
        word : int
            -1 for one that was not seen, nor any like it.
        tag : int
            -1 where it is not known: any that the word was seen with, or any at all.
        """
        if (word, tag) not in self._candidates:
            at = self.tag_of_label
            weights = self.tag_word[:, word]
            if not weights.any() or (tag >= 0 and not weights[tag]):
                weights = self.tag_word[:, -1] / (1 + self.n_words)
            fits = at == tag if tag >= 0 else (at >= 0) & (weights[at] > 0)
            labels = np.flatnonzero(fits).astype(np.int32)
            pairs = self.pair_of(labels, np.full(len(labels), word))
            added = self.backoff[labels] * weights[at[labels]]
            self._candidates[word, tag] = labels, pairs, added
        return self._candidates[word, tag]

    @cached_property
    def _candidates(self) -> dict[tuple[int, int], tuple[Codes, Codes, Array]]:
        """Answers of `candidates`, so that they are computed once."""
        return {}


@dataclass(frozen=True, eq=False)
class LatentGrammar:
    """Tensors of rules and vectors of words, in any basis of the states of each label.

    The score of a tree is the inside vector of its root, times `start`.
    """

    rules: Rules
    lexicon: Lexicon
    start: Array  # (label, m)
    total: Array  # (label, m)  the sum of a label's word vectors
    words: Array  # (pair, m)
    dense: Codes  # (rule,)      which of the tensors is the rule's; -1: none
    tensors: Array  # (tensor, m, m * m)  parent; left and right child
    first_term: Codes  # (rule + 1,)  where the rank-one terms of a rule begin
    parents: Array  # (term, m)
    lefts: Array  # (term, m)
    rights: Array  # (term, m)

    @property
    def n_states(self) -> int:
        """States of each label, or the rank of its tensors."""
        return int(self.start.shape[1])

    @property
    def has_tables(self) -> bool:
        """Whether states are those of `GrammarTables`, so that entries are probabilities."""
        return not len(self.tensors) and len(self.parents) == len(self.rules) * self.n_states

    @property
    def rule_arrays(self) -> tuple[Array, ...]:
        """The arrays of the rules, as compiled loops take them."""
        return (
            *(self.dense, self.tensors, self.first_term),
            *(self.parents, self.lefts, self.rights),
        )

    def word_vectors(self, word: int, tag: int) -> tuple[Codes, Array]:
        """The labels of a word, and the inside vector of each; see `Lexicon.candidates`."""
        labels, pairs, added = self.lexicon.candidates(word, tag)
        vectors = added[:, None] * self.total[labels]
        is_known = pairs >= 0
        weight = 1 - self.lexicon.backoff[labels[is_known]]
        vectors[is_known] += weight[:, None] * self.words[pairs[is_known]]
        return labels, vectors.astype(self.tensors.dtype)


@dataclass(frozen=True, eq=False)
class GrammarTables:
    """A grammar in probabilities: the state of a label draws a rule, the rule the states of its children."""

    rules: Rules
    lexicon: Lexicon
    start: Array  # (label, m)        P(label, state of the root)
    rule_given: Array  # (rule, m)      P(rule | label, state)
    left_given: Array  # (rule, m, m)   P(state of the left child | rule, state)
    right_given: Array  # (rule, m, m)
    word_given: Array  # (pair, m)      P(word | label, state)

    @property
    def n_states(self) -> int:
        """States of each label."""
        return int(self.start.shape[1])

    def grammar(self, dtype: Any = np.float64) -> LatentGrammar:
        """The same grammar as tensors: one rank-one term for each rule and state."""
        n_rules, m = self.rule_given.shape
        parents = (self.rule_given[:, :, None] * np.eye(m)).reshape(-1, m)
        return LatentGrammar(
            self.rules,
            self.lexicon,
            self.start,
            np.ones_like(self.start),
            self.word_given,
            np.full(n_rules, -1, dtype=np.int32),
            np.empty((0, m, m * m), dtype),
            np.arange(0, n_rules * m + 1, m, dtype=np.int32),
            parents.astype(dtype),
            self.left_given.reshape(-1, m).astype(dtype),
            self.right_given.reshape(-1, m).astype(dtype),
        )
