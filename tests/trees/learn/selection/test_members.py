"""Latent classes, the Chow-Liu tree, independent columns and few states as members of the mixture."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from tacit import ChowLiuTree, LatentClass, LatentTree, Topology, load
from tacit.core.input.read_table import encode, read_table
from tacit.core.progress import silent
from tacit.errors import ArgumentError
from tacit.messages.mixture import Mixture
from tacit.toy import random_tables, sample_codes
from tacit.trees.learn.selection import combination
from tacit.trees.learn.selection.combination import CLASSES_OF_SAMPLE, _classes_that_count
from tacit.trees.learn.selection.forests import TrainingData, enough_states
from tacit.trees.learn.selection.members import (
    best_number,
    chow_liu_member,
    em_member,
    few_states_member,
    independent_member,
)
from tacit.trees.learn.selection.mixtures import Forest
from tacit.trees.learn.settings import Settings

NAMES = [f"x{place}" for place in range(5)]
CARDS = (2, 3, 2, 2, 3)


def rows_of_classes(n_rows, n_classes, seed):
    tree = Topology.star(NAMES).rooted(NAMES)
    tables = random_tables(tree, CARDS, n_classes, seed, diagonal=3.0)
    return sample_codes(tables, n_rows, seed + 100)


@pytest.fixture(scope="module")
def codes():
    return rows_of_classes(600, 3, 0)


@pytest.fixture(scope="module")
def data(codes):
    table = read_table(codes[:400])
    return TrainingData(table, encode(codes[400:], table.schema), seed=0, n_jobs=1)


def test_members_are_the_models_of_the_same_name(codes, data):
    rows = codes[400:]
    chow_liu = ChowLiuTree().fit(codes[:400])
    assert chow_liu_member(data).rows == pytest.approx(chow_liu.score_samples(rows))
    independent = LatentClass(1).fit(codes[:400])
    assert independent_member(data, Settings()).rows == pytest.approx(
        independent.score_samples(rows)
    )
    classes = few_states_member("star", 3, data, Settings())
    alike = LatentClass(3, effort="low").fit(codes[:400])
    assert classes.score == pytest.approx(alike.score(rows), abs=0.02)


def test_a_member_of_several_folds_judges_every_held_out_row(codes):
    table = read_table(codes)
    parts = np.array_split(np.arange(len(codes)), 3)
    folds = [
        TrainingData(table.take(np.setdiff1d(np.arange(len(codes)), part)), table.take(part), 0, 1)
        for part in parts
    ]
    data = TrainingData(folds[0].table, folds[0].held_out, 0, 1, others=tuple(folds[1:]))
    member = chow_liu_member(data)
    alone = [chow_liu_member(fold).rows for fold in folds]
    assert np.array_equal(member.rows, np.concatenate(alone))
    assert len(member.parts) == 3
    assert member.score == pytest.approx(member.rows.mean())


def test_numbers_of_states_are_compared_while_more_are_better(data):
    best, scores = best_number("star", data, Settings(), silent, (1, 2, 3, 4, 6, 8, 12, 16))
    assert best.n_states in {2, 3, 4}
    assert [score["n_states"] for score in scores][:3] == [1, 2, 3]
    assert len(scores) < 8
    assert best_number("star", data, Settings(), silent, (500,)) == (None, [])


def test_em_is_a_member_with_pseudo_counts(data):
    tree = Topology.star(NAMES).rooted(NAMES)
    member = em_member("tree", 2, data, Settings(), tree)
    assert np.isfinite(member.rows).all()
    assert member.structure == "tree by EM"


@pytest.fixture(scope="module", params=["star", "chow-liu", "independent"])
def model(request, codes, data):
    """A model whose heaviest member is one of the simple ones."""
    members = {
        "star": few_states_member("star", 3, data, Settings()),
        "chow-liu": chow_liu_member(data),
        "independent": independent_member(data, Settings()),
    }
    order = [request.param, *(name for name in members if name != request.param)]
    fitted = LatentTree(2).fit(codes[:400])
    parts = [members[name].tables for name in order]
    parameters = Mixture.of([0.5, 0.3, 0.2], parts)
    from tacit.trees.model.components import topology_of

    fitted.parameters_ = parameters
    fitted.tree_ = parameters.parts[0].tree
    fitted.topology_ = topology_of(fitted.tree_)
    return fitted


def test_a_mixture_of_simple_members_is_the_weighted_sum_of_their_joint_tables(model):
    every = np.array(list(itertools.product(*map(range, CARDS))))
    probabilities = np.exp(model.score_samples(every))
    assert probabilities.sum() == pytest.approx(1.0)
    parts = model.parameters_
    summed = np.zeros(len(every))
    for weight, tables in zip(parts.weights, parts.parts, strict=True):
        alone = LatentTree(2).fit(every)
        alone.parameters_, alone.tree_ = tables, tables.tree
        summed += weight * np.exp(alone.score_samples(every))
    assert probabilities == pytest.approx(summed)
    # A conditional by Bayes' rule over the enumeration.
    given = {"x1": 2, "x4": 0}
    fits = (every[:, 1] == 2) & (every[:, 4] == 0)
    expected = [probabilities[fits & (every[:, 3] == value)].sum() for value in (0, 1)]
    answer = model.query("x3", given=given)
    assert [answer[value] for value in (0, 1)] == pytest.approx(
        np.array(expected) / probabilities[fits].sum()
    )


def test_every_query_works_with_a_simple_heaviest_member(model, codes, tmp_path):
    rows = codes[400:420]
    posterior = model.posterior(rows)
    assert posterior["component"].sum(axis=1) == pytest.approx(np.ones(20))
    assert model.topology_.observed
    assert model.most_probable_assignment(rows).hidden
    assert len(model.sample(5, random_state=0)) == 5
    assert str(model.summary())
    model.to_bif(tmp_path / "heaviest.bif", component=0)
    hidden = list(model.trees_[0].topology.hidden)
    again = LatentTree.from_bif(tmp_path / "heaviest.bif", hidden)
    assert again.topology_.edges == model.trees_[0].topology.edges
    model.save(tmp_path / "model.tacit")
    assert np.array_equal(
        load(tmp_path / "model.tacit").score_samples(rows), model.score_samples(rows)
    )


@pytest.mark.parametrize("n_rows", [150, 600])
def test_classes_are_found_where_rows_are_of_classes(n_rows):
    """Nothing simpler is better beyond noise."""
    rows = rows_of_classes(n_rows + 3000, 3, 1)
    train, test = rows[:n_rows], rows[n_rows:]
    model = LatentTree(n_jobs=1).fit(train)
    rivals = [LatentClass(n_jobs=1), LatentClass(1), ChowLiuTree(), LatentTree(n_components=1)]
    for rival in rivals:
        gain = model.score_samples(test) - rival.fit(train).score_samples(test)
        assert gain.mean() > -2 * gain.std() / len(gain) ** 0.5
    assert "members" in model.diagnostics_


@pytest.mark.parametrize("n_rows", [1, 5, 25, 60])
def test_few_rows_are_learnt_from(n_rows):
    rows = rows_of_classes(n_rows, 2, 2)
    assert np.isfinite(LatentTree().fit(rows).score_samples(rows)).all()


@pytest.mark.parametrize("effort", ["low", "default", "high"])
def test_effort_moves_the_number_of_trees(effort, codes):
    model = LatentTree(effort=effort, n_jobs=1).fit(codes)
    many = [tree for tree in model.diagnostics_.get("trees", []) if "n_passes" in tree]
    assert len(many) <= {"low": 1, "default": 2, "high": 12}[effort]
    assert LatentClass(2, effort=effort).fit(codes).score(codes) < 0


def test_an_effort_that_is_not_known_is_refused(codes):
    with pytest.raises(ArgumentError, match="effort"):
        LatentTree(effort="much").fit(codes)
    with pytest.raises(ArgumentError, match="effort"):
        LatentClass(effort="much").fit(codes)


def test_a_forest_leaves_out_members_without_weight(data):
    members = [few_states_member("star", 3, data, Settings()), independent_member(data, Settings())]
    forest = Forest.of(members, None).without_light(None)
    assert forest.weights.sum() == pytest.approx(1.0)
    assert (forest.weights >= 0.01).all()
    assert forest.score >= members[0].score - 1e-9


def test_where_few_states_are_enough_many_are_skipped():
    rows = rows_of_classes(110_000, 2, 3)
    model = LatentTree(n_jobs=1).fit(rows)
    assert "many states" in model.diagnostics_["skipped"]
    assert max(k for tree in model.trees_ for k in tree.node_states.values()) <= 12


def test_many_classes_beside_few_states_are_tried_only_where_few_gain_anything(data, monkeypatch):
    task, tried = SimpleNamespace(settings=Settings(), report=silent), []

    def counting(structure, data, settings, report, candidates, tree=None):
        tried.append(candidates)
        return best_number(structure, data, settings, report, candidates, tree)

    monkeypatch.setattr(combination, "best_number", counting)
    truth = few_states_member("star", 3, data, Settings())
    assert _classes_that_count(task, data, truth) is None
    assert tried == [CLASSES_OF_SAMPLE[:1]]
    assert _classes_that_count(task, data, independent_member(data, Settings())) == 4
    assert tried[1:] == [CLASSES_OF_SAMPLE[:1], CLASSES_OF_SAMPLE]


def test_rows_that_repeat_each_other_get_many_states_and_trees_also_where_cells_are_few():
    rng = np.random.default_rng(0)
    prototypes = rng.integers(0, 6, (120, 8))
    rows = prototypes[rng.integers(120, size=700)]
    rows = np.where(rng.random(rows.shape) < 0.05, rng.integers(0, 6, rows.shape), rows)
    train, test = rows[:500], rows[500:]
    model = LatentTree(n_jobs=1).fit(train)
    compared = [one["n_states"] for one in model.diagnostics_["candidates"]]
    assert compared[-3:] == [16, 32, 64]
    assert len(model.trees_) > 4
    one = LatentTree(n_components=1, n_jobs=1).fit(train)
    assert model.score(test) > one.score(test) + 0.5


def test_more_states_than_are_better_are_not_compared_where_cells_are_few(codes, data):
    model = LatentTree(n_jobs=1).fit(codes)
    compared = [one["n_states"] for one in model.diagnostics_["candidates"]]
    assert 16 in compared
    assert 64 not in compared
    tree = Topology.star(NAMES).rooted(NAMES)
    best, scores = enough_states(data, tree, silent, (2, 3, 4, 5, 6, 7, 8))
    assert [one["n_states"] for one in scores] == [2, 3, 4]  # there are three classes
    assert best.n_states == 3
