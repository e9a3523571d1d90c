"""Latent-variable grammars: what a rule and a word say about hidden states of labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.structure.rules import Rules

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees

Array = NDArray[Any]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Which labels a word may have, and how likely it is under a tag; without hidden states.

    A word's weight under a label is ``(1 - share) * what was seen + share * P(word | tag)``.
    """

    tag_of_label: Codes  # (label,)  -1 for labels without words
    share: Array  # (label,)
    pair_label: Codes  # (pair,)     pairs of a label and a word that were seen together
    pair_word: Codes  # (pair,)
    tag_word: Array  # (tag, word + 1)  P(word | tag); the last of words that were not seen
    _found: dict[tuple[int, int], tuple[Codes, Codes, Array]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, trees: CodedTrees, tag_of_label: Codes, n_words: int, *, backoff: float = 1.0
    ) -> Lexicon:
        """Pairs and shares of a treebank.

        Parameters
        ----------
        trees : CodedTrees
        tag_of_label : (label,)
        n_words : int
        backoff : float
            How many words of each label, as of its tag, are added to those that were seen.
        """
        label, word = trees.label[trees.leaves], trees.word[trees.leaves]
        weight = trees.node_weight[trees.leaves]
        key = np.unique(label.astype(np.int64) * n_words + word)
        seen = np.bincount(label, weight, len(tag_of_label))
        n_tags = tag_of_label.max() + 1
        counts = np.zeros((n_tags, n_words + 1))
        np.add.at(counts, (tag_of_label[label], word), weight)
        # As Good and Turing: what is new comes as often as what came once.
        counts[:, -1] = np.minimum((np.round(counts) == 1).sum(1) + 0.5, counts.sum(1) + 0.5)
        share = backoff / np.maximum(seen + backoff, 1e-300) if backoff else np.zeros(len(seen))
        return cls(
            tag_of_label,
            np.where(tag_of_label >= 0, share, 0.0),
            (key // n_words).astype(np.int32),
            (key % n_words).astype(np.int32),
            counts / counts.sum(1, keepdims=True),
        )

    @property
    def n_words(self) -> int:
        """The number of words and classes of words."""
        return int(self.tag_word.shape[1]) - 1

    def pair_of(self, label: NDArray[np.integer], word: NDArray[np.integer]) -> Codes:
        """The pair of each label and word; -1 where they were not seen together."""
        if not len(self.pair_label):
            return np.full(len(label), -1, dtype=np.int32)
        keys = self.pair_label.astype(np.int64) * self.n_words + self.pair_word
        wanted = np.asarray(label, dtype=np.int64) * self.n_words + word
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[at] == wanted) & (np.asarray(word) >= 0), at, -1).astype(np.int32)

    def likeliest_tag(self, word: int) -> int:
        """The tag that a word (-1: one not seen) has most often."""
        # Shares tell how often labels were seen, up to a factor.
        seen = np.where(self.share > 0, 1 / np.maximum(self.share, 1e-300) - 1, 1.0)
        tagged = self.tag_of_label >= 0
        often = np.bincount(self.tag_of_label[tagged], seen[tagged], minlength=len(self.tag_word))
        return int(np.argmax(often * self.tag_word[:, word]))

    def candidates(self, word: int, tag: int) -> tuple[Codes, Codes, Array]:
        """The labels of a word, their pairs (-1: not seen), and what its tag adds to each.

        Parameters
        ----------
        word : int
            -1 for one that was not seen, nor any like it.
        tag : int
            -1 where it is not known: any that the word was seen with, or any at all.
        """
        key = word, tag
        if key not in self._found:
            at = self.tag_of_label
            weights = self.tag_word[:, word].copy()
            if not weights.any():
                weights = self.tag_word[:, -1] / (1 + self.n_words)
            if tag >= 0 and not weights[tag]:
                weights = self.tag_word[:, -1] / (1 + self.n_words)
            fits = at == tag if tag >= 0 else (at >= 0) & (weights[at] > 0)
            labels = np.flatnonzero(fits).astype(np.int32)
            pairs = self.pair_of(labels, np.full(len(labels), word))
            self._found[key] = labels, pairs, self.share[labels] * weights[at[labels]]
        return self._found[key]


@dataclass(frozen=True, eq=False)
class LatentGrammar:
    """Tensors of rules and vectors of words, in whatever basis the states of each label have.

    The score of a tree is what its inside vectors come to at the root, times `start`.
    """

    rules: Rules
    lexicon: Lexicon
    start: Array  # (label, m)
    total: Array  # (label, m)  what all words of a label together come to
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
    def rule_arrays(self) -> tuple[Array, ...]:
        """What compiled passes need to know of the rules."""
        return (
            *(self.dense, self.tensors, self.first_term),
            *(self.parents, self.lefts, self.rights),
        )

    def word_vectors(self, word: int, tag: int) -> tuple[Codes, Array]:
        """The labels of a word, and the inside vector of each, see `Lexicon.candidates`."""
        labels, pairs, added = self.lexicon.candidates(word, tag)
        vectors = added[:, None] * self.total[labels]
        seen = pairs >= 0
        share = self.lexicon.share[labels[seen]]
        vectors[seen] += (1 - share)[:, None] * self.words[pairs[seen]]
        return labels, vectors.astype(self.tensors.dtype)


@dataclass(frozen=True, eq=False)
class GrammarTables:
    """A grammar in probabilities: a label's state chooses a rule, and the rule the states of its children."""

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
        """The same as a sum of one term for each rule and state."""
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


def plain_grammar(trees: CodedTrees, rules: Rules, lexicon: Lexicon) -> GrammarTables:
    """The grammar of one state a label whose probabilities are the shares in a treebank."""
    weight, label = trees.node_weight, trees.label
    seen = np.maximum(np.bincount(label, weight, rules.n_labels), 1e-300)
    rule = rules.rule_of(trees)[trees.inner]
    uses = np.bincount(rule, weight[trees.inner], len(rules))
    leaves = trees.leaves
    pair = lexicon.pair_of(label[leaves], trees.word[leaves])
    words = np.bincount(pair, weight[leaves], len(lexicon.pair_label))
    start = np.bincount(label[trees.roots], trees.weight, rules.n_labels)
    ones = np.ones((len(rules), 1, 1))
    return GrammarTables(
        rules,
        lexicon,
        (start / start.sum())[:, None],
        (uses / seen[rules.triples[:, 0]])[:, None],
        ones,
        ones,
        (words / seen[lexicon.pair_label])[:, None],
    )
