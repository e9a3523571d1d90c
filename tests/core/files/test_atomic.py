"""Files are there whole or not at all."""

import os
import stat
import subprocess
import sys

import pytest

from tacit.core.files.atomic import atomic_path, write_bytes, write_text
from tacit.core.files.container import write_file
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


def test_the_temporary_file_has_the_suffix_and_a_folder_of_its_own_in_the_same_folder(tmp_path):
    with atomic_path(tmp_path / "tree.svg") as temporary:
        assert temporary.suffix == ".svg"
        assert temporary.parent.parent == tmp_path
        (temporary.parent / ".tmp-of-some-library").write_text("half")
    assert [path.name for path in tmp_path.iterdir()] == ["tree.svg"]


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


def test_a_model_file_has_the_permissions_of_any_new_file(tmp_path):
    (tmp_path / "plain").write_text("made by Python itself")
    write_file(tmp_path / "m.tacit", {"estimator": "LatentTree"}, {})
    assert (tmp_path / "m.tacit").stat().st_mode == (tmp_path / "plain").stat().st_mode


# Begins to write a file, says where, and waits.
WRITER = """
import sys, time
from tacit.core.files.atomic import atomic_path
with atomic_path(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print("begun", flush=True)
    time.sleep(1000)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no locks there")
def test_the_next_writer_removes_what_a_killed_one_left_and_nothing_of_a_living_one(tmp_path):
    path = tmp_path / "a.txt"
    dead, alive = (
        subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        for _ in range(2)
    )
    try:
        for writer in (dead, alive):
            assert writer.stdout.readline() == b"begun\n"
        write_text(path, "first")
        assert len(list(tmp_path.iterdir())) == 3  # both are writing
        dead.kill()
        dead.wait()
        (tmp_path / ".a.txt-my.part").write_text("precious")
        write_text(path, "second")
        (left,) = tmp_path.glob(".a.txt-*[0-9a-f].part")
        assert (left / "new.txt").read_text() == "half"
        assert (tmp_path / ".a.txt-my.part").read_text() == "precious"
    finally:
        for writer in (dead, alive):
            writer.kill()
            writer.wait()
            writer.stdout.close()
    write_text(path, "third")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.txt-my.part", "a.txt"]


def test_an_interrupt_before_the_block_begins_leaves_nothing(tmp_path):
    script = f"""
import tacit.core.files.temporary as temporary
from tacit.core.files.atomic import write_text
def interrupted(*_, **__):
    raise KeyboardInterrupt
temporary._lock = interrupted
write_text({str(tmp_path / "a.txt")!r}, "x")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert b"KeyboardInterrupt" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no limits there")
def test_a_model_on_a_full_disk_is_one_of_our_errors_and_the_old_file_stays(tmp_path):
    script = f"""
import resource
import numpy as np
from tacit.core.files.container import write_file
from tacit.errors import FileWriteError
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    write_file({str(tmp_path / "m.tacit")!r}, {{"estimator": "LatentTree"}}, {{"a": np.zeros(9999)}})
except FileWriteError as error:
    print(error)
"""
    write_file(tmp_path / "m.tacit", {"estimator": "LatentTree"}, {})
    old = (tmp_path / "m.tacit").read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "File too large" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["m.tacit"]
    assert (tmp_path / "m.tacit").read_bytes() == old


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
