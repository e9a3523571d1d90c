"""A tree's answers joined with those of others: what each counts, and what KernelTree makes of them."""

from collections import ChainMap

import numpy as np
import pytest

import tacit
from oracles.mixed import answering, made_rows
from tacit.core.files.fields import Source, damage_at
from tacit.core.input.read_mixed_table import read_mixed
from tacit.errors import FileFormatError
from tacit.numbers.data.masking import without_column
from tacit.numbers.learn.blend import HeldOutTree, fit_blend, has_copula
from tacit.numbers.model_files import BLEND


def judged(noise, n=600):
    table, other = read_mixed(made_rows()), read_mixed(made_rows(n, seed=1))
    return table, [HeldOutTree(table, other, answering(other, noise))]


def test_a_tree_that_knows_everything_is_believed_and_one_that_guesses_is_not():
    table, trials = judged(0.0)
    assert fit_blend(table, trials, random_state=0).copula_weights.max() == 0
    table, trials = judged(30.0)
    assert fit_blend(table, trials, random_state=0).copula_weights[:6].min() >= 0.95


def twins(n=1500, seed=0):
    """Rows of two numbers and three names of which many are alike: copies of a hundred and fifty."""
    rng = np.random.default_rng(7)
    numbers, names = rng.normal(size=(150, 2)), rng.integers(6, size=(150, 4))
    which = np.random.default_rng(seed).integers(150, size=n)
    actual = {f"x{j}": column for j, column in enumerate(numbers[which].T)}
    return actual | {f"c{j}": column.astype(str) for j, column in enumerate(names[which].T)}


def test_rows_nearby_count_where_rows_have_twins():
    table, other = read_mixed(twins()), read_mixed(twins(400, seed=1))
    unsure = answering(other, 1.0)
    blend = fit_blend(table, [HeldOutTree(table, other, unsure)], random_state=0)
    assert blend.neighbours is not None
    assert blend.weights[:, 2].min() > 0.5
    assert blend.weights.sum(axis=1) == pytest.approx(np.ones(6))


def test_rows_nearby_that_know_nothing_are_not_kept():
    table, trials = judged(0.0)
    blend = fit_blend(table, trials, random_state=0)
    assert blend.neighbours is None
    assert blend.weights[:, 0].min() == 1


def test_a_gaussian_stands_by_only_where_there_are_numbers_and_not_too_many_categories():
    rows = made_rows(100)
    assert has_copula(read_mixed(rows).schema)
    assert not has_copula(read_mixed({"group": rows["group"], "other": rows["group"]}).schema)
    wide = {"x0": np.arange(900.0), "name": [f"n{k % 450}" for k in range(900)]}
    assert not has_copula(read_mixed(wide).schema)


def test_without_rows_to_judge_by_there_is_no_blend():
    table = read_mixed(made_rows(100))
    assert fit_blend(table, []) is None
    assert (
        fit_blend(table, [HeldOutTree(table, table.take(slice(0, 5)), answering(table, 1))]) is None
    )
    alone = read_mixed({"x0": made_rows(100)["x0"]})
    assert fit_blend(alone, [HeldOutTree(alone, alone, answering(alone, 1))]) is None


def written(blend):
    arrays = {}
    return BLEND.write(blend, "x", arrays), arrays


def read(plain, arrays, table):
    sizes = ChainMap({"schema": table.schema, "column": len(table.schema)})
    with damage_at("x"):
        return BLEND.read(plain, "x", Source(dict(arrays)), sizes)


def test_files_give_the_blend_back():
    table, trials = judged(1.0)
    blend = fit_blend(table, trials, random_state=0)
    plain, arrays = written(blend)
    again = read(plain, arrays, table)
    assert np.array_equal(blend.copula_weights, again.copula_weights)
    assert np.array_equal(blend.weights, again.weights)
    for name in arrays:
        with pytest.raises(FileFormatError, match=name):
            read(plain, {item: arrays[item] for item in arrays if item != name}, table)
    for name in ("copula_weights", "weights"):
        with pytest.raises(FileFormatError, match=name):
            read(plain, {**arrays, f"x.{name}": np.ones(3)}, table)


def test_files_give_the_rows_nearby_back():
    rows = twins()
    rows["x0"][::5] = np.nan
    rows["c0"] = np.where(np.arange(1500) % 7, rows["c0"], None)
    table, other = read_mixed(rows), read_mixed(twins(400, seed=1))
    blend = fit_blend(table, [HeldOutTree(table, other, answering(other, 1.0))], random_state=0)
    plain, arrays = written(blend)
    again = read(plain, arrays, table)
    assert again.neighbours.bandwidth == blend.neighbours.bandwidth
    asked = without_column(other, 0)
    assert again.neighbours.predictions(asked, [0])[0] == pytest.approx(
        blend.neighbours.predictions(asked, [0])[0], nan_ok=True
    )
    codes = arrays["x.neighbours.codes"]
    for wrong in (
        codes[:3],
        codes[:, :0],
        codes + codes.dtype.type(100),
        codes - codes.dtype.type(9),
    ):
        with pytest.raises(FileFormatError, match="neighbours"):
            read(plain, {**arrays, "x.neighbours.codes": wrong}, table)
    with pytest.raises(FileFormatError, match="bandwidth"):
        read({**plain, "neighbours": {"bandwidth": 0.0}}, arrays, table)


