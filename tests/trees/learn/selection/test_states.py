"""How many states hidden nodes get: as given, as the tree says, or as held-out rows say."""

import json

import numpy as np
import pytest

from tacit import LatentClass, LatentTree, Topology
from tacit.core.input.table import Column, Schema, Table
from tacit.errors import ArgumentError, ArgumentTypeError, RankError
from tacit.toy import random_tables, random_tree_model, sample_codes
from tacit.trees.learn.selection import candidates as selection
from tacit.trees.learn.selection import states
from tacit.trees.learn.selection.states import (
    check_supported,
    known_states,
    other_folds,
    split_rows,
    state_counts,
)

NEWICK = "((a,b),(c,d),(e,f));"
NAMES = list("abcdef")


def strong(n_states, n_rows=2000, seed=0, n_categories=4):
    model = random_tree_model(
        6,
        n_states=n_states,
        n_categories=n_categories,
        topology=Topology.from_newick(NEWICK),
        diagonal=4.0,
        random_state=seed,
    )
    return dict(
        zip(model.names, model.sample(n_rows, random_state=seed + 1).T.tolist(), strict=True)
    )


@pytest.mark.parametrize("n_states", [2, 3])
def test_no_fewer_states_are_chosen_than_there_are_and_the_choice_is_on_record(n_states):
    model = LatentTree(structure=NEWICK).fit(strong(n_states))
    (chosen,) = set(model.node_states_.values())
    assert n_states <= chosen <= n_states + 1  # one more does little harm, and may win by chance
    candidates = model.diagnostics_["candidates"]
    scores = {candidate["n_states"]: candidate["score"] for candidate in candidates}
    assert list(scores) == sorted(scores)
    in_parts = {e["n_states"]: e["score_in_parts"] for e in candidates if "score_in_parts" in e}
    assert list(in_parts) == [1, 2, 3, 4, 6][: len(in_parts)]
    assert max(in_parts, key=in_parts.get) == chosen
    assert all(scores[k] < scores[chosen] for k in scores if k not in in_parts)
    assert all(in_parts[k] < in_parts[n_states] for k in range(1, n_states))
    edges = model.diagnostics_["edges"]
    assert set(edges) <= set(model.tree_.names)
    assert all(edge["kept"][0] == 1.0 for edge in edges.values())
    json.dumps(model.diagnostics_)


def numbered(n_rows):
    """A table whose cells are the numbers of its rows."""
    columns = tuple(Column(name, tuple(range(n_rows)), "integer") for name in "ab")
    codes = np.repeat(np.arange(n_rows, dtype=np.int16)[:, None], 2, axis=1)
    return Table(Schema(columns), np.asfortranarray(codes))


@pytest.mark.parametrize("n_rows", [2, 8, 99, 500])
def test_of_few_rows_the_parts_are_set_aside_in_turn(n_rows):
    table = numbered(n_rows)
    _, first = split_rows(table, 3, everything=False)
    parts = [table.codes[first], *(judging.codes for _, judging in other_folds(table, None, 3))]
    assert 2 <= len(parts) <= 5
    assert len(parts) == 5 or n_rows < 10
    judged = np.concatenate(parts)[:, 0]
    assert len(set(judged.tolist())) == len(judged) >= n_rows - n_rows % 5 - 4
    for learning, judging in other_folds(table, None, 3):
        together = np.concatenate([learning.codes, judging.codes])[:, 0]
        assert sorted(together.tolist()) == list(range(n_rows))


def test_of_many_rows_or_where_rows_are_given_one_part_is_enough(monkeypatch):
    table = numbered(100)
    assert other_folds(table, table, 0) == []
    monkeypatch.setattr(states, "ROWS_FOR_FOLDS", 99)
    assert other_folds(table, None, 0) == []


@pytest.mark.parametrize("seed", range(10))
def test_the_number_of_classes_is_selected(seed):
    rng = np.random.default_rng(seed)
    below = rng.dirichlet(np.ones(3), size=(6, 2)).cumsum(axis=2)  # (column, class, category)
    classes = rng.integers(2, size=600)
    rows = (rng.random((600, 6, 1)) > below[:, classes].transpose(1, 0, 2)).sum(axis=2)
    assert LatentClass().fit(rows).node_states_ == {"h": 2}


def test_independent_columns_get_one_state():
    X = np.random.default_rng(0).integers(0, 3, (500, 5))
    assert set(LatentTree().fit(X).node_states_.values()) == {1}


def test_rows_for_validation_are_what_the_choice_is_judged_by():
    rows = strong(3, 300)
    noise = np.random.default_rng(0).integers(0, 4, (300, 6))
    shuffled = dict(zip(NAMES, noise.T.tolist(), strict=True))
    by_itself = LatentTree(structure=NEWICK).fit(rows)
    misled = LatentTree(structure=NEWICK).fit(rows, validation=shuffled)
    assert set(by_itself.node_states_.values()) != {1}
    assert set(misled.node_states_.values()) == {1}
    # Nothing is set aside then: the last fit is one to all rows either way.
    fixed = LatentTree(1, NEWICK).fit(rows)
    assert np.array_equal(misled.tables_.values, fixed.tables_.values)


