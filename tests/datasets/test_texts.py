"""Text corpora by name, on the real files where they are and on made-up ones elsewhere."""

import lzma
import os
from pathlib import Path

import pytest

import tacit
from tacit.datasets.texts import MIN_COUNTS, corpus_path, load_corpus
from tacit.errors import ArgumentError, MissingDataError

FOLDER = Path(os.environ.get("TACIT_DATA") or "nowhere")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    for name in MIN_COUNTS:
        (tmp_path / "lm" / name).mkdir(parents=True)
    return tmp_path


def test_words_seen_once_are_unknown_in_the_novels_only(folder):
    for name in ("ptb", "english-eltec"):
        (folder / "lm" / name / "train.txt").write_text("a a b\n")
        (folder / "lm" / name / "test.txt.xz").write_bytes(lzma.compress(b"b a c\n"))
    assert load_corpus("ptb").ids.tolist() == [3, 3, 4]
    assert load_corpus("ptb", "test").ids.tolist() == [4, 3, 0]
    assert load_corpus("english-eltec").ids.tolist() == [3, 3, 0]
    known = load_corpus("english-eltec").vocabulary
    assert load_corpus("english-eltec", "test", vocabulary=known).ids.tolist() == [0, 3, 0]


def test_language_models_take_a_corpus(folder):
    assert tacit.datasets.load_corpus is load_corpus
    for split in ("train", "test"):
        (folder / "lm" / "ptb" / f"{split}.txt").write_text("a a b\nb a\n")
    model = tacit.KneserNeyLM(2).fit(load_corpus("ptb"))
    once = tacit.KneserNeyLM(2).fit(corpus_path("ptb"))
    assert model.perplexity(load_corpus("ptb", "test")) == once.perplexity(corpus_path("ptb"))
    on_disk = tacit.KneserNeyLM(2, memory=1).fit(load_corpus("ptb"))
    assert on_disk.score_samples(["a b"])[0] == once.score_samples(["a b"])[0]


def test_what_is_not_there_is_named(folder, monkeypatch):
    with pytest.raises(ArgumentError, match="no corpus 'brown'; there are ptb"):
        corpus_path("brown")
    with pytest.raises(ArgumentError, match="no split 'dev'"):
        corpus_path("ptb", "dev")
    with pytest.raises(MissingDataError, match=r"lacks lm/ptb/train\.txt"):
        corpus_path("ptb")
    monkeypatch.delenv("TACIT_DATA")
    with pytest.raises(MissingDataError, match="TACIT_DATA does not name"):
        corpus_path("ptb")


@pytest.mark.skipif(not (FOLDER / "lm" / "ptb").is_dir(), reason="TACIT_DATA lacks lm/ptb")
def test_the_penn_treebank_has_the_usual_numbers():
    corpus = load_corpus("ptb")
    assert (corpus.n_words, corpus.n_lines, len(corpus.vocabulary)) == (887_521, 42_068, 10_001)
