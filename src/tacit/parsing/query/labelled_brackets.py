"""How well labelled trees agree with those of a treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tacit.core.arguments import check_choice, check_kind
from tacit.core.limits import shown
from tacit.errors import ArgumentTypeError, DataError
from tacit.parsing.data.parse_trees import ParseTree

# What evalb leaves out and takes for the same (its file COLLINS.prm), and GENIA's names of the same marks.
_NO_WORDS = frozenset(
    ("``", "''", ".", ",", ":", "-NONE-", "LQT", "RQT", "PERIOD", "COMMA", "COLON")
)
_TOP = frozenset(("TOP", "ROOT", "S1", ""))
_SAME = {"PRT": "ADVP"}
CONVENTIONS = ("all", "evalb")


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """Counts of brackets, with precision, recall and F1; counts of several corpora add."""

    matched: int = 0
    gold: int = 0  # brackets of the treebank
    predicted: int = 0  # brackets of the trees compared with it
    exact: int = 0  # trees all of whose brackets match
    n_trees: int = 0

    def __add__(self, other: LabelledScore) -> LabelledScore:
        """The counts of both corpora."""
        return LabelledScore(
            self.matched + other.matched,
            self.gold + other.gold,
            self.predicted + other.predicted,
            self.exact + other.exact,
            self.n_trees + other.n_trees,
        )

    @property
    def precision(self) -> float:
        """The fraction of predicted brackets that the treebank has."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The fraction of the treebank's brackets that were predicted."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; one where there is no bracket at all."""
        n_brackets = self.gold + self.predicted
        return 2 * self.matched / n_brackets if n_brackets else 1.0


def labelled_score(
    gold: Iterable[ParseTree], predicted: Iterable[ParseTree], *, convention: str = "all"
) -> LabelledScore:
    """Counts of labelled brackets of trees over the same words.

    A bracket is a label, the first word, and the word after the last; the same one twice counts twice. Tags
    of words are no brackets.

    Parameters
    ----------
    gold, predicted : iterables of ParseTree
        In the same order.
    convention : {"all", "evalb"}
        "all": every word and every bracket but the outermost ``TOP`` counts. "evalb": that of the program
        of this name with its file COLLINS.prm: without punctuation, ``PRT`` and ``ADVP`` are the same.

    Raises
    ------
    DataError
        Trees that belong together have different words, or there are more of one than of the other.

    Examples
    --------
    >>> from tacit.parsing.data.parse_trees import read_trees
    >>> gold = read_trees(["(S (NP (D a) (N b)) (VP (V c)))"])
    >>> predicted = read_trees(["(S (NP (D a)) (VP (N b) (V c)))"])
    >>> labelled_score(gold, predicted)
    LabelledScore(matched=1, gold=3, predicted=3, exact=0, n_trees=1)
    """
    check_choice("convention", convention, CONVENTIONS)
    for name, trees in (("gold", gold), ("predicted", predicted)):
        if not isinstance(trees, Iterable):
            raise ArgumentTypeError(f"{name}={shown(trees)}; give a list of trees")
    total = LabelledScore()
    for number, (truth, guess) in enumerate(_pairs(gold, predicted)):
        for tree in (truth, guess):
            check_kind(f"tree {number}", tree, ParseTree, "trees, such as those of read_trees")
        if [word for word, _ in truth.leaves()] != [word for word, _ in guess.leaves()]:
            raise DataError(
                f"the trees of number {number} have different words; give trees over the same sentences"
            )
        a, b = _brackets(truth, truth, convention), _brackets(guess, truth, convention)
        matched = (a & b).total()
        exact = int(matched == a.total() == b.total())
        total += LabelledScore(matched, a.total(), b.total(), exact, 1)
    return total


def _pairs(
    gold: Iterable[ParseTree], predicted: Iterable[ParseTree]
) -> Iterator[tuple[ParseTree, ParseTree]]:
    try:
        yield from zip(gold, predicted, strict=True)
    except ValueError as error:
        raise DataError(
            "there are more trees of one kind than of the other; give one for each of the treebank"
        ) from error


def _brackets(tree: ParseTree, gold: ParseTree, convention: str) -> Counter[tuple[str, int, int]]:
    """The brackets that count; punctuation is recognised by the tags of the treebank."""
    if convention == "all":
        return Counter(span for span in tree.spans() if span[0] not in _TOP)
    brackets: Counter[tuple[str, int, int]] = Counter()
    before = [0]  # words that count before each
    for _, tag in gold.leaves():
        before.append(before[-1] + (tag not in _NO_WORDS))
    for label, start, stop in tree.spans():
        first, last = before[start], before[stop]
        if label not in _TOP and first < last:
            brackets[_SAME.get(label, label), first, last] += 1
    return brackets
