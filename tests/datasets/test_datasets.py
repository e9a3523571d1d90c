"""Loaders by name, on the real files where they are and on made-up ones elsewhere."""

import datetime as dt
import lzma
import os

import numpy as np
import pytest

from tacit import datasets
from tacit.core.input.read_table import read_table
from tacit.errors import ArgumentError, FileFormatError, MissingDataError

needs_data = pytest.mark.skipif(
    not os.environ.get("TACIT_DATA"), reason="the variable TACIT_DATA names no folder of data"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    return tmp_path


def put(folder, path, text):
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode()
    target.write_bytes(lzma.compress(content) if path.endswith(".xz") else content)


def test_every_public_name_can_be_had():
    for name in datasets.__all__:
        assert getattr(datasets, name) is not None
    assert sorted(dir(datasets)) == sorted(datasets.__all__)
    with pytest.raises(AttributeError, match=r"tacit\.datasets has no 'load_moon'"):
        _ = datasets.load_moon


def test_without_the_variable_the_error_names_it_and_the_file(monkeypatch):
    monkeypatch.delenv("TACIT_DATA", raising=False)
    with pytest.raises(
        MissingDataError, match=r"TACIT_DATA does not name a folder.*splice/splice\.data"
    ):
        datasets.load_splice()


@pytest.mark.parametrize(
    ("load", "file", "form", "source"),
    [
        (lambda: datasets.load_density("nltcs"), "debd_nltcs/nltcs.train.data", "16 values 0 or 1", "dcsn"),
        (datasets.load_splice, "splice/splice.data", "60 letters", "UCI"),
        (datasets.load_house_votes, "house_votes_84/house-votes-84.data", "16 votes", "UCI"),
        (datasets.load_coil2000, "coil2000/ticdata2000.txt", "86 integers", "UCI"),
        (datasets.load_communities, "communities_crime/communities.data", "122 attributes", "UCI"),
        (datasets.load_news20_w100, "news20_w100/news20_w100.csv", "100 values", "pmtkdata"),
        (lambda: datasets.load_numbers("wine"), "uci_numbers/wine.csv", "target last", "treforevans"),
        (datasets.load_polya, "polya_omni_aataaa/polya_omni_AATAAA_10300.csv", "sequence", "DeeReCT"),
        (datasets.load_sp500, "sp500_daily/adjusted_close_1999_2021.csv", "closing prices", "Pooksoft"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_there_is_named_with_its_form_and_source(
    folder, load, file, form, source
):
    with pytest.raises(FileNotFoundError) as caught:
        load()
    assert isinstance(caught.value, MissingDataError)
    for word in (file, form, source, str(folder)):
        assert word in str(caught.value)


def test_unknown_names_are_answered_with_those_there_are():
    with pytest.raises(ArgumentError, match="no data set 'nltc'; there are accidents, ad"):
        datasets.load_density("nltc")
    with pytest.raises(ArgumentError, match="no set 'dragoon'; there are omni, dragon"):
        datasets.load_polya("dragoon")
    with pytest.raises(ArgumentError, match="no 'returns'; there are closes, moves"):
        datasets.load_sp500("returns")


@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_density_sets_are_read_plain_or_compressed(folder, suffix):
    rows = np.random.default_rng(0).integers(0, 2, size=(3, 16))
    text = "\n".join(",".join(map(str, row)) for row in rows)
    for part, end in (("train", "\n"), ("valid", ""), ("test", "\r\n")):
        put(folder, f"debd_nltcs/nltcs.{part}.data{suffix}", text + end)
    actual = datasets.load_density("nltcs")
    assert actual.name == "nltcs"
    for part in (actual.train, actual.valid, actual.test):
        assert part.dtype == np.int8
        assert np.array_equal(part, rows)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("0,1\n", "not equally long"),
        (",".join("0" * 15) + ",2\n", "other characters"),
        ("", "not equally long"),
    ],
)
def test_a_density_file_of_another_form_is_refused(folder, text, match):
    put(folder, "debd_nltcs/nltcs.train.data", text)
    with pytest.raises(
        FileFormatError, match=rf"nltcs\.train\.data: .*{match}.*; expected rows of 16"
    ):
        datasets.load_density("nltcs")


def test_a_damaged_file_is_named(folder):
    (folder / "splice").mkdir()
    (folder / "splice" / "splice.data.xz").write_bytes(b"nothing")
    with pytest.raises(FileFormatError, match=r"splice\.data\.xz' is damaged"):
        datasets.load_splice()


def test_splice_letters_that_stand_for_several_are_missing(folder):
    put(folder, "splice/splice.data.xz", f"EI,  A-1,   {'ACGTNR' * 10}\nN, B,{'acgt' * 15}\n")
    actual = datasets.load_splice()
    assert list(actual) == ["class", *(f"p{place}" for place in range(60))]
    assert actual["class"].tolist() == ["EI", "N"]
    assert [actual[f"p{place}"][0] for place in range(6)] == ["A", "C", "G", "T", None, None]
    kept = datasets.load_splice(ambiguous="letter")
    assert [kept[f"p{place}"][0] for place in range(6)] == list("ACGTNR")
    assert [kept[f"p{place}"][1] for place in range(4)] == list("ACGT")
    with pytest.raises(ArgumentError, match="'missing' or 'letter'"):
        datasets.load_splice(ambiguous="set")
    assert actual["p1"][1] == "C"


def test_a_sequence_that_is_too_short_is_named(folder):
    put(folder, "splice/splice.data", f"EI,A,{'A' * 60}\nEI,B,{'A' * 59}\n")
    with pytest.raises(FileFormatError, match="sequence 2 does not have 60 letters"):
        datasets.load_splice()


def test_question_marks_among_the_votes_are_missing(folder):
    put(folder, "house_votes_84/house-votes-84.data", "democrat" + ",y" * 15 + ",?\n")
    actual = datasets.load_house_votes()
    assert len(actual) == 17
    assert [values[0] for values in actual.values()] == ["democrat", *["y"] * 15, None]


def test_a_line_with_too_few_fields_is_named(folder):
    put(folder, "house_votes_84/house-votes-84.data", "democrat" + ",y" * 16 + "\n\ndemocrat,y\n")
    with pytest.raises(FileFormatError, match="line 2 has 2 fields instead of 17"):
        datasets.load_house_votes()


def test_coil_columns_are_integers_with_names(folder):
    put(folder, "coil2000/ticdata2000.txt", "\t".join(map(str, range(86))) + "\n")
    actual = datasets.load_coil2000()
    assert len(actual) == 86
    assert actual["MOSTYPE"].tolist() == [0]
    assert actual["CARAVAN"].tolist() == [85]


def town(*cells):
    """A line about a town: the cells given, then zeros."""
    return "8,?,?,Lakewoodcity,1," + ",".join([*cells, *["0"] * (123 - len(cells))]) + "\n"


def test_attributes_of_towns_are_numbers_and_question_marks_are_missing(folder):
    put(
        folder, "communities_crime/communities.data.xz", town("0.19", "?", "1") + "\n" + town("0.5")
    )
    actual = datasets.load_communities()
    assert len(actual) == 123
    assert list(actual)[:3] == ["population", "householdsize", "racepctblack"]
    assert list(actual)[-2:] == ["PolicBudgPerPop", "ViolentCrimesPerPop"]
    assert {column.dtype for column in actual.values()} == {np.dtype(np.float64)}
    assert actual["population"].tolist() == [0.19, 0.5]
    assert np.isnan(actual["householdsize"]).tolist() == [True, False]


def test_the_first_attributes_of_towns_come_with_the_goal(folder):
    put(folder, "communities_crime/communities.data", town())
    actual = datasets.load_communities(50)
    assert len(actual) == 51
    assert list(actual)[49:] == ["NumIlleg", "ViolentCrimesPerPop"]
    for n in (0, 123):
        with pytest.raises(ArgumentError, match=f"n_attributes={n}; give a number from 1 to 122"):
            datasets.load_communities(n)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (town() + town() + "1,2\n", "line 3 has 2 fields instead of 128"),
        (town("much"), "line 1 has something else than numbers"),
    ],
)
def test_towns_of_another_form_are_refused(folder, text, match):
    put(folder, "communities_crime/communities.data", text)
    with pytest.raises(FileFormatError, match=f"{match}.*; expected lines of 5 fields"):
        datasets.load_communities()


