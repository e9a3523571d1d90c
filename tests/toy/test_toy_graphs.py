"""Latent graphs with loops: exact tables against enumeration, rows drawn from them, and their ranks."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.approximation import treewidth_min_fill_in

from tacit.errors import ArgumentError, TooExpensiveError
from tacit.toy import (
    GraphModel,
    random_factorial_model,
    random_graph_model,
    random_hmm_model,
    random_loopy_model,
)
from tacit.toy.junctions import LOOPS

SMALL = {
    "second order": lambda seed: random_hmm_model(
        4, order=2, n_states=2, n_categories=3, random_state=seed
    ),
    "third order": lambda seed: random_hmm_model(
        5, order=3, n_states=2, n_categories=2, homogeneous=True, random_state=seed
    ),
    "factorial": lambda seed: random_factorial_model(
        3, n_states=2, n_categories=3, diagonal=1.0, random_state=seed
    ),
    "with arrows between observed": lambda seed: random_graph_model(
        {"x": (), "h": ("x",), "y": ("h", "x"), "g": ("y",), "z": ("g", "h")},
        ["z", "x", "y"],
        n_states={"h": 3, "g": 2},
        n_categories=[2, 3, 4],
        random_state=seed,
    ),
}


def enumerated(model, names):
    """The joint table of some variables, by adding up every cell of the joint table of all."""
    every = list(model.tables)
    sizes = {name: model.tables[name].shape[-1] for name in every}
    actual = np.zeros([sizes[name] for name in names])
    for cell in itertools.product(*(range(sizes[name]) for name in every)):
        value = dict(zip(every, cell, strict=True))
        fraction = math.prod(
            model.tables[name][tuple(value[one] for one in (*model.parents[name], name))]
            for name in every
        )
        actual[tuple(value[name] for name in names)] += fraction
    return actual


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("seed", range(2))
def test_the_joint_table_is_the_one_found_by_enumeration(kind, seed):
    model = SMALL[kind](seed)
    assert model.joint_table() == pytest.approx(enumerated(model, model.names), abs=1e-14)
    assert model.joint_table().shape == model.cards


@pytest.mark.parametrize("kind", SMALL)
def test_marginals_of_any_variables_have_the_axes_in_the_order_asked(kind):
    model = SMALL[kind](3)
    rng = np.random.default_rng(0)
    every = list(model.tables)
    for size in (0, 1, 2, 3):
        names = rng.permutation(every)[:size].tolist()
        assert model.marginal(names) == pytest.approx(enumerated(model, names), abs=1e-14)


@pytest.mark.parametrize("kind", SMALL)
def test_rows_have_the_log_probability_of_the_joint_table_and_missing_cells_are_summed_out(kind):
    model = SMALL[kind](1)
    joint = enumerated(model, model.names)
    codes = model.sample(60, random_state=0)
    expected = np.log(joint[tuple(codes.T)])
    assert model.log_prob(codes) == pytest.approx(expected, rel=1e-12)
    codes[:, 1] = -1
    seen = [place for place in range(len(model.names)) if place != 1]
    expected = np.log(joint.sum(axis=1)[tuple(codes[:, seen].T)])
    assert model.log_prob(codes) == pytest.approx(expected, rel=1e-12)
    nothing = np.full((2, len(model.names)), -1)
    assert model.log_prob(nothing) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert model.log_prob(codes[:0]).shape == (0,)


def test_rows_that_cannot_be_have_no_probability():
    tables = {"h": np.array([0.5, 0.5]), "x": np.eye(2), "y": np.eye(2)}
    model = GraphModel(("x", "y"), {"h": (), "x": ("h",), "y": ("h",)}, tables)
    assert model.log_prob(np.array([[0, 1], [1, 1]])) == pytest.approx([-math.inf, math.log(0.5)])


def test_long_rows_have_probabilities_below_all_numbers():
    model = random_hmm_model(1000, order=2, random_state=0)
    codes = model.sample(3, random_state=0)
    actual = model.log_prob(codes)
    assert (actual < -1000).all()
    assert np.isfinite(actual).all()
    short = codes.copy()
    short[:, 5:] = -1
    joint = model.marginal([f"x{time}" for time in range(5)])
    assert model.log_prob(short) == pytest.approx(np.log(joint[tuple(short[:, :5].T)]), rel=1e-10)


def test_many_rows_are_taken_in_parts(monkeypatch):
    from tacit.toy import graphs

    model = SMALL["second order"](0)
    codes = model.sample(100, random_state=0)
    at_once = model.log_prob(codes)
    monkeypatch.setattr(graphs, "_CELLS_AT_ONCE", 640)
    assert np.array_equal(model.log_prob(codes), at_once)


@pytest.mark.parametrize("kind", SMALL)
def test_exact_moments_are_the_marginals_of_the_joint_table(kind):
    model = SMALL[kind](2)
    moments = model.moments
    assert moments.cards == model.cards
    assert moments.n_rows == math.inf
    pairs = moments.pairs()
    for i, one in enumerate(model.names):
        assert pairs.marginal(i) == pytest.approx(enumerated(model, [one]), abs=1e-14)
        assert pairs.joint(i, i) == pytest.approx(np.diag(pairs.marginal(i)), abs=0)
        for j in set(range(len(model.names))) - {i}:
            expected = enumerated(model, [one, model.names[j]])
            assert pairs.joint(i, j) == pytest.approx(expected, abs=1e-14)
    (single, triple) = moments.tables([(1,), (2, 0, 1)])
    assert single == pytest.approx(enumerated(model, [model.names[1]]), abs=1e-14)
    expected = enumerated(model, [model.names[place] for place in (2, 0, 1)])
    assert triple == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("kind", SMALL)
def test_drawn_rows_have_the_frequencies_of_the_joint_table(kind):
    model = SMALL[kind](4)
    joint = model.joint_table().ravel()
    n_rows = 20_000
    codes = model.sample(n_rows, random_state=1)
    assert codes.dtype == np.int16
    assert codes.flags.f_contiguous
    counts = np.bincount(np.ravel_multi_index(codes.T, model.cards), minlength=len(joint))
    # Six standard deviations in every cell.
    assert (np.abs(counts - n_rows * joint) <= 6 * np.sqrt(n_rows * joint) + 1e-9).all()
    assert np.array_equal(codes, model.sample(n_rows, random_state=1))


def test_hidden_markov_models_have_the_arrows_of_their_order():
    model = random_hmm_model(6, order=3, random_state=0)
    assert model.parents["h5"] == ("h2", "h3", "h4")
    assert model.parents["h1"] == ("h0",)
    assert model.parents["x4"] == ("h4",)
    assert model.names == ("x0", "x1", "x2", "x3", "x4", "x5")
    assert set(model.n_states.values()) == {2}
    assert set(model.cards) == {4}
    assert nx.is_directed_acyclic_graph(model.graph)
    assert set(model.graph.edges) == set(model.edges)


def test_homogeneous_models_have_the_same_tables_at_every_time():
    model = random_hmm_model(6, order=2, homogeneous=True, random_state=0)
    assert all(model.tables[f"x{time}"] is model.tables["x0"] for time in range(6))
    assert all(model.tables[f"h{time}"] is model.tables["h2"] for time in range(2, 6))
    assert model.tables["h1"].shape == (2, 2)
    other = random_hmm_model(6, order=2, random_state=0)
    assert not np.array_equal(other.tables["x0"], other.tables["x1"])
    pair = random_factorial_model(4, homogeneous=True, random_state=0)
    assert pair.tables["a3"] is pair.tables["a1"]
    assert pair.tables["a1"] is not pair.tables["b1"]
    assert pair.tables["x3"] is pair.tables["x0"]


def test_factorial_models_observe_all_chains_at_once():
    model = random_factorial_model(4, n_chains=3, random_state=0)
    assert model.parents["x2"] == ("a2", "b2", "c2")
    assert model.parents["c2"] == ("c1",)
    assert model.tables["x2"].shape == (2, 2, 2, 16)


def test_the_loopy_model_has_treewidth_three_and_loops_of_hidden_variables():
    model = random_loopy_model(random_state=0)
    hidden = set(model.n_states)
    assert len(hidden) == 9
    assert model.cards == (16,) * 8
    inner = model.graph.subgraph(hidden).to_undirected()
    assert len(nx.cycle_basis(inner)) == 6
    moral = nx.moral_graph(model.graph).subgraph(hidden)
    width, _ = treewidth_min_fill_in(moral)
    assert width == 3
    assert max(map(len, nx.find_cliques(moral))) == 4


def rank(model, below, above):
    """The rank of the joint table of two sets of variables, rows against columns, and its last value."""
    table = model.marginal([*below, *above])
    size = math.prod(table.shape[: len(below)])
    values = np.linalg.svd(table.reshape(size, -1), compute_uv=False)
    return int((values > 1e-10).sum()), values


# The hidden variables of each separator, and a variable on either side that is to show all their states.
SEPARATORS = {
    "middle": (("m", "n", "s"), ("x0",), ("x4",)),
    "west": (("n", "s", "w1"), ("x0",), ("x1",)),
    "east": (("n", "s", "e1"), ("x4",), ("x5",)),
    "far west": (("w1", "w2"), ("x1",), ("x2",)),
    "far east": (("e1", "e2"), ("x5",), ("x6",)),
    "western end": (("w1", "w2", "w3"), ("x2",), ("x3",)),
    "eastern end": (("e1", "e2", "e3"), ("x6",), ("x7",)),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SEPARATORS)
def test_every_separator_of_the_loopy_model_shows_in_one_variable_of_each_half(name, seed):
    members, below, above = SEPARATORS[name]
    model = random_loopy_model(random_state=seed)
    moral = nx.moral_graph(model.graph)
    moral.remove_nodes_from(members)
    assert not nx.has_path(moral, *below, *above)
    assert rank(model, below, above)[0] == 2 ** len(members)


def test_few_categories_do_not_show_the_separators_of_the_loopy_model():
    model = random_loopy_model(n_categories=4, random_state=0)
    assert rank(model, ["x0"], ["x4"])[0] == 4
    assert rank(model, ["x0", "x1"], ["x4", "x5"])[0] == 8


def test_second_order_states_show_in_two_variables_but_not_in_one():
    model = random_hmm_model(8, order=2, random_state=0)
    assert rank(model, ["x3"], ["x4", "x5"])[0] == 2
    assert rank(model, ["x2", "x3"], ["x4", "x5"])[0] == 4


def test_a_larger_diagonal_makes_stronger_dependences():
    values = [
        np.mean(
            [
                rank(random_loopy_model(diagonal=d, random_state=seed), ["x0"], ["x4"])[1][1]
                for seed in range(5)
            ]
        )
        for d in (0.0, 1.0, 4.0)
    ]
    assert values[0] < values[1] < values[2]


def test_tables_are_distributions():
    for model in (random_loopy_model(random_state=0), SMALL["with arrows between observed"](0)):
        for name, table in model.tables.items():
            assert table.sum(axis=-1) == pytest.approx(np.ones(table.shape[:-1]))
            assert table.ndim == len(model.parents[name]) + 1
    assert set(LOOPS) == set(random_loopy_model(random_state=0).tables)


def test_what_is_not_a_graph_is_refused():
    with pytest.raises(ArgumentError, match="'h' has no parents given"):
        random_graph_model({"x": ("h",)}, ["x"])
    with pytest.raises(ArgumentError, match="has a cycle"):
        random_graph_model({"x": ("h",), "h": ("x",)}, ["x"])
    model = random_hmm_model(4, random_state=0)
    for names in (["x0", "x0"], ["x9"]):
        with pytest.raises(ArgumentError, match="different variables"):
            model.marginal(names)
    with pytest.raises(TooExpensiveError, match="cells"):
        random_hmm_model(40, random_state=0).joint_table()
