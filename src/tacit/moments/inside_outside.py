"""What is seen below and around the nodes of trees, as sparse features scaled by how rare they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.data.treebank_grammar import CodedTrees
    from tacit.structure.grammar import Rules

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
SEEN = (
    20.0  # added to the count of a feature before it is divided by; with fewer, rare ones are noise
)
_WIDTHS = np.array([1, 2, 3, 4, 6, 9, 13, 20, 30])


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """Features of nodes, those of one label after another; features of different labels are different."""

    order: Codes  # (row,)         the node of each row
    first: Codes  # (label + 1,)   where the rows of a label begin
    inside: Any  # (row, feature)  sparse
    outside: Any  # (row, feature)
    inside_first: Codes  # (label + 1,)  where the features of a label begin
    outside_first: Codes

    @classmethod
    def of(cls, trees: CodedTrees, rules: Rules) -> NodeFeatures:
        """Features of all nodes of a treebank."""
        order = np.argsort(trees.label, kind="stable").astype(np.int64)
        label = trees.label[order].astype(np.int64)
        first = np.searchsorted(label, np.arange(rules.n_labels + 1))
        weight = trees.node_weight[order]
        inner, word = inside_codes(trees, rules), trees.word.astype(np.int64)
        leaf = trees.left < 0
        below = [np.where(leaf, -1, code)[order] for code in inner]
        below.append(np.where(leaf, word, -1)[order])
        around = [code[order] for code in outside_codes(trees, rules)]
        scale = np.sqrt(np.bincount(label, weight, rules.n_labels))[label]
        inside, inside_first = _one_hot(below, label, weight, scale, rules.n_labels)
        outside, outside_first = _one_hot(around, label, weight, scale, rules.n_labels)
        return cls(order, first, inside, outside, inside_first, outside_first)

    def of_label(self, label: int) -> tuple[Any, Any]:
        """Inside and outside features of the nodes of a label, (node, feature) each."""
        rows = slice(self.first[label], self.first[label + 1])
        return (
            self.inside[rows, self.inside_first[label] : self.inside_first[label + 1]],
            self.outside[rows, self.outside_first[label] : self.outside_first[label + 1]],
        )


def inside_codes(trees: CodedTrees, rules: Rules) -> list[Codes]:
    """Of nodes with children: labels, rules of one and two levels, width, words; of others nothing of use."""
    label, left, right = trees.label.astype(np.int64), trees.left, trees.right
    rule = rules.rule_of(trees).astype(np.int64)
    form = np.where(rule >= 0, rule, len(rules) + label)
    return [
        label[left],
        label[right],
        rule,
        _both(rule, form[left]),
        _both(rule, form[right]),
        np.searchsorted(_WIDTHS, trees.stop - trees.start).astype(np.int64),
        # Words of the children that are words, -1 for others: a phrase is often told by its first.
        trees.word[left].astype(np.int64),
        trees.word[right].astype(np.int64),
    ]


def outside_codes(trees: CodedTrees, rules: Rules) -> list[Codes]:
    """Of each node: rules of one to three levels above, labels, widths before and after, the word beside."""
    rule = rules.rule_of(trees).astype(np.int64)
    parent, node = trees.parent, np.arange(len(rule))
    above = np.where(parent >= 0, parent, 0)
    side = trees.right[above] == node
    step = np.where(parent >= 0, 2 * rule[above] + side + 1, 0)
    label = np.where(parent >= 0, trees.label[above] + 1, 0).astype(np.int64)
    two = _both(step, np.where(parent >= 0, step[above], 0))
    three = _both(step, np.where(parent >= 0, two[above], 0))
    last = trees.stop[trees.roots][trees.tree]
    beside = trees.word[np.where(side, trees.left[above], trees.right[above])]
    return [
        step,
        two,
        three,
        label,
        _both(label, np.where(parent >= 0, label[above], 0)),
        np.searchsorted(_WIDTHS, trees.start).astype(np.int64),
        np.searchsorted(_WIDTHS, last - trees.stop).astype(np.int64),
        np.where((parent >= 0) & (beside >= 0), 2 * beside + side, -1).astype(np.int64),
    ]


def _both(a: NDArray[np.integer], b: NDArray[np.integer]) -> Codes:
    """One number for each pair of numbers."""
    key = (a.astype(np.int64) + 1) * (int(b.max(initial=0)) + 2) + b + 1
    return np.unique(key, return_inverse=True)[1].astype(np.int64)


def _one_hot(
    codes: list[Codes], label: Codes, weight: Array, scale: Array, n_labels: int
) -> tuple[Any, Codes]:
    """(row, feature) sparse features, and where those of a label begin; codes below zero are left out."""
    from scipy.sparse import csr_array

    most = max(int(code.max(initial=0)) for code in codes) + 1
    kinds = np.arange(len(codes))
    stacked = np.stack(codes, axis=1)
    key = (label[:, None] * len(codes) + kinds) * most + stacked
    rows, places = np.nonzero(stacked >= 0)
    found, column = np.unique(key[rows, places], return_inverse=True)
    counts = np.bincount(column, weight[rows], len(found))
    values = scale[rows] / np.sqrt(counts[column] + SEEN)
    begins = np.searchsorted(rows, np.arange(len(label) + 1))
    first = np.searchsorted(found // (most * len(codes)), np.arange(n_labels + 1))
    return csr_array((values, column, begins), shape=(len(label), len(found))), first
