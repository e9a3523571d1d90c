"""Trees recovered from numbers: what is drawn, how far leaves are apart, and wrong hops."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.evaluate import hop_error
from tacit.reproduce.numbers import recovery
from tacit.reproduce.numbers.fig_6_6 import (
    CASES,
    CORRELATION,
    KERNEL,
    KERNEL_5,
    METHODS,
    RANKS,
    TACIT_JOINED,
    TACIT_KERNEL,
)
from tacit.reproduce.numbers.recovery import STUDY, ProcessCase, drawn, joined, true_tree
from tacit.reproduce.runner.running import perform
from tacit.reproduce.runner.trials import Trial
from tacit.trees.structure.distances import Distances
from tacit.trees.structure.neighbour_joining import neighbor_joining


def case(process, tree, n_leaves=16):
    return ProcessCase(process, tree, n_leaves)


@pytest.mark.parametrize("tree", ["balanced", "skewed", "random"])
def test_trees_are_binary_and_have_as_many_leaves_as_asked_for(tree):
    actual = true_tree(case("gaussian", tree), 0)
    assert len(actual.observed) == 16
    degrees = actual.rooted(actual.observed)
    assert {degrees.degree(node) for node in degrees.hidden} == {3}
    assert (actual == true_tree(case("gaussian", tree), 1)) == (tree != "random")


def test_shapes_have_64_leaves_at_the_scale_of_the_thesis():
    assert {len(true_tree(one, 0).observed) for one in CASES} == {64}


def test_gaussian_numbers_have_correlations_that_multiply_along_paths():
    rows = drawn(case("gaussian", "skewed", 8), 0, 200_000)
    assert rows.std(axis=0) == pytest.approx(np.ones(8), abs=0.02)
    correlation = np.corrcoef(rows.T)
    order = [f"x{n}" for n in range(8)]
    place = [true_tree(case("gaussian", "skewed", 8), 0).observed.index(name) for name in order]
    r = correlation[np.ix_(place, place)]
    # Of four leaves along the caterpillar, the two far products are equal (the four-point condition).
    assert r[0, 4] * r[2, 6] == pytest.approx(r[0, 6] * r[2, 4], abs=0.01)
    assert 0.7**2 - 0.01 < r[0, 1] < 0.95**2 + 0.01


def test_sign_flips_leave_no_correlation_but_a_dependence_of_sizes():
    rows = drawn(case("sign-flip", "balanced", 8), 0, 100_000)
    apart = ~np.eye(8, dtype=bool)
    assert np.abs(np.corrcoef(rows.T)[apart]).max() < 0.02  # standard error 0.003
    assert np.corrcoef(np.abs(rows.T))[0, 1] > 0.1
    # The root has mean square 5, and every edge adds one.
    tree = true_tree(case("sign-flip", "balanced", 8), 0)
    hops = hop_matrix(tree, tree.hidden[:1])[0]
    assert rows.var(axis=0) == pytest.approx(5 + hops, rel=0.03)


def test_the_same_rows_for_every_method_and_others_for_every_seed_and_size():
    one = case("gaussian", "random")
    assert np.array_equal(drawn(one, 0, 50), drawn.__wrapped__(one, 0, 50))
    assert not np.array_equal(drawn.__wrapped__(one, 0, 50), drawn.__wrapped__(one, 1, 50))
    assert not np.array_equal(drawn.__wrapped__(one, 0, 50), drawn.__wrapped__(one, 0, 60)[:50])


@pytest.mark.parametrize("join", ["neighbor-joining", "chow-liu-joining", "refined-joining"])
def test_exact_distances_give_the_tree_back(join):
    tree = true_tree(case("gaussian", "random"), 3)
    hops = hop_matrix(tree, tree.observed)
    exact = Distances(0.2 * hops, np.ones(hops.shape, dtype=bool))
    assert hop_error(joined(join, exact, tree.observed, 10**9), tree) == 0


def hop_matrix(tree, names):
    lengths = dict(nx.all_pairs_shortest_path_length(tree.to_networkx()))
    return np.array([[float(lengths[a][b]) for b in tree.observed] for a in names])


def test_kernels_find_what_correlations_cannot_see():
    one = case("sign-flip", "balanced", 8)
    errors = {
        method.name: perform(Trial(STUDY, one, 4000, 0, method)).hops
        for method in (CORRELATION, KERNEL, TACIT_JOINED, TACIT_KERNEL)
    }
    assert errors.pop("Gaussian, printed") > 0
    assert set(errors.values()) == {0}


def test_the_error_is_that_of_the_tree_that_was_found():
    trial = Trial(STUDY, case("gaussian", "skewed"), 200, 0, CORRELATION)
    tree, rows = true_tree(trial.case, 0), drawn(trial.case, 0, 200)
    actual = neighbor_joining(-np.log(np.abs(np.corrcoef(rows.T))), tree.observed)
    assert perform(trial).hops == pytest.approx(hop_error(actual, tree), rel=1e-5)
    scores = stats.norm.ppf(stats.rankdata(rows, axis=0) / 201)
    actual = neighbor_joining(-np.log(np.abs(np.corrcoef(scores.T))), tree.observed)
    assert perform(replace(trial, method=RANKS)).hops == pytest.approx(
        hop_error(actual, tree), rel=1e-5
    )


@pytest.mark.parametrize(("method", "rank"), [(KERNEL, 2), (KERNEL_5, 5)])
def test_printed_kernel_trees_are_those_of_algorithm_10(method, rank):
    trial = Trial(STUDY, case("sign-flip", "random"), 100, 0, method)
    tree, rows = true_tree(trial.case, 0), drawn(trial.case, 0, 100)
    table = dict(zip(tree.observed, rows.T, strict=True))
    actual = tacit.learn_structure(
        table, "neighbor-joining", metric="kernel", rank=rank, preset="printed"
    )
    assert 0 < perform(trial).hops == pytest.approx(hop_error(actual, tree), rel=1e-5)


def test_all_methods_are_distinguished():
    assert len({(method.learn, method.options) for method in METHODS}) == len(METHODS)
    recovery._distances.cache_clear()
