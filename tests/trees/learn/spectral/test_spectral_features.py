"""Spectral learning from features: categories seen through indicators, numbers through kernels, or both."""

from dataclasses import replace

import numpy as np
import pytest

from oracles.feature_population import FeaturePopulation, smoothed, values_at
from oracles.networks import all_rows, leaf_joint, random_tables, rooted_tree
from tacit.core.encoders.encoders import (
    IndicatorEncoder,
    grid_encoder,
    kernel_encoder,
    median_bandwidth,
)
from tacit.messages.evidence import Evidence
from tacit.messages.passes import log_values
from tacit.toy.models import random_tables as toy_tables
from tacit.toy.models import sample_codes
from tacit.toy.trees import named_topology
from tacit.trees.learn.spectral.operators import REPRESENTATIONS, spectral
from tacit.trees.moments.features import FeatureMoments
from tacit.trees.moments.source import CountedMoments

SHAPES = {
    "two": ([2, 2, -1], 2),
    "quartet": ([4, 4, 5, 5, 5, -1], 4),
    "binary": ([6, 6, 7, 7, 8, 8, 9, 9, 9, -1], 6),
    "star": ([7] * 7 + [-1], 7),
    "chain": ([3, 3, 4, 4, 5, -1], 3),  # with a root of one child
}


def toy(name, n_categories, n_states):
    topology = named_topology(name)
    return toy_tables(topology.rooted(topology.observed), n_categories, n_states, 3)


# -------------------------------------------------------------------------------- indicators


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize(
    ("name", "n_categories", "n_states"),
    [("bin4", 3, 2), ("bin4", 2, 4), ("t33", 3, 2), ("star8", 3, 2), ("cat16", 4, 3)],
)
def test_with_indicators_it_is_the_categorical_tree(
    name, n_categories, n_states, missing, representation, whiten
):
    model = toy(name, n_categories, n_states)
    states, n_leaves = model.layout.n_states, model.tree.n_leaves
    codes = sample_codes(model, 2000, 1)
    codes[np.random.default_rng(2).random(codes.shape) < missing] = -1
    cards = (n_categories,) * n_leaves
    sources = (
        CountedMoments.of(codes, cards),
        FeatureMoments.of(codes, [IndicatorEncoder(n_categories)] * n_leaves),
    )
    rows = all_rows(cards) if n_leaves < 9 else sample_codes(model, 2000, 3)
    rows = np.concatenate([rows, np.where(np.arange(n_leaves) % 2, rows[:100], -1)])
    values = [
        log_values(
            spectral(
                model.tree, moments, states, representation=representation, whiten=whiten
            ).network,
            Evidence(rows),
        )
        for moments in sources
    ]
    values = [sign * np.exp(log_abs) for sign, log_abs in values]
    # Values near zero are differences of larger numbers.
    assert values[1] == pytest.approx(values[0], rel=1e-10, abs=1e-10 * np.abs(values[0]).max())


# ------------------------------------------------------------------------------- two leaves


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_with_two_leaves_it_is_the_truncated_product_kernel_density(rank):
    rng = np.random.default_rng(0)
    side = rng.choice([-1.5, 1.5], size=400)
    columns = [side + rng.laplace(size=400), 0.5 * side + rng.normal(size=400)]
    encoders = [kernel_encoder(column, 0.7, 1e-8) for column in columns]
    tree = rooted_tree([2, 2, -1], 2)
    states = (*(encoder.size for encoder in encoders), rank)
    network = spectral(
        tree, FeatureMoments.of(columns, encoders), states, whiten=False, cut=0
    ).network
    grid = np.linspace(-5, 5, 25)
    points = [axis.ravel() for axis in np.meshgrid(grid, grid, indexing="ij")]
    values = values_at(network, encoders, points).reshape(25, 25)
    one, two = (encoder.features(column) for encoder, column in zip(encoders, columns, strict=True))
    left, sizes, right = np.linalg.svd(one.T @ two / 400)
    truncated = (left[:, :rank] * sizes[:rank]) @ right[:rank]
    expected = encoders[0].features(grid) @ truncated @ encoders[1].features(grid).T
    assert values == pytest.approx(expected, abs=1e-10)


