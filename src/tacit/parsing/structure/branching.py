"""Binary bracketings of a sentence that need no learning, and where its top bracket may be.

A bracketing is a list of spans, each the first word and the word after the last, of two or more words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.parsing.data.parse_trees import ParseTree, is_punctuation
from tacit.parsing.data.universal_tags import is_finite_verb, is_no_participle, universal_tag

Spans = list[tuple[int, int]]
_PAUSES = frozenset(",;:")
_INTERROGATIVE = ("WP", "pr", "pt")  # tags of pronouns that are no subject yet: who, which


@dataclass(frozen=True, slots=True)
class SpanParse:
    """The brackets of a sentence without its punctuation."""

    sentence: list[tuple[str, str]]  # words and tags that are left
    spans: Spans  # first word and word after the last of each bracket, the whole sentence first
    confidence: (
        float  # extra cost of the second-best tree; inf where there is no other, nan if unknown
    )

    @property
    def tree(self) -> ParseTree | None:
        """The tree, whose brackets are all called ``X``; None where no words are left."""
        return tree_of_spans(self.sentence, self.spans) if self.sentence else None


def spans_by_split(n_words: int, split: Callable[[int, int], int]) -> Spans:
    """The bracketing made from above: ``split(start, stop)`` is where the second part of a span begins."""
    spans, waiting = [], [(0, n_words)]
    while waiting:
        start, stop = waiting.pop()
        if stop - start >= 2:
            spans.append((start, stop))
            middle = split(start, stop)
            waiting.extend([(middle, stop), (start, middle)])
    return spans


def left_branching(n_words: int) -> Spans:
    """Every bracket is split before its last word.

    Examples
    --------
    >>> left_branching(4), right_branching(4)
    ([(0, 4), (0, 3), (0, 2)], [(0, 4), (1, 4), (2, 4)])
    """
    return spans_by_split(n_words, lambda _, stop: stop - 1)


def right_branching(n_words: int, top: int | None = None) -> Spans:
    """Every bracket is split after its first word.

    Parameters
    ----------
    n_words : int
    top : int, optional
        Where the second part of the whole sentence begins: right-branching inside a top bracket.
    """
    return spans_by_split(
        n_words,
        lambda start, stop: top if top and (start, stop) == (0, n_words) else start + 1,
    )


def random_branching(n_words: int, random: np.random.Generator, *, trees: bool = False) -> Spans:
    """A random bracketing.

    Parameters
    ----------
    n_words : int
    random : Generator
    trees : bool
        Every binary tree is equally likely; otherwise every split of a bracket.
    """
    if not trees:
        return spans_by_split(n_words, lambda start, stop: int(random.integers(start + 1, stop)))
    # Catalan numbers as logarithms: log of the number of binary trees over 1, 2, ... words.
    logs = np.zeros(n_words + 1)
    for size in range(1, n_words):
        logs[size + 1] = logs[size] + np.log(2 * (2 * size - 1) / (size + 1))

    def split(start: int, stop: int) -> int:
        sizes = np.arange(1, stop - start)
        weights = np.exp(logs[sizes] + logs[stop - start - sizes] - logs[stop - start])
        return start + int(random.choice(sizes, p=weights / weights.sum()))

    return spans_by_split(n_words, split)


def top_split(sentence: Sequence[tuple[str, str]], *, printed: bool = False) -> int:
    """Where the predicate begins, after the heuristic of Parikh (2015, section 8.4.1).

    At the rightmost comma, semicolon or colon that has a verb before it and a noun (or a pronoun that asks
    nothing) followed by a verb after it; otherwise at the first verb that can be a predicate by itself;
    otherwise after the first word.

    Parameters
    ----------
    sentence : sequence of (word, tag)
        With its punctuation if there is any.
    printed : bool
        The heuristic as worded in print: no pronoun is a noun, and only participles are passed over, not
        infinitives. A verb at the beginning leaves one word before the split.

    Returns
    -------
    int
        How many of the words without punctuation come before the split: from 1 to one less than all, or 1
        where there is one word or none.

    Examples
    --------
    >>> top_split([("the", "DT"), ("cat", "NN"), ("sat", "VBD"), ("down", "RP")])
    2
    """
    kinds = [universal_tag(tag) for _, tag in sentence]
    is_verb = is_no_participle if printed else is_finite_verb
    subjects = [
        kind == "NOUN" or (kind == "PRON" and not printed and not tag.startswith(_INTERROGATIVE))
        for kind, (_, tag) in zip(kinds, sentence, strict=True)
    ]
    words = [at for at, (_, tag) in enumerate(sentence) if not is_punctuation(tag)]
    for at in reversed(range(len(sentence))):
        if sentence[at][0] not in _PAUSES or "VERB" not in kinds[:at]:
            continue
        subject = next((i for i in range(at + 1, len(kinds)) if subjects[i]), len(kinds))
        if "VERB" in kinds[subject:]:
            return _inside(sum(word < at for word in words), len(words))
    verb = next((i for i, at in enumerate(words) if is_verb(sentence[at][1])), 1)
    return _inside(verb, len(words))


def _inside(split: int, n_words: int) -> int:
    return min(max(split, 1), max(n_words - 1, 1))


def tree_of_spans(sentence: Sequence[tuple[str, str]], spans: Spans) -> ParseTree:
    """The tree of a sentence's words and tags with some brackets, which must nest; all are called ``X``.

    A bracket over everything is added where it is not among the spans.
    """
    n_words = len(sentence)
    order = sorted({(0, n_words), *spans}, key=lambda span: (span[0], -span[1]))
    stack: list[tuple[int, list[ParseTree]]] = []
    place = 0
    for start in range(n_words):
        while place < len(order) and order[place][0] == start:
            stack.append((order[place][1], []))
            place += 1
        word, tag = sentence[start]
        stack[-1][1].append(ParseTree(tag, (), word))
        while len(stack) > 1 and stack[-1][0] == start + 1:
            _, children = stack.pop()
            stack[-1][1].append(ParseTree("X", tuple(children)))
    return ParseTree("X", tuple(stack[0][1]))