@pytest.mark.parametrize("validation", [None, strong(2, 50)], ids=["set aside", "given"])
def test_of_very_many_rows_some_are_used(validation, monkeypatch):
    monkeypatch.setattr(states, "MOST_ROWS", 200)
    monkeypatch.setattr(selection, "FEWEST_ROWS", 10_000)  # no trial of many states
    model = LatentTree(structure=NEWICK).fit(strong(2, 1000), validation=validation)
    assert model.diagnostics_["n_rows_tried_with"] == 200
    assert model.diagnostics_["n_rows"] == 1000
    fixed = LatentTree(model.node_states_, NEWICK).fit(strong(2, 1000))
    assert np.array_equal(fixed.tables_.values, model.tables_.values)


def test_unknown_categories_in_the_validation_rows_are_missing():
    rows = strong(2, 300)
    model = LatentTree(structure=NEWICK).fit(rows, validation={**rows, "a": [9] * 300})
    assert model.node_states_


@pytest.mark.parametrize("learn", ["auto", "spectral", "hierarchical", "mossel-roch", "em"])
def test_every_learner_can_select(learn):
    model = LatentTree(structure=NEWICK, learn=learn, n_restarts=2).fit(strong(2, 1000))
    candidates = model.diagnostics_["candidates"]
    assert (
        max(candidate.get("score", -np.inf) for candidate in candidates[1:])
        > candidates[0]["score"]
    )


def test_the_choice_repeats_itself_and_follows_the_seed():
    rows = strong(3, 200)
    records = [
        LatentTree(structure=NEWICK, random_state=seed).fit(rows).diagnostics_["candidates"]
        for seed in (0, 0, 1)
    ]
    assert records[0] == records[1]
    assert records[0] != records[2]


def test_candidates_beyond_what_the_data_can_carry_are_refused_on_record():
    rows = strong(4, 400, n_categories=2)
    model = LatentTree(structure=NEWICK, learn="mossel-roch").fit(rows)
    refused = [
        candidate for candidate in model.diagnostics_["candidates"] if "refused" in candidate
    ]
    assert len(refused) <= 1
    for candidate in refused:
        assert "states" in candidate["refused"]


def test_one_row_has_one_state():
    model = LatentTree().fit([[1, 2, 3, 4]])
    assert model.diagnostics_["candidates"] == [{"n_states": 1}]
    assert set(model.node_states_.values()) == {1}


def test_a_tree_that_knows_its_states_is_believed():
    topology = Topology.from_edges(
        [("h", "a"), ("h", "b"), ("h", "c"), ("h", "g"), ("g", "d"), ("g", "e"), ("g", "f")],
        n_states={"h": 2, "g": 3},
    )
    rows = strong(2, 500)
    model = LatentTree(structure=topology).fit(rows)
    assert model.node_states_ == {"g": 3, "h": 2}
    assert "candidates" not in model.diagnostics_
    assert LatentTree(4, topology).fit(rows).node_states_ == {"g": 4, "h": 4}
    assert LatentTree({"g": 2}, topology).fit(rows).node_states_ == {"g": 2, "h": 2}


def test_what_a_tree_leaves_open_is_chosen_and_the_rest_is_kept():
    edges = [("h", "a"), ("h", "b"), ("h", "c"), ("h", "g"), ("g", "d"), ("g", "e"), ("g", "f")]
    model = LatentTree(structure=Topology.from_edges(edges, n_states={"h": 5})).fit(strong(2, 500))
    assert model.node_states_["h"] == 5
    assert model.node_states_["g"] in {
        candidate["n_states"] for candidate in model.diagnostics_["candidates"]
    }
    part = LatentTree({"h": 5}, Topology.from_edges(edges)).fit(strong(2, 500))
    assert part.node_states_ == model.node_states_


def test_nodes_may_differ_in_their_number_of_states():
    rows = strong(2, 500)
    names = list(LatentTree(2, NEWICK).fit(rows).node_states_)
    n_states = dict(zip(names, (2, 3, 4, 2), strict=False))
    for learn in ("auto", "spectral", "em"):
        model = LatentTree(n_states, NEWICK, learn).fit(rows)
        if learn != "spectral":  # whose ranks are those of edges
            assert model.node_states_ == n_states
        assert np.isfinite(model.score(rows))


