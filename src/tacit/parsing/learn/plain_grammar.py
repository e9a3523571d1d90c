"""The plain grammar of a treebank: relative frequencies of rules and words, one state per label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.model.grammar import GrammarTables, Lexicon

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees
    from tacit.parsing.structure.rules import Rules


def lexicon_of_trees(
    trees: CodedTrees, tag_of_label: NDArray[np.int32], n_words: int, *, backoff: float = 1.0
) -> Lexicon:
    """The pairs of labels and words of a treebank, and how much each label backs off to its tag.

    Parameters
    ----------
    trees : CodedTrees
    tag_of_label : (label,)
    n_words : int
    backoff : float
        Pseudo-count of words, distributed as those of its tag, that each label gets.
    """
    label, word = trees.label[trees.leaves], trees.word[trees.leaves]
    weight = trees.node_weight[trees.leaves]
    key = np.unique(label.astype(np.int64) * n_words + word)
    n_tokens = np.bincount(label, weight, len(tag_of_label))
    counts = np.zeros((tag_of_label.max() + 1, n_words + 1))
    np.add.at(counts, (tag_of_label[label], word), weight)
    # Good-Turing: unseen words are as frequent as words seen once.
    counts[:, -1] = np.minimum((np.round(counts) == 1).sum(1) + 0.5, counts.sum(1) + 0.5)
    weights = (
        backoff / np.maximum(n_tokens + backoff, 1e-300) if backoff else np.zeros(len(n_tokens))
    )
    return Lexicon(
        tag_of_label,
        np.where(tag_of_label >= 0, weights, 0.0),
        (key // n_words).astype(np.int32),
        (key % n_words).astype(np.int32),
        counts / counts.sum(1, keepdims=True),
    )


def plain_grammar(trees: CodedTrees, rules: Rules, lexicon: Lexicon) -> GrammarTables:
    """The grammar of one state per label whose probabilities are relative frequencies in a treebank."""
    weight, label = trees.node_weight, trees.label
    n_nodes = np.maximum(np.bincount(label, weight, rules.n_labels), 1e-300)
    rule = rules.rule_of(trees)[trees.inner]
    rule_counts = np.bincount(rule, weight[trees.inner], len(rules))
    leaves = trees.leaves
    pair = lexicon.pair_of(label[leaves], trees.word[leaves])
    word_counts = np.bincount(pair, weight[leaves], len(lexicon.pair_label))
    start = np.bincount(label[trees.roots], trees.weight, rules.n_labels)
    ones = np.ones((len(rules), 1, 1))
    return GrammarTables(
        rules,
        lexicon,
        (start / start.sum())[:, None],
        (rule_counts / n_nodes[rules.triples[:, 0]])[:, None],
        ones,
        ones,
        (word_counts / n_nodes[lexicon.pair_label])[:, None],
    )
