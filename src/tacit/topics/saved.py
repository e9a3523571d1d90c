"""Fitted topic models to files and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tacit.core.files.header import check_header, common_header, made_from, put_columns
from tacit.core.files.model_files import write_model
from tacit.errors import ArgumentError, FileFormatError
from tacit.topics.model.topics import Topics

if TYPE_CHECKING:
    from tacit.topics.topic_model import TopicModel

_ARRAYS = ("topics", "weights", "word_shares")


def save_topics(model: TopicModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted topic model to one file, whole or not at all."""
    header = {
        **common_header(model),
        "words": list(model.words_),
        "alpha0": model.topics_.alpha0,
    }
    header["arguments"].pop("words", None)  # the words that were learnt say it
    arrays = {
        "topics": model.topics_.words,
        "weights": model.topics_.weights,
        "word_shares": model.word_shares_,
    }
    write_model(path, header, arrays)


def load_topics(
    kind: type[TopicModel],
    path: str | os.PathLike[str],
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> TopicModel:
    """The fitted topic model whose header and arrays a file holds.

    Raises
    ------
    FileFormatError
        Something is missing, or does not fit the rest.
    """
    check_header(path, header, {"words": list, "alpha0": float})
    for name in _ARRAYS:
        array = arrays.get(name)
        if array is None or array.dtype != np.float64 or not np.isfinite(array).all():
            raise FileFormatError(f"the array {name!r} of {str(path)!r} is missing or damaged")
    model: TopicModel = made_from(kind, header)
    words = tuple(map(str, header["words"]))
    try:
        topics = Topics(arrays["topics"], arrays["weights"], header["alpha0"])
    except ArgumentError as error:
        raise FileFormatError(f"{str(path)!r} is damaged: {error}") from error
    if topics.n_words != len(words) or arrays["word_shares"].shape != (len(words),):
        raise FileFormatError(
            f"{str(path)!r} is damaged: topics are not over its {len(words)} words"
        )
    model.topics_, model.words_ = topics, words
    model.word_shares_ = arrays["word_shares"]
    put_columns(model, header, words)
    return model
