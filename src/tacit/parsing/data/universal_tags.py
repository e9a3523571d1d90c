"""Universal parts of speech (Petrov, Das & McDonald 2012) of the tags of several treebanks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tacit.errors import DataError
from tacit.parsing.data.parse_trees import is_punctuation, text_lines

UNIVERSAL = (".", "ADJ", "ADP", "ADV", "CONJ", "DET", "NOUN", "NUM", "PRON", "PRT", "VERB", "X")

# Universal Dependencies has more of them than the twelve.
_DEPENDENCIES = {
    "AUX": "VERB",
    "CCONJ": "CONJ",
    "INTJ": "X",
    "PART": "PRT",
    "PROPN": "NOUN",
    "PUNCT": ".",
    "SCONJ": "ADP",
    "SYM": "X",
}
# The Penn Treebank and GENIA, whose PRPP and WPP are PRP$ and WP$.
_PENN = {
    **dict.fromkeys(("CC",), "CONJ"),
    **dict.fromkeys(("CD",), "NUM"),
    **dict.fromkeys(("DT", "EX", "PDT", "WDT"), "DET"),
    **dict.fromkeys(("IN",), "ADP"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("MD", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"), "VERB"),
    **dict.fromkeys(("NN", "NNP", "NNPS", "NNS", "NP"), "NOUN"),
    **dict.fromkeys(("POS", "RP", "TO"), "PRT"),
    **dict.fromkeys(("PRP", "PRP$", "PRPP", "WP", "WP$", "WPP"), "PRON"),
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB"), "ADV"),
    **dict.fromkeys(("FW", "LS", "SYM", "UH"), "X"),
}
# EAGLES tags of Spanish and Catalan: the first letter is the part of speech, small in CESS.
_SPANISH = {
    "a": "ADJ",
    "c": "CONJ",
    "d": "DET",
    "i": "X",
    "n": "NOUN",
    "p": "PRON",
    "r": "ADV",
    "s": "ADP",
    "v": "VERB",
    "w": "X",
    "x": "X",
    "y": "X",
    "z": "NUM",
    "Z": "NUM",
    "W": "X",
    "Y": "X",
}
# Sinica: by the longest beginning that is here.
_CHINESE = {
    "A": "ADJ",
    "C": "CONJ",
    "D": "ADV",
    "DE": "X",
    "DM": "NUM",
    "I": "X",
    "N": "NOUN",
    "Ne": "DET",
    "Ng": "ADP",
    "Nh": "PRON",
    "P": "ADP",
    "Str": "X",
    "T": "PRT",
    "V": "VERB",
}
# Verbs that are no predicate by themselves: participles of the Penn Treebank, and of EAGLES what is neither
# of a mood nor of a person (participle, gerund, infinitive).
_NOT_FINITE = ("VBN", "VBG")
_NOT_FINITE_MOODS = ("p", "g", "n")


@cache
def universal_tag(tag: str) -> str:
    """The universal part of speech of a tag; ``X`` for one that fits nowhere.

    Tags of the Penn Treebank, GENIA, CESS (Spanish), Sinica (Chinese) and Universal Dependencies are told
    apart by how they are written. A tag that is in no table goes by its beginning.

    Examples
    --------
    >>> [universal_tag(tag) for tag in ("NNS", "vmip3s0", "VC2[+NEG]", "PROPN", "JJ-XYZ", "Fc")]
    ['NOUN', 'VERB', 'VERB', 'NOUN', 'ADJ', '.']
    """
    return _lookup(tag) or "X"


def fits_no_table(tag: str) -> bool:
    """Whether a tag is in no table, so that it becomes ``X``.

    Examples
    --------
    >>> [fits_no_table(tag) for tag in ("NN", "UH", "NN-NEW", "QQQ")]
    [False, False, False, True]
    """
    return _lookup(tag) is None


def read_tag_map(path: Any) -> dict[str, str]:
    """The universal tags of others, from a file with a tag and its universal one on each line.

    Parameters
    ----------
    path : str or path
        Such as the maps of Petrov, Das & McDonald. Universal tags are the twelve of these, or those of
        Universal Dependencies. Empty lines do not count.

    Raises
    ------
    DataError
        A line has not two words, or the second is no universal tag; with the line.
    MissingDataError
    """
    tags: dict[str, str] = {}
    for name, lines in text_lines(Path(path)):
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not words:
                continue
            if len(words) != 2:
                raise DataError(
                    f"{name}, line {number} has {len(words)} words; write a tag and its universal one"
                )
            if words[1] not in UNIVERSAL and words[1] not in _DEPENDENCIES:
                raise DataError(
                    f"{name}, line {number}: {words[1]!r} is no universal tag; there are "
                    f"{', '.join((*UNIVERSAL, *_DEPENDENCIES))}"
                )
            tags[words[0]] = universal_tag(words[1])
    return tags


@cache
def _lookup(tag: str) -> str | None:
    if tag in UNIVERSAL:
        return tag
    if is_punctuation(tag):
        return "."
    for table in (_DEPENDENCIES, _PENN):
        if tag in table:
            return table[tag]
    if tag[:1] in _SPANISH and tag[:2] not in _PENN:
        return _SPANISH[tag[0]]
    # Penn tags are two or more capitals, perhaps with something behind: NN|SYM, JJ-XYZ.
    if not tag[:2].isupper() or tag[1:2] == "_" or _is_chinese(tag):
        return _by_beginning(tag, _CHINESE)
    return _by_beginning(tag, _PENN | _CHINESE)


def is_finite_verb(tag: str) -> bool:
    """Whether a tag is that of a verb that can be a predicate by itself: no participle, if that can be told.

    Examples
    --------
    >>> [is_finite_verb(tag) for tag in ("VBD", "MD", "VBN", "VERB", "NN", "vmis3s0", "vmn0000")]
    [True, True, False, True, False, True, False]
    """
    if universal_tag(tag) != "VERB" or tag in _NOT_FINITE:
        return False
    return not (tag[0] == "v" and len(tag) > 2 and tag[2] in _NOT_FINITE_MOODS)


def _is_chinese(tag: str) -> bool:
    """Sinica's verbs: V, a letter and a digit, such as VA11 or VH21[+NEG]."""
    return tag[0] == "V" and tag[2:3].isdigit()


def _by_beginning(tag: str, table: dict[str, str]) -> str | None:
    for size in range(min(len(tag), 4), 0, -1):
        if tag[:size] in table:
            return table[tag[:size]]
    return None
