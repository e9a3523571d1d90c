"""Latent junction trees and the HMMs that are no trees, as estimators."""

import itertools

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import tacit
from oracles.edited_files import edited
from tacit import FactorialHMM, HigherOrderHMM, LatentJunctionTree
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    BinningWarning,
    DataError,
    FileFormatError,
    NotAvailableError,
    TooExpensiveError,
    TopologyError,
)
from tacit.junction.model.shared_tables import tied
from tacit.junction.structure.graphs import VariableGraph
from tacit.toy.junctions import random_factorial_model, random_hmm_model, random_loopy_model

LEARNERS = ["auto", "spectral", "em", "online-em"]


def frame(model, n=2000, seed=1):
    codes = model.sample(n, random_state=seed)
    return pd.DataFrame(codes, columns=list(model.names))


@pytest.fixture(scope="module")
def second():
    return random_hmm_model(5, order=2, n_categories=3, diagonal=1.0, random_state=0)


@pytest.fixture(scope="module")
def truth(second):
    """An estimator that holds the true tables."""
    model = HigherOrderHMM(2, 2).fit(frame(second, 300))
    states = {**second.n_states, **dict(zip(second.names, second.cards, strict=True))}
    _, ties = tied(VariableGraph.of(second.graph), second.names, states, {})
    values = np.empty(ties.size)
    for block in ties.blocks:
        children, parents = block.families[0]
        axes = [*second.parents[children[0]], children[0]]
        table = second.tables[children[0]].transpose([axes.index(n) for n in (*parents, *children)])
        values[block.span] = table.ravel()
    tables = ties.tables(values)
    model.parameters_, model.tree_, model.junction_ = tables, tables.tree, ties.junction
    return model


def rows(*cells):
    return pd.DataFrame(cells, columns=[f"x{t}" for t in range(5)])


def test_every_query_agrees_with_enumeration(second, truth):
    joint = second.joint_table()
    row = rows([0, None, 2, None, 1])
    table = joint[0, :, 2, :, 1]  # (x1, x3)
    assert truth.score_samples(row)[0] == pytest.approx(np.log(table.sum()))
    assert truth.predict_proba(row, "x1")[0] == pytest.approx(table.sum(axis=1) / table.sum())
    together = truth.predict_proba(row, ["x1", "x3"], joint=True)[0]
    assert together == pytest.approx(table / table.sum())
    every = truth.marginals(row)
    assert every["x3"][0] == pytest.approx(table.sum(axis=0) / table.sum())
    best = np.unravel_index(table.sum(axis=1).argmax(), (3,))
    assert truth.impute(row)["x1"][0] == best[0]
    assert truth.query("x1", given={"x0": 0, "x2": 2, "x4": 1})[0] == pytest.approx(
        (table.sum(axis=1) / table.sum())[0]
    )


def test_the_posterior_is_that_of_the_hidden_variables(second, truth):
    hidden = ["h1", "h3"]
    table = second.marginal([*hidden, *second.names])
    row = [0, 1, 2, 0, 1]
    conditional = table[(slice(None), slice(None), *row)]
    posterior = truth.posterior(rows(row))
    assert posterior["h1"][0] == pytest.approx(conditional.sum(axis=1) / conditional.sum())
    assert posterior["h3"][0] == pytest.approx(conditional.sum(axis=0) / conditional.sum())
    assert truth.transform(rows(row)).shape == (1, 10)
    assert list(truth.get_feature_names_out())[:2] == ["h0=0", "h0=1"]


def test_drawn_rows_have_the_model_s_frequencies(second, truth):
    drawn = truth.sample(40_000, random_state=0)[["x0", "x4"]].to_numpy()
    counts = np.zeros((3, 3))
    np.add.at(counts, tuple(drawn.T), 1)
    assert counts / 40_000 == pytest.approx(second.marginal(["x0", "x4"]), abs=0.015)
    conditional = truth.sample(20_000, given={"x0": 2}, random_state=1)
    frequencies = np.bincount(conditional["x2"], minlength=3) / 20_000
    pair = second.marginal(["x0", "x2"])[2]
    assert frequencies == pytest.approx(pair / pair.sum(), abs=0.02)


def test_the_most_likely_completion_is_that_of_enumeration(second, truth):
    row = rows([0, None, 2, 1, 1])
    table = second.marginal([*(f"h{t}" for t in range(5)), *second.names])
    conditional = table[(*(slice(None),) * 5, 0, slice(None), 2, 1, 1)]
    best = np.unravel_index(conditional.argmax(), conditional.shape)
    assert truth.most_likely(row)["x1"][0] == best[-1]


