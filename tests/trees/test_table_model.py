"""The contract that all models of tables keep: names, signatures, and that asking changes nothing."""

import inspect

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.errors import CategoryError, ColumnError, TopologyError
from tacit.trees.table_model import TableModel

NAMES = ("a", "b", "c", "d", "e")


def table(n_rows=200, missing=0.1, names=NAMES):
    """Rows of a random tree as text, some cells missing."""
    truth = tacit.toy.random_tree_model(n_leaves=len(names), random_state=0)
    cells = truth.sample(n_rows, random_state=1)
    frame = pd.DataFrame(np.array(["u", "v", "w"])[cells], columns=names)
    return frame.mask(np.random.default_rng(2).random(frame.shape) < missing)


MODELS = {
    "tree": lambda: tacit.LatentTree(2),
    "mixture": lambda: tacit.LatentTree(2, "star", n_components=2),
    "spectral": lambda: tacit.LatentTree(2, learn="spectral"),
    "classes": lambda: tacit.LatentClass(2),
    "chow-liu": tacit.ChowLiuTree,
}
QUESTIONS = {
    "score_samples": lambda m, X: m.score_samples(X, return_repairs=True),
    "score": lambda m, X: m.score(X),
    "predict": lambda m, X: (m.predict(X), m.predict(X, "a"), m.predict(X, ["a", "b"])),
    "predict_proba": lambda m, X: m.predict_proba(X, "b", return_repairs=True),
    "marginals": lambda m, X: m.marginals(X),
    "query": lambda m, _: m.query(["a", "b"], {"c": "u"}),
    "impute": lambda m, X: m.impute(X),
    "sample": lambda m, _: m.sample(5, given={"a": "v"}),
    "posterior": lambda m, X: m.posterior(X),
    "transform": lambda m, X: m.transform(X),
    "most_likely": lambda m, X: m.most_likely(X),
    "bic": lambda m, X: (m.bic(X), m.aic(X)),
    "repr": lambda m, _: repr(m),
}
OF_TABLES_ONLY = ("posterior", "transform", "most_likely", "bic")


@pytest.fixture(scope="module")
def fitted():
    rows = table()
    return {name: make().fit(rows) for name, make in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_queries_change_nothing(fitted, name, tmp_path):
    model, rows = fitted[name], table(40)
    model.save(tmp_path / "before.tacit")
    for question, ask in QUESTIONS.items():
        if name == "spectral" and question in OF_TABLES_ONLY:
            continue
        ask(model, rows)
        model.save(tmp_path / "after.tacit")
        after = (tmp_path / "after.tacit").read_bytes()
        assert after == (tmp_path / "before.tacit").read_bytes(), question


def test_every_table_model_has_the_signatures_of_the_base():
    for kind in (tacit.LatentTree, tacit.LatentClass, tacit.ChowLiuTree):
        for name in ("score_samples", "score", "predict", "predict_proba", "sample", "query"):
            expected = inspect.signature(getattr(TableModel, name)).parameters
            assert list(inspect.signature(getattr(kind, name)).parameters) == list(expected)


@pytest.mark.parametrize("name", ["tree", "mixture", "spectral", "chow-liu"])
def test_predicted_categories_are_the_most_probable_ones(fitted, name):
    model, rows = fitted[name], table(40)
    together = model.predict(rows)
    for place, column in enumerate(NAMES):
        codes = model.predict_proba(rows, column).argmax(axis=1)
        assert model.predict(rows, column).tolist() == ["uvw"[code] for code in codes]
        assert together[:, place].tolist() == ["uvw"[code] for code in codes]
    assert list(model.predict(rows, ["a", "c"])) == ["a", "c"]


def test_classes_are_predicted_without_a_target(fitted):
    model, rows = fitted["classes"], table(40)
    assert model.n_states_ == 2
    assert model.predict(rows).tolist() == model.posterior(rows)["h"].argmax(axis=1).tolist()
    assert set(model.predict(rows, "a")) <= set("uvw")


def test_two_columns_have_one_class():
    rows = table()[["a", "b"]]
    model = tacit.LatentClass(2).fit(rows)
    assert model.predict_proba(rows).shape == (len(rows), model.n_states_)


def test_information_criteria_follow_from_the_parameters(fitted):
    rows = table(40)
    # Two classes of five columns of three categories: 1 + 2 * 5 * 2.
    model = fitted["classes"]
    assert model.n_parameters_ == 21
    total = model.score_samples(rows).sum()
    assert model.bic(rows) == pytest.approx(21 * np.log(40) - 2 * total)
    assert model.aic(rows) == pytest.approx(42 - 2 * total)


# -- names of columns ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["integers", "tuples", "saved"])
def test_column_names_may_be_any_hashable(kind, tmp_path):
    labels = [("x", i) for i in range(5)] if kind == "tuples" else list(range(5))
    named, rows = tacit.LatentTree(2).fit(table()), table(30)
    frame = table()
    frame.columns, rows.columns = pd.Index(labels, tupleize_cols=False), labels
    model = tacit.LatentTree(2).fit(frame)
    if kind == "saved":
        model.save(tmp_path / "m.tacit")
        model = tacit.load(tmp_path / "m.tacit")
    expected = named.predict_proba(table(30), "a")
    assert model.predict_proba(rows, target=labels[0]) == pytest.approx(expected)
    assert model.predict(rows, labels[:2]).keys() == set(labels[:2])
    given = {labels[1]: "v"}
    assert model.query(labels[0], given) == pytest.approx(named.query("a", {"b": "v"}))
    assert list(model.categories_) == labels
    assert list(model.marginals(rows)) == labels
    assert list(model.sample(2, given=given).columns) == labels
    assert list(model.impute(rows).columns) == labels


def test_columns_of_arrays_go_by_place():
    cells = tacit.toy.random_tree_model(n_leaves=4, random_state=0).sample(100, random_state=1)
    model = tacit.LatentTree(2).fit(cells)
    assert np.array_equal(model.predict_proba(cells, 2), model.predict_proba(cells, "x2"))
    with pytest.raises(ColumnError, match="there is no column 4"):
        model.predict(cells, 4)


def test_only_near_names_are_suggested(fitted):
    model = tacit.ChowLiuTree().fit({"colour": ["red", "blue"], "y": ["T", "F"]})
    with pytest.raises(ColumnError, match="did you mean 'colour'"):
        model.query("color")
    with pytest.raises(ColumnError, match=r"'q'\. The columns"):
        model.query("q")
    with pytest.raises(CategoryError, match=r"no category 'a'\. Its"):
        model.query("colour", {"y": "a"})
    with pytest.raises(CategoryError, match="did you mean 'blue'"):
        model.query("y", {"colour": "blu"})


# -- files --------------------------------------------------------------------------------------


def test_a_network_of_classes_is_read_as_latent_class(fitted, tmp_path):
    fitted["classes"].to_bif(tmp_path / "m.bif")
    restored = tacit.LatentClass.from_bif(tmp_path / "m.bif")
    assert type(restored) is tacit.LatentClass
    rows = table(20)
    assert restored.predict_proba(rows) == pytest.approx(fitted["classes"].predict_proba(rows))
    fitted["chow-liu"].to_bif(tmp_path / "m.bif")
    with pytest.raises(TopologyError, match=r"LatentTree.from_bif"):
        tacit.LatentClass.from_bif(tmp_path / "m.bif")
