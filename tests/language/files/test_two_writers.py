"""Two processes write counts to one folder at once: one of them wins, and nothing is mixed or lost."""

import subprocess
import sys

import numpy as np
import pytest

from tacit.language.files.counts import read_counts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no locks there")

# Writes counts of its own text to a folder again and again.
WRITER = """
import sys
from tacit.language.data.corpus import read_corpus
from tacit.language.files.counts import write_counts
from tacit.language.moments.ngram_counts import GramCounts
path, word = sys.argv[1:]
counts = GramCounts.of(read_corpus([f"{word} {word} b"] * ord(word)), 3)
print("ready", flush=True)
sys.stdin.readline()
for turn in range(40):
    write_counts(counts, path, {"word": word, "turn": turn})
"""

# Counts a text in pieces, or merges counts, at the command line.
COMMAND = """
import sys
from tacit.cli import app
from tacit.language.learn import counting
counting._MIN_PIECE = 200
print("ready", flush=True)
sys.stdin.readline()
app(sys.argv[1:])
"""


def at_once(script, *commands):
    """Run a script in several processes, which begin together, and yield until all have ended well."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    writers = [
        subprocess.Popen([sys.executable, "-c", script, *map(str, command)], text=True, **pipes)
        for command in commands
    ]
    try:
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            writer.stdin.write("go\n")
            writer.stdin.flush()
        while any(writer.poll() is None for writer in writers):
            yield
        for writer in writers:
            assert writer.returncode == 0, writer.stderr.read()
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()


def test_two_writers_of_one_folder_replace_each_other_and_a_reader_sees_one_of_them(tmp_path):
    path = tmp_path / "c.counts"
    n_read = 0
    for _ in at_once(WRITER, (path, "x"), (path, "y")):
        if path.exists():  # once it is there, it is never away
            counts, notes = read_counts(path)
            assert counts.n_lines == ord(notes["word"])
            assert notes["word"] in counts.vocabulary
            n_read += 1
    assert n_read > 0
    assert read_counts(path)[1]["turn"] == 39
    assert [one.name for one in tmp_path.iterdir()] == ["c.counts"]


@pytest.mark.parametrize("command", ["count", "merge"])
def test_two_commands_with_one_output_both_end_well_and_leave_nothing_else(tmp_path, command):
    rng = np.random.default_rng(0)
    expected = {}
    for name in "xy":
        lines = [" ".join(f"{name}{word}" for word in rng.integers(30, size=8)) for _ in range(400)]
        (tmp_path / f"{name}.txt").write_text("\n".join([*lines, ""]))
    if command == "merge":
        whole = [
            ("lm", "count", tmp_path / f"{n}.txt", "-o", tmp_path / f"{n}.counts") for n in "xy"
        ]
        assert all(turn is None for turn in at_once(COMMAND, *whole))
        commands = [
            ("lm", "merge", *[tmp_path / f"{name}.counts"] * 3, "-o", tmp_path / "c.counts", *more)
            for name, more in (("x", ()), ("y", ("--words", 20)))
        ]
    else:
        texts = [("lm", "count", tmp_path / f"{name}.txt", "-o") for name in "xy"]
        commands = [(*text, tmp_path / "c.counts", "--memory", "1kB") for text in texts]
    before = set(tmp_path.iterdir())
    for _ in range(3):
        assert all(turn is None for turn in at_once(COMMAND, *commands))
        counts, _ = read_counts(tmp_path / "c.counts")
        names = {word[0] for word in counts.vocabulary.words[3:]}
        assert len(names) == 1
        expected[names.pop()] = counts.n_words
        assert set(tmp_path.iterdir()) - before == {tmp_path / "c.counts"}
    assert set(expected.values()) == {400 * 8 * (3 if command == "merge" else 1)}
