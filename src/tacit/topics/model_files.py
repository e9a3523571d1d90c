"""What the files of topic models hold."""

from __future__ import annotations

from typing import Any

from tacit.core.files.fields import Array, Arrays, Field, Record
from tacit.core.files.header_values import number, texts
from tacit.core.files.ranges import probabilities
from tacit.core.files.saved_model import ModelFile, renamed
from tacit.topics.model.topics import Topics

_MOST_ALPHA = 1e12  # with more all documents are alike, and gamma functions overflow


def _upgrade(header: dict[str, Any], arrays: Arrays) -> None:
    header["topics"] = {"alpha0": header.pop("alpha0")}
    names = {"topics": "topics.words", "weights": "topics.weights"}
    renamed(arrays, {**names, "word_shares": "word_probabilities"})


TOPICS = Record(
    Topics,
    Field("words", Array("topic word", probabilities)),
    Field("weights", Array("topic", probabilities)),
    Field("alpha0", number(0, _MOST_ALPHA)),
)
TOPIC_MODEL = ModelFile(
    Field("words_", texts(), sizes={"word": len}),
    Field("topics_", TOPICS),
    Field("word_probabilities_", Array("word", probabilities)),
    arguments={"words": None},
    columns=lambda model: model.words_,
    upgrade=_upgrade,
)