@pytest.mark.parametrize("learn", LEARNERS)
def test_every_learner_learns_more_than_independence(learn):
    model = random_hmm_model(8, order=2, diagonal=2.0, random_state=3)
    train, test = frame(model, 5000), frame(model, 1000, seed=2)
    marginals = [train[name].value_counts(normalize=True) for name in train]
    alone = sum(
        np.log(marginal[test[name]].to_numpy())
        for marginal, name in zip(marginals, test, strict=True)
    )
    fitted = HigherOrderHMM(2, 2, learn=learn).fit(train)
    best = model.log_prob(test.to_numpy()).mean()
    # Stepwise EM has strong pseudo-counts and one start.
    fraction = 0.3 if learn == "online-em" else 0.6
    assert fitted.score(test) > alone.mean() + fraction * (best - alone.mean())


@pytest.mark.parametrize("learn", LEARNERS)
def test_missing_cells_and_weights_are_taken(learn):
    model = random_factorial_model(4, n_categories=5, random_state=0)
    table = frame(model, 400).astype("Int64")
    table.iloc[::3, 1] = None
    table.iloc[::7, :] = None
    fitted = FactorialHMM(2, 2, learn=learn).fit(table, sample_weight=np.linspace(0.5, 1.5, 400))
    values = fitted.score_samples(table)
    assert np.isfinite(values).all()
    assert values[0] == pytest.approx(0.0, abs=1e-9)


def test_homogeneous_chains_share_their_tables():
    model = random_hmm_model(6, order=1, homogeneous=True, diagonal=2.0, random_state=0)
    fitted = HigherOrderHMM(1, 2, homogeneous=True).fit(frame(model, 3000))
    apart = HigherOrderHMM(1, 2).fit(frame(model, 3000))
    assert fitted.diagnostics_["n_parameters"] == 1 + 2 + 2 * 3
    assert apart.diagnostics_["n_parameters"] == 1 + 5 * 2 + 6 * 2 * 3
    test = frame(model, 2000, seed=9)
    assert fitted.score(test) > apart.score(test)


def test_homogeneous_columns_get_the_categories_of_all():
    table = pd.DataFrame({"a": list("xyxy") * 10, "b": list("yzyz") * 10, "c": list("xxzz") * 10})
    fitted = HigherOrderHMM(1, 2, homogeneous=True).fit(table)
    assert set(fitted.categories_.values()) == {("x", "y", "z")}
    numbers = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list("abc"))
    with pytest.raises(DataError, match="homogeneous=False"), pytest.warns(BinningWarning):
        HigherOrderHMM(1, 2, homogeneous=True).fit(numbers)


def test_a_graph_with_loops_is_learnt_with_and_without_directions():
    model = random_loopy_model(n_categories=4, diagonal=1.0, random_state=0)
    train, test = frame(model, 3000), frame(model, 500, seed=5)
    directed = LatentJunctionTree(model.edges, 2).fit(train)
    assert directed.junction_.treewidth == 3
    assert set(directed.node_states_) == set(model.n_states)
    without = LatentJunctionTree(nx.Graph(model.edges), 2).fit(train)
    alone = LatentJunctionTree(model.edges, 1).fit(train)
    assert directed.score(test) > alone.score(test)
    assert np.isfinite(without.score(test))


def test_numbers_of_states_are_chosen_by_held_out_rows():
    model = random_hmm_model(5, order=1, n_states=3, n_categories=6, diagonal=4.0, random_state=1)
    fitted = HigherOrderHMM(1).fit(frame(model, 4000))
    candidates = fitted.diagnostics_["candidates"]
    assert [candidate["n_states"] for candidate in candidates][:3] == [1, 2, 3]
    assert set(fitted.node_states_.values()) == {3}


def test_the_plan_says_what_it_takes(second):
    plan = HigherOrderHMM(2, 3).plan(frame(second, 50))
    assert plan.treewidth == 2
    assert plan.most_states == 9
    assert plan.n_parameters > 0
    assert "treewidth 2" in str(plan)
    with pytest.raises(TooExpensiveError, match="treewidth"):
        FactorialHMM(14, 4).plan(frame(second, 50))


@pytest.mark.parametrize("learn", ["auto", "spectral"])
def test_a_saved_model_answers_the_same(learn, second, tmp_path):
    table = frame(second, 300)
    graph = nx.Graph(second.edges)
    for model in (
        HigherOrderHMM(2, 2, learn=learn),
        FactorialHMM(2, 2, learn=learn),
        LatentJunctionTree(second.edges, dict.fromkeys(second.n_states, 2), learn),
        LatentJunctionTree(graph, 2, learn),
    ):
        fitted = model.fit(table)
        fitted.save(tmp_path / "m.tacit")
        again = tacit.load(tmp_path / "m.tacit")
        assert type(again) is type(fitted)
        assert (again.score_samples(table) == fitted.score_samples(table)).all()
        assert again.node_states_ == fitted.node_states_
        assert again.fit(table).score(table) == pytest.approx(fitted.score(table))


