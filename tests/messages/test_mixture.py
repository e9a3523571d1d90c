"""Mixtures of trees as values: what they hold, and what is refused."""

import numpy as np
import pytest

from oracles.mixtures import random_mixture
from oracles.networks import random_tables, rooted_tree
from tacit.errors import ArgumentError
from tacit.messages.mixture import Mixture
from tacit.messages.rooted_tree import RootedTree


def star(cards=(2, 3), states=2, seed=0):
    tree = rooted_tree([len(cards)] * len(cards) + [-1], len(cards))
    return random_tables(np.random.default_rng(seed), tree, (*cards, states))


def test_the_heaviest_component_comes_first_and_weights_are_brought_to_sum_one():
    parts = [star(seed=seed) for seed in range(4)]
    mixture = Mixture.of([1, 4, 2, 4], parts)
    assert mixture.weights == pytest.approx(np.array([4, 4, 2, 1]) / 11)
    assert mixture.parts == (parts[1], parts[3], parts[2], parts[0])
    assert mixture.heaviest == 0
    assert Mixture(np.array([0.25, 0.75]), tuple(parts[:2])).heaviest == 1


def test_hidden_variables_are_the_component_and_the_nodes_of_every_tree():
    mixture = random_mixture(np.random.default_rng(0))
    expected = {"component": 3}
    for number, part in enumerate(mixture.parts):
        for node in part.tree.hidden:
            expected[f"{number}/{part.tree.names[node]}"] = part.table(node).shape[1]
    assert mixture.n_states == expected


def test_free_parameters_are_those_of_the_parts_and_of_the_weights():
    mixture = Mixture(np.array([0.5, 0.5]), (star(states=2), star(states=3)))
    assert mixture.n_components == 2
    assert mixture.n_parameters == (1 + 2 * (1 + 2)) + (2 + 3 * (1 + 2)) + 1


def test_weights_cannot_be_changed_from_outside():
    weights = np.array([0.5, 0.5])
    mixture = Mixture(weights, (star(), star()))
    weights[0] = 0.0
    assert mixture.weights.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        mixture.weights[0] = 1.0


@pytest.mark.parametrize(
    "weights", [[], [1.0], [0.5, 0.6], [1.5, -0.5], [np.nan, 1.0], [[0.5, 0.5]], [0.2, 0.3, 0.5]]
)
def test_weights_that_are_no_probabilities_of_the_parts_are_refused(weights):
    with pytest.raises(ArgumentError, match="weight"):
        Mixture(np.array(weights), (star(), star()))


def test_a_mixture_of_nothing_is_refused():
    with pytest.raises(ArgumentError, match="at least one"):
        Mixture(np.array([]), ())


def test_trees_with_other_leaves_are_refused():
    one = star()
    renamed = RootedTree(("x1", "x0", "h2"), 2, one.tree.parent, one.tree.copy_of)
    others = (
        star((2, 2)),
        star((2, 3, 2)),
        random_tables(np.random.default_rng(0), renamed, (2, 3, 2)),
    )
    for other in others:
        with pytest.raises(ArgumentError, match="component 1 has other leaves"):
            Mixture(np.array([0.5, 0.5]), (one, other))
