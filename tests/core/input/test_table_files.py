"""Tables in files."""

import contextlib
import gzip

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.core.input.read_table import encode, read_table
from tacit.errors import DataError, MissingDataError


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        path = tmp_path / name
        content = text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return written


TEXT = "colour,size,ready,day\nred,1,true,2024-01-02\nblue,2,false,2024-01-01\nred,,,\n"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.tsv.gz", "T.CSV"])
def test_delimited_text_is_read_with_types(write, name):
    path = write(name, TEXT.replace(",", "\t") if ".tsv" in name else TEXT)
    for given in (path, str(path)):
        table = read_table(given)
        assert [column.categories for column in table.schema.columns] == [
            ("blue", "red"),
            (1, 2),
            (False, True),
            ("2024-01-01", "2024-01-02"),
        ]
        assert table.codes.tolist() == [[1, 0, 1, 1], [0, 1, 0, 0], [1, -1, -1, -1]]


@pytest.mark.parametrize(
    "word", ["", "?", "NA", "N/A", "nan", "NaN", "null", "NULL", "<NA>", '"NA"']
)
def test_the_words_for_nothing_are_missing_in_csv(write, word):
    table = read_table(write("t.csv", f"x,y\na,1\n{word},2\n"))
    assert table.codes.tolist() == [[0, 0], [-1, 1]]


def test_the_word_none_is_an_answer_in_csv(write):
    assert read_table(write("t.csv", "x\nNone\na\n")).schema["x"].categories == ("None", "a")


def test_a_column_of_a_long_file_gets_the_type_that_all_of_it_has(write):
    rows = "".join("1,1,\n" for _ in range(300_000))
    table = read_table(write("t.csv", f"a,b,c\n{rows}2.5,x,7\n"))
    assert [column.categories for column in table.schema.columns] == [(1, 2.5), ("1", "x"), (7,)]


def test_parquet_is_read_column_by_column(tmp_path):
    frame = pd.DataFrame(
        {
            "o": pd.Categorical(["m", "s", None], categories=["s", "m", "l"], ordered=True),
            "i": [3, 1, 1],
            "s": ["a", None, "b"],
        }
    )
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    actual, expected = read_table(path), read_table(frame)
    assert actual.schema == expected.schema
    assert actual.codes.tolist() == expected.codes.tolist()


def test_several_files_are_chunks(write):
    first, second = write("1.csv", "x\nb\n"), write("2.csv", "x\na\n")
    for chunks in ([first, second], [str(first), str(second)]):
        assert read_table(chunks).codes.tolist() == [[1], [0]]


def test_a_question_may_stand_in_a_file(write):
    schema = read_table(write("t.csv", TEXT)).schema
    actual = encode(write("q.csv", "size,colour\n2,blue\n"), schema, partial=True)
    assert actual.codes.tolist() == [[0, 1, -1, -1]]


def test_a_file_that_is_not_there_is_named():
    with pytest.raises(FileNotFoundError, match=r"there is no file 'nowhere\.csv'") as caught:
        read_table("nowhere.csv")
    assert isinstance(caught.value, MissingDataError)


def test_other_kinds_of_files_are_refused_with_a_list_of_kinds():
    with pytest.raises(DataError, match=r"'t\.xlsx' is not a kind of file.*\.csv\.gz.*\.parquet"):
        read_table("t.xlsx")


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.csv", ""), ("t.csv", "a,b\n1\n"), ("t.parquet", "not parquet"), ("t.csv.gz", None)],
)
def test_broken_files_are_named(write, tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(b"\x1f\x8bbroken" if text is None else text.encode())
    with pytest.raises(DataError, match=f"{name}' cannot be read: "):
        read_table(path)


def test_a_file_with_a_header_only_has_no_rows(write):
    with pytest.raises(DataError, match=r"0 sample\(s\)"):
        read_table(write("t.csv", "a,b\n"))


def test_a_file_without_a_header_is_noticed_where_it_can_be(write):
    with pytest.raises(DataError, match=r"more than one column named '0'; .*without a header"):
        read_table(write("t.csv", "0,1,0\n1,1,0\n"))


def test_nested_columns_of_parquet_are_refused(tmp_path):
    pq.write_table(pa.table({"x": [[1, 2]]}), tmp_path / "t.parquet")
    with pytest.raises(TypeError, match="column 'x': argument must be a string or a number"):
        read_table(tmp_path / "t.parquet")


@pytest.mark.parametrize("place", range(4, 300, 5))
def test_a_damaged_parquet_file_is_refused_or_read(tmp_path, place):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"a": ["x", "y"] * 50, "b": [1, 2] * 50}), path)
    content = bytearray(path.read_bytes())
    content[place] ^= 0x55
    path.write_bytes(bytes(content))
    with contextlib.suppress(DataError):
        read_table(path)
