"""Which experts are kept beside a tree."""

import numpy as np
import pytest

import tacit
from tacit.core.input.read_mixed_table import read_mixed
from tacit.errors import ArgumentError
from tacit.numbers.learn.experts.candidates import (
    FEWEST_OF_TREE,
    ROWS_FOR_WEAK_PRIOR,
    SHRINKAGES,
    Prepared,
    families,
)
from tacit.numbers.learn.experts.fit import mixture_weights
from tacit.numbers.learn.presets import FAMILIES
from tacit.numbers.model.experts import Atoms


def lines(n=300, seed=0):
    """Numbers that nearly repeat each other, which bins cannot say."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return {"x": x, "y": 2 * x + 0.05 * rng.normal(size=n), "z": rng.normal(size=n)}


@pytest.fixture(scope="module")
def model():
    return tacit.KernelTree(blend=False).fit(lines())


def test_experts_take_over_where_columns_nearly_repeat_each_other(model):
    new = lines(500, seed=1)
    alone = tacit.KernelTree(experts="tree", blend=False).fit(lines())
    assert alone.experts_ is None
    assert model.score(new) > alone.score(new) + 1.0
    assert 0 < model.experts_.weights[0] < 0.2
    assert model.experts_.weights.sum() == pytest.approx(1.0)


def test_diagnostics_and_summary_name_the_experts(model):
    kept = model.diagnostics_["experts"]
    assert kept[0]["expert"] == "tree"
    assert sum(one["weight"] for one in kept) == pytest.approx(1.0)
    best = max(one["score"] for one in kept)
    assert model.diagnostics_["held_out_mixture"] >= best - 1e-9
    text = str(model.summary())
    assert "Experts" in text
    assert "their mixture" in text
    assert kept[1]["expert"] in text


def test_copies_of_columns_and_far_rows_have_finite_densities():
    rows = lines()
    rows["copy"], rows["line"] = rows["x"].copy(), 3 * rows["z"] - 1
    model = tacit.KernelTree(blend=False).fit(rows)
    far = {name: np.array([1e3, -1e12, 1e99, 0.0]) for name in rows}
    assert np.isfinite(model.score_samples(rows)).all()
    assert np.isfinite(model.score_samples(far)).all()


def test_only_named_families_are_compared(tmp_path):
    model = tacit.KernelTree(experts={"scores-diagonal"}, blend=False).fit(lines())
    model.save(tmp_path / "m.tacit")
    assert list(tacit.load(tmp_path / "m.tacit").experts) == ["scores-diagonal"]
    compared = [one["expert"] for one in model.diagnostics_["experts_compared"]]
    assert compared
    assert all("diagonal Gaussian of normal scores" in name for name in compared)


def chained(n, d=24, seed=0):
    """Columns of which each follows the one before: a tree with many columns for its rows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    for column in range(1, d):
        x[:, column] = 0.9 * x[:, column - 1] + 0.44 * x[:, column]
    return {f"x{column}": values for column, values in enumerate(np.exp(x.T))}


def test_of_many_columns_and_few_rows_a_gaussian_tree_is_kept():
    rows, new = chained(100), chained(500, seed=1)
    model = tacit.KernelTree(blend=False).fit(rows)
    kept = {one["expert"]: one["weight"] for one in model.diagnostics_["experts"]}
    assert sum(kept[name] for name in kept if name.startswith("Gaussian tree")) > 0.5
    others = set(FAMILIES) - {"scores-tree"}
    without = tacit.KernelTree(experts=others, blend=False).fit(rows)
    assert model.score(new) > without.score(new) + 1.0
    assert model.score(new) > tacit.GaussianTree().fit(rows).score(new) - 0.1  # the truth is one


