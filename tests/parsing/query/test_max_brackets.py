"""Best trees of a forest: against all trees of short sentences."""

import numpy as np
import pytest

from oracles.grammars import random_grammar, sentence_trees
from tacit.parsing.query.grammar import posterior, sentence_forest
from tacit.parsing.query.max_brackets import best_choices, n_best_choices


def spans_of(tree, start=0):
    """The labelled spans of a tree of nested tuples, and where it ends."""
    if len(tree) == 2:
        return [(tree[0], start, start + 1)], start + 1
    left, split = spans_of(tree[1], start)
    right, stop = spans_of(tree[2], split)
    return [*left, *right, (tree[0], start, stop)], stop


def forest_and_posterior(seed, n_words=4):
    tables = random_grammar(n_states=1, n_tags=1, random_state=seed)
    words = np.random.default_rng(seed).integers(0, 4, n_words)
    tags = [-1] * n_words
    forest = sentence_forest(tables.grammar(), words, tags)
    return tables, words, forest, posterior(tables.grammar(), forest, words, tags)


def spans_chosen(forest, root, chosen):
    items, waiting = [], [root]
    while waiting:
        item = waiting.pop()
        items.append(item)
        if item in chosen:
            waiting += [forest.left[chosen[item]], forest.right[chosen[item]]]
    return sorted((forest.label[i], forest.start[i], forest.stop[i]) for i in items)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_trees_are_the_best_of_all(seed):
    tables, words, forest, actual = forest_and_posterior(seed)
    fraction = dict(
        zip(zip(forest.label, forest.start, forest.stop, strict=True), actual.items, strict=True)
    )
    every = [spans_of(t)[0] for t in sentence_trees(tables, words) if tables.start[t[0]].any()]
    sums = sorted((sum(fraction.get(span, 0.0) for span in spans) for spans in every), reverse=True)
    value, root, chosen = best_choices(forest, actual)
    assert value == pytest.approx(sums[0])
    assert sum(fraction[span] for span in spans_chosen(forest, root, chosen)) == pytest.approx(
        value
    )
    best = n_best_choices(forest, actual, 10)
    assert [one[0] for one in best] == pytest.approx(sums[:10])
    trees = {tuple(spans_chosen(forest, *one[1:])) for one in best}
    assert len(trees) == 10


def test_there_are_no_more_trees_than_there_are():
    tables, words, forest, actual = forest_and_posterior(0, n_words=3)
    every = [t for t in sentence_trees(tables, words) if tables.start[t[0]].any()]
    assert len(n_best_choices(forest, actual, 10_000)) == len(every)
