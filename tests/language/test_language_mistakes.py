"""Texts that nobody meant to give: every language model learns what there is, or says what is wrong."""

import errno
import os

import numpy as np
import pytest

import tacit
from tacit.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    FileFormatError,
    FileWriteError,
    MissingDataError,
)
from tacit.language.data.corpus import read_corpus
from tacit.language.files.counts import read_counts, write_counts
from tacit.language.moments.ngram_counts import GramCounts

MODELS = {
    "kneser-ney": lambda: tacit.KneserNeyLM(3),
    "plain": lambda: tacit.KneserNeyLM(3, modified=False, interpolated=False, pads="all"),
    "on disk": lambda: tacit.KneserNeyLM(3, memory=1),
    "ensemble on disk": lambda: tacit.PowerLowRankLM(2, memory=1),
    "classes": lambda: tacit.ClassLM(3),
    "ensemble": lambda: tacit.PowerLowRankLM(3, random_state=0),
}
ODD = {
    "one word": b"w",
    "one word, again and again": b"w w\nw\n\nw w w\n",
    "blank lines": b"\n\n\n",
    "unknown words": b"<unk> <unk>\n<unk>\n",
    "a line of a million words": b"a b c d " * 250_000,
    "no newline at the end": b"a b\nb a",
    "lines of Windows": b"a b\r\nb a\r\n",
}
BAD = {
    "empty": (b"", DataError, "the text is empty"),
    "binary": (bytes(range(256)), FileFormatError, "line 1, byte 0: a NUL byte; this is a binary"),
    "Latin-1": (b"a b\nd\xe9j\xe0 vu\n", FileFormatError, "line 2, byte 5: byte 0xe9 is not UTF-8"),
    "begin": (
        b"a b\na <s> b\n",
        DataError,
        "line 2, byte 6: the text contains the marker '<s>'.*markers=\"skip\"",
    ),
    "end": (
        b"a </s>\n",
        DataError,
        "line 1, byte 2: the text contains the marker '</s>'.*--markers skip",
    ),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "text.txt"


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("text", ODD)
def test_odd_texts_give_models(path, kind, text):
    path.write_bytes(ODD[text])
    model = MODELS[kind]().fit(path)
    assert model.predict_next_proba("w b").sum() == pytest.approx(1, abs=1e-12)
    assert 1 <= model.perplexity(path) < 5
    assert np.isfinite(model.score_samples(path)).all()


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("text", BAD)
def test_bad_texts_are_refused_with_their_place(path, kind, text):
    content, error, words = BAD[text]
    path.write_bytes(content)
    with pytest.raises(error, match=words):
        MODELS[kind]().fit(path)
    if content:
        with pytest.raises(error, match=words):
            MODELS[kind]().fit(["a b"]).perplexity(path)


def test_files_that_are_missing_or_meant(path):
    path.write_text("a b")
    with pytest.raises(MissingDataError, match=r"text.tx' is no file, but there is '.*text.txt'"):
        tacit.KneserNeyLM().fit(path.with_suffix(".tx"))
    with pytest.raises(MissingDataError, match=r"is no file; give .* lines of text in a list"):
        tacit.KneserNeyLM().fit("the cat sat on the mat")
    # Before anything is read.
    with pytest.raises(MissingDataError, match="elsewhere"):
        read_corpus(
            [path, path.with_name("elsewhere")], watch=lambda *_: pytest.fail("it was read")
        )


def test_a_model_that_cannot_be_written_leaves_nothing(tmp_path):
    model = tacit.KneserNeyLM().fit(["a b"])
    (tmp_path / "folder.tacit").mkdir()
    for write in (model.save, model.to_arpa):
        with pytest.raises(FileWriteError, match="does not exist"):
            write(tmp_path / "nowhere" / "m.tacit")
        with pytest.raises(FileWriteError, match="it is a folder"):
            write(tmp_path / "folder.tacit")
    assert [one.name for one in tmp_path.iterdir()] == ["folder.tacit"]


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="nothing is reserved here")
def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path, monkeypatch):
    counts = GramCounts.of(read_corpus(["a b", "b"]), 2)
    write_counts(counts, tmp_path / "c")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.posix_fallocate", full)
    lines = ["a b c"] * 6000
    with pytest.raises(FileWriteError, match="No space left"):
        tacit.KneserNeyLM(memory=1, folder=tmp_path / "work").fit(lines)
    monkeypatch.setattr("numpy.save", full)
    with pytest.raises(FileWriteError, match="No space left"):
        write_counts(counts, tmp_path / "c")
    monkeypatch.undo()
    assert read_counts(tmp_path / "c")[0].n_words == 3
    assert not list(tmp_path.glob("**/.*.part"))


@pytest.mark.parametrize("model", [tacit.KneserNeyLM, tacit.PowerLowRankLM])
def test_a_folder_that_is_no_path_is_refused(model):
    with pytest.raises(ArgumentTypeError, match="folder=3; give a path, or None"):
        model(2, folder=3).fit(["a b", "b a"])


@pytest.mark.parametrize(
    "state",
    [7, 10**9, -2, 10**5000, 1.5, "y", [], object(), (0,), (0, 10**9), (0, 0, 0)],
    ids=lambda state: type(state).__name__,
)
def test_states_that_are_none_of_the_model_are_refused(state):
    lines = [["a", "b", "c"], ["a", "c"]] * 10
    models = [tacit.KneserNeyLM(2).fit(lines), tacit.PowerLowRankLM(2).fit(lines)]
    models.append(tacit.ClassLM(2, n_classes=2).fit(lines))
    models.append(tacit.MixedLM(models[:2], weights=[0.5, 0.5]).fit(lines))
    for model in models:
        for ask in (
            lambda model=model: model.predict_next_proba(state=state),
            lambda model=model: model.top(state=state),
            lambda model=model: model.step(state, "a"),
        ):
            with pytest.raises(ArgumentError, match="is none of this m"):
                ask()
        own = model.state("a b")
        assert model.predict_next_proba(state=own).sum() == pytest.approx(1)
