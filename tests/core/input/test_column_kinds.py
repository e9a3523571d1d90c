"""What a column is: decided alike for every kind of table and of model, and what the caller says."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tacit
from tacit.core.input.column_kinds import KINDS
from tacit.core.input.read_mixed_table import encode_mixed, read_mixed
from tacit.core.input.read_table import read_table
from tacit.core.summary import column_kind
from tacit.errors import ArgumentError, ArgumentTypeError, ColumnError, DataError, IdentifierWarning

N = 60
RNG = np.random.default_rng(0)
COLUMNS = {
    "text": ["red", "blue", "green"] * (N // 3),
    "flag": [True, False] * (N // 2),
    "few": [1, 2, 3] * (N // 3),
    "age": [18 + place % 47 for place in range(N)],
    "balance": [place % 47 - 20 for place in range(N)],
    "height": RNG.normal(170, 10, N).tolist(),
    "whole": [float(place % 40) for place in range(N)],
    "day": [dt.date(2024, 1, 1) + dt.timedelta(days=place) for place in range(N)],
    "moment": [dt.datetime(2024, 1, 1) + dt.timedelta(hours=7 * place) for place in range(N)],  # noqa: DTZ001
    "name": [f"customer {place}" for place in range(N)],
}
EXPECTED = {
    "text": "category",
    "flag": "category",
    "few": "category",
    "age": "count",
    "balance": "number",
    "height": "number",
    "whole": "count",
    "day": "date",
    "moment": "date",
}


def nullable(columns):
    return pd.DataFrame(columns).convert_dtypes()


def objects(columns):
    return pd.DataFrame(columns).astype(object)


def records(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def chunks(columns):
    frame = pd.DataFrame(columns)
    return [frame.iloc[:25], frame.iloc[25:]]


FORMS = [dict, pd.DataFrame, nullable, objects, pl.DataFrame, pa.table, records, chunks]


def kinds(schema):
    return {column.name: column_kind(column) for column in schema.columns}


@pytest.mark.filterwarnings("ignore::tacit.errors.BinningWarning")
@pytest.mark.parametrize("form", FORMS)
def test_both_readers_take_columns_for_the_same(form):
    X = form(COLUMNS)
    with pytest.warns(IdentifierWarning, match="'name'"):
        numbers = read_mixed(X).schema
    with pytest.warns(IdentifierWarning, match="'name'"):
        categories = read_table(X, cut_integers=True).schema
    assert kinds(numbers) == kinds(categories) == EXPECTED
    assert numbers.left_out == categories.left_out == ("name",)


@pytest.mark.filterwarnings("ignore::tacit.errors.BinningWarning")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_are_read_like_frames(tmp_path, suffix):
    path = tmp_path / f"table.{suffix}"
    if suffix == "csv":
        pd.DataFrame(COLUMNS).to_csv(path, index=False)
    else:
        pq.write_table(pa.table(COLUMNS), path)
    with pytest.warns(IdentifierWarning, match="'name'"):
        assert kinds(read_mixed(path).schema) == EXPECTED
    with pytest.warns(IdentifierWarning, match="'name'"):
        assert kinds(read_table(path, cut_integers=True).schema) == EXPECTED


def test_categoricals_are_categories_whatever_they_hold():
    codes = pd.Categorical(COLUMNS["age"])
    ordered = pd.Categorical(COLUMNS["age"], ordered=True)
    schema = read_mixed(pd.DataFrame({"a": codes, "b": ordered})).schema
    assert kinds(schema) == {"a": "category", "b": "ordered"}


def test_integers_of_an_array_are_codes_for_a_tree_of_categories():
    codes = np.array(COLUMNS["age"])[:, None]
    assert read_table(codes, cut_integers=True).schema.cards == (47,)
    assert read_mixed(codes).schema.continuous == (0,)


SAID = [
    ("age", "category", "category"),
    ("age", "ordered", "ordered"),
    ("few", "number", "count"),
    ("few", "count", "count"),
    ("text", "ordered", "ordered"),
    ("day", "category", "category"),
    ("height", "category", "category"),
]


@pytest.mark.filterwarnings("ignore::tacit.errors.BinningWarning")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "said", "expected"), SAID)
def test_what_the_caller_says_of_a_column_holds(form, name, said, expected):
    X = form({name: COLUMNS[name], "text2": COLUMNS["text"]})
    assert kinds(read_mixed(X, columns={name: said}).schema)[name] == expected
    tree = read_table(X, n_bins=2, columns={name: said}, cut_integers=True)
    assert kinds(tree.schema)[name] == expected


def test_text_is_read_as_numbers_and_dates_where_the_caller_says_so():
    X = {"x": ["1.5", "2", None], "day": ["2024-01-02", None, "2024-02-01"]}
    table = read_mixed(X, columns={"x": "number", "day": "date"})
    assert np.array_equal(table.numbers[:, 0], [1.5, 2, np.nan], equal_nan=True)
    assert [column.unit for column in table.schema.columns] == ["", "date"]
    assert table.schema["day"].low == (dt.date(2024, 1, 2) - dt.date(1970, 1, 1)).days
    later = encode_mixed({"x": ["7"], "day": ["2024-01-03"]}, table.schema)
    assert later.numbers.tolist() == [[7.0, table.schema["day"].low + 1]]


def test_an_ignored_column_is_left_out_without_a_word_and_may_be_there_in_questions():
    X = {"id": COLUMNS["name"], "text": COLUMNS["text"], "few": COLUMNS["few"]}
    model = tacit.LatentClass(2, columns={"id": "ignore"}).fit(X)
    assert model.schema_.names == ("text", "few")
    assert np.isfinite(model.score(X))
    unnamed = np.array([COLUMNS["name"], COLUMNS["text"]], dtype=object).T
    model = tacit.LatentClass(2, columns={0: "ignore"}).fit(unnamed)
    assert model.schema_.names == ("x1",)
    assert np.isfinite(model.score(unnamed))


WRONG = [
    (
        {"age": "numbr"},
        ArgumentError,
        "column 'age' cannot be of kind 'numbr'; did you mean 'number'",
    ),
    ({"age": 3}, ArgumentError, "column 'age' cannot be of kind 3"),
    ({"agee": "number"}, ColumnError, "did you mean 'age'"),
    (["age"], ArgumentTypeError, "mapping"),
    ({"text": "number"}, DataError, "'text' holds '.*', and cannot be of kind 'number'"),
    ({"text": "date"}, DataError, "'text' holds '.*', and cannot be of kind 'date'"),
    ({"height": "count"}, DataError, "'height' holds .*, and cannot be of kind 'count'"),
    ({"day": "number"}, DataError, "'day' holds dates .*'date'"),
    ({"height": "date"}, DataError, "'height' holds numbers"),
]


@pytest.mark.parametrize("reader", [read_mixed, read_table])
@pytest.mark.parametrize(("said", "error", "words"), WRONG)
def test_what_cannot_be_is_an_error_that_names_column_and_kind(reader, said, error, words):
    names = ("text", "age", "height", "day")
    with pytest.raises(error, match=words):
        reader({name: COLUMNS[name] for name in names}, columns=said)


def test_every_column_ignored_leaves_nothing():
    with pytest.raises(DataError, match="nothing is left"):
        read_mixed({"x": [1, 2]}, columns={"x": "ignore"})


MODELS = [
    lambda columns: tacit.LatentTree(2, "chow-liu", columns=columns),
    lambda columns: tacit.LatentClass(2, columns=columns),
    lambda columns: tacit.KernelTree(2, "chow-liu", learn="auto", blend=False, columns=columns),
    lambda columns: tacit.GaussianTree(columns=columns),
]


@pytest.mark.filterwarnings("ignore::tacit.errors.BinningWarning")
@pytest.mark.parametrize("make", MODELS)
def test_every_model_of_tables_takes_kinds_shows_them_and_keeps_them(make, tmp_path):
    X = {name: COLUMNS[name] for name in ("text", "age", "height", "name")}
    model = make({"age": "category", "name": "ignore"}).fit(X)
    assert model.schema_["age"].card == 47
    assert "name" not in model.schema_
    page = str(model.summary())
    assert "  age     category" in page
    model.save(tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert again.columns == {"age": "category", "name": "ignore"}
    assert str(again.summary()) == page


DATES = [pd.DataFrame, objects, pl.DataFrame, pa.table, dict, records]


@pytest.mark.parametrize("form", DATES)
@pytest.mark.parametrize("name", ["day", "moment"])
def test_filled_and_drawn_dates_are_dates_of_the_callers_type(form, name):
    full = {name: COLUMNS[name], "text": COLUMNS["text"]}
    X = form({**full, name: [None, None, *COLUMNS[name][2:]]})
    model = tacit.KernelTree(2, "chow-liu", blend=False).fit(X)
    for table in (model.impute(X), model.sample(3, random_state=0, like=X)):
        values = table[0][name] if isinstance(table, list) else table[name][0]
        value = values.as_py() if isinstance(table, pa.Table) else values
        assert isinstance(value, dt.date)
        assert dt.date(2023, 1, 1) < pd.Timestamp(value).date() < dt.date(2025, 1, 1)
    if form in (pl.DataFrame, pa.table):
        filled = model.impute(X)
        assert filled.schema == X.schema


def test_dates_given_as_text_come_back_as_text():
    days = [None, *(str(day) for day in COLUMNS["day"][1:])]
    frame = pd.DataFrame({"day": days, "text": COLUMNS["text"]})
    model = tacit.KernelTree(2, "chow-liu", blend=False, columns={"day": "date"}).fit(frame)
    filled = model.impute(frame)
    assert filled["day"].tolist()[1:] == days[1:]
    assert dt.date.fromisoformat(filled["day"][0]).year == 2024


@pytest.mark.filterwarnings("ignore::tacit.errors.BinningWarning")
def test_a_tree_of_categories_gives_dates_back_too():
    frame = pd.DataFrame({"day": COLUMNS["day"], "text": COLUMNS["text"]})
    model = tacit.LatentTree(1, "chow-liu").fit(frame)
    drawn = model.sample(2, random_state=0)
    assert all(isinstance(day, dt.date) for day in drawn["day"])


def test_drawn_counts_are_whole():
    table = {"age": COLUMNS["age"], "text": COLUMNS["text"]}
    drawn = tacit.KernelTree(2, "chow-liu", blend=False).fit(table).sample(50, random_state=0)
    assert all(age >= 0 and float(age).is_integer() for age in drawn["age"])


def test_the_kinds_are_those_of_the_documentation():
    assert KINDS == ("category", "ordered", "count", "number", "date", "ignore")
