"""Treebanks, tagged text and word vectors by name, on the real files where they are."""

import lzma
import os
import re
from pathlib import Path

import pytest

from tacit.datasets.treebanks import load_tagged_text, load_treebank, load_word_vectors
from tacit.errors import ArgumentError, MissingDataError
from tacit.parsing.data.universal_tags import universal_tag

FOLDER = Path(os.environ.get("TACIT_DATA") or "nowhere")
needs_trees = pytest.mark.skipif(
    not (FOLDER / "treebanks").is_dir(), reason="TACIT_DATA lacks treebanks"
)
# Interjections, foreign words, list items, dates, Chinese 的, strings: what no other part of speech fits.
NO_PART = {"FW", "LS", "SYM", "UH", "-NONE-", "i", "I", "W", "X", "Y", "DE", "Str"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    return tmp_path


def put(folder, path, content):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(content)


def test_files_are_found_packed_or_not(folder):
    put(folder, "treebanks/genia/genia.mrg", b"(TOP (NP (NN rain)))\n")
    put(folder, "tagged_text/brown_universal.txt.xz", lzma.compress(b"rain|||NOUN\n"))
    put(folder, "embeddings/brown_clusters_en.tsv.xz", lzma.compress(b"rain\t01\nsnow\t00\n"))
    assert [str(tree) for tree in load_treebank("genia")] == ["(TOP (NP (NN rain)))"]
    assert load_tagged_text("brown") == [[("rain", "NOUN")]]
    assert load_word_vectors("brown_clusters_en").words == ("rain", "snow")


def test_what_is_not_there_is_named(folder, monkeypatch):
    with pytest.raises(ArgumentError, match="no treebank 'ptb'; there are wsj_sample"):
        load_treebank("ptb")
    with pytest.raises(MissingDataError, match=r"lacks treebanks/sinica/sinica\.mrg"):
        load_treebank("sinica")
    with pytest.raises(MissingDataError, match=r"lacks tagged_text/conll2000"):
        load_tagged_text("conll2000")
    with pytest.raises(MissingDataError, match=r"lacks embeddings/cca50_en\.npz"):
        load_word_vectors("cca50_en")
    monkeypatch.delenv("TACIT_DATA")
    with pytest.raises(MissingDataError, match="TACIT_DATA does not name"):
        load_word_vectors("cca50_en")


@needs_trees
def test_the_sample_of_the_penn_treebank_has_the_usual_numbers():
    trees = load_treebank("wsj_sample")
    assert (len(trees), sum(len(tree.leaves()) for tree in trees)) == (3914, 100_676)


@needs_trees
@pytest.mark.parametrize("name", ["wsj_sample", "genia", "cess_esp", "sinica"])
def test_every_tag_of_a_treebank_has_a_part_of_speech(name):
    text = lzma.decompress((FOLDER / "treebanks" / name / f"{name}.mrg.xz").read_bytes()).decode()
    tags = set(re.findall(r"\(([^\s()]+) [^\s()]+\)", text))
    assert len(tags) > 40
    assert {tag for tag in tags if universal_tag(tag) == "X"} <= NO_PART
