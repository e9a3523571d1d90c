"""Sentences with their translations."""

from __future__ import annotations

from tacit.datasets.folder import DataFile
from tacit.errors import ArgumentError

_LANGUAGES = ("en", "de", "cs")
_FILES = {"train": "train", "valid": "val", "test": "test_2016_flickr"}
_SOURCE = "github.com/multi30k/dataset, data/task1/tok (Elliott et al. 2016; Czech by Barrault et al. 2018)"


def load_multi30k(language: str, split: str = "train") -> list[str]:
    """Descriptions of pictures in one language; those of the same number are translations of each other.

    Words are lower-cased, with blanks between them.

    Parameters
    ----------
    language : {"en", "de", "cs"}
        English, German or Czech.
    split : {"train", "valid", "test"}
        29,000, 1,014 and 1,000 sentences.

    Raises
    ------
    ArgumentError
        There is no such language or split.
    MissingDataError
        The file is not in the folder that ``TACIT_DATA`` names.
    """
    return multi30k_file(language, split).read().decode().splitlines()


def multi30k_file(language: str, split: str = "train") -> DataFile:
    """The file of `load_multi30k`."""
    if language not in _LANGUAGES:
        raise ArgumentError(f"there is no language {language!r}; there are {', '.join(_LANGUAGES)}")
    if split not in _FILES:
        raise ArgumentError(f"there is no split {split!r}; there are {', '.join(_FILES)}")
    form = "a line for each sentence, blanks between words"
    return DataFile(f"multi30k/{_FILES[split]}.{language}", form, _SOURCE)
