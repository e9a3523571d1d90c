"""Spectral learning: exact on exact moments, a distribution on counted ones, cut where data are few."""

import json
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.networks import all_rows, leaf_joint, random_tables, rooted_tree
from oracles.population import Population, network_joint
from oracles.random_moments import SIZES, good_population, population
from tacit.errors import ArgumentError
from tacit.messages.evidence import Evidence
from tacit.messages.network import Chain, Dense
from tacit.messages.passes import log_values
from tacit.toy.exact import ExactMoments
from tacit.toy.models import random_tables as toy_tables
from tacit.toy.models import sample_codes
from tacit.toy.trees import named_topology
from tacit.trees.learn.spectral.operators import REPRESENTATIONS, spectral
from tacit.trees.moments.source import CountedMoments

# Relative to each cell; singular values below 1e-4 are drawn again.
EXACT = 1e-9


def toy(name, cards, n_states, seed, diagonal=1.0):
    topology = named_topology(name)
    tree = topology.rooted(topology.observed)
    return toy_tables(tree, cards, n_states, seed, diagonal=diagonal)


def counted(model, n_rows, seed):
    codes = sample_codes(model, n_rows, seed)
    return CountedMoments.of(codes, model.layout.n_states[: model.tree.n_leaves])


def mean_error(network, model, codes):
    """The thesis' error: mean of |estimate - truth| / truth over rows of the model."""
    truth = log_values(model.network, Evidence(codes))[1]
    sign, log_abs = log_values(network, Evidence(codes))
    return float(np.abs(sign * np.exp(log_abs - truth) - 1).mean())


@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", range(4))
def test_exact_moments_give_back_the_exact_joint(seed, size, representation):
    fit = partial(spectral, representation=representation)
    joint, fitted = good_population(fit, seed, size)
    assert network_joint(fitted.network) == pytest.approx(joint, rel=EXACT)


@pytest.mark.parametrize("size", SIZES)
def test_exact_moments_give_back_the_exact_joint_as_printed_in_the_thesis(size):
    fit = partial(spectral, whiten=False, n_views=1, representation="tensor")
    joint, fitted = good_population(fit, 0, size)
    assert network_joint(fitted.network) == pytest.approx(joint, rel=EXACT)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_observed_inner_nodes_are_learnt_exactly(representation):
    # x3 stands between the pairs (x0, x1) and (x4, x5); the hidden node 7 repeats it.
    tree = rooted_tree([6, 6, 9, 7, 8, 8, 7, 9, 9, -1], 6, copies={7: 3})
    n_states = (3, 4, 3, 4, 3, 3, 2, 4, 3, 2)
    joint = leaf_joint(random_tables(np.random.default_rng(1), tree, n_states))
    fitted = spectral(tree, Population(joint), n_states, representation=representation)
    assert network_joint(fitted.network) == pytest.approx(joint, rel=EXACT)


@pytest.mark.parametrize(
    ("parent", "n_leaves"),
    [
        ([1, -1], 1),
        ([2, 2, -1], 2),
        ([4, 4, 5, 5, 6, 6, -1], 4),  # a root of two children
        ([3, 3, 3, 4, -1], 3),  # a root of one child
        ([3, 3, 4, 4, 5, -1], 3),  # and a chain of hidden nodes
    ],
)
def test_the_smallest_and_oddest_trees_are_learnt_exactly(parent, n_leaves):
    tree = rooted_tree(parent, n_leaves)
    n_states = (3,) * n_leaves + (2,) * (len(parent) - n_leaves)
    joint = leaf_joint(random_tables(np.random.default_rng(0), tree, n_states))
    fitted = spectral(tree, Population(joint), n_states)
    assert network_joint(fitted.network) == pytest.approx(joint, rel=EXACT)


@pytest.mark.parametrize("name", ["bin5", "t33", "cat16"])
def test_a_larger_tree_is_learnt_exactly_from_its_exact_moments(name):
    model = toy(name, 4, 2, seed=3)
    network = spectral(model.tree, ExactMoments(model), model.layout.n_states).network
    codes = sample_codes(model, 200, 4)
    assert mean_error(network, model, codes) < 1e-7  # 16 leaves and many edges: rounding adds up


def test_without_features_more_states_than_categories_are_not_learnt():
    tree = rooted_tree([6, 6, 7, 7, 8, 8, 9, 9, 9, -1], 6)
    n_states = (2,) * 6 + (3,) * 4
    joint = leaf_joint(random_tables(np.random.default_rng(0), tree, n_states))
    errors = [
        np.abs(
            network_joint(spectral(tree, Population(joint), n_states, features=n).network) - joint
        )
        for n in (1, 2)
    ]
    assert errors[1].max() < 1e-12
    assert errors[0].max() > 1e-4


def test_too_small_a_rank_is_not_exact():
    tree, n_states, moments = population([0, 0], "fewer states than categories")
    one = (*n_states[: tree.n_leaves], *[1] * (tree.n_nodes - tree.n_leaves))
    joint = network_joint(spectral(tree, moments, one).network)
    single = [moments.marginal((leaf,)) for leaf in range(tree.n_leaves)]
    independent = single[0]
    for margin in single[1:]:
        independent = np.multiply.outer(independent, margin)
    assert joint == pytest.approx(independent, rel=1e-12)
    assert np.abs(joint - moments.joint).max() > 1e-4


