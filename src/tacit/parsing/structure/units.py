"""Units of a sentence by rule: words that belong together by their tags and punctuation.

Units are a noun with its modifiers before it ("the cat" of "the cat of the house"), the words between two
commas, and those in brackets. Inside units, and among them, trees branch to the right. The rules assume just
that: modifiers come before the noun, and trees branch to the right. No tree is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.data.parse_trees import is_punctuation
from tacit.parsing.data.universal_tags import universal_tag

Array = NDArray[np.float64]
Spans = list[tuple[int, int]]

MODIFIERS = frozenset(("DET", "NUM", "ADJ", "NOUN", "PRON"))  # what a noun group is made of
CROSSED = 10.0  # the cost of a bracket that crosses a unit; of one that branches to the left, 1
_PAUSES = frozenset((",", ";", ":", "--"))
_OPEN = frozenset(("-LRB-", "-LSB-", "(", "[", "``", "-Fpa-"))
_CLOSED = frozenset(("-RRB-", "-RSB-", ")", "]", "''", "-Fpt-"))


def sentence_units(
    sentence: Sequence[tuple[str, str]],
    top: int | None = None,
    kinds: Sequence[str] = ("pauses", "brackets", "groups"),
    groups: Spans | None = None,
) -> Spans:
    """The units of a sentence, none of which cross: spans of words without punctuation.

    In this order, and each only where it crosses none before it: the whole, the two parts of the top
    bracket, what is between pauses, what is in brackets or quotes, noun groups, which no mark interrupts.

    Parameters
    ----------
    sentence : sequence of (word, tag)
        With its punctuation if there is any.
    top : int, optional
        How many words come before the split of the whole.
    kinds : sequence of {"pauses", "brackets", "groups"}
        Which kinds of units to use.
    groups : list of spans, optional
        Learnt ones, in place of noun groups.

    Examples
    --------
    >>> text = "the/DET cat/NOUN of/ADP the/DET house/NOUN sleeps/VERB"
    >>> sentence_units([tuple(token.split("/")) for token in text.split()], top=5)
    [(0, 6), (0, 5), (0, 2), (3, 5)]
    """
    cuts, pairs, by_rule = _marked(sentence)
    cuts = cuts if "pauses" in kinds else []
    n_words = sum(not is_punctuation(tag) for _, tag in sentence)
    parts = [(0, n_words)] if top is None else [(0, top), (top, n_words)]
    candidates = [(0, n_words), *parts]
    for start, stop in parts:
        edges = [start, *(cut for cut in cuts if start < cut < stop), stop]
        candidates.extend(pairwise(edges))
    candidates.extend(pairs if "brackets" in kinds else [])
    if "groups" in kinds:
        candidates.extend(by_rule if groups is None else groups)
    units: dict[tuple[int, int], None] = {}
    for start, stop in candidates:
        if stop - start >= 2 and not any(_cross((start, stop), other) for other in units):
            units[start, stop] = None
    return list(units)


def noun_groups(kinds: Sequence[str]) -> Spans:
    """Runs of modifiers that end in a noun, of two or more words; a determiner begins a new one.

    Parameters
    ----------
    kinds : sequence of str
        Universal tags, without punctuation.
    """
    groups, start = [], 0
    while start < len(kinds):
        stop = start + 1
        while (
            kinds[start] in MODIFIERS and stop < len(kinds) and kinds[stop] in MODIFIERS - {"DET"}
        ):
            stop += 1
        nouns = [at for at in range(start, stop) if kinds[at] == "NOUN"]
        if nouns and nouns[-1] > start:
            groups.append((start, nouns[-1] + 1))
        start = nouns[-1] + 1 if nouns else stop
    return groups


def right_branching_units(n_words: int, units: Spans) -> Spans:
    """The bracketing that branches to the right among the parts of every unit.

    Parameters
    ----------
    n_words : int
    units : list of spans
        None of which cross; the whole is one whether it is there or not.
    """
    spans: Spans = []
    order = sorted({(0, n_words), *units}, key=lambda unit: (unit[0], -unit[1]))
    open_units: Spans = []
    for at in range(n_words):
        while open_units and open_units[-1][1] <= at:
            open_units.pop()
        starting = [unit for unit in order if unit[0] == at]
        # A bracket from here to the end of each unit that goes on behind what begins here.
        spans.extend((at, stop) for _, stop in [*open_units[-1:], *starting] if stop - at >= 2)
        open_units.extend(starting)
    return sorted(set(spans), key=lambda span: (span[0], -span[1]))


def unit_costs(n_words: int, units: Spans) -> Array:
    """(word + 1, word + 1) the cost of each bracket, by its first word and the word after its last.

    0 where it ends with the smallest unit around it, 1 where it does not, and `CROSSED` more for each unit
    that it crosses. The bracketing of least cost is that of `right_branching_units`.
    """
    costs = np.ones((n_words + 1, n_words + 1))
    order = sorted({(0, n_words), *units}, key=lambda unit: unit[0] - unit[1])
    for start, stop in order:
        costs[start : stop + 1, start : stop + 1] = 1.0
        costs[start:stop, stop] = 0.0
    for start, stop in order:
        costs[start + 1 : stop, stop + 1 :] += CROSSED
        costs[:start, start + 1 : stop] += CROSSED
        costs[start, stop] = 0.0
    return costs


def _cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def _marked(sentence: Sequence[tuple[str, str]]) -> tuple[list[int], Spans, Spans]:
    """Where pauses are, what stands in brackets or quotes, and noun groups, in words without punctuation."""
    cuts: list[int] = []
    pairs: Spans = []
    groups: Spans = []
    opened: list[int] = []
    kinds: list[str] = []  # since the last mark
    at = 0
    for word, tag in [*sentence, ("", ".")]:
        if not is_punctuation(tag):
            kinds.append(universal_tag(tag))
            continue
        groups.extend((at + start, at + stop) for start, stop in noun_groups(kinds))
        at += len(kinds)
        kinds = []
        if word in _OPEN:
            opened.append(at)
        elif word in _CLOSED and opened:
            pairs.append((opened.pop(), at))
        elif word in _PAUSES and at not in cuts:
            cuts.append(at)
    return cuts, pairs, groups
