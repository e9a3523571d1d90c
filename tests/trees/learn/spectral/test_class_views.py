"""Latent classes of many columns from the joint tables of three groups of them."""

import numpy as np
import pytest

from oracles.networks import rooted_tree
from tacit.errors import DataError, RankError
from tacit.toy import random_tables
from tacit.toy.exact import ExactMoments
from tacit.trees.learn.spectral.class_views import chosen_views, classes_by_views


def truth_of(cards, k, seed):
    tree = rooted_tree([len(cards)] * len(cards) + [-1], len(cards))
    return random_tables(tree, list(cards), k, seed, diagonal=2.0)


def ordered(tables):
    """Shares in descending order, and the tables in the same."""
    weights = tables.table(tables.tree.root)[0]
    order = np.argsort(-weights, kind="stable")
    leaves = range(tables.tree.n_leaves)
    return weights[order], [tables.table(leaf)[order] for leaf in leaves]


@pytest.mark.parametrize(
    ("cards", "k"), [((3, 4, 5), 3), ((2, 2, 2, 2, 2, 2, 2), 3), ((2, 3, 4, 2, 3, 6, 2), 4)]
)
@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_give_the_exact_classes(cards, k, seed):
    truth = truth_of(cards, k, seed)
    classes = classes_by_views(ExactMoments(truth), k)
    weights, tables = ordered(truth)
    assert classes.weights == pytest.approx(weights, abs=1e-8)
    for one, other in zip(classes.tables, tables, strict=True):
        assert one == pytest.approx(other, abs=1e-8)


def test_views_are_columns_that_hang_together_and_show_all_classes():
    """The last two columns have nothing to do with the others."""
    truth = truth_of((2, 2, 2, 2, 2, 2, 4, 4), 3, 0)
    for leaf in (6, 7):
        truth.table(leaf)[:] = 0.25
    views = chosen_views(ExactMoments(truth).pairs(), 3, 3)
    assert sorted(column for view in views for column in view) == [0, 1, 2, 3, 4, 5]
    assert [len(view) for view in views] == [2, 2, 2]


def test_too_few_columns_and_too_many_classes_are_refused():
    with pytest.raises(DataError, match="three columns or more, and there are 2"):
        chosen_views(ExactMoments(truth_of((3, 3), 2, 0)).pairs(), 2, 3)
    pairs = ExactMoments(truth_of((2, 2, 2, 2), 2, 0)).pairs()
    with pytest.raises(RankError, match="n_states<=2"):
        chosen_views(pairs, 3, 3)
    with pytest.raises(RankError, match="up to 1 columns"):
        chosen_views(ExactMoments(truth_of((2,) * 9, 2, 0)).pairs(), 3, 1)