def test_kinds_of_nodes_follow_the_degree():
    parent = [9, 9, 9, 9, 9, 9, 10, 10, 10, 10, -1]
    tree = rooted_tree(parent, 9)
    n_states = (3,) * 9 + (2, 2)
    moments = ExactMoments(toy_tables(tree, 3, 2, 0))
    kinds = {
        name: [
            type(node)
            for node in spectral(tree, moments, n_states, representation=name).network.nodes
        ]
        for name in REPRESENTATIONS
    }
    assert kinds["tensor"] == [Dense, Dense]
    assert kinds["matrix"] == kinds["train"] == kinds["auto"] == [Chain, Chain]
    triads = spectral(tree, moments, n_states).report.triads
    assert set(triads) == {9}  # of degree seven: a product; the root of degree four is a train


@pytest.mark.parametrize("seed", range(3))
def test_counted_moments_give_a_distribution_with_the_data_s_margins(seed):
    model = toy("bin4", 3, 2, seed)
    moments = counted(model, 200, seed)
    network = spectral(model.tree, moments, model.layout.n_states).network
    nothing = np.full((1, 8), -1)
    sign, log_abs = log_values(network, Evidence(nothing))
    assert (sign[0], log_abs[0]) == (1, pytest.approx(0, abs=1e-10))
    for leaf in range(8):
        rows = np.full((3, 8), -1)
        rows[:, leaf] = range(3)
        sign, log_abs = log_values(network, Evidence(rows))
        assert sign * np.exp(log_abs) == pytest.approx(moments.pairs().marginal(leaf), abs=1e-10)


def test_independent_data_are_cut_to_independence():
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.choice(3, size=500, p=[0.5, 0.3, 0.2]) for _ in range(8)])
    tree = toy("bin4", 3, 2, 0).tree
    moments = CountedMoments.of(codes, (3,) * 8)
    n_states = (3,) * 8 + (2,) * 6
    fitted = spectral(tree, moments, n_states, cut=1.5)
    assert {spectrum.rank for spectrum in fitted.report.edges.values()} == {1}
    rows = all_rows((3,) * 8)[::37]
    single = np.prod([moments.pairs().marginal(leaf)[rows[:, leaf]] for leaf in range(8)], axis=0)
    sign, log_abs = log_values(fitted.network, Evidence(rows))
    assert sign * np.exp(log_abs) == pytest.approx(single, rel=1e-9)
    assert 2 in set(spectral(tree, moments, n_states, cut=0).network.ranks)


def test_more_rows_give_a_smaller_error():
    model = toy("bin4", 4, 2, 0)
    test = sample_codes(model, 500, 99)
    errors = [
        mean_error(
            spectral(model.tree, counted(model, n, 1), model.layout.n_states).network, model, test
        )
        for n in (300, 3000, 30000)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.06


@pytest.mark.slow
def test_the_error_falls_like_one_over_the_root_of_the_rows():
    model = toy("bin5", 4, 2, 1)
    test = sample_codes(model, 1000, 99)
    sizes = np.array([2_000, 20_000, 200_000])
    errors = [
        np.mean(
            [
                mean_error(
                    spectral(model.tree, counted(model, n, seed), model.layout.n_states).network,
                    model,
                    test,
                )
                for seed in range(5)
            ]
        )
        for n in sizes
    ]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(sizes))
    assert slopes == pytest.approx([-0.5, -0.5], abs=0.12)


def test_the_default_beats_the_printed_form():
    """Whitened, weighed and cut: lower error than the thesis' settings on the same data."""
    model = toy("bin5", 5, 5, 2)
    test = sample_codes(model, 500, 99)
    moments = counted(model, 3000, 5)
    ours = spectral(model.tree, moments, model.layout.n_states).network
    printed = spectral(
        model.tree, moments, model.layout.n_states, whiten=False, cut=0, representation="tensor"
    ).network
    assert mean_error(ours, model, test) < 0.5 < mean_error(printed, model, test)


def test_too_many_states_requested_cost_little():
    """Directions that the data do not show are cut, and leaves are chosen by those that they do."""
    model = toy("bin5", 5, 2, 0)
    moments, test = counted(model, 10_000, 1), sample_codes(model, 500, 99)
    n_states = model.layout.n_states
    many = (*n_states[:16], *[5] * len(n_states[16:]))
    errors = [
        mean_error(spectral(model.tree, moments, states).network, model, test)
        for states in (n_states, many)
    ]
    assert errors[1] < 1.15 * errors[0] < 0.15


def test_missing_cells_cost_little_when_few():
    model = toy("bin4", 3, 2, 4)
    codes = sample_codes(model, 20_000, 5)
    codes[np.random.default_rng(6).random(codes.shape) < 0.1] = -1
    network = spectral(
        model.tree, CountedMoments.of(codes, (3,) * 8), model.layout.n_states
    ).network
    assert mean_error(network, model, sample_codes(model, 500, 7)) < 0.1


