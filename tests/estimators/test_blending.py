"""A tree's answers joined with a Gaussian's: weights by hidden cells, and what KernelTree makes of them."""

import numpy as np
import pytest

import tacit
from tacit.data.mixedreading import read_mixed
from tacit.errors import FileFormatError
from tacit.estimators.blending import (
    Judged,
    Trial,
    blend_from_arrays,
    fit_blend,
    hidden_cells,
    pays,
    without,
    without_column,
)


def made_rows(n=1200, seed=0, n_columns=6):
    """Numbers that hang together by straight lines, and a category that goes with them."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    numbers = hidden @ np.random.default_rng(99).normal(size=(2, n_columns))
    numbers += 0.3 * rng.normal(size=numbers.shape)
    group = np.where(hidden[:, 0] > 0, "up", "down")
    return {**{f"x{j}": column for j, column in enumerate(numbers.T)}, "group": group}


def answering(truth, noise, seed=0):
    """A tree that knows the truth of all rows, but for noise in numbers and doubt in categories."""
    rng = np.random.default_rng(seed)

    def ask(table):
        found = {}
        for column in range(len(table.schema)):
            values = truth.column(column)
            if column in table.schema.continuous:
                found[column] = values + noise * rng.normal(size=len(values))
            else:
                sure = 1 - 0.5 * min(noise, 1)
                found[column] = np.where(values[:, None] == np.arange(2), sure, 1 - sure)
        return found

    return ask


def judged(noise, n=600):
    table, other = read_mixed(made_rows()), read_mixed(made_rows(n, seed=1))
    return table, [Judged(table, other, answering(other, noise))]


def test_a_tree_that_knows_everything_is_believed_and_one_that_guesses_is_not():
    table, trials = judged(0.0)
    assert fit_blend(table, trials, random_state=0).weights.max() == 0
    table, trials = judged(30.0)
    assert fit_blend(table, trials, random_state=0).weights[:6].min() >= 0.95


def test_weights_are_those_of_independent_errors():
    table = read_mixed(made_rows())
    trial = Trial.of(table)
    rng = np.random.default_rng(0)
    truth = table.numbers
    tree = {j: truth[:, j] + 2.0 * rng.normal(size=len(truth)) for j in range(6)}
    gaussian = {j: truth[:, j] + 1.0 * rng.normal(size=len(truth)) for j in range(6)}
    tree[6] = gaussian[6] = np.full((len(truth), 2), 0.5)
    trial.add(table, np.ones((len(truth), 7), dtype=bool), tree, gaussian, 1.0)
    # Independent errors with variances 4 and 1 are best joined 1 : 4.
    assert trial.weights()[:6] == pytest.approx(np.full(6, 0.8), abs=0.05)


def test_few_cells_of_a_column_follow_those_of_all():
    table = read_mixed(made_rows())
    trial = Trial.of(table)
    truth = table.numbers
    tree = {j: truth[:, j] + (0.0 if j == 0 else 9.0) for j in range(6)}
    gaussian = {j: truth[:, j] + (9.0 if j == 0 else 0.0) for j in range(6)}
    tree[6] = gaussian[6] = np.full((len(truth), 2), 0.5)
    hidden = np.ones((len(truth), 7), dtype=bool)
    hidden[2:, 0] = False  # two cells alone
    trial.add(table, hidden, tree, gaussian, 1.0)
    assert trial.weights()[:6].min() > 0.7
    every = Trial.of(table)
    every.add(table, np.ones((len(truth), 7), dtype=bool), tree, gaussian, 1.0)
    assert every.weights()[0] < 0.2


def test_a_cell_that_is_hidden_several_times_counts_once():
    table = read_mixed(made_rows())
    once, often = Trial.of(table), Trial.of(table)
    told = answering(table, 1.0)(table)
    other = answering(table, 2.0, seed=1)(table)
    hidden = np.ones((table.n_rows, 7), dtype=bool)
    once.add(table, hidden, told, other, 1.0)
    for _ in range(4):
        often.add(table, hidden, told, other, 0.25)
    assert often.losses == pytest.approx(once.losses)
    assert often.n_cells == pytest.approx(once.n_cells)


def test_cells_are_hidden_only_where_there_are_some_and_never_a_whole_row():
    rows = made_rows(400)
    rows["x0"][::3] = np.nan
    table = read_mixed(rows)
    hidden = hidden_cells(table, np.random.default_rng(0))
    assert not (hidden & table.missing).any()
    assert not (hidden | table.missing).all(axis=1).any()
    assert 0.2 < hidden.mean() < 0.35
    left = without(table, hidden)
    assert np.array_equal(left.missing, hidden | table.missing)
    kept = ~left.missing[:, 1]
    assert np.array_equal(left.column(1)[kept], table.column(1)[kept])
    assert not (table.missing & hidden).any()  # the table itself is as it was
    assert without_column(table, 6).missing[:, 6].all()


def test_it_pays_only_where_there_are_numbers_and_not_too_many_categories():
    rows = made_rows(100)
    assert pays(read_mixed(rows))
    assert not pays(read_mixed({"group": rows["group"], "other": rows["group"]}))
    assert not pays(read_mixed({"x0": rows["x0"]}))
    wide = {"x0": np.arange(500.0), "name": [f"n{k}" for k in range(500)]}
    assert not pays(read_mixed(wide))
    table = read_mixed(rows)
    assert fit_blend(table, []) is None
    assert fit_blend(table, [Judged(table, table.take(slice(0, 5)), answering(table, 1))]) is None


def test_arrays_of_a_file_give_the_blend_back():
    table, trials = judged(1.0)
    blend = fit_blend(table, trials, random_state=0)
    again = blend_from_arrays(table.schema, blend.to_arrays())
    assert np.array_equal(blend.weights, again.weights)
    with pytest.raises(FileFormatError, match="weights"):
        blend_from_arrays(table.schema, {**blend.to_arrays(), "weights": np.ones(3)})


# -- KernelTree -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return tacit.KernelTree(random_state=0).fit(made_rows(400))


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
    errors = [np.sqrt(np.mean((told - more["x0"]) ** 2)) for told in (alone, both)]
    assert errors[1] < 0.9 * errors[0]


def test_expectations_and_quantiles_lie_between_those_of_tree_and_gaussian(model):
    asked = {name: column[:40] for name, column in made_rows(40, seed=6).items() if name != "x0"}
    weight = model.blend_.weights[0]
    assert 0 < weight <= 1
    alone = as_tree(model, lambda m: m.expectation(asked, "x0", np.square))
    rows = without_column(model._rows(asked)[0], 0)
    beside = model.blend_.companion.answers(rows).expectation(0, np.square)
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
    found = tacit.KernelTree(2, "star", blend=False).fit(made_rows(100))
    assert found.blend_ is None
    categories = {name: made_rows(100)["group"] for name in ("a", "b")}
    assert tacit.KernelTree(2, "star").fit(categories).blend_ is None
