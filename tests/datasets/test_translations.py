"""Translated sentences by name, on the real files where they are and on made-up ones elsewhere."""

import lzma
import os
from pathlib import Path

import pytest

from tacit.datasets import load_multi30k
from tacit.errors import ArgumentError, MissingDataError

FOLDER = Path(os.environ.get("TACIT_DATA") or "nowhere")


def test_sentences_of_the_same_number_are_translations(tmp_path, monkeypatch):
    monkeypatch.setenv("TACIT_DATA", str(tmp_path))
    (tmp_path / "multi30k").mkdir()
    (tmp_path / "multi30k" / "val.en").write_text("a dog .\na cat .\n")
    (tmp_path / "multi30k" / "val.de.xz").write_bytes(lzma.compress(b"ein hund .\neine katze .\n"))
    assert load_multi30k("en", "valid") == ["a dog .", "a cat ."]
    assert load_multi30k("de", "valid")[1] == "eine katze ."
    with pytest.raises(
        MissingDataError, match=r"lacks multi30k/train\.cs\[\.xz\] \(a line for each"
    ):
        load_multi30k("cs")
    monkeypatch.delenv("TACIT_DATA")
    with pytest.raises(MissingDataError, match="TACIT_DATA does not name"):
        load_multi30k("cs")


def test_what_is_not_there_is_named():
    with pytest.raises(ArgumentError, match="no language 'fr'; there are en, de, cs"):
        load_multi30k("fr")
    with pytest.raises(ArgumentError, match="no split 'dev'; there are train, valid, test"):
        load_multi30k("en", "dev")


@pytest.mark.skipif(not (FOLDER / "multi30k").is_dir(), reason="TACIT_DATA lacks multi30k")
def test_multi30k_has_the_usual_numbers():
    sizes = {split: len(load_multi30k("cs", split)) for split in ("train", "valid", "test")}
    assert sizes == {"train": 29_000, "valid": 1014, "test": 1000}
    assert sum(len(line.split()) for line in load_multi30k("en")) == 377_534
    assert sum(len(line.split()) for line in load_multi30k("de")) == 360_706