def test_columns_never_seen_together_are_not_used_as_views():
    model = toy("bin4", 3, 2, 4)
    codes = sample_codes(model, 20_000, 5)
    codes[:10_000, 0] = -1
    codes[10_000:, 1] = -1  # x0 and x1, leaves of one node, never meet
    moments = CountedMoments.of(codes, (3,) * 8)
    fitted = spectral(model.tree, moments, model.layout.n_states)
    views = {leaf: fitted.report.edges[leaf].views.above for leaf in (0, 1)}
    assert (1,) not in views[0]
    assert (0,) not in views[1]
    assert np.isfinite(log_values(fitted.network, Evidence(codes[:50]))[1]).all()


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("n_rows", [0, 1])
def test_no_rows_and_one_row_still_give_a_network(n_rows, whiten):
    model = toy("bin4", 3, 2, 4)
    moments = CountedMoments.of(np.zeros((n_rows, 8), np.int16), (3,) * 8)
    network = spectral(model.tree, moments, model.layout.n_states, whiten=whiten).network
    sign, log_abs = log_values(network, Evidence(np.full((1, 8), -1)))
    assert (sign[0], log_abs[0]) == (1, pytest.approx(0, abs=1e-9))


def test_groups_of_leaves_are_used_only_where_single_ones_show_all_they_can():
    model = toy("bin4", 2, 4, 0)
    n_states = model.layout.n_states
    few = spectral(model.tree, counted(model, 50, 1), n_states).report.edges
    exact = spectral(model.tree, ExactMoments(model), n_states).report.edges
    inner = [node for node in model.tree.hidden if node != model.tree.root]
    assert any(len(few[node].views.below) == 1 for node in inner)
    assert all(len(exact[node].views.below) == 2 for node in inner)


def test_a_constant_column_is_no_obstacle():
    model = toy("bin4", 3, 2, 4)
    codes = sample_codes(model, 1000, 5)
    codes[:, 2] = 0
    cards = (3, 3, 1, 3, 3, 3, 3, 3)
    n_states = cards + model.layout.n_states[8:]
    network = spectral(model.tree, CountedMoments.of(codes, cards), n_states).network
    assert np.isfinite(log_values(network, Evidence(codes[:20]))[1]).all()


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_relabelling_categories_relabels_the_answer(seed):
    rng = np.random.default_rng(seed)
    model = toy("bin4", 3, 2, seed)
    codes = sample_codes(model, 300, rng)
    orders = np.array([rng.permutation(3) for _ in range(8)])
    renamed = np.column_stack([orders[leaf][codes[:, leaf]] for leaf in range(8)])
    networks = [
        spectral(
            model.tree, CountedMoments.of(rows.astype(np.int16), (3,) * 8), model.layout.n_states
        )
        for rows in (codes, renamed)
    ]
    values = [
        log_values(fitted.network, Evidence(rows[:40]))
        for fitted, rows in zip(networks, (codes, renamed), strict=True)
    ]
    assert values[0][0] == pytest.approx(values[1][0])
    assert values[0][1] == pytest.approx(values[1][1], rel=1e-6, abs=1e-6)


def test_the_report_is_plain_and_names_what_was_chosen():
    model = toy("t33", 3, 2, 4)
    report = spectral(model.tree, counted(model, 500, 1), model.layout.n_states).report.as_dict()
    assert json.loads(json.dumps(report)) == report
    edge = report["edges"][model.tree.names[9]]
    assert set(edge) == {
        "below", "above", "strengths", "kept", "cut", "wanted", "threshold", "condition",
    }  # fmt: skip
    assert len(edge["above"]) == 5
    assert edge["strengths"] == sorted(edge["strengths"], reverse=True)
    assert edge["condition"] == pytest.approx(edge["kept"][0] / edge["kept"][-1])


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"representation": "dense"}, "choose one of"),
        ({"n_views": 0}, "1 or more"),
        ({"features": 0}, "1 or more"),
        ({"cut": -1.0}, "0 or more"),
        ({"n_states": (2,) * 3}, "numbers of states for 4 nodes"),
        ({"n_states": (2, 2, 3, 2)}, "must be the same"),
        ({"n_states": (2, 2, 2, 0)}, "'h3' has 0 states"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, complaint):
    tree = rooted_tree([3, 3, 3, -1], 3)
    moments = ExactMoments(toy_tables(tree, 2, 2, 0))
    with pytest.raises(ArgumentError, match=complaint):
        spectral(tree, moments, **{"n_states": (2, 2, 2, 2), **changes})


def test_a_copy_must_have_the_states_of_what_it_repeats():
    tree = rooted_tree([3, 3, 3, -1], 3, copies={3: 0})
    moments = ExactMoments(toy_tables(rooted_tree([3, 3, 3, -1], 3), 2, 2, 0))
    with pytest.raises(ArgumentError, match="repeats the observed 'x0'"):
        spectral(tree, moments, (2, 2, 2, 3))
