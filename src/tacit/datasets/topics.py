"""Documents to learn topics from."""

from __future__ import annotations

import numpy as np

from tacit.datasets.folder import DataFile
from tacit.errors import ArgumentError
from tacit.topics.data.documents import Documents
from tacit.topics.data.read_documents import read_documents
from tacit.topics.data.vocabulary import read_words

_SOURCES = {
    "ap": "the R package topicmodels",
    "newsgroups20": "the R package lda",
}
_EVERY = 5  # of the Associated Press documents are "test"


def load_topics(name: str, split: str = "train") -> Documents:
    """How often each word occurs in each document of a collection.

    All words are there; see `tacit.topics.data.keep_words.keep_words`.

    Parameters
    ----------
    name : {"ap", "newsgroups20"}
        News of the Associated Press, 2,246 documents; 20 newsgroups, 18,774 messages cut by date.
    split : {"train", "test"}
        Every fifth document of "ap" is in "test".

    Raises
    ------
    ArgumentError
        There is no such collection or split.
    MissingDataError
        The files are not in the folder that ``TACIT_DATA`` names.
    """
    if name not in _SOURCES:
        raise ArgumentError(f"there are no documents {name!r}; there are {', '.join(_SOURCES)}")
    if split not in ("train", "test"):
        raise ArgumentError(f"there is no split {split!r}; there are train, test")
    words = read_words(_file(name, "vocab.txt", "a word a line").locate())
    stem = "ap" if name == "ap" else split
    path = _file(name, f"{stem}.ldac", "LDA-C: a line for each document").locate()
    documents = read_documents(path, words, form="lda-c")
    if name == "ap":
        test = np.arange(documents.n_documents) % _EVERY == _EVERY - 1
        documents = documents.part(np.flatnonzero(test == (split == "test")))
    return documents


def load_topic_labels(split: str = "train") -> tuple[str, ...]:
    """The newsgroup of each message of "newsgroups20".

    Parameters
    ----------
    split : {"train", "test"}
    """
    if split not in ("train", "test"):
        raise ArgumentError(f"there is no split {split!r}; there are train, test")
    name = "newsgroups20"
    groups = _file(name, "label_names.txt", "a name a line").read().decode().split()
    numbers = _file(name, f"{split}.labels.txt", "a number a line").read().split()
    return tuple(groups[int(number) - 1] for number in numbers)


def _file(name: str, path: str, form: str) -> DataFile:
    return DataFile(f"topics/{name}/{path}", form, _SOURCES[name])
