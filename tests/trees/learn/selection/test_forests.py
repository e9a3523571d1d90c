"""Trees with many states, and forests of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit import LatentTree, Topology, load
from tacit.core.input.read_table import encode, read_table
from tacit.errors import ArgumentError
from tacit.toy import balanced, caterpillar, random_tables, sample_codes
from tacit.trees.learn.selection import candidates as selection
from tacit.trees.learn.selection import forests, mixtures
from tacit.trees.learn.selection.forests import (
    TrainingData,
    likeliest_states,
    many_states,
    train,
)
from tacit.trees.learn.selection.members import chow_liu_member
from tacit.trees.learn.selection.mixtures import (
    Forest,
    grow,
    mixed_score,
    mixture_weights,
    retrained,
)

NAMES = [f"x{i}" for i in range(8)]


def rows_of(topology, n_rows, seed):
    tree = topology.rooted(NAMES)
    tables = random_tables(tree, 2, 4, seed, diagonal=4.0)
    return sample_codes(tables, n_rows, seed + 100)


@pytest.fixture(scope="module")
def both():
    """Rows of two different trees, mixed, and as many to watch and to test."""
    first = rows_of(balanced(2, 4), 1500, 1)
    second = rows_of(caterpillar(8), 1500, 2)
    rows = np.random.default_rng(0).permutation(np.vstack([first, second]))
    return rows[:1000], rows[1000:2000], rows[2000:]


@pytest.fixture(scope="module")
def data(both):
    table = read_table(both[0])
    return TrainingData(table, encode(both[1], table.schema), seed=0, n_jobs=1)


@pytest.fixture(scope="module")
def first(data):
    lay = many_states(data.tree("hidden-chow-liu"), data.table.schema.cards, 8)
    return train(data, lay, 1.0)


def silent(done, text):
    assert 0.0 <= done <= 1.0


@pytest.mark.parametrize(("margin", "larger"), [(1e9, True), (-1e9, False)])
def test_pseudo_counts_are_compared_with_larger_numbers_that_are_about_as_good(
    data, monkeypatch, margin, larger
):
    monkeypatch.setattr(forests, "MARGIN", margin)  # all larger ones are about as good, or none
    few_rows = replace(data, table=data.table.take(np.arange(100)))
    tree = few_rows.tree("hidden-chow-liu")
    best, tried = likeliest_states(few_rows, tree, silent, (2, 4, 8, 16))
    first = [one for one in tried if one["pseudo_counts"] == 1.0]
    most = max(first, key=lambda one: one["score"])["n_states"]
    again = {one["n_states"] for one in tried if one["pseudo_counts"] != 1.0}
    above = {one["n_states"] for one in first if one["n_states"] > most}
    assert above, tried
    assert again == ({most} | above if larger else {most})
    assert best.score == max(one["score"] for one in tried)


@pytest.mark.parametrize(("part", "n_methods"), [(0.0, 2), (1.0, 1)])
def test_structure_learners_whose_trees_gain_less_are_left_out(
    data, first, monkeypatch, part, n_methods
):
    monkeypatch.setattr(mixtures, "GOOD_METHOD", part)
    asked, tree = {}, TrainingData.tree

    def recorded(self, method, fraction=1.0, number=0):
        asked.setdefault(number, set()).add(method)
        return tree(self, method, fraction, number)

    monkeypatch.setattr(TrainingData, "tree", recorded)
    methods = ["hidden-chow-liu", "neighbor-joining"]
    alone = Forest.of([first], data.held_out_weights)
    grow(data, alone, first, methods, 5, silent, always=True)
    assert asked[1] == {methods[0]}
    assert asked[2] == {methods[1]}
    assert len(set.union(*(asked[number] for number in (3, 4, 5)))) == n_methods


@given(
    rows=st.integers(1, 4).flatmap(
        lambda n: st.lists(
            st.lists(st.floats(-50, 0), min_size=n, max_size=n), min_size=1, max_size=5
        )
    )
)
def test_weights_are_a_distribution_and_better_than_each_tree(rows):
    rows = np.array(rows)
    weights = mixture_weights(rows, n_steps=200)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)
    alone = max(mixed_score(rows, one) for one in np.eye(len(rows)) + 1e-300)
    assert mixed_score(rows, weights) >= alone - 0.05 * abs(alone) - 1e-6


def test_weights_are_those_of_the_best_mixture():
    rng = np.random.default_rng(0)
    rows = rng.normal(-5, 2, (2, 400))
    of_row = rng.uniform(0, 2, 400)
    weights = mixture_weights(rows, of_row, n_steps=2000)
    grid = [(p, 1 - p) for p in np.linspace(0.001, 0.999, 999)]
    best = max(grid, key=lambda pair: mixed_score(rows, np.array(pair), of_row))
    assert weights == pytest.approx(best, abs=0.002)


def test_nodes_get_no_more_states_than_a_few_times_what_their_branches_show(data):
    tree = data.tree("hidden-chow-liu")
    lay = many_states(tree, data.table.schema.cards, 64)
    hidden = lay.n_states[tree.n_leaves :]
    assert max(hidden) <= 64
    assert min(hidden) >= 1
    assert many_states(tree, data.table.schema.cards, 4).n_states[tree.n_leaves :] == tuple(
        min(4, k) for k in hidden
    )


def test_a_subsample_of_the_rows_gives_another_tree_each_time_the_same(data):
    drawn = [data.tree("neighbor-joining", 0.2, number) for number in (1, 1, 2, 3, 4)]
    assert np.array_equal(drawn[0].parent, drawn[1].parent)
    assert any(
        drawn[0].names != tree.names or not np.array_equal(drawn[0].parent, tree.parent)
        for tree in drawn[2:]
    )


def test_training_gains_and_does_not_depend_on_threads(data, first):
    again = train(data, first.tables.layout, 1.0, n_jobs=2)
    assert np.array_equal(again.tables.values, first.tables.values)
    from tacit.trees.learn.em.many_states import ManyStatesExpectation

    held_out = ManyStatesExpectation(first.tables.layout, data.held_out.codes)
    assert first.score == pytest.approx(held_out.mean(first.tables.values))
    assert first.score > held_out.mean(first.start)


def test_training_like_another_makes_as_many_passes_without_watching(data, first):
    again = train(data, first.tables.layout, 1.0, like=first)
    assert (again.n_passes, again.n_steps) == (first.n_passes, first.n_steps)
    assert np.array_equal(again.tables.values, first.tables.values)
    assert not len(again.rows)


def test_a_forest_is_better_than_its_first_tree(data, first):
    alone = Forest.of([first], None)
    forest = grow(data, alone, first, ["hidden-chow-liu", "neighbor-joining"], 3, silent)
    assert 1 < len(forest.trees) <= 4
    assert forest.score > first.score
    assert forest.trees[0] is first
    again = retrained(data, forest, silent)
    assert [trained.number for trained in again.trees] == [
        trained.number for trained in forest.trees
    ]
    same = zip(again.trees, forest.trees, strict=True)
    assert all(np.array_equal(one.tables.values, other.tables.values) for one, other in same)


def test_a_forest_of_a_given_size_has_it(data, first):
    alone = Forest.of([first], None)
    assert len(grow(data, alone, first, ["star"], 2, silent, always=True).trees) == 3


@pytest.fixture(scope="module")
def fitted(both):
    return LatentTree().fit(both[0], validation=both[1])


def test_nothing_set_finds_structure_states_and_trees(fitted, both):
    diagnostics = fitted.diagnostics_
    assert {candidate["structure"] for candidate in diagnostics["structures"]} == set(
        selection.CANDIDATES
    )
    assert sum(component.weight for component in fitted.trees_) == pytest.approx(1)
    assert len(diagnostics["trees"]) == len(fitted.trees_)
    one = LatentTree(n_states=3, structure="hidden-chow-liu").fit(both[0])
    gain = fitted.score_samples(both[2]) - one.score_samples(both[2])
    assert gain.mean() > -2 * gain.std() / len(gain) ** 0.5
    assert fitted.score(both[1]) == pytest.approx(diagnostics["held_out_score"], abs=1e-3)


def test_threads_do_not_show(fitted, both):
    again = LatentTree(n_jobs=1).fit(both[0], validation=both[1])
    assert np.array_equal(again.score_samples(both[2]), fitted.score_samples(both[2]))


def test_a_forest_is_saved_and_loaded(fitted, both, tmp_path):
    fitted.save(tmp_path / "forest.tacit")
    again = load(tmp_path / "forest.tacit")
    assert np.array_equal(again.score_samples(both[2]), fitted.score_samples(both[2]))
    assert again.n_components == "auto"


@pytest.mark.parametrize("n_components", [2, 3])
def test_as_many_trees_as_requested(both, n_components):
    model = LatentTree(n_states=2, structure="hidden-chow-liu", n_components=n_components)
    model.fit(both[0][:300])
    assert len(model.trees_) == n_components
    assert {k for component in model.trees_ for k in component.node_states.values()} == {2}


def test_a_given_tree_or_number_of_states_is_one_tree(both):
    star = Topology.star(NAMES)
    assert len(LatentTree(structure=star).fit(both[0]).trees_) == 1
    assert len(LatentTree(n_states=2).fit(both[0]).trees_) == 1


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "many"])
def test_a_number_of_trees_that_is_none_is_refused(both, wrong):
    with pytest.raises((ArgumentError, TypeError)):
        LatentTree(n_components=wrong).fit(both[0][:50])


def test_several_trees_are_learnt_by_auto_only(both):
    with pytest.raises(ArgumentError, match='learn="auto"'):
        LatentTree(n_components=2, learn="em").fit(both[0][:50])


def test_many_states_are_learnt_with_rows_set_aside(both):
    model = LatentTree(n_states=20, structure="hidden-chow-liu").fit(both[0])
    assert max(model.node_states_.values()) == 20
    assert model.diagnostics_["n_rows_tried_with"] == 800
    few = LatentTree(n_states=2, structure="hidden-chow-liu").fit(both[0])
    assert model.score(both[2]) > few.score(both[2]) - 0.05


def test_weights_and_missing_cells_are_heeded(both):
    rows = both[0].astype(float)
    rows[np.random.default_rng(0).random(rows.shape) < 0.2] = np.nan
    weights = np.repeat([1.0, 0.0], 500)
    model = LatentTree().fit(rows, sample_weight=weights, validation=both[1])
    alone = LatentTree(n_states=4, structure="chow-liu-joining").fit(rows[:500])
    assert model.score(both[2]) > alone.score(both[2]) - 0.1


def test_a_model_that_is_worse_when_it_is_learnt_again_stays_as_it_was(both, data):
    table = read_table(np.vstack(both[:2]))
    every = replace(data, table=table, held_out=None)
    good = chow_liu_member(data)

    def hardly_anything(rows):
        return good.learn(replace(rows, table=rows.table.take(slice(0, 1))))

    unlucky = replace(good, learn=hardly_anything)
    forest = retrained(every, Forest((good, unlucky), np.full(2, 0.5), 0.0), silent)
    assert forest.trees[0].tables is not good.tables
    assert forest.trees[1].tables is unlucky.tables
