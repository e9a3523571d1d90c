"""Files that are not there: what is said, and what may be meant."""

import pytest

import tacit
from tacit.core.files.container import read_file
from tacit.core.input.missing_files import missing_file
from tacit.core.input.table_files import path_columns
from tacit.errors import MissingDataError
from tacit.sequences.data.sequence_files import opened_text, table_in
from tacit.trees.files.bif_reading import read_bif


def test_a_name_that_is_near_is_told(tmp_path):
    (tmp_path / "weather.csv").write_text("a,b\n")
    actual = missing_file(tmp_path / "wether.csv", advice="look elsewhere")
    assert isinstance(actual, FileNotFoundError)
    assert str(actual) == (
        f"there is no file {str(tmp_path / 'wether.csv')!r}, "
        f"but there is {str(tmp_path / 'weather.csv')!r}"
    )


def test_a_long_ending_in_common_makes_no_names_alike(tmp_path):
    (tmp_path / "hmm.tacit").write_text("")
    assert "there is no file" in str(missing_file(tmp_path / "wa.tacit"))
    assert "but" not in str(missing_file(tmp_path / "wa.tacit"))
    for typo in ("hm.tacit", "hmm.taci", "hmn.tacit"):
        assert "but there is" in str(missing_file(tmp_path / typo))


def test_without_a_near_name_the_advice_is_told(tmp_path):
    (tmp_path / "weather.csv").write_text("a,b\n")
    assert str(missing_file(tmp_path / "x.tacit", advice="look elsewhere")).endswith(
        "x.tacit'; look elsewhere"
    )
    assert str(missing_file(tmp_path / "x.tacit", "model file")).endswith("x.tacit'")
    assert str(missing_file(tmp_path)).endswith("it is a folder")
    assert "nowhere' does not exist" in str(missing_file(tmp_path / "nowhere" / "weather.csv"))


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.txt", "data.tacit", "data.bif"])
def test_whatever_reads_a_file_tells_a_near_name(tmp_path, name):
    (tmp_path / name).write_text("a\n")
    typo = tmp_path / name.replace("data", "dta")
    readers = {
        ".csv": (path_columns, table_in),
        ".parquet": (path_columns, table_in),
        ".txt": (lambda path: opened_text(path).__enter__(),),
        ".tacit": (read_file, tacit.load),
        ".bif": (read_bif,),
    }
    for reader in readers[typo.suffix]:
        with pytest.raises(MissingDataError, match=f"but there is .*{name}"):
            reader(typo)