def test_newsgroups_and_words_have_names(folder):
    header = ",".join(["newsgroup", *(f"w{place}" for place in range(100))])
    put(folder, "news20_w100/news20_w100.csv", f"{header}\n3{',1' * 100}\n1{',0' * 100}\n")
    actual = datasets.load_news20_w100()
    assert actual["newsgroup"].tolist() == ["sci", "comp"]
    assert actual["w99"].tolist() == [1, 0]


def test_polya_sequences_are_columns_of_letters(folder):
    text = "label,motif,fold,sequence\n1,AATAAA,5," + "A" * 205 + "N\n"
    put(folder, "polya_dragon/polya_dragon.csv", text)
    actual = datasets.load_polya("dragon")
    assert [actual[name][0] for name in ("label", "motif", "fold", "p0", "p205")] == [
        *("1", "AATAAA", "5", "A"),
        None,
    ]


PRICES = "date,UP,STAY,WAVE\n2001-01-02,1.5,2,3\n2001-01-03,1.6,2,4\n2001-01-04,1.7,2,3.5\n"


def test_closes_are_days_and_prices(folder):
    put(folder, "sp500_daily/adjusted_close_1999_2021.csv.xz", PRICES)
    actual = datasets.load_sp500()
    assert list(actual) == ["date", "UP", "STAY", "WAVE"]
    assert actual["date"].tolist() == [dt.date(2001, 1, day) for day in (2, 3, 4)]
    assert actual["STAY"].dtype == np.float64
    assert actual["WAVE"].tolist() == [3, 4, 3.5]


