"""`tacit lm` against what the models themselves say."""

import contextlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tacit
from oracles.commands import rows_of, tacit_says

LINES = ["der Hund bellt", "die Katze läuft", "", "der Hund läuft", "die Maus läuft weg"] * 3
QUERIES = ["die Maus bellt", "der Igel läuft", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("words")
    (place / "train.txt").write_text("\n".join([*LINES, ""]), encoding="utf-8")
    (place / "asked.txt").write_text("\n".join([*QUERIES, ""]), encoding="utf-8")
    tacit.KneserNeyLM(order=3).fit(place / "train.txt").save(place / "words.tacit")
    return place


def test_training_says_what_was_learnt_and_saves_it(run, folder):
    printed = run("lm", "train", "train.txt", "-o", "own.tacit", "--order", "2")
    assert "15 lines" in printed
    assert "2-grams" in printed
    again = tacit.KneserNeyLM(order=2).fit(LINES)
    assert tacit.load(folder / "own.tacit").score(QUERIES) == again.score(QUERIES)
    printed = json.loads(run("lm", "train", "train.txt", "train.txt", "-o", "two.tacit", "--json"))
    assert printed["n_lines"] == 30


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (["--plain", "--back-off"], {"modified": False, "interpolated": False}),
        (["--min-count", "4"], {"min_count": 4}),
        (["--words", "3"], {"n_words": 3}),
    ],
)
def test_options_are_arguments(run, folder, options, arguments):
    run("lm", "train", "train.txt", "-o", "own.tacit", *options)
    model = tacit.KneserNeyLM(order=3, **arguments).fit(LINES)
    assert tacit.load(folder / "own.tacit").score(QUERIES) == model.score(QUERIES)


def test_classes_and_word_lists(run, folder):
    (folder / "words.txt").write_text("der die Hund läuft", encoding="utf-8")
    run("lm", "train", "train.txt", "-o", "own.tacit", "--kind", "classes", "--classes", "3")
    assert tacit.load(folder / "own.tacit").diagnostics_["n_classes"] == 3
    run("lm", "train", "train.txt", "-o", "own.tacit", "--vocabulary", "words.txt")
    assert len(tacit.load(folder / "own.tacit").vocabulary_) == 7


def test_ensembles_with_a_text_to_choose_by(run, folder):
    more = ("--kind", "power-low-rank", "--order", "2", "--validation", "asked.txt")
    assert "2-grams" in run("lm", "train", "train.txt", "-o", "own.tacit", *more)
    model = tacit.PowerLowRankLM(order=2, random_state=0).fit(LINES, validation=QUERIES)
    assert tacit.load(folder / "own.tacit").score(QUERIES) == pytest.approx(model.score(QUERIES))


