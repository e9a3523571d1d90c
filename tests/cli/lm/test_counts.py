"""`tacit lm count`, `merge` and `train`: the same model, whichever way a text is counted."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import tacit
from oracles.commands import tacit_says
from tacit.language.learn import counting as language_counting

N_SHARDS = 7

# Runs `tacit`, and is killed when a folder of counts whose name begins so is about to be finished.
KILLED = """
import os, signal, sys
from tacit.cli import app
from tacit.language.learn import counting as language_counting
from tacit.language.files.counts import CountsFolder
language_counting._MIN_PIECE = 1000
kind, number, *arguments = sys.argv[1:]
finish, met = CountsFolder.finish, []
def killed(self, *rest):
    met.extend([1] if self.target.name.startswith(kind) else [])
    if len(met) == int(number):
        os.kill(os.getpid(), signal.SIGKILL)
    finish(self, *rest)
CountsFolder.finish = killed
app(arguments)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text of some 6,000 words, and its lines dealt to seven shards with words of their own each."""
    place = tmp_path_factory.mktemp("shards")
    rng = np.random.default_rng(0)
    lines = [
        " ".join(f"w{word}" for word in rng.zipf(1.4, rng.integers(0, 20)).tolist() if word < 900)
        for _ in range(800)
    ]
    (place / "all.txt").write_text("\n".join([*lines, ""]))
    for shard in range(N_SHARDS):
        (place / f"{shard}.txt").write_text("\n".join([*lines[shard::N_SHARDS], ""]))
    words = sorted({word for line in lines for word in line.split()})
    (place / "words.txt").write_text("\n".join(words[::2]))
    return place


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(language_counting, "_MIN_PIECE", 1000)


def same_files(folder, one, two):
    assert (folder / one).read_bytes() == (folder / two).read_bytes()


def count_shards(run, *options):
    names = [f"{shard}.counts" for shard in range(N_SHARDS)]
    for shard, name in enumerate(names):
        assert f"written to {name}" in run("lm", "count", f"{shard}.txt", "-o", name, *options)
    return names


def test_seven_shards_merged_give_the_model_of_the_whole_text(run, folder):
    names = count_shards(run)
    report = json.loads(run("lm", "merge", *names, "-o", "all.counts", "--json"))
    trained = json.loads(run("lm", "train", "all.txt", "-o", "once.tacit", "--json"))
    assert [report[key] for key in ("n_words", "n_lines", "n_types", "n_grams")] == [
        trained[key] for key in ("n_words", "n_lines", "n_types", "n_grams")
    ]
    assert not (folder / "all.counts.pieces").exists()
    run("lm", "train", "all.counts", "-o", "merged.tacit")
    same_files(folder, "merged.tacit", "once.tacit")
    # Without merging first, and merged in another order.
    run("lm", "train", *reversed(names), "-o", "shards.tacit")
    same_files(folder, "shards.tacit", "once.tacit")
    # Merged counts merge again.
    run("lm", "merge", *names[:3], "-o", "some.counts")
    run("lm", "train", "some.counts", *names[3:], "-o", "again.tacit")
    same_files(folder, "again.tacit", "once.tacit")
    run("lm", "merge", "some.counts", *names[3:], "-o", "some.counts")  # in place of one of them
    run("lm", "train", "some.counts", "-o", "again.tacit")
    same_files(folder, "again.tacit", "once.tacit")
    # Rare words are seen only when all shards are there; a lower order is part of the counts.
    for options in (["--min-count", "3"], ["--words", "40"], ["--order", "2"], ["--plain"]):
        run("lm", "train", "all.txt", "-o", "once.tacit", *options)
        run("lm", "train", *names, "-o", "shards.tacit", *options)
        same_files(folder, "shards.tacit", "once.tacit")
    run("lm", "merge", *names, "-o", "few.counts", "--min-count", "3")
    run("lm", "train", "all.txt", "-o", "once.tacit", "--min-count", "3")
    run("lm", "train", "few.counts", "-o", "few.tacit")
    few, once = tacit.load(folder / "few.tacit"), tacit.load(folder / "once.tacit")
    assert np.array_equal(few.model_.probs, once.model_.probs)


def test_shards_counted_with_a_list_of_words(run, folder):
    names = count_shards(run, "--vocabulary", "words.txt", "--order", "2")
    run("lm", "merge", *names, "-o", "listed.counts")
    run("lm", "train", "listed.counts", "-o", "listed.tacit")
    run("lm", "train", "all.txt", "--vocabulary", "words.txt", "--order", "2", "-o", "once.tacit")
    same_files(folder, "listed.tacit", "once.tacit")
    printed = tacit_says("lm", "merge", *names, "-o", "x.counts", "--min-count", "2", code=1)
    assert "counted with a list of words" in printed
    run("lm", "count", "0.txt", "-o", "own.counts", "--order", "2")
    printed = tacit_says("lm", "merge", "own.counts", "listed.counts", "-o", "x.counts", code=1)
    assert "'listed.counts' was counted with a list of words" in printed
    run("lm", "count", "0.txt", "-o", "own.counts")
    printed = tacit_says("lm", "merge", "own.counts", "listed.counts", "-o", "x.counts", code=1)
    assert "'listed.counts' has n-grams of order 2" in printed
    assert not (folder / "x.counts").exists()


def test_ensembles_learn_from_counts(run, folder):
    more = ("--kind", "power-low-rank", "--order", "2", "--validation", "1.txt")
    run("lm", "train", "0.txt", "-o", "once.tacit", *more)
    run("lm", "count", "0.txt", "-o", "own.counts", "--order", "2")
    run("lm", "train", "own.counts", "-o", "counted.tacit", *more)
    run("lm", "train", "0.txt", "-o", "disk.tacit", *more, "--memory", "1kB")
    same_files(folder, "counted.tacit", "once.tacit")
    same_files(folder, "disk.tacit", "once.tacit")


def test_little_memory_gives_the_same_model(run, folder):
    run("lm", "train", "all.txt", "-o", "once.tacit", "--min-count", "2")
    run("lm", "train", "all.txt", "-o", "disk.tacit", "--min-count", "2", "--memory", "1kB")
    same_files(folder, "disk.tacit", "once.tacit")
    run("lm", "count", "all.txt", "-o", "disk.counts", "--memory", "1 kB")
    run("lm", "train", "disk.counts", "-o", "disk.tacit", "--min-count", "2")
    same_files(folder, "disk.tacit", "once.tacit")
    assert not list(folder.glob("*.pieces"))


def killed(folder, kind, number, *arguments):
    """`tacit lm` killed when some folder of counts, the nth of a name, was about to be finished."""
    command = [sys.executable, "-c", KILLED, kind, str(number), "lm", *arguments]
    done = subprocess.run(command, cwd=folder, check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
@pytest.mark.parametrize(("kind", "number", "taken"), [("piece", 3, 2), ("joint", 2, 9)])
def test_what_was_killed_goes_on(run, folder, kind, number, taken):
    (folder / "killed.tacit").unlink(missing_ok=True)
    command = ("train", "all.txt", "-o", "killed.tacit", "--memory", "1kB")
    killed(folder, kind, number, *command)
    assert not (folder / "killed.tacit").exists()
    done = sorted(path.name for path in (folder / "killed.tacit.pieces").glob("piece-*"))
    assert len(done) == taken
    assert f"continued after {taken} pieces" in tacit_says("lm", *command, with_errors=True)
    run("lm", "train", "all.txt", "-o", "once.tacit")
    same_files(folder, "killed.tacit", "once.tacit")
    assert not (folder / "killed.tacit.pieces").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_what_was_killed_starts_over_where_it_must_and_says_so(run, folder):
    killed(folder, "piece", 3, "count", "all.txt", "-o", "over.counts", "--memory", "1kB")
    (folder / "over.counts.pieces" / "mine.txt").write_text("precious")
    printed = tacit_says(
        *("lm", "count", "all.txt", "-o", "over.counts", "--memory", "1kB", "--order", "2"),
        with_errors=True,
    )
    assert "piece-00000 holds counts of something else; counting starts over from there" in printed
    # What is not of its own making stays.
    assert (folder / "over.counts.pieces" / "mine.txt").read_text() == "precious"
    (folder / "over.counts.pieces" / "mine.txt").unlink()
    run("lm", "train", "over.counts", "-o", "over.tacit")
    run("lm", "train", "all.txt", "-o", "once.tacit", "--order", "2")
    same_files(folder, "over.tacit", "once.tacit")
    names = count_shards(run)
    killed(folder, "piece", 2, "merge", *names, "-o", "joint.counts")
    assert "starting over" in tacit_says(
        "lm", "merge", *names, "-o", "joint.counts", with_errors=True
    )
    run("lm", "train", "joint.counts", "-o", "joint.tacit", "--order", "2")
    same_files(folder, "joint.tacit", "once.tacit")


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (["count", "0.txt", "-o", "x.tacit"], "ends in .counts", 1),
        (["count", "0.txt", "-o", "nowhere/x.counts"], "'nowhere' does not exist", 1),
        (["train", "0.txt", "-o", "nowhere/x.tacit"], "'nowhere' does not exist", 1),
        (["count", "0.txt", "-o", "x.counts", "--memory", "much"], "--memory", 2),
        (["merge", "nothing.counts", "-o", "x.counts"], "nothing.counts", 1),
        (["merge", "0.txt", "-o", "x.counts"], "0.txt", 1),
        (["train", "own.counts", "0.txt", "-o", "x.tacit"], "count it first", 1),
        (["train", "own.counts", "-o", "x.tacit", "--vocabulary", "words.txt"], "--vocabulary", 2),
        (["train", "own.counts", "-o", "x.tacit", "--memory", "1kB"], "--memory", 2),
        (["train", "own.counts", "-o", "x.tacit", "--kind", "classes"], "--kind", 2),
        (["train", "own.counts", "-o", "x.tacit", "--order", "4"], "order 4", 1),
        (
            ["train", "0.txt", "-o", "x.tacit", "--vocabulary", "words.txt", "--words", "9"],
            "all words of --vocabulary are known",
            2,
        ),
    ],
)
def test_mistakes_are_reported_and_leave_nothing(run, folder, arguments, words, code):
    if "own.counts" in arguments:
        run("lm", "count", "0.txt", "-o", "own.counts")
    before = sorted(folder.iterdir())
    assert words in tacit_says("lm", *arguments, code=code)
    assert sorted(folder.iterdir()) == before