# -- KernelTree -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return tacit.KernelTree(experts="tree", random_state=0).fit(made_rows(400))


def as_tree(model, ask):
    """What the tree says alone."""
    model.blend = False
    try:
        return ask(model)
    finally:
        model.blend = True


def test_straight_lines_are_better_told_with_a_gaussian_beside_the_tree(model):
    more = made_rows(500, seed=5)
    asked = {name: column for name, column in more.items() if name != "x0"}
    alone = as_tree(model, lambda m: m.expectation(asked, "x0"))
    both = model.expectation(asked, "x0")
    before, after = ((answers - more["x0"]) ** 2 for answers in (alone, both))
    gains = before - after
    assert gains.mean() > 4 * gains.std() / np.sqrt(len(gains))


def test_expectations_and_quantiles_lie_between_those_of_tree_and_gaussian(model):
    asked = {name: column[:40] for name, column in made_rows(40, seed=6).items() if name != "x0"}
    weight = model.blend_.copula_weights[0]
    assert 0 < weight <= 1
    alone = as_tree(model, lambda m: m.expectation(asked, "x0", np.square))
    rows = without_column(model._rows(asked)[0], 0)
    beside = model.blend_.copula.conditionals(rows).expectation(0, np.square)
    joined = model.expectation(asked, "x0", np.square)
    assert joined == pytest.approx((1 - weight) * alone + weight * beside)
    quantiles = model.quantiles(asked, "x0", [0.1, 0.5, 0.9])
    assert (np.diff(quantiles, axis=1) > 0).all()
    assert model.quantiles(asked, "x0", 0.5) == pytest.approx(quantiles[:, 1])


def test_the_cell_itself_is_not_looked_at(model):
    rows = made_rows(20, seed=7)
    other = {**rows, "x0": rows["x0"] + 100}
    assert np.array_equal(model.expectation(rows, "x0"), model.expectation(other, "x0"))


def test_densities_and_probabilities_are_the_trees_own(model):
    rows = made_rows(30, seed=8)
    for ask in (
        lambda m: m.score_samples(rows),
        lambda m: m.conditional_density(rows, "x0")[1],
        lambda m: m.predict_proba(rows, "group"),
    ):
        assert np.array_equal(ask(model), as_tree(model, ask))


def test_missing_cells_are_filled_with_what_both_expect(model):
    rows = made_rows(60, seed=9)
    gaps = {name: column.copy() for name, column in rows.items()}
    gaps["x0"][::2] = np.nan
    gaps["group"] = np.array([None if n % 3 == 0 else g for n, g in enumerate(rows["group"])])
    filled = model.impute(gaps)
    assert np.array_equal(filled["x0"][1::2], rows["x0"][1::2])
    assert filled["x0"][::2] == pytest.approx(model.expectation(gaps, "x0")[::2])
    medians = model.impute(gaps, numbers="median")["x0"]
    assert medians[::2] == pytest.approx(model.quantiles(gaps, "x0", 0.5)[::2])
    assert set(filled["group"]) <= {"up", "down"}
    alone = as_tree(model, lambda m: m.impute(gaps))
    assert not np.allclose(alone["x0"], filled["x0"])
    assert np.array_equal(model.impute(rows)["x0"], rows["x0"])


def test_a_model_without_a_blend_has_none():
    actual = tacit.KernelTree(2, "star", blend=False).fit(made_rows(100))
    assert actual.blend_ is None
    categories = {name: made_rows(100)["group"] for name in ("a", "b")}
    assert tacit.KernelTree(2, "star").fit(categories).blend_ is None


def test_rows_with_twins_are_filled_from_them_and_a_file_keeps_that(tmp_path):
    rows = twins(900)
    gaps = {name: column.astype(object) for name, column in rows.items()}
    hidden = np.random.default_rng(3).random((900, 6)) < 0.2
    for column, which in zip(gaps.values(), hidden.T, strict=True):
        column[which] = None
    model = tacit.KernelTree(3, continuous=["x0", "x1"], random_state=0).fit(gaps)
    assert model.blend_.neighbours is not None
    filled, alone = model.impute(gaps), as_tree(model, lambda m: m.impute(gaps))
    wrong = [
        np.mean([(reports[f"c{j}"] != rows[f"c{j}"])[hidden[:, 2 + j]].mean() for j in range(4)])
        for reports in (filled, alone)
    ]
    assert wrong[0] < 0.25 * wrong[1]
    model.save(tmp_path / "twins.tacit")
    again = tacit.load(tmp_path / "twins.tacit").impute(gaps)
    assert all(np.array_equal(again[name], filled[name]) for name in filled)
