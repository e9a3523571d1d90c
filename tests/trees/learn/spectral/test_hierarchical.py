"""Hierarchical decomposition: exact on exact moments, the best linker, rows instead of tables."""

from functools import partial

import numpy as np
import pytest

from oracles.networks import leaf_joint, random_tables, rooted_tree
from oracles.population import Population, network_joint
from oracles.random_moments import LEAST_VALUE, SIZES, population, smallest_value
from tacit.errors import ArgumentError
from tacit.toy.models import sample_codes
from tacit.trees.learn.spectral import hierarchical as module
from tacit.trees.learn.spectral.hierarchical import hierarchical
from tacit.trees.learn.spectral.operators import spectral
from tacit.trees.learn.spectral.stars import EdgeViews
from tacit.trees.moments.source import CountedMoments


def fit_if_good(fit, seed, size):
    """Populations are drawn until spectral learning's smallest singular value is large enough."""
    for attempt in range(20):
        tree, n_states, moments = population([seed, attempt], size)
        if smallest_value(spectral(tree, moments, n_states).report) > LEAST_VALUE:
            return moments.joint, fit(tree, moments, n_states)
    raise AssertionError("no population with large enough singular values was found")


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("window", [1, 3, None])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(2))
def test_exact_moments_give_back_the_exact_joint(seed, size, window, whiten):
    fit = partial(hierarchical, window=window, whiten=whiten)
    joint, fitted = fit_if_good(fit, seed, size)
    assert network_joint(fitted.network) == pytest.approx(joint, rel=1e-9)


def test_observed_inner_nodes_are_learnt_exactly():
    tree = rooted_tree([6, 6, 9, 7, 8, 8, 7, 9, 9, -1], 6, copies={7: 3})
    n_states = (3, 4, 3, 4, 3, 3, 2, 4, 3, 2)
    joint = leaf_joint(random_tables(np.random.default_rng(1), tree, n_states))
    fitted = hierarchical(tree, Population(joint), n_states)
    assert network_joint(fitted.network) == pytest.approx(joint, rel=1e-9)


def test_no_linker_of_the_same_rank_is_better():
    """Equation 5: the linker minimises the distance of the unfolding to the product of three."""
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(4 * 3 * 3 * 3)).reshape(
        4, 3, 3, 3
    )  # two branches, linker, one more
    branches = table.reshape(12, 9)
    star = table.sum(axis=1).reshape(4, 9)
    linked = table.sum(axis=3).reshape(12, 3)
    views = EdgeViews((0,), ((2,), (3,)), (1.0, 1.0), 2)
    link = module.edge_link(module.Unfolding(branches, star, linked), views)
    best = np.linalg.norm(branches - link.core @ (link.left.T @ star))
    assert link.spectrum.rank == 2
    # The product is PB M A'P for some M: its columns are in the span of PB, its rows in that of A'P.
    inside = linked @ np.linalg.lstsq(linked, link.core, rcond=None)[0]
    assert link.core == pytest.approx(inside, abs=1e-12)
    for _ in range(200):
        linker = rng.normal(size=(3, 2)) @ rng.normal(size=(2, 4))
        product = linked @ linker @ star
        product *= (product * branches).sum() / (product**2).sum()  # the best multiple of it
        assert np.linalg.norm(branches - product) >= best
    nearby = np.linalg.lstsq(linked, link.core, rcond=None)[0] @ link.left.T
    assert np.linalg.norm(branches - linked @ nearby @ star) == pytest.approx(best)
    for scale in (0.9, 0.99, 1.01, 1.1):
        assert np.linalg.norm(branches - linked @ (scale * nearby) @ star) > best


def test_rows_give_what_tables_give(monkeypatch):
    tree = rooted_tree([6, 6, 7, 7, 8, 8, 8, 8, -1], 6)
    n_states = (3, 2, 3, 2, 3, 2, 2, 2, 2)
    codes = sample_codes(random_tables(np.random.default_rng(0), tree, n_states), 400, 1)
    moments = CountedMoments.of(codes, n_states[:6])
    from_tables = hierarchical(tree, moments, n_states, window=None).network
    monkeypatch.setattr(module, "MOST_WINDOW_CELLS", 1)
    from_rows = hierarchical(tree, moments, n_states, window=None, codes=codes).network
    assert network_joint(from_rows) == pytest.approx(network_joint(from_tables), abs=1e-12)
    with pytest.raises(ArgumentError, match="pass codes="):
        hierarchical(tree, moments, n_states, window=None)


def test_many_configurations_are_numbered_anew_before_they_overflow():
    # In 64 bits, 32 ** 13 is zero: what stands in the first column would be lost.
    codes = np.zeros((64, 20), dtype=np.int64)
    codes[:, 0] = np.arange(64) % 32
    numbers = module._numbered(codes, (32,) * 20, tuple(range(20)))
    assert numbers.tolist() == codes[:, 0].tolist()


def test_too_small_a_rank_costs_less_than_in_spectral_learning():
    tree = rooted_tree([8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 13, -1], 8)
    truth = random_tables(np.random.default_rng(3), tree, (4,) * 14)
    codes = sample_codes(truth, 20_000, 4)
    moments = CountedMoments.of(codes, (4,) * 8)
    fewer = (4,) * 8 + (2,) * 6
    joint = leaf_joint_of_leaves(truth)
    errors = [
        np.abs(network_joint(fit(tree, moments, fewer).network) - joint).sum()
        for fit in (hierarchical, spectral)
    ]
    assert errors[0] < 0.7 * errors[1]


def leaf_joint_of_leaves(tables):
    """P(leaves) of a tree too large for the table over all nodes."""
    return network_joint(tables.network)


@pytest.mark.parametrize(
    ("changes", "complaint"), [({"window": 0}, "None for all"), ({"features": 0}, "1 or more")]
)
def test_settings_that_make_no_sense_are_refused(changes, complaint):
    tree, n_states, moments = population(0, "all different")
    with pytest.raises(ArgumentError, match=complaint):
        hierarchical(tree, moments, n_states, **changes)