def test_observed_inner_nodes_have_the_states_of_their_column():
    names = list("abcdefm")
    tree = Topology.parse("((a,b,c)m,(d,e),f);", names).rooted(names)
    codes = sample_codes(random_tables(tree, [2, 2, 2, 2, 2, 2, 4], 2, 0), 300, 1)
    rows = dict(zip(names, codes.T.tolist(), strict=True))
    model = LatentTree(2, "((a,b,c)m,(d,e),f);").fit(rows)
    assert sorted(model.node_states_.values()) == [2, 2, 4]


@pytest.mark.parametrize(
    ("n_states", "error", "words"),
    [
        (0, ArgumentError, "n_states=0; give at least 1"),
        (-3, ArgumentError, "n_states=-3"),
        (2.5, ArgumentTypeError, "n_states=2.5"),
        (2.0, ArgumentTypeError, "n_states=2.0"),
        (True, ArgumentTypeError, "n_states=True"),
        (None, ArgumentTypeError, "n_states=None"),
        ("many", ArgumentError, "n_states='many'.*\"auto\""),
        ({"z": 2}, ArgumentError, "'z', but the hidden nodes are 'h"),
        ({"a": 2}, ArgumentError, "'a', but the hidden nodes are 'h"),
        ({"h2": 0}, ArgumentError, "n_states=0 of 'h2'"),
        ({"h2": 1.5}, ArgumentTypeError, "n_states=1.5 of 'h2'"),
    ],
)
def test_numbers_of_states_that_make_no_sense_are_refused(n_states, error, words):
    model = LatentTree(n_states, NEWICK)
    with pytest.raises(error, match=words):
        model.fit(strong(2, 50))
    assert not hasattr(model, "network_")


@pytest.mark.parametrize("learn", ["auto", "em", "online-em"])
def test_tables_need_a_row_for_every_state(learn):
    rows = {name: values[:5] for name, values in strong(2, 50).items()}
    assert LatentTree(5, NEWICK, learn).fit(rows).node_states_
    with pytest.raises(RankError, match=r"n_states=6 requested.*n_samples=5.*n_states<=5"):
        LatentTree(6, NEWICK, learn).fit(rows)
    weights = [1, 1, 1, 0, 0]
    with pytest.raises(RankError, match="n_samples=3"):
        LatentTree(4, NEWICK, learn).fit(rows, sample_weight=weights)


@pytest.mark.parametrize("learn", ["spectral", "hierarchical", "mossel-roch"])
def test_moment_methods_need_categories_for_every_state(learn):
    rows = strong(2, 500, n_categories=2)
    # Two columns of two categories below an inner node: four states at most.
    with pytest.raises(RankError, match=r"n_states=5 requested.*only 4 states.*n_states<=4"):
        LatentTree(5, NEWICK, learn).fit(rows)
    with pytest.raises(RankError, match="only 2 states"):
        LatentClass(3, learn).fit({name: rows[name] for name in "abc"})


def test_moment_methods_take_as_many_states_as_groups_of_columns_can_show():
    rows = strong(2, 500, n_categories=2)
    for learn in ("spectral", "hierarchical"):
        assert np.isfinite(LatentTree(4, NEWICK, learn).fit(rows).score(rows))


def test_a_number_of_its_own_is_refused_at_the_node_that_cannot_carry_it():
    rows = strong(2, 500, n_categories=2)
    names = list(LatentTree(2, NEWICK).fit(rows).node_states_)
    n_states = dict.fromkeys(names, 2) | {names[0]: 5}
    with pytest.raises(RankError, match=f"n_states=5 of '{names[0]}'"):
        LatentTree(n_states, NEWICK, "spectral").fit(rows)


def test_columns_without_categories_do_not_stand_in_the_way_of_others():
    rows = {**strong(3, 500), "one": [1] * 500, "two": [2] * 500}
    model = LatentTree(3, "((a,b),(c,d),((e,f),(one,two)));", "spectral").fit(rows)
    assert np.isfinite(model.score(rows))


def test_states_of_all_nodes_are_put_together():
    topology = Topology.parse("((a,b)m,(c,d),e);", list("abcdem"))
    tree = topology.rooted(list("abcdem"))
    assert known_states(3, topology, tree) == {"h1": 3, "h2": 3}
    assert known_states("auto", topology, tree) == {}
    cards = (2, 2, 2, 2, 2, 4)
    assert state_counts(tree, cards, {"h1": 3}) is None
    counts = state_counts(tree, cards, {"h1": 3}, otherwise=2)
    assert counts[:6] == cards
    by_name = dict(zip(tree.names, counts, strict=True))
    assert by_name["h1"] == 3
    assert by_name["h2"] == 2
    assert by_name["copy(m)"] == 4


def test_a_tree_without_hidden_nodes_carries_any_number():
    tree = Topology.parse("((a,b)m,c);", list("abcm")).rooted(list("abcm"))
    assert known_states(9, Topology.parse("((a,b)m,c);", list("abcm")), tree) == {}
    check_supported(tree, (2,) * tree.n_nodes, "spectral", None)
