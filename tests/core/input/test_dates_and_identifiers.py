"""Columns that are no categories: dates are numbers, identifiers and free text are left out by name."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit
from tacit.core.input.decode import complete
from tacit.core.input.mixed_table import complete_mixed
from tacit.core.input.read_mixed_table import encode_mixed, read_mixed
from tacit.core.input.read_table import encode, read_table
from tacit.errors import BinningWarning, CategoryError, DataError, IdentifierWarning

N = 60
DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=3 * place) for place in range(N)]
COLOURS = ["red", "blue", "green"] * (N // 3)
NAMES = [f"customer {place}" for place in range(N)]


def as_pandas(columns):
    return pd.DataFrame(columns)


def as_pandas_datetime(columns):
    frame = pd.DataFrame(columns)
    if "day" in frame:
        frame["day"] = pd.to_datetime(frame["day"])
    return frame


KINDS = [dict, as_pandas, as_pandas_datetime, pl.DataFrame, pa.table]


@pytest.mark.parametrize("kind", KINDS)
def test_dates_are_cut_at_quantiles_like_other_numbers(kind):
    with pytest.warns(BinningWarning, match="'day'"):
        table = read_table(kind({"day": DAYS, "colour": COLOURS}), n_bins=4)
    column = table.schema["day"]
    assert column.kind == "binned"
    assert column.categories[0].startswith("up to 2024-0")
    assert np.bincount(table.codes[:, 0]).tolist() == [15, 15, 15, 15]


@pytest.mark.parametrize("kind", KINDS)
def test_dates_are_numbers_in_models_of_numbers(kind):
    table = read_mixed(kind({"day": DAYS, "colour": COLOURS}))
    assert table.schema.continuous == (0,)
    assert table.numbers[0, 0] == (DAYS[0] - dt.date(1970, 1, 1)).days
    later = encode_mixed(kind({"day": DAYS[:2], "colour": COLOURS[:2]}), table.schema)
    assert np.array_equal(later.numbers, table.numbers[:2])


@pytest.mark.parametrize("kind", KINDS)
def test_few_dates_are_categories(kind):
    table = read_table(kind({"day": DAYS[:3] * (N // 3), "colour": COLOURS}))
    assert [category[:10] for category in table.schema["day"].categories] == [
        "2024-01-01",
        "2024-01-04",
        "2024-01-07",
    ]


def test_dates_in_csv_files_are_numbers(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"day": DAYS, "colour": COLOURS}).to_csv(path, index=False)
    with pytest.warns(BinningWarning, match="'day'"):
        assert read_table(path).schema["day"].kind == "binned"


def test_a_question_may_name_a_date_as_object_or_as_text():
    with pytest.warns(BinningWarning):
        model = tacit.ChowLiuTree().fit(pd.DataFrame({"day": DAYS, "colour": COLOURS}))
    first = model.query("colour", given={"day": dt.date(2024, 1, 2)})
    assert model.query("colour", given={"day": "2024-01-02"}) == first
    assert model.query("colour", given={"day": dt.datetime(2024, 1, 2, 12)}) == first  # noqa: DTZ001
    with pytest.raises(CategoryError, match="no category 'soon'"):
        model.query("colour", given={"day": "soon"})


@pytest.mark.parametrize("kind", [as_pandas_datetime, pl.DataFrame, pa.table])
def test_missing_dates_are_filled_with_dates_of_the_same_type(kind):
    whole = kind({"day": DAYS, "colour": COLOURS})
    with pytest.warns(BinningWarning):
        table = read_table(whole)
    gaps = kind({"day": [None, *DAYS[1:]], "colour": COLOURS})
    filled = complete(gaps, table.codes, table.schema)
    before, after = whole["day"], filled["day"]
    assert str(getattr(after, "dtype", None) or after.type) == str(
        getattr(before, "dtype", None) or before.type
    )
    values = after.to_pylist() if kind is pa.table else list(after)
    assert [pd.Timestamp(value) for value in values[1:]] == [pd.Timestamp(day) for day in DAYS[1:]]
    assert pd.Timestamp(2024, 1, 1) <= pd.Timestamp(values[0]) <= pd.Timestamp(2024, 3, 1)


def test_missing_dates_of_lists_are_filled_with_dates():
    with pytest.warns(BinningWarning):
        table = read_table({"day": DAYS, "colour": COLOURS})
    filled = complete({"day": [None, *DAYS[1:]], "colour": COLOURS}, table.codes, table.schema)
    assert filled["day"][1:] == DAYS[1:]
    assert isinstance(filled["day"][0], dt.date)


@pytest.mark.parametrize("kind", KINDS)
def test_identifiers_are_left_out_with_a_warning_that_names_them(kind):
    rows = kind({"name": NAMES, "colour": COLOURS})
    with pytest.warns(IdentifierWarning, match=r"'name' left out.*astype"):
        table = read_table(rows)
    assert table.schema.names == ("colour",)
    with pytest.warns(IdentifierWarning, match="'name'"):
        assert read_mixed(rows).schema.names == ("colour",)
    # what was left out may stand in later rows, whatever it holds
    assert encode(kind({"name": ["new"], "colour": ["red"]}), table.schema).n_rows == 1


def test_chunks_are_judged_together():
    chunks = [
        {"name": NAMES[:30], "colour": COLOURS[:30]},
        {"name": NAMES[30:], "colour": COLOURS[30:]},
    ]
    with pytest.warns(IdentifierWarning, match="'name'"):
        assert read_table(chunks).schema.names == ("colour",)


def test_a_categorical_column_is_kept_whatever_it_holds():
    frame = pd.DataFrame({"name": pd.Categorical(NAMES), "colour": COLOURS})
    assert read_table(frame).schema.names == ("name", "colour")


def test_identifiers_in_arrays_are_left_out_by_place():
    rows = np.array([NAMES, COLOURS], dtype=object).T
    with pytest.warns(IdentifierWarning, match="'x0'"):
        table = read_table(rows)
    assert encode(rows, table.schema).codes.tolist() == table.codes.tolist()


def test_a_table_of_identifiers_alone_is_refused():
    with pytest.raises(DataError, match="identifiers"):
        read_table({"name": NAMES})


@pytest.mark.parametrize("small", [True, False])
def test_integers_of_which_every_row_has_its_own_are_numbers(small):
    numbers = np.arange(N) * (1 if small else 1000)
    with pytest.warns(BinningWarning, match="'number'"):
        table = read_table(pd.DataFrame({"number": numbers, "other": [0, 1] * (N // 2)}))
    assert table.schema["number"].kind == "binned"
    assert table.schema["other"].kind == "integer"


def test_imputing_keeps_columns_that_the_model_does_not_know():
    frame = pd.DataFrame({"name": NAMES, "colour": COLOURS, "size": ["s", "l"] * (N // 2)})
    with pytest.warns(IdentifierWarning):
        model = tacit.ChowLiuTree().fit(frame)
    frame.loc[0, "colour"] = None
    filled = model.impute(frame)
    assert list(filled.columns) == ["name", "colour", "size"]
    assert filled["name"].tolist() == NAMES
    assert filled["colour"].notna().all()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_come_back_to_the_microsecond(unit, zone):
    ticks = np.random.default_rng(0).integers(-5 * 10**15, 5 * 10**15, size=200)
    times = pd.Series(ticks.astype("datetime64[us]").astype(f"datetime64[{unit}]"))
    if zone is not None:
        times = times.dt.tz_localize("UTC").dt.tz_convert(zone)
    frame = pd.DataFrame({"time": times})
    pd.testing.assert_frame_equal(complete_mixed(frame, read_mixed(frame)), frame)


@pytest.mark.parametrize("model", [tacit.GaussianTree, tacit.KernelTree])
@pytest.mark.parametrize("kind", [as_pandas, pl.DataFrame, pa.table])
def test_columns_that_were_left_out_are_not_lost(kind, model):
    numbers = np.random.default_rng(0).normal(size=N).tolist()
    rows = kind({"name": NAMES, "x": [None, *numbers[1:]], "colour": COLOURS})
    with pytest.warns(IdentifierWarning):
        fitted = model().fit(rows)
    answers = (
        [fitted.impute, fitted.most_likely] if model is tacit.GaussianTree else [fitted.impute]
    )
    for answer in answers:
        filled = answer(rows)
        names = filled.column_names if kind is pa.table else list(filled.columns)
        assert names == ["name", "x", "colour"]
        assert list(filled["name"].to_numpy()) == NAMES


def test_a_chunk_of_gaps_alone_makes_dates_no_other_numbers():
    chunks = [
        {"day": [None] * 3, "colour": COLOURS[:3]},
        {"day": DAYS, "colour": COLOURS},
    ]
    (day, _) = read_mixed(chunks).schema.columns
    assert (day.kind, day.unit) == ("continuous", "date")