def test_with_two_leaves_and_all_directions_it_is_the_product_kernel_density():
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=50), rng.normal(size=50)]
    encoders = [kernel_encoder(column, 0.8, 1e-12) for column in columns]
    rank = min(encoder.size for encoder in encoders)
    states = (*(encoder.size for encoder in encoders), rank)
    network = spectral(
        rooted_tree([2, 2, -1], 2),
        FeatureMoments.of(columns, encoders),
        states,
        whiten=False,
        cut=0,
    ).network
    points = [rng.normal(size=40), rng.normal(size=40)]
    kernels = [
        np.exp(-(np.subtract.outer(at, column) ** 2) / (2 * 0.8**2))
        for at, column in zip(points, columns, strict=True)
    ]
    expected = (kernels[0] * kernels[1]).mean(axis=1)
    values = values_at(network, encoders, points)
    assert values == pytest.approx(expected, abs=1e-5)  # the features leave 1e-12 of the trace out


# --------------------------------------------------------------------------- exact moments


def population(shape, seed, n_states=2):
    """A tree whose leaves are distributions over a few numbers, or over categories; kernels of all sorts."""
    parent, n_leaves = SHAPES[shape]
    rng = np.random.default_rng(seed)
    tree = rooted_tree(parent, n_leaves)
    n_values = 5 if n_leaves < 7 else 4
    hidden = (n_states,) * (len(parent) - n_leaves)
    joint = leaf_joint(random_tables(rng, tree, (n_values,) * n_leaves + hidden))
    values = [np.sort(1.5 * rng.normal(size=n_values)) for _ in range(n_leaves)]
    encoders = [
        grid_encoder(column.min(), column.max(), 12, 0.8)
        if leaf % 2
        else kernel_encoder(column, 0.7, 1e-9)
        for leaf, column in enumerate(values)
    ]
    points = [2 * rng.normal(size=100) for _ in range(n_leaves)]
    if n_leaves > 2:
        values[1], encoders[1] = np.arange(n_values), IndicatorEncoder(n_values)
        points[1] = rng.integers(0, n_values, size=100)
        encoders[2] = grid_encoder(-1, 1, 4, 0.6)  # whose constant is far from one for some values
    states = (*(encoder.size for encoder in encoders), *hidden)
    return tree, states, joint, values, encoders, points


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(2))
def test_exact_moments_of_kernel_features_give_the_exact_smoothed_joint(
    seed, shape, representation, whiten
):
    tree, states, joint, values, encoders, points = population(shape, seed)
    moments = FeaturePopulation(joint, values, encoders)
    fitted = spectral(tree, moments, states, representation=representation, whiten=whiten)
    expected = smoothed(joint, values, encoders, points)
    assert values_at(fitted.network, encoders, points) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("whiten", [True, False])
def test_a_missing_number_is_summed_out(whiten):
    tree, states, joint, values, encoders, points = population("binary", 0)
    network = spectral(
        tree, FeaturePopulation(joint, values, encoders), states, whiten=whiten
    ).network
    for absent in ((0,), (1, 2), (0, 1, 3, 4)):
        some = [None if leaf in absent else at for leaf, at in enumerate(points)]
        expected = smoothed(joint, values, encoders, some)
        assert values_at(network, encoders, some) == pytest.approx(expected, rel=1e-8)


class WholeTables:
    """Moments that cannot project."""

    def __init__(self, moments):
        self.cards, self.n_rows = moments.cards, moments.n_rows
        self.pairs, self.tables = moments.pairs, moments.tables


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("representation", ["auto", "matrix"])
def test_projections_before_products_give_what_whole_tables_give(representation, whiten):
    model = toy("bin4", 2, 2)
    encoders = [grid_encoder(-3, 3, 6, 1.0)] * 8
    moments = FeatureMoments.of(drawn(model, 300, 1, missing=0.1), encoders)
    states = (6,) * 8 + model.layout.n_states[8:]
    points = list(drawn(model, 100, 2).T)
    one, two = (
        values_at(
            spectral(
                model.tree, source, states, representation=representation, whiten=whiten
            ).network,
            encoders,
            points,
        )
        for source in (moments, WholeTables(moments))
    )
    assert one == pytest.approx(two, rel=1e-8)