def test_perplexity(run, folder):
    perplexity = tacit.load(folder / "words.tacit").perplexity(QUERIES)
    assert f"{float(perplexity):.4f}" in run("lm", "perplexity", "words.tacit", "asked.txt")
    report = json.loads(run("lm", "perplexity", "words.tacit", "asked.txt", "--json"))
    assert report["perplexity"] == float(perplexity)
    assert report["n_unknown"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes of this kind there")
def test_texts_come_through_pipes(run, folder):
    text, pipe = (folder / "train.txt").read_bytes(), folder / "pipe"
    os.mkfifo(pipe)
    for command in (["perplexity", "words.tacit"], ["score", "words.tacit", "--by-word"]):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(pipe.write_bytes, text)
            assert run("lm", *command, "pipe") == run("lm", *command, "train.txt")
    printed = tacit_says("lm", "count", "pipe", "-o", "piped.counts", "--memory", "1MB", code=1)
    assert "'pipe' can be read once" in printed
    call = [sys.executable, "-c", "from tacit.cli import main; main()", "lm", "perplexity"]
    done = subprocess.run(
        [*call, "words.tacit", "-"], cwd=folder, check=True, input=text, capture_output=True
    )
    assert done.stdout.decode() == run("lm", "perplexity", "words.tacit", "train.txt")


def test_nothing_is_drawn_where_nobody_looks(run):
    for command in (
        ["train", "train.txt", "-o", "own.tacit"],
        ["perplexity", "words.tacit", "asked.txt"],
    ):
        assert "words/s" not in tacit_says("lm", *command, with_errors=True)


@pytest.mark.skipif(sys.platform == "win32", reason="no terminals of this kind there")
@pytest.mark.parametrize(
    "command",
    [
        ["count", "train.txt", "-o", "own.counts"],
        ["perplexity", "words.tacit", "train.txt"],
    ],
)
def test_a_terminal_shows_words_per_second(folder, command):
    import pty

    ours, theirs = pty.openpty()
    call = [sys.executable, "-c", "from tacit.cli import main; main()", "lm", *command]
    looks = os.environ | {"COLUMNS": "120", "TERM": "xterm"}
    with subprocess.Popen(
        call, cwd=folder, stderr=theirs, stdout=subprocess.PIPE, env=looks
    ) as job:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other side is closed
            while part := os.read(ours, 1 << 16):
                shown += part
        printed = job.stdout.read()
    os.close(ours)
    assert job.returncode == 0
    assert b"words/s" in shown
    assert b"words/s" not in printed


def test_scores_of_lines_and_of_words(run, folder):
    model = tacit.load(folder / "words.tacit")
    rows = rows_of(run("lm", "score", "words.tacit", "asked.txt"))
    assert [int(row["n_words"]) for row in rows] == [3, 3, 0]
    assert np.allclose([float(row["log_prob"]) for row in rows], model.score_samples(QUERIES))
    rows = json.loads(run("lm", "score", "words.tacit", "asked.txt", "--by-word", "--json"))
    scores = [score for line in QUERIES for score in model.scores(line)]
    assert [row["log_prob"] for row in rows] == pytest.approx([score.log_prob for score in scores])
    assert [row["order"] for row in rows] == [score.order for score in scores]
    assert [row["word"] for row in rows[:4]] == ["die", "Maus", "bellt", "</s>"]
    assert [row["unknown"] for row in rows[4:8]] == [False, True, False, False]


def test_next_words_and_draws(run, folder):
    model = tacit.load(folder / "words.tacit")
    printed = run("lm", "next", "words.tacit", "der", "-k", "2").split()
    assert printed[0] == model.top("der", 2)[0][0] == "Hund"
    rows = json.loads(run("lm", "next", "words.tacit", "--json"))
    assert rows[0]["probability"] == pytest.approx(model.top(k=1)[0][1])
    drawn = run("lm", "sample", "words.tacit", "-n", "4", "--seed", "1", "--given", "der")
    assert drawn.splitlines() == model.sample(4, given="der", random_state=1)


def test_arpa_files_there_and_back(run, folder):
    assert "3-grams" in run("lm", "arpa", "words.tacit", "words.arpa")
    run("lm", "arpa", "words.arpa", "again.tacit")
    again, model = tacit.load(folder / "again.tacit"), tacit.load(folder / "words.tacit")
    assert again.score_samples(QUERIES) == pytest.approx(model.score_samples(QUERIES), abs=1e-5)


def test_info_tells_of_language_models_and_other_commands_point_to_lm(run):
    assert "KneserNeyLM" in run("info", "words.tacit")
    assert json.loads(run("info", "words.tacit", "--json"))["diagnostics"]["n_lines"] == 15
    for command in (["score", "words.tacit", "asked.txt"], ["sample", "words.tacit"]):
        assert "tacit lm" in tacit_says(*command, code=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "train.txt", "-o", "x.txt"], "end in .tacit"),
        (["train", "nowhere.txt", "-o", "x.tacit"], "nowhere.txt"),
        (["train", "train.txt", "-o", "x.tacit", "--classes", "3"], "--kind"),
        (["train", "train.txt", "-o", "x.tacit", "--kind", "classes", "--plain"], "--kind"),
        (["train", "train.txt", "-o", "x.tacit", "--validation", "asked.txt"], "--kind"),
        (["perplexity", "words.tacit", "words.tacit"], "UTF-8"),
        (["arpa", "words.tacit", "x.tacit"], "ARPA"),
        (["trian", "train.txt"], "train"),
    ],
)
def test_mistakes_are_reported_and_leave_nothing(run, folder, arguments, words):
    code = 2 if "--kind" in words or arguments[0] == "trian" else 1
    assert words in tacit_says("lm", *arguments, code=code)
    assert not (folder / "x.tacit").exists()
