"""The kernel metric: lengths that add up, heard through features of any kind."""

import math
from itertools import product

import numpy as np
import pytest

from oracles.distances import path_lengths
from oracles.feature_population import FeaturePopulation
from tacit.core.encoders.encoders import (
    IndicatorEncoder,
    grid_encoder,
    kernel_encoder,
    median_bandwidth,
)
from tacit.errors import ArgumentError
from tacit.evaluate.trees import robinson_foulds
from tacit.toy import random_topology, random_tree_model
from tacit.toy.exact import joint_table
from tacit.trees.learn.kernel_distances import kernel_distances
from tacit.trees.moments.features import FeatureMoments
from tacit.trees.moments.source import PairTables
from tacit.trees.structure.distances import discrete_distances, gaussian_distances
from tacit.trees.structure.neighbour_joining import chow_liu_joining, neighbor_joining


def exact_moments(n_states, seed):
    """A tree of six leaves, each a distribution over a few numbers or categories, and its exact moments."""
    tree = random_topology(6, n_children=(2, 2), random_state=seed)
    model = random_tree_model(
        topology=tree, n_states=n_states, n_categories=4, diagonal=1.0, random_state=seed
    )
    rng = np.random.default_rng(seed)
    values = [np.sort(rng.normal(size=4)) for _ in range(6)]
    encoders = [kernel_encoder(column, 0.6, 1e-9) for column in values]
    values[0], encoders[0] = np.arange(4), IndicatorEncoder(4)
    encoders[1] = grid_encoder(-2, 2, 9, 0.7)
    return model, FeaturePopulation(joint_table(model.tables), values, encoders)


@pytest.mark.parametrize(
    ("n_states", "centred", "whiten", "seed"),
    list(product([2, 3], [True, False], [True, False], range(3))),
)
def test_exact_moments_give_lengths_that_add_up_and_the_true_tree(n_states, centred, whiten, seed):
    model, moments = exact_moments(n_states, seed)
    rank = n_states - 1 if centred else n_states
    distances = kernel_distances(moments, rank, centred=centred, whiten=whiten)
    assert distances.supported.all()
    for join in (neighbor_joining, chow_liu_joining):
        tree = join(distances.values, model.names)
        assert path_lengths(tree, model.names) == pytest.approx(distances.values, abs=1e-8)
        assert robinson_foulds(tree, model.topology) == 0


def test_one_value_too_few_does_not_add_up():
    model, moments = exact_moments(3, 0)
    distances = kernel_distances(moments, 1)
    tree = neighbor_joining(distances.values, model.names)
    assert np.abs(path_lengths(tree, model.names) - distances.values).max() > 1e-3


@pytest.mark.parametrize("rank", [1, 2, None])
def test_with_indicators_it_is_the_discrete_metric(rank):
    codes = np.random.default_rng(0).integers(0, 3, size=(500, 5))
    codes[:, 1:] = np.where(
        np.random.default_rng(1).random((500, 4)) < 0.7, codes[:, :1], codes[:, 1:]
    )
    codes[np.random.default_rng(2).random(codes.shape) < 0.2] = -1
    moments = FeatureMoments.of(codes, [IndicatorEncoder(3)] * 5)
    ours = kernel_distances(moments, rank, whiten=False)
    counts = PairTables.of(codes, (3,) * 5).counts
    theirs = discrete_distances(counts, (3,) * 5, None if rank is None else rank + 1)
    assert ours.values == pytest.approx(theirs.values, abs=1e-10)
    assert np.array_equal(ours.supported, theirs.supported)


def mixtures(topology, n_rows, seed, missing=0.0):
    """Rows of a binary tree whose leaves are one bump or two, with the same mean."""
    rng = np.random.default_rng(seed)
    tree = topology.rooted(topology.observed)
    states = np.zeros((n_rows, tree.n_nodes), dtype=bool)
    for node in reversed(range(tree.n_nodes)):
        above = tree.parent[node]
        flips = rng.random(n_rows) < (0.5 if above < 0 else 0.1)
        states[:, node] = flips ^ (states[:, above] if above >= 0 else False)
    states = states[:, : tree.n_leaves]
    two = rng.choice([-1.5, 1.5], size=states.shape) + 0.4 * rng.normal(size=states.shape)
    X = np.where(states, two, 0.5 * rng.laplace(size=states.shape))
    X[rng.random(X.shape) < missing] = np.nan
    return X


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_trees_of_dependence_without_correlation_are_learnt(missing, whiten):
    topology = random_topology(16, n_children=(2, 2), random_state=3)
    X = mixtures(topology, 4000, 1, missing)
    encoders = [kernel_encoder(column, median_bandwidth(column), 1e-3) for column in X.T]
    moments = FeatureMoments.of(X, encoders)
    for rank, centred in ((1, True), (2, False), (None, True)):
        distances = kernel_distances(moments, rank, centred=centred, whiten=whiten)
        tree = neighbor_joining(distances.values, topology.observed)
        assert robinson_foulds(tree, topology, normalised=True) <= 0.1
    assert not np.triu(gaussian_distances(X).supported, 1).any()


def test_a_pair_is_judged_by_the_rows_that_have_both():
    X = mixtures(random_topology(4, n_children=(2, 2), random_state=3), 2000, 1, missing=0.3)
    encoders = [grid_encoder(-3, 3, 9, 1.0)] * 4
    pairs = FeatureMoments.of(X, encoders).pairs()
    both = X[~np.isnan(X[:, :2]).any(axis=1), :2]
    two = FeatureMoments.of(both, encoders[:2]).pairs()
    assert pairs.supports[0, 1] == len(both)
    n = encoders[0].size
    block = np.s_[:n, n : 2 * n]
    assert pairs.covariances[block] == pytest.approx(two.covariances[block], abs=1e-12)


def test_a_constant_column_is_far_from_all():
    X = mixtures(random_topology(4, n_children=(2, 2), random_state=3), 500, 1)
    X[:, 2] = 1.0
    moments = FeatureMoments.of(X, [grid_encoder(-3, 3, 9, 1.0)] * 4)
    for whiten in (True, False):
        distances = kernel_distances(moments, whiten=whiten)
        assert np.isfinite(distances.values).all()
        assert not distances.supported[2, [0, 1, 3]].any()


def test_settings_that_make_no_sense_are_refused():
    moments = FeatureMoments.empty([IndicatorEncoder(2)] * 2)
    with pytest.raises(ArgumentError, match="at least one"):
        kernel_distances(moments, 0)
    with pytest.raises(ArgumentError, match="give a rank"):
        kernel_distances(moments, None, centred=False)
    assert math.isfinite(kernel_distances(moments).values.max())
