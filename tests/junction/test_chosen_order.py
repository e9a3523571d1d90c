"""The order of a chain, given or chosen by held-out rows: independent columns are order 0."""

import itertools

import numpy as np
import pandas as pd
import pytest

import tacit
from oracles.edited_files import edited
from tacit import HigherOrderHMM, LatentClass
from tacit.core.input.read_table import encode, read_table
from tacit.errors import ArgumentError, FileFormatError
from tacit.junction.learn import selection
from tacit.junction.learn.fit import junction_of
from tacit.junction.learn.nested import lifted
from tacit.messages.conditionals import log_prob
from tacit.messages.evidence import Evidence
from tacit.toy.junctions import random_hmm_model

LEARNERS = ["auto", "spectral", "em", "online-em"]


def frame(model, n=2000, seed=1):
    codes = model.sample(n, random_state=seed)
    return pd.DataFrame(codes, columns=list(model.names))


def independent(n=600, n_columns=6, seed=0):
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(3, 5.0), size=n_columns)
    return pd.DataFrame({f"x{t}": rng.choice(3, n, p=p) for t, p in enumerate(chances)})


@pytest.mark.parametrize("learn", LEARNERS)
@pytest.mark.parametrize("homogeneous", [False, True])
def test_order_zero_is_the_product_of_the_marginals(learn, homogeneous):
    table = independent()
    # Stepwise EM has many pseudo-counts, which pull towards the marginals.
    none = {} if learn == "online-em" else {"pseudo_counts": 0.0}
    model = HigherOrderHMM(0, 5, learn=learn, homogeneous=homogeneous, **none).fit(table)
    frequencies = np.stack([(table == value).mean() for value in range(3)], axis=1)
    if homogeneous:
        frequencies[:] = frequencies.mean(axis=0)
    expected = np.log(frequencies[np.arange(6), table.to_numpy()]).sum(axis=1)
    tolerance = 0.2 if learn == "online-em" else 1e-6
    assert model.score_samples(table) == pytest.approx(expected, abs=tolerance)
    assert model.order_ == 0
    assert set(model.node_states_.values()) == {1}


def test_order_zero_answers_every_query_as_independence_does():
    table = independent()
    model = HigherOrderHMM(0).fit(table)
    row = pd.DataFrame([[0, None, 2, None, 1, None]], columns=list(table))
    alone = {name: model.query(name) for name in table}
    given = {name: model.query(name, given={"x0": 1, "x2": 0}) for name in table if name != "x0"}
    for name in ("x1", "x3", "x4", "x5"):
        assert list(given[name].values()) == pytest.approx(list(alone[name].values()))
    pair = model.predict_proba(row, ["x1", "x3"], joint=True)[0]
    one, other = (np.array(list(alone[name].values())) for name in ("x1", "x3"))
    assert pair == pytest.approx(np.outer(one, other))
    assert model.posterior(row)["h3"] == pytest.approx(np.ones((1, 1)))
    assert model.impute(row).notna().all(axis=None)
    assert model.most_likely(row)["x1"][0] == one.argmax()
    assert model.transform(row).shape == (1, 6)
    drawn = model.sample(20_000, given={"x0": 0}, random_state=0)
    frequencies = np.bincount(drawn["x1"], minlength=3) / 20_000
    assert frequencies == pytest.approx(one, abs=0.02)
    assert model.n_parameters_ == 6 * (3 - 1)
    assert "order 0" in str(model.summary())


