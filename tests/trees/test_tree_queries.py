"""Every question to a fitted estimator, against going through all combinations of categories and states."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from oracles.networks import full_joint, weighed
from oracles.population import network_joint
from tacit import ChowLiuTree, LatentClass, LatentTree
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    CategoryError,
    ColumnError,
    DataError,
    NegativeProbabilityError,
    NotAvailableError,
)
from tacit.messages.evidence import Evidence
from tacit.toy import random_tables, sample_codes
from tacit.toy.trees import caterpillar

EXACT = 1e-10
VALUES = {
    "colour": ["blue", "green", "red"],
    "size": [1, 3, 10],
    "ok": [False, True],
    "grade": ["low", "mid", "high"],
    "place": ["north", "south"],
}
NAMES = list(VALUES)
CARDS = [len(values) for values in VALUES.values()]
NEWICK = "((colour,size),(ok,grade),place);"
KINDS = ["pandas", "polars", "pyarrow", "dict", "records", "array"]


def training_frame():
    """Rows of a known model, as a frame of strings, integers, booleans and ordered categories."""
    tree = caterpillar(5).rooted([f"x{i}" for i in range(5)])
    tables = random_tables(tree, CARDS, 2, 0, diagonal=1.0)
    codes = sample_codes(tables, 400, 1)
    frame = pd.DataFrame(
        {
            name: np.array(values, dtype=object)[codes[:, place]]
            for place, (name, values) in enumerate(VALUES.items())
        }
    )
    frame["size"] = frame["size"].astype(int)
    frame["ok"] = frame["ok"].astype(bool)
    frame["grade"] = pd.Categorical(frame["grade"], categories=VALUES["grade"], ordered=True)
    return frame


@pytest.fixture(scope="module")
def models():
    frame = training_frame()
    return {
        "tree": LatentTree(2, NEWICK).fit(frame),
        "class": LatentClass(3).fit(frame),
        "observed inside": LatentTree(2, "((colour,size)ok,(grade,place));").fit(frame),
        "chow-liu": ChowLiuTree().fit(frame),
        "spectral": LatentTree(2, NEWICK, learn="spectral").fit(frame),
    }


@pytest.fixture(params=["tree", "class", "observed inside", "chow-liu"])
def model(request, models):
    return models[request.param]


def holes(seed=0, n_rows=25, missing=0.4):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, card, n_rows) for card in CARDS])
    codes[rng.random(codes.shape) < missing] = -1
    return codes


def values_of(codes, names=NAMES):
    """The cells as Python values, column by column; None where they are missing."""
    return {
        name: [None if code < 0 else VALUES[name][code] for code in codes[:, NAMES.index(name)]]
        for name in names
    }


def as_kind(codes, kind, names=NAMES):
    columns = values_of(codes, names)
    if kind == "pandas":
        return pd.DataFrame(
            {name: pd.Series(values, dtype=object) for name, values in columns.items()}
        )
    if kind == "polars":
        return pl.DataFrame(columns)
    if kind == "pyarrow":
        return pa.table(columns)
    if kind == "dict":
        return columns
    if kind == "records":
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return np.array(list(zip(*columns.values(), strict=True)), dtype=object)


def joint_of(model):
    """P(columns, hidden nodes): one axis per node, columns first."""
    return full_joint(model.tables_)


def cell_table(joint, evidence, row, leaf, leave_out=()):
    table = weighed(joint, evidence, row, leave_out)
    alone = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis != leaf))
    return alone / alone.sum()


def codes_of(table):
    """The codes of a table in any kind, in the order of VALUES."""
    if isinstance(table, pl.DataFrame | pa.Table):
        table = table.to_pandas()
    if isinstance(table, list):
        table = pd.DataFrame(table, columns=NAMES)
    if isinstance(table, np.ndarray):
        table = pd.DataFrame(table, columns=NAMES)
    return np.column_stack(
        [[VALUES[name].index(value) for value in list(table[name])] for name in NAMES]
    )


def test_categories_are_known_by_column_and_in_order(model):
    assert model.categories_ == {name: tuple(values) for name, values in VALUES.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_log_probabilities_agree_with_enumeration(model, kind):
    codes = holes()
    joint = joint_of(model)
    expected = [np.log(weighed(joint, Evidence(codes), row).sum()) for row in range(len(codes))]
    X = as_kind(codes, kind)
    assert model.score_samples(X) == pytest.approx(expected, abs=EXACT)
    assert model.score(X) == pytest.approx(np.mean(expected), abs=EXACT)
    weights = np.arange(len(codes))
    weighted = np.average(expected, weights=weights)
    assert model.score(X, sample_weight=weights) == pytest.approx(weighted, abs=EXACT)


def test_a_row_of_which_nothing_is_known_is_certain(model):
    assert model.score_samples({"colour": [None]}) == pytest.approx([0.0], abs=EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_conditionals_of_one_target_agree_with_enumeration(model, kind):
    codes = holes()
    joint = joint_of(model)
    for leaf, target in enumerate(NAMES):
        probabilities = model.predict_proba(as_kind(codes, kind), target)
        assert probabilities.shape == (len(codes), CARDS[leaf])
        for row in range(len(codes)):
            expected = cell_table(joint, Evidence(codes), row, leaf, leave_out=(leaf,))
            assert probabilities[row] == pytest.approx(expected, abs=EXACT)


def test_several_targets_do_not_see_each_other(model):
    codes = holes()
    joint, evidence = joint_of(model), Evidence(codes)
    probabilities = model.predict_proba(as_kind(codes, "pandas"), ["grade", "colour"])
    assert list(probabilities) == ["grade", "colour"]
    for target, table in probabilities.items():
        for row in range(len(codes)):
            expected = cell_table(joint, evidence, row, NAMES.index(target), leave_out=(0, 3))
            assert table[row] == pytest.approx(expected, abs=EXACT)


def test_several_targets_together_agree_with_enumeration(model):
    codes = holes()
    joint, evidence = joint_of(model), Evidence(codes)
    probabilities = model.predict_proba(as_kind(codes, "pandas"), ["grade", "colour"], joint=True)
    assert probabilities.shape == (len(codes), 3, 3)
    for row in range(len(codes)):
        table = weighed(joint, evidence, row, leave_out=(0, 3))
        summed = tuple(axis for axis in range(table.ndim) if axis not in (0, 3))
        expected = table.sum(axis=summed).T
        assert probabilities[row] == pytest.approx(expected / expected.sum(), abs=EXACT)


def test_without_a_target_every_column_is_predicted_from_the_others(model):
    X = as_kind(holes(), "pandas")
    together = model.predict_proba(X)
    if isinstance(model, LatentClass):
        assert together == pytest.approx(model.posterior(X)["h"])
        return
    assert together == pytest.approx(np.hstack([model.predict_proba(X, name) for name in NAMES]))


def test_marginals_agree_with_enumeration(model):
    codes = holes()
    joint, evidence = joint_of(model), Evidence(codes)
    marginals = model.marginals(as_kind(codes, "polars"))
    assert list(marginals) == NAMES
    for leaf, table in enumerate(marginals.values()):
        for row in range(len(codes)):
            expected = cell_table(joint, evidence, row, leaf)
            assert table[row] == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_imputed_cells_are_the_most_probable_ones(model, kind):
    codes = holes()
    X = as_kind(codes, kind)
    imputed = model.impute(X)
    assert type(imputed) is type(X)
    completed = codes_of(imputed)
    tables = list(model.marginals(X).values())
    for leaf in range(5):
        gaps = codes[:, leaf] < 0
        assert (completed[~gaps, leaf] == codes[~gaps, leaf]).all()
        assert (completed[gaps, leaf] == tables[leaf][gaps].argmax(axis=1)).all()


def test_the_most_likely_completion_is_the_best_of_all(model):
    codes = holes()
    joint = joint_of(model)
    completed = codes_of(model.most_likely(as_kind(codes, "pandas")))
    for row in range(len(codes)):
        table = weighed(joint, Evidence(codes), row)
        best = weighed(joint, Evidence(completed), row).max()
        assert best == pytest.approx(table.max(), rel=1e-9)


def test_posteriors_agree_with_enumeration(model):
    codes = holes()
    joint, evidence = joint_of(model), Evidence(codes)
    X = as_kind(codes, "pandas")
    posteriors = model.posterior(X)
    assert list(posteriors) == [model.tree_.names[node] for node in model.tree_.hidden]
    for node, table in zip(model.tree_.hidden, posteriors.values(), strict=True):
        for row in range(len(codes)):
            expected = cell_table(joint, evidence, row, node)
            assert table[row] == pytest.approx(expected, abs=EXACT)
    assert model.transform(X) == pytest.approx(np.hstack(list(posteriors.values())))
    assert len(model.get_feature_names_out()) == model.transform(X).shape[1]


def test_soft_evidence_counts_where_a_cell_is_missing(model):
    rng = np.random.default_rng(0)
    codes = holes()
    soft = {"size": rng.exponential(size=(25, 3)), "place": rng.exponential(size=(25, 2))}
    evidence = Evidence(codes, {1: soft["size"], 4: soft["place"]})
    joint = joint_of(model)
    X = as_kind(codes, "pandas")
    log_probs = model.score_samples(X, soft=soft)
    marginals = model.marginals(X, soft=soft)
    targets = model.predict_proba(X, "colour", soft=soft)
    posteriors = list(model.posterior(X, soft=soft).values())
    for row in range(25):
        expected = np.log(weighed(joint, evidence, row).sum())
        assert log_probs[row] == pytest.approx(expected, abs=EXACT)
        expected = cell_table(joint, evidence, row, 1)
        assert marginals["size"][row] == pytest.approx(expected, abs=EXACT)
        expected = cell_table(joint, evidence, row, 0, leave_out=(0,))
        assert targets[row] == pytest.approx(expected, abs=EXACT)
        expected = cell_table(joint, evidence, row, model.tree_.root)
        assert posteriors[-1][row] == pytest.approx(expected, abs=EXACT)


def test_columns_may_be_absent_and_in_any_order(model):
    codes = holes(missing=0.0)
    part = codes.copy()
    part[:, [1, 3]] = -1
    X = as_kind(codes, "pandas", ["place", "colour", "ok"])
    assert model.score_samples(X) == pytest.approx(model.score_samples(as_kind(part, "dict")))
    assert model.predict_proba(X, "size").shape == (25, 3)
    assert list(model.impute(X).columns) == NAMES


def test_a_query_by_name_agrees_with_enumeration(model):
    joint = joint_of(model)
    hidden = tuple(range(5, joint.ndim))
    columns = joint.sum(axis=hidden)
    given = {"colour": "red", "grade": {"low", "high"}, "size": [0.5, 0.0, 2.0]}
    table = columns[2] * np.array([0.5, 0.0, 2.0])[:, None, None, None]
    table = table[:, :, [0, 2], :].sum(axis=(0, 2))  # (ok, place)
    table /= table.sum()
    alone = model.query("ok", given)
    assert list(alone) == [False, True]
    assert list(alone.values()) == pytest.approx(table.sum(axis=1), abs=EXACT)
    together = model.query(["place", "ok"], given)
    assert list(together) == [("north", False), ("north", True), ("south", False), ("south", True)]
    assert list(together.values()) == pytest.approx(table.T.ravel(), abs=EXACT)
    nothing = model.query("ok")
    assert list(nothing.values()) == pytest.approx(columns.sum(axis=(0, 1, 3, 4)), abs=EXACT)


def test_what_is_known_of_the_target_itself_is_not_used(model):
    assert model.query("ok", {"ok": True, "colour": "red"}) == model.query("ok", {"colour": "red"})


def test_draws_follow_the_model_and_what_is_given(model):
    joint = joint_of(model).sum(axis=tuple(range(5, joint_of(model).ndim)))
    n = 20_000
    free = codes_of(model.sample(n, random_state=0))
    frequencies = np.zeros_like(joint)
    np.add.at(frequencies, tuple(free.T), 1 / n)
    # Five standard errors of a share.
    assert (np.abs(frequencies - joint) <= 5 * np.sqrt(joint / n) + 5 / n).all()
    given = {"colour": {"red", "blue"}, "ok": True}
    drawn = codes_of(model.sample(n, given=given, random_state=0))
    assert set(drawn[:, 0]) == {0, 2}
    assert set(drawn[:, 2]) == {1}
    conditional = joint[[0, 2]][:, :, 1]
    sizes = conditional.sum(axis=(0, 2, 3)) / conditional.sum()
    assert np.bincount(drawn[:, 1], minlength=3) / n == pytest.approx(sizes, abs=0.02)


def test_draws_are_repeatable_and_come_as_the_training_data_did(model):
    first, second = (model.sample(5, random_state=7) for _ in range(2))
    assert isinstance(first, pd.DataFrame)
    assert first.equals(second)
    assert list(model.sample(2, random_state=0, like="dict")) == NAMES
    assert isinstance(
        model.sample(2, random_state=np.random.default_rng(0), like="polars"), pl.DataFrame
    )
    assert len(model.sample(0)) == 0
    legacy = [model.sample(3, random_state=np.random.RandomState(0)) for _ in range(2)]
    assert legacy[0].equals(legacy[1])


def test_operators_agree_with_their_joint_table(models):
    model = models["spectral"]
    joint = network_joint(model.network_)
    codes = holes()
    X = as_kind(codes, "pandas")
    evidence = Evidence(codes)
    values = np.array([weighed(joint, evidence, row).sum() for row in range(25)])
    assert (values > 0).all()
    scores, repairs = model.score_samples(X, return_repairs=True)
    assert scores == pytest.approx(np.log(values), abs=EXACT)
    assert repairs["n_undefined"] == 0
    probabilities = model.predict_proba(X, "size")
    for row in range(25):
        table = weighed(joint, evidence, row, leave_out=(1,)).sum(axis=(0, 2, 3, 4))
        expected = np.maximum(table, 0) / np.maximum(table, 0).sum()
        assert probabilities[row] == pytest.approx(expected, abs=EXACT)


def test_operators_know_no_hidden_states(models, tmp_path):
    model = models["spectral"]
    X = as_kind(holes(), "pandas")
    for ask in (model.posterior, model.most_likely, model.transform):
        with pytest.raises(NotAvailableError, match='learn="auto"'):
            ask(X)
    with pytest.raises(NotAvailableError, match="probability tables"):
        model.to_bif(tmp_path / "m.bif")
    assert set(model.node_states_.values()) <= {1, 2}
    assert model.tables_ is None


def negative_model():
    """Operators of so few rows that some estimates are negative."""
    tree = caterpillar(6).rooted([f"x{i}" for i in range(6)])
    rows = sample_codes(random_tables(tree, 3, 2, 0, diagonal=2.0), 60, 1)
    return LatentTree(2, "((x0,x1),(x2,x3),(x4,x5));", learn="spectral").fit(rows)


def test_estimates_that_are_not_positive_are_treated_as_requested():
    model = negative_model()
    X = np.array(np.meshgrid(*[range(3)] * 6)).reshape(6, -1).T
    network = model.network_
    bad = (network_joint(network) <= 0)[tuple(X.T)]
    assert bad.any()
    assert not bad.all()
    floored, repairs = model.score_samples(X, return_repairs=True)
    assert np.isfinite(floored).all()
    assert (repairs["n_answers"], repairs["n_undefined"]) == (len(X), bad.sum())
    as_nan = model.set_params(negative="nan").score_samples(X)
    assert np.isnan(as_nan).tolist() == bad.tolist()
    with pytest.raises(NegativeProbabilityError, match=f"{bad.sum()} of {len(X)} rows"):
        model.set_params(negative="raise").score_samples(X)
    with pytest.raises(ArgumentError, match="negative='zero'"):
        model.set_params(negative="zero").score_samples(X)


def test_a_misspelt_column_is_named_with_a_near_one(model):
    with pytest.raises(ColumnError, match="'color'; did you mean 'colour'"):
        model.score_samples({"color": ["red"]})
    with pytest.raises(ColumnError, match="'color'; did you mean 'colour'"):
        model.predict_proba({"size": [1]}, "color")
    with pytest.raises(ColumnError, match="'colr'"):
        model.query("ok", {"colr": "red"})
    with pytest.raises(ColumnError, match="'colr'"):
        model.marginals({"size": [1]}, soft={"colr": [[1, 1, 1]]})
    with pytest.raises(ColumnError, match="'colr'"):
        model.sample(1, given={"colr": "red"})


def test_an_unknown_category_is_named_with_the_nearest_one(model):
    with pytest.raises(
        CategoryError, match="'colour' has no category 'gren'; did you mean 'green'"
    ):
        model.score_samples({"colour": ["gren"]})
    with pytest.raises(
        CategoryError, match=r"'size' has no category 9\. Its categories are 1, 3, 10"
    ):
        model.query("ok", {"size": 9})
    with pytest.raises(CategoryError, match="'gren'"):
        model.query("ok", {"colour": {"red", "gren"}})


def test_an_unknown_category_may_be_taken_as_missing(models):
    model = LatentTree(2, NEWICK, unknown="missing").fit(training_frame())
    known = {"size": [1]}
    assert model.score_samples({"colour": ["pink"], **known}) == model.score_samples(known)
    assert model.query("ok", {"colour": "pink"}) == model.query("ok")
    assert model.query("ok", {"colour": {"pink"}}) == model.query("ok")
    assert model.query("ok", {"colour": {"pink", "red"}}) == model.query("ok", {"colour": "red"})


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda m: m.query("ok", {"colour": set()}), ArgumentError, "one or more categories"),
        (lambda m: m.query("ok", {"colour": {None, "red"}}), ArgumentError, "left out"),
        (lambda m: m.query("ok", {"colour": [1, 2]}), DataError, "has 3 categories"),
        (lambda m: m.query("ok", {"colour": ["red", "blue"]}), DataError, "must be numbers"),
        (lambda m: m.query("ok", {"colour": [1, -1, 0]}), DataError, "none negative"),
        (lambda m: m.query("ok", ["colour"]), ArgumentTypeError, "mapping"),
        (lambda m: m.query([]), ArgumentError, "one or more columns"),
        (lambda m: m.query(["ok", "ok"]), ArgumentError, "each once"),
        (lambda m: m.predict_proba({"ok": [True]}, []), ArgumentError, "one or more columns"),
        (lambda m: m.marginals({"ok": [True]}, soft={"size": [[1, 1]]}), DataError, "one per row"),
        (lambda m: m.marginals({"ok": [True]}, soft=[1]), ArgumentTypeError, "mapping"),
        (lambda m: m.sample(-1), ArgumentError, "n_samples=-1"),
        (lambda m: m.sample(2.5), ArgumentError, "n_samples=2.5"),
        (lambda m: m.sample(1, random_state="x"), ArgumentTypeError, "random_state='x'"),
        (lambda m: m.score({"ok": [True]}, sample_weight=[1, 2]), DataError, "one for each row"),
        (lambda m: m.score_samples(np.zeros((2, 4), int)), DataError, "4 features"),
        (lambda m: m.score_samples({"ok": []}), DataError, "0 sample"),
        (lambda m: m.score_samples(7), ArgumentTypeError, "table was expected"),
    ],
)
def test_questions_that_make_no_sense_say_why(models, ask, error, words):
    with pytest.raises(error, match=words):
        ask(models["tree"])
