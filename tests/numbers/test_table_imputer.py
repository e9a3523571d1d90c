"""Gaps filled and drawn: against the model behind, and as a transformer of scikit-learn."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tacit
from tacit.core.files.container import read_file, write_file
from tacit.errors import (
    ArgumentError,
    ColumnError,
    DataError,
    EmptyColumnWarning,
    FileFormatError,
    IdentifierWarning,
)
from tacit.toy import random_tree_model

RNG = np.random.default_rng(0)
N = 200
GROUP = RNG.integers(2, size=N)
FULL = pd.DataFrame(
    {
        "size": RNG.normal(3.0 * GROUP, 1.0),
        "kind": np.where(RNG.random(N) < 0.9, np.where(GROUP, "long", "short"), "odd"),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta((100 * RNG.random(N)).round(), "D"),
        "calls": RNG.poisson(20 + 20 * GROUP),
    }
)
GAPS = FULL.mask(RNG.random(FULL.shape) < 0.2)


def records(frame):
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]


def columns(frame):
    rows = records(frame)
    return {name: [row[name] for row in rows] for name in frame.columns}


FORMS = [
    lambda frame: frame,
    pl.from_pandas,
    lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    columns,
    records,
]
IDS = ["pandas", "polars", "pyarrow", "dict", "records"]


@pytest.fixture(scope="module")
def imputer():
    return tacit.TableImputer(forests=False).fit(GAPS)


@pytest.fixture(scope="module")
def with_forests():
    return tacit.TableImputer().fit(GAPS)


@pytest.fixture(scope="module")
def marking():
    return tacit.TableImputer(add_indicator=True, forests=False).fit(GAPS)


def as_pandas(table):
    if isinstance(table, pl.DataFrame | pa.Table):
        return table.to_pandas()
    return pd.DataFrame(table)


@pytest.mark.parametrize("form", FORMS, ids=IDS)
@pytest.mark.parametrize("draws", [False, True])
def test_gaps_are_filled_and_cells_that_were_there_stay_in_every_kind_of_table(form, draws):
    X = form(GAPS)
    imputer = tacit.TableImputer(forests=False, sample_posterior=draws).fit(X)
    filled = imputer.transform(X)
    assert type(filled) is type(X)
    frame = as_pandas(filled)
    assert frame.columns.tolist() == FULL.columns.tolist()
    assert not frame.isna().any().any()
    for name in FULL:
        there = GAPS[name].notna().to_numpy()
        observed = frame[name].to_numpy()[there]
        assert (observed == GAPS[name].to_numpy()[there]).all()
    assert pd.api.types.is_datetime64_any_dtype(frame["day"])
    assert frame["day"].between("2023-12-01", "2024-05-01").all()
    assert set(frame["kind"]) <= {"long", "short", "odd"}


def test_means_and_modes_are_those_of_the_model(imputer):
    alike = imputer.model_.impute(GAPS)
    filled = imputer.transform(GAPS)
    assert np.allclose(filled["size"], alike["size"])
    assert (filled["kind"] == alike["kind"]).all()


def test_draws_of_categories_have_the_frequencies_of_their_joint_conditional():
    truth = random_tree_model(n_leaves=4, n_categories=3, random_state=0)
    rows = truth.sample(500, random_state=1)
    imputer = tacit.TableImputer(sample_posterior=True, random_state=0).fit(rows)
    n = 20_000
    gaps = np.full((n, 4), -1)
    gaps[:, 1], gaps[:, 3] = 2, 0
    drawn = imputer.transform(gaps)
    assert (drawn[:, [1, 3]] == [2, 0]).all()
    expected = imputer.model_.predict_proba(gaps[:1], target=["x0", "x2"], joint=True)[0]
    counts = np.zeros((3, 3))
    np.add.at(counts, (drawn[:, 0], drawn[:, 2]), 1)
    # Four standard deviations of a frequency.
    assert np.abs(counts / n - expected).max() < 4 * np.sqrt(0.25 / n)


def test_draws_of_mixed_rows_have_the_moments_of_their_joint_conditional(imputer):
    model, n = imputer.model_, 20_000
    row = {"calls": [41.0]}
    gaps = pd.DataFrame({name: [None] * n for name in FULL}).assign(calls=41.0)
    drawn = imputer.draws(gaps, 1, random_state=0)[0]
    chances = dict(zip(model.categories_["kind"], model.predict_proba(row, "kind")[0], strict=True))
    tree_mean = model.set_params(blend=False).expectation(row, "size")[0]
    for kind, chance in chances.items():
        assert (drawn["kind"] == kind).mean() == pytest.approx(chance, abs=4 * 0.5 / np.sqrt(n))
        given = model.expectation({**row, "kind": [kind]}, "size")[
            0
        ]  # the cells of a row go together
        sizes = drawn["size"][drawn["kind"] == kind].astype(float)
        assert sizes.mean() == pytest.approx(given, abs=5 * sizes.std() / np.sqrt(len(sizes)))
    sizes = drawn["size"].astype(float)
    model.set_params(blend="auto")
    assert sizes.mean() == pytest.approx(tree_mean, abs=4 * sizes.std() / np.sqrt(n))


def test_values_that_many_rows_share_are_drawn_as_they_are():
    rng = np.random.default_rng(0)
    spent = np.where(rng.random(500) < 0.3, 0.0, rng.gamma(3.0, 20.0, 500))
    frame = pd.DataFrame(
        {"spent": spent, "rooms": rng.integers(1, 6, 500) / 2, "x": rng.random(500)}
    )
    imputer = tacit.TableImputer(columns={"rooms": "number"}).fit(frame)
    gaps = frame.assign(spent=np.nan, rooms=np.nan)
    drawn = imputer.draws(gaps, 1, random_state=0)[0]
    assert (drawn["spent"] == 0).mean() == pytest.approx((spent == 0).mean(), abs=0.08)
    assert drawn["rooms"].isin(frame["rooms"]).mean() > 0.97


def test_rows_keep_their_own_evidence_when_they_are_drawn(imputer):
    gaps = GAPS.assign(day=pd.NaT)
    gaps.loc[::2, "calls"], gaps.loc[1::2, "calls"] = 10.0, 60.0
    gaps[["size", "kind"]] = None
    sizes = imputer.draws(gaps, 1, random_state=0)[0]["size"].astype(float)
    assert sizes[::2].mean() + 1.5 < sizes[1::2].mean()


def test_draws_differ_and_the_same_seed_gives_the_same(imputer):
    first, second = imputer.draws(GAPS, 2, random_state=0)
    assert not first.equals(second)
    again = imputer.draws(GAPS, 2, random_state=0)
    assert first.equals(again[0])
    assert second.equals(again[1])
    drawing = clone(imputer).set_params(sample_posterior=True).fit(GAPS)
    assert drawing.transform(GAPS).equals(drawing.transform(GAPS))
    other = drawing.set_params(random_state=7).transform(GAPS)
    assert not other.equals(drawing.set_params(random_state=0).transform(GAPS))


def test_a_category_that_was_never_seen_stays_and_says_nothing(imputer):
    rows = pd.DataFrame({"size": [np.nan], "kind": ["new"], "day": [pd.NaT], "calls": [30.0]})
    filled = imputer.transform(rows)
    assert filled["kind"].tolist() == ["new"]
    without = imputer.transform(rows.assign(kind=None))
    assert filled["size"].tolist() == without["size"].tolist()


def test_a_row_without_a_single_cell_is_filled_too(imputer):
    nothing = pd.DataFrame({name: [None] for name in FULL}).astype(GAPS.dtypes)
    filled = imputer.transform(nothing)
    assert not filled.isna().any().any()
    assert filled["size"][0] == pytest.approx(GAPS["size"].mean(), abs=0.3)


@pytest.mark.parametrize("form", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_column_without_a_value_is_left_out_with_a_warning(form):
    X = form(GAPS.assign(empty=np.nan)[["size", "empty", "kind"]])
    with pytest.warns(EmptyColumnWarning, match="'empty'"):
        imputer = tacit.TableImputer(forests=False).fit(X)
    assert list(imputer.transform(X).columns) == ["size", "kind"]
    assert imputer.get_feature_names_out().tolist() == ["size", "kind"]
    array = np.column_stack([GAPS["size"], np.full(N, np.nan), GAPS["calls"].astype(float)])
    with pytest.warns(EmptyColumnWarning, match="'x1'"):
        filled = tacit.TableImputer(forests=False).fit_transform(array)
    assert filled.shape == (N, 2)
    assert not np.isnan(filled).any()


def test_nothing_but_gaps_is_refused():
    with pytest.raises(DataError, match="no column has a value"):
        tacit.TableImputer().fit(np.full((5, 2), np.nan))


def test_identifiers_and_ignored_columns_stay_as_they_are():
    names = [None, *(f"customer {row}" for row in range(1, N))]
    frame = GAPS.assign(name=names)[["name", *GAPS.columns]]
    with pytest.warns(IdentifierWarning):
        imputer = tacit.TableImputer(forests=False).fit(frame)
    filled = imputer.transform(frame)
    assert filled.columns.tolist() == frame.columns.tolist()
    assert filled["name"].isna().tolist() == frame["name"].isna().tolist()
    assert imputer.get_feature_names_out().tolist() == frame.columns.tolist()
    ignoring = tacit.TableImputer(columns={"name": "ignore"}, forests=False).fit(frame)
    assert ignoring.transform(frame).equals(filled)


@pytest.mark.parametrize("library", ["pandas", "polars", "default"])
@pytest.mark.parametrize("form", FORMS[:4], ids=IDS[:4])
def test_set_output_and_indicators(form, library, marking):
    marking.set_output(transform=library)
    filled = marking.transform(form(GAPS))
    names = [*FULL.columns, *(f"missingindicator_{name}" for name in FULL.columns)]
    assert marking.get_feature_names_out().tolist() == names
    if library != "default":
        assert type(filled).__module__.startswith(library)
    frame = as_pandas(filled)
    assert frame.columns.tolist() == names
    for name in FULL:
        assert (frame[f"missingindicator_{name}"] == GAPS[name].isna()).all()


def test_it_stands_in_pipelines_and_column_transformers():
    array = np.where(RNG.random((N, 3)) < 0.2, np.nan, GROUP[:, None] + RNG.normal(size=(N, 3)))
    model = make_pipeline(tacit.TableImputer(forests=False), StandardScaler(), LogisticRegression())
    assert model.fit(array, GROUP).score(array, GROUP) > 0.7
    parts = ColumnTransformer([("table", tacit.TableImputer(forests=False), ["size", "calls"])])
    filled = parts.fit_transform(GAPS)
    assert parts.get_feature_names_out().tolist() == ["table__size", "table__calls"]
    assert not np.isnan(np.asarray(filled, dtype=float)).any()


@pytest.mark.parametrize("fixture", ["marking", "with_forests"])
def test_a_loaded_imputer_fills_the_same(tmp_path, fixture, request):
    imputer = request.getfixturevalue(fixture).set_output(transform="default")
    imputer.save(tmp_path / "imputer.tacit")
    again = tacit.load(tmp_path / "imputer.tacit")
    assert again.transform(GAPS).equals(imputer.transform(GAPS))
    assert again.get_feature_names_out().tolist() == imputer.get_feature_names_out().tolist()


def test_forests_fill_what_a_smooth_model_cannot():
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(400, 2))
    steps = np.sign(np.sin(25 * x[:, 0])) * (x[:, 1] > 0.5)
    table = np.column_stack([x, steps + 0.05 * rng.normal(size=400)])
    asked = table[:100].copy()
    asked[:, 2] = np.nan
    columns = dict.fromkeys(range(3), "number")
    errors = []
    for forests in (True, False):
        imputer = tacit.TableImputer(columns=columns, forests=forests).fit(table[100:])
        errors.append(np.mean((imputer.transform(asked)[:, 2] - table[:100, 2]) ** 2))
    assert errors[0] < 0.8 * errors[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shares", np.array([2.0, 0.0, 0.0, 0.0])),
        ("shares", np.array([0.5, 0.5])),
        ("observed", np.zeros((N, 4), dtype=np.bool_)),
        ("codes", np.full((N, 1), 3, dtype=np.int16)),
        ("codes", np.full((N, 1), -1, dtype=np.int16)),
        ("numbers", np.full((N, 3), np.nan)),
        ("numbers", np.zeros((N - 1, 3))),
    ],
)
def test_an_edited_file_of_forests_is_refused(tmp_path, name, value, with_forests):
    assert with_forests.forests_ is not None
    path = tmp_path / "imputer.tacit"
    with_forests.save(path)
    header, arrays = read_file(path)
    assert arrays[f"forests.{name}"].dtype == value.dtype
    write_file(path, header, {**arrays, f"forests.{name}": value})
    with pytest.raises(FileFormatError):
        tacit.load(path)


@pytest.mark.parametrize("names", [["size"], ["size", "kind", "day", "calls", "size"], ["a"] * 4])
def test_an_edited_file_with_other_columns_is_refused(tmp_path, imputer, names):
    path = tmp_path / "imputer.tacit"
    imputer.save(path)
    header, arrays = read_file(path)
    write_file(path, {**header, "columns": names}, arrays)
    with pytest.raises(FileFormatError):
        tacit.load(path)


def test_a_path_and_chunks_come_back_as_arrow(tmp_path, imputer):
    GAPS.to_csv(tmp_path / "gaps.csv", index=False)
    filled = tacit.TableImputer(forests=False).fit_transform(tmp_path / "gaps.csv")
    assert isinstance(filled, pa.Table)
    assert sum(column.null_count for column in filled.columns) == 0
    chunks = [GAPS.iloc[:90], GAPS.iloc[90:]]
    together = imputer.transform(chunks)
    assert together.num_rows == N
    assert np.allclose(together["size"].to_numpy(), imputer.transform(GAPS)["size"])


def test_columns_of_another_table_are_refused(imputer):
    with pytest.raises(ColumnError, match="lacks 'calls'"):
        imputer.transform(GAPS[["size", "kind", "day"]])
    with pytest.raises(DataError, match="expecting 4 features"):
        imputer.transform(np.zeros((3, 2)))
    with pytest.raises(ArgumentError, match="forests='yes'"):
        tacit.TableImputer(forests="yes").fit(GAPS)
    with pytest.raises(ArgumentError, match="n_draws=0"):
        imputer.draws(GAPS, 0)


def test_a_table_of_categories_has_a_latent_tree_behind():
    rows = random_tree_model(n_leaves=4, random_state=0).sample(100, random_state=1).astype(float)
    rows[::7, 2] = np.nan
    imputer = tacit.TableImputer().fit(rows)
    assert isinstance(imputer.model_, tacit.LatentTree)
    filled = imputer.transform(rows)
    assert not np.isnan(filled).any()
    assert "LatentTree" in str(imputer.summary())


def test_a_single_column_is_filled_by_its_mean_or_mode():
    numbers = np.append(RNG.normal(size=50), np.nan)[:, None]
    assert tacit.TableImputer().fit_transform(numbers)[-1, 0] == pytest.approx(
        np.nanmean(numbers), abs=0.1
    )
    words = pd.DataFrame({"x": ["a", "a", "b", None]})
    assert tacit.TableImputer().fit_transform(words)["x"].tolist() == ["a", "a", "b", "a"]


def test_dates_of_objects_stay_objects():
    days = [None, *(dt.date(2024, 1, 1) + dt.timedelta(days=day) for day in range(60))]
    filled = tacit.TableImputer().fit_transform({"day": days, "x": list(range(61))})
    assert isinstance(filled["day"][0], dt.date)
    assert filled["day"][1:] == days[1:]