def test_order_zero_is_a_latent_class_model_of_one_class():
    table = independent()
    ours, other = HigherOrderHMM(0).fit(table), LatentClass(1).fit(table)
    assert ours.score(table) == pytest.approx(other.score(table), abs=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_independent_columns_get_order_zero(seed):
    table, others = independent(seed=seed), independent(5000, seed=seed).iloc[600:]
    model = HigherOrderHMM().fit(table)
    assert (model.order_, set(model.node_states_.values())) == (0, {1})
    orders = {candidate["order"] for candidate in model.diagnostics_["candidates"]}
    assert orders >= {0, 1, 2, 3}
    assert model.score(others) >= HigherOrderHMM(0).fit(table).score(others)


@pytest.mark.parametrize("order", [1, 2])
def test_the_order_of_the_truth_is_found_and_is_no_worse_than_others(order):
    truth = random_hmm_model(
        10, order=order, n_states=2, n_categories=4, homogeneous=True, random_state=0
    )
    table, others = frame(truth, 3000), frame(truth, 3000, seed=2)
    model = HigherOrderHMM(homogeneous=True).fit(table)
    assert model.order_ >= order
    for lower in range(order + 1):
        less = HigherOrderHMM(lower, homogeneous=True).fit(table)
        gains = model.score_samples(others) - less.score_samples(others)
        assert gains.mean() >= -2 * gains.std() / np.sqrt(len(gains))


def test_a_given_order_chooses_one_state_where_columns_are_independent():
    model = HigherOrderHMM(2).fit(independent())
    assert model.order_ == 2
    assert set(model.node_states_.values()) == {1}


def test_validation_rows_choose_where_they_are_given():
    truth = random_hmm_model(6, order=1, n_states=2, n_categories=4, diagonal=4.0, random_state=0)
    table = frame(truth, 1000)
    scrambled = table.apply(lambda column: column.sample(frac=1, random_state=1).to_numpy())
    scrambled = scrambled.apply(lambda column: np.roll(column, 7 * int(column.name[1:])))
    assert HigherOrderHMM().fit(table, validation=frame(truth, 1000, seed=2)).order_ >= 1
    assert HigherOrderHMM().fit(table, validation=scrambled).order_ == 0


def test_weights_of_zero_are_as_rows_that_are_not_there():
    truth = random_hmm_model(6, order=1, n_states=2, n_categories=4, diagonal=4.0, random_state=0)
    both = pd.concat([frame(truth, 600), independent(600)], ignore_index=True)
    weights = np.repeat([1.0, 0.0], 600)
    assert HigherOrderHMM().fit(both, sample_weight=weights).order_ >= 1
    assert HigherOrderHMM().fit(both, sample_weight=1 - weights).order_ == 0


def test_parameters_of_a_lower_order_lifted_to_a_higher_one_are_the_same_distribution():
    for homogeneous in (False, True):
        model = HigherOrderHMM(3, 2, homogeneous=homogeneous)
        table = read_table(independent(200, 5))
        high = model._latent_graph(table.schema)
        junctions = []
        graph = high
        while graph is not None:
            junctions.append(junction_of(graph, table.schema, {f"h{t}": 2 for t in range(5)})[1])
            graph = graph.lower
        assert len(junctions) == 3
        rows = np.array(list(itertools.product(range(3), repeat=5)))
        evidence = Evidence(encode(rows, table.schema).codes)
        ties = junctions[-1]
        rng = np.random.default_rng(0)
        values = np.concatenate(
            [
                rng.dirichlet(np.ones(block.n_columns), size=block.n_rows).ravel()
                for block in ties.blocks
            ]
        )
        expected = log_prob(ties.tables(values), evidence).values
        for higher in reversed(junctions[:-1]):
            values = lifted(ties, values, higher)
            ties = higher
            assert log_prob(ties.tables(values), evidence).values == pytest.approx(expected)


def test_what_is_too_much_work_is_left_out_and_named(monkeypatch):
    monkeypatch.setattr(selection, "MOST_JOINT_STATES", 8)
    model = HigherOrderHMM().fit(independent(300))
    assert {"order": 2, "n_states": 3} in model.diagnostics_["skipped"]
    assert all(
        candidate["n_states"] ** (candidate["order"] + 1) <= 8
        for candidate in model.diagnostics_["candidates"]
        if candidate["order"] > 1
    )


def test_large_tables_are_compared_on_a_part_of_the_rows(monkeypatch):
    monkeypatch.setattr(selection, "MOST_CELLS", 600)
    monkeypatch.setattr(selection, "FEWEST_ROWS", 100)
    model = HigherOrderHMM().fit(independent(300))
    assert model.diagnostics_["rows_compared"] == 100
    assert model.diagnostics_["n_rows"] == 300


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_few_rows_and_columns_get_the_simplest(n_rows):
    assert HigherOrderHMM().fit([["a", "b"]] * n_rows).order_ == 0
    assert HigherOrderHMM().fit([["a"], ["b"]] * n_rows).order_ == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"order": -1}, "order=-1"),
        ({"order": "two"}, "auto"),
        ({"order": 1.5}, "order"),
        ({"learn": "spectral", "preset": "printed", "n_states": 2}, "order"),
    ],
)
def test_wrong_orders_are_refused_by_name(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        HigherOrderHMM(**arguments).fit(independent(50))


@pytest.mark.parametrize("learn", ["auto", "spectral"])
def test_a_chosen_order_is_saved(learn, tmp_path):
    table = independent(200)
    model = HigherOrderHMM(learn=learn).fit(table)
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert (again.order, again.order_) == ("auto", model.order_)
    assert (again.score_samples(table) == model.score_samples(table)).all()
    assert again.diagnostics_["candidates"] == model.diagnostics_["candidates"]
    if learn == "auto":
        assert again.n_parameters_ == model.n_parameters_


def test_an_order_that_is_not_that_of_the_graph_is_refused(tmp_path):
    path = tmp_path / "m.tacit"
    model = HigherOrderHMM(1, 2).fit(independent(100))
    graph = {
        "variables": [*(f"h{t}" for t in range(6)), *(f"x{t}" for t in range(6))],
        "directed": True,
        "edges": [[f"h{t}", f"x{t}"] for t in range(6)],
    }
    for change in (
        {"order": 2},
        {"order": 0},
        {"order": -1},
        {"order": "auto"},
        {"order": 2**40},
        {"graph": graph},
        {"graph": {**graph, "directed": False}},
    ):
        model.save(path)
        edited(path, **change)
        with pytest.raises(FileFormatError):
            tacit.load(path)


def test_a_chain_as_long_as_its_rows_is_loaded(tmp_path):
    path, table = tmp_path / "m.tacit", independent(100, 3)
    model = HigherOrderHMM(9, 2).fit(table)
    model.save(path)
    again = tacit.load(path)
    assert again.order_ == 9
    assert again.n_parameters_ == model.n_parameters_


def test_the_summary_shows_what_was_compared():
    text = str(HigherOrderHMM().fit(independent()).summary())
    assert "Orders and numbers of states, by held-out log-likelihood" in text
    assert "order 0" in text


def test_classes_get_orders_of_their_own():
    truth = random_hmm_model(6, order=1, n_states=2, n_categories=3, diagonal=4.0, random_state=0)
    rows = pd.concat([frame(truth, 500), independent(500)], ignore_index=True)
    classes = np.repeat(["chain", "noise"], 500)
    model = tacit.LikelihoodClassifier(HigherOrderHMM()).fit(rows, classes)
    chain, noise = model.models_
    assert chain.order_ >= 1
    assert noise.order_ == 0
    assert model.diagnostics_["log_loss_after"] <= model.diagnostics_["log_loss_before"]
