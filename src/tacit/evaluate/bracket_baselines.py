"""Brackets that need no learning, to compare parsers with, and the best that binary brackets can do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.parsing.query.brackets import gold_top
from tacit.parsing.structure.branching import (
    Spans,
    left_branching,
    random_branching,
    right_branching,
    top_split,
)
from tacit.parsing.structure.units import right_branching_units

LEFT, RIGHT = "left-branching", "right-branching"
RANDOM_SPLITS, RANDOM_TREES = "random splits", "random trees"
IN_TOP = "right-branching in the heuristic top bracket"
IN_TRUE_TOP = "right-branching in the true top bracket"
UPPER = "the treebank's trees made binary"


def baseline_brackets(
    sentences: Sequence[Sequence[tuple[str, str]]],
    golds: Sequence[tuple[int, Iterable[tuple[int, int]]]],
    random_state: Any = 0,
) -> Mapping[str, list[Spans]]:
    """The brackets of every baseline, by its name.

    Those in the true top bracket look at the treebank, and so do the trees made binary, which no parser that
    gives binary brackets can beat.

    Parameters
    ----------
    sentences : sequence of lists of (word, tag)
        With their punctuation if there is any.
    golds : sequence of (number of words, spans)
        Of the same sentences, see `tacit.parsing.query.brackets.gold_spans`.
    random_state : int, Generator or None

    Examples
    --------
    >>> brackets = baseline_brackets(
    ...     [[("cats", "NN"), ("eat", "VB"), ("fish", "NN")]], [(3, [(1, 3)])]
    ... )
    >>> brackets[LEFT], brackets[UPPER]
    ([[(0, 3), (0, 2)]], [[(0, 3), (1, 3)]])
    """
    random = np.random.default_rng(random_state)
    known = [(n_words, list(spans)) for n_words, spans in golds]
    lengths = [n_words for n_words, _ in known]
    tops = [top_split(sentence) for sentence in sentences]
    true_tops = [gold_top(n_words, spans) for n_words, spans in known]
    return {
        LEFT: [left_branching(n) for n in lengths],
        RANDOM_SPLITS: [random_branching(n, random) for n in lengths],
        RANDOM_TREES: [random_branching(n, random, trees=True) for n in lengths],
        RIGHT: [right_branching(n) for n in lengths],
        IN_TOP: [right_branching(n, top) for n, top in zip(lengths, tops, strict=True)],
        IN_TRUE_TOP: [right_branching(n, top) for n, top in zip(lengths, true_tops, strict=True)],
        UPPER: [right_branching_units(n, spans) for n, spans in known],
    }
