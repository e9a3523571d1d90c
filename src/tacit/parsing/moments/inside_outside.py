"""Inside and outside features of the nodes of trees, sparse and scaled by their rarity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees
    from tacit.parsing.structure.rules import Rules

Array = NDArray[np.float64]
Codes = NDArray[np.int64]
PSEUDO_COUNT = 20.0  # of a feature; with fewer, rare ones are noise
_WIDTHS = np.array([1, 2, 3, 4, 6, 9, 13, 20, 30])
KINDS = 9  # of features, at most: groups of a label have successive numbers


@dataclass(frozen=True, eq=False)
class Indicators:
    """Which features the rows have, and the counts of features; a feature belongs to one label."""

    group: Codes  # (feature,)   label * KINDS + kind, ascending
    code: Codes  # (feature,)    ascending within a group
    counts: Array  # (feature,)  sums of squares, where they are other numbers than 1
    rows: Any  # (row, feature)  sparse, 1 where a row has a feature, or another number

    @classmethod
    def of(cls, codes: list[Codes], label: Codes, weight: Array) -> Indicators:
        """The features of rows, a code of each kind; codes below zero are left out."""
        from scipy.sparse import csr_array

        stacked = np.stack(codes, axis=1)
        rows, kinds = np.nonzero(stacked >= 0)
        group, code, column = _distinct(label[rows] * KINDS + kinds, stacked[rows, kinds])
        begins = np.searchsorted(rows, np.arange(len(label) + 1))
        shape = (len(label), len(group))
        pattern = csr_array((np.ones(len(rows)), column, begins), shape=shape)
        return cls(group, code, _sums(weight[rows], column, len(group)), pattern)

    def joined(self, other: Indicators, places: Codes) -> Indicators:
        """The features of the rows of both, in the order that `places` gives to the first and the second."""
        from scipy.sparse import csr_array, vstack

        group, code, column = _distinct(
            np.concatenate([self.group, other.group]), np.concatenate([self.code, other.code])
        )
        parts, n = [], 0
        for rows in (self.rows, other.rows):
            moved = column[n : n + rows.shape[1]][rows.indices]
            parts.append(
                csr_array((rows.data, moved, rows.indptr), shape=(rows.shape[0], len(group)))
            )
            n += rows.shape[1]
        counts = _sums(np.concatenate([self.counts, other.counts]), column, len(group))
        return Indicators(group, code, counts, vstack(parts, format="csr")[places])

    def scaled(self, scale: Array) -> Any:
        """(row, feature) the features of a row, times its scale, divided by the root of their counts."""
        features = self.rows.copy()
        roots = np.sqrt(self.counts[features.indices] + PSEUDO_COUNT)
        features.data = features.data * np.repeat(scale, np.diff(features.indptr)) / roots
        return features


@dataclass(frozen=True, eq=False)
class NodeFeatures:
    """Features of nodes, those of one label after another; features of different labels are different.

    Adding two of these gives the features of both treebanks, whose labels, words and rules must have the same
    numbers: nodes of the second come after those of the first.
    """

    order: Codes  # (row,)         the node of each row
    first: Codes  # (label + 1,)   where the rows of a label begin
    counts: Array  # (label,)
    below: Indicators
    around: Indicators

    @classmethod
    def empty(cls, n_labels: int) -> NodeFeatures:
        """Of no node."""
        none = np.empty(0, dtype=np.int64)
        nothing = [Indicators.of([none], none, np.empty(0)) for _ in range(2)]
        return cls(none, np.zeros(n_labels + 1, dtype=np.int64), np.zeros(n_labels), *nothing)

    @classmethod
    def of(cls, trees: CodedTrees, rules: Rules) -> NodeFeatures:
        """Features of all nodes of a treebank."""
        order = np.argsort(trees.label, kind="stable").astype(np.int64)
        label = trees.label[order].astype(np.int64)
        weight = trees.node_weight[order]
        inner, word = inside_codes(trees, rules), trees.word.astype(np.int64)
        leaf = trees.left < 0
        below = [np.where(leaf, -1, code)[order] for code in inner]
        below.append(np.where(leaf, word, -1)[order])
        around = [code[order] for code in outside_codes(trees, rules)]
        return cls(
            order,
            np.searchsorted(label, np.arange(rules.n_labels + 1)),
            _sums(weight, label, rules.n_labels),
            Indicators.of(below, label, weight),
            Indicators.of(around, label, weight),
        )

    def __add__(self, other: NodeFeatures) -> NodeFeatures:
        """The features of both."""
        order = np.concatenate([self.order, other.order + len(self.order)])
        label = np.concatenate([self.labels, other.labels])
        places = np.argsort(label, kind="stable")
        return NodeFeatures(
            order[places],
            self.first + other.first,
            self.counts + other.counts,
            self.below.joined(other.below, places),
            self.around.joined(other.around, places),
        )

    @property
    def labels(self) -> Codes:
        """(row,) the label of each row."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.first))

    @cached_property
    def inside(self) -> Any:
        """(row, feature) sparse, what is below the nodes."""
        return self.below.scaled(np.sqrt(self.counts)[self.labels])

    @cached_property
    def outside(self) -> Any:
        """(row, feature) sparse, what is around them."""
        return self.around.scaled(np.sqrt(self.counts)[self.labels])

    def scaled(self) -> NodeFeatures:
        """The same, with `inside` and `outside` computed now and not when they are first used."""
        _ = self.inside, self.outside
        return self

    @cached_property
    def inside_first(self) -> Codes:
        """(label + 1,) where the inside features of a label begin."""
        return np.searchsorted(self.below.group, KINDS * np.arange(len(self.first)))

    @cached_property
    def outside_first(self) -> Codes:
        """(label + 1,) where the outside features of a label begin."""
        return np.searchsorted(self.around.group, KINDS * np.arange(len(self.first)))

    def of_label(self, label: int) -> tuple[Any, Any]:
        """Inside and outside features of the nodes of a label, (node, feature) each."""
        rows = slice(self.first[label], self.first[label + 1])
        return (
            self.inside[rows, self.inside_first[label] : self.inside_first[label + 1]],
            self.outside[rows, self.outside_first[label] : self.outside_first[label + 1]],
        )


