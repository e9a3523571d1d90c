"""The rules of a grammar of binary trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tacit.parsing.data.treebank import CodedTrees

Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Rules:
    """Which two labels may stand under which, in ascending order of (parent, left, right)."""

    triples: Codes  # (rule, 3)   parent, left, right label
    n_labels: int

    @classmethod
    def of(cls, trees: CodedTrees, n_labels: int) -> Rules:
        """Every rule that was seen."""
        return cls(np.unique(_triples(trees), axis=0).astype(np.int32).reshape(-1, 3), n_labels)

    def __len__(self) -> int:
        """The number of rules."""
        return len(self.triples)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """(rule,) the three labels as one number, ascending."""
        return _key(self.triples, self.n_labels)

    def rule_of(self, trees: CodedTrees) -> Codes:
        """(node,) the rule of each inner node; -1 at words and where no rule fits."""
        codes = np.full(len(trees.label), -1, dtype=np.int32)
        triples = _triples(trees)
        if not len(self):
            return codes
        keys = _key(triples, self.n_labels)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self) - 1)
        codes[trees.inner] = np.where((self.keys[at] == keys) & (triples.min(1) >= 0), at, -1)
        return codes

    @cached_property
    def by_left(self) -> tuple[Codes, Codes]:
        """Where the rules of each left label begin, and the rules in that order."""
        order = np.argsort(self.triples[:, 1], kind="stable").astype(np.int32)
        return _begins(self.triples[:, 1], self.n_labels), order

    @cached_property
    def by_pair(self) -> tuple[Codes, Codes]:
        """Where the rules of each left and right label begin, and the rules in that order."""
        pair = self.triples[:, 1].astype(np.int64) * self.n_labels + self.triples[:, 2]
        return _begins(pair, self.n_labels**2), np.argsort(pair, kind="stable").astype(np.int32)


def _triples(trees: CodedTrees) -> Codes:
    inner = trees.inner
    return np.stack(
        [trees.label[inner], trees.label[trees.left[inner]], trees.label[trees.right[inner]]], 1
    )


def _key(triples: Codes, n_labels: int) -> NDArray[np.int64]:
    numbers = triples.astype(np.int64)
    return (numbers[:, 0] * n_labels + numbers[:, 1]) * n_labels + numbers[:, 2]


def _begins(codes: NDArray[np.integer], n: int) -> Codes:
    return np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n))]).astype(np.int32)
