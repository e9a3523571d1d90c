"""Trees of sentences by a grammar: coarse to fine, then the tree with most labelled spans expected right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.parsing.data.parse_trees import ParseTree
from tacit.parsing.data.treebank import GrammarSymbols, whole_tree
from tacit.parsing.model.grammar import LatentGrammar
from tacit.parsing.query.grammar import (
    Forest,
    Posterior,
    mean_posterior,
    posterior,
    sentence_forest,
    span_marginals,
)
from tacit.parsing.query.max_brackets import Choices, best_choices, n_best_choices

Words = Sequence[str]
Tags = Sequence[str | None]
Span = tuple[str, int, int]  # label of a binary tree, first word, word after the last


class ScoredTree(NamedTuple):
    """A tree, and how many of its labelled spans (of two children or one word) are expected to be right."""

    tree: ParseTree
    n_right: float


@dataclass(frozen=True, eq=False)
class SentenceMarginals:
    """Of a sentence, the sum of the probabilities of all trees, and of those that have a labelled span.

    Labels are those of binary trees: ``@NP`` for the children of a bracket but the first, ``NP+NN`` for a
    chain. By spectral tensors these sums need not be positive.
    """

    sign: float  # of the probability of the sentence: 1, -1, or 0 where no tree fits
    log_probability: float  # natural logarithm of its absolute value
    spans: list[Span]
    signs: NDArray[np.float64]  # (span,)  of mu(a, i, j)
    logs: NDArray[np.float64]  # (span,)   natural logarithms of their absolute values

    @property
    def probability(self) -> float:
        """The probability of the sentence."""
        return float(self.sign * np.exp(self.log_probability))

    @property
    def marginals(self) -> dict[Span, float]:
        """mu(a, i, j): the sum of the probabilities of the trees that have a span."""
        values = self.signs * np.exp(self.logs)
        return dict(zip(self.spans, values.tolist(), strict=True))

    @property
    def posteriors(self) -> dict[Span, float]:
        """mu(a, i, j) divided by the probability of the sentence; NaN where that is 0."""
        if not self.sign:
            return dict.fromkeys(self.spans, float("nan"))
        logs = np.minimum(self.logs - self.log_probability, 600.0)  # finite where signs cancel
        values = self.sign * self.signs * np.exp(logs)
        return dict(zip(self.spans, values.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class SentenceParser:
    """Grammars, one of one state and the fine ones, with the labels and words that their codes stand for."""

    symbols: GrammarSymbols
    coarse: LatentGrammar  # one state; it decides which spans are considered
    grammars: tuple[LatentGrammar, ...]  # whose posteriors of spans are averaged
    threshold: float

    def best(self, words: Words, tags: Tags) -> tuple[ParseTree, dict[str, int]]:
        """The best tree of a sentence, and what had to be repaired: see `forest`."""
        forest, spans, repairs = self.forest(words, tags)
        if forest is None or spans is None:
            return self.flat_tree(words, tags), repairs
        _, root, chosen = best_choices(forest, spans)
        return self._tree(forest, root, chosen, words, tags), repairs

    def n_best(self, words: Words, tags: Tags, n: int) -> list[ScoredTree]:
        """The `n` best trees of a sentence, the best first."""
        forest, spans, _ = self.forest(words, tags)
        if forest is None or spans is None:
            return [ScoredTree(self.flat_tree(words, tags), 0.0)]
        trees: dict[ParseTree, float] = {}
        for n_right, root, chosen in n_best_choices(forest, spans, n):
            trees.setdefault(self._tree(forest, root, chosen, words, tags), n_right)
        return [ScoredTree(tree, n_right) for tree, n_right in trees.items()]

    def forest(
        self, words: Words, tags: Tags
    ) -> tuple[Forest | None, Posterior | None, dict[str, int]]:
        """The spans of a sentence that the coarse grammar deems likely, and their mean posteriors.

        The last is 1 or 0: "no_tree" where no tree of the grammar fits, "non_positive" where the score of
        one of the fine grammars is not positive.
        """
        coded = self._codes(words, tags)
        forest = sentence_forest(self.coarse, *coded, self.threshold)
        if forest is None or not len(forest.roots):
            return None, None, {"no_tree": 1, "non_positive": 0}
        parts = [posterior(grammar, forest, *coded) for grammar in self.grammars]
        mean = mean_posterior(parts)
        if mean is None:
            mean = posterior(self.coarse, forest, *coded)
        non_positive = int(any(part.sign <= 0 for part in parts))
        return forest, mean, {"no_tree": 0, "non_positive": non_positive}

    def marginals(
        self, words: Words, tags: Tags, grammar: LatentGrammar | None = None
    ) -> SentenceMarginals:
        """Sums over all trees of a sentence by the first of the fine grammars, or by another one."""
        grammar = self.grammars[0] if grammar is None else grammar
        coded = self._codes(words, tags)
        forest = sentence_forest(self.coarse, *coded, self.threshold)
        if forest is None:
            return SentenceMarginals(0.0, -np.inf, [], np.zeros(0), np.zeros(0))
        scores = span_marginals(grammar, forest, *coded)
        names = [str(label) for label in self.symbols.labels]
        spans = [
            (names[label], int(start), int(stop))
            for label, start, stop in zip(forest.label, forest.start, forest.stop, strict=True)
        ]
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(scores.items)) + scores.item_logs
        sign = float(np.sign(scores.total))
        return SentenceMarginals(sign, scores.log_total, spans, np.sign(scores.items), logs)

    def _codes(self, words: Words, tags: Tags) -> tuple[list[int], list[int]]:
        """The numbers of words and tags; -1 where unknown."""
        tag_codes = {tag: code for code, tag in enumerate(self.symbols.tags)}
        return (
            [self.symbols.word_code(word) for word in words],
            [-1 if tag is None else tag_codes.get(tag, -1) for tag in tags],
        )

    def _tree(
        self, forest: Forest, root: int, chosen: Choices, words: Words, tags: Tags
    ) -> ParseTree:

        def children(item: int) -> tuple[int, int] | None:
            edge = chosen.get(item)
            return None if edge is None else (int(forest.left[edge]), int(forest.right[edge]))

        labels = [self.symbols.labels[label] for label in forest.label]
        return whole_tree(root, labels, children, words, tags)

    def flat_tree(self, words: Words, tags: Tags) -> ParseTree:
        """All words side by side, those without a tag under their most frequent one."""
        lexicon, leaves = self.coarse.lexicon, []
        for word, tag in zip(words, tags, strict=True):
            likeliest = self.symbols.tags[lexicon.likeliest_tag(self.symbols.word_code(word))]
            leaves.append(ParseTree(likeliest if tag is None else tag, (), word))
        return ParseTree("TOP", tuple(leaves))