def _sums(weight: Array, codes: Codes, n: int) -> Array:
    return np.asarray(np.bincount(codes, weight, n), dtype=np.float64)


def _distinct(group: Codes, code: Codes) -> tuple[Codes, Codes, Codes]:
    """The different pairs of two numbers in ascending order, and which of them each pair is."""
    order = np.lexsort((code, group))
    group, code = group[order], code[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (group[1:] != group[:-1]) | (code[1:] != code[:-1])
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return group[new], code[new], number


def inside_codes(trees: CodedTrees, rules: Rules) -> list[Codes]:
    """Of nodes with children: labels, rules of one and two levels, width, words; of others nothing of use."""
    label, left, right = trees.label.astype(np.int64), trees.left, trees.right
    rule = rules.rule_of(trees).astype(np.int64)
    form = np.where(rule >= 0, rule, len(rules) + label)
    return [
        label[left],
        label[right],
        rule,
        _both(rule, form[left], len(rules) + rules.n_labels),
        _both(rule, form[right], len(rules) + rules.n_labels),
        np.searchsorted(_WIDTHS, trees.stop - trees.start).astype(np.int64),
        # Words of the children that are words, -1 for others: a phrase is often marked by its first.
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
    n_steps = 2 * len(rules) + 1
    two = _both(step, np.where(parent >= 0, step[above], 0), n_steps)
    three = _both(step, np.where(parent >= 0, two[above], 0), (n_steps + 1) ** 2)
    last = trees.stop[trees.roots][trees.tree]
    beside = trees.word[np.where(side, trees.left[above], trees.right[above])]
    return [
        step,
        two,
        three,
        label,
        _both(label, np.where(parent >= 0, label[above], 0), rules.n_labels + 1),
        np.searchsorted(_WIDTHS, trees.start).astype(np.int64),
        np.searchsorted(_WIDTHS, last - trees.stop).astype(np.int64),
        np.where((parent >= 0) & (beside >= 0), 2 * beside + side, -1).astype(np.int64),
    ]


def _both(a: NDArray[np.integer], b: NDArray[np.integer], n: int) -> Codes:
    """One number for each pair of numbers, the second of which is below `n`; ascending with both."""
    return (a.astype(np.int64) + 1) * (n + 1) + b + 1