@pytest.mark.parametrize("whiten", [True, False])
def test_too_small_a_rank_is_not_exact(whiten):
    tree, states, joint, values, encoders, points = population("quartet", 0, n_states=3)
    moments = FeaturePopulation(joint, values, encoders)
    expected = smoothed(joint, values, encoders, points)
    errors = []
    for rank in (3, 2, 1):
        fewer = (*states[: tree.n_leaves], *[rank] * len(tree.hidden))
        network = spectral(tree, moments, fewer, whiten=whiten).network
        errors.append(np.abs(values_at(network, encoders, points) / expected - 1).max())
    assert errors[0] < 1e-8
    assert min(errors[1:]) > 1e-3


def test_more_states_than_categories_beside_numbers_are_learnt_exactly():
    """Joint features of a column of numbers and one of categories stand for a side of an edge."""
    rng = np.random.default_rng(2)
    tree = rooted_tree([4, 4, 5, 5, 5, -1], 4)
    joint = leaf_joint(random_tables(rng, tree, (2, 2, 2, 2, 4, 4)))
    values = [np.arange(2), np.array([-1.0, 1.0]), np.arange(2), np.array([0.0, 1.0])]
    encoders = [
        kernel_encoder(column, 1.0, 1e-12) if column.dtype.kind == "f" else IndicatorEncoder(2)
        for column in values
    ]
    points = [rng.integers(0, 2, 50) if i % 2 == 0 else rng.normal(size=50) for i in range(4)]
    moments = FeaturePopulation(joint, values, encoders)
    expected = smoothed(joint, values, encoders, points)
    for whiten in (True, False):
        fitted = spectral(tree, moments, (2, 2, 2, 2, 4, 4), whiten=whiten)
        assert len(fitted.report.edges[4].views.below) == 2
        assert values_at(fitted.network, encoders, points) == pytest.approx(expected, rel=1e-8)


# ------------------------------------------------------------------------------------- rows


def drawn(model, n_rows, seed, missing=0.0):
    """Rows of a tree whose binary leaves are one bump or two, with the same mean."""
    rng = np.random.default_rng(seed)
    codes = sample_codes(model, n_rows, rng)
    two = rng.choice([-1.5, 1.5], size=codes.shape) + 0.4 * rng.normal(size=codes.shape)
    X = np.where(codes == 0, 0.5 * rng.laplace(size=codes.shape), two)
    X[rng.random(codes.shape) < missing] = np.nan
    return X


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_more_rows_come_closer_to_the_smoothed_truth(missing):
    """The truth: what many rows say of each state, put together by the true tables."""
    model = toy_tables(rooted_tree(*SHAPES["binary"]), 2, 2, 5, diagonal=1.0)
    encoders = [grid_encoder(-4, 4, 12, 0.5)] * 6
    rng = np.random.default_rng(0)
    points = rng.choice([-1.5, 1.5], 100_000) + 0.4 * rng.normal(size=100_000)
    means = np.array(
        [
            encoders[0].features(0.5 * rng.laplace(size=100_000)).mean(axis=0),
            encoders[0].features(points).mean(axis=0),
        ]
    )  # (state, feature)
    test = drawn(model, 500, 1)
    truth = replace(model.network, emit=tuple(means.T @ emit for emit in model.network.emit))
    expected = values_at(truth, encoders, list(test.T))
    states = (12,) * 6 + model.layout.n_states[6:]
    errors = []
    for n_rows in (500, 50_000):
        X = drawn(model, n_rows, 2, missing)
        network = spectral(model.tree, FeatureMoments.of(X, encoders), states).network
        values = values_at(network, encoders, list(test.T))
        errors.append(np.abs(values - expected).mean() / expected.mean())
    assert errors[0] > 4 * errors[1]  # ten at the rate of one over the root
    assert errors[1] < 0.05


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("n_rows", [0, 1, 5])
def test_few_rows_still_give_a_network(n_rows, whiten):
    model = toy("bin4", 2, 2)
    X = drawn(model, n_rows, 1)
    encoders = [grid_encoder(-3, 3, 8, median_bandwidth(np.array([-1.0, 1.0])))] * 8
    states = (*(encoder.size for encoder in encoders), *model.layout.n_states[8:])
    network = spectral(model.tree, FeatureMoments.of(X, encoders), states, whiten=whiten).network
    assert np.isfinite(values_at(network, encoders, [np.zeros(2)] * 8)).all()
