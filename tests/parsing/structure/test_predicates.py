"""Sets of tags that sentences need: planted ones, and what chance expects."""

from itertools import combinations

import numpy as np
import pytest

from tacit.parsing.structure.predicates import needed_tags


def planted(n_sentences, random):
    """Tags 1 and 4 stand for each other, one in each sentence; others come by chance. And the numbers."""
    rows = [
        [*random.choice([0, 2, 3, 5], random.integers(2, 9)), random.choice([1, 4])]
        for _ in range(n_sentences)
    ]
    has = np.array([[tag in row for tag in range(6)] for row in rows])
    rates = np.bincount(np.concatenate(rows), minlength=6) / sum(map(len, rows))
    return has, np.array([len(row) for row in rows]), np.ones(n_sentences), rates


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_set_is_found(seed):
    assert needed_tags(*planted(300, np.random.default_rng(seed))) == [1, 4]


def test_no_other_set_surprises_more():
    has, lengths, weights, rates = planted(100, np.random.default_rng(1))
    weights = np.random.default_rng(2).integers(1, 4, 100).astype(float)

    def surprise(some):
        chance = (1 - rates[list(some)].sum()) ** lengths
        missing = weights @ ~has[:, list(some)].any(axis=1)
        return (weights @ chance - missing) / np.sqrt(weights @ (chance * (1 - chance)) + 1)

    every = [some for size in range(1, 6) for some in combinations(range(6), size)]
    assert tuple(needed_tags(has, lengths, weights, rates)) == max(every, key=surprise)


def test_where_chance_explains_all_there_is_no_such_set():
    has = np.array([[True, False], [False, True]])
    assert needed_tags(has, np.ones(2, int), np.full(2, 50.0), np.full(2, 0.5)) == []
    assert needed_tags(has[:, :1], np.ones(2, int), np.ones(2), np.ones(1)) == []
