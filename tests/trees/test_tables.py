"""Every kind of table, and every odd one, learnt from in every way."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit import ChowLiuTree, LatentClass, LatentTree
from tacit.core.input.read_table import read_table
from tacit.errors import BinningWarning, DataError, RankError, TacitError
from tacit.toy import random_tree_model
from tacit.trees.learn.learners import LEARNERS

MODEL = random_tree_model(5, n_categories=[2, 3, 3, 2, 4], diagonal=2.0, random_state=0)
CODES = MODEL.sample(300, random_state=1)
NAMES = ["a", "b", "c", "d", "e"]
TEXT = {name: [f"{name}{code}" for code in CODES[:, j]] for j, name in enumerate(NAMES)}
NEWICK = "((a,b),(c,d),e);"
MOMENTS = ("spectral", "hierarchical", "mossel-roch")


class Chunks:
    """Tables that come one after the other, as often as they are asked for."""

    def __init__(self, *parts):
        self.parts = parts

    def __iter__(self):
        return iter(self.parts)


def in_kind(kind, folder):
    frame = pd.DataFrame(TEXT)
    if kind == "csv":
        frame.to_csv(folder / "rows.csv", index=False)
        return folder / "rows.csv"
    if kind == "parquet":
        pq.write_table(pa.table(TEXT), folder / "rows.parquet")
        return str(folder / "rows.parquet")
    return {
        "pandas": lambda: frame,
        "pandas categories": lambda: frame.astype("category"),
        "polars": lambda: pl.DataFrame(TEXT),
        "lazy polars": lambda: pl.LazyFrame(TEXT),
        "pyarrow": lambda: pa.table(TEXT),
        "dict": lambda: TEXT,
        "records": lambda: frame.to_dict("records"),
        "chunks": lambda: [frame[:100], frame[100:101], frame[101:]],
        "own chunks": lambda: Chunks(frame[:200], pl.DataFrame(TEXT)[200:]),
        "table": lambda: read_table(TEXT),
    }[kind]()


KINDS = [
    *("pandas", "pandas categories", "polars", "lazy polars", "pyarrow", "dict", "records"),
    *("csv", "parquet", "chunks", "own chunks", "table"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_model(kind, tmp_path):
    X = in_kind(kind, tmp_path)
    expected = LatentTree(2, NEWICK).fit(TEXT)
    model = LatentTree(2, NEWICK).fit(X)
    assert np.array_equal(model.tables_.values, expected.tables_.values)
    assert model.categories_ == expected.categories_
    assert model.diagnostics_["fingerprint"] == expected.diagnostics_["fingerprint"]
    assert model.feature_names_in_.tolist() == NAMES
    assert model.score_samples(X) == pytest.approx(expected.score_samples(TEXT), abs=0)


def test_a_table_read_by_others_is_matched_by_its_values():
    """Rows that show fewer categories, in another order of columns, with weights of their own."""
    model = LatentClass(2).fit(TEXT)
    part = {name: TEXT[name][:40] for name in reversed(NAMES)}
    other = read_table({**part, "e": [None, *part["e"][1:]]})
    assert other.schema != model.schema_
    expected = model.score_samples({**part, "e": [None, *part["e"][1:]]})
    assert model.score_samples(other) == pytest.approx(expected, abs=0)
    weighed = read_table(TEXT, sample_weight=np.arange(300) % 3)
    twice = LatentClass(2).fit(weighed, sample_weight=np.arange(300) % 2)
    once = LatentClass(2).fit(TEXT, sample_weight=(np.arange(300) % 3) * (np.arange(300) % 2))
    assert np.array_equal(twice.tables_.values, once.tables_.values)


def test_a_fingerprint_is_that_of_the_pair_counts():
    """Whether pairs were counted for it, or only rows were added up."""
    gaps = np.where(np.arange(CODES.size).reshape(CODES.shape) % 7 == 0, -1, CODES)
    for codes in (CODES, gaps):
        model, tree = LatentClass(2).fit(codes), ChowLiuTree().fit(codes)
        assert model.diagnostics_["fingerprint"] == tree.diagnostics_["fingerprint"]


@pytest.mark.parametrize("estimator", [LatentTree("auto"), LatentClass(2), ChowLiuTree()])
def test_chunks_and_threads_do_not_show(estimator):
    all_at_once = estimator.fit(CODES)
    values = [tree.tables.values for tree in all_at_once.trees_]
    diagnostics = all_at_once.diagnostics_
    for change in ({"n_jobs": 1}, {"n_jobs": 2}, {"n_jobs": -1}):
        again = estimator.set_params(**change).fit([CODES[:7], CODES[7:250], CODES[250:]])
        for tree, expected in zip(again.trees_, values, strict=True):
            assert np.array_equal(tree.tables.values, expected)
        for key in ("trace", "candidates", "fingerprint"):
            assert again.diagnostics_.get(key) == diagnostics.get(key)


@pytest.mark.parametrize("learn", LEARNERS)
def test_answers_do_not_depend_on_the_names_of_categories(learn):
    """The same rows as integers and as text; text sorts like the integers here."""
    numbers = LatentTree(2, "((x0,x1),(x2,x3),x4);", learn=learn).fit(CODES)
    text = LatentTree(2, NEWICK, learn=learn).fit(TEXT)
    assert text.score_samples(TEXT) == pytest.approx(numbers.score_samples(CODES), rel=1e-12)


@pytest.mark.parametrize("learn", ["auto", "spectral", "hierarchical", "mossel-roch"])
def test_answers_do_not_depend_on_the_order_of_categories(learn):
    """Ways that draw no random start do the same with the categories the other way round."""
    backwards = {
        name: [f"{9 - code}" for code in CODES[:, place]] for place, name in enumerate(NAMES)
    }
    one = LatentTree(2, NEWICK, learn).fit(TEXT).score_samples(TEXT)
    other = LatentTree(2, NEWICK, learn).fit(backwards).score_samples(backwards)
    assert one == pytest.approx(other, rel=1e-6)


@pytest.mark.parametrize("values", ["booleans", "floats", "ordered", "mixed"])
def test_values_of_every_type_are_categories(values):
    column = CODES[:, 0]
    if values == "booleans":
        column = column > 0
    elif values == "floats":
        column = np.where(column > 0, 0.5, 1.5)
    elif values == "ordered":
        levels = ["none", "some", "all"]
        column = pd.Categorical.from_codes(column, categories=levels, ordered=True)
    else:
        column = np.array([1, "one"], dtype=object)[column]
    frame = pd.DataFrame({"odd": column, **{f"x{j}": CODES[:, j] for j in range(1, 5)}})
    model = LatentTree(2).fit(frame)
    assert np.isfinite(model.score(frame))
    if values == "ordered":  # the level that no row shows keeps its place
        assert model.categories_["odd"] == ("none", "some", "all")
        assert model.query("odd")["all"] < 0.02


def test_many_floats_are_cut_with_a_warning():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"number": rng.normal(size=300), "x": CODES[:, 1], "y": CODES[:, 2]})
    with pytest.warns(BinningWarning, match="'number'"):
        model = LatentTree(2, n_bins=3).fit(frame)
    assert len(model.categories_["number"]) == 3
    assert np.isfinite(model.score(frame))
    holes = frame.assign(number=[np.nan, *frame["number"][1:]])
    assert model.impute(holes)["number"][1:].equals(frame["number"][1:])


def repeated(weights):
    return np.repeat(np.arange(len(weights)), weights)


@pytest.mark.parametrize("learn", LEARNERS)
def test_integer_weights_count_like_repeated_rows(learn):
    weights = np.random.default_rng(0).integers(0, 4, 300)
    rows = CODES[repeated(weights)]
    model = LatentTree(2, "((x0,x1),(x2,x3),x4);", learn=learn)
    weighted = model.fit(CODES, sample_weight=weights).score_samples(CODES)
    plain = model.fit(rows).score_samples(CODES)
    if learn == "online-em":
        # Batches are cut by rows: other batches, another way to nearly the same place.
        assert weighted.mean() == pytest.approx(plain.mean(), abs=0.1)
    else:
        # Sums in another order, and steps that follow from them.
        assert weighted == pytest.approx(plain, rel=1e-6)


def test_weights_of_a_chow_liu_tree_count_like_repeated_rows():
    weights = np.random.default_rng(0).integers(0, 4, 300)
    weighted = ChowLiuTree().fit(CODES, sample_weight=weights)
    plain = ChowLiuTree().fit(CODES[repeated(weights)])
    assert weighted.tables_.values == pytest.approx(plain.tables_.values, rel=1e-12)
    assert weighted.topology_ == plain.topology_


def test_weights_may_be_given_for_the_rows_of_all_chunks():
    weights = np.arange(300) % 3
    model = LatentTree(2).fit([CODES[:100], CODES[100:]], sample_weight=weights)
    expected = LatentTree(2).fit(CODES, sample_weight=weights)
    assert np.array_equal(model.tables_.values, expected.tables_.values)


def test_rows_without_weight_are_as_if_they_were_not_there():
    strange = np.vstack([CODES, np.full((50, 5), 7)])
    weights = np.r_[np.ones(300), np.zeros(50)]
    with_them = LatentTree("auto").fit(strange, sample_weight=weights)
    without = LatentTree("auto").fit(CODES, sample_weight=np.ones(300))
    assert with_them.categories_ == without.categories_
    for one, other in zip(with_them.trees_, without.trees_, strict=True):
        assert one.tables.values == pytest.approx(other.tables.values, rel=1e-9)


def odd_tables():
    """Tables that are unlike what anybody had in mind."""
    rng = np.random.default_rng(0)
    codes = CODES.astype(int)
    holes, apart, gaps, constant = codes.copy(), codes.copy(), codes.copy(), codes.copy()
    holes[rng.random(holes.shape) < 0.3] = -1
    apart[:150, 0], apart[150:, 1] = -1, -1  # never seen together
    gaps[::7] = -1  # rows of which nothing is known
    constant[:, 2] = 1
    return {
        "holes": holes,
        "columns never seen together": apart,
        "empty rows": gaps,
        "a constant column": constant,
        "nothing but constants": np.ones((20, 4), dtype=int),
        "three rows again and again": np.repeat(codes[:3], 50, axis=0),
        "equal columns": np.repeat(codes[:, 1:2], 5, axis=1),
        "three columns": codes[:, :3],
        "two columns": codes[:, :2],
        "one column": codes[:, :1],
        "many columns": random_tree_model(40, random_state=2).sample(100, random_state=3),
        "many categories": rng.integers(0, 60, (200, 4)),
        "two rows": codes[:2],
        "one row": codes[:1],
    }


ODD = odd_tables()


@pytest.mark.parametrize("structure", ["hidden-chow-liu", "star", "chow-liu"])
@pytest.mark.parametrize("learn", LEARNERS)
@pytest.mark.parametrize("name", ODD)
def test_odd_tables_are_learnt_from_or_refused_in_words(name, learn, structure):
    X = ODD[name]
    model = LatentTree(2, structure, learn, n_restarts=2)
    few = name in {"one row", "nothing but constants"} or learn == "mossel-roch"
    try:
        model.fit(X)
    except RankError as error:
        refused = str(error)
    else:
        refused = None
    if refused is not None:
        assert few, refused
        assert "n_states" in refused or "fewer states" in refused
        assert not hasattr(model, "network_")
        return
    assert np.isfinite(model.score(X))
    assert np.isfinite(np.hstack(list(model.marginals(X).values()))).all()
    completed = model.impute(X)
    assert (completed >= 0).all()
    assert (completed == X)[X >= 0].all()
    if learn not in MOMENTS[:2]:
        tables = [model.tables_.table(node) for node in range(model.tree_.n_nodes)]
        assert all((table >= 0).all() for table in tables)
        assert all(table.sum(axis=1) == pytest.approx(1.0) for table in tables)


@pytest.mark.parametrize("name", ODD)
def test_odd_tables_have_a_number_of_states_and_a_chow_liu_tree(name):
    X = ODD[name]
    for model in (LatentTree().fit(X), LatentClass().fit(X), ChowLiuTree().fit(X)):
        assert np.isfinite(model.score(X))
        assert model.sample(3, random_state=0).shape == (3, X.shape[1])


def test_one_row_and_one_state_are_a_model():
    model = LatentTree(1).fit(CODES[:1])
    assert model.score(CODES[:1]) <= 0
    with pytest.raises(RankError, match="n_samples=1"):
        LatentTree(2).fit(CODES[:1])


@pytest.mark.parametrize("estimator", [LatentTree(2), LatentClass(2), ChowLiuTree()])
@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.empty((0, 3), int), "0 sample"),
        (np.empty((3, 0), int), "0 feature"),
        (pd.DataFrame(), "0 feature"),
        ([], "0 sample"),
        ({"a": [None, None], "b": [1, 2]}, "every value of column 'a' is missing"),
        (np.full((4, 3), np.nan), "every value of column"),
        (np.array([1, 2, 3]), "Expected 2D array"),
        ([[1, 2], [1]], "row 1 has 1"),
        ({"a": [1, 2], "b": [1]}, "equally long"),
        (np.array([[1.0, np.inf]]), "infin"),
        (iter([CODES]), "only once"),
    ],
)
def test_tables_that_are_none_say_what_is_wrong(estimator, X, words):
    with pytest.raises(DataError, match=words):
        estimator.fit(X)
    assert not hasattr(estimator, "network_")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(299), "one for each row"),
        (-np.ones(300), "negative"),
        (np.zeros(300), "all sample weights are zero"),
        (np.full(300, np.nan), "finite"),
        (["much"] * 300, "numbers"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, words):
    for estimator in (LatentTree(2), ChowLiuTree()):
        with pytest.raises(DataError, match=words):
            estimator.fit(CODES, sample_weight=weights)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(TacitError, match=r"absent\.csv"):
        LatentTree(2).fit(tmp_path / "absent.csv")
