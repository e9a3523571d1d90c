"""Treebanks, tagged text and word vectors, to learn and to judge parsers with."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.datasets.folder import VARIABLE, DataFile
from tacit.errors import ArgumentError, MissingDataError
from tacit.parsing.data.parse_trees import ParseTree, read_trees
from tacit.parsing.data.tagged_sentences import Tagged, read_tagged
from tacit.parsing.data.word_vectors import WordVectors, read_word_vectors

_TREEBANKS = {
    "wsj_sample": "the Penn Treebank sample of NLTK, sections 0001 to 0199",
    "genia": "the GENIA treebank, version 1",
    "cess_esp": "CESS-ESP of NLTK",
    "sinica": "the Sinica treebank sample of NLTK",
}
_TEXTS = {"conll2000": "CoNLL-2000 of NLTK", "brown": "the Brown corpus of NLTK"}
_VECTORS = {
    "glove100_en": ("npz", "GloVe 6B, 100 numbers a word"),
    "cca50_en": ("npz", "CCA of words and their neighbours"),
    "brown_clusters_en": ("tsv", "spacy-lookups-data, en_lexeme_cluster"),
    "brown_clusters_es": ("tsv", "spacy-lookups-data, es_lexeme_cluster"),
}


def load_treebank(name: str) -> list[ParseTree]:
    """The trees of a treebank, with punctuation, empties and function labels.

    Parameters
    ----------
    name : {"wsj_sample", "genia", "cess_esp", "sinica"}
        3914 English, 18,541 English (medical), 6013 Spanish and 10,000 Chinese trees.

    Raises
    ------
    ArgumentError
        There is no such treebank.
    MissingDataError
        The file is not in the folder that ``TACIT_DATA`` names.
    """
    return read_trees(_treebank(name).read().decode().splitlines())


def load_tagged_text(name: str) -> list[Tagged]:
    """Sentences of words with universal tags, without punctuation.

    Parameters
    ----------
    name : {"conll2000", "brown"}
        10,948 sentences of the Wall Street Journal (sections 15 to 18 and 20), 57,159 of the Brown corpus.

    Raises
    ------
    ArgumentError, MissingDataError
    """
    return read_tagged(_tagged_text(name).read().decode().splitlines())


def load_word_vectors(name: str) -> WordVectors:
    """Word vectors or Brown clusters.

    Parameters
    ----------
    name : {"glove100_en", "cca50_en", "brown_clusters_en", "brown_clusters_es"}

    Raises
    ------
    ArgumentError, MissingDataError
    """
    return read_word_vectors(word_vectors_path(name))


def treebank_path(name: str) -> Path:
    """Where the file of `load_treebank` lies; raises as that does."""
    return _treebank(name).locate()


def tagged_text_path(name: str) -> Path:
    """Where the file of `load_tagged_text` lies; raises as that does."""
    return _tagged_text(name).locate()


def word_vectors_path(name: str) -> Path:
    """Where the file of `load_word_vectors` lies; raises as that does."""
    _check(name, "word vectors", _VECTORS)
    ending, source = _VECTORS[name]
    folder = os.environ.get(VARIABLE)
    needed = f"embeddings/{name}.{ending}" + ("" if ending == "npz" else "[.xz]")
    if not folder:
        raise MissingDataError(
            f"the environment variable {VARIABLE} does not name a folder of data; "
            f"in that folder, this is wanted: {needed} ({source})"
        )
    plain = Path(folder) / "embeddings" / f"{name}.{ending}"
    for path in (plain, plain.with_name(plain.name + ".xz")):
        if path.is_file():
            return path
    raise MissingDataError(f"the folder {folder!r} lacks {needed} ({source})")


def _treebank(name: str) -> DataFile:
    _check(name, "treebank", _TREEBANKS)
    return DataFile(
        f"treebanks/{name}/{name}.mrg", "a tree in brackets on each line", _TREEBANKS[name]
    )


def _tagged_text(name: str) -> DataFile:
    _check(name, "tagged text", _TEXTS)
    return DataFile(
        f"tagged_text/{name}_universal.txt", "a sentence on each line, word|||TAG", _TEXTS[name]
    )


def _check(name: str, kind: str, known: dict[str, str] | dict[str, tuple[str, str]]) -> None:
    if name not in known:
        raise ArgumentError(f"there is no {kind} {name!r}; there are {', '.join(known)}")
