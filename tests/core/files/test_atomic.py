"""Files are there whole or not at all."""

import os
import stat

import pytest

from tacit.core.files.atomic import atomic_path, write_bytes, write_text
from tacit.errors import FileWriteError, TacitError


def test_a_text_is_written_as_utf8_with_its_own_line_ends(tmp_path):
    write_text(tmp_path / "a.txt", "é\r\n木\n")
    assert (tmp_path / "a.txt").read_bytes() == "é\r\n木\n".encode()


def test_a_file_that_is_there_is_replaced(tmp_path):
    write_text(tmp_path / "a.txt", "old and long")
    write_text(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"


def test_an_error_leaves_what_was_there_and_nothing_else(tmp_path):
    def half(path):
        path.write_text("half")
        raise ZeroDivisionError

    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(ZeroDivisionError), atomic_path(tmp_path / "a.txt") as temporary:
        half(temporary)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_an_error_of_our_own_passes_through_unchanged(tmp_path):
    with pytest.raises(TacitError, match=r"^mine$"), atomic_path(tmp_path / "a.txt"):
        raise FileWriteError("mine")
    assert list(tmp_path.iterdir()) == []


def test_the_temporary_file_has_the_suffix_and_stands_in_the_same_folder(tmp_path):
    with atomic_path(tmp_path / "tree.svg") as temporary:
        assert temporary.suffix == ".svg"
        assert temporary.parent == tmp_path


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileWriteError, match=r"the folder '.*nowhere' does not exist"):
        write_text(tmp_path / "nowhere" / "a.txt", "x")


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(FileWriteError, match="it is a folder"):
        write_bytes(tmp_path, b"x")


def test_a_link_stays_a_link(tmp_path):
    write_text(tmp_path / "real.txt", "old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_permissions_are_those_of_any_new_file_or_of_the_file_that_was_there(tmp_path):
    (tmp_path / "plain.txt").write_text("made by Python itself")
    write_text(tmp_path / "new.txt", "x")
    (tmp_path / "old.txt").write_text("old")
    (tmp_path / "old.txt").chmod(0o640)
    write_text(tmp_path / "old.txt", "new")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes["new.txt"] == modes["plain.txt"]
    assert modes["old.txt"] == 0o640


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name on this system")
def test_a_pipe_gets_the_content_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # nobody waits, whatever happens
    try:
        write_bytes(pipe, b"through the pipe")
        assert os.read(reader, 100) == b"through the pipe"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
