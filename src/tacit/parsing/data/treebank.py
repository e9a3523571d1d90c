"""Binary trees in codes, as grammars take them: two children or one word at every node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.parsing.data.parse_trees import ParseTree

Codes = NDArray[np.int32]

BRACKET, REST, TAG = "bracket", "rest", "tag"
_SUFFIXES = re.compile(
    r"(ing|ed|ly|ion|ions|er|ers|est|able|ible|al|ity|ous|ive|ic|ment|ness|ess|ist|ism|ies|es|s|y)$"
)


class Label(NamedTuple):
    """A label of a binary tree: brackets that hold only each other, down to a word's tag if they end there.

    Examples
    --------
    >>> str(Label(("NP", "NN"), TAG)), str(Label(("NP",), REST))
    ('NP+NN', '@NP')
    """

    chain: tuple[str, ...]  # outer first
    kind: str  # BRACKET; REST, the children of a bracket but the first; or TAG, where the last is a tag

    def __str__(self) -> str:
        """The chain joined by plus signs, after an at sign for a rest."""
        return ("@" if self.kind == REST else "") + "+".join(self.chain)


def word_class(word: str) -> str:
    """What stands for a rare word: its letters, figures, hyphen and ending.

    Examples
    --------
    >>> word_class("Vinken"), word_class("61-year-old"), word_class("sleeping")
    ('?A', '?0-', '?a-ing')
    """
    shape = "0" if any(map(str.isdigit, word)) else "A" if word[:1].isupper() else "a"
    hyphen = "-" if "-" in word[1:] else ""
    ending = _SUFFIXES.search(word) if shape == "a" and not hyphen and len(word) > 3 else None
    return f"?{shape}{hyphen}{'-' + ending.group() if ending else ''}"


@dataclass(frozen=True, eq=False)
class GrammarSymbols:
    """The labels and words of a treebank, and their numbers."""

    labels: tuple[Label, ...]
    words: tuple[str, ...]  # frequent ones, and classes of rare ones

    @cached_property
    def label_codes(self) -> dict[Label, int]:
        """The number of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    @cached_property
    def word_codes(self) -> dict[str, int]:
        """The number of each word and class of rare words."""
        return {word: code for code, word in enumerate(self.words)}

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of words, in alphabetical order."""
        return tuple(sorted({label.chain[-1] for label in self.labels if label.kind == TAG}))

    @cached_property
    def tag_of_label(self) -> Codes:
        """(label,) the number of the tag that a label ends in; -1 for others."""
        codes = {tag: code for code, tag in enumerate(self.tags)}
        return np.array(
            [codes[label.chain[-1]] if label.kind == TAG else -1 for label in self.labels], np.int32
        )

    def word_code(self, word: str) -> int:
        """The number of a word, or of its class; -1 where neither was seen."""
        codes = self.word_codes
        return codes.get(word, -1) if word in codes else codes.get(word_class(word), -1)


@dataclass(frozen=True, eq=False)
class CodedTrees:
    """Binary trees one after another, the nodes of each in a row, children before their parents.

    The root of a tree is its last node.
    """

    label: Codes  # (node,)
    left: Codes  # (node,)    the left child; -1 at words
    right: Codes  # (node,)
    word: Codes  # (node,)    -1 where there are children
    start: Codes  # (node,)   the first word
    stop: Codes  # (node,)    the word after the last
    first: NDArray[np.int64]  # (tree + 1,) where the nodes of a tree begin
    weight: NDArray[np.float64]  # (tree,)

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.first) - 1

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        """(tree,) the node of each root."""
        return self.first[1:] - 1

    @cached_property
    def tree(self) -> NDArray[np.int64]:
        """(node,) the tree of each node."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.first))

    @cached_property
    def node_weight(self) -> NDArray[np.float64]:
        """(node,) the weight of the tree it is in."""
        return self.weight[self.tree]

    @cached_property
    def inner(self) -> NDArray[np.int64]:
        """The nodes that have children."""
        return np.flatnonzero(self.left >= 0)

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """The nodes that have a word."""
        return np.flatnonzero(self.left < 0)

    @cached_property
    def parent(self) -> Codes:
        """(node,) the parent of each node; -1 for roots."""
        parent = np.full(len(self.label), -1, dtype=np.int32)
        parent[self.left[self.inner]] = self.inner
        parent[self.right[self.inner]] = self.inner
        return parent


# -- from trees -------------------------------------------------------------------------------------