def test_few_columns_or_many_rows_need_no_gaussian_tree(model):
    assert not any(
        "tree" in one["expert"] for one in model.diagnostics_["experts_compared"]
    )  # three columns
    many = read_mixed(chained(FEWEST_OF_TREE * ROWS_FOR_WEAK_PRIOR, d=FEWEST_OF_TREE))
    assert not list(families(many, ["scores-tree"]))
    few = many.take(np.arange(100))
    assert [family.shrinkage for family in families(few, ["scores-tree"])] == list(SHRINKAGES)


@pytest.mark.parametrize("experts", ["trees", ["scores"], 3, [1]])
def test_unknown_experts_are_refused(experts):
    with pytest.raises(ArgumentError, match="experts"):
        tacit.KernelTree(experts=experts).fit(lines(30))


def test_spectral_learning_has_no_experts():
    with pytest.raises(ArgumentError, match="learn='auto'"):
        tacit.KernelTree(experts=["scores-full"], learn="spectral").fit(lines(30))
    assert tacit.KernelTree(learn="spectral").fit(lines(100)).experts_ is None


@pytest.mark.parametrize(
    "rows",
    [
        {"a": ["x", "y"] * 30, "b": ["u", "v", "v"] * 20},
        {"x": np.arange(60.0)},
        {"x": np.array([1.5, 2.5, 7.0]), "y": np.array([0.5, 0.25, 3.0])},
    ],
)
def test_tables_that_leave_nothing_to_compare_have_the_tree_alone(rows):
    numbers = [name for name, column in rows.items() if not isinstance(column, list)]
    model = tacit.KernelTree(continuous=numbers).fit(rows)
    assert model.experts_ is None
    assert np.isfinite(model.score_samples(rows)).all()


def test_two_fits_give_the_same_experts(model):
    again = tacit.KernelTree(blend=False).fit(lines())
    assert np.array_equal(again.experts_.weights, model.experts_.weights)
    new = lines(50, seed=2)
    assert np.array_equal(again.score_samples(new), model.score_samples(new))


def test_rows_of_weight_zero_teach_experts_nothing():
    rows, weights = lines(240), np.where(np.arange(240) < 200, 1.0, 0.0)
    weird = {name: np.where(weights > 0, column, 1e6) for name, column in rows.items()}
    model = tacit.KernelTree(blend=False).fit(weird, sample_weight=weights)
    few = {name: column[:200] for name, column in rows.items()}
    assert model.score(few) > tacit.KernelTree(experts="tree", blend=False).fit(few).score(few)


def test_the_users_validation_rows_choose_the_weights():
    model = tacit.KernelTree(blend=False).fit(lines(), validation=lines(200, seed=3))
    assert model.experts_ is not None
    assert model.diagnostics_["held_out_mixture"] > model.diagnostics_["experts"][0]["score"] + 1.0


def test_weights_of_a_mixture_are_those_of_greatest_likelihood():
    rng = np.random.default_rng(0)
    logs = rng.normal(size=(4000, 3))
    weights = mixture_weights(logs, np.ones(4000))
    best = np.log(np.exp(logs) @ weights).mean()
    for other in rng.dirichlet(np.ones(3), size=200):
        assert np.log(np.exp(logs) @ other).mean() <= best + 1e-4


def test_rounded_columns_have_a_floor_of_their_rounding():
    rng = np.random.default_rng(0)
    table = read_mixed({"x": rng.normal(size=500).round(1), "y": rng.normal(size=500)})
    floor = Prepared.of(table, None, Atoms((np.empty(0),) * 2)).rows.floor
    assert floor[0] == pytest.approx(0.01 / 12 / np.std(table.numbers[:, 0]) ** 2, rel=0.2)
    assert floor[1] == pytest.approx(1e-6)


def test_parameters_of_experts_count(model):
    kept = sum(member.classes.n_parameters + 1 for member in model.experts_.members)
    alone = model.n_parameters_ - kept
    assert 0 < alone == model.diagnostics_.get("n_parameters", alone)
    assert np.isfinite(model.bic(lines(50, seed=4)))
