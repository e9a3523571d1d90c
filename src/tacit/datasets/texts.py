"""Text to learn language models from."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.data.corpus import Corpus, read_corpus
from tacit.data.vocabulary import Vocabulary
from tacit.datasets.folder import VARIABLE
from tacit.errors import ArgumentError, MissingDataError

# Each corpus, and how often a word must occur in "train" not to become `<unk>`: the first two have that done.
LEAST_COUNTS = {"ptb": 1, "wikitext-2": 1, "russian-drama-novels": 2, "english-eltec": 2}
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
    if name not in LEAST_COUNTS:
        raise ArgumentError(f"there is no corpus {name!r}; there are {', '.join(LEAST_COUNTS)}")
    if split not in _SPLITS:
        raise ArgumentError(f"there is no split {split!r}; there are {', '.join(_SPLITS)}")
    wanted = f"lm/{name}/{split}.txt[.xz] (a line for each sentence, blanks between words)"
    folder = os.environ.get(VARIABLE)
    if not folder:
        raise MissingDataError(
            f"the environment variable {VARIABLE} does not name a folder of data; "
            f"in that folder, this is wanted: {wanted}"
        )
    for ending in (".txt", ".txt.xz"):
        path = Path(folder) / "lm" / name / f"{split}{ending}"
        if path.is_file():
            return path
    raise MissingDataError(f"the folder {folder!r} lacks {wanted}")


def load_corpus(name: str, split: str = "train", *, vocabulary: Vocabulary | None = None) -> Corpus:
    """The words of a corpus as numbers.

    The vocabulary is that of "train". In the two corpora of novels, words that occur there once are
    ``<unk>``, as the other two have it already; it is a word like others.

    Parameters
    ----------
    name, split : str
        See `corpus_path`.
    vocabulary : Vocabulary, optional
        That of "train", where it is at hand; otherwise "train" is read for it.
    """
    path = corpus_path(name, split)
    least = LEAST_COUNTS[name]
    if vocabulary is None and split != "train":
        vocabulary = read_corpus(corpus_path(name), least_count=least).vocabulary
    return read_corpus(path, vocabulary=vocabulary, least_count=least)
