"""F1 of brackets without labels, over a corpus and by sentence, as parsers are compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from tacit.core.arguments import check_count
from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, DataError
from tacit.parsing.data.parse_trees import ParseTree, without_empties, without_punctuation

Spans = Iterable[tuple[int, int]]
LENGTHS = (10, 20, 40, None)  # up to so many words, None for all


@dataclass(frozen=True, slots=True)
class BracketScores:
    """F1 of unlabelled brackets, in per cent; brackets of one word never count, equal ones count once.

    See `score_brackets`.
    """

    f1: float  # over the corpus, the bracket of the whole sentence counted (Klein & Manning 2002)
    without_whole: float  # the same without that bracket
    by_sentence: float  # mean of the sentences' F1 without that bracket (Shen et al. 2018)
    n_sentences: int


def gold_spans(tree: ParseTree) -> tuple[int, set[tuple[int, int]]]:
    """The number of words of a tree and its brackets, without empties and punctuation.

    Brackets of one word are left out; chains of brackets over the same words count once.

    Examples
    --------
    >>> from tacit.parsing.data.parse_trees import read_trees
    >>> gold_spans(read_trees(["(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sleeps)) (. .)))"])[0])
    (3, {(0, 2), (0, 3)})
    """
    stripped = without_empties(tree)
    stripped = None if stripped is None else without_punctuation(stripped)
    if stripped is None:
        return 0, set()
    spans = {(start, stop) for _, start, stop in stripped.spans()}
    n_words = max(stop for _, stop in spans)
    return n_words, {(start, stop) for start, stop in spans if stop - start >= 2}


def gold_top(n_words: int, spans: Spans) -> int:
    """Where a treebank splits a whole sentence: after the first child of the top bracket.

    Examples
    --------
    >>> gold_top(5, [(0, 5), (0, 2), (2, 5)]), gold_top(3, [(0, 3)])
    (2, 1)
    """
    return max((stop for start, stop in spans if start == 0 and stop < n_words), default=1)


def score_brackets(
    guesses: Sequence[Spans], golds: Sequence[tuple[int, Spans]], longest: int | None = None
) -> BracketScores:
    """F1 of brackets against those of a treebank.

    Sentences of one word are left out. A sentence that has no bracket but the whole one has the recall 1,
    and the precision 1 if none was guessed: so do the programs that print mean sentence F1.

    Parameters
    ----------
    guesses : sequence of spans
        Of each sentence: first word, word after the last.
    golds : sequence of (number of words, spans)
        See `gold_spans`.
    longest : int, optional
        Longer sentences are left out.

    Raises
    ------
    DataError
        There are more sentences of one than of the other, or a bracket goes beyond its sentence.

    Examples
    --------
    >>> right = [(0, 4), (1, 4), (2, 4)]
    >>> score_brackets([right], [(4, [(0, 4), (0, 2), (2, 4)])]).without_whole
    50.0
    """
    check_count("longest", longest, none_is="sentences of any length")
    guesses, golds = _listed("guesses", guesses), _listed("golds", golds)
    if len(guesses) != len(golds):
        raise DataError(
            f"{len(guesses)} sentences were parsed, but {len(golds)} are to compare with"
        )
    counts = np.zeros((2, 3))  # with and without the whole: (matched, guessed, gold)
    by_sentence = []
    for number, (guess, pair) in enumerate(zip(guesses, golds, strict=True), 1):
        n_words, gold = _sentence(pair, number)
        if n_words < 2 or (longest is not None and n_words > longest):
            continue
        sentence = (0, n_words)
        ours, theirs = _inner(guess, n_words, number), _inner(gold, n_words, number)
        inner = np.array([len(ours & theirs), len(ours), len(theirs)])
        counts[1] += inner
        # The guess always has the whole sentence; gold has it unless someone left it out.
        has_whole = sentence in _pairs(gold, number)
        counts[0] += inner + np.array([has_whole, 1, has_whole])
        by_sentence.append(_sentence_f1(*inner.tolist()))
    mean = float(np.mean(by_sentence)) if by_sentence else 0.0
    return BracketScores(_f1(*counts[0]), _f1(*counts[1]), 100 * mean, len(by_sentence))


def scores_by_length(
    guesses: Sequence[Spans],
    golds: Sequence[tuple[int, Spans]],
    lengths: Sequence[int | None] = LENGTHS,
) -> dict[int | None, BracketScores]:
    """`score_brackets` for sentences of up to so many words each."""
    return {longest: score_brackets(guesses, golds, longest) for longest in lengths}


def _listed(name: str, sentences: Any) -> list[Any]:
    if isinstance(sentences, str | bytes) or not np.iterable(sentences):
        raise ArgumentTypeError(f"{name}={shown(sentences)}; give a list, one item for a sentence")
    return list(sentences)


def _sentence(pair: Any, number: int) -> tuple[int, Spans]:
    try:
        n_words, spans = pair
        return index(n_words), spans
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"sentence {number} of golds is {shown(pair)}; give pairs (number of words, spans)"
        ) from error


def _pairs(spans: Any, number: int) -> set[tuple[int, int]]:
    try:
        return {(index(start), index(stop)) for start, stop in spans}
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"sentence {number} has the brackets {shown(spans)}; give pairs (first word, word after "
            f"the last)"
        ) from error


def _inner(spans: Spans, n_words: int, number: int) -> set[tuple[int, int]]:
    """The brackets of two or more words but not of all."""
    inner = set()
    for start, stop in _pairs(spans, number):
        if not 0 <= start < stop <= n_words:
            raise DataError(
                f"sentence {number} has {shown(n_words)} words, and a bracket from {shown(start)} to "
                f"{shown(stop)}; are both without punctuation?"
            )
        if 2 <= stop - start < n_words:
            inner.add((start, stop))
    return inner


def _f1(matched: float, guessed: float, gold: float) -> float:
    return float(100 * 2 * matched / (guessed + gold)) if guessed + gold else 0.0


def _sentence_f1(matched: float, guessed: float, gold: float) -> float:
    precision = matched / guessed if guessed else 1.0
    recall = matched / gold if gold else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