def test_a_price_that_stays_did_not_move_up(folder):
    put(folder, "sp500_daily/adjusted_close_1999_2021.csv", PRICES)
    actual = datasets.load_sp500("moves")
    assert {name: column.tolist() for name, column in actual.items()} == {
        "UP": [1, 1],
        "STAY": [0, 0],
        "WAVE": [1, 0],
    }
    assert read_table(actual).schema.names == ("UP", "STAY", "WAVE")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "Empty"),
        ("day,A\n2001-01-02,1\n", "first column is not 'date'"),
        ("date,A\nmonday,1\n", "'date' has cells that are not days"),
        ("date,A,B\n2001-01-02,1,n/a\n2001-01-03,1,2\n", "'B' has cells that are not numbers"),
        ("date,A\n2001-01-02,1,2\n", "Expected 2 columns"),
    ],
)
def test_prices_of_another_form_are_refused(folder, text, match):
    put(folder, "sp500_daily/adjusted_close_1999_2021.csv", text)
    with pytest.raises(FileFormatError, match=rf"(?s){match}.*; expected a header \(date"):
        datasets.load_sp500()


def test_digits_are_a_table_of_shades():
    table = read_table(datasets.digits_table())
    assert table.codes.shape == (1797, 65)
    assert set(table.schema["r3c3"].categories) == {"white", "grey", "black"}
    assert table.schema["digit"].categories == tuple(range(10))


def test_breast_cancer_is_a_table_of_words_and_a_diagnosis():
    table = read_table(datasets.breast_cancer_table())
    assert table.codes.shape == (569, 31)
    for column in table.schema.columns[:-1]:
        assert column.categories == ("high", "low", "middle")
    assert table.schema.columns[-1].categories == ("benign", "malignant")
    # Cut at thirds: each word stands for about a third of the patients.
    proportions = np.bincount(table.codes[:, 0]) / 569
    assert np.abs(proportions - 1 / 3).max() < 0.01


@needs_data
@pytest.mark.parametrize(
    ("load", "n_rows", "n_columns", "n_missing"),
    [
        (datasets.load_splice, 3190, 61, 60),
        (datasets.load_house_votes, 435, 17, 392),
        (datasets.load_coil2000, 5822, 86, 0),
        (datasets.load_news20_w100, 16242, 101, 0),
        (datasets.load_polya, 10300, 207, 0),
        (lambda: datasets.load_sp500("moves"), 5401, 362, 0),
    ],
)
def test_real_tables_have_the_size_that_is_documented(load, n_rows, n_columns, n_missing):
    table = read_table(load())
    assert table.codes.shape == (n_rows, n_columns)
    assert np.count_nonzero(table.codes < 0) == n_missing


@needs_data
def test_real_towns_have_the_cells_that_are_documented():
    actual = datasets.load_communities()
    table = np.stack(list(actual.values()), axis=1)
    assert table.shape == (1994, 123)
    missing = np.isnan(table).sum(axis=0)
    assert sorted(missing[missing > 0]) == [1, *[1675] * 22]
    assert (np.nanmin(table), np.nanmax(table)) == (0.0, 1.0)
    assert not np.isnan(list(datasets.load_communities(24).values())).any()


@needs_data
def test_a_real_density_set_has_the_size_that_is_documented():
    actual = datasets.load_density("nltcs")
    assert [part.shape for part in (actual.train, actual.valid, actual.test)] == [
        *((16181, 16), (2157, 16)),
        (3236, 16),
    ]


def test_tables_of_numbers_have_their_target_last(folder):
    put(folder, "uci_numbers/wine.csv", "1,2.5,3\n-4,5e-1,6\n\n")
    actual = datasets.load_numbers("wine")
    assert list(actual) == ["x0", "x1", "y"]
    assert [column.tolist() for column in actual.values()] == [[1.0, -4.0], [2.5, 0.5], [3.0, 6.0]]


@pytest.mark.parametrize("text", ["1,2\n3\n", "1,a\n", "\n"])
def test_a_table_of_something_else_than_numbers_is_refused(folder, text):
    put(folder, "uci_numbers/wine.csv", text)
    with pytest.raises(FileFormatError, match=r"uci_numbers/wine\.csv"):
        datasets.load_numbers("wine")


def test_a_table_of_numbers_that_does_not_exist_is_refused():
    with pytest.raises(ArgumentError, match="did you mean 'wine'"):
        datasets.load_numbers("wines")


@needs_data
def test_real_tables_of_numbers_have_no_gaps():
    assert len(datasets.NUMBERS_NAMES) == 12
    table = np.column_stack(list(datasets.load_numbers("concrete").values()))
    assert table.shape == (1030, 9)
    assert np.isfinite(table).all()