def coded_treebank(
    trees: Sequence[ParseTree], *, min_count: int = 3
) -> tuple[CodedTrees, GrammarSymbols]:
    """Binary trees and their symbols.

    A bracket that holds nothing but one bracket or word becomes one label with it; of more than two
    children the first stands beside the rest.

    Parameters
    ----------
    trees : sequence of ParseTree
        Without empty words and functions, see `tacit.parsing.data.parse_trees`.
    min_count : int
        Words seen less often become their `word_class`.

    Raises
    ------
    DataError
        There is no tree.
    """
    if not len(trees):
        raise DataError("there is no tree to learn a grammar from; give at least one")
    counts = Counter(word for tree in trees for word, _ in tree.leaves())
    frequent = {word for word, count in counts.items() if count >= min_count}
    classes = {word_class(word) for word in counts.keys() - frequent}
    words = tuple(sorted(frequent)) + tuple(sorted(classes - frequent))
    pieces = [_binary(tree) for tree in trees]
    labels = sorted({row[0] for rows in pieces for row in rows}, key=lambda x: (x.kind, x.chain))
    symbols = GrammarSymbols(tuple(labels), words)
    return _coded(pieces, symbols, np.ones(len(trees))), symbols


def coded_trees(trees: Iterable[ParseTree], symbols: GrammarSymbols) -> CodedTrees:
    """Binary trees in the numbers of a grammar; -1 for a label that it does not have."""
    pieces = [_binary(tree) for tree in trees]
    return _coded(pieces, symbols, np.ones(len(pieces)))


Row = tuple[Label, int, int, str | None, int, int]


def _binary(tree: ParseTree) -> list[Row]:
    """(label, left, right, word, start, stop) of the nodes of a tree made binary, children first."""
    nodes = list(tree.nodes())
    place = sum(node.word is not None for node in nodes)
    rows: list[Row] = []
    waiting: list[Row] = []  # subtrees that have no number yet, the leftmost last

    def number(row: Row) -> int:
        rows.append(row)
        return len(rows) - 1

    for node in reversed(nodes):
        if node.word is not None:
            place -= 1
            waiting.append((Label((node.label,), TAG), -1, -1, node.word, place, place + 1))
            continue
        children = [waiting.pop() for _ in node.children]
        if len(children) == 1:
            label, *others = children[0]
            waiting.append((Label((node.label, *label.chain), label.kind), *others))  # type: ignore[arg-type]
            continue
        right, stop = number(children[-1]), children[-1][5]
        for child in children[-2:0:-1]:
            left = number(child)
            right = number((Label((node.label,), REST), left, right, None, child[4], stop))
        first = children[0]
        bracket = Label((node.label,), BRACKET)
        waiting.append((bracket, number(first), right, None, first[4], stop))
    number(waiting.pop())
    return rows


def _coded(
    pieces: Sequence[list[Row]], symbols: GrammarSymbols, weight: NDArray[np.float64]
) -> CodedTrees:
    first = np.concatenate([[0], np.cumsum([len(rows) for rows in pieces])]).astype(np.int64)
    codes = symbols.label_codes
    words: dict[str, int] = {}
    columns = np.empty((6, first[-1]), dtype=np.int32)
    for base, rows in zip(first, pieces, strict=False):
        for at, (label, left, right, word, start, stop) in enumerate(rows, int(base)):
            code = -1
            if word is not None:
                if word not in words:
                    words[word] = symbols.word_code(word)
                code = words[word]
            columns[:, at] = (
                codes.get(label, -1),
                *((-1, -1) if left < 0 else (left + base, right + base)),
                *(code, start, stop),
            )
    label, left, right, word, start, stop = columns
    return CodedTrees(label, left, right, word, start, stop, first, weight)


# -- to trees ---------------------------------------------------------------------------------------


def whole_tree(
    root: int,
    labels: Sequence[Label],
    children: Any,
    words: Sequence[str],
    tags: Sequence[str | None] | None = None,
) -> ParseTree:
    """The tree that a binary one stands for.

    Parameters
    ----------
    root : int
        Its root, by a number of the caller's.
    labels : sequence of Label
        By that number.
    children : callable
        From a number to those of the two children; None for words, which come from left to right.
    words : sequence of str
    tags : sequence of str, optional
        Of the words; None for those of the labels.
    """
    done: list[list[ParseTree]] = []
    waiting: list[tuple[int, bool]] = [(root, False)]
    place = 0
    while waiting:
        node, ready = waiting.pop()
        label, below = labels[node], children(node)
        if below is not None and not ready:
            waiting += [(node, True), (below[1], False), (below[0], False)]
            continue
        if below is None:
            tag_given = None if tags is None else tags[place]
            tag = label.chain[-1] if tag_given is None else tag_given
            inside, chain = [ParseTree(tag, (), words[place])], label.chain[:-1]
            place += 1
        else:
            right, left = done.pop(), done.pop()
            inside, chain = left + right, label.chain if label.kind == BRACKET else ()
        for outer in reversed(chain):
            inside = [ParseTree(outer, tuple(inside))]
        done.append(inside)
    top = done.pop()
    return top[0] if len(top) == 1 else ParseTree("TOP", tuple(top))
