"""Text to learn language models from."""

from __future__ import annotations

from pathlib import Path

from tacit.datasets.folder import DataFile
from tacit.errors import ArgumentError
from tacit.language.data.corpus import Corpus, read_corpus
from tacit.language.data.vocabulary import Vocabulary

# Each corpus, and how often a word must occur in "train" not to become `<unk>`: the first two have that done.
MIN_COUNTS = {"ptb": 1, "wikitext-2": 1, "russian-drama-novels": 2, "english-eltec": 2}
_SOURCES = {
    "ptb": "the Penn Treebank as prepared by Mikolov",
    "wikitext-2": "WikiText-2 of Merity et al.",
    "russian-drama-novels": "RusDraCor and the Russian part of ELTeC",
    "english-eltec": "the English part of ELTeC",
}
_SPLITS = ("train", "valid", "test")


def corpus_path(name: str, split: str = "train") -> Path:
    """Where the text of a corpus lies: a line for each sentence, blanks between words, packed or not.

    Parameters
    ----------
    name : {"ptb", "wikitext-2", "russian-drama-novels", "english-eltec"}
    split : {"train", "valid", "test"}

    Raises
    ------
    ArgumentError
        There is no such corpus or split.
    MissingDataError
        The file is not in the folder that ``TACIT_DATA`` names.
    """
    if name not in MIN_COUNTS:
        raise ArgumentError(f"there is no corpus {name!r}; there are {', '.join(MIN_COUNTS)}")
    if split not in _SPLITS:
        raise ArgumentError(f"there is no split {split!r}; there are {', '.join(_SPLITS)}")
    form = "a line for each sentence, blanks between words"
    return DataFile(f"lm/{name}/{split}.txt", form, _SOURCES[name]).locate()


def load_corpus(name: str, split: str = "train", *, vocabulary: Vocabulary | None = None) -> Corpus:
    """The words of a corpus as numbers.

    Language models take it as it is. The vocabulary is that of "train". In the two corpora of novels, words
    that occur there once are ``<unk>``, as the other two have it already; it is a word like others.

    Parameters
    ----------
    name, split : str
        See `corpus_path`.
    vocabulary : Vocabulary, optional
        That of "train", where it is at hand; otherwise "train" is read for it.

    Raises
    ------
    ArgumentError, MissingDataError
        See `corpus_path`.
    """
    path = corpus_path(name, split)
    least = MIN_COUNTS[name]
    if vocabulary is None and split != "train":
        vocabulary = read_corpus(corpus_path(name), min_count=least).vocabulary
    return read_corpus(path, vocabulary=vocabulary, min_count=least)