def test_a_damaged_graph_in_a_file_is_refused(second, tmp_path):
    path = tmp_path / "m.tacit"
    model = HigherOrderHMM(2, 2).fit(frame(second, 200))
    for change in (
        {"graph": {"variables": ["x0"], "directed": True, "edges": []}},
        {"graph": {"variables": 3}},
        {"states": {}},
        {"states": dict.fromkeys(model.node_states_, 3)},
        {"states": dict.fromkeys(model.node_states_, "two")},
        {"states": dict.fromkeys(model.node_states_, 10**30)},
        {"schema": 5},
        {"parameters": {"kind": "tables"}},
    ):
        model.save(path)
        edited(path, **change)
        with pytest.raises(FileFormatError):
            tacit.load(path)


def test_the_same_data_gives_the_same_model_whatever_the_threads(second):
    table = frame(second, 1000)
    one = HigherOrderHMM(2, 2, n_jobs=1).fit(table)
    two = HigherOrderHMM(2, 2, n_jobs=2).fit(table)
    assert (one.parameters_.values == two.parameters_.values).all()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (LatentJunctionTree, ArgumentError, "graph=None"),
        (lambda: LatentJunctionTree(3, 2), ArgumentTypeError, "networkx"),
        (lambda: LatentJunctionTree([("h", "x0")], 2), TopologyError, "'x1' is not in the graph"),
        (lambda: HigherOrderHMM(-1, 2), ArgumentError, "order"),
        (lambda: HigherOrderHMM(2, 0), ArgumentError, "n_states=0"),
        (lambda: HigherOrderHMM(2, 2.5), ArgumentTypeError, "n_states=2.5"),
        (lambda: HigherOrderHMM(2, "many"), ArgumentError, "auto"),
        (lambda: HigherOrderHMM(2, {"z": 2}), ArgumentError, "names 'z'"),
        (lambda: HigherOrderHMM(2, 2, learn="hierarchical"), ArgumentError, "learn"),
        (lambda: FactorialHMM(0, 2), ArgumentError, "n_chains"),
        (lambda: HigherOrderHMM(2, 2, features=0), ArgumentError, "features"),
    ],
)
def test_wrong_arguments_are_refused_by_name(make, error, words, second):
    with pytest.raises(error, match=words):
        make().fit(frame(second, 50))


def test_what_operators_and_junction_trees_cannot_say_is_said(second, tmp_path):
    fitted = HigherOrderHMM(2, 2, learn="spectral").fit(frame(second, 500))
    with pytest.raises(NotAvailableError):
        fitted.posterior(frame(second, 5))
    with pytest.raises(NotAvailableError, match="joint states"):
        fitted.to_bif(tmp_path / "m.bif")


def test_tiny_tables_are_learnt():
    for learn, n in itertools.product(LEARNERS, (1, 2, 5)):
        fitted = HigherOrderHMM(1, 2, learn=learn).fit([["a", "b", "a"]] * n)
        assert np.isfinite(fitted.score([["a", "b", "a"]]))


def test_parameters_are_those_of_the_graph_and_shared_ones_count_once():
    graph = [("a", "b"), ("a", "x"), ("b", "x"), ("a", "y"), ("b", "z")]
    rows = {"x": [0, 1, 2, 3] * 25, "y": [0, 0, 1, 1] * 25, "z": [0, 1] * 50}
    model = tacit.LatentJunctionTree(graph, n_states=2).fit(rows)
    assert model.n_parameters_ == 1 + 2 + 4 * 3 + 2 + 2
    scores = model.score_samples(rows)
    assert model.bic(rows) == pytest.approx(19 * np.log(100) - 2 * scores.sum())
    chain = {f"t{place}": np.random.default_rng(place).integers(2, size=80) for place in range(5)}
    shared = tacit.HigherOrderHMM(2, 2, homogeneous=True).fit(chain)
    assert shared.n_parameters_ == 1 + 2 + 4 + 2  # two starts, transition, emission
    apart = tacit.HigherOrderHMM(2, 2).fit(chain)
    assert apart.n_parameters_ == 1 + 2 + 3 * 4 + 5 * 2


@pytest.mark.parametrize("model", [HigherOrderHMM(2), FactorialHMM(2)])
def test_spectral_learning_of_one_column_gives_its_frequencies(model):
    rows = np.array([[0]] * 6 + [[1]] * 3 + [[2]])
    model.set_params(learn="spectral", n_states=2).fit(rows)
    assert np.exp(model.score_samples([[0], [1], [2]])) == pytest.approx([0.6, 0.3, 0.1], abs=1e-9)
