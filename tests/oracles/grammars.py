"""Latent-variable grammars with known tables: random ones, all their trees, and the trees of a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.data.treebank import CodedTrees
from tacit.parsing.model.grammar import GrammarTables, Lexicon
from tacit.parsing.structure.rules import Rules

Array = NDArray[np.float64]
# A tree as nested tuples: (label, word) or (label, left, right).
Nested = tuple[Any, ...]


def random_grammar(
    n_states: int = 2,
    *,
    n_layers: int | None = None,
    n_brackets: int = 2,
    n_tags: int = 2,
    n_words: int = 4,
    random_state: Any = 0,
) -> GrammarTables:
    """A grammar with random probabilities; any tag may have any word.

    Parameters
    ----------
    n_states : int
        Of every label.
    n_layers : int, optional
        Brackets come in this many layers; those of one hold only those of the next, the last ones tags: there
        are then finitely many trees. Unless given, every bracket may hold every bracket and tag.
    n_brackets, n_tags : int
        Labels of each layer, and of words.
    n_words : int
    random_state : int or numpy.random.Generator
    """
    rng = np.random.default_rng(random_state)
    inner = n_brackets * (n_layers or 1)
    tags = range(inner, inner + n_tags)
    triples = []
    for label in range(inner):
        below = [*range(inner), *tags]
        if n_layers is not None:
            last = label // n_brackets == n_layers - 1
            after = (label // n_brackets + 1) * n_brackets
            below = [*tags] if last else [*range(after, after + n_brackets), inner]
        triples += [(label, left, right) for left, right in product(below, repeat=2)]
    rules = Rules(np.array(triples, dtype=np.int32), inner + n_tags)
    lexicon = _lexicon(inner, n_tags, n_words)
    m = n_states
    start = np.zeros((inner + n_tags, m))
    start[:n_brackets] = rng.dirichlet(np.ones(n_brackets * m)).reshape(n_brackets, m)
    rule_given = rng.exponential(size=(len(rules), m))
    for label in range(inner):
        of_label = rules.triples[:, 0] == label
        rule_given[of_label] /= rule_given[of_label].sum(axis=0)
    word_given = rng.dirichlet(np.full(n_words, 0.5), size=(n_tags, m)).transpose(0, 2, 1)
    left_given, right_given = rng.dirichlet(np.full(m, 0.5), size=(2, len(rules), m))
    return GrammarTables(
        rules, lexicon, start, rule_given, left_given, right_given, word_given.reshape(-1, m)
    )


def _lexicon(n_inner: int, n_tags: int, n_words: int) -> Lexicon:
    tag_of_label = np.array([-1] * n_inner + [*range(n_tags)], dtype=np.int32)
    return Lexicon(
        tag_of_label,
        np.zeros(n_inner + n_tags),
        np.repeat(np.arange(n_inner, n_inner + n_tags), n_words).astype(np.int32),
        np.tile(np.arange(n_words), n_tags).astype(np.int32),
        np.full((n_tags, n_words + 1), 1 / n_words),
    )


def every_tree(tables: GrammarTables) -> list[Nested]:
    """All trees of a grammar in layers."""
    inner = tables.start.any(axis=1)
    return [tree for label in np.flatnonzero(inner) for tree in _below(tables, int(label))]


def _below(tables: GrammarTables, label: int) -> Iterator[Nested]:
    lexicon = tables.lexicon
    if lexicon.tag_of_label[label] >= 0:
        for word in lexicon.pair_word[lexicon.pair_label == label]:
            yield label, int(word)
        return
    for _, left, right in tables.rules.triples[tables.rules.triples[:, 0] == label]:
        for a, b in product(list(_below(tables, int(left))), list(_below(tables, int(right)))):
            yield label, a, b


def sentence_trees(tables: GrammarTables, words: Sequence[int]) -> list[Nested]:
    """All trees of a sentence, with any root."""

    def over(start: int, stop: int, label: int) -> Iterator[Nested]:
        if stop - start == 1:
            if tables.lexicon.tag_of_label[label] >= 0:
                yield label, words[start]
            return
        for _, left, right in tables.rules.triples[tables.rules.triples[:, 0] == label]:
            for split in range(start + 1, stop):
                for a in over(start, split, int(left)):
                    for b in over(split, stop, int(right)):
                        yield label, a, b

    return [t for root in range(tables.rules.n_labels) for t in over(0, len(words), root)]


def tree_probability(tables: GrammarTables, tree: Nested) -> float:
    """The probability of a tree, by sums over the states of its labels."""

    def below(node: Nested) -> Array:
        if len(node) == 2:
            pair = tables.lexicon.pair_of(np.array([node[0]]), np.array([node[1]]))
            return np.asarray(tables.word_given[pair[0]])
        triple = [node[0], node[1][0], node[2][0]]
        rule = int(np.flatnonzero((tables.rules.triples == triple).all(axis=1))[0])
        left = tables.left_given[rule] @ below(node[1])
        return np.asarray(
            tables.rule_given[rule] * left * (tables.right_given[rule] @ below(node[2]))
        )

    return float(tables.start[tree[0]] @ below(tree))


def coded(trees: Sequence[Nested], weight: Array | None = None) -> CodedTrees:
    """Trees in the form that grammars are learnt from."""
    rows: list[tuple[int, ...]] = []
    first = [0]

    def put(node: Nested, start: int) -> tuple[int, int]:
        if len(node) == 2:
            rows.append((node[0], -1, -1, node[1], start, start + 1))
            return len(rows) - 1, start + 1
        left, split = put(node[1], start)
        right, stop = put(node[2], split)
        rows.append((node[0], left, right, -1, start, stop))
        return len(rows) - 1, stop

    for tree in trees:
        put(tree, 0)
        first.append(len(rows))
    label, left, right, word, begin, end = np.ascontiguousarray(np.array(rows, dtype=np.int32).T)
    weight = np.ones(len(trees)) if weight is None else weight
    return CodedTrees(label, left, right, word, begin, end, np.array(first, dtype=np.int64), weight)
