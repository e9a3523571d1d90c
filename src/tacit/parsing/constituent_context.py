"""The constituent-context model: which tags stand inside constituents, and which around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tacit.core.arguments import check_choice, check_count, check_number, generator_from
from tacit.core.estimator_tags import TakesText
from tacit.core.limits import shown
from tacit.core.model import Model, checked_summary
from tacit.errors import ArgumentError, DataError
from tacit.parsing.data.tagged_sentences import (
    Tagged,
    read_tagged,
    stream_tagged,
    without_marks,
)
from tacit.parsing.data.universal_tags import universal_tag
from tacit.parsing.learn.constituent_context import (
    expected,
    fit_ratios,
    random_posterior,
    split_posterior,
)
from tacit.parsing.model.span_ratios import SpanRatios
from tacit.parsing.model_files import CONTEXT_MODEL_FILE
from tacit.parsing.moments.tag_spans import SpanTable
from tacit.parsing.query.summary import context_model_summary
from tacit.parsing.structure.branching import SpanParse

if TYPE_CHECKING:
    from tacit.core.summary import Summary


class ConstituentContextModel(TakesText, Model):
    """Brackets without labels, learnt by EM from tags alone (Klein & Manning 2002).

    Every span of a sentence draws its tags and the two tags around it: constituents from one pair of
    distributions, other spans from another. Good on short sentences; on longer ones it falls behind
    right-branching.

    Parameters
    ----------
    start : {"split", "random"}
        EM starts with all splits of a bracket equally likely, or with random weights.
    n_restarts : int
        Random starts; the one with the highest score of its trees is kept. Not used with start="split".
    tags : {"given", "universal"}
        Use tags as they are given, or the universal ones.
    longest : int
        Longer sentences are left out of training: they blur what short ones say.
    pseudo_counts : (float, float)
        Of every sequence of tags as a constituent, and as no constituent.
    max_iter : int
    posterior_tol : float
        EM stops when the posterior probabilities of the spans change by less than this on average.
    random_state : int, Generator or None
    progress : None, bool or callable

    Attributes
    ----------
    ratios_ : SpanRatios
    tags_ : tuple of str
    changes_ : list of float
        Mean change of the probabilities of spans in each step.
    diagnostics_ : dict
        Numbers of sentences and of steps.

    Examples
    --------
    >>> text = ["the/DT cat/NN sat/VBD", "a/DT dog/NN ran/VBD home/NN", "the/DT cow/NN ran/VBD"]
    >>> model = ConstituentContextModel().fit(text)
    >>> len(model.parse("a/DT cat/NN ran/VBD").spans)
    2
    """

    kind = "parser"
    abilities = frozenset({"brackets"})

    ratios_: SpanRatios
    tags_: tuple[str, ...]
    changes_: list[float]
    diagnostics_: dict[str, Any]
    _file = CONTEXT_MODEL_FILE

    def __init__(
        self,
        *,
        start: str = "split",
        n_restarts: int = 10,
        tags: str = "given",
        longest: int = 10,
        pseudo_counts: tuple[float, float] = (2.0, 8.0),
        max_iter: int = 40,
        posterior_tol: float = 1e-4,
        random_state: Any = 0,
        progress: Any = None,
    ) -> None:
        self.start = start
        self.n_restarts = n_restarts
        self.tags = tags
        self.longest = longest
        self.pseudo_counts = pseudo_counts
        self.max_iter = max_iter
        self.posterior_tol = posterior_tol
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from sentences of words and tags; see `tacit.parsing.data.tagged_sentences.stream_tagged`.

        Punctuation is left out; words and `y` are not used.
        """
        self._check()
        kinds = [self._kinds(sentence) for sentence in read_tagged(X)]
        kinds = [sentence for sentence in kinds if 2 <= len(sentence) <= self.longest]
        if not kinds:
            raise DataError(f"no sentence has 2 to {self.longest} words; nothing can be learnt")
        self.tags_ = tuple(sorted({kind for sentence in kinds for kind in sentence}))
        table = SpanTable.of(self._codes(kinds), len(self.tags_) + 1)
        random = generator_from(self.random_state)
        n_restarts = 1 if self.start == "split" else self.n_restarts
        best = -np.inf
        with self._working() as report:
            for restart in range(n_restarts):
                report(restart / n_restarts, f"EM, start {restart + 1} of {n_restarts}")
                is_random = self.start == "random"
                start = random_posterior(table, random) if is_random else split_posterior(table)
                ratios, changes = fit_ratios(
                    table, start, self.pseudo_counts, self.max_iter, self.posterior_tol
                )
                score = expected(ratios.scores(table), table)[1] if n_restarts > 1 else 0.0
                if score > best:
                    best, self.ratios_, self.changes_ = score, ratios, changes
        self.diagnostics_ = {"n_sentences": len(kinds), "n_steps": len(self.changes_)}
        return self

    def parse(self, sentence: Any) -> SpanParse:
        """The brackets of a sentence without its punctuation.

        Parameters
        ----------
        sentence : str or list of (word, tag)
            A string is tagged text, ``word/TAG``. A sentence of one word or none has no brackets.

        Returns
        -------
        SpanParse
            Its `confidence` is NaN.
        """
        from tacit.parsing.loops.constituent_context import best_tree

        self._check_fitted()
        tagged = next(iter(read_tagged([sentence])), [])
        codes = self._codes([self._kinds(tagged)])[0]
        spans = np.empty((max(len(codes) - 1, 0), 2), dtype=np.int64)
        if len(spans):
            table = SpanTable.of([codes], len(self.tags_) + 1)
            best_tree(self.ratios_.scores(table), len(codes), spans)
        brackets = [(int(start), int(stop)) for start, stop in spans]
        return SpanParse(without_marks(tagged), brackets, float("nan"))

    def predict(self, X: Any) -> list[SpanParse]:
        """The brackets of each of several sentences; see `parse`."""
        self._check_fitted()
        return [self.parse(sentence) for sentence in stream_tagged(X)]

    @checked_summary
    def summary(self) -> Summary:
        """What the model uses and what it learnt, on a page."""
        return context_model_summary(self.get_params(), self.tags_, self.ratios_, self.diagnostics_)

    def _kinds(self, sentence: Tagged) -> list[str]:
        tags = [tag for _, tag in without_marks(sentence)]
        return [universal_tag(tag) for tag in tags] if self.tags == "universal" else tags

    def _codes(self, kinds: list[list[str]]) -> list[list[int]]:
        """Tags as codes; all unknown ones share the last."""
        codes = {tag: code for code, tag in enumerate(self.tags_)}
        return [[codes.get(kind, len(codes)) for kind in sentence] for sentence in kinds]

    def _check(self) -> None:
        check_choice("start", self.start, ("split", "random"))
        check_choice("tags", self.tags, ("given", "universal"))
        for name in ("n_restarts", "longest", "max_iter"):
            check_count(name, getattr(self, name))
        check_number("posterior_tol", self.posterior_tol)
        pair = self.pseudo_counts
        if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
            raise ArgumentError(
                f"pseudo_counts={shown(pair)}; give two numbers, of brackets and of what is none"
            )
        for value in pair:
            check_number("pseudo_counts", value, positive=True)
