"""Documents by name, on made-up files and on the real ones where they are."""

import os
from pathlib import Path

import pytest

from tacit.datasets.topics import load_topic_labels, load_topics
from tacit.errors import ArgumentError, DataError, MissingDataError
from tacit.topics.data.keep_words import keep_words, plain_word
from tacit.topics.data.read_documents import read_documents

FOLDER = Path(os.environ.get("TACIT_DATA") or "nowhere")


def test_every_fifth_document_of_the_associated_press_is_test(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="lacks topics/ap/vocab"):
        load_topics("ap")
    (tmp_path / "topics" / "ap").mkdir(parents=True)
    (tmp_path / "topics" / "ap" / "vocab.txt").write_text("a\nb\n")
    lines = "".join(f"1 0:{count}\n" for count in range(1, 11))
    (tmp_path / "topics" / "ap" / "ap.ldac").write_text(lines)
    assert load_topics("ap").counts.toarray()[:, 0].tolist() == [1, 2, 3, 4, 6, 7, 8, 9]
    assert load_topics("ap", "test").counts.toarray().tolist() == [[5, 0], [10, 0]]
    for name, split in (("apnews", "train"), ("ap", "valid")):
        with pytest.raises(ArgumentError, match=r"there (are|is) no"):
            load_topics(name, split)
    with pytest.raises(ArgumentError, match="no split 'valid'"):
        load_topic_labels("valid")


@pytest.mark.skipif(not (FOLDER / "topics").is_dir(), reason="TACIT_DATA lacks topics")
def test_the_newsgroups_have_their_numbers():
    test = load_topics("newsgroups20", "test")
    assert (test.n_documents, test.n_words, int(test.lengths.sum())) == (7505, 61188, 1796919)
    labels = load_topic_labels("test")
    assert (len(labels), len(set(labels)), labels[0]) == (7505, 20, "alt.atheism")


def test_words_are_kept_by_form_and_by_documents():
    documents = read_documents([["the", "rose", "x1"], ["the", "rose"], ["the", "a", "thorn"]])
    assert keep_words(documents, form=plain_word).words == ("rose", "the", "thorn")
    kept = keep_words(documents, min_df=2, max_df=0.7)
    assert (kept.words, kept.counts.toarray().tolist()) == (("rose",), [[1], [1], [0]])
    assert keep_words(documents, stop_words={"the", "rose", "thorn", "a"}).words == ("x1",)
    with pytest.raises(DataError, match="none of the 5 words is left"):
        keep_words(documents, min_df=4)
