"""Universal parts of speech (Petrov, Das & McDonald 2012) of the tags of several treebanks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from tacit.errors import DataError
from tacit.parsing.data.parse_trees import is_punctuation, text_lines

UNIVERSAL = (".", "ADJ", "ADP", "ADV", "CONJ", "DET", "NOUN", "NUM", "PRON", "PRT", "VERB", "X")


def _table(**tags: str) -> dict[str, str]:
    """From each of some tags to its universal one."""
    return {tag: universal for universal, some in tags.items() for tag in some.split()}


# Those of Universal Dependencies that are not among the twelve.
_DEPENDENCIES = _table(
    VERB="AUX", CONJ="CCONJ", X="INTJ SYM", PRT="PART", NOUN="PROPN", ADP="SCONJ"
) | {"PUNCT": "."}
# The Penn Treebank and GENIA, whose PRPP and WPP are PRP$ and WP$.
_PENN = _table(
    CONJ="CC",
    NUM="CD",
    DET="DT EX PDT WDT",
    ADP="IN",
    ADJ="JJ JJR JJS",
    VERB="MD VB VBD VBG VBN VBP VBZ",
    NOUN="NN NNP NNPS NNS NP",
    PRT="POS RP TO",
    PRON="PRP PRP$ PRPP WP WP$ WPP",
    ADV="RB RBR RBS WRB",
    X="FW LS SYM UH",
)
# EAGLES tags of Spanish and Catalan: the first letter is the part of speech, lower case in CESS.
_SPANISH = _table(
    ADJ="a",
    CONJ="c",
    DET="d",
    NOUN="n",
    PRON="p",
    ADV="r",
    ADP="s",
    VERB="v",
    NUM="z Z",
    X="i w x y W Y",
)
# Sinica: by the longest prefix that is here.
_CHINESE = _table(
    ADJ="A",
    CONJ="C",
    ADV="D",
    NUM="DM",
    NOUN="N",
    DET="Ne",
    ADP="Ng P",
    PRON="Nh",
    PRT="T",
    VERB="V",
    X="DE I Str",
)
# Verbs that are no predicate by themselves: participles of the Penn Treebank, and of EAGLES what is neither
# of a mood nor of a person (participle, gerund, infinitive).
_NOT_FINITE = ("VBN", "VBG")
_NOT_FINITE_MOODS = ("p", "g", "n")


@cache
def universal_tag(tag: str) -> str:
    """The universal part of speech of a tag; ``X`` for one that fits nowhere.

    Tags of the Penn Treebank, GENIA, CESS (Spanish), Sinica (Chinese) and Universal Dependencies are
    distinguished by how they are written. A tag that is in no table counts by its first letters.

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
        return _by_prefix(tag, _CHINESE)
    return _by_prefix(tag, _PENN | _CHINESE)


def is_finite_verb(tag: str) -> bool:
    """Whether a tag is that of a verb that can be a predicate by itself: no participle, if the tag shows it.

    Examples
    --------
    >>> [is_finite_verb(tag) for tag in ("VBD", "MD", "VBN", "VERB", "NN", "vmis3s0", "vmn0000")]
    [True, True, False, True, False, True, False]
    """
    if universal_tag(tag) != "VERB" or tag in _NOT_FINITE:
        return False
    return not (tag[0] == "v" and len(tag) > 2 and tag[2] in _NOT_FINITE_MOODS)


def is_no_participle(tag: str) -> bool:
    """Whether a tag is that of a verb that is no participle, if the tag shows it.

    Examples
    --------
    >>> [is_no_participle(tag) for tag in ("VB", "VBN", "VBG", "VERB", "NN", "vmn0000", "vmp00sm")]
    [True, False, False, True, False, True, False]
    """
    if universal_tag(tag) != "VERB" or tag in _NOT_FINITE:
        return False
    return not (tag[0] == "v" and tag[2:3] == "p")


def _is_chinese(tag: str) -> bool:
    """Sinica's verbs: V, a letter and a digit, such as VA11 or VH21[+NEG]."""
    return tag[0] == "V" and tag[2:3].isdigit()


def _by_prefix(tag: str, table: dict[str, str]) -> str | None:
    for size in range(min(len(tag), 4), 0, -1):
        if tag[:size] in table:
            return table[tag[:size]]
    return None
